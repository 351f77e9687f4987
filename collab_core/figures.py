"""Figures: results in, Plotly figures out. Pure functions; colours come from one palette.

Needs Plotly, which the rest of the library does not: import this module by name.

Figures are put together from plain dictionaries and not validated by Plotly at run time, because
that took most of a redraw; a test validates every one of them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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


Trace = dict[str, Any]


def _figure(
    traces: Sequence[Trace],
    *,
    title: str,
    height: int,
    x: Mapping[str, Any] | None = None,
    y: Mapping[str, Any] | None = None,
    layout: Mapping[str, Any] | None = None,
) -> go.Figure:
    """Title above the plot, room for a legend, fixed height so that a page does not jump."""
    in_legend = [t for t in traces if "name" in t and t.get("showlegend", True)]
    full = {
        "title": {
            "text": title,
            "font": {"size": 16},
            "x": 0,
            "xanchor": "left",
            "y": 0.98,
            "yanchor": "top",
        },
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 72 if len(in_legend) > 1 else 48, "b": 10},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        # Plotly's own template is large and copied for every figure; the dashboard brings one.
        "template": {},
        "xaxis": dict(x or {}),
        "yaxis": dict(y or {}),
        **(layout or {}),
    }
    return go.Figure({"data": list(traces), "layout": full}, _validate=False)


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
    return _figure([heatmap], title=title, height=height, y={"autorange": "reversed"})


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
    return _figure(
        [line],
        title=title,
        height=height,
        x={"title": {"text": "eigenvalue"}, "rangemode": "tozero"},
        y=_log_axis("variance", values),
    )


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
            f"{names[i]} {'sees' if is_seen else 'does not see'} {features[j]}"
            for i, j, is_seen in zip(agents.tolist(), columns.tolist(), flat.tolist(), strict=True)
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "unselected": {"marker": {"opacity": 1}},
    }
    plain = {"showgrid": False, "zeroline": False}
    return _figure(
        [squares],
        title=title,
        height=height,
        x={"title": {"text": "feature"}, "range": [0.3, d + 0.7], "dtick": _step(d), **plain},
        y={"title": {"text": "agent"}, "range": [m + 0.7, 0.3], "dtick": _step(m), **plain},
    )


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
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": joined_x,
            "y": joined_y,
            "mode": "lines",
            "line": {"color": "rgba(128,128,128,0.5)", "width": 2},
            "showlegend": False,
            "hoverinfo": "skip",
        }
    ]
    for column, key in (("alone", "local"), ("together", "collab")):
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": names,
                "y": ordered[column].to_numpy(),
                "mode": "markers",
                "name": f"{column} ({label(key)})",
                "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
                "text": hover,
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    values = np.concatenate([ordered["alone"], ordered["together"]])
    return _figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "agent, largest gain first"}, "type": "category", "showgrid": False},
        y=_log_axis("expected error", values),
    )


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
    styles = [PALETTE[key] for key in frame["method"]]
    errors = frame["error"].to_numpy(dtype=float)
    colours = [style.colour for style in styles]
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": errors,
            "y": [label(key) for key in frame["method"]],
            "mode": "markers+text",
            "name": "theory",
            "marker": {
                "color": colours,
                "symbol": [style.marker.replace("line-ew", "line-ns-open") for style in styles],
                "size": 13,
                "line": {"width": 2, "color": colours},
            },
            "text": [f"  {error:.3g}" for error in errors],
            "textposition": "middle right",
            "cliponaxis": False,
            "showlegend": False,
            "hovertemplate": "%{y}: %{x:.4g}<extra></extra>",
        }
    ]
    if simulated is not None:
        rows = simulated[simulated["mean"].notna() & simulated["method"].isin(frame["method"])]
        mean = rows["mean"].to_numpy(dtype=float)
        high = rows["high"].fillna(rows["mean"]).to_numpy(dtype=float)
        low = rows["low"].fillna(rows["mean"]).to_numpy(dtype=float)
        traces.append(
            {
                "type": "scatter",
                "x": mean,
                "y": [label(key) for key in rows["method"]],
                "mode": "markers",
                "name": "simulated, with 95% interval",
                "showlegend": True,
                "marker": {"symbol": "line-ns-open", "size": 18, "color": "#888888"},
                "error_x": {"type": "data", "array": high - mean, "arrayminus": mean - low},
                "hovertemplate": "%{y}, simulated: %{x:.4g}<extra></extra>",
            }
        )
        errors = np.concatenate([errors, mean])
    return _figure(
        traces,
        title=title,
        height=height,
        x=_log_axis("expected error of a model for all features", errors, room=0.25),
        y={"autorange": "reversed", "type": "category", "showgrid": True},
    )


def error_lines(
    frame: pd.DataFrame,
    *,
    title: str,
    height: int = 380,
    floor: tuple[float, str] | None = None,
    axis: str = "expected error",
) -> go.Figure:
    """Draw expected error against n (`whatif.error_lines`), a line a method, both axes log.

    Parameters
    ----------
    frame : DataFrame
        ``n``, ``method`` and ``error``.
    floor : (float, str), optional
        A level that is never crossed, and what it is.
    """
    traces: list[Trace] = []
    for key, rows in frame.groupby("method", sort=False):
        style = PALETTE[str(key)]
        traces.append(
            {
                "type": "scatter",
                "x": rows["n"].to_numpy(),
                "y": rows["error"].to_numpy(dtype=float),
                "mode": "lines",
                "name": label(str(key)),
                "line": {"color": style.colour, "dash": style.dash, "width": 3},
                "hovertemplate": "n = %{x:,}: %{y:.3g}<extra>" + label(str(key)) + "</extra>",
            }
        )
    values, layout = frame["error"].to_numpy(dtype=float), {}
    if floor is not None and floor[0] > 0:
        values = np.append(values, floor[0])
        line = {"dash": "dot", "color": "#888888"}
        layout = {
            "shapes": [
                {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": floor[0], "y1": floor[0],
                 "line": line}
            ],
            "annotations": [
                {"x": 1, "xref": "paper", "xanchor": "right", "y": float(np.log10(floor[0])),
                 "yanchor": "bottom", "text": floor[1], "showarrow": False}
            ],
        }  # fmt: skip
    sizes = frame["n"].to_numpy(dtype=float)
    return _figure(
        traces,
        title=title,
        height=height,
        x=_log_axis("labelled samples per agent, n", sizes),
        y=_log_axis(axis, values),
        layout=layout,
    )


def error_curve(
    frame: pd.DataFrame, *, title: str, height: int = 460, scaled: bool = False, log: bool = True
) -> go.Figure:
    """Draw simulated errors against n with their 95% bands, theory as lines behind them.

    Parameters
    ----------
    frame : DataFrame
        As `simulate.ErrorCurve.frame`.
    scaled : bool
        Draw n times the error, in which the theory of a consistent method is a flat line.
    log : bool
        Log axes.
    """
    factor = frame["n"] if scaled else 1
    drawn = frame.assign(
        **{name: frame[name] * factor for name in ("mean", "low", "high", "theory")}
    )
    traces: list[Trace] = []
    for key, rows in drawn.groupby("method", sort=False):
        style, name = PALETTE[str(key)], label(str(key))
        # Only the markers are in the legend and answer a hover; a click there hides all three.
        behind = {"legendgroup": name, "showlegend": False, "hoverinfo": "skip", "mode": "lines"}
        theory = rows[rows["theory"].notna()]
        traces.append(
            {
                "type": "scatter",
                "x": theory["n"].to_numpy(),
                "y": theory["theory"].to_numpy(dtype=float),
                "line": {"color": style.colour, "dash": style.dash, "width": 1.5},
                **behind,
            }
        )
        band = rows[rows["low"].notna() & (rows["low"] > 0)]
        traces.append(
            {
                "type": "scatter",
                "x": np.concatenate([band["n"], band["n"][::-1]]),
                "y": np.concatenate([band["high"], band["low"][::-1]]).astype(float),
                "fill": "toself",
                "fillcolor": _faint(style.colour),
                "line": {"width": 0},
                **behind,
            }
        )
        known = rows[rows["mean"].notna()]
        traces.append(
            {
                "type": "scatter",
                "x": known["n"].to_numpy(),
                "y": known["mean"].to_numpy(dtype=float),
                "mode": "markers",
                "name": name,
                "legendgroup": name,
                "marker": {"color": style.colour, "symbol": style.marker, "size": 8},
                "hovertemplate": "n = %{x:,}: %{y:.3g}<extra>" + name + "</extra>",
            }
        )
    text = "n × prediction error" if scaled else "prediction error"
    values = drawn["mean"].dropna().to_numpy(dtype=float)
    x_title = "labelled samples per agent, n"
    plain = {"title": {"text": text}, "rangemode": "tozero"}
    return _figure(
        traces,
        title=title,
        height=height,
        x=_log_axis(x_title, drawn["n"]) if log else {"title": {"text": x_title}},
        y=_log_axis(text, values) if log else plain,
        # Eight names need rows of their own, below the plot.
        layout={
            "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
            "legend": {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0},
        },
    )


def _faint(colour: str) -> str:
    """A colour at a sixth of its strength, for bands."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"


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
    return _figure(traces, title=title, height=height, x=x, y=y)


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
    return _figure([bars], title=title, height=height, y=y)


def bytes_lines(frame: pd.DataFrame, *, title: str, height: int = 380) -> go.Figure:
    """Draw bytes sent by all agents against n: columns ``n``, ``method`` and ``bytes``."""
    renamed = frame.rename(columns={"bytes": "error"})
    return error_lines(renamed, title=title, height=height, axis="bytes sent by all agents")


def feature_names(d: int) -> list[str]:
    """x1, x2, ..: counted from one, as people do."""
    return [f"x{j + 1}" for j in range(d)]


def agent_names(m: int) -> list[str]:
    """Agent 1, Agent 2, .. ."""
    return [f"Agent {i + 1}" for i in range(m)]


def _log_axis(text: str, values: ArrayLike, room: float = 0.06) -> dict[str, Any]:
    """A log axis that holds the values, with about six round numbers written on it."""
    axis: dict[str, Any] = {"title": {"text": text}, "type": "log"}
    positive = np.asarray(values, dtype=float)
    positive = positive[positive > 0]
    if positive.size == 0:
        return axis
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
    return axis | {"range": limits, "tickvals": ticks, "ticktext": [_short(t) for t in ticks]}


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
