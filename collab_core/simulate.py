"""Simulation: a problem, sample sizes and trials in; errors with intervals out.

Work is cut into chunks of trials with independent seeds spawned from one, so the numbers are the
same bits for any number of threads and on any executor that has ``submit``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cached_property
from functools import partial as partial_of
from threading import Event
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.stats import t as student

from . import bounds, estimators
from . import sigma as sigma_module
from ._blas import single_threaded_blas
from ._checks import Array, choice, fraction, whole
from .draws import Collecting, CollectingModels, Sources, StoppedError, gaussian_sums, raw_sums
from .estimate import Estimate, LeftOut, NaiveEstimate, NotEstimableError
from .geometry import Geometry
from .laws import FeatureLaw, Law, square_root
from .methods import METHODS, WEIGHTINGS
from .moments import AgentData, LocalFit, Moments, fit_together
from .problem import Problem
from .scenario import Scenario
from .theory import Target, expected_errors
from .weights import score_covariances, scores_of_law, weights_of

#: Methods of a run that names none. Local imputation is left out: it is COLLAB by another way.
DEFAULT_METHODS = tuple(key for key in METHODS if key != "local_imputation")

#: What an agent's own model can be compared by; the optimised weights need full-feature samples.
AGENT_METHODS = tuple(key for key in METHODS if key != "optimized_naive_collab")

#: Numbers per array in a chunk of trials: small enough to stay near the processor and to stop soon.
CHUNK_NUMBERS = 600_000

#: Numbers that a chunk multiplies out where samples are drawn one by one: under a second's work.
CHUNK_PRODUCTS = 100_000_000

#: Drawing a number of a raw sample takes as long as multiplying out so many.
DRAWN = 8

#: Draws of the trials from which the range of a break-even is taken.
RESAMPLES = 400

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}

SIGMA_MODES = ("known", "unlabelled", "pooled")


class HasSubmit(Protocol):
    """Any executor: threads here, ``Client.get_executor()`` of dask.distributed on a cluster."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a world is simulated and what estimators are told.

    Parameters
    ----------
    features : str or Law
        Law of the features, such as ``"gaussian"`` or ``"student_t(5)"``.
    sigma : {"known", "unlabelled", "pooled"}
        Whether estimators know the covariance, estimate it from unlabelled samples (drawn anew in
        every trial), or pool it from the agents' own.
    unlabelled : int
        Number of unlabelled samples: at least d if the covariance comes from them.
    weights : {"empirical", "population"}
        COLLAB's weights, Gaussian or optimal.
    correction : bool
        Small-sample correction of the residuals, ``RSS / (n - d_i)``.
    noise_known : bool
        Whether COLLAB+ is told the noise.
    """

    features: str | Law = "gaussian"
    sigma: str = "known"
    unlabelled: int = 10_000
    weights: str = "empirical"
    correction: bool = False
    noise_known: bool = False

    def __post_init__(self) -> None:
        FeatureLaw.of(self.features)
        choice("sigma", self.sigma, SIGMA_MODES)
        choice("weights", self.weights, ("empirical", "population"))
        whole("unlabelled", self.unlabelled, low=1)

    @property
    def law(self) -> Law:
        """Law of the features."""
        return FeatureLaw.of(self.features)


@dataclass(frozen=True)
class ErrorCurve:
    """Prediction error of every method against n, over trials.

    Attributes
    ----------
    problem : Problem
    target : "full" or int
    sample_sizes : tuple of int
    methods : tuple of str
    errors : dict
        ``errors[method][n]``: errors of all finished trials, shape (trials,). Methods that could
        not be computed at some n have no entry there.
    notes : dict
        ``notes[method, n]``: why an entry is missing, or who was left out of it.
    settings : Settings
    trials : int
        Asked for.
    partial : bool
        Whether the run was stopped before all trials were done.
    known : dict
        Theory by method, as far as it was asked for: the curves of a run share it, since over
        records it takes longer than a report may.
    """

    problem: Problem = field(repr=False)
    target: Target
    sample_sizes: tuple[int, ...]
    methods: tuple[str, ...]
    errors: Mapping[str, Mapping[int, Array]] = field(repr=False)
    notes: Mapping[tuple[str, int], str] = field(repr=False)
    settings: Settings
    trials: int
    partial: bool
    known: dict[str, list[float | None]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def irreducible(self) -> float:
        """What unseen features cost the target forever; not part of the errors."""
        return 0.0 if self.target == "full" else float(self.problem.irreducible[int(self.target)])

    def mean(self, method: str, n: int) -> float | None:
        """Mean error of a method at n over the trials so far, or None where there is none."""
        errors = self.errors.get(method, {}).get(n)
        return float(errors.mean()) if errors is not None and errors.size else None

    def compare(self, method: str, other: str, n: int) -> int | None:
        """Whether a method's mean error at n is below (-1) or above (1) another's, or neither (0).

        Decided by the 95% interval of the mean difference: the trials are paired. A single trial
        decides nothing. None where either is missing.
        """
        mine, theirs = (self.errors.get(key, {}).get(n) for key in (method, other))
        if mine is None or theirs is None or mine.shape != theirs.shape or not mine.size:
            return None
        gap = mine - theirs
        # Two ways to the same estimate differ by rounding.
        if mine.size < 2 or np.abs(gap).max() <= 1e-8 * np.abs(theirs).max():
            return 0
        half = student.ppf(0.975, gap.size - 1) * gap.std(ddof=1) / np.sqrt(gap.size)
        return 0 if abs(gap.mean()) <= half else int(np.sign(gap.mean()))

    def ahead_from(self, method: str, other: str) -> int | None:
        """The n from which on ``method`` is below ``other`` (`compare`) at every n of the grid.

        Sizes at which either is missing say nothing. None where it is not ahead at the last n.
        """
        found = None
        for n in reversed(self.sample_sizes):
            sign = self.compare(method, other, n)
            if sign is None:
                continue
            if sign >= 0:
                break
            found = n
        return found

    def relative_to(self, method: str) -> pd.DataFrame:
        """Mean errors over those of one method, on the same trials, a row per n and other method.

        Trials are paired, so a ratio is known far better than either mean.

        Returns
        -------
        DataFrame
            ``n``, ``method``, ``ratio`` with its 95% interval ``low`` and ``high`` (by the delta
            method and Student's t), ``theory`` (the ratio of the formulas) and ``trials``. What
            does not exist is ``<NA>``.
        """
        rows = []
        by_theory = {key: self._theory(key) for key in self.methods}
        for key in self.methods:
            for place, n in enumerate(self.sample_sizes):
                mine, theirs = by_theory[key][place], by_theory[method][place]
                row: dict[str, object] = {"n": n, "method": key}
                row |= dict(zip(("ratio", "low", "high"), self._ratio(key, method, n), strict=True))
                row["theory"] = mine / theirs if mine is not None and theirs else pd.NA
                row["trials"] = int(self.errors.get(key, {}).get(n, np.empty(0)).size)
                if key != method:
                    rows.append(row)
        names = ["n", "method", "ratio", "low", "high", "theory", "trials"]
        numbers = dict.fromkeys(["ratio", "low", "high", "theory"], "Float64")
        return pd.DataFrame(rows, columns=names).astype(numbers)

    def _ratio(self, method: str, other: str, n: int) -> tuple[Any, Any, Any]:
        mine, theirs = (self.errors.get(key, {}).get(n) for key in (method, other))
        if mine is None or theirs is None or mine.shape != theirs.shape or not theirs.sum() > 0:
            return pd.NA, pd.NA, pd.NA
        ratio = float(mine.mean() / theirs.mean())
        if mine.size < 2:
            return ratio, pd.NA, pd.NA
        spread = (mine - ratio * theirs).std(ddof=1) / np.sqrt(mine.size) / theirs.mean()
        half = float(student.ppf(0.975, mine.size - 1) * spread)
        return ratio, max(ratio - half, 0.0), ratio + half

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per n and method.

        Columns: ``n``, ``method``, ``mean``, ``low``, ``high`` (95% interval of the mean over
        trials), ``q05``, ``q25``, ``median``, ``q75``, ``q95`` (of the trials), ``theory``,
        ``trials`` and ``note``. What does not exist is ``<NA>``, never NaN or infinity, and
        ``note`` says why.
        """
        rows = [
            self._row(method, n, theory)
            for method in self.methods
            for n, theory in zip(self.sample_sizes, self._theory(method), strict=True)
        ]
        frame = pd.DataFrame(rows)
        numbers = ["mean", "low", "high", *QUANTILES, "theory"]
        return frame.astype(dict.fromkeys(numbers, "Float64"))

    def _row(self, method: str, n: int, theory: float | None) -> dict[str, object]:
        errors = self.errors.get(method, {}).get(n, np.empty(0))
        row: dict[str, object] = {"n": n, "method": method}
        row |= dict.fromkeys(("mean", "low", "high", *QUANTILES), pd.NA)
        if errors.size:
            row["mean"], row["low"], row["high"] = mean_interval(errors)
            row |= {name: float(np.quantile(errors, q)) for name, q in QUANTILES.items()}
        # Where a method does not exist, a formula for large n says nothing about it.
        exists = errors.size or (method, n) not in self.notes
        row["theory"] = theory if theory is not None and exists else pd.NA
        row["trials"] = int(errors.size)
        row["note"] = self.notes.get((method, n), "")
        return row

    def _theory(self, method: str) -> list[float | None]:
        # Formulas are for a known covariance (local models need none).
        if self.settings.sigma != "known" and method not in _WITHOUT_SIGMA:
            return [None] * len(self.sample_sizes)
        if method not in self.known:
            self.known[method] = expected_errors(
                self.problem,
                method,
                self.sample_sizes,
                self.target,
                noise_known=self.settings.noise_known,
                features=self.settings.law,
            )
        return self.known[method]


Progress = Callable[[float, Any], None]


def error_curve(
    problem: Problem,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None = None,
    target: Target = "full",
    seed: int = 0,
    features: str | Law = "gaussian",
    progress: Callable[[float, ErrorCurve], None] | None = None,
    executor: HasSubmit | None = None,
    *,
    cancel: Event | None = None,
    sigma: str = "known",
    unlabelled: int = 10_000,
    weights: str = "empirical",
    correction: bool = False,
    noise_known: bool = False,
) -> ErrorCurve:
    """Mean prediction error of every method against n, by simulation, with theory beside it.

    Exact in distribution for Gaussian features, at a cost that does not depend on n.

    Parameters
    ----------
    problem : Problem
        Agents of unequal size through its ``shares``.
    sample_sizes : list of int
        The grid of n. Along it the same agents collect more data.
    trials : int
    methods : list of str, optional
        Keys of `collab_core.methods.METHODS` or ``WEIGHTINGS``; by default all of the former that
        apply.
    target : "full" or int
        All features, or the features of an agent.
    seed : int
        The same seed gives the same numbers, whatever the executor.
    features : str or Law
        Law of the features.
    progress : callable, optional
        Called with the fraction done and the curve so far, from this thread; first with no
        trials at all. A chunk that was stopped half way is in the curve, not in the fraction.
    executor : object with ``submit``, optional
        Where chunks run; threads of its own by default.
    cancel : threading.Event, optional
        When set, the run ends within a chunk and returns what is done, marked as partial.
    sigma, unlabelled, weights, correction, noise_known
        See `Settings`.

    Returns
    -------
    ErrorCurve
    """
    relay: Progress | None = None
    if progress is not None:
        report = progress

        def relay(fraction: float, curves: dict[Target, ErrorCurve]) -> None:
            report(fraction, curves[target])

    return error_curves(
        problem,
        sample_sizes,
        trials,
        [target],
        methods,
        seed=seed,
        settings=Settings(
            features=features,
            sigma=sigma,
            unlabelled=unlabelled,
            weights=weights,
            correction=correction,
            noise_known=noise_known,
        ),
        progress=relay,
        executor=executor,
        cancel=cancel,
    )[target]


def error_curves(
    problem: Problem,
    sample_sizes: Sequence[int],
    trials: int,
    targets: Sequence[Target],
    methods: Sequence[str] | None = None,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> dict[Target, ErrorCurve]:
    """Several targets from one run, on the same draws: see `error_curve`.

    Without ``methods``, every target gets those that apply to it.
    """
    plan = _Plan.checked(problem, sample_sizes, trials, targets, methods, seed, settings)

    known: dict[Target, dict[str, list[float | None]]] = {target: {} for target in plan.targets}

    def curves(results: Mapping[int, _ChunkResult], partial: bool) -> dict[Target, ErrorCurve]:
        return {
            target: _curve(plan, target, results, partial, known[target]) for target in plan.targets
        }

    done: dict[int, _ChunkResult] = {}
    if progress is not None:
        # Theory needs no trials: the first report has its lines and no markers yet.
        progress(0.0, curves(done, partial=True))
    for index, result in run_chunks(plan, _errors_of_chunk, executor, cancel):
        done[index] = result
        if progress is not None:
            finished = sum(result.finished for result in done.values())
            progress(finished / plan.chunks, curves(done, partial=finished < plan.chunks))
    return curves(done, partial=sum(result.finished for result in done.values()) < plan.chunks)


@dataclass(frozen=True)
class Sample:
    """Estimates of many trials at one n.

    Attributes
    ----------
    estimates : dict
        By method, arrays of shape (trials, d), or (trials, d_i) for an agent's model.
    truth : array, shape (d,) or (d_i,)
    notes : dict
        By method, why it is missing or who was left out.
    """

    estimates: Mapping[str, Array] = field(repr=False)
    truth: Array = field(repr=False)
    notes: Mapping[str, str]


def sample_estimates(
    problem: Problem,
    n: int,
    trials: int,
    methods: Sequence[str] | None = None,
    target: Target = "full",
    *,
    seed: int = 0,
    settings: Settings | None = None,
    executor: HasSubmit | None = None,
    progress: Progress | None = None,
    cancel: Event | None = None,
) -> Sample:
    """Draw the estimates themselves, for scatter plots over ellipses.

    Parameters as in `error_curves`, at one n and for one target.
    """
    return sample_paths(
        problem,
        [n],
        trials,
        methods,
        target,
        seed=seed,
        settings=settings,
        executor=executor,
        progress=progress,
        cancel=cancel,
    ).get(n, Sample({}, _truth(problem, target), {}))


def sample_paths(
    problem: Problem,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None = None,
    target: Target = "full",
    *,
    seed: int = 0,
    settings: Settings | None = None,
    executor: HasSubmit | None = None,
    progress: Progress | None = None,
    cancel: Event | None = None,
) -> dict[int, Sample]:
    """Draw the estimates themselves along a grid of n, the same agents collecting more data.

    Row t of every array is the same trial at every n, so that its path can be followed. Sizes
    that were not reached before ``cancel`` are not there. ``progress`` is told the fraction only.
    """
    plan = _Plan.checked(problem, sample_sizes, trials, [target], methods, seed, settings)
    parts: dict[int, Any] = {}
    for index, part in run_chunks(plan, _estimates_of_chunk, executor, cancel):
        parts[index] = part
        if progress is not None:
            finished = sum(len(part) == len(plan.sample_sizes) for part in parts.values())
            progress(finished / plan.chunks, None)
    ordered = [parts[index] for index in sorted(parts)]
    samples: dict[int, Sample] = {}
    for n in plan.sample_sizes:
        reached = [part[n] for part in ordered if n in part]
        found: dict[str, list[Array]] = {}
        notes: dict[str, str] = {}
        for values, said in reached:
            notes |= said
            for method, value in values.items():
                found.setdefault(method, []).append(value)
        if reached:
            estimates = {method: np.concatenate(part) for method, part in found.items()}
            samples[n] = Sample(estimates, _truth(problem, target), notes)
    return samples


def path_frame(paths: Mapping[int, Sample], coordinates: Sequence[int]) -> pd.DataFrame:
    """Some coordinates of `sample_paths` as a table: n, method, trial, and c0, c1 and so on."""
    columns = list(coordinates)
    parts = [
        pd.DataFrame(values[:, columns], columns=[f"c{j}" for j in range(len(columns))]).assign(
            n=n, method=method, trial=np.arange(values.shape[0])
        )
        for n, sample in paths.items()
        for method, values in sample.estimates.items()
    ]
    names = ["n", "method", "trial", *(f"c{j}" for j in range(len(columns)))]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def quadratic_errors(sample: Sample, form: Array, n: int) -> pd.DataFrame:
    """``n`` times the mean of ``(estimate - truth)' S (estimate - truth)``, a row a method.

    Returns
    -------
    DataFrame
        ``method``, ``mean``, ``low`` and ``high`` (95% interval of the mean over trials).
    """
    rows = []
    for method, values in sample.estimates.items():
        gap = values - sample.truth
        mean, low, high = mean_interval(n * ((gap @ form) * gap).sum(axis=1))
        rows.append({"method": method, "mean": mean, "low": low, "high": high})
    return pd.DataFrame(rows, columns=["method", "mean", "low", "high"])


def mean_interval(errors: Array) -> tuple[float, Any, Any]:
    """Mean over trials and its 95% interval by Student's t; one trial has no interval."""
    mean = float(errors.mean())
    if errors.size < 2:
        return mean, pd.NA, pd.NA
    spread = errors.std(ddof=1) / np.sqrt(errors.size)
    half = float(student.ppf(0.975, errors.size - 1) * spread)
    return mean, max(mean - half, 0.0), mean + half


def draw_moments(problem: Problem, n: int, seed: int = 0) -> list[Moments]:
    """One data set: every agent's moments of n (times its share) Gaussian samples."""
    rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0)))
    drawn = []
    for i, size in enumerate(problem.sample_sizes(n)):
        xx, xy, yy = gaussian_sums(rng, Sources.of_agents(problem, [i]), 1, int(size))
        drawn.append(Moments(int(size), xx[0, 0], xy[0, 0], yy[0, 0]))
    return drawn


