"""Error against n: simulated curves of every method, with theory as lines."""

from __future__ import annotations

import collab_core as cc
from collab_core import figures
from collab_core.words import error_vs_n as say
from pages.shared import run
from pages.shared.figure import columns, show
from pages.shared.say import error_box, words
from pages.shared.script import Script

from .choices import CurveChoices, choose

Curves = dict[str | int, cc.simulate.Curve]


def part(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """Controls, and the run that starts by itself."""
    choices = choose(scenario, problem)
    if not choices.methods:
        error_box("Pick at least one method.")
        return
    call = script.plan(
        "curves",
        cc.simulate.error_curves,
        problem,
        choices.sample_sizes,
        choices.trials,
        ["full", choices.agent],
        choices.methods,
        seed=scenario.seed,
        settings=choices.settings,
    )

    def draw(found: Curves, final: bool) -> None:
        mine = script.branch()
        mine.done(call, found)
        _show(problem, choices, found, mine)

    run.of_call(
        "error-vs-n",
        call,
        draw,
        label="Simulate",
        help="Draws the agents' data and runs every method on it.",
        auto=True,
    )


def _show(problem: cc.Problem, choices: CurveChoices, found: Curves, script: Script) -> None:
    agent = choices.agent
    words(say.headline(problem, found[agent], agent))
    left, right = columns("full", "agent", sizes=[1, 1])
    with left:
        _curve("full", "A model for all features", "full", choices, found, script.branch())
    with right:
        _curve("agent", f"Agent {agent + 1}'s own model", agent, choices, found, script.branch())
    words(say.findings(problem, found["full"], found[agent], agent))


def _curve(
    key: str, title: str, target: str | int, choices: CurveChoices, found: Curves, script: Script
) -> None:
    curve = script.item("curve", found, target)
    frame = script.read("frame", curve, "frame")
    show(
        figures.error_curve(
            frame,
            title=title,
            scaled=choices.scaled,
            log=choices.log,
            irreducible=curve.irreducible,
            height=420,
        ),
        script,
        key=key,
        name={"full": "Error vs n, all features", "agent": "Error vs n, one agent"}[key],
        alt=f"{title}: simulated error of every method against n, theory as lines.",
        formula=say.FORMULA,
    )
