"""Figures of plans: who helps whom, fair shares, what to measure next, where samples are spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from .._base.checks import Array
from .marks import GREY
from .style import PALETTE, Trace, cut, faint, feature_names, figure, log_axis, tick_step

#: From almost the page's own colour, light or dark, to the blue of COLLAB.
BLUES = [[0.0, "rgba(0, 119, 190, 0.07)"], [1.0, "rgba(0, 119, 190, 1)"]]

#: Tiny errors as powers of ten: nobody reads 500µ as an error.
SMALL = {"exponentformat": "power"}


def rises(
    matrix: ArrayLike, *, title: str, height: int = 460, agents: Sequence[str] | None = None
) -> go.Figure:
    """Draw by how much agent i's error rises when agent j leaves (`planning.who_helps_whom`).

    The diagonal, where an agent leaves its partners itself, is left blank: it is of another size.

    Parameters
    ----------
    agents : list of str, optional
        Their names; numbers from 1 by default.
    """
    values = np.array(matrix, dtype=float)
    np.fill_diagonal(values, np.nan)
    names = _names(agents, "agent", len(values))
    hover = [[f"without {j}, {i}'s error rises by" for j in names] for i in names]
    return _shares_heatmap(
        values, hover, (agents, agents), ("agent that leaves", "whose error rises"), title, height
    )


def _names(given: Sequence[str] | None, what: str, count: int) -> list[str]:
    """Names for hover boxes: as given, or "agent 1", "agent 2", .. ."""
    return [f"{what} {i + 1}" for i in range(count)] if given is None else list(given)


def _ticks(given: Sequence[str] | None, count: int) -> list[Any]:
    """What is written on an axis: numbers, or names that leave room for the plot."""
    return list(range(1, count + 1)) if given is None else cut(given)


def _axis(given: Sequence[str] | None, count: int, text: str) -> dict[str, Any]:
    axis = {"title": {"text": text}, "showgrid": False}
    if given is None:
        return axis | {"dtick": tick_step(count)}
    return axis | {"type": "category", "tickfont": {"size": 11}}


def _shares_heatmap(
    values: ArrayLike,
    hover: Sequence[Sequence[str]],
    names: tuple[Sequence[str] | None, Sequence[str] | None],
    texts: tuple[str, str],
    title: str,
    height: int,
) -> go.Figure:
    """Shares of an error, columns then rows in ``names`` and ``texts``; blank where NaN."""
    cells = np.asarray(values, dtype=float)
    rows, columns = cells.shape
    known = cells[~np.isnan(cells)]
    heatmap: Trace = {
        "type": "heatmap",
        # None, since NaN is not JSON.
        "z": [[None if np.isnan(v) else v for v in row] for row in cells.tolist()],
        "x": _ticks(names[0], columns),
        "y": _ticks(names[1], rows),
        "text": [list(row) for row in hover],
        "colorscale": BLUES,
        # Both ends, or Plotly would begin the scale at the smallest value.
        "zmin": 0,
        "zmax": max(float(known.max(initial=0.0)), 1e-6),
        "colorbar": {"tickformat": ".1%", "thickness": 10, "outlinewidth": 0},
        "hoverongaps": False,
        "hovertemplate": "%{text} %{z:.2%}<extra></extra>",
    }
    return figure(
        [heatmap],
        title=title,
        height=height,
        x=_axis(names[0], columns, texts[0]),
        y=_axis(names[1], rows, texts[1]) | {"autorange": "reversed"},
    )


def fair_shares(
    frame: pd.DataFrame, *, title: str, height: int = 460, agents: Sequence[str] | None = None
) -> go.Figure:
    """Draw what agents bring to others by fair share, most first, and what each saves itself.

    Parameters
    ----------
    frame : DataFrame
        As `planning.Shares.frame`; 95% error bars are drawn where orders were sampled.
    """
    ordered = frame.sort_values("brings", ascending=False, kind="stable")
    said = [
        f"brings {brings:.3g} to the others, saves {gets:.3g} itself"
        for brings, gets in zip(frame["brings"], frame["gets"], strict=True)
    ]
    bars = _bars(ordered["agent"], ordered["brings"].to_numpy(dtype=float), agents, said)
    bars["name"] = "brings to the others"
    spread = ordered["brings_error"].to_numpy(dtype=float)
    if spread.any():
        bars["error_y"] = {"type": "data", "array": 1.96 * spread, "color": GREY}
    style = PALETTE["local"]
    gets: Trace = {
        "type": "scatter",
        "x": bars["x"],
        "y": ordered["gets"].to_numpy(dtype=float),
        "mode": "markers",
        "name": "saves itself",
        "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
        "text": bars["text"],
        "hovertemplate": bars["hovertemplate"],
    }
    return figure(
        [bars, gets],
        title=title,
        height=height,
        x=_ordered_axis("who brings most first", agents),
        y={"title": {"text": "error saved"}, "rangemode": "tozero", **SMALL},
    )


def _bars(
    order: ArrayLike, heights: Array, agents: Sequence[str] | None, said: Sequence[str]
) -> Trace:
    """A bar an agent, ``order`` counted from 1; ``said`` of each, in the agents' own order."""
    places = np.asarray(order, dtype=int)
    names = _names(agents, "agent", len(said))
    return {
        "type": "bar",
        "x": _ordered_names(places, agents),
        "y": heights,
        "marker": {"color": PALETTE["collab"].colour},
        "text": [f"{names[i - 1]}: {said[i - 1]}" for i in places],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _ordered_names(order: ArrayLike, agents: Sequence[str] | None) -> list[str]:
    places = np.asarray(order, dtype=int)
    ticks = _ticks(agents, int(places.max(initial=0)) if agents is None else len(agents))
    return [str(ticks[i - 1]) for i in places]


def _ordered_axis(how: str, agents: Sequence[str] | None) -> dict[str, Any]:
    text = f"agent, {how}" if agents is None else how
    return _axis(agents or [], 0, text)


def feature_gains(
    frame: pd.DataFrame,
    column: str,
    m: int,
    d: int,
    *,
    title: str,
    height: int = 440,
    agents: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
) -> go.Figure:
    """Draw what one more feature of one agent gains (`planning.next_features`), agents by features.

    Parameters
    ----------
    column : str
        ``own_share`` or ``everybody_share``.
    agents, features : list of str, optional
        Their names; numbers from 1 by default.
    """
    table = np.full((m, d), np.nan)
    table[frame["agent"].to_numpy(int) - 1, frame["feature"].to_numpy(int) - 1] = frame[column]
    columns = feature_names(d) if features is None else features
    hover = [
        [f"{i} also sees {j}: error falls by" for j in columns] for i in _names(agents, "agent", m)
    ]
    texts = ("feature (blank: seen already)", "agent")
    return _shares_heatmap(table, hover, (features, agents), texts, title, height)


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
        y={"title": {"text": "expected error"}, "rangemode": "tozero", **SMALL},
    )


