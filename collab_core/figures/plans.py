"""Figures of plans: who helps whom, fair shares, what to measure next, where samples are spent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from .style import PALETTE, Trace, figure, log_axis, tick_step

#: From almost the page's own colour to the blue of COLLAB.
BLUES = [[0.0, "#E6EEF4"], [1.0, "#0068A8"]]


def rises(matrix: ArrayLike, *, title: str, height: int = 460) -> go.Figure:
    """Draw by how much agent i's error rises when agent j leaves (`planning.who_helps_whom`).

    The diagonal, where an agent leaves its partners itself, is left blank: it is of another size.
    """
    values = np.asarray(matrix, dtype=float)
    m = len(values)
    cells = [[None if i == j else float(values[i, j]) for j in range(m)] for i in range(m)]
    heatmap: Trace = {
        "type": "heatmap",
        "z": cells,
        "x": np.arange(1, m + 1),
        "y": np.arange(1, m + 1),
        "colorscale": BLUES,
        "zmin": 0,
        "colorbar": {"tickformat": ".1%", "thickness": 10, "outlinewidth": 0},
        "hoverongaps": False,
        "hovertemplate": "without agent %{x}, agent %{y}'s error rises by %{z:.2%}<extra></extra>",
    }
    return figure(
        [heatmap],
        title=title,
        height=height,
        x={"title": {"text": "agent that leaves"}, "dtick": tick_step(m), "showgrid": False},
        y={"title": {"text": "agent that is hurt"}, "autorange": "reversed",
           "dtick": tick_step(m), "showgrid": False},
    )  # fmt: skip


def fair_shares(
    values: ArrayLike, errors: ArrayLike, *, title: str, height: int = 460
) -> go.Figure:
    """Draw each agent's fair share of the gain as bars, largest first, with 95% error bars."""
    shares, spread = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    order = np.argsort(-shares, kind="stable")
    bars: Trace = {
        "type": "bar",
        "x": [str(i + 1) for i in order],
        "y": shares[order],
        "marker": {"color": PALETTE["collab"].colour},
        "hovertemplate": "agent %{x}: %{y:.3g} of the error saved<extra></extra>",
    }
    if spread.any():
        bars["error_y"] = {"type": "data", "array": 1.96 * spread[order], "color": "#888888"}
    return figure(
        [bars],
        title=title,
        height=height,
        x={"title": {"text": "agent, largest share first"}, "type": "category", "showgrid": False},
        y={"title": {"text": "error saved, by fair share"}},
    )


def feature_gains(
    frame: pd.DataFrame, column: str, m: int, d: int, *, title: str, height: int = 440
) -> go.Figure:
    """Draw what one more feature of one agent gains (`planning.next_features`), agents by features.

    Parameters
    ----------
    column : str
        ``own_share`` or ``everybody_share``.
    """
    table = np.full((m, d), np.nan)
    table[frame["agent"].to_numpy(int) - 1, frame["feature"].to_numpy(int) - 1] = frame[column]
    heatmap: Trace = {
        "type": "heatmap",
        "z": [[None if np.isnan(v) else v for v in row] for row in table.tolist()],
        "x": np.arange(1, d + 1),
        "y": np.arange(1, m + 1),
        "colorscale": BLUES,
        "zmin": 0,
        "colorbar": {"tickformat": ".1%", "thickness": 10, "outlinewidth": 0},
        "hoverongaps": False,
        "hovertemplate": "agent %{y} also sees x%{x}: error falls by %{z:.2%}<extra></extra>",
    }
    return figure(
        [heatmap],
        title=title,
        height=height,
        x={"title": {"text": "feature"}, "dtick": tick_step(d), "showgrid": False},
        y={"title": {"text": "agent"}, "autorange": "reversed", "dtick": tick_step(m),
           "showgrid": False},
    )  # fmt: skip


def plan(frame: pd.DataFrame, names: Sequence[str], *, title: str, height: int = 440) -> go.Figure:
    """Draw a plan: the error after each addition (`planning.plan_features`).

    Parameters
    ----------
    names : list of str
        What each step adds.
    """
    line: Trace = {
        "type": "scatter",
        "x": frame["step"].to_numpy(),
        "y": frame["error"].to_numpy(dtype=float),
        "mode": "lines+markers",
        "line": {"color": PALETTE["collab"].colour, "width": 3},
        "text": list(names),
        "hovertemplate": "%{text}: %{y:.3g}<extra></extra>",
    }
    return figure(
        [line],
        title=title,
        height=height,
        x={"title": {"text": "features added"}, "dtick": tick_step(len(frame))},
        y={"title": {"text": "expected error"}, "rangemode": "tozero"},
    )


def samples_needed(frame: pd.DataFrame, *, title: str, height: int = 420) -> go.Figure:
    """Draw labelled samples for a wanted error, alone and together (`planning.samples_needed`)."""
    known = frame[(frame["alone"] > 0) & (frame["together"] > 0)]
    ordered = known.sort_values("saved", ascending=False, kind="stable")
    names = [str(agent) for agent in ordered["agent"]]
    traces: list[Trace] = []
    for column, key in (("alone", "local"), ("together", "collab")):
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": names,
                "y": ordered[column].to_numpy(dtype=float),
                "mode": "markers",
                "name": column,
                "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
                "hovertemplate": "agent %{x}, " + column + ": %{y:,.0f} samples<extra></extra>",
            }
        )
    values = np.concatenate([ordered["alone"], ordered["together"]])
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "agent, most saved first"}, "type": "category", "showgrid": False},
        y=log_axis("labelled samples of its own", values),
    )


def budget(frame: pd.DataFrame, *, title: str, height: int = 420) -> go.Figure:
    """Draw what extra samples gain at each agent, and where a plan puts them."""
    ordered = frame.sort_values("fall", ascending=False, kind="stable")
    names = [str(agent) for agent in ordered["agent"]]
    traces: list[Trace] = [
        {
            "type": "bar",
            "x": names,
            "y": ordered["fall"].to_numpy(dtype=float),
            "marker": {"color": PALETTE["collab"].colour},
            "customdata": ordered["given"].to_numpy(dtype=float),
            "hovertemplate": "all to agent %{x}: errors fall by %{y:.3g} in sum<br>"
            "the plan gives it %{customdata:,.0f}<extra></extra>",
        }
    ]
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "agent, most useful first"}, "type": "category", "showgrid": False},
        y={"title": {"text": "fall of all errors, in sum"}, "rangemode": "tozero"},
    )
