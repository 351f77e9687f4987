"""Who is hurt when an agent leaves."""

from __future__ import annotations

import collab_core as cc
from collab_core import figures
from collab_core.words import methods as say
from pages.shared.figure import show
from pages.shared.say import words
from pages.shared.script import Script

from . import few_samples


def draw(scenario: cc.Scenario, problem: cc.Problem, agent: int, script: Script) -> None:
    """The whole part; ``script`` ends with the problem."""
    begun = script.branch()
    frame = begun.run("frame", cc.whatif.without, problem, agent, scenario.n)
    few_samples.warn(problem, scenario.n, script)
    words(say.leaving(frame, agent, cc.whatif.seen_only_by(problem, agent).tolist()))
    if say.others_of(frame, agent).empty:
        return
    show(
        figures.rise_by_agent(frame, agent + 1, title=say.leaving_title(agent)),
        begun,
        key="leaving",
        name="Who is hurt when an agent leaves",
        alt="Expected error of every agent before and after one leaves.",
        formula=say.LEAVING_FORMULA,
    )
