"""Figures of anybody's table: held-out errors by agent, residuals against what was fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from scipy.stats import norm

from .census import coefficient_intervals
from .marks import GREY, upright, with_ends
from .style import PALETTE, Trace, figure, label, plain
from .world import view_matrix

#: Agents that fit into one figure; the others are in its data.
MOST_ROWS = 40


def held_out_errors(
    frame: pd.DataFrame, *, title: str, height: int = 420, order: list[str] | None = None
) -> go.Figure:
    """Draw every method's held-out error for every agent (`tabular.TableStudy.results`).

    Parameters
    ----------
    frame : DataFrame
        ``agent``, ``method``, ``relative``, ``low``, ``high``.
    order : list of str, optional
        Agents from top to bottom; only these are drawn.
    """
    agents = (order or list(dict.fromkeys(frame["agent"])))[:MOST_ROWS]
    shown = frame[frame["agent"].isin(agents) & frame["relative"].notna()]
    methods = list(dict.fromkeys(frame["method"]))
    place = {agent: row for row, agent in enumerate(agents)}
    traces: list[Trace] = []
    for number, method in enumerate(methods):
        known = shown[shown["method"] == method]
        # Side by side within an agent's row, so that bars can be told apart.
        offset = (number - (len(methods) - 1) / 2) * 0.8 / len(methods)
        if len(known):
            traces.append(_held_out(method, known, [place[a] + offset for a in known["agent"]]))
    return figure(
        traces,
        title=title,
        height=max(height, 150 + 34 * len(agents)),
        x={"title": {"text": "held-out error over that of predicting the mean"},
           "range": _held_out_range(shown)},
        y={
            "range": [len(agents) - 0.4, -0.6],
            "tickvals": list(range(len(agents))),
            "ticktext": [plain(agent, 18) for agent in agents],
            "showgrid": False,
            "zeroline": False,
        },
        layout={
            # On a phone the legend has three rows.
            "margin": {"l": 10, "r": 10, "t": 104, "b": 10},
            "shapes": [
                upright(1),
                # A faint line between agents.
                *(
                    {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": row + 0.5,
                     "y1": row + 0.5, "line": {"width": 1, "color": "rgba(128,128,128,0.25)"}}
                    for row in range(len(agents) - 1)
                ),
            ]
        },
    )  # fmt: skip


def _held_out(method: str, known: pd.DataFrame, heights: list[float]) -> Trace:
    """A method's errors with their intervals, at the heights of their agents."""
    style = PALETTE[method]
    errors, low, high = with_ends(known, "relative")
    return {
        "type": "scatter",
        "x": errors,
        "y": heights,
        "mode": "markers",
        "name": label(method),
        "marker": {"color": style.colour, "symbol": style.marker, "size": 7},
        "error_x": {
            "type": "data",
            "array": np.maximum(high - errors, 0.0),
            "arrayminus": np.maximum(errors - low, 0.0),
            "color": style.colour,
            "thickness": 1.2,
            "width": 0,
        },
        "text": [plain(str(agent)) for agent in known["agent"]],
        "hovertemplate": "%{text}, " + label(method) + ": %{x:.4f}<extra></extra>",
    }


def _held_out_range(shown: pd.DataFrame) -> list[float]:
    """Limits that hold whole intervals, within reason.

    No error is below 0, far beyond 1 nothing is to be read off but that it fails, and no interval
    of one agent may squeeze all others.
    """
    errors, low, high = with_ends(shown, "relative")
    furthest = max(float(np.max(errors, initial=1.0)), float(np.quantile([1.0, *high], 0.9)))
    right = min(max(1.05, furthest * 1.05), 2.0)
    left = max(min(float(np.min(low, initial=1.0)) - 0.05, 0.95), -0.05)
    return [left, right]


def residuals(frame: pd.DataFrame, *, title: str, height: int = 340) -> go.Figure:
    """Draw residuals against what was fitted (``fitted``, ``residual``)."""
    points: Trace = {
        "type": "scattergl" if len(frame) > 2000 else "scatter",
        "x": frame["fitted"].to_numpy(dtype=float),
        "y": frame["residual"].to_numpy(dtype=float),
        "mode": "markers",
        "marker": {"color": PALETTE["collab"].colour, "size": 5, "opacity": 0.55},
        "hovertemplate": "fitted %{x:.3g}, residual %{y:.3g}<extra></extra>",
    }
    return figure(
        [points],
        title=title,
        height=height,
        x={"title": {"text": "fitted"}},
        y={"title": {"text": "residual"}, "zeroline": True},
    )


def normal_quantiles(values: np.ndarray, *, title: str, height: int = 340) -> go.Figure:
    """Draw residuals, in standard deviations, against a Gaussian's quantiles: straight if it is."""
    ordered = np.sort(np.asarray(values, dtype=float))
    spread = ordered.std() or 1.0
    ordered = (ordered - ordered.mean()) / spread
    expected = norm.ppf((np.arange(ordered.size) + 0.5) / max(ordered.size, 1))
    ends = [float(expected.min(initial=-1.0)), float(expected.max(initial=1.0))]
    traces: list[Trace] = [
        {"type": "scatter", "x": ends, "y": ends, "mode": "lines", "showlegend": False,
         "line": {"color": GREY, "dash": "dot"}, "hoverinfo": "skip"},
        {
            "type": "scatter",
            "x": expected,
            "y": ordered,
            "mode": "markers",
            "showlegend": False,
            "marker": {"color": PALETTE["collab"].colour, "size": 5},
            "hovertemplate": "Gaussian %{x:.2f}, residual %{y:.2f}<extra></extra>",
        },
    ]  # fmt: skip
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "standard deviations, if Gaussian"}},
        y={"title": {"text": "residual, in standard deviations"}},
    )


def who_sees_what(
    seen: pd.DataFrame, rows: ArrayLike, *, title: str, height: int = 400
) -> go.Figure:
    """Draw which agent has which column (`tabular.TableStudy.seen`), its rows in brackets."""
    counts = np.asarray(rows, dtype=int).tolist()
    agents = [f"{agent} ({n:,})" for agent, n in zip(seen.index, counts, strict=True)]
    return view_matrix(
        seen.to_numpy(),
        (agents, [str(name) for name in seen.columns]),
        height=height,
        title=title,
    )


def model_coefficients(frame: pd.DataFrame, target: str, *, title: str) -> go.Figure:
    """Draw an agent's model, together and alone, per step so that features can be compared.

    Parameters
    ----------
    frame : DataFrame
        As `tabular.TableStudy.coefficients`; the intercept is left out.
    target : str
        What is predicted.
    """
    slopes = frame[frame["feature"] != "(intercept)"]
    numbers = ["together", "low", "high", "alone", "alone_low", "alone_high"]
    return coefficient_intervals(
        slopes.assign(**{name: slopes[name] * slopes["step"] for name in numbers}),
        [plain(name, 28) for name in slopes["feature"]],
        f"change of {plain(target)} per step (one standard deviation, or the level)",
        title=title,
        height=max(320, 110 + 26 * len(slopes)),
    )
