"""Which coefficients are shared and which are every agent's own."""

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
    variances = script.read("variances", world, "variances")
    frame = script.run("frame", cc.different.coefficients, data, variances)
    words(say.coefficients(frame))
    show(
        figures.coefficient_spread(
            frame, title="How far agents differ, coefficient by coefficient"
        ),
        script,
        key="coefficients",
        name="What is shared",
        alt="Standard deviation of agents' deviations by coefficient: true and estimated.",
        formula=say.COEFFICIENTS_FORMULA,
    )
