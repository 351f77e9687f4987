"""What went wrong in fits, counted: separated classes, one class alone, no convergence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

#: Columns of a table that say what went wrong: of all agents' own fits, and of the row's method.
COUNTS = ("fits", "fits_ridge", "fits_one_class", "fits_stuck", "ridge", "stuck")


@dataclass(frozen=True)
class Trouble:
    """What went wrong in the fits at one n, over all trials so far.

    Attributes
    ----------
    fits : int
        The agents' own fits.
    regularised, one_class, unfinished : int
        Those without a finite best model, those with labels of one class, and those that did not
        converge even with a ridge.
    ridge : dict
        By method, answers that are themselves a ridge's (or an intercept, for labels of one class).
    stuck : dict
        By method, answers that did not converge.
    """

    fits: int = 0
    regularised: int = 0
    one_class: int = 0
    unfinished: int = 0
    ridge: Mapping[str, int] = field(default_factory=dict)
    stuck: Mapping[str, int] = field(default_factory=dict)

    @property
    def all_plain(self) -> bool:
        """Whether every agent's own fit is the finite minimum of its loss."""
        return not (self.regularised or self.one_class or self.unfinished)

    def counts(self, method: str) -> dict[str, int]:
        """The columns `COUNTS` of a method's row."""
        found = (
            self.fits, self.regularised, self.one_class, self.unfinished,
            self.ridge.get(method, 0), self.stuck.get(method, 0),
        )  # fmt: skip
        return dict(zip(COUNTS, found, strict=True))

    def __add__(self, other: Trouble) -> Trouble:
        return Trouble(
            self.fits + other.fits,
            self.regularised + other.regularised,
            self.one_class + other.one_class,
            self.unfinished + other.unfinished,
            _sum(self.ridge, other.ridge),
            _sum(self.stuck, other.stuck),
        )


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}


def trouble_of(frame: pd.DataFrame) -> dict[int, Trouble]:
    """`MeasureCurve.trouble` again, of a frame of one measure."""
    found = {}
    for n in sorted({int(n) for n in frame["n"]}):
        rows = frame[frame["n"] == n]
        fits = [int(rows[name].iloc[0]) for name in COUNTS[:4]]
        ridge, stuck = (
            {str(key): int(count) for key, count in zip(rows["method"], rows[name], strict=True)}
            for name in COUNTS[4:]
        )
        found[n] = Trouble(fits[0], fits[1], fits[2], fits[3], ridge, stuck)
    return found
