"""How figures look: one palette, one frame around every plot, axes with round numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from .. import methods
from ..methods import Style
from ..smooth import methods as logistic

#: Covariances that are no method's: name and looks.
OTHERS: dict[str, tuple[str, Style]] = {
    "tilted": ("Tilted weights", Style("#D62728", "dash", "hexagon")),
    "exact": ("Exact bound", Style("#E69F00", "solid", "line-ew")),
    "strong": ("C_strong (paper)", Style("#888888", "dash", "line-ew")),
}  # fmt: skip


class Palette(Mapping[str, Style]):
    """How methods, linear and logistic, and bounds look, by key: their own styles.

    Based on the Okabe-Ito and Tol palettes: distinguishable with colour-blind eyes, and with enough
    contrast on white and on the dark theme's background. Dash and marker say the same again.
    """

    def __getitem__(self, key: str) -> Style:
        if key in OTHERS:
            return OTHERS[key][1]
        return (logistic.get(key) if key in _only_logistic() else methods.get(key)).style

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def __contains__(self, key: object) -> bool:
        return key in self._keys()

    def _keys(self) -> tuple[str, ...]:
        return (*methods.keys(), *_only_logistic(), *OTHERS)


def _only_logistic() -> tuple[str, ...]:
    """Methods of logistic models that are no linear ones too."""
    linear, known = methods.keys(), logistic.keys()
    return tuple(key for key in known if key not in linear)


PALETTE = Palette()

#: From cool (negative) over neutral to warm (positive), readable on both themes.
DIVERGING = [[0.0, "#2166AC"], [0.5, "#F7F7F7"], [1.0, "#B2182B"]]


def label(key: str) -> str:
    """What a method or bound is called in every figure."""
    if key in OTHERS:
        return OTHERS[key][0]
    return (logistic.get(key) if key in _only_logistic() else methods.get(key)).label


Trace = dict[str, Any]


def figure(
    traces: Sequence[Trace],
    *,
    title: str,
    height: int,
    x: Mapping[str, Any] | None = None,
    y: Mapping[str, Any] | None = None,
    layout: Mapping[str, Any] | None = None,
    frames: Sequence[Trace] = (),
) -> go.Figure:
    """Title above the plot, room for a legend, fixed height so that a page does not jump.

    With frames (see `player`) the figure can be played.
    """
    in_legend = [t for t in traces if "name" in t and t.get("showlegend", True)]
    # Plotly leaves the legend of a single trace out, unless it is asked for.
    legend = len(in_legend) > 1 or any(t.get("showlegend") for t in in_legend)
    full = {
        "title": {
            "text": title,
            "font": {"size": 16},
            "x": 0,
            "xanchor": "left",
            "y": 0.98,
            "yanchor": "top",
        },
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 72 if legend else 48, "b": 10},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        # Plotly's own template is large and copied for every figure; the dashboard brings one.
        "template": {},
        "xaxis": dict(x or {}),
        "yaxis": dict(y or {}),
        **(layout or {}),
    }
    content = {"data": list(traces), "layout": full, "frames": list(frames)}
    return go.Figure(content, _validate=False)


#: Milliseconds that a frame of an animation stands, and that the way to the next one takes.
STANDS, MOVES = 700, 450


def player(names: Sequence[str], active: int, what: str) -> dict[str, Any]:
    """Layout of a figure with frames: Play, Pause, and a slider that steps through them.

    Parameters
    ----------
    names : list of str
        Of the frames, written on the slider.
    active : int
        The frame that the figure shows at first.
    what : str
        What changes from frame to frame, such as ``"n = "``.
    """

    def to(frames: list[str | None] | None, stands: int, moves: int) -> list[Any]:
        return [
            frames,
            {
                "mode": "immediate",
                "fromcurrent": True,
                "frame": {"duration": stands, "redraw": False},
                "transition": {"duration": moves, "easing": "cubic-in-out"},
            },
        ]

    buttons = [
        {"label": "Play", "method": "animate", "args": to(None, STANDS, MOVES)},
        {"label": "Pause", "method": "animate", "args": to([None], 0, 0)},
    ]
    steps = [
        {"label": name, "method": "animate", "args": to([name], MOVES, MOVES)} for name in names
    ]
    grey = "rgba(128,128,128,0.25)"
    return {
        "updatemenus": [
            {"type": "buttons", "direction": "left", "buttons": buttons, "showactive": False,
             "x": 0, "xanchor": "left", "y": 0, "yanchor": "top", "pad": {"t": 50},
             "bgcolor": grey, "bordercolor": grey}
        ],
        "sliders": [
            {"active": active, "steps": steps, "x": 0, "len": 1, "y": 0, "yanchor": "top",
             "pad": {"t": 66, "b": 4}, "currentvalue": {"prefix": what, "xanchor": "right"},
             "bgcolor": grey, "bordercolor": grey, "transition": {"duration": MOVES}}
        ],
    }  # fmt: skip


def faint(colour: str, strength: float = 0.16) -> str:
    """A colour at a part of its strength; a sixth, for bands, by default."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{strength:g})"


def feature_names(d: int) -> list[str]:
    """x1, x2, ..: counted from one, as people do."""
    return [f"x{j + 1}" for j in range(d)]


def agent_names(m: int) -> list[str]:
    """Agent 1, Agent 2, .. ."""
    return [f"Agent {i + 1}" for i in range(m)]


def log_axis(text: str, values: ArrayLike, room: float = 0.06) -> dict[str, Any]:
    """A log axis that holds the values, with about six round numbers written on it."""
    axis: dict[str, Any] = {"title": {"text": text}, "type": "log"}
    positive = np.asarray(values, dtype=float)
    positive = positive[positive > 0]
    if positive.size == 0:
        return axis
    low, high = np.log10(positive.min()), np.log10(positive.max())
    span = max(high - low, 0.3)
    limits = [float(low - room * span - 0.02), float(high + room * span + 0.02)]
    wide = limits[1] - limits[0]
    mantissas: tuple[float, ...] = (1, 2, 5) if wide < 2.5 else (1,)
    stride = max(1, round(wide / 7))
    if wide < 0.5:
        mantissas = (1, 1.5, 2, 3, 4, 5, 6, 8)
    exponents = range(int(np.floor(limits[0])), int(np.ceil(limits[1])) + 1, stride)
    ticks = [mantissa * 10.0**e for e in exponents for mantissa in mantissas]
    ticks = [tick for tick in ticks if limits[0] <= np.log10(tick) <= limits[1]]
    return axis | {"range": limits, "tickvals": ticks, "ticktext": [short(t) for t in ticks]}


def short(value: float) -> str:
    """A round number as people write it: 0.02, 5, 20k, 3M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}" if value >= 1e-4 else f"{value:.0e}"


def tick_step(count: int) -> int:
    """Distance of ticks so that at most a dozen are written."""
    return next(step for step in (1, 2, 5, 10, 20, 50, 100) if count / step <= 12)


def plain(text: str, width: int = 60) -> str:
    """Somebody's name for something, cut to a width; Plotly takes tags in texts for its own."""
    short_text = text if len(text) <= width else text[: width - 1] + "\u2026"
    return short_text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(names: Sequence[str], longest: int = 18) -> list[str]:
    """Names short enough for an axis, still told apart: what would be the same stays whole."""
    short_names = [n if len(n) <= longest else n[: longest - 1].rstrip() + "…" for n in names]
    return short_names if len(set(short_names)) == len(set(names)) else list(names)


def wrapped(names: str, width: int = 60) -> str:
    """Text for a hover box, in lines of bounded length."""
    return "<br>".join(textwrap.wrap(names, width))
