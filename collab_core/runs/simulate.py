"""Simulation: a problem, sample sizes and trials in; errors with intervals out.

Work is cut into chunks of trials with independent seeds spawned from one, so the numbers are the
same bits for any number of threads and on any executor that has ``submit``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial as partial_of
from threading import Event
from typing import Any

import numpy as np
import pandas as pd

from .. import methods as registry
from .._base.blas import single_threaded_blas
from .._base.checks import Array, choice, fraction, whole
from .._base.intervals import mean_interval
from ..answers.theory import expected_errors
from ..core.estimate import Estimate, NotEstimableError
from ..core.moments import Moments
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from ..world.laws import Law
from ..world.scenario import Scenario
from .chunks import HasSubmit, run_chunks
from .curve import Curve
from .draws import Samplers, gaussian_sums
from .source import Found, Plan, Progress, curves, note_of
from .world import Settings, World

__all__ = [
    "Curve",
    "PaperExperiment",
    "Sample",
    "Settings",
    "coverage",
    "draw_moments",
    "error_curve",
    "error_curves",
    "paper_experiment",
    "path_frame",
    "quadratic_errors",
    "sample_estimates",
    "sample_paths",
]


def planned(
    problem: Problem,
    sample_sizes: Sequence[int],
    trials: int,
    targets: Sequence[TargetLike],
    methods: Sequence[str] | None,
    seed: int,
    settings: Settings | None,
) -> Plan[World]:
    """A plan from what a caller asks for, or a ValueError that says what is wrong."""
    given = np.atleast_1d(np.asarray(sample_sizes)).tolist()
    sizes = sorted({whole("sample_sizes", n, low=1, high=10**15) for n in given})
    if not sizes:
        raise ValueError("sample_sizes must hold at least one n, got none")
    whose = [Target.of(target, problem.agents) for target in targets]
    # Beside the full target, methods that an agent has not are left out for it alone.
    chosen = registry.chosen(methods, full=any(target.is_full for target in whose))
    return Plan.of(World(problem, settings), sizes, trials, whose, chosen, seed)


def error_curve(
    problem: Problem,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None = None,
    target: TargetLike = "full",
    seed: int = 0,
    features: str | Law = "gaussian",
    progress: Callable[[float, Curve], None] | None = None,
    executor: HasSubmit | None = None,
    *,
    cancel: Event | None = None,
    sigma: str = "known",
    unlabelled: int = 10_000,
    weights: str = "empirical",
    correction: bool = False,
    noise_known: bool = False,
) -> Curve:
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
        Keys of `collab_core.methods`; the usual ones that apply by default.
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
    Curve
    """
    key = Target.of(target, problem.agents).key
    relay: Progress | None = None
    if progress is not None:
        report = progress

        def relay(fraction: float, found: dict[str | int, Curve]) -> None:
            report(fraction, found[key])

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
    )[key]


def error_curves(
    problem: Problem,
    sample_sizes: Sequence[int],
    trials: int,
    targets: Sequence[TargetLike],
    methods: Sequence[str] | None = None,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> dict[str | int, Curve]:
    """Several targets from one run, on the same draws: see `error_curve`.

    Without ``methods``, every target gets those that apply to it.
    """
    plan = planned(problem, sample_sizes, trials, targets, methods, seed, settings)
    # Theory by target and method, as far as it was asked for: the curves of a run share it, since
    # over records it takes longer than a report may.
    known: dict[tuple[Target, str], list[float | None]] = {}

    def theory(target: Target, method: str) -> list[float | None]:
        told = plan.source.settings
        if told.sigma != "known" and "covariance" in registry.get(method).needs:
            # Formulas are for a known covariance (local models need none).
            return [None] * len(plan.grid)
        if (target, method) not in known:
            known[target, method] = expected_errors(
                problem,
                method,
                [int(n) for n in plan.grid],
                target,
                noise_known=told.noise_known,
                features=told.law,
            )
        return known[target, method]

    def make(target: Target, found: Found, partial: bool) -> Curve:
        return Curve(
            axis="n",
            grid=plan.grid,
            methods=found.methods,
            errors=found.errors,
            notes=found.notes,
            trials=plan.trials,
            partial=partial,
            target=target,
            irreducible=target.irreducible(problem),
            is_gaussian=plan.source.settings.law.is_gaussian,
            theory_of=lambda method: theory(target, method),
        )

    relay: Progress | None = None
    if progress is not None:
        report = progress

        def relay(fraction: float, found: dict[Target, Curve]) -> None:
            report(fraction, {target.key: curve for target, curve in found.items()})

    found = curves(plan, make, progress=relay, executor=executor, cancel=cancel)
    return {target.key: curve for target, curve in found.items()}


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
    target: TargetLike = "full",
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
    ).get(n, Sample({}, Target.of(target, problem.agents).truth(problem), {}))


