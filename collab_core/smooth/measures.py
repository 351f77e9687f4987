"""How good probabilities are: log-loss, accuracy and calibration, with paired comparisons.

Everything is computed from linear predictors, so that no probability of exactly 0 or 1 is ever
taken the logarithm of. Labels may be true probabilities where those are known: the average is then
over labels too, without their noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import t as student

from .._base.checks import Array, choice
from ..runs.simulate import mean_interval
from .losses import LOGISTIC

#: Equally wide bins of the predicted probability.
BINS = 10

NUMBERS = ("mean", "low", "high", "gap", "gap_low", "gap_high", "best")

#: Columns of a table that say what went wrong: of all agents' own fits, and of the row's method.
COUNTS = ("fits", "fits_ridge", "fits_one_class", "fits_stuck", "ridge", "stuck")


@dataclass(frozen=True)
class Measure:
    """A measure of predictions.

    Attributes
    ----------
    key, label : str
    better : {-1, 1}
        Whether less or more is better.
    """

    key: str
    label: str
    better: int


MEASURES: dict[str, Measure] = {
    measure.key: measure
    for measure in (
        Measure("log_loss", "log-loss", -1),
        Measure("accuracy", "accuracy", 1),
        Measure("calibration", "calibration error", -1),
    )
}


def log_loss(eta: Array, label: Array) -> Array:
    """Mean log-loss over test samples, shapes (..., N) -> (...)."""
    return LOGISTIC.value(label, eta).mean(axis=-1)


def accuracy(eta: Array, label: Array) -> Array:
    """Share of test samples (..., N) whose more probable class is theirs, (...)."""
    right: Array = np.where(eta > 0, label, 1 - label)
    return right.mean(axis=-1)


def reliability(eta: Array, label: Array, bins: int = BINS) -> Array:
    """Samples, predicted ones and real ones in equally wide bins of probability.

    Parameters
    ----------
    eta, label : array, shape (..., N)

    Returns
    -------
    array, shape (..., 3, bins)
        Sums over the test samples in a bin: of 1, of the probability, of the label.
    """
    leading, n = eta.shape[:-1], eta.shape[-1]
    p = np.asarray(expit(eta)).reshape(-1, n)
    known = np.broadcast_to(label, eta.shape).reshape(-1, n)
    place = np.minimum((p * bins).astype(np.intp), bins - 1)
    place += bins * np.arange(len(p))[:, None]
    sums = [
        np.bincount(place.ravel(), weights=weight.ravel(), minlength=bins * len(p))
        for weight in (np.ones_like(p), p, known)
    ]
    stacked = np.stack([one.reshape(-1, bins) for one in sums], axis=1)
    return stacked.reshape(*leading, 3, bins).astype(np.float64)


def calibration_error(sums: Array) -> Array:
    """Expected calibration error of `reliability`'s sums, shape (...).

    The gap between predicted and real share of ones in a bin, averaged over samples.
    """
    return np.abs(sums[..., 1, :] - sums[..., 2, :]).sum(axis=-1) / sums[..., 0, :].sum(axis=-1)


def overconfidence(sums: Array) -> float:
    """How much surer predictions are than they may be, on average, of `reliability`'s sums.

    Mean over samples of how far the predicted probability lies beyond the real share of ones of
    its bin, away from 1/2. Negative where predictions are too timid.
    """
    away = np.sign(np.arange(sums.shape[-1]) + 0.5 - sums.shape[-1] / 2)
    return float(((sums[1] - sums[2]) * away).sum() / sums[0].sum())


def measured(eta: Array, label: Array) -> tuple[dict[str, Array], Array]:
    """Every measure (...), and `reliability`'s sums (..., 3, bins)."""
    sums = reliability(eta, label)
    found = {
        "log_loss": log_loss(eta, label),
        "accuracy": accuracy(eta, label),
        "calibration": calibration_error(sums),
    }
    return found, sums


