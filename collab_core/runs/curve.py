"""One curve for every run: errors of methods along something that grows, over paired trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from .._base.checks import Array
from .._base.intervals import gap_interval, mean_interval, ratio_interval
from ..core.target import Target

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}

#: Two ways to the same estimate differ by rounding: by less than this share.
ROUNDING = 1e-8


@dataclass(frozen=True)
class Curve:
    """Errors of methods along a grid, over trials in which all of them met the same data.

    Attributes
    ----------
    axis : str
        What the grid holds, and the name of its column: ``"n"``, ``"value"``.
    grid : tuple of numbers
    methods : tuple of str
    errors : dict
        ``errors[method][at]``: of all finished trials, shape (trials,). Methods that could not be
        computed somewhere have no entry there.
    notes : dict
        ``notes[method, at]``: why an entry is missing, or who was left out of it.
    trials : int
        Asked for.
    partial : bool
        Whether there are more to come, or the run was stopped before all were done.
    target : Target
        Whose model.
    irreducible : float
        What unseen features cost the target forever; not part of the errors.
    is_gaussian : bool
        Whether features are Gaussian, so that exact formulas apply.
    theory_of : callable, optional
        Errors that formulas give a method, one per place of the grid; asked once a method.
    better : {-1, 1}
        Whether less is better, as of errors, or more, as of accuracy.
    """

    axis: str
    grid: tuple[float, ...]
    methods: tuple[str, ...]
    errors: Mapping[str, Mapping[float, Array]] = field(repr=False)
    notes: Mapping[tuple[str, float], str] = field(repr=False)
    trials: int
    partial: bool
    target: Target = field(default_factory=Target)
    irreducible: float = 0.0
    is_gaussian: bool = True
    theory_of: Callable[[str], list[float | None]] | None = field(
        default=None, repr=False, compare=False
    )
    better: int = -1

    @property
    def sample_sizes(self) -> tuple[int, ...]:
        """The grid, where it is of n."""
        return tuple(int(n) for n in self.grid)

    @property
    def done(self) -> int:
        """Trials that are finished somewhere on the grid."""
        sizes = (found.size for by_place in self.errors.values() for found in by_place.values())
        return max(sizes, default=0)

    def at(self, method: str, place: float) -> Array:
        """Errors of the trials so far, shape (trials,); empty where there are none."""
        return self.errors.get(method, {}).get(place, np.empty(0))

    def mean(self, method: str, at: float) -> float | None:
        """Mean error of a method over the trials so far, or None where there is none."""
        errors = self.at(method, at)
        return float(errors.mean()) if errors.size else None

    def compare(self, method: str, other: str, at: float) -> int | None:
        """Whether a method is better (1) or worse (-1) than another somewhere, or neither (0).

        Decided by the 95% interval of the mean difference: the trials are paired. A single trial
        decides nothing. None where either is missing.
        """
        mine, theirs = self.at(method, at), self.at(other, at)
        if mine.shape != theirs.shape or not mine.size:
            return None
        if np.abs(mine - theirs).max() <= ROUNDING * np.abs(theirs).max():
            return 0
        _, low, high = gap_interval(mine, theirs)
        return 0 if low <= 0 <= high else self.better * int(np.sign(low))

    def ahead_from(self, method: str, other: str) -> float | None:
        """The place from which on ``method`` is better than ``other`` (`compare`) to the end.

        Places at which either is missing say nothing. None where it is not ahead at the last one.
        """
        found = None
        for place in reversed(self.grid):
            sign = self.compare(method, other, place)
            if sign is None:
                continue
            if sign <= 0:
                break
            found = place
        return found

    def relative_to(self, method: str) -> pd.DataFrame:
        """Mean errors over those of one method, on the same trials, a row per place and method.

        Returns
        -------
        DataFrame
            The axis, ``method``, ``ratio`` with its 95% interval ``low`` and ``high``, ``theory``
            (the ratio of the formulas) and ``trials``. What does not exist is ``<NA>``.
        """
        rows = []
        base = self.theory(method)
        for key in [key for key in self.methods if key != method]:
            for place, mine, theirs in zip(self.grid, self.theory(key), base, strict=True):
                errors = self.at(key, place)
                ratio = ratio_interval(errors, self.at(method, place))
                row: dict[str, object] = {self.axis: place, "method": key}
                row |= dict(zip(("ratio", "low", "high"), ratio, strict=True))
                row["theory"] = mine / theirs if mine is not None and theirs else pd.NA
                rows.append(row | {"trials": int(errors.size)})
        names = [self.axis, "method", "ratio", "low", "high", "theory", "trials"]
        numbers = dict.fromkeys(["ratio", "low", "high", "theory"], "Float64")
        return pd.DataFrame(rows, columns=names).astype(numbers)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per place and method.

        Columns: the axis, ``method``, ``mean``, ``low``, ``high`` (95% interval of the mean over
        trials), ``q05``, ``q25``, ``median``, ``q75``, ``q95`` (of the trials), ``theory``,
        ``trials`` and ``note``. What does not exist is ``<NA>``, never NaN or infinity, and
        ``note`` says why.
        """
        rows = [
            self._row(method, place, theory)
            for method in self.methods
            for place, theory in zip(self.grid, self.theory(method), strict=True)
        ]
        numbers = ["mean", "low", "high", *QUANTILES, "theory"]
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "Float64"))

    def _row(self, method: str, place: float, theory: float | None) -> dict[str, object]:
        errors = self.at(method, place)
        row: dict[str, object] = {self.axis: place, "method": method}
        row |= dict.fromkeys(("mean", "low", "high", *QUANTILES), pd.NA)
        if errors.size:
            row["mean"], row["low"], row["high"] = mean_interval(errors)
            row |= {name: float(np.quantile(errors, q)) for name, q in QUANTILES.items()}
        # Where a method does not exist, a formula for large n says nothing about it.
        exists = errors.size or (method, place) not in self.notes
        row["theory"] = theory if theory is not None and exists else pd.NA
        return row | {"trials": int(errors.size), "note": self.notes.get((method, place), "")}

    def theory(self, method: str) -> list[float | None]:
        """What formulas say of a method, one entry per place; None where none is known."""
        return [None] * len(self.grid) if self.theory_of is None else self.theory_of(method)
