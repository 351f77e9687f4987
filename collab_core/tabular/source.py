"""A file, on disk or in memory, and how it is to be read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .sentences import listed

#: What one upload may hold.
MOST_BYTES = 200 * 2**20
MOST_ROWS = 5_000_000
MOST_COLUMNS = 400

#: The name of the column that says which file a row is from.
FILE = "file"


@dataclass(frozen=True)
class TableFile:
    """A file, on disk or in memory.

    Attributes
    ----------
    name : str
        For people.
    content : bytes-like or Path
    """

    name: str
    content: Any

    @classmethod
    def of(cls, given: TableFile | str | Path) -> TableFile:
        """A source from a path."""
        return given if isinstance(given, TableFile) else cls(Path(given).name, Path(given))

    @property
    def size(self) -> int:
        """Bytes."""
        if isinstance(self.content, Path):
            return self.content.stat().st_size
        return memoryview(self.content).nbytes

    @property
    def digest(self) -> str:
        """Of what is in it: the same content has the same."""
        if isinstance(self.content, Path):
            with self.content.open("rb") as file:
                return hashlib.file_digest(file, "blake2b").hexdigest()
        return hashlib.blake2b(self.content).hexdigest()

    def open(self) -> Any:
        """An Arrow input over it; nothing is copied."""
        import pyarrow as pa

        if isinstance(self.content, Path):
            return pa.OSFile(str(self.content), "rb")
        return pa.BufferReader(pa.py_buffer(self.content))


@dataclass(frozen=True)
class FileLayout:
    """How a file is to be read.

    Attributes
    ----------
    source : TableFile
    names : tuple of str
        Its columns, without blanks around them, each once.
    delimiter : str
        Of text; nothing for Parquet.
    encoding : str
    rows : int or None
        Known beforehand for Parquet.
    notes : tuple of str
        What a person should know about how it was read.
    places : tuple of int
        Of a Parquet file's columns, those that are read.
    lines : int
        Of text, as far as line ends tell; 0 where no quote is in it.
    head : int
        Rows of text up to and with the columns' names.
    """

    source: TableFile
    names: tuple[str, ...]
    delimiter: str
    encoding: str
    rows: int | None
    notes: tuple[str, ...]
    places: tuple[int, ...] = ()
    lines: int = 0
    head: int = 1


def checked_names(file: str, given: Sequence[object], notes: list[str]) -> tuple[str, ...]:
    """A file's column names without blanks around them, each once; copies are noted."""
    if len(given) > MOST_COLUMNS:
        raise ValueError(
            f"{file} has {len(given):,} columns, and at most {MOST_COLUMNS} are read: leave out"
            " those that are not needed"
        )
    names: list[str] = []
    again: list[str] = []
    for place, raw in enumerate(given, start=1):
        name = " ".join(str(raw).split())[:80] or f"column {place}"
        if name in names:
            again.append(name)
            copy = 2
            while f"{name} ({copy})" in names:
                copy += 1
            name = f"{name} ({copy})"
        names.append(name)
    if again:
        notes.append(f"{file}: columns of the same name were numbered: {listed(again)}.")
    return tuple(names)


def first_line(problem: Exception) -> str:
    """What is wrong, in one line: Arrow adds where in its own code."""
    text = (str(problem).splitlines() or ["unknown reason"])[0]
    return text[:160].rstrip(".")
