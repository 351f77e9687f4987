"""Gaps in a row, filled with the mean given what the row does have, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

import numpy as np

from .._base.checks import Array
from ..core.sigma import completed, steadied
from .design import TableSurvey, encoded
from .folds import FOLDS
from .pieces import pieces
from .table import Table


@dataclass(frozen=True, eq=False)
class Filled:
    """What is to be known of an agent whose gaps were filled.

    Attributes
    ----------
    lost : array, shape (R, k, k)
        Sums of the covariance that what was filled in, being a mean, does not have.
    own : array, shape (R, 3, k)
        Of what was there: how many, their sums and sums of squares.
    """

    lost: Array
    own: Array

    @classmethod
    def nothing(cls, k: int) -> Filled:
        """Zeros for every fold."""
        return cls(np.zeros((FOLDS, k, k)), np.zeros((FOLDS, 3, k)))

    def some(self, columns: np.ndarray, unit: Array) -> Filled:
        """Some columns, in other units."""
        powers = np.stack([np.ones(len(columns)), unit, unit**2])
        lost = self.lost[:, columns[:, None], columns] / np.outer(unit, unit)
        return Filled(lost, self.own[:, :, columns] / powers)

    def over(self, keep: Array) -> Filled:
        """Sums over folds, given by 0 and 1, shape (R, F)."""
        return Filled(np.tensordot(keep, self.lost, axes=1), np.tensordot(keep, self.own, axes=1))

    @property
    def varies(self) -> np.ndarray:
        """Whether a column varied before anything was filled in, shape (R, k)."""
        count, total, squares = np.moveaxis(self.own, 1, 0)
        return squares - total**2 / np.maximum(count, 1) > 1e-12 * squares


def room_of(found: TableSurvey, agent: int) -> Filled | None:
    """Room for what is to be known of filling an agent's gaps, if there is any to be done."""
    gap = found.seen[agent] & (found.present[agent] < found.rows[agent])
    if found.choice.gaps == "drop" or not gap.any():
        return None
    return Filled.nothing(found.views[agent].size)


def pairwise(
    table: Table,
    found: TableSurvey,
    progress: Callable[[float], None] | None,
    cancel: Event | None,
) -> Array:
    """Covariance within agents, every entry over the rows that have both, shape (d, d).

    Over all rows with a target, held-out ones too: of their features only, and for gaps only.
    """
    d, views = len(found.features), found.views
    total, count = np.zeros((d, d)), np.zeros((d, d))
    places = {name: i for i, name in enumerate(found.agents)}
    for piece in pieces(table, found.choice, progress, cancel):
        owner = np.where(np.isnan(piece.target), -1, piece.owners(places))
        x = encoded(piece, found)
        for i in np.unique(owner[owner >= 0]):
            view = views[i]
            values = x[owner == i][:, view] - found.means[i, view]
            there = ~np.isnan(values)
            values = np.where(there, values, 0.0)
            total[view[:, None], view] += values.T @ values
            count[view[:, None], view] += there.astype(float).T @ there
    _refuse_apart(found, count)
    matrix = total / np.maximum(count, 1)
    flat = np.diagonal(matrix) <= 0
    matrix[flat, flat] = 1.0
    known_pairs = count > 1
    if known_pairs.all():
        return steadied(matrix)
    return completed(matrix, known_pairs | np.eye(d, dtype=bool))


def _refuse_apart(found: TableSurvey, count: Array) -> None:
    """Refuse to fill gaps between columns that agents see both, but never in the same row."""
    for view in found.views:
        block = count[view[:, None], view]
        have = np.diagonal(block) > 1
        apart = np.argwhere((block <= 1) & have[:, None] & have)
        if apart.size:
            first, second = (found.features[view[place]].source for place in apart[0])
            raise ValueError(
                f"no two rows have both {first} and {second}, so gaps in one cannot be filled in"
                " from the other: take one of them out of the features"
            )


def fill(values: Array, covariance: Array, fold: np.ndarray, told: Filled) -> Array:
    """Rows about their agent's means, gaps filled with the mean given what a row has, (n, k).

    Parameters
    ----------
    covariance : array, shape (k, k)
    fold : integer array, shape (n,)
    told : Filled
        Gets what was there, and the covariance of what rows lack given what they have, by fold.
    """
    there = np.where(np.isnan(values), 0.0, values)
    for place, what in enumerate((~np.isnan(values), there, there**2)):
        np.add.at(told.own[:, place], fold, what)
    kinds, kind = np.unique(np.isnan(values), axis=0, return_inverse=True)
    filled = values.copy()
    for number, lacks in enumerate(kinds):
        if not lacks.any():
            continue
        has, gap = np.flatnonzero(~lacks), np.flatnonzero(lacks)
        rows = np.flatnonzero(kind.reshape(-1) == number)
        slopes = conditional_slopes(covariance, has, gap)
        filled[rows[:, None], gap] = values[rows[:, None], has] @ slopes
        often = np.bincount(fold[rows], minlength=FOLDS)
        left = covariance[gap[:, None], gap] - covariance[gap[:, None], has] @ slopes
        told.lost[:, gap[:, None], gap] += often[:, None, None] * left
    return filled


def conditional_slopes(covariance: Array, has: np.ndarray, gap: np.ndarray) -> Array:
    """Of the mean of some features given others, shape (len(has), len(gap))."""
    across = covariance[has[:, None], gap]
    return np.linalg.lstsq(covariance[has[:, None], has], across, rcond=None)[0]