def paired(mine: Array, theirs: Array) -> tuple[float, float, float]:
    """Mean of ``mine - theirs`` over paired trials with its 95% interval by Student's t.

    With one trial the interval is all numbers.
    """
    gap = mine - theirs
    mean = float(gap.mean())
    if gap.size < 2:
        return mean, -np.inf, np.inf
    half = float(student.ppf(0.975, gap.size - 1) * gap.std(ddof=1) / np.sqrt(gap.size))
    return mean, mean - half, mean + half


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
    """`Curve.trouble` again, of a frame of one measure."""
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
        found = self.values.get((measure, method, n))
        return None if found is None or not found.size else float(found.mean())

    def gap(
        self, method: str, other: str, n: int, measure: str = "log_loss"
    ) -> tuple[float, float, float] | None:
        """Mean of ``method - other`` at n with its 95% interval, the trials being paired."""
        mine, theirs = (self.values.get((measure, key, n)) for key in (method, other))
        if mine is None or theirs is None or mine.shape != theirs.shape or not mine.size:
            return None
        return paired(mine, theirs)

    def compare(
        self, method: str, other: str, n: int, measure: str = "log_loss"
    ) -> int | None:  # fmt: skip
        """Whether a method is better (1) or worse (-1) than another at n, or neither (0).

        By the 95% interval of the paired difference. None where either is missing.
        """
        found = self.gap(method, other, n, measure)
        if found is None:
            return None
        better = MEASURES[choice("measure", measure, tuple(MEASURES))].better
        mine, theirs = (self.values[measure, key, n] for key in (method, other))
        # Two ways to the same model differ by rounding.
        if np.abs(mine - theirs).max() <= 1e-9 * max(float(np.abs(theirs).max()), 1e-3):
            return 0
        _, low, high = found
        return 0 if low <= 0 <= high else better * int(np.sign(low))

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
        choice("measure", measure, tuple(MEASURES))
        rows = []
        for method in self.methods:
            for n in self.sample_sizes:
                row: dict[str, object] = {"n": n, "method": method}
                row |= dict.fromkeys(NUMBERS, pd.NA)
                found = self.values.get((measure, method, n), np.empty(0))
                if found.size:
                    row["mean"], row["low"], row["high"] = mean_interval(found)
                gap = self.gap(method, "local", n, measure)
                if gap is not None and found.size > 1:
                    row["gap"], row["gap_low"], row["gap_high"] = gap
                row["best"] = self.best.get(measure, pd.NA)
                row["trials"] = int(found.size)
                row["note"] = self.notes.get((method, n), "")
                said = self.trouble.get(n, Trouble())
                counts = (
                    said.fits, said.regularised, said.one_class, said.unfinished,
                    said.ridge.get(method, 0), said.stuck.get(method, 0),
                )  # fmt: skip
                row |= dict(zip(COUNTS, counts, strict=True))
                rows.append(row)
        return pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "Float64"))

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


@dataclass
class Part:
    """What one chunk of trials found, of one target."""

    values: dict[tuple[str, str, int], Array] = field(default_factory=dict)
    bins: dict[tuple[str, int], Array] = field(default_factory=dict)
    trouble: dict[int, Trouble] = field(default_factory=dict)
    notes: dict[tuple[str, int], str] = field(default_factory=dict)
    finished: bool = False

    def add(self, method: str, n: int, eta: Array, label: Array) -> None:
        """Measure predictors (trials, N) of a method at n."""
        found, sums = measured(eta, label)
        for measure, values in found.items():
            self.values[measure, method, n] = values
        self.bins[method, n] = sums.sum(axis=0)

    def take(self, other: Part) -> None:
        """Add what another part found, at other n."""
        self.values |= other.values
        self.bins |= other.bins
        self.trouble |= other.trouble
        self.notes |= other.notes


def gathered(
    parts: Mapping[int, Part],
    *,
    target: object,
    sample_sizes: tuple[int, ...],
    methods: tuple[str, ...],
    best: Mapping[str, float],
    trials: int,
    partial: bool,
) -> Curve:
    """Put chunks together, in their order whatever order they finished in.

    What could not be had in some trials is left out of all: an average over the rest would be one
    over chosen trials.
    """
    values: dict[tuple[str, str, int], list[Array]] = {}
    bins: dict[tuple[str, int], Array] = {}
    trouble: dict[int, Trouble] = {}
    notes: dict[tuple[str, int], str] = {}
    for index in sorted(parts):
        part = parts[index]
        for key, found in part.values.items():
            values.setdefault(key, []).append(found)
        for where, sums in part.bins.items():
            bins[where] = bins[where] + sums if where in bins else sums
        for n, said in part.trouble.items():
            trouble[n] = trouble.get(n, Trouble()) + said
        notes |= part.notes
    values = {key: found for key, found in values.items() if key[1:] not in notes}
    bins = {key: sums for key, sums in bins.items() if key not in notes}
    return Curve(
        target=target,
        sample_sizes=sample_sizes,
        methods=methods,
        values={key: np.concatenate(found) for key, found in values.items()},
        bins=bins,
        trouble=trouble,
        notes=notes,
        best=best,
        trials=trials,
        partial=partial,
    )