def sample_paths(
    problem: Problem,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None = None,
    target: TargetLike = "full",
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
    plan = planned(problem, sample_sizes, trials, [target], methods, seed, settings)
    parts: dict[int, Any] = {}
    for index, part in run_chunks(plan, _estimates_of_chunk, executor, cancel):
        parts[index] = part
        if progress is not None:
            finished = sum(len(part) == len(plan.grid) for part in parts.values())
            progress(finished / plan.chunks, None)
    ordered = [parts[index] for index in sorted(parts)]
    samples: dict[int, Sample] = {}
    for n in map(int, plan.grid):
        reached = [part[n] for part in ordered if n in part]
        found: dict[str, list[Array]] = {}
        notes: dict[str, str] = {}
        for values, said in reached:
            notes |= said
            for method, value in values.items():
                found.setdefault(method, []).append(value)
        if reached:
            estimates = {method: np.concatenate(part) for method, part in found.items()}
            samples[n] = Sample(estimates, plan.targets[0].truth(problem), notes)
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


def draw_moments(problem: Problem, n: int, seed: int = 0) -> list[Moments]:
    """One data set: every agent's moments of n (times its share) Gaussian samples."""
    rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0)))
    drawn = []
    for i, size in enumerate(problem.sample_sizes(n)):
        xx, xy, yy = gaussian_sums(rng, Samplers.of_agents(problem, [i]), 1, int(size))
        drawn.append(Moments(int(size), xx[0, 0], xy[0, 0], yy[0, 0]))
    return drawn


def coverage(
    problem: Problem,
    n: int,
    trials: int,
    level: float = 0.95,
    methods: Sequence[str] = ("collab", "collab_plus"),
    target: TargetLike = "full",
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
        choice("methods", method, [one.key for one in registry.every() if one.gives_intervals])
    plan = planned(problem, [n], trials, [target], methods, seed, settings)
    work = partial_of(_coverage_of_chunk, level=level)
    parts = [result for _, result in sorted(run_chunks(plan, work, executor, cancel))]
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
    full : Curve
        The test agent with all 30 features.
    missing : Curve
        The test agent with 20 of them.
    """

    problem: Problem
    full: Curve
    missing: Curve


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


def _estimates_of_chunk(
    plan: Plan[World], index: int, cancel: Event | None
) -> dict[int, tuple[dict[str, Array], dict[str, str]]]:
    found: dict[int, tuple[dict[str, Array], dict[str, str]]] = {}
    with single_threaded_blas():
        for n, agents in plan.steps(index, cancel):
            values, notes = found.setdefault(int(n), ({}, {}))
            for method in plan.methods:
                try:
                    estimate = registry.get(method).of(agents)
                    values[method] = plan.targets[0].model(estimate)
                    said = note_of(estimate)
                except NotEstimableError as reason:
                    said = str(reason)
                if said:
                    notes[method] = said
    return found


def _coverage_of_chunk(
    plan: Plan[World], index: int, cancel: Event | None, *, level: float
) -> dict[str, tuple[np.ndarray, Array]]:
    target = plan.targets[0]
    truth = target.truth(plan.source.problem)
    result: dict[str, tuple[np.ndarray, Array]] = {}
    with single_threaded_blas():
        for _, agents in plan.steps(index, cancel):
            for method in plan.methods:
                estimate = registry.get(method).of(agents)
                assert isinstance(estimate, Estimate)
                low, high = estimate.interval(level, agent=target.agent)
                result[method] = ((low <= truth) & (truth <= high), high - low)
    return result
