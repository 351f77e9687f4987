"""Figures of lower bounds: the corollary's ratios against p, its map, and the chain of bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .marks import GREY, band, legend_below, upright
from .style import PALETTE, Trace, figure, log_axis

#: The corollary's corridor: C_gauss is between 1 and 4 times C_strong.
CORRIDOR = (1.0, 4.0)

#: Ratios that are drawn, by column, and what they are called.
RATIOS = {"low": "smallest", "high": "largest"}

#: Dark is small: readable on both themes, and in grey.
SEQUENTIAL = "Viridis"


def ratio_against_p(
    curve: pd.DataFrame,
    *,
    title: str,
    p_star: float,
    threshold: float | None,
    here: float | None = None,
    draws: pd.DataFrame | None = None,
    height: int = 460,
) -> go.Figure:
    """Draw the smallest and largest ratio of C_gauss to C_strong against p.

    Parameters
    ----------
    curve : DataFrame
        `RatioCurve.frame`; where errors are above 0, a 95% band is drawn.
    p_star, threshold : float
        Where the corollary's condition ends, and where the factor 4 is really reached.
    here : float, optional
        The p of the world.
    draws : DataFrame, optional
        ``p``, ``low`` and ``high`` of finitely many agents.
    """
    p = curve["p"].to_numpy()
    traces = [trace for name in RATIOS for trace in _ratio(curve, name)]
    highest = [float(curve["high"].max()), CORRIDOR[1] * 1.5]
    if draws is not None and len(draws):
        traces += [_drawn(draws, name) for name in RATIOS]
        highest.append(float(draws["high"].max()))
    x = log_axis("probability p that a feature is missing", p)
    marks = [(p_star, "p*", GREY), (threshold, "factor 4 reached", "#D55E00")]
    marks += [(here, "this world", "#0077BB")] if here is not None else []
    return figure(
        traces,
        title=title,
        height=height,
        x=x,
        y=log_axis("C_gauss / C_strong", [1.0, min(max(highest), 1e4)]),
        layout={**legend_below(-0.18), **_corridor(marks, *x["range"])},
    )


def _ratio(curve: pd.DataFrame, name: str) -> list[Trace]:
    """The smallest or largest ratio as m grows, over its band where it was sampled."""
    colour, p = PALETTE["collab"].colour, curve["p"].to_numpy()
    values, error = curve[name].to_numpy(), 1.96 * curve[f"{name}_error"].to_numpy()
    line: Trace = {
        "type": "scatter",
        "x": p,
        "y": values,
        "mode": "lines",
        "name": f"{RATIOS[name]} ratio, m → ∞",
        "line": {"color": colour, "width": 3, "dash": "solid" if name == "high" else "dash"},
        "hovertemplate": "p = %{x:.3g}: " + RATIOS[name] + " ratio %{y:.3g}<extra></extra>",
    }
    if not error.any():
        return [line]
    return [band(p, np.maximum(values - error, 1), values + error, colour), line]


def _drawn(draws: pd.DataFrame, name: str) -> Trace:
    """The smallest or largest ratio of finitely many agents, drawn again and again."""
    symbol = {"low": "triangle-down", "high": "triangle-up"}[name]
    return {
        "type": "scatter",
        "x": draws["p"].to_numpy(),
        "y": draws[name].to_numpy(),
        "mode": "markers",
        "name": f"{RATIOS[name]}, a draw of m agents",
        "marker": {"symbol": symbol, "size": 6, "color": GREY, "opacity": 0.7},
        "hovertemplate": "p = %{x:.3g}: %{y:.3g}<extra>finite m</extra>",
    }


def _corridor(
    marks: Sequence[tuple[float | None, str, str]], left: float, right: float
) -> dict[str, Any]:
    """Layout of the corollary's corridor, and of some p with what they are and their colours.

    Parameters
    ----------
    left, right : float
        Ends of the axis, in powers of ten; what lies beyond is not marked.
    """
    shapes: list[dict[str, Any]] = [
        {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": CORRIDOR[0], "y1": CORRIDOR[1],
         "fillcolor": "rgba(0,153,136,0.12)", "line": {"width": 0}, "layer": "below"}
    ]  # fmt: skip
    notes: list[dict[str, Any]] = [
        {"xref": "paper", "x": 0.01, "xanchor": "left", "y": float(np.log10(CORRIDOR[1])),
         "yanchor": "top", "text": "the corollary's corridor, 1 to 4", "showarrow": False}
    ]  # fmt: skip
    for place, (at, text, colour) in enumerate(marks):
        if at is None or at <= 0 or not left <= np.log10(at) <= right:
            continue
        shapes.append(upright(at, colour, width=2))
        # The words on the side where there is more room for them.
        on_the_left = np.log10(at) > (left + right) / 2
        notes.append(
            {"x": float(np.log10(at)), "yref": "paper", "y": 0.97 - 0.08 * place,
             "xanchor": "right" if on_the_left else "left", "xshift": -4 if on_the_left else 4,
             "text": f"{text} = {at:.3g}", "showarrow": False}
        )  # fmt: skip
    return {"shapes": shapes, "annotations": notes}


def threshold_map(
    frame: pd.DataFrame,
    column: str,
    text: str,
    *,
    title: str,
    here: tuple[float, float] | None = None,
    height: int = 460,
) -> go.Figure:
    """Draw a map over kappa and SNR, a square a cell that can be clicked.

    Parameters
    ----------
    frame : DataFrame
        ``kappa``, ``snr``, ``p_star``, ``threshold``, ``ratio``.
    column : str
        Which of them colours the squares, on a log scale.
    text : str
        What it is called.
    here : (float, float), optional
        Kappa and SNR of the world, drawn as a ring.
    """
    known = frame[frame[column].notna()]
    traces = [_map_squares(known, column, text)]
    if here is not None:
        traces.append(_map_ring(*here))
    marked = [] if here is None else [here]
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis("condition number κ", [*known["kappa"], *(at for at, _ in marked)], 0.08),
        y=log_axis("signal to noise", [*known["snr"], *(at for _, at in marked)], 0.08),
    )


def _map_squares(known: pd.DataFrame, column: str, text: str) -> Trace:
    """The squares of the map, coloured by a column on a log scale."""
    values = np.log10(np.maximum(known[column].to_numpy(dtype=float), 1e-12))
    hover = [
        f"κ = {row.kappa:.3g}, SNR = {row.snr:.3g}<br>p* = {row.p_star:.2g}<br>"
        + (
            f"factor 4 reached at p = {row.threshold:.2g}<br>{row.ratio:.3g} times p*"
            if reached
            else "factor 4 never reached"
        )
        for row, reached in zip(known.itertuples(), known["threshold"].notna(), strict=True)
    ]
    ticks = np.unique(np.round(np.linspace(values.min(), values.max(), 5), 2))
    return {
        "type": "scatter",
        "x": known["kappa"].to_numpy(),
        "y": known["snr"].to_numpy(),
        "mode": "markers",
        "marker": {
            "symbol": "square",
            "size": 26,
            "color": values,
            "colorscale": SEQUENTIAL,
            "colorbar": {"title": {"text": text}, "tickvals": ticks.tolist(), "thickness": 10,
                         "ticktext": [f"{10**tick:.2g}" for tick in ticks]},
        },
        "text": hover,
        "hovertemplate": "%{text}<extra></extra>",
        "unselected": {"marker": {"opacity": 1}},
        "showlegend": False,
    }  # fmt: skip


def _map_ring(kappa: float, snr: float) -> Trace:
    """Where the world is on the map."""
    return {
        "type": "scatter",
        "x": [kappa],
        "y": [snr],
        "mode": "markers",
        "showlegend": False,
        "marker": {"symbol": "circle-open", "size": 22, "line": {"width": 3, "color": "#D55E00"}},
        "hovertemplate": "this world<extra></extra>",
    }


def chain(frame: pd.DataFrame, *, title: str, height: int = 400) -> go.Figure:
    """Draw the chain C_gauss >= (sum Sigma/s_i)^-1 >= C_strong as bars (`bounds.chain`)."""
    gauss, middle, strong = (frame[key].to_numpy() for key in ("gauss", "middle", "strong"))
    directions = np.arange(1, gauss.size + 1)
    parts = (
        (gauss, "C_gauss", PALETTE["collab"].colour),
        (middle, "(Σᵢ Σ/sᵢ)⁻¹", PALETTE["imputation"].colour),
        (strong, "C_strong", PALETTE["strong"].colour),
    )
    traces: list[Trace] = [
        {
            "type": "bar",
            "x": directions,
            "y": values,
            "name": name,
            "marker": {"color": colour},
            "hovertemplate": "direction %{x}: %{y:.3g} times C_strong<extra>" + name + "</extra>",
        }
        for values, name, colour in parts
    ]
    step = max(1, gauss.size // 12)
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "direction, where C_gauss is nearest to C_strong first"},
           "dtick": step},
        y=log_axis("variance over C_strong's", [0.9, *gauss]),
        layout={"barmode": "overlay" if gauss.size > 20 else "group"},
    )  # fmt: skip


def loss_along(
    steps: Sequence[float], losses: Sequence[float], *, here: float, title: str, height: int = 300
) -> go.Figure:
    """Draw how the error grows along a tilt of the weights, optimal at 0, and where it is now."""
    line = {
        "type": "scatter",
        "x": np.asarray(steps, dtype=float),
        "y": np.asarray(losses, dtype=float),
        "mode": "lines",
        "line": {"color": PALETTE["tilted"].colour, "width": 3},
        "hovertemplate": "%{x:.2f} of the tilt: %{y:.4g} times the best error<extra></extra>",
    }
    now = {
        "type": "scatter",
        "x": [here],
        "y": [float(np.interp(here, steps, losses))],
        "mode": "markers",
        "marker": {"color": PALETTE["tilted"].colour, "size": 11},
        "hovertemplate": "now: %{y:.4g}<extra></extra>",
    }
    return figure(
        [line, now],
        title=title,
        height=height,
        x={"title": {"text": "share of the tilt (0 is optimal)"}},
        y={"title": {"text": "error over the best"}},
        layout={"showlegend": False},
    )
