"""Figures of errors: by agent, by method, against n, against bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .style import PALETTE, Trace, faint, figure, label, log_axis, wrapped


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
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis(axis, errors, room=0.25),
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
        layout = _level(*floor, log=True)
    sizes = frame["n"].to_numpy(dtype=float)
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis("labelled samples per agent, n", sizes),
        y=log_axis(axis, values),
        layout=layout,
    )


def error_curve(
    frame: pd.DataFrame,
    *,
    title: str,
    height: int = 460,
    scaled: bool = False,
    log: bool = True,
    irreducible: float = 0.0,
    overlay: pd.DataFrame | None = None,
) -> go.Figure:
    """Draw simulated errors against n with their 95% bands, theory as lines behind them.

    Parameters
    ----------
    frame : DataFrame
        As `simulate.Curve.frame`.
    scaled : bool
        Draw n times the error, in which the theory of a consistent method is a flat line.
    log : bool
        Log axes.
    irreducible : float
        What unseen features cost whatever n is, drawn as a level apart from the errors.
    overlay : DataFrame, optional
        Somebody else's published ``n``, ``method`` and ``mean``, drawn as thin lines.
    """
    factor = frame["n"] if scaled else 1
    drawn = frame.assign(
        **{name: frame[name] * factor for name in ("mean", "low", "high", "theory")}
    )
    values = drawn[["mean", "theory"]].stack().dropna().to_numpy(dtype=float)
    level = irreducible if irreducible > 0 and not scaled else None
    if level is not None:
        values = np.append(values, level)
    # A log axis has no 0: a band that reaches it ends a decade below everything else.
    lowest = float(values[values > 0].min(initial=1.0)) / 10
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
        band = rows[rows["low"].notna()]
        low = band["low"].clip(lower=lowest) if log else band["low"]
        traces.append(
            {
                "type": "scatter",
                "x": np.concatenate([band["n"], band["n"][::-1]]),
                "y": np.concatenate([band["high"], low[::-1]]).astype(float),
                "fill": "toself",
                "fillcolor": faint(style.colour),
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
    if overlay is not None:
        traces += [
            {
                "type": "scatter",
                "x": rows["n"].to_numpy(),
                "y": rows["mean"].to_numpy(dtype=float),
                "mode": "lines+markers",
                "name": f"{label(str(key))}, published",
                "line": {"color": PALETTE[str(key)].colour, "dash": "dot", "width": 1},
                "marker": {"color": PALETTE[str(key)].colour, "size": 4},
                "hovertemplate": "n = %{x:,}: %{y:.3g}<extra>published</extra>",
            }
            for key, rows in overlay.groupby("method", sort=False)
        ]
        values = np.append(values, overlay["mean"].to_numpy(dtype=float))
    text = "n × prediction error" if scaled else "prediction error"
    x_title = "labelled samples per agent, n"
    plain = {"title": {"text": text}, "rangemode": "tozero"}
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis(x_title, drawn["n"]) if log else {"title": {"text": x_title}},
        y=log_axis(text, values) if log else plain,
        # Eight names need rows of their own, below the plot.
        layout={
            "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
            "legend": {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0},
            **_level(level, f"irreducible {irreducible:.3g}: no n removes it", log),
        },
    )


def _level(at: float | None, text: str, log: bool) -> dict[str, Any]:
    """Layout of a dotted level across the plot, with what it is."""
    if at is None:
        return {}
    line = {"dash": "dot", "color": "#888888"}
    place = {"xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at}
    return {
        "shapes": [{"type": "line", "line": line, **place}],
        "annotations": [
            {"x": 1, "xref": "paper", "xanchor": "right", "y": float(np.log10(at)) if log else at,
             "yanchor": "bottom", "text": text, "showarrow": False}
        ],
    }  # fmt: skip


def bytes_lines(frame: pd.DataFrame, *, title: str, height: int = 380) -> go.Figure:
    """Draw bytes sent by all agents against n: columns ``n``, ``method`` and ``bytes``."""
    renamed = frame.rename(columns={"bytes": "error"})
    return error_lines(renamed, title=title, height=height, axis="bytes sent by all agents")


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
        layout={
            "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
            "legend": {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
        },
    )
