"""What figures have in common: bands, ends of intervals, levels across a plot, legends below it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._base.checks import Array
from .style import Trace, faint

#: For what is neither a method nor a bound: levels, thresholds, what was measured elsewhere.
GREY = "#888888"


def band(x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: str, group: str = "") -> Trace:
    """A faint area between two lines; it is in no legend and answers no hover.

    Parameters
    ----------
    group : str
        Of the legend: a click there hides the band too.
    """
    places, lower, upper = (np.asarray(values) for values in (x, low, high))
    trace: Trace = {
        "type": "scatter",
        "x": np.concatenate([places, places[::-1]]),
        "y": np.concatenate([upper, lower[::-1]]).astype(float),
        "mode": "lines",
        "fill": "toself",
        "fillcolor": faint(colour),
        "line": {"width": 0},
        "showlegend": False,
        "hoverinfo": "skip",
    }
    return trace | {"legendgroup": group} if group else trace


def with_ends(frame: pd.DataFrame, centre: str) -> tuple[Array, Array, Array]:
    """A column with its ``low`` and ``high``, which are itself where they are not known."""
    low, high = (frame[end].fillna(frame[centre]) for end in ("low", "high"))
    return (
        frame[centre].to_numpy(dtype=float),
        low.to_numpy(dtype=float),
        high.to_numpy(dtype=float),
    )


def across(at: float, text: str, log: bool) -> dict[str, Any]:
    """Layout of a dotted level across the plot, with what it is.

    Parameters
    ----------
    log : bool
        Whether the axis is a log axis.
    """
    return {
        "shapes": [
            {"type": "line", "line": {"dash": "dot", "color": GREY},
             "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at}
        ],
        "annotations": [
            {"x": 1, "xref": "paper", "xanchor": "right", "y": float(np.log10(at)) if log else at,
             "yanchor": "bottom", "text": text, "showarrow": False}
        ],
    }  # fmt: skip


def upright(at: float, colour: str = GREY, **line: Any) -> dict[str, Any]:
    """A line from bottom to top of the plot; dotted unless ``line`` says otherwise."""
    return {
        "type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1,
        "line": {"color": colour, "dash": "dot"} | line,
    }  # fmt: skip


def stretch(low: float, high: float) -> dict[str, Any]:
    """A grey stretch of the axis from bottom to top of the plot, such as an interval."""
    return {
        "type": "rect", "x0": low, "x1": high, "yref": "paper", "y0": 0, "y1": 1,
        "layer": "below", "line": {"width": 0}, "fillcolor": "rgba(128,128,128,0.15)",
    }  # fmt: skip


def legend_below(y: float = -0.22) -> dict[str, Any]:
    """Layout of a legend under the plot, where many names have rows of their own."""
    return {
        "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
        "legend": {"orientation": "h", "y": y, "yanchor": "top", "x": 0},
    }
