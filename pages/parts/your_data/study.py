"""The study of the table: made while one waits or with progress, and kept for other pages."""

from __future__ import annotations

from threading import Event

import streamlit as st

from collab_core import tabular
from collab_core.tabular import TableChoice, TableStudy
from collab_core.words import your_data as texts
from pages.shared import run, state, subject
from pages.shared.say import bare
from pages.shared.script import Call, Script
from pages.shared.subject import Subject

from .table import Opened

#: A table of so many rows, and of sums so large, is studied while one waits; a larger one with
#: progress and Stop.
QUICK_ROWS, QUICK_EFFORT = 20_000, 20_000


def studied(opened: Opened, choice: TableChoice) -> tuple[TableStudy, Script] | None:
    """The study and the lines that make it; None while a large one is under way."""
    script, table = opened.script(), opened.table
    call = script.plan("study", tabular.analyse, table, script.write("choice", choice))
    # The table itself: a number of its own could be that of one that is gone.
    key = (table, choice)
    held = st.session_state.get("table-study")
    if held is None or held[0] != key:
        if table.rows > QUICK_ROWS or tabular.effort(table, choice) > QUICK_EFFORT:
            with_progress(call, key)
            return None
        # One study a session, and not by `Script.run`: it can be large, and it is somebody's.
        held = st.session_state["table-study"] = (key, call())
    study: TableStudy = script.done(call, held[1])
    st.session_state[subject.TABLE] = state.kept(
        "table-world", study, lambda: world_of(study, script.branch())
    )
    return study, script


def with_progress(call: Call[TableStudy], key: object) -> None:
    """Study a large table."""

    def work(report: run.Report, cancel: Event) -> TableStudy:
        return call(progress=lambda share: report(share, None), cancel=cancel)

    def took(found: TableStudy | None, final: bool) -> None:
        if final and found is not None:
            st.session_state["table-study"] = (key, found)
            state.touch()
            st.rerun()

    run.panel(
        "table-study", key, work, took, label="Study",
        help="Adds up the table and fits every method.", auto=True,
    )  # fmt: skip


def world_of(study: TableStudy, script: Script) -> Subject | str:
    """The table as a world for the page "What if", or why it is none."""
    try:
        problem = script.run("problem", study.problem)
    except ValueError as reason:
        return f"{reason}."
    sources = study.sources
    return Subject(
        problem,
        float(study.rows.mean()),
        [bare(agent) for agent in study.agents],
        [bare(feature.name) for feature in study.features],
        script,
        source=texts.source(study, bare(study.choice.target)),
        groups=[
            [j for j, feature in enumerate(study.features) if feature.source == source]
            for source in sources
        ],
        group_names=[bare(source) for source in sources],
    )
