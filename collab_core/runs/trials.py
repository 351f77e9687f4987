"""How a simulation is planned and carried out: chunks of trials with seeds of their own.

A `Plan` is checked once and says all that a chunk needs. `trial_steps` then grows a chunk's data
along the sample sizes, and every `Step` computes an estimate only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Event

import numpy as np

from .._base.checks import Array, choice, whole
from ..bounds.theory import Target
from ..bounds.weights import scores_of_law
from ..core import sigma as sigma_module
from ..core.estimate import Estimate, LeftOut, NaiveEstimate, NotEstimableError
from ..core.geometry import Geometry
from ..core.moments import AgentData, LocalFit, Moments, fit_together
from ..core.problem import Problem
from ..methods import estimators
from ..methods.registry import AGENT_METHODS, DEFAULT_METHODS, METHODS, WEIGHTINGS
from ..world.laws import FeatureLaw, Law, square_root
from .draws import Collecting, CollectingModels, Sources, StoppedError, gaussian_sums, raw_sums

#: Numbers per array in a chunk of trials: small enough to stay near the processor and to stop soon.
CHUNK_NUMBERS = 600_000

#: Numbers that a chunk multiplies out where samples are drawn one by one: under a second's work.
CHUNK_PRODUCTS = 100_000_000

#: Drawing a number of a raw sample takes as long as multiplying out so many.
DRAWN = 8

SIGMA_MODES = ("known", "unlabelled", "pooled")


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


#: Methods that read the agents' local models and no covariance.
WITHOUT_SIGMA = ("local", "naive_collab", "optimized_naive_collab")


@dataclass(frozen=True)
class Plan:
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
    ) -> Plan:
        """A plan from what a caller asks for, or a ValueError that says what is wrong."""
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
            and set(self.methods) <= by_population | set(WITHOUT_SIGMA)
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

    def _cut(self) -> Plan:
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


def truth_of(problem: Problem, target: Target) -> Array:
    """What is estimated: theta, or an agent's best model."""
    return problem.theta if target == "full" else problem.local_theta(int(target))


def error_root(problem: Problem, target: Target) -> tuple[Array, Array]:
    """The truth, and a root of the covariance in whose norm errors are measured."""
    block = problem.covariance if target == "full" else problem.geometry.block(int(target))
    return truth_of(problem, target), np.linalg.cholesky(block)


def trial_steps(plan: Plan, index: int, cancel: Event | None) -> Iterator[Step]:
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
            yield Step(plan, n, data, fresh, geometry, samples)
    except StoppedError:
        return


def _unlabelled_covariance(
    plan: Plan, rng: np.random.Generator, trials: int, stop: Callable[[], bool]
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


class Step:
    """A stack of trials at one n: what every method makes of it, each computed once."""

    def __init__(
        self,
        plan: Plan,
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
