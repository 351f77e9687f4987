"""Errors against how much agents differ: the page's main figure."""

from __future__ import annotations

import collab_core as cc
from collab_core import figures
from collab_core._base.checks import Array
from collab_core.words import agents_that_differ as say
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import words
from pages.shared.script import Script

from .world import affordable, begun, with_unit

SIZES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def part(world: cc.Scenario) -> None:
    """Draw the part of the page."""
    unit = with_unit(world)
    script, problem = begun(unit)
    n = float(world.n)
    agents = cc.disturbed.judged(problem, n)
    variances = script.read("variances", unit, "variances")
    if agents:
        at = cc.different.RandomEffects(problem, variances).scaled(world.spread)
        words(say.hero(at, n, agents))
    methods, usual = affordable(problem)
    trials = options.number("trials", "Trials", 2, 400, usual, visible=False)
    call = script.plan(
        "curve",
        cc.different.curve,
        problem,
        variances,
        SIZES,
        trials,
        n=n,
        methods=methods,
        seed=world.seed,
    )

    def draw(found: cc.simulate.Curve, final: bool) -> None:
        mine = script.branch()
        mine.done(call, found)
        _show(world, problem, variances, agents, found, mine)

    run.of_call(
        "spread", call, draw, label="Simulate",
        help="Draws relations and data for all agents, and runs every method on them.",
        auto=True, below=True,
    )  # fmt: skip


def _show(
    world: cc.Scenario,
    problem: cc.Problem,
    variances: Array,
    agents: list[int],
    found: cc.simulate.Curve,
    script: Script,
) -> None:
    lines = script.run(
        "lines", cc.different.against_spread, problem, variances, float(world.n), SIZES, agents
    )
    frame = script.run("frame", cc.different.table, found, lines)
    unit = cc.different.RandomEffects(problem, variances)
    show(
        figures.errors_apart(
            frame, axis="spread", text="how much agents differ (standard deviations of the label)",
            title=say.hero_title(unit, float(world.n), agents), at=world.spread,
            said="here",
        ),
        script,
        key="spread",
        name="Errors against how much agents differ",
        alt="Mean error of alone, COLLAB and partial pooling against how much agents differ.",
        formula=say.FORMULA,
    )  # fmt: skip
    theta, label = problem.theta, problem.label_variance
    words(say.share(world.spread, float(theta @ problem.phi), label))
    nearest = min(SIZES, key=lambda size: abs(size - world.spread))
    words(f"{say.measured(found, nearest)} {say.missing(found.methods)}")
