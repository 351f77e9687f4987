"""What a run of logistic models found for a target: a curve a measure, whole or partial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from .._base.checks import Array
from .._base.intervals import gap_interval, mean_interval
from ..runs.curve import Curve
from . import methods as registry
from .measures import measure_of
from .trouble import COUNTS, Trouble

NUMBERS = ("mean", "low", "high", "gap", "gap_low", "gap_high", "best")


@dataclass(frozen=True)
class MeasureCurve(Curve):
    """One measure of every method against n, which ``errors`` holds.

    Attributes
    ----------
    measure : str
        One of `MEASURES`.
    best : float, optional
        What no model of these features can beat; None where that is not known.
    trouble : dict
        By n, `Trouble`.
    bins : dict
        ``bins[method, n]``, `reliability`'s sums over all trials, shape (3, bins).
    """

    measure: str = "log_loss"
    best: float | None = None
    trouble: Mapping[int, Trouble] = field(default_factory=dict)
    bins: Mapping[tuple[str, int], Array] = field(default_factory=dict, repr=False)

    def at(self, method: str, place: float) -> Array:
        """The measure in the trials so far, shape (trials,); a misspelt method is refused."""
        return super().at(registry.get(method).key, place)

    @property
    def done_at(self) -> dict[int, int]:
        """Trials that are done at each n; a run that was stopped can have fewer at larger ones."""
        return {n: max(self.at(key, n).size for key in self.methods) for n in self.sample_sizes}

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per n and method.

        Columns ``n``, ``method``, ``mean``, ``low`` and ``high`` (95% interval of the mean over
        trials), ``gap``, ``gap_low`` and ``gap_high`` (to "local", by paired trials), ``best``
        (<NA> where not known), ``trials``, ``note``, and counts of what went wrong (see `Trouble`):
        ``fits`` of all agents with ``fits_ridge``, ``fits_one_class`` and ``fits_stuck`` of them,
        and ``ridge`` and ``stuck`` of the method's own ``trials`` answers.
        """
        rows = [self._numbers(key, n) for key in self.methods for n in self.sample_sizes]
        return pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "Float64"))

    def _numbers(self, method: str, n: int) -> dict[str, object]:
        row: dict[str, object] = {"n": n, "method": method}
        row |= dict.fromkeys(NUMBERS, pd.NA)
        mine, alone = self.at(method, n), self.at("local", n)
        if mine.size:
            row["mean"], row["low"], row["high"] = mean_interval(mine)
        if mine.size > 1 and mine.shape == alone.shape:
            row["gap"], row["gap_low"], row["gap_high"] = gap_interval(mine, alone)
        row["best"] = pd.NA if self.best is None else self.best
        row["trials"] = int(mine.size)
        row["note"] = self.notes.get((method, n), "")
        return row | self.trouble.get(n, Trouble()).counts(method)

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


class Measured(dict[str, MeasureCurve]):
    """What a run found for one target, by measure: ``found["accuracy"]`` is a curve."""

    def __missing__(self, measure: str) -> MeasureCurve:
        raise ValueError(f"{measure_of(measure).label} was not measured")

    def table(self) -> pd.DataFrame:
        """All measures' frames in one, with a first column ``measure``."""
        return pd.concat(
            [curve.frame.assign(measure=key) for key, curve in self.items()], ignore_index=True
        )[["measure", "n", "method", *NUMBERS, "trials", "note", *COUNTS]]
