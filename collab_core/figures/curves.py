"""Figures of errors against n: by theory, and simulated with bands."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .marks import across, band, legend_below
from .style import PALETTE, Trace, figure, label, log_axis

#: What the axis of most figures against n says.
LABELLED = "labelled samples per agent, n"


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
        layout = across(*floor, log=True)
    sizes = frame["n"].to_numpy(dtype=float)
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis(LABELLED, sizes),
        y=log_axis(axis, values),
        layout=layout,
    )


def bytes_lines(frame: pd.DataFrame, *, title: str, height: int = 380) -> go.Figure:
    """Draw bytes sent by all agents against n: columns ``n``, ``method`` and ``bytes``."""
    renamed = frame.rename(columns={"bytes": "error"})
    return error_lines(renamed, title=title, height=height, axis="bytes sent by all agents")


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
    # Eight names need rows of their own, below the plot.
    layout = legend_below()
    if irreducible > 0 and not scaled:
        values = np.append(values, irreducible)
        layout |= across(irreducible, f"irreducible {irreducible:.3g}: no n removes it", log)
    # A log axis has no 0: a band that reaches it ends a decade below everything else.
    lowest = float(values[values > 0].min(initial=1.0)) / 10 if log else None
    traces: list[Trace] = []
    for key, rows in drawn.groupby("method", sort=False):
        traces += _method(str(key), rows, lowest)
    if overlay is not None:
        traces += [
            _published(str(key), rows) for key, rows in overlay.groupby("method", sort=False)
        ]
        values = np.append(values, overlay["mean"].to_numpy(dtype=float))
    text = "n × prediction error" if scaled else "prediction error"
    plain = {"title": {"text": text}, "rangemode": "tozero"}
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis(LABELLED, drawn["n"]) if log else {"title": {"text": LABELLED}},
        y=log_axis(text, values) if log else plain,
        layout=layout,
    )


def _method(key: str, rows: pd.DataFrame, lowest: float | None) -> list[Trace]:
    """Theory, band and markers of a method.

    Only the markers are in the legend and answer a hover; a click there hides all three.

    Parameters
    ----------
    lowest : float or None
        Where the band ends that reaches further down; None for no end.
    """
    style, name = PALETTE[key], label(key)
    theory = rows[rows["theory"].notna()]
    banded = rows[rows["low"].notna()]
    known = rows[rows["mean"].notna()]
    return [
        {
            "type": "scatter",
            "x": theory["n"].to_numpy(),
            "y": theory["theory"].to_numpy(dtype=float),
            "mode": "lines",
            "line": {"color": style.colour, "dash": style.dash, "width": 1.5},
            "legendgroup": name,
            "showlegend": False,
            "hoverinfo": "skip",
        },
        band(banded["n"], banded["low"].clip(lower=lowest), banded["high"], style.colour, name),
        {
            "type": "scatter",
            "x": known["n"].to_numpy(),
            "y": known["mean"].to_numpy(dtype=float),
            "mode": "markers",
            "name": name,
            "legendgroup": name,
            "marker": {"color": style.colour, "symbol": style.marker, "size": 8},
            "hovertemplate": "n = %{x:,}: %{y:.3g}<extra>" + name + "</extra>",
        },
    ]


def _published(key: str, rows: pd.DataFrame) -> Trace:
    """Somebody else's numbers of a method, as a thin line."""
    return {
        "type": "scatter",
        "x": rows["n"].to_numpy(),
        "y": rows["mean"].to_numpy(dtype=float),
        "mode": "lines+markers",
        "name": f"{label(key)}, published",
        "line": {"color": PALETTE[key].colour, "dash": "dot", "width": 1},
        "marker": {"color": PALETTE[key].colour, "size": 4},
        "hovertemplate": "n = %{x:,}: %{y:.3g}<extra>published</extra>",
    }
