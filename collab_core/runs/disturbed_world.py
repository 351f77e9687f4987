"""A disturbed world as a source of agents: the same people at every size of a disturbance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._base.checks import Array
from ..core.agents import Agents
from ..core.geometry import Geometry
from ..core.moments import Moments, fit_together
from ..core.problem import Problem
from ..core.target import Models, Target
from ..world.laws import Law, square_root
from .disturbances import (
    law_of,
    perturb,
    symmetric_noise,
    unit_shifts,
)
from .disturbed_theory import expected, local_errors, local_truth
from .draws import CompleteSums, complete_sums
from .source import Chunk, Source, Wanted

#: Numbers per array in a chunk of trials, and most trials in it: progress shows, Stop is quick.
CHUNK_NUMBERS, CHUNK_TRIALS = 300_000, 50


class DisturbedAgents(Agents):
    """A stack of trials at one size of the disturbance.

    Attributes
    ----------
    thetas : dict of arrays, shape (trials, d)
        The relation of agents whose data follow another one.
    gaussian : bool
        Whether features are Gaussian here.
    """

    thetas: Mapping[int, Array]
    gaussian: bool


@dataclass(frozen=True)
class DisturbedWorld(Source):
    """A world at several sizes of one disturbance, the same people at each.

    Attributes
    ----------
    agents : tuple of int
        Those who are judged.
    direction : array, shape (d,), or None
        Of a shift; drawn in every trial if None.
    law : Law
        Of the features, unless that is what is disturbed.
    """

    problem: Problem
    n: float
    disturbance: str
    agents: tuple[int, ...]
    shifted: int
    direction: Array | None
    law: Law

    axis = "value"
    # Differences along the grid are paired, so a trial counts with all sizes or not at all.
    whole_only = True

    def chunk_size(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Trials of a chunk: by the world alone, so that seeds always mean the same."""
        numbers = self.problem.agents * self.problem.dimension**2
        return int(np.clip(CHUNK_NUMBERS // numbers, 1, CHUNK_TRIALS))

    def steps(self, grid: Sequence[float], chunk: Chunk) -> Iterator[tuple[float, DisturbedAgents]]:
        """The trials without disturbance, then at every size of it."""
        root, drawn = square_root(self.problem.covariance), _Draws(self, chunk)
        if self.disturbance in ("tails", "clusters"):
            for size in grid:
                data = drawn.labelled(law_of(self.disturbance, size, self.law), root)
                yield size, self._agents(data, self.problem.geometry, gaussian=size == 0)
            return
        data = drawn.labelled(self.law, root)
        yield 0.0, self._agents(data, self.problem.geometry)
        further = {
            "shift": drawn.shifted,
            "perturbed": drawn.perturbed,
            "unlabelled": drawn.unlabelled,
        }
        for size, some, told, thetas in further[self.disturbance](grid[1:], data, root):
            yield size, self._agents(some, told, thetas)

    def _agents(
        self,
        data: Sequence[Moments],
        geometry: Geometry,
        thetas: Mapping[int, Array] | None = None,
        *,
        gaussian: bool | None = None,
    ) -> DisturbedAgents:
        fit_together(list(data))
        found = DisturbedAgents(data, self.problem.views, geometry, self.problem.dimension)
        found.thetas = thetas or {}
        found.gaussian = self.law.is_gaussian if gaussian is None else gaussian
        return found

    def errors(self, agents: Agents, estimate: Models, target: Target) -> Array:
        """Mean over the agents that count, each by its own truth, shape (trials,)."""
        assert isinstance(agents, DisturbedAgents)
        total: Array = np.zeros(())
        for agent in self.agents:
            theta = agents.thetas.get(agent, self.problem.thetas[agent])
            truth, _ = local_truth(self.problem, agent, theta)
            gap = estimate.local(agent) - truth
            total = total + ((gap @ self.problem.geometry.block(agent)) * gap).sum(axis=-1)
        return total / len(self.agents)

    def formulas(self, agents: Agents, target: Target) -> Mapping[str, Array]:
        """Closed forms for this stack, shape (trials,), where features are Gaussian."""
        assert isinstance(agents, DisturbedAgents)
        if not agents.gaussian:
            return {}
        bias, variance = expected(
            self.problem, self.n, covariance=agents.geometry, thetas=agents.thetas
        )
        alone = local_errors(self.problem, self.n, agents.thetas)
        trials = agents.moments[0].yy.size
        return {
            method: np.broadcast_to(values[..., list(self.agents)].mean(axis=-1), trials)
            for method, values in {"collab": bias + variance, "local": alone}.items()
        }


#: A size of the disturbance, everybody's data at it, what is told of Σ, and whose theta is another.
_Step = tuple[float, Sequence[Moments], Geometry, Mapping[int, Array]]


@dataclass(frozen=True)
class _Draws:
    """The people of a chunk, and what is done to them."""

    world: DisturbedWorld
    chunk: Chunk

    def people(self, law: Law, agent: int, root: Array) -> CompleteSums:
        """One agent's samples, from the same streams for every law: the same people."""
        size = int(self.world.problem.sample_sizes(self.world.n)[agent])
        features, noise = self.chunk.streams(0, agent), self.chunk.streams(1, agent)
        return complete_sums(features, noise, law, root, self.chunk.trials, size, self.chunk.stop)

    def labelled(self, law: Law, root: Array) -> list[Moments]:
        """Everybody's data as they would be undisturbed."""
        problem = self.world.problem
        return [
            self.people(law, i, root).labelled(view, problem.thetas[i], problem.noise)
            for i, view in enumerate(problem.views)
        ]

    def shifted(
        self, sizes: Sequence[float], data: Sequence[Moments], root: Array
    ) -> Iterator[_Step]:
        """One agent follows another theta."""
        world, problem, who = self.world, self.world.problem, self.world.shifted
        people = self.people(world.law, who, root)
        unit = (
            unit_shifts(problem, self.chunk.streams(2), self.chunk.trials)
            if world.direction is None
            else np.broadcast_to(world.direction, (self.chunk.trials, problem.dimension))
        )
        for size in sizes:
            theta = problem.thetas[who] + size * unit
            some = list(data)
            some[who] = people.labelled(problem.views[who], theta, problem.noise)
            yield size, some, problem.geometry, {who: theta}

    def perturbed(
        self, sizes: Sequence[float], data: Sequence[Moments], root: Array
    ) -> Iterator[_Step]:
        """A wrong covariance is told."""
        problem = self.world.problem
        noise = symmetric_noise(self.chunk.streams(3), self.chunk.trials, problem.dimension)
        for size in sizes:
            told = Geometry(perturb(problem.covariance, noise, size), problem.views)
            yield size, data, told, {}

    def unlabelled(
        self, sizes: Sequence[float], data: Sequence[Moments], root: Array
    ) -> Iterator[_Step]:
        """The covariance of few samples is told, from most to fewest; fewer are among the more."""
        rng, noise_rng = self.chunk.streams(4), self.chunk.streams(5)
        total: Array = np.zeros(())
        before = 0
        found: list[Array] = []
        for size in reversed(sizes):
            count = int(size) - before
            more = complete_sums(
                rng, noise_rng, self.world.law, root, self.chunk.trials, count, self.chunk.stop
            )
            total, before = total + more.xx, int(size)
            found.append(total / size)
        for size, covariance in zip(sizes, reversed(found), strict=True):
            yield size, data, Geometry(covariance, self.world.problem.views), {}
