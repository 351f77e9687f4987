"""Expected errors from formulas: the line behind every simulated marker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from .._base.checks import Array, choice, fraction
from ..core.problem import Problem
from ..methods.registry import METHODS, WEIGHTINGS
from ..world.laws import FeatureLaw, Law
from . import covariances as bounds
from .weights import gaussian_weights, scores_of_law

#: A target of prediction: all features, or what one agent sees.
Target = str | int


def expected_error(
    problem: Problem,
    method: str,
    n: int,
    target: Target = "full",
    *,
    noise_known: bool = False,
    features: str | Law = "gaussian",
) -> float | None:
    """Mean prediction error of a method at sample size n, or None where no formula is known.

    For Gaussian features exact at every n for local OLS, Naive-Collab and pooled moments; the
    leading order in 1/n for the others. The irreducible part of an agent's error is not in it.

    Parameters
    ----------
    problem : Problem
    method : str
        A key of `collab_core.methods.METHODS` or ``WEIGHTINGS``.
    n : int
        Labelled samples per agent (times its share).
    target : "full" or int
        All features, or an agent. "local" at the full target is a newcomer who sees all features
        and has n samples of its own.
    noise_known : bool
        Whether COLLAB+ knows the noise.
    features : str or Law
        Law of the features. If it is not Gaussian, to leading order in 1/n, by the integral over
        the law.
    """
    return expected_errors(
        problem, method, [n], target, noise_known=noise_known, features=features
    )[0]


def expected_errors(
    problem: Problem,
    method: str,
    sample_sizes: Sequence[int],
    target: Target = "full",
    *,
    noise_known: bool = False,
    features: str | Law = "gaussian",
) -> list[float | None]:
    """`expected_error` at many sample sizes, for the price of one."""
    choice("method", method, (*METHODS, *WEIGHTINGS))
    agent = None if target == "full" else int(target)
    if not FeatureLaw.of(features).is_gaussian:
        return _leading_order(problem, method, sample_sizes, agent, features)
    match method:
        case "local":
            return [_least_squares(*_alone(problem, n, agent)) for n in sample_sizes]
        case "naive_collab":
            return [_naive(problem, n, agent) for n in sample_sizes]
        case "optimized_naive_collab":
            if agent is not None:
                return [None] * len(sample_sizes)
            return [_optimized_naive(problem, n) for n in sample_sizes]
    covariance = asymptotic_covariance(problem, method, noise_known=noise_known)
    assert covariance is not None
    scaled = bounds.error(problem, covariance, agent)
    return [scaled / n for n in sample_sizes]


def _leading_order(
    problem: Problem,
    method: str,
    sample_sizes: Sequence[int],
    agent: int | None,
    features: str | Law,
) -> list[float | None]:
    if method == "local":
        # A newcomer who sees everything has no unseen signal: its Q is noise^2 Sigma for any law.
        scaled = problem.noise**2 * problem.dimension
        if agent is not None:
            C = bounds.local_ols(problem, agent, scores_of_law(problem, features))
            scaled = float((problem.geometry.block(agent) * C).sum())
        return [scaled / n for n in sample_sizes]
    covariance = asymptotic_covariance(problem, method, features=features)
    if covariance is None:
        return [None] * len(sample_sizes)
    scaled = bounds.error(problem, covariance, agent)
    return [scaled / n for n in sample_sizes]


def asymptotic_covariance(
    problem: Problem,
    method: str,
    target: Target = "full",
    *,
    noise_known: bool = False,
    features: str | Law = "gaussian",
) -> Array | None:
    """Covariance of ``sqrt(n) (estimate - its limit)``, or None where no formula is known.

    The limit is the truth for every method but the naive averages. Local least squares has no
    full-feature estimate, the optimised average no covariance that is known. For features that
    are not Gaussian, of weighted aggregates and local least squares alone.

    Returns
    -------
    array, shape (d, d) for the full target, (d_i, d_i) for agent i; or None
    """
    agent = None if target == "full" else int(target)
    choice("method", method, (*METHODS, *WEIGHTINGS))
    law = FeatureLaw.of(features)
    scores = None if law.is_gaussian else scores_of_law(problem, law)
    match method:
        case "local":
            return None if agent is None else bounds.local_ols(problem, agent, scores)
        case "identity":
            eyes = [np.eye(size) for size in problem.sizes]
            covariance = bounds.weighted(problem, eyes, scores)
        case "imputation":
            covariance = bounds.imputation(problem, score_covariances=scores)
        case "optimized_naive_collab":
            return None
        case "naive_collab" | "collab_plus" | "pooled_moments" if scores is not None:
            return None
        case "naive_collab":
            covariance = bounds.naive_collab(problem).covariance
            view = slice(None) if agent is None else problem.views[agent]
            return covariance[view][:, view]
        case "collab_plus":
            covariance = bounds.exact(problem, noise_known)
        case "pooled_moments":
            covariance = bounds.pooled_moments(problem)
        case "collab_optimal" | "collab_oracle" if scores is not None:
            covariance = bounds.optimal(problem, scores)
        case _:
            covariance = (
                bounds.gauss(problem)
                if scores is None
                else bounds.weighted(problem, gaussian_weights(problem), scores)
            )
    return covariance if agent is None else bounds.local(problem, covariance, agent)


def _alone(problem: Problem, n: int, agent: int | None) -> tuple[float, int, int]:
    if agent is None:
        return problem.noise**2, problem.dimension, n
    size = int(problem.sample_sizes(n)[agent])
    return float(problem.unexplained[agent]), int(problem.sizes[agent]), size


def _least_squares(unexplained: float, features: int, n: int) -> float | None:
    """``s k / (n - k - 1)``: exact for Gaussian features; infinite, so None, for n <= k + 1."""
    if features == 0:
        return 0.0
    return unexplained * features / (n - features - 1) if n > features + 1 else None


def _model_scales(problem: Problem, n: int) -> Array | None:
    """``s_i / (n_i - d_i - 1)``: local models have covariance this times inv(Sigma_i+), (m,)."""
    left = problem.sample_sizes(n) - problem.sizes - 1
    seeing = problem.sizes > 0
    if (left[seeing] <= 0).any():
        return None
    return np.where(seeing, problem.unexplained / np.where(seeing, left, 1), 0.0)


def _naive(problem: Problem, n: int, agent: int | None) -> float | None:
    """Bias floor plus variance; exact, because local models are unbiased and independent."""
    scales = _model_scales(problem, n)
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
    view = np.arange(problem.dimension) if agent is None else problem.views[agent]
    best = problem.theta if agent is None else problem.local_theta(agent)
    gap = limit.theta[view] - best
    block = problem.covariance[np.ix_(view, view)]
    return float(gap @ block @ gap + (block * covariance[np.ix_(view, view)]).sum())


def _optimized_naive(problem: Problem, n: int) -> float | None:
    """Floor, plus what noisy models add to it, plus what fitting the weights costs.

    With models A (d, m), best weights w, gap r = theta - A w and G = A' Sigma A, noise E in the
    models moves the floor by ``|E w|^2 - b' inv(G) b``, ``b = A' Sigma E w - E' Sigma r``, to
    second order. Given the models, the weights are a least squares on rank(A) features of n fresh
    samples that leaves ``noise^2 + floor`` unexplained. Where noisy models span everything, it is
    plain least squares; where they span more than the true models do, nothing is known.
    """
    scales = _model_scales(problem, n)
    if scales is None:
        return None
    noisy = problem.mask * np.random.default_rng(0).standard_normal(problem.mask.shape)
    rank = int(np.linalg.matrix_rank(noisy))
    if rank == problem.dimension:
        return _least_squares(problem.noise**2, rank, n)
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
    fitting = _least_squares(problem.noise**2 + limit.floor, rank, n)
    # Noise may also help: noisy models can span a better subspace than the true ones.
    return None if fitting is None else max(limit.floor + moved, 0.0) + fitting


def normal_quantile(level: float) -> float:
    """Half width of a normal interval of this level, in standard deviations."""
    return float(norm.ppf((1 + fraction("level", level)) / 2))
