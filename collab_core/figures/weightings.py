"""Figures of COLLAB with other weights: errors on an axis of their own, and over a reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .curves import LABELLED, error_curve
from .marks import legend_below, with_ends
from .style import PALETTE, Trace, figure, label, log_axis


def weighting_errors(
    frame: pd.DataFrame,
    focus: Sequence[str],
    *,
    title: str,
    scaled: bool = False,
    height: int = 420,
) -> go.Figure:
    """Draw `figures.error_curve` on an axis that a method gone wild does not take for itself.

    Parameters
    ----------
    frame : DataFrame
        As `simulate.Curve.frame`.
    focus : list of str
        Methods whose errors are on the axis whatever they are, beside all theory. Other errors
        beyond it are not seen; `beyond_axis` says which.
    """
    low, high = _limits(frame, focus, scaled)
    factor = frame["n"] if scaled else 1
    # On a log axis a band that reaches down to 0 would be a wedge through the whole figure.
    within = {name: frame[name].clip(low / factor, high / factor) for name in ("low", "high")}
    drawn = error_curve(frame.assign(**within), title=title, height=height, scaled=scaled)
    drawn.update_layout(yaxis=log_axis(drawn.layout.yaxis.title.text, [low, high]))
    known = set(frame.loc[frame["mean"].notna(), "method"].map(label))
    for trace in drawn.data:
        # Markers that are not there yet have no place in the legend: their line stands for them.
        if trace.legendgroup not in known and trace.line.dash is not None:
            trace.update(name=trace.legendgroup, showlegend=True)
    return drawn


def beyond_axis(frame: pd.DataFrame, focus: Sequence[str], scaled: bool = False) -> pd.DataFrame:
    """Rows of a frame whose mean errors are above the axis of `weighting_errors`."""
    _, high = _limits(frame, focus, scaled)
    means = frame["mean"] * (frame["n"] if scaled else 1)
    return frame[(means > high).fillna(False)]


def _limits(frame: pd.DataFrame, focus: Sequence[str], scaled: bool) -> tuple[float, float]:
    """Ends of the axis: all theory, methods in focus with their bands, others within a decade."""
    factor = frame["n"] if scaled else 1
    numbers = {name: frame[name] * factor for name in ("mean", "low", "high", "theory")}
    inside = frame["method"].isin(list(focus))

    def known(values: pd.Series) -> np.ndarray:
        found = values.dropna().to_numpy(dtype=float)
        return found[found > 0]

    first = np.concatenate(
        [known(numbers["theory"]), *(known(numbers[name][inside]) for name in ("mean", "high"))]
    )
    if not first.size:
        return 0.1, 1.0
    low, high = float(first.min()), float(first.max())
    also = np.concatenate([known(numbers["low"][inside]), known(numbers["mean"])])
    also = also[(also > low / 10) & (also < high * 10)]
    return float(also.min(initial=low)), float(also.max(initial=high))


def relative_errors(
    frame: pd.DataFrame, reference: str, *, title: str, height: int = 420
) -> go.Figure:
    """Draw errors over those of a reference (`simulate.Curve.relative_to`), theory as lines.

    Parameters
    ----------
    reference : str
        Palette key of the reference, which is the line at 1.
    """
    sizes = frame["n"].to_numpy(dtype=float)
    base = PALETTE[reference]
    traces: list[Trace] = [
        {
            "type": "scatter",
            "x": [sizes.min(), sizes.max()],
            "y": [1.0, 1.0],
            "mode": "lines",
            "name": label(reference),
            "line": {"color": base.colour, "dash": base.dash, "width": 2},
            "hoverinfo": "skip",
        }
    ]
    for key, rows in frame.groupby("method", sort=False):
        traces += _ratios(str(key), rows)
    # Where nothing differs the axis still shows percents, not rounding.
    drawn = frame[["low", "high", "ratio", "theory"]].stack().dropna().to_numpy(dtype=float)
    lowest, highest = float(drawn.min(initial=0.9)), float(drawn.max(initial=1.1))
    room = 0.05 * (highest - lowest)
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis(LABELLED, sizes),
        y={"title": {"text": f"error over {label(reference)}'s"}, "tickformat": ".0%",
           "range": [lowest - room, highest + room]},
        layout=legend_below(),
    )  # fmt: skip


def _ratios(key: str, rows: pd.DataFrame) -> list[Trace]:
    """Theory, where there is any, and markers with intervals of a method."""
    style, name = PALETTE[key], label(key)
    theory = rows[rows["theory"].notna()]
    known = rows[rows["ratio"].notna()]
    traces: list[Trace] = []
    if len(theory):
        traces.append(
            {
                "type": "scatter",
                "x": theory["n"].to_numpy(),
                "y": theory["theory"].to_numpy(dtype=float),
                "mode": "lines",
                "name": name,
                "line": {"color": style.colour, "dash": style.dash, "width": 1.5},
                "legendgroup": name,
                # Before the first trial the lines alone say who is who.
                "showlegend": known.empty,
                "hoverinfo": "skip",
            }
        )
    ratio, low, high = with_ends(known, "ratio")
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
    return traces
