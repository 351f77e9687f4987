"""What the model says, in natural units, together and alone."""

from __future__ import annotations

from collab_core import census, figures
from collab_core.census import Study
from collab_core.words import census as say
from pages.shared import figure
from pages.shared.say import words
from pages.shared.script import Script


def show(script: Script, study: Study) -> None:
    """Draw the part."""
    frame = script.run("frame", census.named_coefficients, study)
    words(say.coefficients(study, frame))
    is_number = [bool(census.question_of(name).unit) for name in frame["feature"]]
    levels = frame[[not number for number in is_number]]
    if len(levels):
        figure.show(
            figures.coefficient_intervals(
                levels,
                list(levels["text"]),
                f"{say.unit(study)} more than the first level",
                title=f"What the model says for {study.choice.target}",
                height=max(320, 90 + 22 * len(levels)),
            ),
            script,
            key="coefficients",
            name="Coefficients in words",
            alt="Coefficients of the collaborative and the local model with intervals.",
            formula=say.COEFFICIENTS_FORMULA,
        )
    words(say.coefficient_table(study, frame[is_number]))
