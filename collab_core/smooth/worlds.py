"""Simulated worlds with labels 0 and 1, and every method's measures against n.

Features, views and theta are a `Problem`'s; its noise has no role, because a label is drawn with
probability ``1/(1 + exp(-(a + x'theta)))``. Samples are drawn one by one: there are no exact sums
of a logistic model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event

import numpy as np
import pandas as pd

from .._base.blas import single_threaded_blas
from .._base.checks import Array, choice, finite_array, whole
from ..bounds.theory import Target
from ..core.estimate import NotEstimableError
from ..core.problem import Problem
from ..runs.chunks import HasSubmit, run_chunks
from ..world.laws import square_root
from .losses import LOGISTIC
from .measures import Curve, Part, Trouble, gathered, measured
from .models import Aggregate, Fit, Layout, collab, fit, imputation, naive, pooled, with_constant
from .solver import CancelledError, cancelled_by, check_cancelled, local_coefficients

#: Methods in the order of tables and legends.
METHODS = ("collab", "collab_attenuated", "imputation", "local", "naive_collab", "full_data")

#: What they are called here: the local model is no least squares. Short, for legends on phones.
NAMES = {
    "collab": "COLLAB",
    "collab_attenuated": "Attenuated T",
    "imputation": "Imputation",
    "local": "Local",
    "naive_collab": "Naive average",
    "full_data": "Full data",
}

#: Test samples of a run, shared by all trials and methods.
TEST_SAMPLES = 4000

#: Numbers drawn for one chunk of trials: two seconds of work, so that a run is soon seen.
CHUNK_NUMBERS = 2_000_000

#: Nodes of the Gauss-Hermite rule by which unseen features are averaged over.
NODES = 40

UNLABELLED = ("own", "pool")


class World:
    """A problem whose labels are 0 or 1.

    Parameters
    ----------
    problem : Problem
        Features, views, theta and shares; its noise is not used.
    signal : float, optional
        Standard deviation of the log-odds ``x'theta``: theta is scaled to it. As it is by default.
    intercept : float
        Log-odds at the mean of the features.
    """

    def __init__(
        self, problem: Problem, signal: float | None = None, intercept: float = 0.0
    ) -> None:
        self.problem = problem
        self.intercept = finite_array("intercept", intercept, ndim=0).item()
        size = float(np.sqrt(problem.theta @ problem.phi))
        if signal is not None and finite_array("signal", signal, ndim=0) < 0:
            raise ValueError(f"signal must not be negative, got {signal:g}")
        factor = 1.0 if signal is None else (signal / size if size > 0 else 0.0)
        self.theta = factor * problem.theta
        self.signal = factor * size

    @cached_property
    def layout(self) -> Layout:
        """How the server's parameters become the agents', with one intercept for all."""
        return Layout(self.problem.geometry, self.problem.views)

    def predictor(self, x: Array) -> Array:
        """True log-odds of samples with all features, shape (..., N, d) -> (..., N)."""
        return self.intercept + x @ self.theta

    def best_predictor(self, x: Array, target: Target) -> Array:
        """Log-odds of the label given what the target sees of samples, (N, d) -> (N,).

        For an agent the unseen features are averaged over, given the seen ones: exact for Gaussian
        features, up to Gauss-Hermite quadrature. No model of these features can do better.
        """
        if target == "full":
            return self.predictor(x)
        i = int(target)
        view = self.problem.views[i]
        transform = self.problem.transform(i)
        mean = self.intercept + x[..., view] @ (transform @ self.theta)
        unseen = float(self.theta @ self.layout.spreads[i][1:, 1:] @ self.theta)
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        spread = np.sqrt(max(unseen, 0.0)) * nodes
        p = LOGISTIC.predict(mean[..., None] + spread) @ (weights / weights.sum())
        p = np.clip(p, 1e-300, 1 - 1e-16)
        return np.log(p) - np.log1p(-p)

    def best_model(self, agent: int) -> Array:
        """Agent i's coefficients as n grows, by the probit approximation, shape (1 + d_i,)."""
        truth = np.append(self.intercept, self.theta)
        layout = self.layout
        return local_coefficients(truth, layout.transforms[agent], layout.spreads[agent])

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Samples (*shape, d) and their labels (*shape)."""
        x = rng.standard_normal((*shape, self.problem.dimension)) @ self._root
        y = (rng.random(shape) < LOGISTIC.predict(self.predictor(x))).astype(float)
        return x, y

    @cached_property
    def _root(self) -> Array:
        return square_root(self.problem.covariance)


@dataclass(frozen=True)
class Settings:
    """What estimators are told.

    Parameters
    ----------
    unlabelled : {"own", "pool"}
        Features over which server and agent should agree: the agent's own (as Algorithm 1's
        weights are its own covariance), or a pool that the server has.
    pool : int
        Samples in that pool.
    correction : bool
        Training losses corrected by k/n.
    """

    unlabelled: str = "own"
    pool: int = 2000
    correction: bool = False

    def __post_init__(self) -> None:
        choice("unlabelled", self.unlabelled, UNLABELLED)
        whole("pool", self.pool, low=1)


@dataclass(frozen=True)
class _Plan:
    world: World
    sample_sizes: tuple[int, ...]
    trials: int
    targets: tuple[Target, ...]
    methods: tuple[str, ...]
    seed: int
    settings: Settings
    chunk_size: int
    test: Array
    labels: Mapping[Target, Array]

    @property
    def chunks(self) -> int:
        return -(-self.trials // self.chunk_size)

    def trials_of(self, index: int) -> int:
        return min(self.chunk_size, self.trials - index * self.chunk_size)


Progress = Callable[[float, dict[Target, Curve]], None]


def curves(
    world: World,
    sample_sizes: Sequence[int],
    trials: int,
    targets: Sequence[Target] = ("full",),
    methods: Sequence[str] = METHODS,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> dict[Target, Curve]:
    """Measures of every method against n, by simulation: several targets on the same draws.

    Test samples are fresh, and shared by all trials. In the place of their labels are the true
    probabilities given what the target sees: the same on average, without the labels' noise.

    Parameters
    ----------
    world : World
    sample_sizes : list of int
        The grid of n; along it the same agents collect more samples.
    trials : int
    targets : list of "full" or int
        All features, or those of an agent.
    methods : list of str
        Keys of `NAMES`. For all features, "local" is a newcomer who sees them and has n samples.
        "full_data" is a fit to everybody's samples of the target's features, as if nobody missed
        any of them: the ceiling for all features, though not for an agent's, of which the others'
        features tell too.
    seed : int
        The same seed gives the same numbers, whatever the executor.
    progress : callable, optional
        Called with the fraction done and the curves so far.
    executor : object with ``submit``, optional
    cancel : threading.Event, optional
        When set, the run ends within a step of a solver and returns what is done, marked as
        partial.
    """
    plan = _checked(world, sample_sizes, trials, targets, methods, seed, settings)
    best = {
        target: measured(world.best_predictor(plan.test, target), plan.labels[target])[0]
        for target in plan.targets
    }

    def result(done: Mapping[int, dict[Target, Part]], partial: bool) -> dict[Target, Curve]:
        return {
            target: gathered(
                {index: parts[target] for index, parts in done.items()},
                target=target,
                sample_sizes=plan.sample_sizes,
                methods=plan.methods,
                best={key: float(value) for key, value in best[target].items()},
                trials=plan.trials,
                partial=partial,
            )
            for target in plan.targets
        }

    done: dict[int, dict[Target, Part]] = {}
    ended = 0
    if progress is not None:
        progress(0.0, result(done, partial=True))
    for index, parts in run_chunks(plan, _chunk, executor, cancel):
        done[index] = parts
        ended = sum(all(part.finished for part in parts.values()) for parts in done.values())
        if progress is not None:
            through = sum(len(parts[plan.targets[0]].trouble) for parts in done.values())
            progress(
                through / (plan.chunks * len(plan.sample_sizes)),
                result(done, partial=ended < plan.chunks),
            )
    return result(done, ended < plan.chunks)


def _checked(
    world: World,
    sample_sizes: Sequence[int],
    trials: int,
    targets: Sequence[Target],
    methods: Sequence[str],
    seed: int,
    settings: Settings | None,
) -> _Plan:
    given = np.atleast_1d(np.asarray(sample_sizes)).tolist()
    sizes = tuple(sorted({whole("sample_sizes", n, low=1, high=10**7) for n in given}))
    if not sizes:
        raise ValueError("sample_sizes must hold at least one n, got none")
    problem = world.problem
    if not targets:
        raise ValueError("targets must name at least one target, got none")
    for target in targets:
        if target != "full":
            whole("target", target, low=0, high=problem.agents - 1)  # type: ignore[arg-type]
    chosen = tuple(choice("methods", method, METHODS) for method in methods)
    if not chosen:
        raise ValueError("methods must name at least one method, got none")
    numbers = int(problem.sample_sizes(sizes[-1]).sum()) * problem.dimension
    rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0), spawn_key=(0,)))
    test = rng.standard_normal((TEST_SAMPLES, problem.dimension)) @ world._root
    labels = {t: LOGISTIC.predict(world.best_predictor(test, t)) for t in targets}
    return _Plan(
        world, sizes, whole("trials", trials, low=1), tuple(targets), chosen, seed,
        settings or Settings(), int(np.clip(CHUNK_NUMBERS // max(numbers, 1), 1, 20)), test,
        labels,
    )  # fmt: skip


def _chunk(plan: _Plan, index: int, cancel: Event | None) -> dict[Target, Part]:
    parts = {target: Part() for target in plan.targets}
    with single_threaded_blas(), cancelled_by(cancel):
        try:
            data = Data.draw(plan, index)
            starts: dict[object, Array] = {}
            for n in plan.sample_sizes:
                # An n counts when all methods are through: comparisons are paired.
                for target, found in _at(plan, Step(data, n, starts)).items():
                    parts[target].take(found)
        except CancelledError:
            return parts
    for part in parts.values():
        part.finished = True
    return parts


def _at(plan: _Plan, step: Step) -> dict[Target, Part]:
    """Measures of every method at one n."""
    parts = {target: Part() for target in plan.targets}
    for method in plan.methods:
        for target, part in parts.items():
            check_cancelled()
            try:
                model = step.model(method, target)
            except NotEstimableError as reason:
                part.notes[method, step.n] = str(reason)
                continue
            columns = step.data.columns(target)
            eta = model[..., :1] + model[..., 1:] @ plan.test[:, columns].T
            part.add(method, step.n, eta, plan.labels[target])
    for target, part in parts.items():
        part.trouble[step.n] = step.trouble(target)
    return parts


@dataclass(frozen=True, eq=False)
class Data:
    """Samples of all agents for some trials, each with all features; and a newcomer's."""

    world: World
    settings: Settings
    sizes: Mapping[int, tuple[int, ...]]
    x: Sequence[Array]
    y: Sequence[Array]
    newcomer: tuple[Array, Array]
    pool: Array

    @classmethod
    def draw(cls, plan: _Plan, index: int) -> Data:
        """The trials of chunk ``index``, from a stream of their own."""
        world, count = plan.world, plan.trials_of(index)
        sequence = np.random.SeedSequence(plan.seed, spawn_key=(1, index))
        rng = np.random.default_rng(sequence)
        sizes = {
            n: tuple(max(int(s), 1) for s in world.problem.sample_sizes(n))
            for n in plan.sample_sizes
        }
        largest = sizes[plan.sample_sizes[-1]]
        samples = []
        for size in largest:
            check_cancelled()
            samples.append(world.draw(rng, (count, size)))
        newcomer = world.draw(rng, (count, plan.sample_sizes[-1]))
        pool = rng.standard_normal((plan.settings.pool, world.problem.dimension)) @ world._root
        return cls(
            world, plan.settings, sizes, [x for x, _ in samples], [y for _, y in samples],
            newcomer, pool,
        )  # fmt: skip

    def columns(self, target: Target) -> np.ndarray:
        """Features of a target."""
        problem = self.world.problem
        return np.arange(problem.dimension) if target == "full" else problem.views[int(target)]


