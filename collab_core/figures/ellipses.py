"""Figures of covariance ellipses: one plane, many planes, and planes that are played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .marks import GREY
from .style import PALETTE, Trace, figure, label, player

#: A legend below the plot, where many names have room.
_BELOW = {"orientation": "h", "y": -0.16, "yanchor": "top", "x": 0}


def ellipses(
    frame: pd.DataFrame, names: tuple[str, str], *, title: str, height: int = 520
) -> go.Figure:
    """Draw `collab_core.ellipses.picture`: outlines, estimates as points, the truth as a cross."""
    traces = [*_clouds(frame), *_outlines(frame), _cross(frame)]
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": names[0]}, "zeroline": False, "range": _range(frame, "x")},
        y={"title": {"text": names[1]}, "zeroline": False, "range": _range(frame, "y")},
        layout={"margin": {"l": 10, "r": 10, "t": 40, "b": 10}, "legend": _BELOW},
    )


def played_ellipses(
    frames: Mapping[str, pd.DataFrame],
    names: tuple[str, str],
    what: str,
    *,
    title: str,
    at: str | None = None,
    height: int = 560,
) -> go.Figure:
    """Draw several `picture` frames as one figure that plays through them.

    Parameters
    ----------
    frames : mapping of DataFrame
        By what is written on the slider, in order.
    what : str
        What changes, such as ``"p = "``.
    at : str, optional
        The frame shown at first.
    """
    steps = list(frames)
    active = steps.index(at) if at is not None and at in frames else 0

    def traces_of(frame: pd.DataFrame) -> list[Trace]:
        return [*_clouds(frame), *_outlines(frame), _cross(frame)]

    first = traces_of(frames[steps[active]])
    together = pd.concat(frames.values())
    played = [
        {
            "name": step,
            "data": [{"x": t["x"], "y": t["y"]} for t in traces_of(frame)],
            "traces": list(range(len(first))),
        }
        for step, frame in frames.items()
    ]
    return figure(
        first,
        title=title,
        height=height,
        x={"title": {"text": names[0]}, "zeroline": False, "range": _range(together, "x")},
        y={"title": {"text": names[1]}, "zeroline": False, "range": _range(together, "y")},
        layout=player(steps, active, what)
        | {
            "margin": {"l": 10, "r": 10, "t": 72, "b": 120},
            "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        },
        frames=played,
    )


def ellipse_matrix(
    frame: pd.DataFrame, names: Sequence[str], *, title: str, height: int = 620
) -> go.Figure:
    """Draw every pair of a few coordinates as small multiples, below the diagonal.

    Parameters
    ----------
    frame : DataFrame
        `collab_core.ellipses.pair_pictures`.
    names : list of str
        Of the coordinates: two or more of those in ``across`` and ``up``.
    """
    count = len(names) - 1
    pairs = frame.groupby(["across", "up"], sort=False)
    traces: list[Trace] = []
    layout: dict[str, Any] = {}
    number = 0
    for row in range(1, count + 1):
        for column in range(row):
            pair = pairs.get_group((names[column], names[row]))
            suffix = "" if number == 0 else str(number + 1)
            on = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
            traces += [trace | on for trace in (*_outlines(pair, number == 0), _cross(pair))]
            quiet = {"zeroline": False, "nticks": 4, "tickfont": {"size": 10}}
            across = [column / count + 0.02, (column + 1) / count - 0.02]
            up = [1 - row / count + 0.02, 1 - (row - 1) / count - 0.02]
            below = {"title": {"text": names[column], "standoff": 2}} if row == count else {}
            beside = {"title": {"text": names[row], "standoff": 2}} if column == 0 else {}
            layout[f"xaxis{suffix}"] = quiet | below | {"domain": across, "anchor": f"y{suffix}"}
            layout[f"yaxis{suffix}"] = quiet | beside | {"domain": up, "anchor": f"x{suffix}"}
            number += 1
    return figure(traces, title=title, height=height, layout=layout)


def intervals(
    deviations: Mapping[str, float], truth: float, name: str, *, title: str, height: int = 340
) -> go.Figure:
    """Draw intervals of a single coefficient, which has no ellipse.

    Parameters
    ----------
    deviations : mapping of float
        Half widths, by palette key.
    """
    keys = list(deviations)
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": [truth],
            "y": [label(key)],
            "mode": "markers",
            "marker": {"color": PALETTE[key].colour, "size": 9},
            "error_x": {"type": "data", "array": [deviations[key]], "thickness": 3, "width": 8},
            "hovertemplate": f"{truth:.3g} ± {deviations[key]:.3g}<extra>{label(key)}</extra>",
            "showlegend": False,
        }
        for key in keys
    ]
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": name}, "zeroline": False},
        y={"type": "category", "autorange": "reversed"},
    )


def _outlines(frame: pd.DataFrame, shown: bool = True) -> list[Trace]:
    rows = frame[frame["what"] == "outline"]
    return [
        _outline(str(key), part[["x", "y"]].to_numpy(), shown)
        for key, part in rows.groupby("method", sort=False)
    ]


def _outline(key: str, points: np.ndarray, shown: bool) -> Trace:
    style, name = PALETTE[key], label(key)
    return {
        "type": "scatter",
        "x": points[:, 0],
        "y": points[:, 1],
        "mode": "lines",
        "name": name,
        "legendgroup": name,
        "showlegend": shown,
        "line": {"color": style.colour, "dash": style.dash, "width": 2.5},
        "hovertemplate": "%{x:.3g}, %{y:.3g}<extra>" + name + "</extra>",
    }


def _clouds(frame: pd.DataFrame) -> list[Trace]:
    rows = frame[frame["what"] == "estimate"]
    return [
        {
            "type": "scatter",
            "x": part["x"].to_numpy(),
            "y": part["y"].to_numpy(),
            "mode": "markers",
            "name": f"{label(str(key))}, simulated",
            "marker": {"color": PALETTE[str(key)].colour, "size": 4, "opacity": 0.45},
            "hovertemplate": "%{x:.3g}, %{y:.3g}<extra>" + label(str(key)) + "</extra>",
        }
        for key, part in rows.groupby("method", sort=False)
    ]


def _cross(frame: pd.DataFrame) -> Trace:
    return _mark(frame.loc[frame["what"] == "truth", ["x", "y"]].to_numpy()[0])


def _mark(truth: np.ndarray) -> Trace:
    return {
        "type": "scatter",
        "x": [float(truth[0])],
        "y": [float(truth[1])],
        "mode": "markers",
        "name": "the truth",
        "showlegend": False,
        "marker": {"symbol": "cross-thin", "size": 18, "line": {"width": 2, "color": GREY}},
        "hovertemplate": "the truth: %{x:.3g}, %{y:.3g}<extra></extra>",
    }


def _range(frame: pd.DataFrame, axis: str) -> list[float]:
    """Room for all outlines and for all but a few wild estimates."""
    fixed = frame.loc[frame["what"] != "estimate", axis]
    low, high = float(fixed.min()), float(fixed.max())
    for _, part in frame[frame["what"] == "estimate"].groupby("method")[axis]:
        low, high = min(low, float(part.quantile(0.01))), max(high, float(part.quantile(0.99)))
    room = 0.06 * (high - low) or 1e-9 + 1e-3 * abs(low)
    return [low - room, high + room]
