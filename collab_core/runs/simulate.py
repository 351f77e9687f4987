"""Simulation: a problem, sample sizes and trials in; errors with intervals out.

Work is cut into chunks of trials with independent seeds spawned from one, so the numbers are the
same bits for any number of threads and on any executor that has ``submit``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from .._base.blas import single_threaded_blas
from .._base.checks import Array, choice, fraction, whole
from ..bounds.theory import Target, expected_errors
from ..core.estimate import Estimate, NotEstimableError
from ..core.moments import Moments
from ..core.problem import Problem
from ..world.laws import Law
from ..world.scenario import Scenario
from .chunks import HasSubmit, run_chunks
from .draws import Sources, gaussian_sums
from .trials import WITHOUT_SIGMA, Plan, error_root, trial_steps, truth_of
from .trials import Settings as Settings  # part of this module's own interface

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}


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
        if self.settings.sigma != "known" and method not in WITHOUT_SIGMA:
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
    plan = Plan.checked(problem, sample_sizes, trials, targets, methods, seed, settings)

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
    ).get(n, Sample({}, truth_of(problem, target), {}))


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
    plan = Plan.checked(problem, sample_sizes, trials, [target], methods, seed, settings)
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
            samples[n] = Sample(estimates, truth_of(problem, target), notes)
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
    plan = Plan.checked(problem, [n], trials, [target], methods, seed, settings, level=level)
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


_WITH_INTERVALS = ("collab", "collab_plus", "imputation", "rw_imputation", "local_imputation")


@dataclass(frozen=True)
class _ChunkResult:
    errors: dict[tuple[Target, str, int], Array]
    notes: dict[tuple[Target, str, int], str]
    finished: bool


def _errors_of_chunk(plan: Plan, index: int, cancel: Event | None) -> _ChunkResult:
    errors: dict[tuple[Target, str, int], Array] = {}
    notes: dict[tuple[Target, str, int], str] = {}
    roots = {target: error_root(plan.problem, target) for target in plan.targets}
    steps = 0
    with single_threaded_blas():
        for step in trial_steps(plan, index, cancel):
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
    plan: Plan, index: int, cancel: Event | None
) -> dict[int, tuple[dict[str, Array], dict[str, str]]]:
    found: dict[int, tuple[dict[str, Array], dict[str, str]]] = {}
    with single_threaded_blas():
        for step in trial_steps(plan, index, cancel):
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
    plan: Plan, index: int, cancel: Event | None
) -> dict[str, tuple[np.ndarray, Array]]:
    target = plan.targets[0]
    agent = None if target == "full" else int(target)
    truth = truth_of(plan.problem, target)
    result: dict[str, tuple[np.ndarray, Array]] = {}
    with single_threaded_blas():
        for step in trial_steps(plan, index, cancel):
            for method in plan.methods:
                estimate = step.estimate(method)
                assert isinstance(estimate, Estimate)
                low, high = estimate.interval(plan.level, agent=agent)
                result[method] = ((low <= truth) & (truth <= high), high - low)
    return result


def _curve(
    plan: Plan,
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
