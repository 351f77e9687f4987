"""Figures of what pretending to be Gaussian costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .plans import BLUES
from .style import PALETTE, Trace, faint, figure, label, log_axis

_BELOW = {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0}


def relative_errors(
    frame: pd.DataFrame, reference: str, *, title: str, height: int = 420
) -> go.Figure:
    """Draw errors over those of a reference (`simulate.ErrorCurve.relative_to`), theory as lines.

    Parameters
    ----------
    reference : str
        Palette key of the reference, which is the line at 1.
    """
    traces: list[Trace] = []
    sizes = frame["n"].to_numpy(dtype=float)
    base = PALETTE[reference]
    traces.append(
        {
            "type": "scatter",
            "x": [sizes.min(), sizes.max()],
            "y": [1.0, 1.0],
            "mode": "lines",
            "name": label(reference),
            "line": {"color": base.colour, "dash": base.dash, "width": 2},
            "hoverinfo": "skip",
        }
    )
    for key, rows in frame.groupby("method", sort=False):
        style, name = PALETTE[str(key)], label(str(key))
        theory = rows[rows["theory"].notna()]
        if len(theory):
            traces.append(
                {
                    "type": "scatter",
                    "x": theory["n"].to_numpy(),
                    "y": theory["theory"].to_numpy(dtype=float),
                    "mode": "lines",
                    "line": {"color": style.colour, "dash": style.dash, "width": 1.5},
                    "legendgroup": name,
                    "showlegend": False,
                    "hoverinfo": "skip",
                }
            )
        known = rows[rows["ratio"].notna()]
        ratio = known["ratio"].to_numpy(dtype=float)
        high = known["high"].fillna(known["ratio"]).to_numpy(dtype=float)
        low = known["low"].fillna(known["ratio"]).to_numpy(dtype=float)
        traces.append(
            {
                "type": "scatter",
                "x": known["n"].to_numpy(),
                "y": ratio,
                "mode": "markers",
                "name": name,
                "legendgroup": name,
                "marker": {"color": style.colour, "symbol": style.marker, "size": 8},
                "error_y": {
                    "type": "data",
                    "array": high - ratio,
                    "arrayminus": ratio - low,
                    "color": style.colour,
                    "thickness": 1.2,
                    "width": 3,
                },
                "hovertemplate": "n = %{x:,}: %{y:.3f}<extra>" + name + "</extra>",
            }
        )
    # Where nothing differs the axis still shows percents, not rounding.
    drawn = frame[["low", "high", "ratio", "theory"]].stack().dropna().to_numpy(dtype=float)
    lowest, highest = float(drawn.min(initial=0.9)), float(drawn.max(initial=1.1))
    room = 0.05 * (highest - lowest)
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis("labelled samples per agent, n", sizes),
        y={"title": {"text": f"error over {label(reference)}'s"}, "tickformat": ".0%",
           "range": [lowest - room, highest + room]},
        layout={"margin": {"l": 10, "r": 10, "t": 40, "b": 10}, "legend": _BELOW},
    )  # fmt: skip


def losses_by_law(
    frame: pd.DataFrame, name: str, *, title: str, here: str | None = None, height: int = 420
) -> go.Figure:
    """Draw the cost of pretending as bars, largest on top: columns ``loss`` and ``name``.

    Parameters
    ----------
    here : str, optional
        The bar that is drawn in full colour; all of them by default.
    """
    rows = frame.iloc[::-1]
    colour = PALETTE["collab"].colour
    names = [str(value) for value in rows[name]]
    bars: Trace = {
        "type": "bar",
        "orientation": "h",
        "x": rows["loss"].to_numpy(dtype=float),
        "y": names,
        "marker": {"color": [colour if here in (None, value) else "#8FB8D3" for value in names]},
        "text": [f"{value:.1%}" for value in rows["loss"]],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{y}: %{x:.2%}<extra></extra>",
    }
    # Where nothing costs anything the axis still has a scale.
    highest = max(float(rows["loss"].max()) if len(rows) else 0.0, 1e-3)
    return figure(
        [bars],
        title=title,
        height=height,
        x={"title": {"text": "error above that of optimal weights"}, "tickformat": ".0%",
           "range": [0, 1.18 * highest], "nticks": 6},
        y={"type": "category", "showgrid": False, "automargin": True},
    )  # fmt: skip


def loss_heatmap(
    frame: pd.DataFrame,
    kind: str,
    *,
    title: str,
    here: tuple[float, float] | None = None,
    height: int = 420,
) -> go.Figure:
    """Draw the cost of pretending over share missing and tail weight (`pretending.loss_map`).

    Parameters
    ----------
    frame : DataFrame
        Of all kinds, so that their maps have the same rows and colours.
    kind : str
        Which of them is drawn.
    here : (float, float), optional
        Share missing and kurtosis of the world and law, drawn as a ring in the nearest square.
    """
    table = frame[frame["kind"] == kind].pivot_table(
        index="kurtosis", columns="missing", values="loss"
    )
    table = table.reindex(sorted(frame["kurtosis"].unique()))
    values = table.to_numpy(dtype=float)
    across = [f"{share:.0%}" for share in table.columns]
    up = [f"{kurtosis:g}" for kurtosis in table.index]
    top = max(float(frame["loss"].max()), 0.01)
    cells = [[None if np.isnan(v) else float(v) for v in row] for row in values]
    traces: list[Trace] = [
        {
            "type": "heatmap",
            # A square root: a loss of one percent is told from none, and ten from a hundred.
            "z": [[None if v is None else float(np.sqrt(v)) for v in row] for row in cells],
            "x": across,
            "y": up,
            "text": [["" if v is None else _percent(v) for v in row] for row in cells],
            "texttemplate": "%{text}",
            "textfont": {"size": 11},
            "colorscale": BLUES,
            "zmin": 0,
            "zmax": float(np.sqrt(top)),
            "showscale": False,
            "hoverongaps": False,
            "hovertemplate": "%{x} missing, excess kurtosis %{y}: %{text}<extra></extra>",
        }
    ]
    if here is not None:
        share = np.abs(table.columns.to_numpy(dtype=float) - here[0]).argmin()
        kurtosis = np.abs(_squeezed(table.index.to_numpy(dtype=float)) - _squeezed(here[1]))
        traces.append(
            {
                "type": "scatter",
                "x": [across[int(share)]],
                "y": [up[int(kurtosis.argmin())]],
                "mode": "markers",
                "marker": {
                    "symbol": "square-open",
                    "size": 30,
                    "color": "#D55E00",
                    "line": {"width": 3},
                },
                "name": "this world and law",
                "showlegend": False,
                "hoverinfo": "skip",
            }
        )
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "share of features missing"}, "type": "category", "showgrid": False,
           "range": [-0.5, len(across) - 0.5]},
        y={"title": {"text": "excess kurtosis of a feature"}, "type": "category",
           "showgrid": False, "range": [-0.5, len(up) - 0.5]},
    )  # fmt: skip


def _percent(value: float) -> str:
    return f"{value:.0%}" if value >= 0.0995 else f"{value:.1%}"


def _squeezed(kurtosis: Any) -> Any:
    """Kurtosis on a scale on which its squares of the map are about evenly apart."""
    return np.log1p(np.maximum(kurtosis, -2) + 2)


def unlabelled_errors(
    frame: pd.DataFrame,
    levels: dict[str, float],
    *,
    title: str,
    n: int,
    measured: float | None = None,
    break_even: float | None = None,
    height: int = 460,
) -> go.Figure:
    """Draw the error of estimated optimal weights against the number of unlabelled samples.

    Parameters
    ----------
    frame : DataFrame
        As `simulate.UnlabelledCurve.frame`.
    levels : dict
        n times the error as n grows, of ``"collab"`` and ``"collab_oracle"``.
    n : int
        At which errors were measured.
    measured : float, optional
        n times COLLAB's error on the same trials, which the points are to be compared with.
    break_even : float, optional
        Where optimal weights begin to pay.
    """
    sizes = frame["unlabelled"].to_numpy(dtype=float)
    style, name = PALETTE["collab_optimal"], label("collab_optimal")
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": [sizes.min(), sizes.max()],
            "y": [level, level],
            "mode": "lines",
            "name": label(key),
            "line": {"color": PALETTE[key].colour, "dash": PALETTE[key].dash, "width": 2},
            "hovertemplate": "%{y:.3g}<extra>" + label(key) + "</extra>",
        }
        for key, level in levels.items()
    ]
    limit = frame[frame["limit"].notna()]
    traces.append(
        {
            "type": "scatter",
            "x": limit["unlabelled"].to_numpy(),
            "y": limit["limit"].to_numpy(dtype=float),
            "mode": "lines",
            "name": f"{name}, as n grows",
            "line": {"color": style.colour, "width": 3},
            "hovertemplate": "%{x:,} unlabelled: %{y:.3g}<extra>as n grows</extra>",
        }
    )
    known = frame[frame["mean"].notna()]
    band = known[known["low"].notna()]
    traces.append(
        {
            "type": "scatter",
            "x": np.concatenate([band["unlabelled"], band["unlabelled"][::-1]]),
            "y": np.concatenate([band["high"], band["low"][::-1]]).astype(float),
            "mode": "lines",
            "fill": "toself",
            "fillcolor": faint(style.colour),
            "line": {"width": 0},
            "showlegend": False,
            "hoverinfo": "skip",
        }
    )
    traces.append(
        {
            "type": "scatter",
            "x": known["unlabelled"].to_numpy(),
            "y": known["mean"].to_numpy(dtype=float),
            "mode": "markers",
            "name": f"the same, simulated at n = {n:,}",
            "marker": {"color": style.colour, "symbol": style.marker, "size": 9},
            "hovertemplate": "%{x:,} unlabelled: %{y:.3g}<extra>simulated</extra>",
        }
    )
    if measured is not None:
        traces.append(
            {
                "type": "scatter",
                "x": [sizes.min(), sizes.max()],
                "y": [measured, measured],
                "mode": "lines",
                "name": f"{label('collab')}, simulated at n = {n:,}",
                "line": {"color": PALETTE["collab"].colour, "dash": "dot", "width": 1.5},
                "hovertemplate": "%{y:.3g}<extra>COLLAB, simulated</extra>",
            }
        )
    values = [*levels.values(), *limit["limit"].to_numpy(dtype=float)]
    values += known["mean"].to_numpy(dtype=float).tolist()
    values += [] if measured is None else [measured]
    layout: dict[str, Any] = {
        "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
        "legend": _BELOW,
    }
    if break_even is not None:
        # The words on the side where there is more room for them.
        right = np.log10(break_even) > np.log10(sizes).mean()
        line = {"dash": "dot", "color": "#888888"}
        layout["shapes"] = [
            {"type": "line", "line": line, "yref": "paper", "y0": 0, "y1": 1,
             "x0": break_even, "x1": break_even}
        ]  # fmt: skip
        layout["annotations"] = [
            {"x": float(np.log10(break_even)), "y": 1, "yref": "paper", "yanchor": "top",
             "xanchor": "right" if right else "left", "showarrow": False,
             "xshift": -4 if right else 4, "text": f"pays from {break_even:,.0f}"}
        ]  # fmt: skip
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis("unlabelled samples", sizes),
        y=log_axis("n × prediction error", values),
        layout=layout,
    )
