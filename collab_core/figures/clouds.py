"""Figures of estimates as points around the truth, at one n or played over many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..runs.simulate import Sample
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

    rows = -(-len(methods) // columns)
    traces: list[Trace] = []
    layout: dict[str, Any] = {"annotations": []}
    limits = _limits([cloud(n, method) for n in sizes[:3] for method in methods], truth)
    for position, method in enumerate(methods):
        style, number = PALETTE[method], "" if position == 0 else str(position + 1)
        row, column = divmod(position, columns)
        on = {"xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": False}
        points = cloud(sizes[active], method)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": points[:, 0],
                "y": points[:, 1],
                "marker": {"color": style.colour, "size": 5, "opacity": 0.6},
                "hovertemplate": "%{x:.3g}, %{y:.3g}<extra>" + label(method) + "</extra>",
                **on,
            }
        )
        left, low = column / columns, 1 - (row + 1) / rows
        across = [left + 0.02, left + 1 / columns - 0.02]
        up = [low + 0.06, low + 1 / rows - 0.08]
        quiet = {"zeroline": False, "nticks": 4}
        # Axis titles only at the edges: every multiple has the same axes.
        below = {"title": {"text": names[0], "standoff": 4}} if row == rows - 1 else {}
        beside = {"title": {"text": names[1], "standoff": 4}} if column == 0 else {}
        layout[f"xaxis{number}"] = quiet | below | {
            "domain": across, "anchor": f"y{number}", "range": limits[0]
        }  # fmt: skip
        layout[f"yaxis{number}"] = quiet | beside | {
            "domain": up, "anchor": f"x{number}", "range": limits[1],
            "showticklabels": column == 0,
        }  # fmt: skip
        layout["annotations"].append(
            {"text": label(method), "x": sum(across) / 2, "y": up[1], "xref": "paper",
             "yref": "paper", "yanchor": "bottom", "showarrow": False}
        )  # fmt: skip
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


def _truth_mark(truth: np.ndarray, position: int) -> Trace:
    number = "" if position == 0 else str(position + 1)
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [truth[0]],
        "y": [truth[1]],
        "marker": {"symbol": "cross-thin", "size": 16, "line": {"width": 2, "color": "#888888"}},
        "hovertemplate": "the truth: %{x:.3g}, %{y:.3g}<extra></extra>",
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "showlegend": False,
    }


def _limits(clouds: Sequence[np.ndarray], truth: np.ndarray) -> list[list[float]]:
    """Axis ranges that hold most of the first clouds; a few wild trials do not stretch them."""
    points = np.concatenate([truth[None], *clouds])
    low, high = np.quantile(points, [0.03, 0.97], axis=0)
    low, high = np.minimum(low, truth), np.maximum(high, truth)
    room = 0.08 * (high - low) + 1e-3 * (1 + np.abs(truth))
    return [[float(low[i] - room[i]), float(high[i] + room[i])] for i in range(2)]
