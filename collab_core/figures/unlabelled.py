"""Figure of how many unlabelled samples optimal weights need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..words.numbers import two_digits
from .marks import band, legend_below, stretch, upright
from .style import PALETTE, Trace, figure, label, log_axis


def unlabelled_errors(
    frame: pd.DataFrame,
    levels: Mapping[str, float],
    *,
    title: str,
    n: int,
    measured: float | None = None,
    break_even: float | None = None,
    between: tuple[float, float | None] | None = None,
    height: int = 460,
) -> go.Figure:
    """Draw the error of estimated optimal weights against the number of unlabelled samples.

    Parameters
    ----------
    frame : DataFrame
        As `unlabelled.UnlabelledCurve.frame`.
    levels : dict
        n times the error as n grows, of ``"collab"`` and ``"collab_oracle"``.
    n : int
        At which errors were measured.
    measured : float, optional
        n times COLLAB's error on the same trials, which the points are to be compared with.
    break_even : float, optional
        Where optimal weights begin to pay.
    between : (float, float or None), optional
        Range in which that is; without an end where it may be never.
    """
    sizes = frame["unlabelled"].to_numpy(dtype=float)
    ends = (float(sizes.min()), float(sizes.max()))
    limit = frame[frame["limit"].notna()]
    known = frame[frame["mean"].notna()]
    banded = known[known["low"].notna()]
    traces = [
        _level(ends, level, label(key), label(key), {"dash": PALETTE[key].dash, "width": 2}, key)
        for key, level in levels.items()
    ]
    traces += _optimal(limit, banded, known, n)
    values = [*levels.values(), *limit["limit"].to_numpy(dtype=float)]
    values += known["mean"].to_numpy(dtype=float).tolist()
    if measured is not None:
        name, said = f"{label('collab')}, simulated at n = {n:,}", "COLLAB, simulated"
        traces.append(_level(ends, measured, name, said, {"dash": "dot", "width": 1.5}, "collab"))
        values.append(measured)
    # The band is on the axis too, but for ends near 0.
    reach = np.concatenate([banded["low"], banded["high"]]).astype(float)
    values += reach[reach > min(values) / 2].tolist()
    layout = legend_below()
    if break_even is not None:
        layout |= _break_even(break_even, between, sizes)
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis("unlabelled samples", sizes),
        y=log_axis("n × prediction error", values),
        layout=layout,
    )


def _level(
    ends: tuple[float, float],
    at: float,
    name: str,
    said: str,
    line: Mapping[str, Any],
    key: str,
) -> Trace:
    """An error that unlabelled samples do not change, as a line in a method's colour."""
    return {
        "type": "scatter",
        "x": list(ends),
        "y": [at, at],
        "mode": "lines",
        "name": name,
        "line": {"color": PALETTE[key].colour, **line},
        "hovertemplate": "%{y:.3g}<extra>" + said + "</extra>",
    }


def _optimal(limit: pd.DataFrame, banded: pd.DataFrame, known: pd.DataFrame, n: int) -> list[Trace]:
    """Estimated optimal weights: as n grows a line, at n markers with their band."""
    style, name = PALETTE["collab_optimal"], label("collab_optimal")
    return [
        {
            "type": "scatter",
            "x": limit["unlabelled"].to_numpy(),
            "y": limit["limit"].to_numpy(dtype=float),
            "mode": "lines",
            "name": f"{name}, as n grows",
            "line": {"color": style.colour, "width": 3},
            "hovertemplate": "%{x:,} unlabelled: %{y:.3g}<extra>as n grows</extra>",
        },
        band(banded["unlabelled"], banded["low"], banded["high"], style.colour),
        {
            "type": "scatter",
            "x": known["unlabelled"].to_numpy(),
            "y": known["mean"].to_numpy(dtype=float),
            "mode": "markers",
            "name": f"the same, simulated at n = {n:,}",
            "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
            "hovertemplate": "%{x:,} unlabelled: %{y:.3g}<extra>simulated</extra>",
        },
    ]


def _break_even(
    at: float, between: tuple[float, float | None] | None, sizes: np.ndarray
) -> dict[str, Any]:
    """Layout of where optimal weights begin to pay, and the range in which that is."""
    low, high = between or (at, at)
    low, high = max(low, float(sizes.min())), high or float(sizes.max())
    # The words on the side where there is more room for them.
    right = np.log10(at) > np.log10(sizes).mean()
    return {
        "shapes": [
            upright(at),
            stretch(low, high),
        ],
        "annotations": [
            {"x": float(np.log10(low if right else high)), "y": 1, "yref": "paper",
             "yanchor": "top", "xanchor": "right" if right else "left", "showarrow": False,
             "xshift": -4 if right else 4, "text": f"pays from about {two_digits(at)}"}
        ],
    }  # fmt: skip
