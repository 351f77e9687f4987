"""A world as a source of agents: Gaussian sums drawn exactly, other laws sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._base.checks import Array, choice, whole
from ..bounds.weights import scores_of_law
from ..core import sigma as known_by
from ..core.agents import WEIGHTS, Agents, Options, Oracle
from ..core.geometry import Geometry
from ..core.moments import AgentData, Moments, fit_together
from ..core.problem import Problem
from ..core.target import Models, Target
from ..world import laws
from ..world.laws import Law, square_root
from .draws import Collecting, CollectingModels, Samplers, gaussian_sums, raw_sums
from .source import Chunk, Source, Wanted

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
    weights : {"empirical", "population", "moderated", "plug_in"}
        COLLAB's weights (`collab_core.estimators.collab`).
    correction : bool
        Small-sample correction of the residuals, ``RSS / (n - d_i)``; moderated and plug-in
        weights have it already.
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
        laws.of(self.features)
        choice("sigma", self.sigma, SIGMA_MODES)
        choice("weights", self.weights, tuple(WEIGHTS))
        whole("unlabelled", self.unlabelled, low=1)

    @property
    def law(self) -> Law:
        """Law of the features."""
        return laws.of(self.features)


class World(Source):
    """Agents of a problem, collecting more and more samples along a grid of n.

    Parameters
    ----------
    problem : Problem
    settings : Settings, optional
    """

    def __init__(self, problem: Problem, settings: Settings | None = None) -> None:
        self.problem, self.settings = problem, settings or Settings()
        if self.settings.sigma == "unlabelled" and self.settings.unlabelled < problem.dimension:
            raise ValueError(
                f"unlabelled must be at least the number of features, {problem.dimension},"
                f" got {self.settings.unlabelled}"
            )
        if self.settings.sigma == "pooled":
            known_by.require_pairs(problem.views, problem.dimension)

    def weights_of(self) -> str:
        """COLLAB's weights."""
        return self.settings.weights

    @cached_property
    def scores(self) -> list[Array]:
        """``Q_i`` of every agent under the law, for the oracle."""
        return scores_of_law(self.problem, self.settings.law)

    def errors(self, agents: Agents, estimate: Models, target: Target) -> Array:
        """``(t - truth)' S (t - truth)``, shape (trials,)."""
        truth, root = self._judge(target)
        return np.asarray((((target.model(estimate) - truth) @ root) ** 2).sum(axis=-1))

    def _judge(self, target: Target) -> tuple[Array, Array]:
        """The truth, and a root of the covariance in whose norm errors are measured."""
        return target.truth(self.problem), np.linalg.cholesky(target.block(self.problem))

    # How much at a time --------------------------------------------------------------------------

    def _models_only(self, wanted: Wanted) -> bool:
        """Whether no method reads xx, so that no matrix need be drawn."""
        pooled = self.settings.sigma == "pooled"
        return self.settings.law.is_gaussian and not pooled and "xx" not in wanted.needs

    def chunk_size(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Trials of a chunk: by what is drawn alone, so that seeds always mean the same."""
        d, sizes = self.problem.dimension, self.problem.sizes
        numbers = int(sizes.sum() if self._models_only(wanted) else (sizes**2).sum())
        if "unlabelled" in wanted.needs:
            numbers = max(numbers, self.settings.unlabelled * d // 4)
        # Moments of Gaussian samples cost the same for any n; samples that are drawn do not.
        products = max(self._products(wanted, grid), 1)
        most = min(CHUNK_NUMBERS // max(numbers, d * d), CHUNK_PRODUCTS // products)
        return int(np.clip(most, 1, 500))

    def _products(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Numbers of raw samples that a trial multiplies out, one that is drawn being `DRAWN`."""
        problem, unlabelled = self.problem, self.settings.unlabelled
        drawn, read = 0, 0
        if not self.settings.law.is_gaussian:
            drawn = int(problem.sample_sizes(grid[-1]).sum())
        if "unlabelled" in wanted.needs:
            drawn += unlabelled
            # Every agent's weights are averaged over them anew at every n.
            read = unlabelled * int(problem.sizes.sum()) * len(grid)
        elif self.settings.sigma == "unlabelled" and not self.settings.law.is_gaussian:
            drawn += unlabelled
        return DRAWN * drawn * problem.dimension + read

    # Draws ---------------------------------------------------------------------------------------

    def steps(self, grid: Sequence[float], chunk: Chunk) -> Iterator[tuple[float, Agents]]:
        """The same agents at every n of the grid, each time with more samples."""
        problem = self.problem
        groups = self._groups(chunk)
        newcomer = None
        if "fresh" in chunk.wanted.needs:
            everything = Samplers.newcomer(problem)
            newcomer = Collecting(
                chunk.streams(1), problem, everything, chunk.trials, self.settings.law, chunk.stop
            )
        samples = self._unlabelled_samples(chunk)
        told = self._told_covariance(chunk, samples)
        for n in grid:
            if chunk.stop():
                return
            sizes = problem.sample_sizes(n)
            found: dict[int, AgentData] = {}
            for members, group in groups:
                found |= zip(members, group.up_to(int(sizes[members[0]])), strict=True)
            data = [found[i] for i in range(problem.agents)]
            fresh = None if newcomer is None else newcomer.up_to(int(n))[0]
            yield n, self._agents(data, fresh, told, samples)

    def _groups(self, chunk: Chunk) -> list[tuple[list[int], Collecting | CollectingModels]]:
        """Agents of one size (in features and samples) draw together: fewer calls, same law."""
        problem, law, rng = self.problem, self.settings.law, chunk.streams(0)
        alike: dict[tuple[int, float], list[int]] = {}
        for i, kind in enumerate(zip(problem.sizes.tolist(), problem.shares.tolist(), strict=True)):
            alike.setdefault(kind, []).append(i)
        groups: list[tuple[list[int], Collecting | CollectingModels]] = []
        for members in alike.values():
            sources = Samplers.of_agents(problem, members)
            groups.append(
                (members, CollectingModels(rng, sources, chunk.trials))
                if self._models_only(chunk.wanted)
                else (members, Collecting(rng, problem, sources, chunk.trials, law, chunk.stop))
            )
        return groups

    def _unlabelled_samples(self, chunk: Chunk) -> Array | None:
        """Samples themselves, (trials, N, d), where a method reads more than their covariance."""
        if "unlabelled" not in chunk.wanted.needs:
            return None
        shape = (chunk.trials, self.settings.unlabelled, self.problem.dimension)
        white = self.settings.law.white(chunk.streams(2), shape)
        return white @ square_root(self.problem.covariance)

    def _told_covariance(self, chunk: Chunk, samples: Array | None) -> Geometry | None:
        """The covariance as estimators know it; None where they pool their own."""
        problem = self.problem
        if self.settings.sigma == "pooled":
            return None
        if self.settings.sigma == "known":
            return problem.geometry
        if samples is not None:
            return Geometry(known_by.from_unlabelled(samples), problem.views)
        count, rng, law = self.settings.unlabelled, chunk.streams(2), self.settings.law
        if law.is_gaussian:
            xx = gaussian_sums(rng, Samplers.newcomer(problem), chunk.trials, count)[0][0]
        else:
            root, everything = square_root(problem.covariance), np.arange(problem.dimension)
            xx, *_ = raw_sums(rng, law, root, problem, everything, chunk.trials, count, chunk.stop)
        return Geometry(xx / count, problem.views)

    def _agents(
        self,
        data: Sequence[AgentData],
        fresh: Moments | None,
        told: Geometry | None,
        samples: Array | None,
    ) -> Agents:
        problem = self.problem
        moments = [one for one in data if isinstance(one, Moments)]
        fit_together(moments)

        def pooled() -> Geometry:
            found = known_by.pooled(moments, problem.views, problem.dimension)
            return Geometry(found.covariance, problem.views)

        return Agents(
            data,
            problem.views,
            pooled if told is None else told,
            problem.dimension,
            fresh=fresh,
            unlabelled=samples,
            oracle=Oracle(problem.unexplained, lambda: self.scores),
            options=Options(
                weights=self.settings.weights,
                correction=self.settings.correction,
                noise=problem.noise if self.settings.noise_known else None,
            ),
        )
