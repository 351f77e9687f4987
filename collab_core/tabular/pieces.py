"""A table piece by piece, as a choice reads it: whose a row is, the target, the features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Event
from typing import Any

import numpy as np

from .._base.checks import Array, Indices
from .choice import TableChoice
from .source import FILE
from .table import Table, file_names
from .values import Texts, to_numbers, to_texts


class Piece:
    """A piece of the table: agents, target, and features on demand."""

    def __init__(
        self,
        table: Table,
        chosen: TableChoice,
        number: int,
        columns: dict[str, Any],
        files: list[str],
    ) -> None:
        self._columns, self._table = columns, table
        self.length = len(next(iter(columns.values())))
        if chosen.agent == FILE and len(table.layouts) > 1:
            self.agents = Texts(np.zeros(self.length, dtype=int), [files[number]])
        else:
            self.agents = self.texts(chosen.agent)
        self.target = self.numbers(chosen.target)
        self.not_positive = 0
        if chosen.log:
            with np.errstate(invalid="ignore"):
                wrong = self.target <= 0
            self.not_positive = int(wrong.sum())
            self.target = np.log(np.where(wrong, np.nan, self.target))

    def numbers(self, name: str) -> Array:
        """A column of amounts, NaN for gaps, infinite values and texts."""
        if name not in self._columns:
            return np.full(self.length, np.nan)
        values = to_numbers(self._columns[name], self._table.column(name).comma).values
        return np.where(np.isfinite(values), values, np.nan)

    def texts(self, name: str) -> Texts:
        """A column of names."""
        if name not in self._columns:
            return Texts(np.full(self.length, -1), [])
        return to_texts(self._columns[name], self._table.column(name).words)

    def owners(self, places: Mapping[str, int]) -> Indices:
        """Whose every row is, by the agents' places; -1 for rows of nobody, shape (n,)."""
        # One more place, for rows that name no agent.
        known = np.array([*(places.get(agent, -1) for agent in self.agents.levels), -1])
        return known[self.agents.codes]


def pieces(
    table: Table,
    chosen: TableChoice,
    progress: Callable[[float], None] | None,
    cancel: Event | None,
) -> Iterator[Piece]:
    """The columns that a choice needs, piece by piece."""
    wanted = list(dict.fromkeys([chosen.agent, chosen.target, *chosen.features]))
    for name in wanted:
        table.column(name)
    amounts = [name for name in (chosen.target, *chosen.features) if name not in chosen.categories]
    # Numbers without exception are read as numbers at once.
    quick = [
        name for name in amounts if table.column(name).kind == "number" and table.column(name).plain
    ]
    files = file_names(table.layouts)
    for number, columns in table.batches(wanted, numbers=quick, progress=progress, cancel=cancel):
        yield Piece(table, chosen, number, columns, files)