class Step:
    """Every method's models when agents have n samples, worked out as they are asked for.

    Parameters
    ----------
    data : Data
    n : int
    starts : dict
        Where solvers start: what they found at the n before. Written to.
    """

    def __init__(self, data: Data, n: int, starts: dict[object, Array]) -> None:
        self.data, self.n, self.starts = data, n, starts
        views = data.world.problem.views
        self.labels = [y[:, :size] for y, size in zip(data.y, data.sizes[n], strict=True)]
        self.designs = [
            with_constant(x[:, :size, view])
            for x, size, view in zip(data.x, data.sizes[n], views, strict=True)
        ]
        self.answers: dict[tuple[str, Target], tuple[int, int]] = {}

    @cached_property
    def fits(self) -> list[Fit]:
        """Every agent's own model."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, x in enumerate(self.designs):
            groups.setdefault(x.shape, []).append(i)
        found: dict[int, Fit] = {}
        # Agents of one shape are fitted in one call: at small n the calls cost more than the work.
        for members in groups.values():
            together = self._local(
                [("agent", i) for i in members],
                np.stack([self.designs[i] for i in members]),
                np.stack([self.labels[i] for i in members]),
            )
            found |= {i: together.of(place) for place, i in enumerate(members)}
        return [found[i] for i in range(len(self.designs))]

    def _local(self, keys: Sequence[object], x: Array, y: Array) -> Fit:
        """Fits of some agents, x of shape (agents, trials, n, k)."""
        start = None
        if keys[0] in self.starts:
            start = np.stack([self.starts[key] for key in keys])
        one = fit(x, y, start=start)
        # A ridge's answer is no start for the fit without it.
        calm = ~(one.regularised | one.one_class)[..., None]
        for key, theta in zip(keys, np.where(calm, one.theta, 0.0), strict=True):
            self.starts[key] = theta
        return one

    def trouble(self, target: Target) -> Trouble:
        """What the agents' fits, and the answers for a target so far, ran into."""
        mine = {method: found for (method, t), found in self.answers.items() if t == target}
        return Trouble(
            sum(one.loss.size for one in self.fits),
            sum(int((one.regularised & ~one.one_class).sum()) for one in self.fits),
            sum(int(one.one_class.sum()) for one in self.fits),
            sum(int((~one.converged).sum()) for one in self.fits),
            {method: ridge for method, (ridge, _) in mine.items()},
            {method: stuck for method, (_, stuck) in mine.items()},
        )

    def model(self, method: str, target: Target) -> Array:
        """Intercept and coefficients for what the target sees, shape (trials, 1 + k)."""
        if method in ("local", "full_data"):
            one = self._newcomer if method == "local" else self._full_data(target)
            if method == "local" and target != "full":
                one = self.fits[int(target)]
            ridge = int((one.regularised | one.one_class).sum())
            self.answers[method, target] = ridge, int((~one.converged).sum())
            return one.theta
        found = self.aggregate(method)
        stuck = int((~found.converged).sum())
        self.answers[method, target] = int(found.regularised.sum()), stuck
        return found.full() if target == "full" else found.local(int(target))

    @cached_property
    def _newcomer(self) -> Fit:
        """Somebody who sees all features and has n samples."""
        x, y = self.data.newcomer
        design, label = with_constant(x[:, : self.n]), y[:, : self.n]
        return self._local(["newcomer"], design[None], label[None]).of(0)

    def _full_data(self, target: Target) -> Fit:
        """Everybody's samples of the target's features."""
        columns = self.data.columns(target)
        designs = [
            with_constant(x[:, :size][..., columns])
            for x, size in zip(self.data.x, self.data.sizes[self.n], strict=True)
        ]
        key = ("full_data", target)
        found = pooled(designs, self.labels, start=self.starts.get(key))
        calm = ~(found.regularised | found.one_class)[..., None]
        self.starts[key] = np.where(calm, found.theta, 0.0)
        return found

    def aggregate(self, method: str) -> Aggregate:
        """A method's model for everybody."""
        if method not in self._aggregates:
            found = self._aggregate(method)
            self._aggregates[method] = found
            calm = (found.converged & ~found.regularised)[..., None]
            self.starts[method] = np.where(calm, found.theta, 0.0)
        return self._aggregates[method]

    @cached_property
    def _aggregates(self) -> dict[str, Aggregate]:
        return {}

    def _aggregate(self, method: str) -> Aggregate:
        layout, settings = self.data.world.layout, self.data.settings
        if method == "naive_collab":
            return naive(self.fits, layout)
        start = self.starts.get(method)
        if method == "imputation":
            return imputation(self.designs, self.labels, layout, start=start)
        designs = self.designs
        if settings.unlabelled == "pool":
            views = self.data.world.problem.views
            designs = [with_constant(self.data.pool[:, view]) for view in views]
        attenuated = method == "collab_attenuated"
        if attenuated and start is None:
            # The attenuated objective is not convex.
            start = self.aggregate("collab").theta
        return collab(
            designs, self.fits, layout, attenuated=attenuated,
            correction=settings.correction, start=start,
        )  # fmt: skip


