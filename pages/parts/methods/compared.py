"""Table 1 with numbers in it: how good every method is, and what it sends for it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.core.target import TargetKey as Target
from collab_core.words import methods as say
from pages.shared import options
from pages.shared.figure import columns, show
from pages.shared.say import error_box, words
from pages.shared.script import Script

from . import few_samples


def draw(scenario: cc.Scenario, problem: cc.Problem, agent: int, script: Script) -> None:
    """The whole part; ``script`` ends with the problem."""
    begun = script.branch()
    frame = begun.run("frame", cc.whatif.method_table, problem, scenario.n, agent)
    few_samples.warn(problem, scenario.n, script)
    words(say.compared(frame, scenario.n, agent))
    left, right = columns("bytes", "matrix", sizes=[1.15, 1])
    with left:
        whose = options.pick(
            "whose", "Error of", ("own", "full"), "own", widget=st.segmented_control,
            words=lambda key: f"Agent {agent + 1}'s own model" if key == "own" else "All features",
            label_visibility="collapsed",
        )  # fmt: skip
        drawn = frame.rename(columns={f"{whose}_error": "error"})[["method", "error", "bytes"]]
        show(
            figures.error_against_bytes(drawn, title=say.corner(frame, whose)),
            begun,
            key="bytes",
            name="Error against bytes",
            alt="Expected error of every method against the bytes it sends, on log axes.",
            formula=say.BYTES_FORMULA,
        )
    with right:
        show_matrix(frame, problem, agent, whose, script)
    words(say.table_1(frame, agent))
    words(say.TABLE_NOTE)


def show_matrix(
    table: pd.DataFrame, problem: cc.Problem, agent: int, whose: str, begun: Script
) -> None:
    """A method's whole covariance, of all features or of the agent's own."""
    known = table.loc[table[f"{whose}_trace"].notna(), "method"].tolist()
    method = options.pick(
        "method", "Whole covariance of", known, "collab", words=figures.label,
        label_visibility="collapsed",
    )  # fmt: skip
    target: Target = "full" if whose == "full" else agent
    if target != "full" and problem.sizes[agent] == 0:
        error_box(say.no_covariance(agent))
        return
    script = begun.branch()
    frame = script.run("frame", cc.whatif.covariance_table, problem, method, target)
    title = say.matrix_title(method, None if target == "full" else agent)
    show(
        figures.covariance_heatmap(frame.to_numpy(), list(frame.columns), title=title, height=420),
        script,
        key="matrix",
        name="A method's whole covariance",
        alt="Heatmap of the method's asymptotic covariance.",
        formula=say.MATRIX_FORMULA,
    )
