"""How many unlabelled samples optimal weights need before they pay, by simulation.

COLLAB's weights are optimal for Gaussian features. For others the optimal ones are estimated from
unlabelled samples (`weights.score_covariances`), and few of these make weights that are worse than
the Gaussian ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from functools import partial as partial_of
from threading import Event
from typing import Any

import numpy as np
import pandas as pd

from .. import methods as registry
from .._base.blas import single_threaded_blas
from .._base.checks import Array, whole
from .._base.intervals import mean_interval
from ..answers.theory import expected_errors
from ..bounds import covariances as bounds
from ..bounds.weights import score_covariances, weights_of
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from ..methods.collab_optimal import optimal
from ..world.laws import Law
from .chunks import HasSubmit, run_chunks
from .curve import Curve
from .simulate import planned
from .source import Plan
from .world import Settings, World

#: Draws of the trials from which the range of a break-even is taken.
RESAMPLES = 400

#: Weights that are optimal for the law at hand: estimated from unlabelled samples, and known.
OPTIMAL = ("collab_optimal", "collab_oracle")


#: What the estimated weights are compared with: COLLAB's own, and those that need the truth.
OTHERS = ("collab", "collab_oracle")


@dataclass(frozen=True, kw_only=True)
class UnlabelledCurve(Curve):
    """Error of COLLAB with estimated optimal weights against the number of unlabelled samples.

    The grid holds numbers of unlabelled samples; the errors of ``"collab"`` and
    ``"collab_oracle"``, which use none, are the same everywhere on it.

    Attributes
    ----------
    problem : Problem
    n : int
        Labelled samples per agent.
    limits : dict
        ``limits[size]``: what the same weights cost as n grows, the plug-in then being the truth:
        ``n`` times the error, by formula, shape (trials,).
    gaussian, optimal : float
        n times the error that theory gives Gaussian and optimal weights as n grows.
    """

    problem: Problem = field(repr=False)
    n: int
    limits: Mapping[float, Array] = field(repr=False)
    gaussian: float
    optimal: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of unlabelled samples."""
        return self.sample_sizes

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
                ("", self.n * self.at("collab_optimal", size)),
                ("limit", self.limits.get(size, np.empty(0))),
            ):
                names = ("mean", "low", "high")
                if prefix:
                    names = ("limit", "limit_low", "limit_high")
                found = mean_interval(values) if values.size else (pd.NA,) * 3
                row |= dict(zip(names, found, strict=True))
            rows.append(row | {"trials": int(self.at("collab_optimal", size).size)})
        numbers = ["mean", "low", "high", "limit", "limit_low", "limit_high"]
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "Float64"))

    def scaled(self, method: str) -> tuple[float, Any, Any] | None:
        """``n`` times the error of ``"collab"`` or ``"collab_oracle"``: mean and 95% interval."""
        errors = self.at(method, self.grid[-1])
        return mean_interval(self.n * errors) if errors.size else None

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
        found = self.ahead_from("collab_optimal", "collab")
        return None if found is None else int(found)


def curve(
    problem: Problem,
    n: int,
    sizes: Sequence[int],
    trials: int,
    target: TargetLike = "full",
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
    methods = (*OTHERS, "collab_optimal")
    plan = planned(problem, [n], trials, [target], methods, seed, settings)
    # Weights of every size, estimated and with theta known: about four times those of the largest.
    plan = plan.in_chunks_of(max(1, plan.chunk_size // 4))
    whose = plan.targets[0]
    gaussian, best = (
        expected_errors(problem, method, [1], whose, features=features)[0] for method in OTHERS
    )
    assert gaussian is not None
    assert best is not None

    def found(results: Mapping[int, _UnlabelledChunk], partial: bool) -> UnlabelledCurve:
        parts = [results[index] for index in sorted(results)]
        others = _joined([part.others for part in parts])
        errors = {method: dict.fromkeys(ordered, others[method]) for method in others}
        return UnlabelledCurve(
            axis="unlabelled",
            grid=ordered,
            methods=methods,
            errors=errors | {"collab_optimal": _joined([part.errors for part in parts])},
            notes={},
            trials=plan.trials,
            partial=partial,
            target=whose,
            is_gaussian=settings.law.is_gaussian,
            problem=problem,
            n=n,
            limits=_joined([part.limits for part in parts]),
            gaussian=gaussian,
            optimal=best,
        )

    done: dict[int, _UnlabelledChunk] = {}
    if progress is not None:
        progress(0.0, found(done, partial=True))
    work = partial_of(_unlabelled_of_chunk, sizes=ordered)
    for index, result in run_chunks(plan, work, executor, cancel):
        done[index] = result
        if progress is not None:
            finished = sum(bool(result.errors) for result in done.values())
            progress(finished / plan.chunks, found(done, partial=finished < plan.chunks))
    return found(done, partial=sum(bool(result.errors) for result in done.values()) < plan.chunks)


def gains(curve: Curve) -> pd.DataFrame:
    """Errors of optimal weights over those of COLLAB's, on the same trials.

    Parameters
    ----------
    curve : Curve
        Of a run with ``"collab"`` among its methods.

    Returns
    -------
    DataFrame
        Rows of `Curve.relative_to` of `OPTIMAL`, weights estimated and known.
    """
    frame = curve.relative_to("collab")
    return frame[frame["method"].isin(OPTIMAL)]


@dataclass(frozen=True)
class _UnlabelledChunk:
    errors: dict[int, Array]
    limits: dict[int, Array]
    others: dict[str, Array]


def _unlabelled_of_chunk(
    plan: Plan[World], index: int, cancel: Event | None, *, sizes: tuple[int, ...]
) -> _UnlabelledChunk:
    source, target = plan.source, plan.targets[0]
    found = _UnlabelledChunk({}, {}, {})
    with single_threaded_blas():
        for _, agents in plan.steps(index, cancel):
            assert agents.unlabelled is not None
            errors, limits = {}, {}
            for size in sizes:
                if cancel is not None and cancel.is_set():
                    # Trials count with all their sizes or not at all: curves must stay paired.
                    return found
                samples = agents.unlabelled[:, :size]
                errors[size] = source.errors(agents, optimal(agents, samples), target)
                limits[size] = np.array(
                    [_weights_error(source.problem, source.scores, one, target) for one in samples]
                )
            for method in OTHERS:
                estimate = registry.get(method).of(agents)
                found.others[method] = source.errors(agents, estimate, target)
            found.errors.update(errors)
            found.limits.update(limits)
    return found


def _weights_error(
    problem: Problem, scores: Sequence[Array], samples: Array, target: Target
) -> float:
    """``tr(Sigma C(W))`` of weights from these unlabelled samples, theta and noise being known."""
    # As a stack of one trial, which is summed faster.
    guess = score_covariances(
        samples[None], problem.geometry, problem.theta[None], problem.noise**2
    )
    weights = weights_of([one[0] for one in guess], problem.geometry)
    covariance = bounds.weighted(problem, weights, scores)
    return bounds.error(problem, covariance, target.agent)


def _joined(parts: Sequence[Mapping[Any, Array]]) -> dict[Any, Array]:
    """Arrays of the same key one after the other."""
    keys = dict.fromkeys(key for part in parts for key in part)
    return {key: np.concatenate([part[key] for part in parts if key in part]) for key in keys}
