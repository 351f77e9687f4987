"""Quotes that never close: a stray one makes a reader take the rest of a file for one cell.

A quote opens a cell only at its very start, and "" inside is a quote itself. Lines inside a quoted
cell are part of it, as they should be; what gives a stray quote away is that it never closes, that
it closes in the middle of a cell, or that the lines inside look like rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

#: Lines of one cell that nobody writes.
MOST_LINES = 1000

#: So many lines inside a cell that look like rows are rows; with two columns, prose can look so.
ROW_LIKE, ROW_LIKE_PAIRS = 3, 20

_REST = re.compile(r'(?>[^"]+|"")*+"')


@lru_cache(maxsize=8)
def _patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A line that ends inside a quoted cell, and what may stand between a quote and the next."""
    mark = re.escape(delimiter)
    cell = rf'(?>"(?>[^"]+|"")*+"[^{mark}]*+|[^"{mark}][^{mark}]*+|)'
    return re.compile(rf'(?>{cell}{mark})*+"(?>[^"]+|"")*+$'), re.compile(rf"\s*({mark}|$)")


def stray(lines: Iterable[str], delimiter: str, columns: int) -> str:
    """Where a quote does not close as it should, as the end of a sentence; nothing if all do.

    Parameters
    ----------
    lines : iterable of str
        Without their ends.
    columns : int
        Of the table.
    """
    opens, clean = _patterns(delimiter)
    least = ROW_LIKE if columns > 2 else ROW_LIKE_PAIRS
    began = inside = like = 0
    for number, line in enumerate(lines, start=1):
        if not began:
            if '"' in line and opens.match(line):
                began, inside, like = number, 0, 0
            continue
        closed = _REST.match(line)
        if closed is None:
            inside += 1
            like += line.count(delimiter) == columns - 1
            if inside > MOST_LINES:
                return f"a quote opened in line {began:,} does not close for {MOST_LINES:,} lines"
            continue
        rest = line[closed.end() :]
        if not clean.match(rest):
            return (
                f"a quote opened in line {began:,} closes only in line {number:,}, in the middle"
                " of a cell"
            )
        if inside >= least and like >= 0.8 * inside:
            return (
                f"a quote opened in line {began:,} closes only in line {number:,}, and what is"
                " inside looks like rows"
            )
        # What follows is a line of its own that may open another; x stands for the cell.
        began = number if '"' in rest and opens.match("x" + rest) else 0
        inside = like = 0
    return f"a quote opened in line {began:,} never closes" if began else ""
