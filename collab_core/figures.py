"""Figures: results in, Plotly figures out. Pure functions; colours come from one palette.

Needs Plotly, which the rest of the library does not: import this module by name.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from .methods import METHODS


@dataclass(frozen=True)
class Style:
    """How a method looks, on every page."""

    colour: str
    dash: str
    marker: str


# Based on the Okabe-Ito and Tol palettes: distinguishable with colour-blind eyes, and with enough
# contrast on white and on the dark theme's background. Dash and marker say the same again.
PALETTE: dict[str, Style] = {
    "collab": Style("#0077BB", "solid", "circle"),
    "collab_plus": Style("#D55E00", "solid", "diamond"),
    "rw_imputation": Style("#33BBEE", "dash", "square"),
    "imputation": Style("#009988", "dash", "square-open"),
    "local_imputation": Style("#4477AA", "dashdot", "circle-open"),
    "local": Style("#CC79A7", "longdash", "triangle-up"),
    "pooled_moments": Style("#B8860B", "dashdot", "star"),
    "naive_collab": Style("#BB5566", "dot", "x"),
    "optimized_naive_collab": Style("#9467BD", "dot", "cross"),
    "exact": Style("#E69F00", "solid", "line-ew"),
    "strong": Style("#888888", "dash", "line-ew"),
}

#: Names of the bounds that are no method's covariance.
BOUND_LABELS = {"exact": "Exact bound", "strong": "C_strong (paper)"}

#: From cool (negative) over neutral to warm (positive), readable on both themes.
DIVERGING = [[0.0, "#2166AC"], [0.5, "#F7F7F7"], [1.0, "#B2182B"]]


def label(key: str) -> str:
    """What a method or bound is called in every figure."""
    return METHODS[key].label if key in METHODS else BOUND_LABELS[key]


def _layout(figure: go.Figure, title: str, height: int) -> go.Figure:
    """Title above the plot, room for labels, fixed height so that a page does not jump."""
    figure.update_layout(
        title={
            "text": title,
            "font": {"size": 16},
            "x": 0,
            "xanchor": "left",
            "y": 0.98,
            "yanchor": "top",
        },
        height=height,
        margin={"l": 10, "r": 10, "t": 72 if _has_legend(figure) else 48, "b": 10},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "title": None},
    )
    return figure


def _has_legend(figure: go.Figure) -> bool:
    """Whether Plotly will draw one: two named traces or more that want to be in it."""
    return (
        sum(trace.name is not None and trace.showlegend is not False for trace in figure.data) > 1
    )


def covariance_heatmap(
    covariance: ArrayLike, names: Sequence[str] | None = None, *, title: str, height: int = 340
) -> go.Figure:
    """Draw a covariance (or any symmetric matrix), colours symmetric about 0."""
    matrix = np.asarray(covariance, dtype=float)
    names = names or feature_names(matrix.shape[0])
    limit = float(np.abs(matrix).max())
    heatmap = go.Heatmap(
        z=matrix,
        x=names,
        y=names,
        zmin=-limit,
        zmax=limit,
        colorscale=DIVERGING,
        colorbar={"thickness": 10, "outlinewidth": 0},
        hovertemplate="%{y} and %{x}: %{z:.3g}<extra></extra>",
    )
    figure = go.Figure(heatmap)
    figure.update_yaxes(autorange="reversed")
    return _layout(figure, title, height)


def spectrum(eigenvalues: ArrayLike, *, title: str, height: int = 340) -> go.Figure:
    """Draw eigenvalues from the largest to the smallest, on a log axis."""
    values = np.sort(np.asarray(eigenvalues, dtype=float))[::-1]
    figure = go.Figure(
        go.Scatter(
            x=list(range(1, values.size + 1)),
            y=values,
            mode="lines+markers",
            line={"color": PALETTE["collab"].colour, "width": 1},
            marker={"size": 7},
            hovertemplate="eigenvalue %{x}: %{y:.3g}<extra></extra>",
        )
    )
    figure.update_xaxes(title="eigenvalue", rangemode="tozero")
    figure.update_yaxes(type="log", title="variance", **_few_ticks(values))
    return _layout(figure, title, height)


def view_matrix(mask: ArrayLike, *, title: str, height: int = 340) -> go.Figure:
    """Draw who sees what, a square a cell: a row an agent, a column a feature.

    Squares come row by row, so that the one of agent i and feature j is point ``i * d + j``.
    """
    seen = np.asarray(mask, dtype=bool)
    m, d = seen.shape
    agents, columns = (index.ravel() for index in np.indices(seen.shape))
    flat = seen.ravel()
    names, features = agent_names(m), feature_names(d)
    # Squares that nearly touch in a column of about 400 pixels.
    size = float(np.clip(0.8 * min(360 / d, (height - 90) / m), 3, 24))
    figure = go.Figure(
        go.Scatter(
            x=columns + 1,
            y=agents + 1,
            mode="markers",
            marker={
                "symbol": "square",
                "size": size,
                "color": np.where(flat, PALETTE["collab"].colour, "rgba(128,128,128,0.25)"),
            },
            text=[
                f"{names[i]} {'sees' if is_seen else 'does not see'} {features[j]}"
                for i, j, is_seen in zip(agents, columns, flat, strict=True)
            ],
            hovertemplate="%{text}<extra></extra>",
            unselected={"marker": {"opacity": 1}},
        )
    )
    figure.update_xaxes(
        title="feature", range=[0.3, d + 0.7], showgrid=False, zeroline=False, dtick=_step(d)
    )
    figure.update_yaxes(
        title="agent", range=[m + 0.7, 0.3], showgrid=False, zeroline=False, dtick=_step(m)
    )
    return _layout(figure, title, height)


def worth_by_agent(frame: pd.DataFrame, *, title: str, height: int = 380) -> go.Figure:
    """Draw every agent's error alone and together (`whatif.worth`), largest gain first."""
    ordered = frame[frame["features"] > 0].sort_values("worth", ascending=False, kind="stable")
    names = [str(agent) for agent in ordered["agent"]]
    hover = [
        f"Agent {row.agent} sees {row.features}: {_wrapped(str(row.sees))}<br>"
        f"alone {row.alone:.3g}, together {row.together:.3g}<br>"
        f"worth {row.worth:.2f} times its own data"
        for row in ordered.itertuples()
    ]
    joined_x: list[str | None] = []
    joined_y: list[float | None] = []
    for name, alone, together in zip(names, ordered["alone"], ordered["together"], strict=True):
        joined_x += [name, name, None]
        joined_y += [float(alone), float(together), None]
    figure = go.Figure(
        go.Scatter(
            x=joined_x,
            y=joined_y,
            mode="lines",
            line={"color": "rgba(128,128,128,0.5)", "width": 2},
            showlegend=False,
            hoverinfo="skip",
        )
    )
    for column, key, text in (("alone", "local", "alone"), ("together", "collab", "together")):
        style = PALETTE[key]
        figure.add_scatter(
            x=names,
            y=ordered[column],
            mode="markers",
            name=f"{text} ({label(key)})",
            marker={"color": style.colour, "symbol": style.marker, "size": 9},
            text=hover,
            hovertemplate="%{text}<extra></extra>",
        )
    values = np.concatenate([ordered["alone"], ordered["together"]])
    figure.update_xaxes(title="agent, largest gain first", type="category", showgrid=False)
    figure.update_yaxes(title="expected error", type="log", **_few_ticks(values))
    return _layout(figure, title, height)


