"""The world itself: who sees what (a click changes it), Sigma, and its eigenvalues."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import playground as say
from pages.shared import state
from pages.shared.figure import columns, show, wanted
from pages.shared.script import Script


def part(scenario: cc.Scenario, script: Script) -> None:
    """Three figures side by side."""
    left, middle, right = columns("views", "covariance", "spectrum", sizes=[1, 1, 1])
    with left:
        _views(scenario, script.branch())
    with middle:
        _covariance(scenario, script.branch())
    with right:
        _spectrum(scenario, script.branch())


def _views(scenario: cc.Scenario, script: Script) -> None:
    frame = script.run("frame", cc.describe.who_sees_what, scenario)
    mask = frame["sees"].to_numpy(dtype=bool).reshape(scenario.m, scenario.d)
    clicked = show(
        figures.view_matrix(mask, title="Who sees what (click to change)"),
        script,
        key="views",
        name="Who sees what",
        alt="Grid of agents by features: filled where the agent sees the feature.",
        formula=say.VIEWS_FORMULA,
        clickable=f"views-{st.session_state.get('clicks', 0)}",
    )
    if clicked:
        _toggle(scenario, mask, [point["point_index"] for point in clicked])
    if wanted("views") and not state.lesson().lecture:
        _edit_as_grid(scenario, mask)


def _covariance(scenario: cc.Scenario, script: Script) -> None:
    frame = script.run("frame", cc.describe.covariance, scenario)
    show(
        figures.covariance_heatmap(frame, title="How features vary together (Σ)"),
        script,
        key="covariance",
        name="Covariance",
        alt="Heatmap of the feature covariance.",
        formula=say.COVARIANCE_FORMULA,
    )


def _spectrum(scenario: cc.Scenario, script: Script) -> None:
    frame = script.run("frame", cc.describe.eigenvalues, scenario)
    values = frame["eigenvalue"].to_numpy()
    show(
        figures.spectrum(
            values, title=f"Eigenvalues of Σ, condition {values[0] / values[-1]:,.3g}"
        ),
        script,
        key="spectrum",
        name="Eigenvalues",
        alt="Eigenvalues of the covariance from the largest to the smallest.",
        formula=say.SPECTRUM_FORMULA,
    )


def _toggle(scenario: cc.Scenario, mask: np.ndarray, squares: list[int]) -> None:
    # A copy: the mask belongs to all sessions with this world.
    changed = mask.copy()
    changed.flat[squares] = ~mask.flat[squares]
    state.replace_scenario(scenario.with_views(changed))
    # A new key forgets the selection, so that the same square can be clicked again.
    st.session_state["clicks"] = st.session_state.get("clicks", 0) + 1
    st.rerun()


def _edit_as_grid(scenario: cc.Scenario, mask: np.ndarray) -> None:
    """The same by keyboard; made only when asked for, since a grid costs as much as a figure."""
    if not st.toggle("Change it as a grid", key="as-grid"):
        return
    table = pd.DataFrame(
        mask, index=figures.agent_names(scenario.m), columns=figures.feature_names(scenario.d)
    )
    edited = st.data_editor(
        table, key=f"grid-{hash(mask.tobytes())}", height=240, alt="Who sees what, editable."
    )
    changed = edited.to_numpy(dtype=bool)
    if (changed != mask).any():
        state.replace_scenario(scenario.with_views(changed))
        st.rerun()
