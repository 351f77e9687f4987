"""Errors against n: where COLLAB turns from best to worst."""

from __future__ import annotations

import numpy as np

import collab_core as cc
from collab_core import figures
from collab_core.words import agents_that_differ as say
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import words
from pages.shared.script import Script

from .world import affordable, begun

POINTS = 8


def part(world: cc.Scenario) -> None:
    """Draw the part of the page."""
    script, problem = begun(world)
    variances = script.read("variances", world, "variances")
    sizes = sample_sizes(problem, variances)
    agents = cc.disturbed.judged(problem, sizes[0])
    effects = cc.different.RandomEffects(problem, variances)
    words(say.crossings(effects, agents))
    methods, usual = affordable(problem)
    trials = options.number("trials", "Trials", 2, 400, usual, visible=False)
    call = script.plan(
        "curve",
        cc.different.curve,
        problem,
        variances,
        sizes,
        trials,
        axis="n",
        methods=methods,
        seed=world.seed,
    )

    def draw(found: cc.simulate.Curve, final: bool) -> None:
        mine = script.branch()
        mine.done(call, found)
        _show(world, problem, agents, sizes, found, mine)

    run.of_call(
        "against-n", call, draw, label="Simulate",
        help="Draws relations and data for all agents, and runs every method on them.",
        auto=True, below=True,
    )  # fmt: skip


def sample_sizes(problem: cc.Problem, variances: np.ndarray) -> list[int]:
    """From the fewest samples with which everybody can work alone to where methods settle."""
    least = float(((problem.sizes + 2) / problem.shares).max())
    effects = cc.different.RandomEffects(problem, variances)
    last = effects.alone_from() or 0.0
    most = float(np.clip(2 * last, 100 * least, 1e6 * least))
    grid = np.geomspace(1.2 * least, most, POINTS)
    return sorted(
        {int(float(f"{size:.2g}")) if size >= 100 else int(np.ceil(size)) for size in grid}
    )


def _show(
    world: cc.Scenario,
    problem: cc.Problem,
    agents: list[int],
    sizes: list[int],
    found: cc.simulate.Curve,
    script: Script,
) -> None:
    variances = world.variances
    lines = script.run("lines", cc.different.against_n, problem, variances, sizes, agents)
    frame = script.run("frame", cc.different.table, found, lines)
    effects = cc.different.RandomEffects(problem, variances)
    until = effects.collab_pays_until(agents)
    show(
        figures.errors_apart(
            frame, axis="n", text="labelled samples per agent, n",
            title=say.n_title(effects, agents), at=until or None, said="COLLAB stops paying",
        ),
        script,
        key="against-n",
        name="Errors against n",
        alt="Mean error of alone, COLLAB and partial pooling against the number of samples.",
        formula=say.FORMULA,
    )  # fmt: skip
    nearest = min(found.grid, key=lambda n: abs(np.log(n / world.n)))
    words(f"{say.measured(found, nearest)} {say.missing(found.methods)}")