def errors_by_method(
    frame: pd.DataFrame,
    *,
    title: str,
    height: int = 380,
    simulated: pd.DataFrame | None = None,
) -> go.Figure:
    """Draw the error of methods and bounds (`whatif.comparison`) as points on a log axis.

    Parameters
    ----------
    frame : DataFrame
        ``method`` and ``error``.
    simulated : DataFrame, optional
        ``method``, ``mean``, ``low`` and ``high`` of a simulation, drawn over it as bands.
    """
    figure = go.Figure()
    names = [label(key) for key in frame["method"]]
    styles = [PALETTE[key] for key in frame["method"]]
    errors = frame["error"].to_numpy(dtype=float)
    figure.add_scatter(
        x=errors,
        y=names,
        mode="markers+text",
        name="theory",
        marker={
            "color": [style.colour for style in styles],
            "symbol": [style.marker.replace("line-ew", "line-ns-open") for style in styles],
            "size": 13,
            "line": {"width": 2, "color": [style.colour for style in styles]},
        },
        text=[f"  {error:.3g}" for error in errors],
        textposition="middle right",
        cliponaxis=False,
        showlegend=False,
        hovertemplate="%{y}: %{x:.4g}<extra></extra>",
    )
    if simulated is not None:
        rows = simulated[simulated["mean"].notna() & simulated["method"].isin(frame["method"])]
        mean = rows["mean"].to_numpy(dtype=float)
        high = rows["high"].fillna(rows["mean"]).to_numpy(dtype=float)
        low = rows["low"].fillna(rows["mean"]).to_numpy(dtype=float)
        figure.add_scatter(
            x=mean,
            y=[label(key) for key in rows["method"]],
            mode="markers",
            name="simulated, with 95% interval",
            marker={"symbol": "line-ns-open", "size": 18, "color": "#888888"},
            error_x={"type": "data", "array": high - mean, "arrayminus": mean - low},
            hovertemplate="%{y}, simulated: %{x:.4g}<extra></extra>",
        )
        errors = np.concatenate([errors, mean])
    figure.update_yaxes(autorange="reversed", type="category", showgrid=True)
    figure.update_xaxes(title="expected error of a model for all features", type="log")
    figure.update_xaxes(**_few_ticks(errors, room=0.25))
    return _layout(figure, title, height)