def coverage(
    problem: Problem,
    n: int,
    trials: int,
    level: float = 0.95,
    methods: Sequence[str] = ("collab", "collab_plus"),
    target: Target = "full",
    *,
    seed: int = 0,
    settings: Settings | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> pd.DataFrame:
    """Simulate how often the estimators' own intervals contain the truth.

    Returns
    -------
    DataFrame
        A row per method and coefficient: ``method``, ``coefficient``, ``covered`` (share of
        trials), ``error`` (its Monte-Carlo standard error), ``width`` (mean width), ``level``,
        ``trials``.
    """
    level = fraction("level", level)
    for method in methods:
        choice("methods", method, _WITH_INTERVALS)
    plan = _Plan.checked(problem, [n], trials, [target], methods, seed, settings, level=level)
    parts = [result for _, result in sorted(run_chunks(plan, _coverage_of_chunk, executor, cancel))]
    rows: list[dict[str, object]] = []
    for method in methods:
        covered = [part[method][0] for part in parts if method in part]
        widths = [part[method][1] for part in parts if method in part]
        if not covered:
            continue
        inside, width = np.concatenate(covered), np.concatenate(widths)
        share = inside.mean(axis=0)
        for j in range(share.size):
            spread = np.sqrt(level * (1 - level) / inside.shape[0])
            rows.append(
                {
                    "method": method,
                    "coefficient": j,
                    "covered": float(share[j]),
                    "error": float(spread),
                    "width": float(width[:, j].mean()),
                    "level": level,
                    "trials": inside.shape[0],
                }
            )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class UnlabelledCurve:
    """Error of COLLAB with estimated optimal weights against the number of unlabelled samples.

    Attributes
    ----------
    problem : Problem
    target : "full" or int
    n : int
        Labelled samples per agent.
    sizes : tuple of int
        Numbers of unlabelled samples.
    errors : dict
        ``errors[size]``: of the trials, shape (trials,), weights and plug-in estimated.
    limits : dict
        ``limits[size]``: what the same weights cost as n grows, the plug-in then being the truth:
        ``n`` times the error, by formula, shape (trials,).
    others : dict
        Errors of ``"collab"`` and ``"collab_oracle"`` on the same labelled data, shape (trials,).
    gaussian, optimal : float
        n times the error that theory gives Gaussian and optimal weights as n grows.
    trials : int
        Asked for.
    partial : bool
        Whether the run was stopped before all trials were done.
    """

    problem: Problem = field(repr=False)
    target: Target
    n: int
    sizes: tuple[int, ...]
    errors: Mapping[int, Array] = field(repr=False)
    limits: Mapping[int, Array] = field(repr=False)
    others: Mapping[str, Array] = field(repr=False)
    gaussian: float
    optimal: float
    trials: int
    partial: bool

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per size: n times the error, measured at n and as n grows, with 95% intervals.

        Columns: ``unlabelled``, ``mean``, ``low``, ``high``, ``limit``, ``limit_low``,
        ``limit_high``, ``trials``. What does not exist is ``<NA>``.
        """
        rows = []
        for size in self.sizes:
            row: dict[str, object] = {"unlabelled": size}
            for prefix, values in (
                ("", self.n * self.errors.get(size, np.empty(0))),
                ("limit", self.limits.get(size, np.empty(0))),
            ):
                names = ("mean", "low", "high")
                if prefix:
                    names = ("limit", "limit_low", "limit_high")
                found = mean_interval(values) if values.size else (pd.NA,) * 3
                row |= dict(zip(names, found, strict=True))
            rows.append(row | {"trials": int(self.errors.get(size, np.empty(0)).size)})
        numbers = ["mean", "low", "high", "limit", "limit_low", "limit_high"]
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "Float64"))

    def scaled(self, method: str) -> tuple[float, Any, Any] | None:
        """``n`` times the error of ``"collab"`` or ``"collab_oracle"``: mean and 95% interval."""
        errors = self.others.get(method)
        return mean_interval(self.n * errors) if errors is not None and errors.size else None

    @property
    def loss(self) -> float:
        """By how much Gaussian weights' error exceeds that of the optimal ones, as n grows."""
        return self.gaussian / self.optimal - 1 if self.optimal > 0 else 0.0

    @property
    def break_even(self) -> float | None:
        """Unlabelled samples from which on optimal weights pay, as n grows; None if never here.

        Where the mean limit falls below the Gaussian weights' error for good, between sizes by a
        straight line in the logarithms. The smallest size if it is below from there on.
        """
        sizes, limits = self._limits
        return self._pays(sizes, limits.mean(axis=0)) if limits.size else None

    @cached_property
    def break_even_range(self) -> tuple[float, float | None] | None:
        """A 95% range of `break_even`: its quantiles over trials drawn again with replacement.

        The upper end is None where too many of the draws never pay at these sizes. None where
        there is no break-even, or a single trial.
        """
        sizes, limits = self._limits
        trials = limits.shape[0]
        if trials < 2 or self.break_even is None:
            return None
        # Always the same draws: the same curve has the same range.
        counts = np.random.default_rng(0).multinomial(
            trials, np.full(trials, 1 / trials), size=RESAMPLES
        )
        found = [self._pays(sizes, means) for means in counts @ limits / trials]
        ends = np.sort([np.inf if pays is None else pays for pays in found])
        low, high = ends[int(0.025 * RESAMPLES)], ends[int(0.975 * RESAMPLES)]
        return (float(low), float(high) if np.isfinite(high) else None)

    @property
    def _limits(self) -> tuple[Array, Array]:
        """Sizes (k,) that are done, and the limits of all trials at them, shape (trials, k)."""
        sizes = [size for size in self.sizes if self.limits.get(size, np.empty(0)).size]
        values = [self.limits[size] for size in sizes]
        return np.array(sizes, dtype=float), np.array(values).T if values else np.empty((0, 0))

    def _pays(self, sizes: Array, means: Array) -> float | None:
        """Where mean limits (k,) fall below the Gaussian weights' error for good."""
        excess = np.log(means / self.gaussian)
        if excess[-1] >= 0 or self.optimal >= self.gaussian * (1 - 1e-9):
            return None
        above = np.flatnonzero(excess >= 0)
        if not above.size:
            return float(sizes[0])
        k = int(above[-1])
        share = excess[k] / (excess[k] - excess[k + 1])
        low, high = np.log(sizes[k : k + 2])
        return float(np.exp(low + share * (high - low)))

    @property
    def won(self) -> float | None:
        """Share of what optimal weights would save that the most samples save, as n grows."""
        limit, room = self.frame["limit"].iloc[-1], self.gaussian - self.optimal
        return None if pd.isna(limit) or room <= 0 else float((self.gaussian - limit) / room)

    @property
    def pays_from(self) -> int | None:
        """The size from which on measured errors are surely below COLLAB's.

        At it and every larger one the paired 95% interval of the difference excludes 0; their
        means may be below from fewer on.
        """
        found = None
        gaussian = self.others.get("collab", np.empty(0))
        for size in reversed(self.sizes):
            mine = self.errors.get(size, np.empty(0))
            if mine.size < 2 or mine.shape != gaussian.shape:
                return found
            gap = mine - gaussian
            half = student.ppf(0.975, gap.size - 1) * gap.std(ddof=1) / np.sqrt(gap.size)
            if gap.mean() > -half:
                return found
            found = size
        return found


def unlabelled_curve(
    problem: Problem,
    n: int,
    sizes: Sequence[int],
    trials: int,
    target: Target = "full",
    *,
    features: str | Law,
    seed: int = 0,
    weights: str = "empirical",
    progress: Callable[[float, UnlabelledCurve], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> UnlabelledCurve:
    """How many unlabelled samples optimal weights need before they pay.

    In every trial the agents' labelled data are drawn once, and the unlabelled samples grow: the
    smaller sets are the beginning of the larger. The covariance itself is known, so that only the
    weights are at stake.

    Parameters
    ----------
    n : int
        Labelled samples per agent (times its share).
    sizes : list of int
        Numbers of unlabelled samples.
    features : str or Law
    """
    ordered = tuple(sorted({whole("sizes", size, low=1, high=10**7) for size in sizes}))
    if not ordered:
        raise ValueError("sizes must hold at least one number of unlabelled samples, got none")
    settings = Settings(features=features, unlabelled=ordered[-1], weights=weights)
    methods = ("collab", "collab_oracle", "collab_optimal")
    plan = _Plan.checked(problem, [n], trials, [target], methods, seed, settings)
    # Weights of every size, estimated and with theta known: about four times those of the largest.
    plan = replace(plan, chunk_size=max(1, plan.chunk_size // 4))
    agent = None if target == "full" else int(target)
    gaussian, optimal = (
        expected_errors(problem, method, [1], target, features=features)[0]
        for method in ("collab", "collab_oracle")
    )
    assert gaussian is not None
    assert optimal is not None

    def curve(results: Mapping[int, _UnlabelledChunk], partial: bool) -> UnlabelledCurve:
        parts = [results[index] for index in sorted(results)]
        return UnlabelledCurve(
            problem=problem,
            target=target,
            n=n,
            sizes=ordered,
            errors=_joined([part.errors for part in parts]),
            limits=_joined([part.limits for part in parts]),
            others=_joined([part.others for part in parts]),
            gaussian=gaussian,
            optimal=optimal,
            trials=plan.trials,
            partial=partial,
        )

    done: dict[int, _UnlabelledChunk] = {}
    if progress is not None:
        progress(0.0, curve(done, partial=True))
    work = partial_of(_unlabelled_of_chunk, sizes=ordered, agent=agent)
    for index, result in run_chunks(plan, work, executor, cancel):
        done[index] = result
        if progress is not None:
            finished = sum(bool(result.errors) for result in done.values())
            progress(finished / plan.chunks, curve(done, partial=finished < plan.chunks))
    return curve(done, partial=sum(bool(result.errors) for result in done.values()) < plan.chunks)


@dataclass(frozen=True)
class _UnlabelledChunk:
    errors: dict[int, Array]
    limits: dict[int, Array]
    others: dict[str, Array]


def _unlabelled_of_chunk(
    plan: _Plan,
    index: int,
    cancel: Event | None,
    *,
    sizes: tuple[int, ...],
    agent: int | None,
) -> _UnlabelledChunk:
    problem, target = plan.problem, plan.targets[0]
    truth, root = _error_root(problem, target)
    found = _UnlabelledChunk({}, {}, {})

    def errors_of(estimate: Estimate) -> Array:
        model = estimate.theta if agent is None else estimate.local(agent)
        return (((model - truth) @ root) ** 2).sum(axis=-1)

    with single_threaded_blas():
        for step in _steps(plan, index, cancel):
            assert step.unlabelled is not None
            errors, limits = {}, {}
            for size in sizes:
                if cancel is not None and cancel.is_set():
                    # Trials count with all their sizes or not at all: curves must stay paired.
                    return found
                samples = step.unlabelled[:, :size]
                errors[size] = errors_of(step.optimal(samples))
                limits[size] = np.array(
                    [_weights_error(problem, plan.scores, one, agent) for one in samples]
                )
            for method in ("collab", "collab_oracle"):
                estimate = step.estimate(method)
                assert isinstance(estimate, Estimate)
                found.others[method] = errors_of(estimate)
            found.errors.update(errors)
            found.limits.update(limits)
    return found


def _weights_error(
    problem: Problem, scores: Sequence[Array], samples: Array, agent: int | None
) -> float:
    """``tr(Sigma C(W))`` of weights from these unlabelled samples, theta and noise being known."""
    # As a stack of one trial, which is summed faster.
    guess = score_covariances(
        samples[None], problem.geometry, problem.theta[None], problem.noise**2
    )
    weights = weights_of([one[0] for one in guess], problem.geometry)
    covariance = bounds.weighted(problem, weights, scores)
    return bounds.error(problem, covariance, agent)


def _joined(parts: Sequence[Mapping[Any, Array]]) -> dict[Any, Array]:
    """Arrays of the same key one after the other."""
    keys = dict.fromkeys(key for part in parts for key in part)
    return {key: np.concatenate([part[key] for part in parts if key in part]) for key in keys}


@dataclass(frozen=True)
class PaperExperiment:
    """The paper's synthetic experiment.

    Attributes
    ----------
    problem : Problem
    full : ErrorCurve
        The test agent with all 30 features.
    missing : ErrorCurve
        The test agent with 20 of them.
    """

    problem: Problem
    full: ErrorCurve
    missing: ErrorCurve


def paper_experiment(
    *,
    authors: bool = False,
    sample_sizes: Sequence[int] = (50, 100, 150, 200, 300, 400, 500, 600, 800, 1000),
    trials: int = 20,
    seed: int = 0,
    methods: Sequence[str] | None = None,
    executor: HasSubmit | None = None,
    progress: Progress | None = None,
    cancel: Event | None = None,
) -> PaperExperiment:
    """Run the paper's synthetic experiment for both of its test agents, in one call.

    m = d = 30; ten agents see 20 random features, twenty see 15; eigenvalues uniform on [0, 1],
    three of them times 10; 20 trials. The paper leaves theta and noise open: standard normal and 1.

    Parameters
    ----------
    authors : bool
        Use the numbers of the authors' own run: theta of standard deviation 50, spikes of 100.
    """
    scenario = Scenario(
        seed=seed, theta_scale=50.0 if authors else 1.0, spike_factor=100.0 if authors else 10.0
    )
    problem = scenario.problem()
    curves = error_curves(
        problem,
        sample_sizes,
        trials,
        ["full", 0],
        methods,
        seed=seed,
        executor=executor,
        progress=progress,
        cancel=cancel,
    )
    return PaperExperiment(problem, curves["full"], curves[0])


# How a run is planned and carried out ------------------------------------------------------------

_WITH_INTERVALS = ("collab", "collab_plus", "imputation", "rw_imputation", "local_imputation")
_WITHOUT_SIGMA = ("local", "naive_collab", "optimized_naive_collab")
_MODELS_ONLY = ("local", "naive_collab", "optimized_naive_collab")


@dataclass(frozen=True)
class _Plan:
    """A run, checked: everything a chunk needs, and nothing that cannot be sent to a worker."""

    problem: Problem
    sample_sizes: tuple[int, ...]
    trials: int
    targets: tuple[Target, ...]
    methods: tuple[str, ...]
    seed: int
    settings: Settings
    level: float
    chunk_size: int

    @classmethod
    def checked(
        cls,
        problem: Problem,
        sample_sizes: Sequence[int],
        trials: int,
        targets: Sequence[Target],
        methods: Sequence[str] | None,
        seed: int,
        settings: Settings | None,
        level: float = 0.95,
    ) -> _Plan:
        given = np.atleast_1d(np.asarray(sample_sizes)).tolist()
        sizes = sorted({whole("sample_sizes", n, low=1, high=10**15) for n in given})
        if not sizes:
            raise ValueError("sample_sizes must hold at least one n, got none")
        for target in targets:
            if target != "full":
                whole("target", target, low=0, high=problem.agents - 1)  # type: ignore[arg-type]
        if methods is None:
            agents_only = "full" not in targets
            chosen = [m for m in DEFAULT_METHODS if m in AGENT_METHODS or not agents_only]
        else:
            chosen = [choice("methods", method, (*METHODS, *WEIGHTINGS)) for method in methods]
            if not chosen:
                raise ValueError("methods must name at least one method, got none")
            # Beside the full target, methods that an agent has not are left out for it alone.
            if "full" not in targets:
                for method in chosen:
                    allowed = (*AGENT_METHODS, *WEIGHTINGS)
                    choice("methods (for an agent's target)", method, allowed)
        settings = settings or Settings()
        if settings.sigma == "unlabelled" and settings.unlabelled < problem.dimension:
            raise ValueError(
                f"unlabelled must be at least the number of features, {problem.dimension},"
                f" got {settings.unlabelled}"
            )
        if settings.sigma == "pooled":
            sigma_module.require_pairs(problem.views, problem.dimension)
        return cls(
            problem,
            tuple(sizes),
            whole("trials", trials, low=1),
            tuple(targets),
            tuple(chosen),
            whole("seed", seed, low=0),
            settings,
            level,
            0,
        )._cut()

    @property
    def models_only(self) -> bool:
        """Whether no method reads xx, so that no matrix need be drawn."""
        by_population = {"collab"} if self.settings.weights == "population" else set()
        return (
            self.settings.law.is_gaussian
            and self.settings.sigma != "pooled"
            and set(self.methods) <= by_population | set(_MODELS_ONLY)
        )

    @property
    def reads_unlabelled(self) -> bool:
        """Whether a method reads the unlabelled samples themselves, not only their covariance."""
        return "collab_optimal" in self.methods

    @cached_property
    def scores(self) -> list[Array]:
        """``Q_i`` of every agent under the law, for the oracle."""
        return scores_of_law(self.problem, self.settings.law)

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.trials // self.chunk_size)

    def _cut(self) -> _Plan:
        """Fix the chunks: by what is simulated alone, so that seeds always mean the same."""
        d, sizes = self.problem.dimension, self.problem.sizes
        numbers = int(sizes.sum() if self.models_only else (sizes**2).sum())
        if self.reads_unlabelled:
            numbers = max(numbers, self.settings.unlabelled * d // 4)
        # Moments of Gaussian samples cost the same for any n; samples that are drawn do not.
        most = min(CHUNK_NUMBERS // max(numbers, d * d), CHUNK_PRODUCTS // max(self._products(), 1))
        return replace(self, chunk_size=int(np.clip(most, 1, 500)))

    def _products(self) -> int:
        """Numbers of raw samples that a trial multiplies out, one that is drawn being `DRAWN`."""
        problem, unlabelled = self.problem, self.settings.unlabelled
        drawn, read = 0, 0
        if not self.settings.law.is_gaussian:
            drawn = int(problem.sample_sizes(self.sample_sizes[-1]).sum())
        if self.reads_unlabelled:
            drawn += unlabelled
            # Every agent's weights are averaged over them anew at every n.
            read = unlabelled * int(problem.sizes.sum()) * len(self.sample_sizes)
        elif self.settings.sigma == "unlabelled" and not self.settings.law.is_gaussian:
            drawn += unlabelled
        return DRAWN * drawn * problem.dimension + read

    def trials_of(self, index: int) -> int:
        """Trials of chunk ``index``."""
        return min(self.chunk_size, self.trials - index * self.chunk_size)


@dataclass(frozen=True)
class _ChunkResult:
    errors: dict[tuple[Target, str, int], Array]
    notes: dict[tuple[Target, str, int], str]
    finished: bool


class Chunked(Protocol):
    """A run that is cut into chunks."""

    @property
    def chunks(self) -> int:
        """Number of chunks."""


def run_chunks(
    plan: Chunked,
    work: Callable[..., Any],
    executor: HasSubmit | None,
    cancel: Event | None,
) -> Iterator[tuple[int, Any]]:
    """Yield ``(index, result)`` of the chunks as they finish.

    ``work`` is called with the plan, the chunk's index and the event that cancels.
    """
    if executor is None and plan.chunks == 1:
        yield 0, work(plan, 0, cancel)
        return
    own = None
    if executor is None:
        own = executor = ThreadPoolExecutor(min(os.cpu_count() or 1, plan.chunks))
    # An event can be shared with threads; other executors are stopped between chunks.
    shared = cancel if isinstance(executor, ThreadPoolExecutor) else None
    pending: dict[Future[Any], int] = {}
    try:
        pending = {
            executor.submit(work, plan, index, shared): index for index in range(plan.chunks)
        }
        while pending:
            finished, _ = wait(list(pending), timeout=0.1, return_when=FIRST_COMPLETED)
            for future in finished:
                index = pending.pop(future)
                if not future.cancelled():
                    yield index, future.result()
            if cancel is not None and cancel.is_set():
                for future in [future for future in pending if future.cancel()]:
                    del pending[future]
                if shared is None:
                    return
    finally:
        for future in pending:
            future.cancel()
        if isinstance(own, Executor):
            own.shutdown(wait=True)


def _errors_of_chunk(plan: _Plan, index: int, cancel: Event | None) -> _ChunkResult:
    errors: dict[tuple[Target, str, int], Array] = {}
    notes: dict[tuple[Target, str, int], str] = {}
    roots = {target: _error_root(plan.problem, target) for target in plan.targets}
    steps = 0
    with single_threaded_blas():
        for step in _steps(plan, index, cancel):
            for method in plan.methods:
                for target in plan.targets:
                    if target != "full" and method == "optimized_naive_collab":
                        continue
                    key = (target, method, step.n)
                    try:
                        model, said = step.model(method, target)
                    except NotEstimableError as reason:
                        notes[key] = str(reason)
                        continue
                    if said:
                        notes[key] = said
                    truth, root = roots[target]
                    errors[key] = (((model - truth) @ root) ** 2).sum(axis=-1)
            steps += 1
    return _ChunkResult(errors, notes, steps == len(plan.sample_sizes))


def _estimates_of_chunk(
    plan: _Plan, index: int, cancel: Event | None
) -> dict[int, tuple[dict[str, Array], dict[str, str]]]:
    found: dict[int, tuple[dict[str, Array], dict[str, str]]] = {}
    with single_threaded_blas():
        for step in _steps(plan, index, cancel):
            values, notes = found.setdefault(step.n, ({}, {}))
            for method in plan.methods:
                try:
                    values[method], said = step.model(method, plan.targets[0])
                except NotEstimableError as reason:
                    said = str(reason)
                if said:
                    notes[method] = said
    return found


def _coverage_of_chunk(
    plan: _Plan, index: int, cancel: Event | None
) -> dict[str, tuple[np.ndarray, Array]]:
    target = plan.targets[0]
    agent = None if target == "full" else int(target)
    truth = _truth(plan.problem, target)
    result: dict[str, tuple[np.ndarray, Array]] = {}
    with single_threaded_blas():
        for step in _steps(plan, index, cancel):
            for method in plan.methods:
                estimate = step.estimate(method)
                assert isinstance(estimate, Estimate)
                low, high = estimate.interval(plan.level, agent=agent)
                result[method] = ((low <= truth) & (truth <= high), high - low)
    return result


def _truth(problem: Problem, target: Target) -> Array:
    return problem.theta if target == "full" else problem.local_theta(int(target))


def _error_root(problem: Problem, target: Target) -> tuple[Array, Array]:
    """The truth, and a root of the covariance in whose norm errors are measured."""
    block = problem.covariance if target == "full" else problem.geometry.block(int(target))
    return _truth(problem, target), np.linalg.cholesky(block)


def _steps(plan: _Plan, index: int, cancel: Event | None) -> Iterator[_Step]:
    """The stack of trials of a chunk at every n in turn; ends early when cancelled."""

    def stop() -> bool:
        return cancel is not None and cancel.is_set()

    def stream(number: int) -> np.random.Generator:
        # Streams of their own, so that choosing other methods does not change the agents' draws.
        return np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(index, number)))

    problem, trials, law = plan.problem, plan.trials_of(index), plan.settings.law
    rng = stream(0)
    # Agents of one size (in features and samples) draw together: fewer calls, the same law.
    alike: dict[tuple[int, float], list[int]] = {}
    for i, kind in enumerate(zip(problem.sizes.tolist(), problem.shares.tolist(), strict=True)):
        alike.setdefault(kind, []).append(i)
    groups: list[tuple[list[int], Collecting | CollectingModels]] = []
    for members in alike.values():
        sources = Sources.of_agents(problem, members)
        groups.append(
            (members, CollectingModels(rng, sources, trials))
            if plan.models_only
            else (members, Collecting(rng, problem, sources, trials, law, stop))
        )
    newcomer = None
    if {"optimized_naive_collab", "local"} & set(plan.methods) and "full" in plan.targets:
        newcomer = Collecting(stream(1), problem, Sources.newcomer(problem), trials, law, stop)
    try:
        geometry, samples = problem.geometry, None
        if plan.reads_unlabelled:
            shape = (trials, plan.settings.unlabelled, problem.dimension)
            samples = law.white(stream(2), shape) @ square_root(problem.covariance)
        if plan.settings.sigma == "unlabelled" and samples is not None:
            geometry = Geometry(sigma_module.from_unlabelled(samples), problem.views)
        elif plan.settings.sigma == "unlabelled":
            geometry = Geometry(
                _unlabelled_covariance(plan, stream(2), trials, stop), problem.views
            )
        for n in plan.sample_sizes:
            if stop():
                return
            sizes = problem.sample_sizes(n)
            found: dict[int, AgentData] = {}
            for members, group in groups:
                found |= zip(members, group.up_to(int(sizes[members[0]])), strict=True)
            data = [found[i] for i in range(problem.agents)]
            fresh = None if newcomer is None else newcomer.up_to(n)[0]
            yield _Step(plan, n, data, fresh, geometry, samples)
    except StoppedError:
        return


def _unlabelled_covariance(
    plan: _Plan, rng: np.random.Generator, trials: int, stop: Callable[[], bool]
) -> Array:
    """Covariance of unlabelled samples, one per trial, shape (trials, d, d)."""
    problem, count = plan.problem, plan.settings.unlabelled
    everything = np.arange(problem.dimension)
    if plan.settings.law.is_gaussian:
        xx = gaussian_sums(rng, Sources.newcomer(problem), trials, count)[0][0]
    else:
        root = square_root(problem.covariance)
        xx, *_ = raw_sums(rng, plan.settings.law, root, problem, everything, trials, count, stop)
    return xx / count


class _Step:
    """A stack of trials at one n: what every method makes of it, each computed once."""

    def __init__(
        self,
        plan: _Plan,
        n: int,
        data: Sequence[AgentData],
        fresh: Moments | None,
        geometry: Geometry,
        unlabelled: Array | None,
    ) -> None:
        self.plan, self.n, self.data, self.fresh = plan, n, data, fresh
        self._geometry, self.unlabelled = geometry, unlabelled
        self._estimates: dict[str, Estimate | NaiveEstimate] = {}
        fit_together(self.moments)

    @cached_property
    def geometry(self) -> Geometry:
        """The covariance as estimators know it."""
        if self.plan.settings.sigma != "pooled":
            return self._geometry
        views, d = self.plan.problem.views, self.plan.problem.dimension
        return Geometry(sigma_module.pooled(self.moments, views, d).covariance, views)

    @property
    def moments(self) -> list[Moments]:
        """The agents' data with xx."""
        return [data for data in self.data if isinstance(data, Moments)]

    def model(self, method: str, target: Target) -> tuple[Array, str]:
        """Coefficients of a method for a target, shape (trials, k), and a note."""
        if method == "local":
            return self._local(target).theta, ""
        estimate = self.estimate(method)
        model = estimate.theta if target == "full" else estimate.local(int(target))
        return model, _note(estimate)

    def _local(self, target: Target) -> LocalFit:
        data = self.fresh if target == "full" else self.data[int(target)]
        assert data is not None
        if data.features and (data.n <= data.features).any():
            raise NotEstimableError(
                f"n = {data.n.min():g} is not above {data.features} features, so least squares"
                " interpolates"
            )
        return data.fit

    def estimate(self, method: str) -> Estimate | NaiveEstimate:
        """A method's estimate on this stack."""
        if method not in self._estimates:
            self._estimates[method] = self._compute(method)
        return self._estimates[method]

    @property
    def _collab_is_plain(self) -> bool:
        """Whether COLLAB is computed as COLLAB+ would start from it."""
        settings = self.plan.settings
        plain = settings.weights == "empirical" and not settings.correction
        return plain and "collab" in self.plan.methods

    def _compute(self, method: str) -> Estimate | NaiveEstimate:
        problem, settings = self.plan.problem, self.plan.settings
        views = problem.views
        match method:
            case "collab":
                return estimators.collab(
                    self.data,
                    views,
                    self.geometry,
                    settings.weights,
                    correction=settings.correction,
                )
            case "collab_plus":
                noise = problem.noise if settings.noise_known else None
                collab = self.estimate("collab") if self._collab_is_plain else None
                start = collab if isinstance(collab, Estimate) else None
                return estimators.collab_plus(
                    self.moments, views, self.geometry, noise, start=start
                )
            case "imputation":
                return estimators.global_imputation(self.moments, views, self.geometry)
            case "rw_imputation":
                # The paper's: weights by the true s_i, known to an oracle.
                alphas = 1 / problem.unexplained
                return estimators.global_imputation(self.moments, views, self.geometry, alphas)
            case "local_imputation":
                return estimators.local_imputation(self.moments, views, self.geometry)
            case "pooled_moments":
                return estimators.pooled_moments(self.moments, views, self.geometry)
            case "collab_optimal":
                assert self.unlabelled is not None
                return self.optimal(self.unlabelled)
            case "collab_oracle":
                return estimators.collab_scored(
                    self.moments, views, self.geometry, self.plan.scores, settings.weights
                )
            case "identity":
                eyes = [np.eye(size) for size in problem.sizes]
                return estimators.aggregate(self.moments, views, self.geometry, eyes)
            case "naive_collab":
                return estimators.naive_collab(self.data, views, problem.dimension)
            case _:
                assert self.fresh is not None
                return estimators.optimized_naive_collab(self.data, views, self.fresh)

    def optimal(self, samples: Array) -> Estimate:
        """COLLAB with optimal weights from unlabelled samples (trials, N, d)."""
        views, settings = self.plan.problem.views, self.plan.settings
        start = self.estimate("collab")
        assert isinstance(start, Estimate)
        return estimators.collab_optimal(
            self.moments, views, samples, self.geometry, weights=settings.weights, plug_in=start
        )


def _note(estimate: Estimate | NaiveEstimate) -> str:
    """Who was left out, in a sentence, or nothing."""
    left_out: tuple[LeftOut, ...] = estimate.left_out
    if not left_out:
        return ""
    listed = ", ".join(str(entry.agent) for entry in left_out[:8])
    more = f" and {len(left_out) - 8} more" if len(left_out) > 8 else ""
    return f"left out: agents {listed}{more} ({left_out[0].reason})"


def _curve(
    plan: _Plan,
    target: Target,
    results: Mapping[int, _ChunkResult],
    partial: bool,
    known: dict[str, list[float | None]],
) -> ErrorCurve:
    methods = tuple(m for m in plan.methods if target == "full" or m != "optimized_naive_collab")
    errors: dict[str, dict[int, Array]] = {method: {} for method in methods}
    notes: dict[tuple[str, int], str] = {}
    # In the order of the chunks, whatever order they finished in: sums are the same bits.
    ordered = [results[index] for index in sorted(results)]
    for method in methods:
        for n in plan.sample_sizes:
            key = (target, method, n)
            parts = [result.errors[key] for result in ordered if key in result.errors]
            if parts:
                errors[method][n] = np.concatenate(parts)
            said = [result.notes[key] for result in ordered if key in result.notes]
            if said:
                notes[method, n] = said[0]
    return ErrorCurve(
        problem=plan.problem,
        target=target,
        sample_sizes=plan.sample_sizes,
        methods=methods,
        errors=errors,
        notes=notes,
        settings=plan.settings,
        trials=plan.trials,
        partial=partial,
        known=known,
    )
