"""The table: what its columns were taken for, and which agent has which."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from collab_core import figures, tabular
from collab_core.tabular import Table, TableStudy
from collab_core.tabular.export import safe_frame
from collab_core.words import your_data as texts
from pages.shared.figure import show
from pages.shared.say import literal, words
from pages.shared.script import Script

from .widgets import table_height


def list_columns(table: Table) -> None:
    """What each column was taken for, whether or not the table can be studied."""
    words(texts.columns(table))
    frame = tabular.columns_of(table)
    st.dataframe(
        safe_frame(frame),
        hide_index=True,
        column_config={
            "missing": st.column_config.NumberColumn(format="percent", width="small"),
            "values": st.column_config.TextColumn(width="small"),
            "note": st.column_config.TextColumn(width="large"),
        },
        height=table_height(len(frame)),
    )
    for note in table.notes:
        words(f"- {literal(note)}")


def part(study: TableStudy, script: Script) -> None:
    """Draw the part of the page, below the columns."""
    words(f"**{literal(texts.coverage(study))}**")
    show_views(study, script, height=max(240, 90 + 26 * len(study.agents)))
    if study.unseen_pairs:
        pairs = pd.DataFrame(study.unseen_pairs, columns=["column", "never together with"])
        words(f"**{len(pairs):,} pairs of columns that no agent has together:**")
        st.dataframe(safe_frame(pairs), hide_index=True, height=table_height(len(pairs), 240))
    for note in study.notes:
        words(f"- {literal(note)}")


def show_views(study: TableStudy, script: Script, height: int) -> None:
    """Draw who sees what."""
    mine = script.branch()
    mine.run("frame", tabular.who_sees_what, study)
    show(
        figures.who_sees_what(study.seen, study.rows, title=texts.VIEWS_TITLE, height=height),
        mine,
        key="table-views",
        name="Your data: who sees what",
        alt="Which agent has which column of the table.",
        formula=texts.VIEWS_FORMULA,
    )
