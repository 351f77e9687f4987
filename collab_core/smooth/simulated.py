"""Every method's measures against n in a simulated world with labels 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event

import numpy as np
import pandas as pd

from .._base.blas import single_threaded_blas
from .._base.checks import Array, whole
from ..core.problem import Problem
from ..core.target import Target, TargetKey, TargetLike
from ..runs.chunks import HasSubmit
from .cancelling import CancelledError, cancelled_by, check_cancelled
from .curve import Measured
from .fits import Fit, with_constant
from .losses import LOGISTIC
from .measures import measured
from .methods import chosen
from .models import Aggregate, pooled
from .running import checked_sizes, run
from .step import LogisticStep
from .trouble import Trouble
from .worlds import LogisticSettings, LogisticWorld

#: Test samples of a run, shared by all trials and methods.
TEST_SAMPLES = 4000

#: Numbers drawn for one chunk of trials: two seconds of work, so that a run is soon seen.
CHUNK_NUMBERS = 2_000_000


@dataclass(frozen=True, eq=False)
class SimulationPlan:
    """A run in a simulated world.

    Attributes
    ----------
    test : array, shape (N, d)
        Test samples.
    labels : dict
        By target, the probability of a label of 1 given what it sees of them, shape (N,).
    """

    world: LogisticWorld
    sample_sizes: tuple[int, ...]
    trials: int
    targets: tuple[Target, ...]
    methods: tuple[str, ...]
    seed: int
    settings: LogisticSettings
    chunk_size: int
    test: Array = field(repr=False)
    labels: Mapping[Target, Array] = field(repr=False)

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.trials // self.chunk_size)

    def trials_of(self, index: int) -> int:
        """Trials of a chunk; the last may have fewer."""
        return min(self.chunk_size, self.trials - index * self.chunk_size)

    def steps(self, index: int) -> Iterator[SimulatedStep]:
        """Draw the trials of a chunk; along the grid the same agents collect more samples."""
        data = Data.draw(self, index)
        starts: dict[object, Array] = {}
        for n in self.sample_sizes:
            yield SimulatedStep(self, data, n, starts)


def curves(
    world: LogisticWorld,
    sample_sizes: Sequence[int],
    trials: int,
    targets: Sequence[TargetLike] = ("full",),
    methods: Sequence[str] | None = None,
    *,
    seed: int = 0,
    settings: LogisticSettings | None = None,
    progress: Callable[[float, dict[TargetKey, Measured]], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> dict[TargetKey, Measured]:
    """Measures of every method against n, by simulation: several targets on the same draws.

    Test samples are fresh, and shared by all trials. In the place of their labels are the true
    probabilities given what the target sees: the same on average, without the labels' noise.

    Parameters
    ----------
    world : LogisticWorld
    sample_sizes : list of int
        The grid of n; along it the same agents collect more samples.
    trials : int
    targets : list of "full" or int
        All features, or those of an agent.
    methods : list of str
        Keys (`methods.keys`), all by default. For all features, "local" is a newcomer who sees them
        and has n samples.
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
    plan = planned(world, sample_sizes, trials, targets, methods, seed, settings)
    best = {}
    for target in plan.targets:
        found, _ = measured(world.best_predictor(plan.test, target), plan.labels[target])
        best[target] = {key: float(value) for key, value in found.items()}

    def keyed(found: dict[Target, Measured]) -> dict[TargetKey, Measured]:
        return {target.key: measured for target, measured in found.items()}

    def report(fraction: float, found: dict[Target, Measured]) -> None:
        if progress is not None:
            progress(fraction, keyed(found))

    return keyed(run(plan, best, report, executor, cancel))


def planned(
    world: LogisticWorld,
    sample_sizes: Sequence[int],
    trials: int,
    targets: Sequence[TargetLike],
    methods: Sequence[str] | None,
    seed: int,
    settings: LogisticSettings | None,
) -> SimulationPlan:
    """Check the arguments of `curves`, and draw the test samples."""
    sizes = checked_sizes(sample_sizes, 1, 10**7)
    problem = world.problem
    if not targets:
        raise ValueError("targets must name at least one target, got none")
    whose = tuple(dict.fromkeys(Target.of(target, problem.agents) for target in targets))
    numbers = int(problem.sample_sizes(sizes[-1]).sum()) * problem.dimension
    rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0), spawn_key=(0,)))
    test = rng.standard_normal((TEST_SAMPLES, problem.dimension)) @ world.root
    return SimulationPlan(
        world,
        sizes,
        whole("trials", trials, low=1),
        whose,
        chosen(methods),
        seed,
        settings or LogisticSettings(),
        int(np.clip(CHUNK_NUMBERS // max(numbers, 1), 1, 20)),
        test,
        {target: LOGISTIC.predict(world.best_predictor(test, target)) for target in whose},
    )


@dataclass(frozen=True, eq=False)
class Data:
    """Samples of all agents for some trials, each with all features; and a newcomer's.

    Attributes
    ----------
    x, y : list of arrays, shapes (trials, n_i, d) and (trials, n_i)
        At the largest n.
    newcomer : pair of arrays
        The same of somebody who sees all features.
    pool : array, shape (N, d)
        Unlabelled samples that the server has.
    """

    x: Sequence[Array]
    y: Sequence[Array]
    newcomer: tuple[Array, Array]
    pool: Array

    @classmethod
    def draw(cls, plan: SimulationPlan, index: int) -> Data:
        """The trials of chunk ``index``, from a stream of their own."""
        world, count = plan.world, plan.trials_of(index)
        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(1, index)))
        samples = []
        for size in agent_sizes(world.problem, plan.sample_sizes[-1]):
            check_cancelled()
            samples.append(world.draw(rng, (count, size)))
        newcomer = world.draw(rng, (count, plan.sample_sizes[-1]))
        pool = rng.standard_normal((plan.settings.pool, world.problem.dimension)) @ world.root
        return cls([x for x, _ in samples], [y for _, y in samples], newcomer, pool)


