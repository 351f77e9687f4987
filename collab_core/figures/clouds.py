"""Figures of estimates as points around the truth, at one n or played over many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..runs.simulate import Sample
from .marks import GREY
from .style import PALETTE, Trace, figure, label, player


def estimate_clouds(
    paths: Mapping[int, Sample],
    coordinates: tuple[int, int],
    names: tuple[str, str],
    *,
    title: str,
    at: int | None = None,
    columns: int = 3,
    height: int = 580,
) -> go.Figure:
    """Draw two coordinates of every trial's estimate, a small multiple a method, played over n.

    Parameters
    ----------
    paths : mapping of int to Sample
        As `simulate.sample_paths`: the same trials at every n.
    coordinates : (int, int)
    names : (str, str)
        What the coordinates are called.
    at : int, optional
        The n shown at first; the smallest by default.
    columns : int
        Small multiples side by side.
    """
    sizes = sorted(paths)
    active = sizes.index(at) if at is not None and at in paths else 0
    methods = list(dict.fromkeys(key for n in sizes for key in paths[n].estimates))
    truth = paths[sizes[0]].truth[list(coordinates)]

    def cloud(n: int, method: str) -> np.ndarray:
        values = paths[n].estimates.get(method)
        return np.empty((0, 2)) if values is None else values[:, list(coordinates)]

    limits = _limits([cloud(n, method) for n in sizes[:3] for method in methods], truth)
    rows = -(-len(methods) // columns)
    traces: list[Trace] = []
    layout: dict[str, Any] = {"annotations": []}
    for position, method in enumerate(methods):
        traces.append(_points(cloud(sizes[active], method), method, position))
        layout |= _multiple(position, (rows, columns), names, limits)
        layout["annotations"].append(_heading(position, (rows, columns), label(method)))
    traces += [_truth_mark(truth, position) for position in range(len(methods))]
    frames = [
        {
            "name": f"{n:,}",
            "data": [{"x": c[:, 0], "y": c[:, 1]} for c in (cloud(n, m) for m in methods)],
            "traces": list(range(len(methods))),
        }
        for n in sizes
    ]
    layout |= player([f"{n:,}" for n in sizes], active, "n = ")
    layout["margin"] = {"l": 10, "r": 10, "t": 40, "b": 120}
    return figure(traces, title=title, height=height, layout=layout, frames=frames)


def _number(position: int) -> str:
    """Of a small multiple, as Plotly counts axes: nothing, 2, 3, .. ."""
    return "" if position == 0 else str(position + 1)


def _axes(position: int) -> Trace:
    """Where a trace of a small multiple is drawn."""
    number = _number(position)
    return {"xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": False}


def _place(position: int, shape: tuple[int, int]) -> tuple[list[float], list[float]]:
    """A small multiple's room across and up, as shares of the plot."""
    rows, columns = shape
    row, column = divmod(position, columns)
    left, low = column / columns, 1 - (row + 1) / rows
    return [left + 0.02, left + 1 / columns - 0.02], [low + 0.06, low + 1 / rows - 0.08]


def _multiple(
    position: int, shape: tuple[int, int], names: tuple[str, str], limits: Sequence[Sequence[float]]
) -> dict[str, Any]:
    """Layout of a small multiple's axes; titles only at the edges, since all have the same."""
    number, (across, up) = _number(position), _place(position, shape)
    row, column = divmod(position, shape[1])
    quiet = {"zeroline": False, "nticks": 4}
    below = {"title": {"text": names[0], "standoff": 4}} if row == shape[0] - 1 else {}
    beside = {"title": {"text": names[1], "standoff": 4}} if column == 0 else {}
    x = {"domain": across, "anchor": f"y{number}", "range": limits[0]}
    y = {"domain": up, "anchor": f"x{number}", "range": limits[1], "showticklabels": column == 0}
    return {f"xaxis{number}": quiet | below | x, f"yaxis{number}": quiet | beside | y}


def _heading(position: int, shape: tuple[int, int], text: str) -> dict[str, Any]:
    """What stands above a small multiple."""
    across, up = _place(position, shape)
    return {
        "text": text, "x": sum(across) / 2, "y": up[1], "xref": "paper", "yref": "paper",
        "yanchor": "bottom", "showarrow": False,
    }  # fmt: skip


def _points(cloud: np.ndarray, method: str, position: int) -> Trace:
    """A method's estimates, shape (trials, 2), in its small multiple."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": cloud[:, 0],
        "y": cloud[:, 1],
        "marker": {"color": PALETTE[method].colour, "size": 5, "opacity": 0.6},
        "hovertemplate": "%{x:.3g}, %{y:.3g}<extra>" + label(method) + "</extra>",
        **_axes(position),
    }


def _truth_mark(truth: np.ndarray, position: int) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [truth[0]],
        "y": [truth[1]],
        "marker": {"symbol": "cross-thin", "size": 16, "line": {"width": 2, "color": GREY}},
        "hovertemplate": "the truth: %{x:.3g}, %{y:.3g}<extra></extra>",
        **_axes(position),
    }


def _limits(clouds: Sequence[np.ndarray], truth: np.ndarray) -> list[list[float]]:
    """Axis ranges that hold most of the first clouds; a few wild trials do not stretch them."""
    points = np.concatenate([truth[None], *clouds])
    low, high = np.quantile(points, [0.03, 0.97], axis=0)
    low, high = np.minimum(low, truth), np.maximum(high, truth)
    room = 0.08 * (high - low) + 1e-3 * (1 + np.abs(truth))
    return [[float(low[i] - room[i]), float(high[i] + room[i])] for i in range(2)]