def samples_needed(
    frame: pd.DataFrame, *, title: str, height: int = 420, agents: Sequence[str] | None = None
) -> go.Figure:
    """Draw labelled samples for a wanted error, alone and together (`planning.samples_needed`)."""
    known = frame[(frame["alone"] > 0) & (frame["together"] > 0)]
    ordered = known.sort_values("saved", ascending=False, kind="stable")
    names = _names(agents, "agent", len(frame))
    traces: list[Trace] = []
    for column, key in (("alone", "local"), ("together", "collab")):
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": _ordered_names(ordered["agent"], agents),
                "y": ordered[column].to_numpy(dtype=float),
                "mode": "markers",
                "name": column,
                "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
                "text": [f"{names[i - 1]}, {column}" for i in ordered["agent"]],
                "hovertemplate": "%{text}: %{y:,.0f} samples<extra></extra>",
            }
        )
    values = np.concatenate([ordered["alone"], ordered["together"]])
    return figure(
        traces,
        title=title,
        height=height,
        x=_ordered_axis("most saved first", agents),
        y=log_axis("labelled samples of its own", values),
    )


def budget(
    frame: pd.DataFrame, *, title: str, height: int = 420, agents: Sequence[str] | None = None
) -> go.Figure:
    """Draw what extra samples gain at each agent, and where a plan puts them."""
    ordered = frame.sort_values("fall", ascending=False, kind="stable")
    said = [
        f"all of them here, errors fall by {fall:.3g} in sum<br>the plan gives {count:,.0f}"
        for fall, count in zip(frame["fall"], frame["given"], strict=True)
    ]
    heights, given = (ordered[name].to_numpy(dtype=float) for name in ("fall", "given"))
    bars = _bars(ordered["agent"], heights, agents, said)
    blue = PALETTE["collab"].colour
    bars["marker"] = {"color": [blue if count > 0 else faint(blue, 0.3) for count in given]}
    # The plan is written over its bars, as far as there is room for numbers.
    written: Trace = {
        "type": "scatter",
        "x": bars["x"],
        "y": heights,
        "mode": "text",
        "text": [f"{count:,.0f}" if count > 0 else "" for count in given],
        "textposition": "top center",
        "hoverinfo": "skip",
    }
    room = len(given) <= 15
    return figure(
        [bars, written] if room else [bars],
        title=title,
        height=height,
        x=_ordered_axis("most useful first", agents),
        y={"title": {"text": "fall of all errors, in sum"}, "rangemode": "tozero", **SMALL},
        layout={"showlegend": False},
    )