def agent_sizes(problem: Problem, n: int) -> list[int]:
    """Samples of every agent, one at least."""
    return [max(int(size), 1) for size in problem.sample_sizes(n)]


class SimulatedStep(LogisticStep):
    """Every method's models when simulated agents have n samples."""

    def __init__(
        self, plan: SimulationPlan, data: Data, n: int, starts: dict[object, Array]
    ) -> None:
        self.plan = plan
        problem = plan.world.problem
        sizes = agent_sizes(problem, n)
        self.samples = [x[:, :size] for x, size in zip(data.x, sizes, strict=True)]
        self.newcomer = tuple(part[:, :n] for part in data.newcomer)
        self.pool = data.pool
        super().__init__(
            n,
            plan.world.layout,
            [with_constant(x[..., v]) for x, v in zip(self.samples, problem.views, strict=True)],
            [y[:, :size] for y, size in zip(data.y, sizes, strict=True)],
            starts,
            correction=plan.settings.correction,
        )

    @property
    def unlabelled(self) -> Sequence[Array]:
        """The agents' own features, or the server's pool seen through each view."""
        if self.plan.settings.unlabelled == "own":
            return self.designs
        return [with_constant(self.pool[:, view]) for view in self.plan.world.problem.views]

    def alone(self, target: Target) -> Fit:
        """An agent's own fit; for all features a newcomer's, who has n samples."""
        return self._newcomer if target.agent is None else self.fits[target.agent]

    @cached_property
    def _newcomer(self) -> Fit:
        x, y = self.newcomer
        return self.fitted(["newcomer"], with_constant(x)[None], y[None]).of(0)

    def everybody(self, target: Target) -> Fit:
        """Everybody's samples of the target's features, with one intercept."""
        seen = target.view(self.plan.world.problem)
        key = ("full_data", target)
        found = pooled(
            [with_constant(x[..., seen]) for x in self.samples],
            self.labels,
            start=self.starts.get(key),
        )
        self.keep_start(key, found)
        return found

    def returned(self, found: Aggregate, target: Target) -> Array:
        """The model of all features, or an agent's."""
        return found.full() if target.agent is None else found.local(target.agent)

    def tests(self, target: Target) -> tuple[Array, Array]:
        """Test samples as the target sees them, with true probabilities for labels."""
        seen = target.view(self.plan.world.problem)
        return self.plan.test[:, seen], self.plan.labels[target]


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

    def off(self, method: str) -> float:
        """How far a method's coefficients are from the best, root mean square."""
        return float(np.sqrt(((self.frame[method] - self.frame["best"]) ** 2).mean()))

    @property
    def shrinkage(self) -> float | None:
        """How much smaller the best coefficients are than ``T_i theta``; None where that is 0."""
        best, plain = (float(np.linalg.norm(self.frame[name])) for name in ("best", "plain"))
        return 1 - best / plain if plain > 1e-12 else None


def models_of_agent(
    world: LogisticWorld,
    n: int,
    agent: int,
    methods: Sequence[str] | None = None,
    *,
    seed: int = 0,
    settings: LogisticSettings | None = None,
    progress: Callable[[float, AgentModels | None], None] | None = None,
    cancel: Event | None = None,
) -> AgentModels | None:
    """One simulated data set: an agent's coefficients by every method, beside the best.

    Parameters
    ----------
    methods : list of str
        Keys (`methods.keys`), all by default.
    progress : callable, optional
        Called with the fraction done, and None.

    Returns
    -------
    AgentModels, or None if it was cancelled
    """
    plan = planned(world, [n], 1, [agent], methods, seed, settings)
    found = {}
    with single_threaded_blas(), cancelled_by(cancel):
        try:
            step = next(plan.steps(0))
            for done, method in enumerate(plan.methods):
                if progress is not None:
                    progress(done / len(plan.methods), None)
                found[method] = step.model(method, plan.targets[0])[0]
        except CancelledError:
            return None
    frame = pd.DataFrame(
        {
            "name": ["intercept", *(f"x{j + 1}" for j in world.problem.views[agent])],
            "best": world.best_model(agent),
            "plain": np.append(world.intercept, world.problem.transform(agent) @ world.theta),
            **found,
        }
    )
    return AgentModels(frame, step.trouble(plan.targets[0]))
