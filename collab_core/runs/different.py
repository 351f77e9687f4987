"""Errors where agents differ, by simulation: more and more apart, or with more and more data.

In every trial the agents' own relations are drawn anew around the shared one (random effects), so
that means are over worlds of one kind and closed forms (`collab_core.different`) are for the same.
Along the grid the people stay and their relations move apart, or the relations stay and the people
become more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import methods as registry
from .._base.checks import Array, choice, positive
from ..answers.random_effects import LINES, RandomEffects, against_n, against_spread
from ..core.agents import Agents
from ..core.moments import Moments, fit_together
from ..core.problem import Problem
from ..core.target import Models, Target
from ..world import laws
from ..world.laws import square_root
from .chunks import HasSubmit
from .curve import Curve
from .disturbances import agents_of
from .disturbed_theory import local_truth
from .draws import CompleteSums, complete_sums
from .one_data_set import MODELS, DataSet, belonging, coefficients, data_set, one_coefficient
from .source import Chunk, Found, Plan, Source, Wanted, curves

__all__ = [
    "COMPARED",
    "LINES",
    "MODELS",
    "DataSet",
    "DifferentWorld",
    "RandomEffects",
    "against_n",
    "against_spread",
    "belonging",
    "coefficients",
    "compared",
    "curve",
    "data_set",
    "one_coefficient",
    "table",
]

#: What such a world has at hand for methods.
GIVEN = frozenset({"fit", "xx", "covariance", "all_pairs"})

#: Methods that are compared where nobody chose, as far as they are registered.
COMPARED = ("local", "collab", "adaptive", "guarded")

#: Numbers per array in a chunk of trials, and most trials in it: progress shows, Stop is quick.
CHUNK_NUMBERS, CHUNK_TRIALS = 50_000, 20


def compared() -> list[str]:
    """Methods that are compared where nobody chose."""
    known = registry.keys()
    return [key for key in COMPARED if key in known]


class DifferentAgents(Agents):
    """A stack of trials in which every agent follows a relation of its own.

    Attributes
    ----------
    thetas : array, shape (m, trials, d)
    """

    thetas: Array


@dataclass(frozen=True, eq=False)
class DifferentWorld(Source):
    """Agents whose relations are drawn around the shared one in every trial.

    Attributes
    ----------
    problem : Problem
        Its theta is the shared relation.
    variances : array, shape (m, d)
        Of deviations of size 1.
    along : {"spread", "n"}
        What grows along the grid: the size of the deviations, or the samples.
    fixed : float
        The other of the two.
    agents : tuple of int
        Those who are judged.
    """

    problem: Problem
    variances: Array
    along: str
    fixed: float
    agents: tuple[int, ...]

    whole_only = True

    def chunk_size(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Trials of a chunk: by the world alone, so that seeds always mean the same."""
        numbers = self.problem.agents * self.problem.dimension**2
        return int(np.clip(CHUNK_NUMBERS // numbers, 1, CHUNK_TRIALS))

    def steps(self, grid: Sequence[float], chunk: Chunk) -> Iterator[tuple[float, Agents]]:
        """The same trials at every size of the deviations, or with more and more samples."""
        problem, trials = self.problem, chunk.trials
        root = square_root(problem.covariance)
        white = chunk.streams(2).standard_normal((problem.agents, trials, problem.dimension))
        unit = np.sqrt(self.variances)[:, None, :] * white
        features = [chunk.streams(0, i) for i in range(problem.agents)]
        noises = [chunk.streams(1, i) for i in range(problem.agents)]
        d = problem.dimension
        nobody = CompleteSums(0, np.zeros((trials, d, d)), np.zeros((trials, d)), np.zeros(trials))
        people = [nobody] * problem.agents
        for place in grid:
            size, n = (place, self.fixed) if self.along == "spread" else (self.fixed, place)
            for i, count in enumerate(problem.sample_sizes(n).tolist()):
                more = count - people[i].n
                if more > 0:
                    new = complete_sums(
                        features[i], noises[i], laws.of("gaussian"), root, trials, more, chunk.stop
                    )
                    people[i] = added(people[i], new)
            thetas = problem.theta + size * unit
            yield place, self._agents(people, thetas)

    def _agents(self, people: Sequence[CompleteSums], thetas: Array) -> DifferentAgents:
        problem = self.problem
        data: list[Moments] = [
            one.labelled(view, theta, problem.noise)
            for one, view, theta in zip(people, problem.views, thetas, strict=True)
        ]
        fit_together(data)
        found = DifferentAgents(data, problem.views, problem.geometry, problem.dimension)
        found.thetas = thetas
        return found

    def errors(self, agents: Agents, estimate: Models, target: Target) -> Array:
        """Mean over the agents that count, each by its own truth, shape (trials,)."""
        assert isinstance(agents, DifferentAgents)
        total: Array = np.zeros(())
        for i in self.agents:
            truth, _ = local_truth(self.problem, i, agents.thetas[i])
            gap = estimate.local(i) - truth
            total = total + ((gap @ self.problem.geometry.block(i)) * gap).sum(axis=-1)
        return total / len(self.agents)


def added(some: CompleteSums, more: CompleteSums) -> CompleteSums:
    """Sums over both."""
    return CompleteSums(some.n + more.n, some.xx + more.xx, some.xe + more.xe, some.ee + more.ee)


def curve(
    problem: Problem,
    variances: ArrayLike,
    grid: Sequence[float],
    trials: int,
    *,
    axis: str = "spread",
    n: float | None = None,
    spread: float = 1.0,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    progress: Callable[[float, Curve], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> Curve:
    """Mean error of the agents' own models where their relations differ, with theory beside it.

    Every agent that can work alone counts, and is judged by its own relation.

    Parameters
    ----------
    problem : Problem
        Its theta is the shared relation; deviations that it may have are not looked at.
    variances : array, shape (m, d) or (d,)
        Of deviations of size 1; drawn anew in every trial.
    grid : list of float
        Sizes of the deviations, or sample sizes.
    trials : int
    axis : {"spread", "n"}
        Which of the two the grid holds.
    n : float
        Samples per agent, where the grid is of sizes.
    spread : float
        Size of the deviations, where the grid is of sample sizes.
    methods : list of str, optional
        Keys of `collab_core.methods`; by default alone, COLLAB, adaptive and guarded, as far as
        they are registered.
    progress, executor, cancel, seed
        As in `collab_core.simulate.error_curve`.

    Returns
    -------
    Curve
        Its ``theory`` is of `collab_core.different.RandomEffects` where that has a formula.
    """
    choice("axis", axis, ("spread", "n"))
    world = RandomEffects(problem, variances)
    places = sorted({float(place) for place in np.atleast_1d(np.asarray(grid, float)).tolist()})
    if not places or places[0] < 0 or (axis == "n" and places[0] < 1):
        raise ValueError(f"grid must hold sizes from 0 (sample sizes from 1) on, got {list(grid)}")
    if axis == "spread" and n is None:
        raise ValueError("n must be given where the grid is of spreads")
    fixed = positive("n", n) if axis == "spread" and n is not None else float(spread)
    least = fixed if axis == "spread" else places[0]
    chosen = registry.chosen(compared() if methods is None else methods, GIVEN, full=False)
    source = DifferentWorld(
        world.problem, world.variances, axis, fixed, tuple(agents_of(problem, least, "everybody"))
    )
    plan = Plan.of(source, places, trials, [Target(everybody=True)], chosen, seed)
    known: dict[str, list[float | None]] = {}

    def theory(method: str) -> list[float | None]:
        if method not in known:
            known[method] = expected(world, axis, fixed, places, method, source.agents)
        return known[method]

    def make(target: Target, found: Found, partial: bool) -> Curve:
        return Curve(
            axis=axis, grid=plan.grid, methods=found.methods, errors=found.errors,
            notes=found.notes, trials=plan.trials, partial=partial, target=target,
            theory_of=theory,
        )  # fmt: skip

    def relay(fraction: float, found: Mapping[Target, Curve]) -> None:
        if progress is not None:
            progress(fraction, next(iter(found.values())))

    run = curves(plan, make, progress=relay, executor=executor, cancel=cancel)
    return next(iter(run.values()))


def expected(
    world: RandomEffects,
    axis: str,
    fixed: float,
    grid: Sequence[float],
    method: str,
    agents: Sequence[int],
) -> list[float | None]:
    """Closed forms along a grid; None where a method has none."""
    if method not in ("local", "collab", "adaptive"):
        return [None] * len(grid)
    found: list[float | None] = []
    for place in grid:
        size, n = (place, fixed) if axis == "spread" else (fixed, place)
        found.append(float(world.scaled(size).line(method)(n)[list(agents)].mean()))
    return found


def table(curve: Curve, lines: pd.DataFrame) -> pd.DataFrame:
    """Simulated errors and closed forms in one frame, a row per place and method.

    Parameters
    ----------
    lines : DataFrame
        As from `against_spread` or `against_n`, at the places of the curve; its formulas are for
        methods that were not simulated, too.

    Returns
    -------
    DataFrame
        The axis, ``method``, ``mean``, ``low``, ``high``, ``theory`` and ``trials``.
    """
    names = [curve.axis, "method", "mean", "low", "high", "trials"]
    found = curve.frame[names].merge(lines, how="outer", on=[curve.axis, "method"])
    order = list(dict.fromkeys([*COMPARED, *curve.methods, *lines["method"]]))
    place = found["method"].map(order.index)
    return found.assign(_place=place).sort_values(["_place", curve.axis]).drop(columns="_place")
