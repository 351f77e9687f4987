"""A table added up by agent and fold: all that fits, errors and intervals need of it.

Only sums are kept, and a few hundred rows for residual plots: every method, its held-out error and
its intervals are functions of sums over folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event

import numpy as np

from .._base.checks import Array
from .choice import TableChoice
from .design import MOST_ONE_HOT, TableSurvey, encoded
from .folds import FOLDS, dealt
from .gaps import Filled, fill, pairwise, room_of
from .pieces import Piece, pieces
from .sentences import counted, listed
from .table import Table, part

#: Bytes of all sums that are taken.
MOST_SUMS = 400 * 2**20

#: Matrices of an agent's size that one fit of all methods holds at a time.
FIT_STACKS = 12

#: Rows kept for residual plots, over all agents.
KEPT_ROWS = 6000


@dataclass(frozen=True, eq=False)
class TableSums:
    """Sums by agent and fold: all that fits, errors and intervals read.

    Attributes
    ----------
    survey : TableSurvey
    folds : list of m arrays, shape (F, k + 2, k + 2)
        Sums of products of (1, x, y) about an agent's means, of the k features it sees.
    unlabelled : array, shape (m + b, d + 1, d + 1)
        Sums of products of (1, x) about a mean, over complete rows without a target, of the m
        agents and of the b that have no other rows.
    filled : list of m Filled, or None
        Of agents whose gaps were filled.
    kept : dict
        By agent, some rows: features (r, k) and target (r,), for residual plots.
    notes : tuple of str
    """

    survey: TableSurvey
    folds: Sequence[Array]
    unlabelled: Array
    filled: Sequence[Filled | None]
    kept: dict[int, tuple[Array, Array]]
    notes: tuple[str, ...]


def add_up(
    table: Table,
    found: TableSurvey,
    *,
    progress: Callable[[float], None] | None = None,
    cancel: Event | None = None,
) -> TableSums:
    """Add up the table by agent and fold, within the memory of one piece and of the sums."""
    adding = _Adding(found)
    if adding.fills:
        adding.covariance = pairwise(table, found, part(progress, 0, 2), cancel)
        progress = part(progress, 1, 2)
    for piece in pieces(table, found.choice, progress, cancel):
        adding.add(piece)
    return adding.sums()


class _Adding:
    """Sums of a table as far as it was read."""

    def __init__(self, found: TableSurvey) -> None:
        self._found, self._views = found, found.views
        m, d = len(self._views), len(found.features)
        self._filled = [room_of(found, i) for i in range(m)]
        self._check_size()
        #: Of the features, for filling gaps.
        self.covariance: Array = np.empty((0, 0))
        self._folds = [np.zeros((FOLDS, view.size + 2, view.size + 2)) for view in self._views]
        everybody = (*found.agents, *found.bare)
        self._places = {name: i for i, name in enumerate(everybody)}
        self._unlabelled = np.zeros((len(everybody), d + 1, d + 1))
        self._centre = np.vstack([found.means, *[found.means.mean(axis=0)] * len(found.bare)])
        self._kept: list[list[tuple[Array, Array]]] = [[] for _ in range(m)]
        self._stride = np.maximum(found.rows // max(KEPT_ROWS // m, 20), 1)
        self._position = np.zeros(m, dtype=int)
        self._gaps = np.zeros(m, dtype=int)

    @property
    def fills(self) -> bool:
        """Whether there is a gap to be filled."""
        return any(room is not None for room in self._filled)

    def _check_size(self) -> None:
        """Refuse sums that are too large, with what one fit of all agents takes beside them."""
        size = sum(
            (FOLDS * (1 if room is None else 2) + FIT_STACKS) * (view.size + 2) ** 2 * 8
            for room, view in zip(self._filled, self._views, strict=True)
        )
        if size > MOST_SUMS:
            raise ValueError(
                f"{len(self._views)} agents with up to {max(v.size for v in self._views)} features"
                " are too many for the memory at hand: choose fewer features, or agents that are"
                " fewer"
            )

    def add(self, piece: Piece) -> None:
        """Add a piece."""
        owner = piece.owners(self._places)
        x = encoded(piece, self._found)
        labelled = ~np.isnan(piece.target)
        for i in np.unique(owner[owner >= 0]):
            mine = owner == i
            if self._found.choice.sigma == "unlabelled":
                complete = x[mine & ~labelled]
                complete = complete[~np.isnan(complete).any(axis=1)] - self._centre[i]
                self._unlabelled[i] += _products(complete)
            if i < len(self._views):
                rows = np.flatnonzero(mine & labelled)
                self._add_rows(i, x[rows][:, self._views[i]], piece.target[rows])

    def _add_rows(self, i: int, values: Array, y: Array) -> None:
        """Add labelled rows of an agent: features that it sees (n, k) and targets (n,)."""
        found, view = self._found, self._views[i]
        values, y = values - found.means[i, view], y - found.target_means[i]
        whole = ~np.isnan(values).any(axis=1)
        self._gaps[i] += int((~whole).sum())
        if found.choice.gaps == "drop":
            values, y = values[whole], y[whole]
            whole = np.ones(y.size, dtype=bool)
        number = np.arange(self._position[i], self._position[i] + y.size)
        self._position[i] += y.size
        fold = dealt(number, i, found.choice)
        room = self._filled[i]
        if room is not None:
            values = fill(values, self.covariance[view[:, None], view], fold, room)
        order = np.argsort(fold, kind="stable")
        ends = np.searchsorted(fold[order], np.arange(FOLDS + 1))
        joint = np.concatenate([values, y[:, None]], axis=1)[order]
        for f in range(FOLDS):
            self._folds[i][f] += _products(joint[ends[f] : ends[f + 1]])
        # A residual of a filled row tells of the gap, not of the relation.
        some = whole & (number % self._stride[i] == 0)
        self._kept[i].append((values[some] + found.means[i, view], y[some] + found.target_means[i]))

    def sums(self) -> TableSums:
        """What was added up, after all pieces."""
        found = self._found
        empty = [name for i, name in enumerate(found.agents) if self._position[i] < 2]
        if empty:
            raise ValueError(
                f"{listed(empty)}: fewer than two complete rows are left; fill gaps with the mean,"
                " choose fewer features, or leave the agent out"
            )
        kept = {
            i: (np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts]))
            for i, parts in enumerate(self._kept)
        }
        return TableSums(
            found,
            self._folds,
            self._unlabelled,
            self._filled,
            kept,
            (*found.notes, *self._told_of_gaps()),
        )

    def _told_of_gaps(self) -> list[str]:
        found, gaps = self._found, self._gaps
        if not gaps.any():
            return []
        drops = found.choice.gaps == "drop"
        done = "left out" if drops else "filled with what the rest of the row suggests"
        worst = int((gaps / found.rows).argmax())
        return [
            f"{counted(int(gaps.sum()), 'row')} with a gap in a feature that their agent has:"
            f" {done} (most in {found.agents[worst]}, {gaps[worst]:,} of {found.rows[worst]:,})."
        ]


def effort(table: Table, chosen: TableChoice) -> int:
    """About how large the sums of all agents are, before anything is read: m d^2."""
    d = sum(
        min(table.column(name).distinct or MOST_ONE_HOT, MOST_ONE_HOT)
        if name in chosen.categories
        else 1
        for name in chosen.features
    )
    return (table.column(chosen.agent).distinct or 1) * d * d


def _products(rows: Array) -> Array:
    """Sums of products of (1, rows), shape (k + 1, k + 1)."""
    joint = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
    return joint.T @ joint
