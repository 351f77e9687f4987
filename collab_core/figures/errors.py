"""Figures of errors: by agent, by method, against bytes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .marks import GREY, legend_below, with_ends
from .style import PALETTE, Trace, figure, label, log_axis, wrapped


def worth_by_agent(
    frame: pd.DataFrame, *, title: str, height: int = 380, who: str = "agent"
) -> go.Figure:
    """Draw every agent's error alone and together (`whatif.worth`), largest gain first.

    Parameters
    ----------
    who : str
        What agents are, such as "state".
    """
    ordered = frame[frame["features"] > 0].sort_values("worth", ascending=False, kind="stable")
    hover = [
        f"{who.capitalize()} {row.agent} sees {row.features}: {wrapped(str(row.sees))}<br>"
        f"alone {row.alone:.3g}, together {row.together:.3g}<br>"
        f"worth {row.worth:.2f} times its own data"
        for row in ordered.itertuples()
    ]
    return _pairs(
        ordered,
        {
            "alone": (f"alone ({label('local')})", "local"),
            "together": (f"together ({label('collab')})", "collab"),
        },
        hover,
        title=title,
        height=height,
        axis=f"{who}, largest gain first",
    )


def rise_by_agent(frame: pd.DataFrame, leaving: int, *, title: str, height: int = 380) -> go.Figure:
    """Draw by how much the others' errors rise when one leaves (`whatif.without`).

    Parameters
    ----------
    leaving : int
        Who leaves, counted from 1; not drawn, since nobody rises as much as who is left alone.
    """
    others = frame[(frame["before"] > 0) & (frame["agent"] != leaving)]
    ordered = others.sort_values("rise", ascending=False, kind="stable")
    bars = {
        "type": "bar",
        "x": [str(agent) for agent in ordered["agent"]],
        "y": ordered["rise"].to_numpy(),
        "marker": {"color": PALETTE["local"].colour},
        "text": [
            f"Agent {row.agent}<br>before {row.before:.3g}, after {row.after:.3g}"
            for row in ordered.itertuples()
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<br>%{y:+.2%}<extra></extra>",
    }
    # Without anybody hurt the axis still has a scale.
    highest = max(float(ordered["rise"].max()) if len(ordered) else 0.0, 1e-3) * 1.08
    return figure(
        [bars],
        title=title,
        height=height,
        x={"title": {"text": "agent, most hurt first"}, "type": "category", "showgrid": False},
        y={"title": {"text": "rise of its error"}, "tickformat": ".1%", "range": [0, highest]},
    )


def _pairs(
    ordered: pd.DataFrame,
    columns: dict[str, tuple[str, str]],
    hover: list[str],
    *,
    title: str,
    height: int,
    axis: str,
) -> go.Figure:
    """Two errors per agent, joined by a line. By column: a name for people and a palette key."""
    names = [str(agent) for agent in ordered["agent"]]
    first, second = (ordered[column] for column in columns)
    joined_x: list[str | None] = []
    joined_y: list[float | None] = []
    for name, one, other in zip(names, first, second, strict=True):
        joined_x += [name, name, None]
        joined_y += [float(one), float(other), None]
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
    for column, (name, key) in columns.items():
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": names,
                "y": ordered[column].to_numpy(),
                "mode": "markers",
                "name": name,
                "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
                "text": hover,
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": axis}, "type": "category", "showgrid": False},
        y=log_axis("expected error", np.concatenate([first, second])),
    )


def errors_by_method(
    frame: pd.DataFrame,
    *,
    title: str,
    height: int = 380,
    simulated: pd.DataFrame | None = None,
    axis: str = "expected error of a model for all features",
) -> go.Figure:
    """Draw the error of methods and bounds (`whatif.comparison`) as points on a log axis.

    Parameters
    ----------
    frame : DataFrame
        ``method`` and ``error``.
    simulated : DataFrame, optional
        ``method``, ``mean``, ``low`` and ``high`` of a simulation, drawn over it as bands.
    """
    traces, errors = [_theory(frame)], frame["error"].to_numpy(dtype=float)
    if simulated is not None:
        rows = simulated[simulated["mean"].notna() & simulated["method"].isin(frame["method"])]
        traces.append(_simulated(rows))
        errors = np.concatenate([errors, rows["mean"].to_numpy(dtype=float)])
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis(axis, errors, room=0.25),
        y={"autorange": "reversed", "type": "category", "showgrid": True},
    )


def _theory(frame: pd.DataFrame) -> Trace:
    """A marker a method, its number beside it."""
    styles = [PALETTE[key] for key in frame["method"]]
    errors = frame["error"].to_numpy(dtype=float)
    colours = [style.colour for style in styles]
    return {
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


def _simulated(rows: pd.DataFrame) -> Trace:
    """A grey tick a method, with its interval."""
    mean, low, high = with_ends(rows, "mean")
    return {
        "type": "scatter",
        "x": mean,
        "y": [label(key) for key in rows["method"]],
        "mode": "markers",
        "name": "simulated, with 95% interval",
        "showlegend": True,
        "marker": {"symbol": "line-ns-open", "size": 18, "color": GREY},
        "error_x": {"type": "data", "array": high - mean, "arrayminus": mean - low},
        "hovertemplate": "%{y}, simulated: %{x:.4g}<extra></extra>",
    }


def error_against_bytes(frame: pd.DataFrame, *, title: str, height: int = 420) -> go.Figure:
    """Draw how good every method is against what it sends, both on log axes.

    Parameters
    ----------
    frame : DataFrame
        ``method``, ``error`` and ``bytes``. Nothing sent stands at the left edge, marked 0.
    """
    known = frame[frame["error"].notna()]
    sent = known["bytes"].to_numpy(dtype=float)
    least = sent[sent > 0].min(initial=1e6)
    places = np.where(sent > 0, sent, least / 10)
    errors = known["error"].to_numpy(dtype=float)
    traces: list[Trace] = []
    for key, place, error, count in zip(known["method"], places, errors, sent, strict=True):
        style = PALETTE[key]
        traces.append(
            {
                "type": "scatter",
                "x": [place],
                "y": [error],
                "mode": "markers",
                "name": label(key),
                "marker": {"color": style.colour, "symbol": style.marker, "size": 15},
                "hovertemplate": f"error %{{y:.3g}}, {count:,.0f} bytes<extra>{label(key)}</extra>",
            }
        )
    x = log_axis("bytes sent and received by all agents", places)
    if (sent == 0).any():
        ticks = [(v, t) for v, t in zip(x["tickvals"], x["ticktext"], strict=True) if v >= least]
        x |= {
            "tickvals": [least / 10, *(v for v, _ in ticks)],
            "ticktext": ["0", *(t for _, t in ticks)],
        }
    return figure(
        traces,
        title=title,
        height=height,
        x=x,
        y=log_axis("expected error at n", errors),
        layout=legend_below(-0.2),
    )
