"""Who gains: every method's error on rows that were held out, and a verdict for every agent."""

from __future__ import annotations

import streamlit as st

from collab_core import figures
from collab_core.tabular import TableStudy
from collab_core.tabular.export import safe_frame
from collab_core.words import your_data as texts
from pages.shared.figure import columns, show
from pages.shared.say import literal, words
from pages.shared.script import Script

from .columns import show_views
from .widgets import table_height


def part(study: TableStudy, script: Script) -> None:
    """Draw the part of the page."""
    words(f"**{literal(texts.summary(study))}** {literal(texts.overall(study))}")
    left, right = columns("held-out", "table-views", sizes=[1.35, 1])
    with left:
        mine = script.branch()
        results = mine.read("frame", study, "results")
        show(
            figures.held_out_errors(
                results,
                order=list(study.verdicts.sort_values("change")["agent"]),
                height=400,
                title=texts.held_out_title(study),
            ),
            mine,
            key="held-out",
            name="Your data: held-out errors",
            alt="Held-out error of every method for every agent, with intervals.",
            formula=texts.HELD_OUT_FORMULA,
        )
    with right:
        show_views(study, script, height=400)
    table = texts.evidence(study)
    st.dataframe(safe_frame(table), hide_index=True, height=table_height(len(table)))
    words(literal(texts.filled(study)))
    if study.left_out:
        words(literal(f"{study.left_out}."))
    for sentence in texts.missing_methods(study):
        words(literal(sentence))
