"""Columns of a table that say nothing of their own: copies, sums of others, constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import solve_triangular

from .._base.checks import Array, Indices
from ..core.moments import CONSTANT
from .design import TableSurvey
from .sentences import listed

#: What a column has left of its variance when others are known, below which it says nothing new.
DEPENDENT = 1e-9


def independent(found: TableSurvey, totals: Sequence[Array]) -> tuple[Indices, list[str]]:
    """Columns that say something of their own, and sentences about the others.

    A column is left out if in every agent that sees it, it is determined by columns before it.
    """
    views, names = found.views, [feature.name for feature in found.features]
    spreads = []
    for total in totals:
        about = total[1:-1, 1:-1] - np.outer(total[0, 1:-1], total[0, 1:-1]) / total[0, 0]
        deviation = np.sqrt(np.maximum(np.diagonal(about), 0.0))
        # A mean far from 0 leaves rounding where a column is constant.
        deviation[np.diagonal(about) <= CONSTANT * np.diagonal(total)[1:-1]] = 0.0
        safe = np.where(deviation > 0, deviation, 1.0)
        spreads.append((about / np.outer(safe, safe), deviation > 0, total[0, 0]))
    chosen: list[int] = []
    notes: list[str] = []
    factors: list[tuple[Array, list[int]]] = [(np.zeros((0, 0)), []) for _ in views]
    for j, name in enumerate(names):
        judged: list[tuple[float, int, Array]] = []
        additions: list[tuple[int, Array, float]] = []
        varies = False
        for i, view in enumerate(views):
            place = np.flatnonzero(view == j)
            if not place.size:
                continue
            correlation, moving, n = spreads[i]
            here = int(place[0])
            if not moving[here]:
                continue
            varies = True
            factor, members = factors[i]
            row: Array = np.zeros(0)
            if members:
                row = solve_triangular(factor, correlation[members, here], lower=True)
            left = 1.0 - float(row @ row)
            if n > 2 * (len(members) + 2):
                judged.append((left, i, row))
            additions.append((i, row, left))
        if not varies:
            notes.append(f"{name} does not vary within any agent: left out.")
            continue
        if judged and all(left < DEPENDENT for left, _, _ in judged):
            notes.append(_explained(names, views, spreads, factors, judged, j))
            continue
        chosen.append(j)
        for i, row, left in additions:
            if left < DEPENDENT:
                continue
            factor, members = factors[i]
            grown = np.zeros((len(members) + 1, len(members) + 1))
            grown[:-1, :-1], grown[-1, :-1], grown[-1, -1] = factor, row, np.sqrt(left)
            factors[i] = (grown, [*members, int(np.flatnonzero(views[i] == j)[0])])
    if not chosen:
        raise ValueError("no chosen feature varies within any agent: choose others")
    return np.array(chosen, dtype=np.intp), notes


def _explained(
    names: Sequence[str],
    views: Sequence[Indices],
    spreads: Sequence[tuple[Array, np.ndarray, float]],
    factors: Sequence[tuple[Array, list[int]]],
    judged: Sequence[tuple[float, int, Array]],
    column: int,
) -> str:
    """Why a column says nothing new: the columns that determine it in some agent."""
    _, i, row = judged[0]
    factor, members = factors[i]
    weights = solve_triangular(factor.T, row, lower=False)
    used = [
        names[views[i][member]]
        for member, weight in zip(members, weights, strict=True)
        if abs(weight) > 1e-3
    ]
    if len(used) == 1:
        return f"{names[column]} says the same as {used[0]} (a multiple of it): left out."
    return f"{names[column]} follows exactly from {listed(used, 4)}: left out."
