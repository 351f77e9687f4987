"""Models: one agent's coefficients, together and alone, with intervals."""

from __future__ import annotations

import streamlit as st

from collab_core import figures
from collab_core.tabular import TableStudy
from collab_core.words import your_data as texts
from pages.shared.figure import show
from pages.shared.say import literal, words
from pages.shared.script import Script

from .widgets import pick_agent


def part(study: TableStudy, script: Script) -> None:
    """Draw the part of the page."""
    left, right = st.columns([1, 2.2], vertical_alignment="center")
    with left:
        agent = pick_agent(study, "of")
    mine = script.branch()
    frame = mine.run("frame", study.coefficients, agent)
    with right:
        words(literal(texts.models(study, agent, frame)))
    show(
        figures.model_coefficients(
            frame, texts.target(study), title=texts.models_title(study, agent)
        ),
        mine,
        key="table-coefficients",
        name="Your data: coefficients",
        alt="Coefficients of one agent's model, together and alone, with 95% intervals.",
        formula=texts.COEFFICIENTS_FORMULA,
    )
