"""A figure with all that belongs beside it: data, formula, code, a text for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from collab_core.tabular.export import safe_csv

from . import state
from .script import Script, as_part, is_part

__all__ = ["as_part", "columns", "draw", "ink", "show", "shown", "wanted"]


def shown() -> dict[str, str]:
    """Figures that the page has drawn in this run: what each is called, by key."""
    return st.session_state.setdefault("shown", {})


def wanted(key: str) -> bool:
    """Whether the link asks for this figure (or for all)."""
    return state.lesson().figure in ("", key)


def ink() -> str:
    """Colour of text in this person's theme; another theme is known from the next run on."""
    return "#FAFAFA" if st.context.theme.type == "dark" else "#262730"


def columns(*keys: str, sizes: Sequence[float]) -> list[DeltaGenerator]:
    """Columns for figures, or the whole width where the link asks for one figure."""
    if state.lesson().figure in keys:
        return [st.container() for _ in keys]
    return st.columns(sizes)


def show(
    figure: go.Figure,
    script: Script,
    *,
    key: str,
    name: str,
    alt: str,
    formula: str,
    clickable: str | None = None,
) -> list[dict[str, Any]]:
    """Draw a figure, and under it its data, formula and code.

    Parameters
    ----------
    figure : Figure
    script : Script
        The lines that were run for it. Its last value is what the figure shows: a data frame.
    key : str
        In links (``figure=key``) and files' names.
    name : str
        What the figure is called where a person picks one to share.
    alt : str
        For screen readers.
    formula : str
        Markdown.
    clickable : str, optional
        Key of a chart whose points can be clicked; what was clicked is returned.
    """
    return draw(figure, key, name, alt, script.last, formula, script.text, clickable)


def draw(
    figure: go.Figure,
    key: str,
    name: str,
    alt: str,
    frame: pd.DataFrame,
    formula: str,
    code: str,
    clickable: str | None,
) -> list[dict[str, Any]]:
    """As `show`, of a frame and a text."""
    if not wanted(key):
        return []
    shown()[key] = name
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
        "toImageButtonOptions": {
            "format": st.session_state.get("image-format", "svg"),
            "filename": f"collab-{key}",
        },
    }
    if state.lesson().lecture:
        figure.update_layout(
            title={"font": {"size": 24}}, legend={"font": {"size": 18}}, height=440
        )
        for axes in (figure.update_xaxes, figure.update_yaxes):
            axes(tickfont={"size": 16}, title={"font": {"size": 18}})
    clicked: list[dict[str, Any]] = []
    if clickable is None:
        st.plotly_chart(figure, key=f"chart-{key}", alt=alt, config=config)
    else:
        event = st.plotly_chart(
            figure,
            key=clickable,
            alt=alt,
            config=config,
            on_select="rerun",
            selection_mode="points",
        )
        clicked = event["selection"]["points"]
    if not state.lesson().lecture:
        _beside(key, frame, formula, code)
    return clicked


def _beside(key: str, frame: pd.DataFrame, formula: str, code: str) -> None:
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Data",
            data=lambda: safe_csv(frame),
            file_name=f"collab-{key}.csv",
            mime="text/csv",
            key=f"data-{key}",
            on_click="ignore",
            type="tertiary",
            help="The numbers of this figure as CSV. The camera above it saves the picture.",
        )
        with st.popover("Formula and code", type="tertiary", key=f"formula-{key}"):
            whole = "These lines print the figure's numbers:"
            part = "These lines print the numbers of the whole run; the figure shows a part of it:"
            st.markdown(f"{formula}\n\n{part if is_part() else whole}")
            st.code(code, language="python")
