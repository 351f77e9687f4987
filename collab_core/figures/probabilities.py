"""Figures of models that predict probabilities: measures against n, and reliability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..smooth import methods
from .curves import LABELLED
from .marks import GREY, across, band
from .style import PALETTE, Trace, figure, log_axis

#: A legend under the plot that the plot makes room for, however many lines a phone needs.
BELOW: dict[str, Any] = {
    "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
    "legend": {
        "orientation": "h", "x": 0, "xref": "container",
        "y": 0, "yref": "container", "yanchor": "bottom",
    },
}  # fmt: skip

#: On a log axis a band ends at this share of its mean: at 0 it would reach the floor.
BAND_ENDS = 0.25


def measure_curve(
    frame: pd.DataFrame,
    text: str,
    *,
    title: str,
    beyond: bool = False,
    log: bool = False,
    level: tuple[float, str] | None = None,
    height: int = 430,
) -> go.Figure:
    """Draw a measure against n, a line a method with its 95% band.

    Everybody's full data, which COLLAB should come near to, is a broad line below all others;
    COLLAB is drawn last.

    Parameters
    ----------
    frame : DataFrame
        As `smooth.MeasureCurve.frame`.
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
    if log:
        drawn = drawn[~(drawn["mean"] <= 0)]
        drawn["low"] = np.maximum(drawn["low"], BAND_ENDS * drawn["mean"])
    order = [str(key) for key in drawn["method"].unique()]
    traces: list[Trace] = []
    for rank, key in sorted(enumerate(order, start=1), key=lambda one: _depth(one[1])):
        traces += _measured(key, rank, drawn[drawn["method"] == key])
    axis = f"{text} beyond the best possible" if beyond else text
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis(LABELLED, frame["n"]),
        y=_log(axis, drawn) if log else {"title": {"text": axis}, **_range(drawn, level)},
        layout={**BELOW, **({} if level is None or beyond else across(*level, log))},
    )


def _measured(key: str, rank: int, rows: pd.DataFrame) -> list[Trace]:
    """Line and band of a method, which is so many-th in the legend."""
    style, name = PALETTE[key], methods.get(key).label
    broad = key == "full_data"
    banded, there = rows[rows["low"].notna()], rows[rows["mean"].notna()]
    line: Trace = {
        "type": "scatter",
        "x": there["n"].to_numpy(),
        "y": there["mean"].to_numpy(dtype=float),
        "mode": "lines+markers",
        "name": name,
        "legendgroup": name,
        "legendrank": rank,
        "opacity": 0.5 if broad else 1,
        "line": {"color": style.colour, "dash": style.dash, "width": 6 if broad else 1.5},
        "marker": {"color": style.colour, "symbol": style.marker, "size": 8},
        "hovertemplate": "n = %{x:,}: %{y:.4g}<extra>" + name + "</extra>",
    }
    if banded.empty:
        return [line]
    return [band(banded["n"], banded["low"], banded["high"], style.colour, name), line]


def _depth(key: str) -> int:
    """In which order lines are drawn: COLLAB on top, where it would hide behind others."""
    return {"full_data": 0, "collab": 2}.get(key, 1)


def _numbers(drawn: pd.DataFrame, name: str) -> np.ndarray:
    return drawn[name].dropna().to_numpy(dtype=float)


def _log(text: str, drawn: pd.DataFrame) -> dict[str, Any]:
    """A log axis that holds all means, and bands as far as a factor of three around them."""
    known = _numbers(drawn, "mean")
    if known.size == 0:
        return log_axis(text, known)
    ends = np.concatenate([_numbers(drawn, "low"), _numbers(drawn, "high")])
    return log_axis(text, np.append(known, np.clip(ends, known.min() / 3, known.max() * 3)))


def _range(drawn: pd.DataFrame, level: tuple[float, str] | None) -> dict[str, Any]:
    """Limits that hold means, bands and the level, but not a method that fails altogether."""
    known = _numbers(drawn, "mean")
    values = known if level is None else np.append(known, level[0])
    if values.size == 0:
        return {}
    low, high = float(values.min()), float(values.max())
    middle = float(np.median(values))
    # Far from the middle nothing is to be read off but that it is far.
    high = min(high, middle + 8 * max(middle - low, 0.02))
    # Bands as far as half of that around it: one wide one must not flatten all lines.
    reach = max(high - low, 1e-3) / 2
    low = max(_numbers(drawn, "low").min(initial=low), low - reach)
    high = min(_numbers(drawn, "high").max(initial=high), high + reach)
    room = 0.06 * max(high - low, 1e-3)
    return {"range": [low - room, high + room]}


def reliability(frame: pd.DataFrame, *, title: str, height: int = 460) -> go.Figure:
    """Draw the real share of ones against the predicted probability, a line a method.

    Parameters
    ----------
    frame : DataFrame
        As `smooth.MeasureCurve.reliability_frame`. Larger markers hold more predictions.
    """
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": [0, 1],
            "y": [0, 1],
            "mode": "lines",
            "line": {"color": GREY, "dash": "dot", "width": 1.5},
            "name": "as predicted",
            "legendgroup": "as predicted",
            "hoverinfo": "skip",
        }
    ]
    for key, rows in frame.groupby("method", sort=False):
        style, name = PALETTE[str(key)], methods.get(str(key)).label
        share = rows["share"].to_numpy(dtype=float)
        traces.append(
            {
                "type": "scatter",
                "x": rows["predicted"].to_numpy(dtype=float),
                "y": rows["observed"].to_numpy(dtype=float),
                "mode": "lines+markers",
                "name": name,
                # A group of its own: names then follow each other, where columns would be broad.
                "legendgroup": name,
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
        layout=BELOW,
    )