def error_lines(
    frame: pd.DataFrame, *, title: str, height: int = 380, floor: tuple[float, str] | None = None
) -> go.Figure:
    """Draw expected error against n (`whatif.error_lines`), a line a method, both axes log.

    Parameters
    ----------
    floor : (float, str), optional
        A level that is never crossed, and what it is.
    """
    figure = go.Figure()
    for key, rows in frame.groupby("method", sort=False):
        style = PALETTE[str(key)]
        figure.add_scatter(
            x=rows["n"],
            y=rows["error"],
            mode="lines",
            name=label(str(key)),
            line={"color": style.colour, "dash": style.dash, "width": 3},
            hovertemplate="n = %{x:,}: %{y:.3g}<extra>" + label(str(key)) + "</extra>",
        )
    values = frame["error"].to_numpy(dtype=float)
    if floor is not None and floor[0] > 0:
        figure.add_hline(y=floor[0], line={"dash": "dot", "color": "#888888"})
        figure.add_annotation(
            x=1, xref="paper", xanchor="right", y=np.log10(floor[0]), yanchor="bottom",
            text=floor[1], showarrow=False,
        )  # fmt: skip
        values = np.append(values, floor[0])
    sizes = frame["n"].to_numpy(dtype=float)
    figure.update_xaxes(title="labelled samples per agent, n", type="log", **_few_ticks(sizes))
    figure.update_yaxes(title="expected error", type="log", **_few_ticks(values))
    return _layout(figure, title, height)


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
    figure = go.Figure()
    figure.add_scatter(
        x=[names[j] for j in columns],
        y=limits[agents, columns],
        mode="markers",
        name="an agent alone, endless data",
        marker={"color": PALETTE["local"].colour, "symbol": PALETTE["local"].marker, "size": 9,
                "opacity": 0.75},
        text=[f"Agent {i + 1}" for i in agents],
        hovertemplate="%{text}, %{x}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=names,
        y=values,
        mode="markers",
        name="the truth, and COLLAB",
        marker={"symbol": "line-ew-open", "size": 26, "color": PALETTE["collab"].colour,
                "line": {"width": 4}},
        hovertemplate="truth, %{x}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(title="coefficient", zeroline=True)
    return _layout(figure, title, height)


def shares_by_agent(
    shares: ArrayLike, hover: Sequence[str], *, title: str, axis: str, height: int = 380
) -> go.Figure:
    """Draw one share per agent as bars."""
    values = np.asarray(shares, dtype=float)
    figure = go.Figure(
        go.Bar(
            x=agent_names(values.size),
            y=values,
            marker={"color": PALETTE["collab"].colour},
            text=[f"{value:.0%}" for value in values],
            customdata=list(hover),
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_yaxes(title=axis, tickformat=".0%", rangemode="tozero")
    return _layout(figure, title, height)


def bytes_lines(frame: pd.DataFrame, *, title: str, height: int = 380) -> go.Figure:
    """Draw bytes sent by all agents against n: columns ``n``, ``method`` and ``bytes``."""
    renamed = frame.rename(columns={"bytes": "error"})
    figure = error_lines(renamed, title=title, height=height)
    figure.update_yaxes(title="bytes sent by all agents")
    return figure


def feature_names(d: int) -> list[str]:
    """x1, x2, ..: counted from one, as people do."""
    return [f"x{j + 1}" for j in range(d)]


def agent_names(m: int) -> list[str]:
    """Agent 1, Agent 2, .. ."""
    return [f"Agent {i + 1}" for i in range(m)]


def _few_ticks(values: ArrayLike, room: float = 0.06) -> dict[str, object]:
    """Range of a log axis, and about six round numbers to write on it."""
    positive = np.asarray(values, dtype=float)
    positive = positive[positive > 0]
    if positive.size == 0:
        return {}
    low, high = np.log10(positive.min()), np.log10(positive.max())
    span = max(high - low, 0.3)
    limits = [float(low - room * span - 0.02), float(high + room * span + 0.02)]
    wide = limits[1] - limits[0]
    mantissas: tuple[float, ...] = (1, 2, 5) if wide < 2.5 else (1,)
    stride = max(1, round(wide / 7))
    if wide < 0.5:
        mantissas = (1, 1.5, 2, 3, 4, 5, 6, 8)
    exponents = range(int(np.floor(limits[0])), int(np.ceil(limits[1])) + 1, stride)
    ticks = [mantissa * 10.0**e for e in exponents for mantissa in mantissas]
    ticks = [tick for tick in ticks if limits[0] <= np.log10(tick) <= limits[1]]
    return {"range": limits, "tickvals": ticks, "ticktext": [_short(tick) for tick in ticks]}


def _short(value: float) -> str:
    """A round number as people write it: 0.02, 5, 20k, 3M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}" if value >= 1e-4 else f"{value:.0e}"


def _step(count: int) -> int:
    """Distance of ticks so that at most a dozen are written."""
    return next(step for step in (1, 2, 5, 10, 20) if count / step <= 12)


def _wrapped(names: str, width: int = 60) -> str:
    return "<br>".join(textwrap.wrap(names, width))
