"""Optimized-Naive-Collab: local models averaged with weights fitted on fresh data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.linalg import matvec, solve, transpose
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import NaiveEstimate
from ..core.moments import AgentData, Moments
from ..core.problem import Problem
from ..core.target import Target
from ..world.views import ViewsLike, as_views
from .aggregate import (
    stacked_models,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic
from .local import least_squares_error
from .naive_collab import model_scales


def optimized_naive_collab(
    moments: Sequence[AgentData], views: ViewsLike, fresh: Moments
) -> NaiveEstimate:
    """Average the local models with the weights that fit fresh full-feature samples best.

    Least squares in the m weights, where the paper descends the same quadratic by gradient. With
    m >= d agents the models span all of theta-space, and this is plain least squares on ``fresh``.

    Parameters
    ----------
    fresh : Moments
        Labelled samples with all features, which no other method is given.
    """
    d = fresh.features
    models, left_out = stacked_models(moments, as_views(views, d), d)
    weights, _ = solve(transpose(models) @ fresh.xx @ models, matvec(transpose(models), fresh.xy))
    return NaiveEstimate(matvec(models, weights), as_views(views, d), weights, left_out)


class OptimizedNaiveCollab(Method):
    """The average of the local models that fits fresh full-feature samples best."""

    key = "optimized_naive_collab"
    label = "Optimized-Naive-Collab"
    summary = "Local models averaged with weights fitted on fresh full-feature data."
    style = Style("#9467BD", "dot", "cross")
    needs = frozenset({"fit", "fresh"})
    formulas = Formulas("no formula", "–", "$\\Theta(d_i)$")
    is_consistent = False
    full_only = True

    def estimate(self, agents: Agents) -> NaiveEstimate:
        assert agents.fresh is not None
        return optimized_naive_collab(agents.data, agents.views, agents.fresh)

    def floor(self, problem: Problem, target: Target) -> float | None:
        return bounds.optimized_naive_collab(problem).floor if target.is_full else None

    def expected_errors(
        self,
        problem: Problem,
        sample_sizes: Sequence[int],
        target: Target,
        told: Told = PLAIN,
    ) -> list[float | None]:
        if not target.is_full or told.scores is not None:
            return [None] * len(sample_sizes)
        return [optimized_naive_error(problem, n) for n in sample_sizes]

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(problem.sizes, problem.sizes)


def optimized_naive_error(problem: Problem, n: int) -> float | None:
    """Floor, plus what noisy models add to it, plus what fitting the weights costs.

    With models A (d, m), best weights w, gap r = theta - A w and G = A' Sigma A, noise E in the
    models moves the floor by ``|E w|^2 - b' inv(G) b``, ``b = A' Sigma E w - E' Sigma r``, to
    second order. Given the models, the weights are a least squares on rank(A) features of n fresh
    samples that leaves ``noise^2 + floor`` unexplained. Where noisy models span everything, it is
    plain least squares; where they span more than the true models do, nothing is known.
    """
    scales = model_scales(problem, n)
    if scales is None:
        return None
    noisy = problem.mask * np.random.default_rng(0).standard_normal(problem.mask.shape)
    rank = int(np.linalg.matrix_rank(noisy))
    if rank == problem.dimension:
        return least_squares_error(problem.noise**2, rank, n)
    if np.linalg.matrix_rank(problem.embedded) < rank:
        return None
    limit = bounds.optimized_naive_collab(problem)
    models = problem.embedded.T
    weighted = problem.covariance @ models
    gram_inverse = np.linalg.pinv(models.T @ weighted, rcond=1e-10, hermitian=True)
    pull = problem.covariance @ (problem.theta - limit.theta)
    moved = 0.0
    for i, (scale, view) in enumerate(zip(scales, problem.views, strict=True)):
        if view.size == 0:
            continue
        # rows of b per unit of noise in agent i's model: w_i A' Sigma - u_i r' Sigma
        slope = limit.weights[i] * weighted[view].T
        slope[i] -= pull[view]
        spread = scale * problem.geometry.inverses[i]
        direct = limit.weights[i] ** 2 * scale * view.size
        moved += direct - float(np.trace(gram_inverse @ slope @ spread @ slope.T))
    fitting = least_squares_error(problem.noise**2 + limit.floor, rank, n)
    # Noise may also help: noisy models can span a better subspace than the true ones.
    return None if fitting is None else max(limit.floor + moved, 0.0) + fitting
