"""Figures of what pretending to be Gaussian costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..words.numbers import percent, plus_minus, two_digits
from .errors import error_curve
from .plans import BLUES
from .style import PALETTE, Trace, faint, figure, label, log_axis

_BELOW = {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0}

#: The loss from which on a square of a map is no darker: colours mean the same in every world.
DARKEST = 0.5
#: How far along the scale that is: text is read on it in either theme.
STRENGTH = 0.75


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
        known = rows[rows["ratio"].notna()]
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
    traces: list[Trace] = [
        {
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
        },
        # Plotly's own text on squares would be told from their colour without the page's behind.
        {
            "type": "scatter",
            "x": across * len(up),
            "y": [name for name in up for _ in across],
            "mode": "text",
            "text": ["" if cell is None else percent(*cell) for row in cells for cell in row],
            "textfont": {"size": 11, "color": ink},
            "showlegend": False,
            "hoverinfo": "skip",
        },
    ]
    if here is not None:
        nearest = np.abs(_squeezed(kurtoses) - _squeezed(here[1])).argmin()
        traces.append(
            {
                "type": "scatter",
                "x": [across[int(np.abs(shares - here[0]).argmin())]],
                "y": [up[int(nearest)]],
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
    between: tuple[float, float | None] | None = None,
    height: int = 460,
) -> go.Figure:
    """Draw the error of estimated optimal weights against the number of unlabelled samples.

    Parameters
    ----------
    frame : DataFrame
        As `unlabelled.UnlabelledCurve.frame`.
    levels : dict
        n times the error as n grows, of ``"collab"`` and ``"collab_oracle"``.
    n : int
        At which errors were measured.
    measured : float, optional
        n times COLLAB's error on the same trials, which the points are to be compared with.
    break_even : float, optional
        Where optimal weights begin to pay.
    between : (float, float or None), optional
        Range in which that is; without an end where it may be never.
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
    # The band is on the axis too, but for ends near 0.
    ends = np.concatenate([band["low"], band["high"]]).astype(float)
    values += ends[ends > min(values) / 2].tolist()
    layout: dict[str, Any] = {
        "margin": {"l": 10, "r": 10, "t": 40, "b": 10},
        "legend": _BELOW,
    }
    if break_even is not None:
        low, high = between or (break_even, break_even)
        low, high = max(low, float(sizes.min())), high or float(sizes.max())
        # The words on the side where there is more room for them.
        right = np.log10(break_even) > np.log10(sizes).mean()
        everywhere = {"yref": "paper", "y0": 0, "y1": 1}
        layout["shapes"] = [
            {"type": "line", "line": {"dash": "dot", "color": "#888888"}, **everywhere,
             "x0": break_even, "x1": break_even},
            {"type": "rect", "line": {"width": 0}, "fillcolor": "rgba(128,128,128,0.15)",
             "layer": "below", **everywhere, "x0": low, "x1": high},
        ]  # fmt: skip
        layout["annotations"] = [
            {"x": float(np.log10(low if right else high)), "y": 1, "yref": "paper",
             "yanchor": "top", "xanchor": "right" if right else "left", "showarrow": False,
             "xshift": -4 if right else 4, "text": f"pays from about {two_digits(break_even)}"}
        ]  # fmt: skip
    return figure(
        traces,
        title=title,
        height=height,
        x=log_axis("unlabelled samples", sizes),
        y=log_axis("n × prediction error", values),
        layout=layout,
    )
