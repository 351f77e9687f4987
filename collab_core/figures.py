"""Figures: results in, Plotly figures out. Pure functions; colours come from one palette.

Needs Plotly, which the rest of the library does not: import this module by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
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
        title={"text": title, "font": {"size": 16}, "x": 0, "xanchor": "left"},
        height=height,
        margin={"l": 10, "r": 10, "t": 48, "b": 10},
    )
    return figure


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
    figure.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain")
    figure.update_xaxes(constrain="domain")
    return _layout(figure, title, height)


def view_matrix(mask: ArrayLike, *, title: str, height: int = 340) -> go.Figure:
    """Draw who sees what: a row an agent, a column a feature."""
    seen = np.asarray(mask, dtype=bool)
    m, d = seen.shape
    words = np.where(seen, "sees", "does not see")
    heatmap = go.Heatmap(
        z=seen.astype(int),
        x=feature_names(d),
        y=agent_names(m),
        colorscale=[[0.0, "rgba(128,128,128,0.12)"], [1.0, PALETTE["collab"].colour]],
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=2,
        ygap=2,
        customdata=words,
        hovertemplate="%{y} %{customdata} feature %{x}<extra></extra>",
    )
    figure = go.Figure(heatmap)
    figure.update_yaxes(autorange="reversed")
    return _layout(figure, title, height)


def error_bars(errors: Mapping[str, float], *, title: str, height: int = 340) -> go.Figure:
    """Draw one number per method or bound as horizontal bars, in the given order."""
    keys = list(errors)
    figure = go.Figure(
        go.Bar(
            x=[errors[key] for key in keys],
            y=[label(key) for key in keys],
            orientation="h",
            marker={"color": [PALETTE[key].colour for key in keys]},
            text=[f"{errors[key]:.3g}" for key in keys],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.4g}<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="n × expected prediction error, tr(Σ C)", rangemode="tozero")
    figure = _layout(figure, title, height)
    figure.update_layout(margin={"r": 50})
    return figure


def feature_names(d: int) -> list[str]:
    """x1, x2, ..: counted from one, as people do."""
    return [f"x{j + 1}" for j in range(d)]


def agent_names(m: int) -> list[str]:
    """Agent 1, Agent 2, .. ."""
    return [f"Agent {i + 1}" for i in range(m)]
