"""Checks: whether agents follow one relation, and what a model leaves."""

from __future__ import annotations

import streamlit as st

from collab_core import figures
from collab_core.tabular import TableStudy
from collab_core.tabular.export import safe_frame
from collab_core.words import your_data as texts
from pages.shared.figure import columns, show
from pages.shared.say import literal, words
from pages.shared.script import Script

from .widgets import four_digits, pick_agent, table_height

#: Fewer residuals make no figure.
FEWEST = 3


def part(study: TableStudy, script: Script) -> None:
    """Draw the part of the page."""
    words(f"**{literal(texts.shift(study))}** {literal(texts.tails(study))}")
    left, _ = st.columns([1, 2.2])
    with left:
        agent = pick_agent(study, "check")
    draw_residuals(study, script.branch(), agent)
    words("**Does an agent follow another relation than the others imply?**")
    st.dataframe(
        safe_frame(study.shift), hide_index=True, height=table_height(len(study.agents)),
        column_config=four_digits("difference", "low", "high", "p", "adjusted"),
    )  # fmt: skip
    words(literal(texts.filled(study)))
    st.caption(texts.SHIFT_FORMULA)


def draw_residuals(study: TableStudy, script: Script, agent: int) -> None:
    """Draw what one agent's model leaves, against what it fits and against a Gaussian."""
    frame = script.run("frame", study.residuals, agent)
    left, right = columns("residuals", "quantiles", sizes=[1, 1])
    name = texts.short(study.agents[agent])
    if len(frame) < FEWEST:
        return
    with left:
        show(
            figures.residuals(frame, title=f"{name}: what the model leaves"),
            script,
            key="residuals",
            name="Your data: residuals",
            alt="Residuals against fitted values.",
            formula=texts.RESIDUALS_FORMULA,
        )
    with right:
        show(
            figures.normal_quantiles(
                frame["residual"].to_numpy(), title=f"{name}: straight if Gaussian"
            ),
            script,
            key="quantiles",
            name="Your data: residuals' law",
            alt="Residuals against the quantiles of a Gaussian.",
            formula=texts.RESIDUALS_FORMULA,
        )
