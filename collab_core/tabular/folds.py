"""Rows dealt into folds, the same however the table is read."""

from __future__ import annotations

import numpy as np

from .choice import TableChoice

#: Groups into which every agent's rows are dealt; splits hold out some of them.
FOLDS = 20


def dealt(number: np.ndarray, agent: int, chosen: TableChoice) -> np.ndarray:
    """The fold of an agent's rows, given how many came before each; any pieces give the same.

    In turn, or every twenty rows dealt by a shuffle of their own.
    """
    turn = number % FOLDS
    if not chosen.shuffle or not number.size:
        return turn
    first, last = number[0] // FOLDS, number[-1] // FOLDS
    keys = np.arange(first * FOLDS, (last + 1) * FOLDS, dtype=np.uint64)
    mixed = _mixed(keys + np.uint64((chosen.seed * 1_000_003 + int(agent)) * 2**32 % 2**63))
    shuffles = np.argsort(mixed.reshape(-1, FOLDS), axis=1, kind="stable")
    return shuffles[number // FOLDS - first, turn]


def _mixed(keys: np.ndarray) -> np.ndarray:
    """Scramble 64-bit numbers (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
