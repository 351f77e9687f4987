"""Chain of bounds: C_gauss, what full data would give, and C_strong, direction by direction."""

from __future__ import annotations

import collab_core as cc
from collab_core import figures
from collab_core.words import lower_bounds as words
from pages.shared import figure, say
from pages.shared.script import Script
from pages.shared.shell import problem_of


def show(scenario: cc.Scenario) -> None:
    """Draw the part."""
    if problem_of(scenario) is None:
        return
    script = Script.of(scenario)
    problem = script.run("problem", scenario.problem)
    frame = script.run("frame", cc.bounds.chain, problem)
    say.words(words.chain(frame))
    figure.show(
        figures.chain(frame, title="Variance by direction, as multiples of C_strong's"),
        script,
        key="chain",
        name="The chain of bounds",
        alt="Bars of the eigenvalues of C_gauss and of the middle bound, relative to C_strong.",
        formula=words.CHAIN_FORMULA,
    )
