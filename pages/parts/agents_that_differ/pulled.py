"""Who is pulled where: one coefficient in all models of all agents."""

from __future__ import annotations

import collab_core as cc
from collab_core import figures
from collab_core.words import agents_that_differ as say
from pages.shared import options
from pages.shared.figure import show
from pages.shared.say import words

from .world import begun

#: More agents than this make a figure too long to read.
MOST_ROWS = 12


def part(world: cc.Scenario) -> None:
    """Draw the part of the page."""
    script, problem = begun(world)
    most_seen = int(problem.mask.sum(axis=0).argmax())
    feature = options.pick(
        "feature", "Coefficient of", range(problem.dimension), most_seen,
        words=lambda j: f"x{j + 1}",
    )  # fmt: skip
    data = script.run("data", cc.different.data_set, problem, world.n, world.seed)
    frame = script.run("frame", cc.different.one_coefficient, data, feature)
    if frame.empty:
        words(f"Nobody has enough samples for a model with x{feature + 1}.")
        return
    words(say.forest(frame, feature))
    drawn = frame[frame["agent"].isin(frame["agent"].unique()[:MOST_ROWS])]
    more = frame["agent"].nunique() - drawn["agent"].nunique()
    show(
        figures.forest(
            drawn,
            title=f"The coefficient of x{feature + 1}, agent by agent",
            names=figures.agent_names(problem.agents),
        ),
        script,
        key="pulled",
        name="Who is pulled where",
        alt=f"The coefficient of x{feature + 1} in every agent's models, with intervals.",
        formula=say.FOREST_FORMULA,
    )
    words(f"{more} more agents are in the data." if more else "")
