"""Small drawings in SVG.

They are shown as images, which know nothing of the page: the colour of lines and text is given.
"""

from __future__ import annotations

from html import escape

import numpy as np

from collab_core.figures import PALETTE

SEEN = PALETTE["collab"].colour

#: Stands for the colour of text and lines until a drawing is finished.
INK = "INK"


def grid(mask: np.ndarray, *, width: int = 120, height: int = 72) -> str:
    """A thumbnail of who sees what."""
    m, d = mask.shape
    w, h = width / d, height / m
    cells = "".join(
        f'<rect x="{j * w:.2f}" y="{i * h:.2f}" width="{0.88 * w:.2f}" height="{0.82 * h:.2f}"'
        f' fill="{SEEN if mask[i, j] else "#8888"}"/>'
        for i in range(m)
        for j in range(d)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">{cells}</svg>'
    )


def story(mask: np.ndarray, worth: np.ndarray, ink: str) -> str:
    """The problem in one picture: agents and their views, the server, what comes back.

    Parameters
    ----------
    mask : array, shape (m, d)
    worth : array, shape (m,)
    ink : str
        Colour of text and lines.
    """
    m, d = mask.shape
    row, cell, left = 54, 27, 84
    height = m * row + 34
    middle = height / 2 + 14
    parts = [
        _text(left + d * cell / 2, 18, "what it sees", "middle", 16, muted=True),
        _text(336, 18, "its model", "middle", 16, muted=True),
        _text(706, 18, "what it gets", "middle", 16, muted=True),
    ]
    for i in range(m):
        y = 34 + i * row
        centre = y + cell / 2
        parts.append(_text(left - 12, centre + 5, f"Agent {i + 1}", "end", 17))
        for j in range(d):
            fill = SEEN if mask[i, j] else "none"
            parts.append(
                f'<rect x="{left + j * cell}" y="{y}" width="{cell - 4}" height="{cell - 4}" rx="3"'
                f' fill="{fill}" stroke="INK" stroke-opacity="0.25"/>'
            )
        start, end = left + d * cell + 8, 392
        parts.append(_arrow(start, centre, end, middle + (i - (m - 1) / 2) * 14))
        parts.append(_arrow(580, middle + (i - (m - 1) / 2) * 14, 624, centre))
        parts.append(_text(632, centre + 6, f"{worth[i]:.1f} × its data", "start", 19, bold=True))
    parts.append(
        f'<rect x="392" y="{middle - 84}" width="188" height="168" rx="12" fill="{SEEN}"'
        f' fill-opacity="0.14" stroke="INK" stroke-opacity="0.35"/>'
    )
    for line, (text, size) in enumerate(
        (("Server", 20), ("corrects each model", 16.5), ("for what was not seen,", 16.5),
         ("weighs by residual,", 16.5), ("serves everyone", 16.5))
    ):  # fmt: skip
        parts.append(_text(486, middle - 50 + line * 29, text, "middle", size, bold=line == 0))
    body = "".join(parts).replace(INK, ink)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 790 {height}" width="790"'
        f' height="{height}" font-family="Source Sans Pro, Helvetica, sans-serif">{body}</svg>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str,
    size: float,
    *,
    bold: bool = False,
    muted: bool = False,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        f' font-weight="{600 if bold else 400}" fill="INK"'
        f' fill-opacity="{0.75 if muted else 1}">{escape(text)}</text>'
    )


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    half = (x1 + x2) / 2
    return (
        f'<path d="M{x1:.1f},{y1:.1f} C{half:.1f},{y1:.1f} {half:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"'
        ' fill="none" stroke="INK" stroke-opacity="0.4" stroke-width="1.6"/>'
        f'<circle cx="{x2:.1f}" cy="{y2:.1f}" r="2.6" fill="INK" fill-opacity="0.55"/>'
    )
