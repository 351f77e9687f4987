"""Figures of models that predict probabilities: measures against n, and reliability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .style import PALETTE, Trace, faint, figure, log_axis


def measure_curve(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    text: str,
    *,
    title: str,
    beyond: bool = False,
    log: bool = False,
    level: tuple[float, str] | None = None,
    height: int = 430,
) -> go.Figure:
    """Draw a measure against n, a line a method with its 95% band.

    Parameters
    ----------
    frame : DataFrame
        As `smooth.measures.Curve.frame`.
    names : mapping of str
        What methods are called.
    text : str
        What the measure is called.
    beyond : bool
        Draw how far it is from the best possible, on a log axis.
    log : bool
        A log axis.
    level : (float, str), optional
        A level across the plot, and what it is; not with ``beyond``.
    """
    drawn = frame.copy()
    if beyond:
        for name in ("mean", "low", "high"):
            drawn[name] = frame[name] - frame["best"]
    log = log or beyond
    known = drawn["mean"].dropna().to_numpy(dtype=float)
    # A log axis has no 0: a band that reaches it ends a decade below everything else.
    lowest = float(known[known > 0].min(initial=1.0)) / 10
    traces: list[Trace] = []
    for key, rows in drawn.groupby("method", sort=False):
        style, name = PALETTE[str(key)], names[str(key)]
        band = rows[rows["low"].notna()]
        low = band["low"].clip(lower=lowest) if log else band["low"]
        if len(band):
            traces.append(
                {
                    "type": "scatter",
                    "x": np.concatenate([band["n"], band["n"][::-1]]),
                    "y": np.concatenate([band["high"], low[::-1]]).astype(float),
                    "fill": "toself",
                    "fillcolor": faint(style.colour),
                    "line": {"width": 0},
                    "legendgroup": name,
                    "showlegend": False,
                    "hoverinfo": "skip",
                    "mode": "lines",
                }
            )
        there = rows[rows["mean"].notna()]
        if log:
            there = there[there["mean"] > 0]
        traces.append(
            {
                "type": "scatter",
                "x": there["n"].to_numpy(),
                "y": there["mean"].to_numpy(dtype=float),
                "mode": "lines+markers",
                "name": name,
                "legendgroup": name,
                "line": {"color": style.colour, "dash": style.dash, "width": 1.5},
                "marker": {"color": style.colour, "symbol": style.marker, "size": 8},
                "hovertemplate": "n = %{x:,}: %{y:.4g}<extra>" + name + "</extra>",
            }
        )
    axis = f"{text} beyond the best possible" if beyond else text
    y = log_axis(axis, known) if log else {"title": {"text": axis}, **_range(known, level)}
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis("labelled samples per agent, n", drawn["n"]),
        y=y,
        layout={
            "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
            "legend": {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
            **({} if level is None or beyond else _across(*level, log)),
        },
    )


def _range(known: np.ndarray, level: tuple[float, str] | None) -> dict[str, Any]:
    """Limits that hold the values and the level, but not a method that fails altogether."""
    values = known if level is None else np.append(known, level[0])
    if values.size == 0:
        return {}
    low, high = float(values.min()), float(values.max())
    middle = float(np.median(values))
    # Far from the middle nothing is to be read off but that it is far.
    high = min(high, middle + 8 * max(middle - low, 0.02))
    room = 0.06 * max(high - low, 1e-3)
    return {"range": [low - room, high + room]}


def _across(at: float, text: str, log: bool) -> dict[str, Any]:
    place = {"xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at}
    return {
        "shapes": [{"type": "line", "line": {"dash": "dot", "color": "#888888"}, **place}],
        "annotations": [
            {"x": 1, "xref": "paper", "xanchor": "right", "y": float(np.log10(at)) if log else at,
             "yanchor": "bottom", "text": text, "showarrow": False}
        ],
    }  # fmt: skip


def reliability(
    frame: pd.DataFrame, names: Mapping[str, str], *, title: str, height: int = 460
) -> go.Figure:
    """Draw the real share of ones against the predicted probability, a line a method.

    Parameters
    ----------
    frame : DataFrame
        As `smooth.measures.Curve.reliability_frame`. Larger markers hold more predictions.
    names : mapping of str
        What methods are called.
    """
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": [0, 1],
            "y": [0, 1],
            "mode": "lines",
            "line": {"color": "#888888", "dash": "dot", "width": 1.5},
            "name": "as predicted",
            "hoverinfo": "skip",
        }
    ]
    for key, rows in frame.groupby("method", sort=False):
        style, name = PALETTE[str(key)], names[str(key)]
        share = rows["share"].to_numpy(dtype=float)
        traces.append(
            {
                "type": "scatter",
                "x": rows["predicted"].to_numpy(dtype=float),
                "y": rows["observed"].to_numpy(dtype=float),
                "mode": "lines+markers",
                "name": name,
                "line": {"color": style.colour, "dash": style.dash, "width": 1.5},
                "marker": {
                    "color": style.colour,
                    "symbol": style.marker,
                    "size": 6 + 10 * np.sqrt(share),
                },
                "customdata": share,
                "hovertemplate": "predicted %{x:.3f}, real %{y:.3f}<br>%{customdata:.1%} of all"
                "<extra>" + name + "</extra>",
            }
        )
    unit = {"range": [-0.02, 1.02], "dtick": 0.2}
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "predicted probability"}, **unit},
        y={"title": {"text": "real share of ones"}, **unit},
        layout={
            "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
            "legend": {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
        },
    )
