"""Figures of what pretending to be Gaussian costs, by law and on a map."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..words.numbers import percent, plus_minus
from .plans import BLUES
from .style import PALETTE, Trace, figure

#: The loss from which on a square of a map is no darker: colours mean the same in every world.
DARKEST = 0.5
#: How far along the scale that is: text is read on it in either theme.
STRENGTH = 0.75


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
    # Where next to nothing is lost the axis still has a scale, and looks like it.
    highest = max(float(rows["loss"].max()) if len(rows) else 0.0, 0.05)
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
    ink: str = "#808080",
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
    ink : str
        Colour of the numbers in the squares: the scale fades into the page's own colour.

    Notes
    -----
    Colours are of a fixed scale: they do not jump while a map is made.
    """
    squares: dict[Any, tuple[Any, Any]] = {
        (row.kurtosis, row.missing): (row.loss, row.error)
        for row in frame[frame["kind"] == kind].itertuples()
    }
    shares, kurtoses = (np.sort(frame[name].unique()) for name in ("missing", "kurtosis"))
    cells = [[squares.get((kurtosis, share)) for share in shares] for kurtosis in kurtoses]
    across = [f"{share:.0%}" for share in shares]
    up = [f"{kurtosis:g}" for kurtosis in kurtoses]
    traces = [_squares(cells, across, up), _numbers(cells, across, up, ink)]
    if here is not None:
        column = int(np.abs(shares - here[0]).argmin())
        row = int(np.abs(_squeezed(kurtoses) - _squeezed(here[1])).argmin())
        traces.append(_ring(across[column], up[row]))
    return figure(
        traces,
        title=title,
        height=height,
        x={"title": {"text": "share of features missing"}, "type": "category", "showgrid": False,
           "range": [-0.5, len(across) - 0.5]},
        y={"title": {"text": "excess kurtosis of a feature"}, "type": "category",
           "showgrid": False, "range": [-0.5, len(up) - 0.5]},
    )  # fmt: skip


#: Loss and its standard error of every square, row by row; None where it is not known yet.
_Cells = list[list[tuple[float, float] | None]]


def _squares(cells: _Cells, across: list[str], up: list[str]) -> Trace:
    """The colours."""
    return {
        "type": "heatmap",
        # A square root: a loss of one percent is told from none, and ten from a hundred.
        "z": [
            [None if cell is None else min(cell[0], DARKEST) ** 0.5 for cell in row]
            for row in cells
        ],
        "x": across,
        "y": up,
        "customdata": [
            ["" if cell is None else plus_minus(*cell) for cell in row] for row in cells
        ],
        "colorscale": BLUES,
        "zmin": 0,
        "zmax": DARKEST**0.5 / STRENGTH,
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": "%{x} missing, excess kurtosis %{y}: %{customdata}<extra></extra>",
    }


def _numbers(cells: _Cells, across: list[str], up: list[str], ink: str) -> Trace:
    """The numbers in the squares.

    Plotly's own text on squares would be told from their colour without the page's behind.
    """
    return {
        "type": "scatter",
        "x": across * len(up),
        "y": [name for name in up for _ in across],
        "mode": "text",
        "text": ["" if cell is None else percent(*cell) for row in cells for cell in row],
        "textfont": {"size": 11, "color": ink},
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _ring(x: str, y: str) -> Trace:
    """Where the world and law are."""
    return {
        "type": "scatter",
        "x": [x],
        "y": [y],
        "mode": "markers",
        "marker": {"symbol": "square-open", "size": 30, "color": "#D55E00", "line": {"width": 3}},
        "name": "this world and law",
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _squeezed(kurtosis: Any) -> Any:
    """Kurtosis on a scale on which its squares of the map are about evenly apart."""
    return np.log1p(np.maximum(kurtosis, -2) + 2)
