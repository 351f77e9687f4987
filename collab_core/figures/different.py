"""Figures of agents that differ: errors, who is pulled where, what is shared, who belongs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .. import methods
from ..methods import Style
from .marks import GREY, band, legend_below, upright
from .style import PALETTE, Trace, figure, log_axis

#: What is drawn besides methods: name and looks. Formulas may be there before a method is.
NAMED: dict[str, tuple[str, Style]] = {
    "bound": ("Bound", PALETTE["exact"]),
    "adaptive": ("Partial pooling", Style("#009E73", "dashdot", "star")),
    "others": ("Implied by the others", Style("#888888", "dot", "square-open")),
}


def looks(key: str) -> tuple[str, Style]:
    """Name and looks of a method, or of what is no method."""
    if key in methods.keys():  # noqa: SIM118 - a function, no dictionary
        return methods.get(key).label, methods.get(key).style
    return NAMED[key]


def errors_apart(
    frame: pd.DataFrame,
    *,
    axis: str,
    text: str,
    title: str,
    at: float | None = None,
    said: str = "",
    height: int = 390,
) -> go.Figure:
    """Draw errors against how much agents differ, or against n: theory as lines, runs as markers.

    Parameters
    ----------
    frame : DataFrame
        As `collab_core.different.table`.
    axis, text : str
        The column along which errors are drawn, and what it is called.
    at : float, optional
        A place to mark, and what is written there (``said``).
    """
    places = frame[axis].to_numpy(dtype=float)
    # A log axis has no 0: not at all stands a step to the left of the least.
    least = places[places > 0].min()
    zero = least / 2.5
    traces: list[Trace] = []
    for key, rows in frame.groupby("method", sort=False):
        name, style = looks(str(key))
        ordered = rows.sort_values(axis)
        x = np.maximum(ordered[axis].to_numpy(dtype=float), zero)
        traces += _lines(ordered, x, name, style)
    heights = frame[["mean", "theory"]].to_numpy(dtype=float)
    heights = heights[np.isfinite(heights) & (heights > 0)]
    across = log_axis(text, np.maximum(places, zero))
    if (places == 0).any():
        shown = [v for v in np.unique(places) if v > 0]
        across["tickvals"] = [zero, *shown]
        across["ticktext"] = ["none", *(f"{v:g}" for v in shown)]
    layout: dict[str, Any] = legend_below()
    if at is not None:
        place = max(at, zero)
        layout["shapes"] = [upright(place, GREY, dash="dash", width=2)]
        layout["annotations"] = [
            {"x": float(np.log10(place)), "yref": "paper", "y": 1, "yanchor": "top", "xshift": 4,
             "xanchor": "left", "showarrow": False, "text": said}
        ]  # fmt: skip
    return figure(
        traces, title=title, height=height, x=across,
        y=log_axis("mean excess error of agents' own models", heights), layout=layout,
    )  # fmt: skip


def _lines(rows: pd.DataFrame, x: Any, name: str, style: Style) -> list[Trace]:
    """Theory as a line, the simulation as markers with a band; one entry of the legend."""
    theory = rows["theory"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    mean = rows["mean"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    low, high = (
        rows[end].astype("Float64").fillna(rows["mean"]).to_numpy(dtype=float, na_value=np.nan)
        for end in ("low", "high")
    )
    line, drawn = np.isfinite(theory), np.isfinite(mean)
    traces: list[Trace] = []
    if line.any():
        traces.append(
            {"type": "scatter", "x": x[line], "y": theory[line], "mode": "lines", "name": name,
             "legendgroup": name, "showlegend": not drawn.any(),
             "line": {"color": style.colour, "dash": style.dash, "width": 2.5},
             "hovertemplate": "%{x:,.3g}: %{y:.3g}<extra>" + name + ", formula</extra>"}
        )  # fmt: skip
    if drawn.any():
        # A log axis has no 0.
        lower = np.maximum(low[drawn], 1e-3 * mean[drawn])
        traces.append(band(x[drawn], lower, high[drawn], style.colour, name))
        traces.append(
            {"type": "scatter", "x": x[drawn], "y": mean[drawn],
             "mode": "markers" if line.any() else "lines+markers", "name": name,
             "legendgroup": name, "showlegend": True,
             "line": {"color": style.colour, "dash": style.dash},
             "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
             "hovertemplate": "%{x:,.3g}: %{y:.3g}<extra>" + name + ", simulated</extra>"}
        )  # fmt: skip
    return traces


def forest(frame: pd.DataFrame, *, title: str, names: list[str]) -> go.Figure:
    """Draw one coefficient in all models of all agents, with intervals and truths.

    Parameters
    ----------
    frame : DataFrame
        As `collab_core.different.one_coefficient`.
    names : list of str
        Of the agents.
    """
    agents = list(dict.fromkeys(frame["agent"]))
    row = {agent: place for place, agent in enumerate(agents)}
    models = list(dict.fromkeys(frame["model"]))
    step = 0.7 / max(len(models), 1)
    traces: list[Trace] = []
    for place, key in enumerate(models):
        name, style = looks(key)
        rows = frame[frame["model"] == key]
        y = rows["agent"].map(row).to_numpy(dtype=float) + (place - (len(models) - 1) / 2) * step
        value = rows["value"].to_numpy(dtype=float)
        traces.append(
            {"type": "scatter", "x": value, "y": y, "mode": "markers", "name": name,
             "marker": {"color": style.colour, "symbol": style.marker, "size": 7},
             "error_x": {"type": "data", "symmetric": False, "color": style.colour,
                         "thickness": 1.3, "width": 0,
                         "array": rows["high"].to_numpy(dtype=float) - value,
                         "arrayminus": value - rows["low"].to_numpy(dtype=float)},
             "hovertemplate": "%{x:.3g}<extra>" + name + "</extra>"}
        )  # fmt: skip
    truths = frame.drop_duplicates("agent")
    traces.append(
        {"type": "scatter", "x": truths["truth"].to_numpy(dtype=float),
         "y": truths["agent"].map(row).to_numpy(dtype=float), "mode": "markers", "name": "Truth",
         "marker": {"symbol": "line-ns", "size": 20, "line": {"color": GREY, "width": 3}},
         "hovertemplate": "%{x:.3g}<extra>truth</extra>"}
    )  # fmt: skip
    shown = [names[agent - 1] for agent in agents]
    return figure(
        traces, title=title, height=min(170 + 34 * len(agents), 900),
        x={"title": {"text": "coefficient"}, "zeroline": True},
        y={"tickvals": list(range(len(agents))), "ticktext": shown, "autorange": "reversed",
           "zeroline": False},
    )  # fmt: skip


def coefficient_spread(frame: pd.DataFrame, *, title: str) -> go.Figure:
    """Draw how far agents differ in every coefficient (`collab_core.different.coefficients`)."""
    names = [f"x{j}" for j in frame["feature"]]
    traces: list[Trace] = [
        {"type": "bar", "x": names, "y": frame["truth"].to_numpy(dtype=float), "name": "Truth",
         "marker": {"color": "rgba(128,128,128,0.45)"},
         "hovertemplate": "%{x}: %{y:.3g}<extra>truth</extra>"}
    ]  # fmt: skip
    for column, name, style in (
        ("scatter", "Scatter of agents' own models, beyond chance", looks("local")[1]),
        ("adaptive", looks("adaptive")[0], looks("adaptive")[1]),
    ):
        known = frame[column].notna()
        if known.any():
            traces.append(
                {"type": "scatter", "x": [n for n, k in zip(names, known, strict=True) if k],
                 "y": frame[column][known].to_numpy(dtype=float), "mode": "markers", "name": name,
                 "marker": {"color": style.colour, "symbol": style.marker, "size": 10},
                 "hovertemplate": "%{x}: %{y:.3g}<extra>" + name + "</extra>"}
            )  # fmt: skip
    return figure(
        traces, title=title, height=420, x={"title": {"text": "feature"}, "type": "category"},
        y={"title": {"text": "how far agents differ (sd)"}, "rangemode": "tozero"},
    )  # fmt: skip


def belonging(frame: pd.DataFrame, *, title: str, names: list[str]) -> go.Figure:
    """Draw how far agents are from what the others imply (`collab_core.different.belonging`)."""
    known = frame[frame["apart"].notna()]
    shown = [names[agent - 1] for agent in known["agent"]]
    apart = known["apart"].to_numpy(dtype=float)
    colours = np.where(known["truth"].to_numpy(dtype=float) > 0, "#D55E00", "#0077BB")
    hover = [
        f"{name}: {value:.3g} times chance"
        + ("" if pd.isna(trust) else f"; trust {trust:.2f}")
        + f"; in truth {truth:.2g} sd away"
        for name, value, trust, truth in zip(
            shown, apart, known["trust"], known["truth"], strict=True
        )
    ]
    traces: list[Trace] = [
        {"type": "bar", "x": shown, "y": apart, "marker": {"color": colours.tolist()},
         "hovertext": hover, "hoverinfo": "text", "showlegend": False}
    ]  # fmt: skip
    trusted = known["trust"].notna()
    layout: dict[str, Any] = {
        "shapes": [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1,
             "line": {"color": GREY, "dash": "dot"}}
        ]
    }  # fmt: skip
    if trusted.any():
        style = looks("adaptive")[1]
        traces.append(
            {"type": "scatter", "x": [n for n, k in zip(shown, trusted, strict=True) if k],
             "y": known["trust"][trusted].to_numpy(dtype=float), "mode": "markers",
             "name": "Trust (partial pooling)", "showlegend": True,
             "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
             "hovertemplate": "%{x}: trust %{y:.2f}<extra></extra>"}
        )  # fmt: skip
    return figure(
        traces, title=title, height=420, x={"title": {"text": "agent"}, "type": "category"},
        y=log_axis("distance from what the others imply (1: chance)", np.append(apart, 1.0)),
        layout=layout,
    )  # fmt: skip