@dataclass(frozen=True)
class AgentModels:
    """An agent's models of one simulated data set.

    Attributes
    ----------
    frame : DataFrame
        A row a coefficient: ``name`` ("intercept", "x1", ..), ``best`` (the limit of its own fit,
        by the probit approximation), ``plain`` (``T_i theta``, what a linear model would have) and
        one column a method.
    trouble : Trouble
    """

    frame: pd.DataFrame
    trouble: Trouble


def models_of_agent(
    world: World,
    n: int,
    agent: int,
    methods: Sequence[str] = METHODS,
    *,
    seed: int = 0,
    settings: Settings | None = None,
    cancel: Event | None = None,
) -> AgentModels | None:
    """One simulated data set: an agent's coefficients by every method, beside the best.

    None if it was cancelled.
    """
    plan = _checked(world, [n], 1, [agent], methods, seed, settings)
    with single_threaded_blas(), cancelled_by(cancel):
        try:
            step = Step(Data.draw(plan, 0), n, {})
            found = {method: step.model(method, agent)[0] for method in plan.methods}
        except CancelledError:
            return None
    view = world.problem.views[agent]
    plain = np.append(world.intercept, world.problem.transform(agent) @ world.theta)
    frame = pd.DataFrame(
        {
            "name": ["intercept", *(f"x{j + 1}" for j in view)],
            "best": world.best_model(agent),
            "plain": plain,
            **found,
        }
    )
    return AgentModels(frame, step.trouble(agent))
