"""Naive-Collab: local models averaged as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.checks import Array
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import NaiveEstimate
from ..core.moments import AgentData
from ..core.problem import Problem
from ..core.target import Target
from ..world.views import ViewsLike, as_views
from .aggregate import (
    stacked_models,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic


def naive_collab(moments: Sequence[AgentData], views: ViewsLike, dimension: int) -> NaiveEstimate:
    """Average the local models, 0 for what an agent does not see (Naive-Collab).

    ``sum_i P_i' theta_hat_i / m``: divided by the number of agents, as in the paper, not by how
    many see a feature. Biased, and no amount of data helps.
    """
    models, left_out = stacked_models(moments, as_views(views, dimension), dimension)
    count = len(moments) - len(left_out)
    weights = np.full(models.shape[:-2] + models.shape[-1:], 1 / count)
    weights[..., [entry.agent for entry in left_out]] = 0.0
    return NaiveEstimate(models.sum(axis=-1) / count, as_views(views, dimension), weights, left_out)


class NaiveCollab(Method):
    """The average of the local models, divided by m as in the paper."""

    key = "naive_collab"
    label = "Naive-Collab"
    summary = "Local models averaged as they are."
    style = Style("#BB5566", "dot", "x")
    needs = frozenset({"fit"})
    formulas = Formulas("biased", "biased", "$\\Theta(d_i)$")
    is_consistent = False

    def estimate(self, agents: Agents) -> NaiveEstimate:
        return naive_collab(agents.data, agents.views, agents.dimension)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return bounds.naive_collab(problem).covariance if told.scores is None else None

    def own_covariance(self, problem: Problem, agent: int, told: Told = PLAIN) -> Array | None:
        # An agent's model is its entries of the average: nothing is corrected.
        view = problem.views[agent]
        C = self.covariance(problem, told)
        return None if C is None else C[np.ix_(view, view)]

    def floor(self, problem: Problem, target: Target) -> float | None:
        gap = bounds.naive_collab(problem).theta[target.view(problem)] - target.truth(problem)
        return float(gap @ target.block(problem) @ gap)

    def expected_errors(
        self,
        problem: Problem,
        sample_sizes: Sequence[int],
        target: Target,
        told: Told = PLAIN,
    ) -> list[float | None]:
        if told.scores is not None:
            return [None] * len(sample_sizes)
        return [self._error(problem, n, target) for n in sample_sizes]

    def _error(self, problem: Problem, n: int, target: Target) -> float | None:
        """Bias floor plus variance; exact, because local models are unbiased and independent."""
        scales = model_scales(problem, n)
        if scales is None:
            return None
        limit = bounds.naive_collab(problem)
        covariance = problem.geometry.scatter_matrices(
            [
                weight**2 * scale * inverse
                for weight, scale, inverse in zip(
                    limit.weights, scales, problem.geometry.inverses, strict=True
                )
            ]
        )
        view = target.view(problem)
        gap = limit.theta[view] - target.truth(problem)
        block = target.block(problem)
        return float(gap @ block @ gap + (block * covariance[np.ix_(view, view)]).sum())

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(problem.sizes, problem.sizes)


def model_scales(problem: Problem, n: int) -> Array | None:
    """``s_i / (n_i - d_i - 1)``: local models have covariance this times inv(Sigma_i+), (m,)."""
    left = problem.sample_sizes(n) - problem.sizes - 1
    seeing = problem.sizes > 0
    if (left[seeing] <= 0).any():
        return None
    return np.where(seeing, problem.unexplained / np.where(seeing, left, 1), 0.0)
