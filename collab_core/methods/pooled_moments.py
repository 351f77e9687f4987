"""Pooled moments: plain averages of x y (Ayme and Khellaf 2026)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.checks import Array
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from ..world.views import ViewsLike
from .aggregate import (
    CovarianceLike,
    participants,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic


def pooled_moments(
    moments: Sequence[Moments], views: ViewsLike, covariance: CovarianceLike
) -> Estimate:
    """Average ``x_j y`` over all samples of all agents that see j, then solve for theta.

    A baseline from later work (Ayme and Khellaf 2026): no correction for what each agent leaves
    unexplained, but no residual is needed either, so agents with few samples take part.
    """
    geometry = Geometry.of(covariance, views)
    agents, left_out = participants(moments, geometry, by_residual=False, any_size=True)
    totals = geometry.scatter_vectors([moments[i].xy for i in agents], agents)
    counts = geometry.scatter_vectors(
        [np.repeat(moments[i].n[..., None], moments[i].features, axis=-1) for i in agents], agents
    )
    return Estimate(totals / counts, geometry, left_out)


class PooledMoments(Method):
    """Average ``x_j y`` over everybody who sees j, then solve."""

    key = "pooled_moments"
    label = "Pooled moments"
    summary = "Plain averages of x y over all agents."
    style = Style("#B8860B", "dashdot", "star")
    needs = frozenset({"fit", "xx", "covariance"})
    formulas = Formulas("pooled $x_j y$", "$T_i C T_i'$", "$\\Theta(d_i)$")

    def estimate(self, agents: Agents) -> Estimate:
        return pooled_moments(agents.moments, agents.views, agents.geometry)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return bounds.pooled_moments(problem) if told.scores is None else None

    def sent(self, problem: Problem, n: int) -> Traffic:
        # x_j y sums and the sample size; the server divides and solves.
        return Traffic(np.where(problem.sizes > 0, problem.sizes + 1, 0), problem.sizes)
