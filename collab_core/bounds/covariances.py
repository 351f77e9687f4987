"""Covariances and bounds: how good can it get, and how good is each method.

Every covariance C here is that of ``sqrt(n) (estimate - theta)`` (see `Problem.shares` for agents
of unequal size): an estimate at sample size n has covariance C / n, and prediction error
``error(problem, C) / n``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, agent_index, finite_array, vector
from .._base.linalg import congruence, inverse, solve
from ..core.problem import Problem


def gauss(problem: Problem) -> Array:
    """``C_gauss = (sum T_i' W_i^g T_i)^-1``: COLLAB's covariance, shape (d, d).

    Also that of RW-Imputation, and the minimax bound for everyone who is given only the local
    models (weak observation model). By the dual form ``inv(Sigma) inv(K) inv(Sigma)``.
    """
    return congruence(problem.geometry.precision, problem.information_inverse)


def strong(problem: Problem) -> Array:
    """``C_strong = (sum 2 Sigma / s_i)^-1``: the paper's bound given all labelled data, (d, d).

    An agent that sees nothing counts too: its labels still tell the label's variance.
    """
    return problem.geometry.precision / (2 * (problem.shares / problem.unexplained).sum())


def exact(problem: Problem, noise_known: bool = True) -> Array:
    """Bound given all labelled data, without the paper's relaxation, shape (d, d).

    Inverse of the Fisher information ``sum T_i' Sigma_i+ T_i / s_i + (2 / s_i^2) v_i v_i'``; with
    unknown noise, of its theta block after eliminating ``noise^2``. COLLAB+ reaches it.
    """
    # In the dual v_i becomes h_i = inv(Sigma) v_i = theta - P_i' T_i theta.
    h = problem.thetas - problem.embedded
    rate = problem.shares / problem.unexplained**2
    information = problem.information + 2 * (h.T * rate) @ h
    if not noise_known:
        # Row of noise^2: sum rate h against itself sum rate / 2; eliminate it (Schur complement).
        cross = rate @ h
        information = information - np.outer(cross, cross) / (rate.sum() / 2)
    return congruence(problem.geometry.precision, inverse(information))


def chain_ratios(problem: Problem) -> Array:
    """The chain ``C_gauss >= (sum Sigma / s_i)^-1 >= C_strong`` as eigenvalues, shape (3, d).

    All relative to C_strong, ascending: of C_gauss, of the middle, and of C_strong itself. The
    middle is what full data would give with the variances that the agents have now; it is twice
    C_strong in every direction, because the paper's bound doubles its information.
    """
    rates = problem.shares / problem.unexplained
    factor = np.linalg.cholesky(problem.covariance)
    inner = np.linalg.eigvalsh(factor.T @ problem.information @ factor)
    gauss_ratios = 2 * rates.sum() / inner[::-1]
    return np.stack([gauss_ratios, np.full_like(gauss_ratios, 2.0), np.ones_like(gauss_ratios)])


def weighted(
    problem: Problem,
    weights: Sequence[ArrayLike],
    score_covariances: Sequence[ArrayLike] | None = None,
) -> Array:
    """``C(W_1, .., W_m)``: covariance of the aggregate with any weights, shape (d, d).

    ``M^-1 (sum T_i' W_i (W_i*)^-1 W_i T_i) M^-1`` with ``M = sum T_i' W_i T_i``.

    Parameters
    ----------
    weights : list of arrays, shape (d_i, d_i)
        Symmetric, one per agent, per labelled sample.
    score_covariances : list of arrays, shape (d_i, d_i), optional
        ``Q_i`` of features that are not Gaussian (`collab_core.weights.score_covariances`);
        ``s_i Sigma_i+`` by default.
    """
    if len(weights) != problem.agents:
        raise ValueError(f"weights must hold {problem.agents} matrices, got {len(weights)}")
    geometry = problem.geometry
    scores = None if score_covariances is None else _scores(problem, score_covariances)
    blocks, meats = [], []
    for i, size in enumerate(problem.sizes):
        weight = finite_array(f"weights[{i}]", weights[i], ndim=2)
        if weight.shape != (size, size):
            raise ValueError(f"weights[{i}] must be ({size}, {size}), got {weight.shape}")
        gain = geometry.inverses[i] @ weight
        blocks.append(problem.shares[i] * gain @ geometry.inverses[i])
        # (W_i*)^-1 = S_i Q_i S_i, which is s_i S_i for Gaussian features.
        spread = (
            problem.unexplained[i] * geometry.inverses[i]
            if scores is None
            else congruence(geometry.inverses[i], scores[i])
        )
        meats.append(problem.shares[i] * gain @ spread @ gain.T)
    total = geometry.scatter_matrices(blocks)
    try:
        bread = geometry.precision @ np.linalg.inv(total)
    except np.linalg.LinAlgError:
        raise ValueError("weights: together they leave some direction without weight") from None
    result = bread @ geometry.scatter_matrices(meats) @ bread.T
    return (result + result.T) / 2


def optimal(problem: Problem, score_covariances: Sequence[ArrayLike]) -> Array:
    """``C* = (sum T_i' W_i* T_i)^-1``: the best that any weights can do (Theorem 3.1), (d, d).

    By the dual form ``inv(Sigma) inv(K*) inv(Sigma)`` with ``K* = sum P_i' inv(Q_i) P_i``: where
    `gauss` has ``s_i Sigma_i+`` stands Q_i.

    Parameters
    ----------
    score_covariances : list of arrays, shape (d_i, d_i)
        ``Q_i`` of every agent, such as `collab_core.weights.scores_of_law`.
    """
    scores = _scores(problem, score_covariances)
    information = problem.geometry.scatter_matrices(
        [share * inverse(score) for share, score in zip(problem.shares, scores, strict=True)]
    )
    return congruence(problem.geometry.precision, inverse(information))


def imputation(
    problem: Problem,
    alphas: ArrayLike | None = None,
    score_covariances: Sequence[ArrayLike] | None = None,
) -> Array:
    """Covariance of global imputation with weights ``alphas`` (m,), equal by default; (d, d).

    ``C(a_1 Sigma_1+, .., a_m Sigma_m+)``: for Gaussian features never below `gauss`, equal to it at
    ``1 / s_i``. Features that are not Gaussian as in `weighted`.
    """
    rates = vector("alphas", np.ones(problem.agents) if alphas is None else alphas, problem.agents)
    if (rates <= 0).any():
        raise ValueError(f"alphas must be above 0, got {rates.min():g}")
    weights = [rate * problem.geometry.block(i) for i, rate in enumerate(rates)]
    return weighted(problem, weights, score_covariances)


def pooled_moments(problem: Problem) -> Array:
    """Covariance of pooled moments, shape (d, d); exact at every n.

    ``phi_j`` is a plain average of ``x_j y``, and for Gaussian features ``Cov(x y) = Var(y) Sigma +
    phi phi'``. Features j and k share the samples of the agents that see both.
    """
    counts = (problem.mask * problem.shares[:, None]).T @ problem.mask
    own = np.diagonal(counts)
    single = problem.label_variance * problem.covariance + np.outer(problem.phi, problem.phi)
    return congruence(problem.geometry.precision, single * counts / np.outer(own, own))


def local(problem: Problem, C: ArrayLike, agent: int) -> Array:
    """``T_i C T_i'``: what C means for agent i's own model, shape (d_i, d_i)."""
    transform = problem.transform(_agent(problem, agent))
    return transform @ _full_covariance(problem, C) @ transform.T


def local_ols(
    problem: Problem, agent: int, score_covariances: Sequence[ArrayLike] | None = None
) -> Array:
    """``(W_i^g)^-1 = s_i inv(Sigma_i+)``: covariance of agent i working alone, (d_i, d_i).

    For features that are not Gaussian (see `weighted`) ``inv(Sigma_i+) Q_i inv(Sigma_i+)``.
    """
    i = _agent(problem, agent)
    if score_covariances is not None:
        score = _scores(problem, score_covariances)[i]
        return congruence(problem.geometry.inverses[i], score) / problem.shares[i]
    return problem.unexplained[i] / problem.shares[i] * problem.geometry.inverses[i]


def error(problem: Problem, C: ArrayLike, agent: int | None = None) -> float:
    """Expected prediction error times n: ``tr(Sigma C)``, or ``tr(Sigma_i+ T_i C T_i')``.

    The irreducible part of an agent's error (`Problem.irreducible`) is not in it.
    """
    matrix = _full_covariance(problem, C)
    if agent is None:
        return float(np.trace(problem.covariance @ matrix))
    return float(local_errors(problem, matrix)[_agent(problem, agent)])


def local_errors(problem: Problem, C: ArrayLike) -> Array:
    """``tr(Sigma_i+ T_i C T_i')`` of every agent, shape (m,)."""
    dual = congruence(problem.covariance, _full_covariance(problem, C))
    return np.array(
        [
            (inverse_block * dual[np.ix_(view, view)]).sum()
            for view, inverse_block in zip(problem.views, problem.geometry.inverses, strict=True)
        ]
    )


def local_ols_error(problem: Problem, agent: int, n: int) -> float:
    """Exact mean error of agent i working alone at sample size n, ``s_i d_i / (n_i - d_i - 1)``.

    Raises
    ------
    ValueError
        If ``n_i <= d_i + 1``: the mean is infinite.
    """
    i = _agent(problem, agent)
    size, d_i = int(problem.sample_sizes(n)[i]), int(problem.sizes[i])
    if d_i == 0:
        return 0.0
    if size <= d_i + 1:
        raise ValueError(
            f"n must give agent {i} more than {d_i + 1} samples for its {d_i} features, got {size}"
        )
    return float(problem.unexplained[i] * d_i / (size - d_i - 1))


@dataclass(frozen=True, eq=False)
class NaiveLimit:
    """Where a naive average of models ends up.

    Attributes
    ----------
    theta : array, shape (d,)
        What it converges to.
    weights : array, shape (m,)
        The weight of every agent's model.
    floor : float
        ``|theta - truth|^2`` in the norm of the covariance: error that no data remove.
    covariance : array, shape (d, d)
        Of ``sqrt(n)`` times its deviation from its limit, at these weights.
    """

    theta: Array
    weights: Array
    floor: float
    covariance: Array


def naive_collab(problem: Problem) -> NaiveLimit:
    """Limit of Naive-Collab, ``sum_i P_i' T_i theta / m``."""
    return _naive_limit(problem, np.full(problem.agents, 1 / problem.agents))


def optimized_naive_collab(problem: Problem) -> NaiveLimit:
    """Limit of Optimized-Naive-Collab: the best weights that infinite full-feature data can give.

    With m >= d agents the models usually span everything, and the floor is 0. The covariance is
    that at the limiting weights, without what estimating the weights adds.
    """
    gram = problem.embedded @ problem.covariance @ problem.embedded.T
    weights, _ = solve(gram, problem.embedded @ problem.phi)
    return _naive_limit(problem, weights)


def _naive_limit(problem: Problem, weights: Array) -> NaiveLimit:
    limit = weights @ problem.embedded
    gap = limit - problem.theta
    scale = weights**2 * problem.unexplained / problem.shares
    covariance = problem.geometry.scatter_matrices(
        [rate * block for rate, block in zip(scale, problem.geometry.inverses, strict=True)]
    )
    return NaiveLimit(limit, weights, float(gap @ problem.covariance @ gap), covariance)


def _agent(problem: Problem, agent: int) -> int:
    return agent_index(agent, problem.agents)


def _scores(problem: Problem, score_covariances: Sequence[ArrayLike]) -> list[Array]:
    if len(score_covariances) != problem.agents:
        raise ValueError(
            f"score_covariances must hold {problem.agents} matrices, got {len(score_covariances)}"
        )
    scores = [
        finite_array(f"score_covariances[{i}]", score, ndim=2)
        for i, score in enumerate(score_covariances)
    ]
    for i, (score, size) in enumerate(zip(scores, problem.sizes, strict=True)):
        if score.shape != (size, size):
            raise ValueError(f"score_covariances[{i}] must be ({size}, {size}), got {score.shape}")
    return scores


def _full_covariance(problem: Problem, C: ArrayLike) -> Array:
    matrix, d = finite_array("C", C, ndim=2), problem.dimension
    if matrix.shape != (d, d):
        raise ValueError(f"C must have shape ({d}, {d}), got {matrix.shape}")
    return matrix
