"""A table as a whole: its files, what its columns are, and which of them may be asked what."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from .column import MOST_AGENTS, Column, Finding, points_mark_thousands, usual_comma
from .reading import batches, examine
from .sentences import listed
from .source import FILE, MOST_BYTES, FileLayout, TableFile

#: Files of one upload.
MOST_FILES = 200

_AGENT_NAME = re.compile(
    r"agent|group|site|cent(er|re)|clinic|hospital|state|region|country|store|party|firm|file", re.I
)
_TARGET_NAME = re.compile(r"^(y|target|label|outcome|response|price|score|result)$", re.I)


class Table:
    """One or several files as one table; only what was found out about it is held.

    Attributes
    ----------
    layouts : tuple of Layout
        The files.
    columns : tuple of Column
        In the order of the first file, those of others after them. With several files the first
        is called `source.FILE`, and says which one a row is from.
    rows : int
    notes : tuple of str
        What a person should know about how it was read.
    """

    def __init__(
        self,
        layouts: Sequence[FileLayout],
        columns: Sequence[Column],
        rows: int,
        notes: Sequence[str],
    ) -> None:
        self.layouts, self.columns = tuple(layouts), tuple(columns)
        self.rows, self.notes = rows, tuple(notes)

    @classmethod
    def open(
        cls,
        sources: Sequence[TableFile | str | Path],
        *,
        progress: Callable[[float], None] | None = None,
        cancel: Event | None = None,
    ) -> Table:
        """Read files once, in pieces, and find out what their columns are."""
        if not sources:
            raise ValueError("sources must name at least one file, got none")
        if len(sources) > MOST_FILES:
            raise ValueError(f"at most {MOST_FILES} files are read, got {len(sources)}")
        layouts = [examine(TableFile.of(source)) for source in sources]
        size = sum(layout.source.size for layout in layouts)
        if size > MOST_BYTES:
            raise ValueError(
                f"together the files have {size / 2**20:,.0f} MB, and at most"
                f" {MOST_BYTES // 2**20} MB are read"
            )
        names = list(dict.fromkeys(name for layout in layouts for name in layout.names))
        if len(layouts) > 1 and FILE in names:
            raise ValueError(
                f"with several files the column {FILE!r} says which one a row is from; rename the"
                " column of that name"
            )
        notes = [note for layout in layouts for note in layout.notes]
        findings = {name: Finding(name) for name in names}
        counts = []
        for number, layout in enumerate(layouts):
            rows = 0
            for batch in batches(
                layout, progress=part(progress, number, len(layouts)), cancel=cancel, ragged=notes
            ):
                rows += len(next(iter(batch.values())))
                for name, column in batch.items():
                    findings[name].add(column)
            if rows == 0:
                raise ValueError(f"{layout.source.name} has columns but no row")
            counts.append(rows)
        total = sum(counts)
        # A word that stands among numbers is this table's way to write a gap.
        marks = {word for found in findings.values() if found.amounts for word in found.marks}
        commas = usual_comma(findings.values(), [layout.delimiter for layout in layouts])
        points = points_mark_thousands(findings.values())
        columns = [finding.column(total, marks, commas, points) for finding in findings.values()]
        if len(layouts) > 1:
            files = file_names(layouts)
            columns.insert(
                0, Column(FILE, "category", total, 0, len(files), files[0], "", tuple(files))
            )
        return cls(layouts, columns, total, notes)

    def column(self, name: str) -> Column:
        """A column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise ValueError(f"there is no column {name!r}; there are {listed(self.names)}")

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def can_name_agents(self) -> list[str]:
        """Columns with at least two and not too many different values."""
        return [
            column.name
            for column in self.columns
            if column.distinct is not None
            and 2 <= column.distinct <= MOST_AGENTS
            and column.present > column.distinct
            and column.kind != "date"
        ]

    def can_be_target(self) -> list[str]:
        """Columns of numbers, and of numbers with some texts, which are then gaps."""
        return [
            column.name
            for column in self.columns
            if column.kind == "number" or (column.kind == "mixed" and column.texts)
        ]

    def not_a_target(self) -> str:
        """Why a column that is called like a target cannot be one, in a sentence, or nothing."""
        named = [column for column in self.columns if _TARGET_NAME.search(column.name)]
        able = self.can_be_target()
        if not named or any(column.name in able for column in named):
            return ""
        column = named[0]
        return f"{column.name} cannot be predicted: it was taken for {column.kind}. {column.note}"

    def usual_agent(self) -> str | None:
        """The column that most likely names the agents."""
        able = self.can_name_agents()
        named = [name for name in able if _AGENT_NAME.search(name)]
        texts = [name for name in able if self.column(name).kind == "category"]
        return next(iter([*named, *texts, *able]), None)

    def usual_target(self) -> str | None:
        """The column that most likely is to be predicted."""
        able = [name for name in self.can_be_target() if name != self.usual_agent()]
        named = [name for name in able if _TARGET_NAME.search(name)]
        return next(iter([*named, *reversed(able)]), None)

    def batches(
        self,
        wanted: Sequence[str],
        *,
        numbers: Sequence[str] = (),
        progress: Callable[[float], None] | None = None,
        cancel: Event | None = None,
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Some columns of all files, piece by piece, each with the number of its file.

        A column that a file does not have is not in its pieces.
        """
        for number, layout in enumerate(self.layouts):
            there = [name for name in wanted if name in layout.names]
            quick = [name for name in numbers if name in there]
            # Without any of the wanted columns the rows still count.
            for batch in batches(
                layout,
                there or [layout.names[0]],
                numbers=quick if there else (),
                progress=part(progress, number, len(self.layouts)),
                cancel=cancel,
            ):
                yield number, batch


def part(
    progress: Callable[[float], None] | None, number: int, count: int
) -> Callable[[float], None] | None:
    """The progress of one of several files as that of all."""
    if progress is None:
        return None
    return lambda share: progress((number + share) / count)


def file_names(layouts: Sequence[FileLayout]) -> list[str]:
    """The files' names without ending, numbered where two are the same."""
    stems = [Path(layout.source.name).stem[:60] or "file" for layout in layouts]
    return [
        stem if stems.count(stem) == 1 else f"{stem} ({stems[: place + 1].count(stem)})"
        for place, stem in enumerate(stems)
    ]
