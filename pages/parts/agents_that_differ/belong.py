"""Who does not belong: agents whose models are far from what the others imply."""

from __future__ import annotations

import collab_core as cc
from collab_core import figures
from collab_core.words import agents_that_differ as say
from pages.shared.figure import show
from pages.shared.say import words

from .world import begun


def part(world: cc.Scenario) -> None:
    """Draw the part of the page."""
    script, problem = begun(world)
    data = script.run("data", cc.different.data_set, problem, world.n, world.seed)
    frame = script.run("frame", cc.different.belonging, data)
    words(say.belonging(frame))
    if frame["apart"].notna().sum() == 0:
        return
    show(
        figures.belonging(
            frame,
            title="How far every agent is from what the others imply",
            names=figures.agent_names(problem.agents),
        ),
        script,
        key="belong",
        name="Who does not belong",
        alt="Distance of every agent's model from what the others imply, over chance.",
        formula=say.BELONGING_FORMULA,
    )
