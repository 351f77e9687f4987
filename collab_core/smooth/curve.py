"""Measures of every method against n, over paired trials: a run's result, whole or partial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from .._base.checks import Array
from .._base.intervals import mean_interval
from . import methods as registry
from .measures import MEASURES, measure_of, paired
from .trouble import COUNTS, Trouble

NUMBERS = ("mean", "low", "high", "gap", "gap_low", "gap_high", "best")


@dataclass(frozen=True)
class Curve:
    """Measures of every method against n, over paired trials.

    Attributes
    ----------
    target : "full" or int
        All features, or an agent's.
    sample_sizes : tuple of int
    methods : tuple of str
    values : dict
        ``values[measure, method, n]``, shape (trials,).
    bins : dict
        ``bins[method, n]``, `reliability`'s sums over all trials, shape (3, bins).
    trouble : dict
        By n, `Trouble`.
    notes : dict
        ``notes[method, n]``: why an entry is missing.
    best : dict
        By measure, what no model of these features can beat; empty where that is not known.
    trials : int
        Asked for.
    partial : bool
        Whether the run was stopped before all trials were done.
    """

    target: object
    sample_sizes: tuple[int, ...]
    methods: tuple[str, ...]
    values: Mapping[tuple[str, str, int], Array] = field(repr=False)
    bins: Mapping[tuple[str, int], Array] = field(repr=False)
    trouble: Mapping[int, Trouble]
    notes: Mapping[tuple[str, int], str]
    best: Mapping[str, float]
    trials: int
    partial: bool

    @property
    def done(self) -> int:
        """Trials that are done."""
        return max((values.size for values in self.values.values()), default=0)

    @property
    def done_at(self) -> dict[int, int]:
        """Trials that are done at each n; a run that was stopped can have fewer at larger ones."""
        return {
            n: max((v.size for (_, _, size), v in self.values.items() if size == n), default=0)
            for n in self.sample_sizes
        }

    def mean(self, method: str, n: int, measure: str = "log_loss") -> float | None:
        """Mean over the trials so far, or None where there is none."""
        found = self._values(method, n, measure)
        return None if found is None or not found.size else float(found.mean())

    def _values(self, method: str, n: int, measure: str) -> Array | None:
        """Of the trials so far, (trials,); a key that does not exist is refused."""
        return self.values.get((measure_of(measure).key, registry.get(method).key, n))

    def gap(
        self, method: str, other: str, n: int, measure: str = "log_loss"
    ) -> tuple[float, float, float] | None:
        """Mean of ``method - other`` at n with its 95% interval, the trials being paired."""
        mine, theirs = (self._values(key, n, measure) for key in (method, other))
        if mine is None or theirs is None or mine.shape != theirs.shape or not mine.size:
            return None
        return paired(mine, theirs)

    def compare(
        self, method: str, other: str, n: int, measure: str = "log_loss"
    ) -> int | None:  # fmt: skip
        """Whether ``method`` is better (1) or worse (-1) than ``other`` at n, or neither (0).

        By the 95% interval of the paired difference, which holds 0 where neither is. Better is
        less or more, as the measure has it. None where either is missing.
        """
        found = self.gap(method, other, n, measure)
        if found is None:
            return None
        mine, theirs = (self.values[measure, key, n] for key in (method, other))
        # Two ways to the same model differ by rounding.
        if np.abs(mine - theirs).max() <= 1e-9 * max(float(np.abs(theirs).max()), 1e-3):
            return 0
        _, low, high = found
        return 0 if low <= 0 <= high else measure_of(measure).better * int(np.sign(low))

    def ahead_from(self, method: str, other: str, measure: str = "log_loss") -> int | None:
        """The n from which on ``method`` is better than ``other`` at every n of the grid.

        None where it is not better at the last n.
        """
        found = None
        for n in reversed(self.sample_sizes):
            sign = self.compare(method, other, n, measure)
            if sign is None:
                continue
            if sign <= 0:
                break
            found = n
        return found

    def frame(self, measure: str = "log_loss") -> pd.DataFrame:
        """A row per n and method.

        Columns ``n``, ``method``, ``mean``, ``low`` and ``high`` (95% interval of the mean over
        trials), ``gap``, ``gap_low`` and ``gap_high`` (to "local", by paired trials), ``best``
        (<NA> where not known), ``trials``, ``note``, and counts of what went wrong (see `Trouble`):
        ``fits`` of all agents with ``fits_ridge``, ``fits_one_class`` and ``fits_stuck`` of them,
        and ``ridge`` and ``stuck`` of the method's own ``trials`` answers.
        """
        rows = [self._row(key, n, measure) for key in self.methods for n in self.sample_sizes]
        return pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "Float64"))

    def _row(self, method: str, n: int, measure: str) -> dict[str, object]:
        row: dict[str, object] = {"n": n, "method": method}
        row |= dict.fromkeys(NUMBERS, pd.NA)
        found = self._values(method, n, measure)
        trials = 0 if found is None else found.size
        if found is not None and trials:
            row["mean"], row["low"], row["high"] = mean_interval(found)
        gap = self.gap(method, "local", n, measure)
        if gap is not None and trials > 1:
            row["gap"], row["gap_low"], row["gap_high"] = gap
        row["best"] = self.best.get(measure, pd.NA)
        row["trials"] = trials
        row["note"] = self.notes.get((method, n), "")
        return row | self.trouble.get(n, Trouble()).counts(method)

    def table(self) -> pd.DataFrame:
        """All measures' frames in one, with a first column ``measure``."""
        return pd.concat(
            [self.frame(key).assign(measure=key) for key in MEASURES], ignore_index=True
        )[["measure", "n", "method", *NUMBERS, "trials", "note", *COUNTS]]

    def reliability_frame(self, n: int) -> pd.DataFrame:
        """Reliability at n, a row per method and bin that has test samples.

        Columns ``method``, ``bin``, ``predicted`` (mean probability), ``observed`` (share of ones)
        and ``share`` (of all predictions).
        """
        rows = []
        for method in self.methods:
            sums = self.bins.get((method, n))
            if sums is None:
                continue
            for j in np.flatnonzero(sums[0] > 0):
                rows.append(
                    {
                        "method": method,
                        "bin": int(j),
                        "predicted": float(sums[1, j] / sums[0, j]),
                        "observed": float(sums[2, j] / sums[0, j]),
                        "share": float(sums[0, j] / sums[0].sum()),
                    }
                )
        return pd.DataFrame(rows, columns=["method", "bin", "predicted", "observed", "share"])
