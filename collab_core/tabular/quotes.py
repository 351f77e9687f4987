"""Quotes that never close: a stray one makes a reader take the rest of a file for one cell.

A quote opens a cell only at its very start, and "" inside is a quote itself. Lines inside a quoted
cell are part of it, as they should be; what gives a stray quote away is that it never closes, that
it closes in the middle of a cell, or that the lines inside look like rows. Lines of an address can
look like rows too. They are a cell's if their row has as many cells as the table, and the line that
opens the quote or the one that closes it would be no row without, or only the lines inside have a
blank after every delimiter.
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
def _patterns(delimiter: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A line that ends inside a quoted cell, what may follow a quote, and a cell with its end.

    The first one's group is what comes before the open cell.
    """
    mark = re.escape(delimiter)
    cell = rf'(?>"(?>[^"]+|"")*+"[^{mark}]*+|[^"{mark}][^{mark}]*+|)'
    return (
        re.compile(rf'((?>{cell}{mark})*+)"(?>[^"]+|"")*+$'),
        re.compile(rf"\s*({mark}|$)"),
        re.compile(rf"{cell}{mark}"),
    )


def _ends(text: str, cell: re.Pattern[str]) -> int:
    """How many delimiters in a text end a cell."""
    count = place = 0
    while found := cell.match(text, place):
        count, place = count + 1, found.end()
    return count


def stray(lines: Iterable[str], delimiter: str, columns: int) -> str:
    """Where a quote does not close as it should, as the end of a sentence; nothing if all do.

    Parameters
    ----------
    lines : iterable of str
        Without their ends.
    columns : int
        Of the table.
    """
    opens, clean, cell = _patterns(delimiter)
    least = ROW_LIKE if columns > 2 else ROW_LIKE_PAIRS
    blank = delimiter + " "
    spaced = False
    # Of the cell that is open: its first line, lines inside, those like rows, and those of them
    # like prose; delimiters that end a cell of the row so far; whether its first line could be a
    # row; what to say if it is none after all.
    began = inside = like = prose = ends = 0
    row_like, told = False, ""
    for number, line in enumerate(lines, start=1):
        if not began:
            if '"' in line and (found := opens.match(line)):
                began, inside, like, prose, told = number, 0, 0, 0, ""
                ends = _ends(found[1], cell)
                row_like = ends + line.count(delimiter, found.end(1)) == columns - 1
            elif not spaced:
                spaced = line.count(blank) == columns - 1
            continue
        closed = _REST.match(line)
        if closed is None:
            inside += 1
            if line.count(delimiter) == columns - 1:
                like += 1
                prose += not spaced and line.count(blank) == columns - 1
            if inside > MOST_LINES:
                return f"a quote opened in line {began:,} does not close for {MOST_LINES:,} lines"
            continue
        rest = line[closed.end() :]
        if not clean.match(rest):
            return (
                f"a quote opened in line {began:,} closes only in line {number:,}, in the middle"
                " of a cell"
            )
        # What follows is a line of its own that may open another; x stands for the cell.
        rest = "x" + rest
        again = opens.match(rest) if '"' in rest else None
        after = _ends(rest if again is None else again[1], cell)
        beyond = 0 if again is None else rest.count(delimiter, again.end(1))
        last = line.count(delimiter, 0, closed.end()) + after + beyond == columns - 1
        if inside >= least and like >= 0.8 * inside:
            told = told or (
                f"a quote opened in line {began:,} closes only in line {number:,}, and what is"
                " inside looks like rows"
            )
            if row_like and last and prose < like:
                return told
        ends += after
        if again is None and told and ends != columns - 1:
            return told
        began, row_like = 0 if again is None else number, last
        inside = like = prose = 0
    return f"a quote opened in line {began:,} never closes" if began else ""
