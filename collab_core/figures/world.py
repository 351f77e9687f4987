"""Figures of a world: its covariance, who sees what, what agents find, how much they count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from .marks import GREY
from .style import (
    DIVERGING,
    PALETTE,
    Trace,
    agent_names,
    feature_names,
    figure,
    log_axis,
    plain,
    tick_step,
)


def covariance_heatmap(
    covariance: ArrayLike, names: Sequence[str] | None = None, *, title: str, height: int = 340
) -> go.Figure:
    """Draw a covariance (or any symmetric matrix), colours symmetric about 0."""
    matrix = np.asarray(covariance, dtype=float)
    names = names or feature_names(matrix.shape[0])
    limit = float(np.abs(matrix).max())
    heatmap = {
        "type": "heatmap",
        "z": matrix,
        "x": names,
        "y": names,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": DIVERGING,
        "colorbar": {"thickness": 10, "outlinewidth": 0},
        "hovertemplate": "%{y} and %{x}: %{z:.3g}<extra></extra>",
    }
    return figure([heatmap], title=title, height=height, y={"autorange": "reversed"})


def spectrum(eigenvalues: ArrayLike, *, title: str, height: int = 340) -> go.Figure:
    """Draw eigenvalues from the largest to the smallest, on a log axis."""
    values = np.sort(np.asarray(eigenvalues, dtype=float))[::-1]
    line = {
        "type": "scatter",
        "x": np.arange(1, values.size + 1),
        "y": values,
        "mode": "lines+markers",
        "line": {"color": PALETTE["collab"].colour, "width": 1},
        "marker": {"size": 7},
        "hovertemplate": "eigenvalue %{x}: %{y:.3g}<extra></extra>",
    }
    return figure(
        [line],
        title=title,
        height=height,
        x={"title": {"text": "eigenvalue"}, "rangemode": "tozero"},
        y=log_axis("variance", values),
    )


def view_matrix(
    mask: ArrayLike,
    called: tuple[Sequence[str], Sequence[str]] | None = None,
    *,
    title: str,
    height: int = 340,
) -> go.Figure:
    """Draw who sees what, a square a cell: a row an agent, a column a feature.

    Squares come row by row, so that the one of agent i and feature j is point ``i * d + j``.

    Parameters
    ----------
    mask : array, shape (m, d)
    called : pair of lists of str, optional
        Names of the agents and of the features, written on the axes; numbers by default.
    """
    seen = np.asarray(mask, dtype=bool)
    m, d = seen.shape
    agents, columns = (index.ravel() for index in np.indices(seen.shape))
    flat = seen.ravel()
    names, features = called or (agent_names(m), feature_names(d))
    # Squares that nearly touch in a column of about 400 pixels.
    room = (360, height - 90) if called is None else (270, height - 160)
    size = float(np.clip(0.8 * min(room[0] / d, room[1] / m), 3, 24))
    squares = {
        "type": "scatter",
        "x": columns + 1,
        "y": agents + 1,
        "mode": "markers",
        "marker": {
            "symbol": "square",
            "size": size,
            # 0 or 1, coloured by a scale: shorter to send than a colour a square.
            "color": flat.astype(np.int8),
            "cmin": 0,
            "cmax": 1,
            "colorscale": [[0, "rgba(128,128,128,0.25)"], [1, PALETTE["collab"].colour]],
        },
        "text": [
            f"{plain(names[i])} {'sees' if is_seen else 'does not see'} {plain(features[j])}"
            for i, j, is_seen in zip(agents.tolist(), columns.tolist(), flat.tolist(), strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "unselected": {"marker": {"opacity": 1}},
    }
    return figure(
        [squares],
        title=title,
        height=height,
        x={**_squares_axis("feature", features if called else None, d), "range": [0.3, d + 0.7]},
        y={**_squares_axis("agent", names if called else None, m), "range": [m + 0.7, 0.3]},
    )


def _squares_axis(what: str, names: Sequence[str] | None, count: int) -> dict[str, Any]:
    """An axis of squares: numbered, or with names, all of up to forty and some of more."""
    bare = {"showgrid": False, "zeroline": False}
    if names is None:
        return {"title": {"text": what}, "dtick": tick_step(count), **bare}
    step = 1 if count <= 40 else tick_step(count)
    return {
        "tickvals": list(range(1, count + 1, step)),
        "ticktext": [plain(text, 14) for text in names[::step]],
        **bare,
    }


def coefficients_by_agent(
    truth: ArrayLike, embedded: ArrayLike, mask: ArrayLike, *, title: str, height: int = 340
) -> go.Figure:
    """Draw what every agent would find with endless data, beside the truth.

    Parameters
    ----------
    truth : array, shape (d,)
    embedded : array, shape (m, d)
        Each agent's limit ``T_i theta`` in the coordinates of all features.
    mask : array, shape (m, d)
    """
    values, limits, seen = (np.asarray(array) for array in (truth, embedded, mask))
    names = feature_names(values.size)
    agents, columns = np.nonzero(seen)
    style = PALETTE["local"]
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": [names[j] for j in columns],
            "y": limits[agents, columns],
            "mode": "markers",
            "name": "an agent alone, endless data",
            "marker": {"color": style.colour, "symbol": style.marker, "size": 9, "opacity": 0.75},
            "text": [f"Agent {i + 1}" for i in agents],
            "hovertemplate": "%{text}, %{x}: %{y:.3g}<extra></extra>",
        },
        {
            "type": "scatter",
            "x": names,
            "y": values,
            "mode": "markers",
            "name": "the truth, and COLLAB",
            "marker": {
                "symbol": "line-ew-open",
                "size": 26,
                "color": PALETTE["collab"].colour,
                "line": {"width": 4},
            },
            "hovertemplate": "truth, %{x}: %{y:.3g}<extra></extra>",
        },
    ]
    y = {"title": {"text": "coefficient"}, "zeroline": True}
    # Every feature in its place, also those whose first point comes late.
    x = {"categoryorder": "array", "categoryarray": names}
    return figure(traces, title=title, height=height, x=x, y=y)


def models_of_agent(
    names: Sequence[str],
    models: Mapping[str, tuple[str, ArrayLike]],
    truth: ArrayLike,
    *,
    title: str,
    height: int = 340,
) -> go.Figure:
    """Draw models of one agent beside the best it can have, a column a feature.

    Parameters
    ----------
    names : list of str
        The features.
    models : mapping of (str, array)
        By palette key: a name for people, and coefficients of shape (k,).
    truth : array, shape (k,)
        ``T_i theta``.
    """
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": list(names),
            "y": np.asarray(truth, dtype=float),
            "mode": "markers",
            "name": "best possible model",
            "legendgroup": "best",
            "marker": {"symbol": "line-ew-open", "size": 22, "color": GREY,
                       "line": {"width": 3}},
            "hovertemplate": "best possible, %{x}: %{y:.3g}<extra></extra>",
        }
    ]  # fmt: skip
    for key, (name, values) in models.items():
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": list(names),
                "y": np.asarray(values, dtype=float),
                "mode": "markers",
                "name": name,
                "legendgroup": key,
                "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
                "hovertemplate": "%{x}: %{y:.3g}<extra>" + name + "</extra>",
            }
        )
    y = {"title": {"text": "coefficient"}, "zeroline": True}
    x = {"type": "category", "categoryorder": "array", "categoryarray": list(names)}
    # Below the plot, which makes room for it: above, on a phone, it would lie over the title. With
    # a group a trace, names follow each other, where columns would be broad.
    layout = {
        "margin": {"l": 10, "r": 10, "t": 48, "b": 10},
        "legend": {
            "orientation": "h", "x": 0, "xref": "container",
            "y": 0, "yref": "container", "yanchor": "bottom",
        },
    }  # fmt: skip
    return figure(traces, title=title, height=height, x=x, y=y, layout=layout)


def matrix_with_column(
    matrix: ArrayLike,
    column: ArrayLike,
    names: Sequence[str],
    called: tuple[str, str],
    limits: tuple[float, float] | None = None,
    *,
    title: str,
    height: int = 380,
) -> go.Figure:
    """Draw a symmetric matrix as a heatmap with a column of numbers beside it.

    Parameters
    ----------
    matrix : array, shape (k, k)
    column : array, shape (k,)
    names : list of str
        Of the rows.
    called : (str, str)
        What matrix and column are called.
    limits : (float, float), optional
        Of the two colour scales; the largest entries by default.
    """
    square, side = np.asarray(matrix, dtype=float), np.asarray(column, dtype=float)
    if limits is None:
        limits = (float(np.abs(square).max()) or 1.0, float(np.abs(side).max()) or 1.0)
    shared = {"type": "heatmap", "y": list(names), "colorscale": DIVERGING, "showscale": False}
    traces: list[Trace] = [
        {
            **shared,
            "z": square,
            "x": list(names),
            "zmin": -limits[0],
            "zmax": limits[0],
            "hovertemplate": called[0] + ", %{y} and %{x}: %{z:.3g}<extra></extra>",
        },
        {
            **shared,
            "z": side[:, None],
            "x": [called[1]],
            "xaxis": "x2",
            "zmin": -limits[1],
            "zmax": limits[1],
            "hovertemplate": called[1] + ", %{y}: %{z:.3g}<extra></extra>",
        },
    ]
    beside = {"domain": [0.91, 1], "title": {"text": called[1]}, "showticklabels": False}
    return figure(
        traces,
        title=title,
        height=height,
        x={"domain": [0, 0.86], "title": {"text": called[0]}},
        y={"autorange": "reversed"},
        layout={"xaxis2": beside},
    )


def shares_by_agent(
    shares: ArrayLike, hover: Sequence[str], *, title: str, axis: str, height: int = 380
) -> go.Figure:
    """Draw one share per agent as bars."""
    values = np.asarray(shares, dtype=float)
    bars = {
        "type": "bar",
        "x": agent_names(values.size),
        "y": values,
        "marker": {"color": PALETTE["collab"].colour},
        "text": [f"{value:.0%}" for value in values],
        "customdata": list(hover),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    y = {"title": {"text": axis}, "tickformat": ".0%", "rangemode": "tozero"}
    return figure([bars], title=title, height=height, y=y)
