"""Figure of robustness: how fast the advantage of working together goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .marks import GREY, band, stretch, upright
from .style import PALETTE, Trace, figure, label, log_axis


def advantage(
    frame: pd.DataFrame,
    *,
    axis: str,
    title: str,
    height: int = 430,
    falling: bool = False,
    break_even: tuple[float, float | None, float | None] | None = None,
    said: str = "",
) -> go.Figure:
    """Draw errors over that of local least squares against a disturbance that grows to the right.

    Parameters
    ----------
    frame : DataFrame
        As `disturbed.DisturbedCurve.frame`.
    axis : str
        What the disturbance is measured in.
    falling : bool
        Whether smaller numbers disturb more.
    break_even : (float, float or None, float or None), optional
        Where COLLAB stops paying, and the ends of its interval.
    said : str
        What is written at the break-even.
    """
    known = frame[(frame["method"] != "local") & frame["value"].notna() & (frame["value"] > 0)]
    undisturbed = frame[(frame["method"] == "collab") & ~(frame["value"] > 0).fillna(False)]
    reference = undisturbed["ratio"].dropna()
    traces: list[Trace] = []
    for key, rows in known.groupby("method", sort=False):
        traces += _traces(str(key), rows)
    level = float(reference.iloc[0]) if len(reference) else None
    heights = known[["ratio", "theory_ratio"]].stack().dropna().to_numpy(dtype=float)
    heights = np.append(heights, [1.0, level or 1.0])
    x = log_axis(axis, known["value"].to_numpy(dtype=float))
    if falling:
        x["range"] = x["range"][::-1]
    return figure(
        traces,
        title=title,
        height=height,
        x=x,
        y=log_axis(
            "error over that of working alone", np.append(heights, [1.0, level or 1.0]), 0.1
        ),
        layout={
            "margin": {"l": 10, "r": 10, "t": 44, "b": 10},
            "legend": {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
            **_marks(level, break_even, said),
        },
    )


def _traces(key: str, rows: pd.DataFrame) -> list[Trace]:
    """Band, theory and markers of one method; only the markers are in the legend."""
    style, name = PALETTE[key], label(key)
    banded = rows[rows["ratio_low"].notna()]
    # A log axis has no 0.
    low = banded["ratio_low"].clip(lower=1e-6)
    theory = rows[rows["theory_ratio"].notna()]
    known = rows[rows["ratio"].notna()]
    traces: list[Trace] = [
        band(banded["value"].astype(float), low, banded["ratio_high"], style.colour, name),
        {
            "type": "scatter",
            "x": known["value"].to_numpy(dtype=float),
            "y": known["ratio"].to_numpy(dtype=float),
            "mode": "lines+markers",
            "name": name,
            "legendgroup": name,
            "line": {"color": style.colour, "width": 1.5},
            "marker": {"color": style.colour, "symbol": style.marker, "size": 8},
            "hovertemplate": "at %{x:,.3g}: %{y:.3g}<extra>" + name + "</extra>",
        },
    ]
    if len(theory):
        traces.append(
            {
                "type": "scatter",
                "x": theory["value"].to_numpy(dtype=float),
                "y": theory["theory_ratio"].to_numpy(dtype=float),
                "mode": "lines",
                "name": f"{name}, by the formulas",
                "line": {"color": style.colour, "dash": "dot", "width": 2.5},
                "hovertemplate": "at %{x:,.3g}: %{y:.3g}<extra>" + name + ", formulas</extra>",
            }
        )
    return traces


def _marks(
    level: float | None, break_even: tuple[float, float | None, float | None] | None, said: str
) -> dict[str, Any]:
    """Lines for as good as alone, undisturbed, and the break-even with its interval."""
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1}
    written = {"xref": "paper", "x": 0, "xanchor": "left", "showarrow": False}
    shapes: list[dict[str, Any]] = [
        {**across, "y0": 1, "y1": 1, "line": {"color": GREY, "width": 1.5}}
    ]
    annotations: list[dict[str, Any]] = [
        {**written, "y": 0, "yanchor": "bottom", "text": "as good as alone"}
    ]
    if level is not None and level > 0:
        shapes.append({**across, "y0": level, "y1": level, "line": {"color": GREY, "dash": "dot"}})
        annotations.append(
            {**written, "x": 1, "xanchor": "right", "y": float(np.log10(level)), "yanchor": "top",
             "text": f"COLLAB undisturbed: {level:.3g}"}
        )  # fmt: skip
    if break_even is not None:
        value, early, late = break_even
        shapes.append(upright(value, PALETTE["collab"].colour, dash="dash", width=2))
        if early is not None and late is not None:
            shapes.append(stretch(early, late))
        annotations.append(
            {"x": float(np.log10(value)), "yref": "paper", "y": 0.98, "yanchor": "top",
             "xanchor": "right", "xshift": -6, "showarrow": False, "text": said}
        )  # fmt: skip
    return {"shapes": shapes, "annotations": annotations}
