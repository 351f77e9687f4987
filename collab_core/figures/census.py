"""Figures of the census: methods on real people, coefficients in words, what to ask next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .marks import GREY, upright, with_ends
from .style import PALETTE, Trace, figure, label


def errors_on_people(frame: pd.DataFrame, *, title: str, height: int = 380) -> go.Figure:
    """Draw every method's error relative to predicting the mean (`census.study.Study.results`)."""
    known = frame[frame["relative"].notna()]
    errors, low, high = with_ends(known, "relative")
    styles = [PALETTE[key] for key in known["method"]]
    points: Trace = {
        "type": "scatter",
        "x": errors,
        "y": [label(key) for key in known["method"]],
        "mode": "markers+text",
        "marker": {
            "color": [style.colour for style in styles],
            "symbol": [style.marker for style in styles],
            "size": 12,
        },
        # A resample is not centred on the fit itself: the bar may lie to one side.
        "error_x": {
            "type": "data",
            "array": np.maximum(high - errors, 0.0),
            "arrayminus": np.maximum(errors - low, 0.0),
            "color": GREY,
        },
        "text": [f"{error:.3f}" for error in errors],
        "textposition": "top center",
        "cliponaxis": False,
        "showlegend": False,
        "hovertemplate": "%{y}: %{x:.4f} of the variance left<extra></extra>",
    }
    # Far beyond 1 nothing is to be read off but that it fails.
    right = min(max(1.02, float(np.max(errors, initial=1.0)) * 1.02), 1.5)
    left = min(float(np.min(errors, initial=1.0)), 1.0) - 0.02
    return figure(
        [points],
        title=title,
        height=height,
        x={"title": {"text": "test error over that of predicting the mean"},
           "range": [left, right]},
        y={"type": "category", "autorange": "reversed", "showgrid": True},
        layout={"shapes": [upright(1)]},
    )  # fmt: skip


def states_measured(frame: pd.DataFrame, *, title: str, height: int = 380) -> go.Figure:
    """Draw every state's error alone and together (`census.study.Study.measured`), best gain first.

    Parameters
    ----------
    frame : DataFrame
        ``state``, ``alone`` and ``together``, over predicting the mean.
    """
    known = frame[frame["alone"].notna() & frame["together"].notna()]
    gain = known["alone"] - known["together"]
    ordered = known.loc[gain.sort_values(ascending=False, kind="stable").index]
    traces: list[Trace] = []
    for column, key in (("alone", "local"), ("together", "collab")):
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": list(ordered["state"]),
                "y": ordered[column].to_numpy(dtype=float),
                "mode": "markers",
                "name": f"{column} ({label(key)})",
                "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
                "hovertemplate": "%{x}, " + column + ": %{y:.4f}<extra></extra>",
            }
        )
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "state, most gained first"}, "type": "category"},
        y={"title": {"text": "test error over predicting the mean"}},
    )


def coefficient_intervals(
    frame: pd.DataFrame, names: Sequence[str], axis: str, *, title: str, height: int = 520
) -> go.Figure:
    """Draw coefficients together and alone with their intervals, a row a feature.

    Parameters
    ----------
    frame : DataFrame
        ``together``, ``low``, ``high``, ``alone``, ``alone_low``, ``alone_high``.
    names : list of str
        Features in words.
    """
    traces: list[Trace] = []
    for column, ends, key, text in (
        ("alone", ("alone_low", "alone_high"), "local", "alone"),
        ("together", ("low", "high"), "collab", "together"),
    ):
        known = frame[column].notna().to_numpy()
        values = frame.loc[known, column].to_numpy(dtype=float)
        low, high = (frame.loc[known, end].to_numpy(dtype=float) for end in ends)
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": values,
                "y": [name for name, there in zip(names, known, strict=True) if there],
                "mode": "markers",
                "name": f"{text} ({label(key)})",
                "marker": {"color": style.colour, "symbol": style.marker, "size": 8},
                "error_x": {
                    "type": "data",
                    "array": high - values,
                    "arrayminus": values - low,
                    "color": style.colour,
                    "thickness": 1.5,
                },
                "hovertemplate": "%{y}: %{x:.3g}<extra>" + text + "</extra>",
            }
        )
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": axis}, "zeroline": True},
        y={"type": "category", "categoryorder": "array", "categoryarray": list(names)[::-1]},
    )


def falls_by_question(
    table: pd.DataFrame, names: Mapping[str, str], *, title: str, height: int = 380
) -> go.Figure:
    """Draw by how much an error falls if a state asked a question: states by questions.

    Parameters
    ----------
    table : DataFrame
        Index states, columns questions; NaN where a state asks it already.
    names : mapping of str
        Questions in words.
    """
    values = table.to_numpy(dtype=float)
    hover = [
        [
            f"{state} asks {names[key]} already"
            if np.isnan(value)
            else f"if {state} asked {names[key]}: error falls by {value:.2%}"
            for key, value in zip(table.columns, row, strict=True)
        ]
        for state, row in zip(table.index, values, strict=True)
    ]
    known = np.abs(values[~np.isnan(values)])
    limit = float(known.max(initial=1e-6))
    heatmap: dict[str, Any] = {
        "type": "heatmap",
        # Plotly leaves a gap where there is no number; None, since NaN is not JSON.
        "z": [[None if np.isnan(value) else value for value in row] for row in values.tolist()],
        "x": [names[key] for key in table.columns],
        "y": list(table.index),
        "zmin": -limit,
        "zmax": limit,
        # A fall is good, and blue as COLLAB is.
        "colorscale": [[0.0, "#B2182B"], [0.5, "#F7F7F7"], [1.0, "#2166AC"]],
        "colorbar": {"tickformat": ".2%", "thickness": 10},
        "text": hover,
        "hovertemplate": "%{text}<extra></extra>",
        "hoverongaps": False,
    }
    return figure([heatmap], title=title, height=height, y={"autorange": "reversed"})
