"""Anybody's file to batches of columns: checked first, read in pieces, never evaluated.

A file is judged by its content, not by its name. CSV text of any usual delimiter and encoding and
Parquet are read by Arrow in pieces of bounded size; everything else is refused by a sentence that
says what it is. Nothing is unpickled, unzipped or evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any

from . import parquet_files, text_files
from .source import MOST_BYTES, MOST_ROWS, FileLayout, TableFile

# What a file begins with if it is no table, and what to do about it.
_FOREIGN = {
    b"PK\x03\x04": "is a zip archive or an Excel workbook: unpack it, or save the sheet as CSV",
    b"PK\x05\x06": "is an empty zip archive",
    b"\x1f\x8b": "is gzip-compressed: unpack it first",
    b"BZh": "is bzip2-compressed: unpack it first",
    b"\xfd7zXZ": "is xz-compressed: unpack it first",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook: save the sheet as CSV",
    b"\x80\x02": "is a Python pickle, which is never opened",
    b"\x80\x03": "is a Python pickle, which is never opened",
    b"\x80\x04": "is a Python pickle, which is never opened",
    b"\x80\x05": "is a Python pickle, which is never opened",
    b"%PDF": "is a PDF document",
    b"\x89HDF": "is an HDF5 file: save it as CSV or Parquet",
    b"\x89PNG": "is a picture",
    b"\xff\xd8\xff": "is a picture",
    b"GIF8": "is a picture",
    b"SQLite": "is a database: save the table as CSV or Parquet",
    b"ARROW1": "is an Arrow file: save it as Parquet",
    b"<!DOCTYPE": "is a web page",
    b"<html": "is a web page",
    b"{": "is JSON: save it as CSV or Parquet",
}


def examine(source: TableFile) -> FileLayout:
    """Find out what a file is, or say why it cannot be read."""
    name = source.name
    try:
        size = source.size
    except OSError:
        raise ValueError(f"{name} cannot be opened") from None
    if size == 0:
        raise ValueError(f"{name} is empty")
    if size > MOST_BYTES:
        raise ValueError(
            f"{name} has {size / 2**20:,.0f} MB, and at most {MOST_BYTES // 2**20} MB are read"
        )
    with source.open() as stream:
        head = stream.read(64)
        if head.startswith(b"PAR1"):
            return parquet_files.layout_of(source)
        for mark, reason in _FOREIGN.items():
            if head.startswith(mark):
                raise ValueError(f"{name} {reason}; a .csv or .parquet file is needed")
    return text_files.layout_of(source)


def batches(
    layout: FileLayout,
    wanted: Sequence[str] | None = None,
    *,
    numbers: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    cancel: Event | None = None,
    ragged: list[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """A file's columns piece by piece, as Arrow arrays by name.

    Parameters
    ----------
    wanted : list of str, optional
        Columns to read; all by default.
    numbers : list of str
        Columns of text that are known to hold numbers only: read as such, which is faster.
    progress : callable, optional
        Told the share read so far.
    cancel : Event, optional
        When set, reading ends with a ValueError: part of a table is not the table.
    ragged : list, optional
        Gets a sentence for rows that had another number of fields and were left out.
    """
    names = list(layout.names if wanted is None else wanted)
    pieces = (
        text_files.batches(layout, names, numbers, ragged)
        if layout.delimiter
        else parquet_files.batches(layout, names)
    )
    done = 0
    for found, share in pieces:
        if cancel is not None and cancel.is_set():
            raise ValueError("reading was stopped; nothing of it is used")
        count = len(next(iter(found.values()))) if found else 0
        done += count
        if done > MOST_ROWS:
            raise ValueError(
                f"{layout.source.name} has more than {MOST_ROWS:,} rows, which is as many as are"
                " read"
            )
        if count:
            yield found
        if progress is not None:
            progress(min(share, 1.0))
