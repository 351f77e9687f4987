"""Weighted aggregates: the sums that most methods share.

In the dual form (see `collab_core.core.geometry`) they solve ``K phi = r`` where every agent adds a
small block to K and a small vector to r; the paper's ``theta = (sum T_i' W_i T_i)^-1 sum T_i' W_i
theta_hat_i`` is this with ``phi = covariance theta``. Given the features an agent's labels are
independent with variance s_i, so the same sums give the covariance of every such aggregate
(`Estimate.covariance`): ``K^-1 (sum of blocks) K^-1``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, finite_array
from .._base.linalg import congruence, matvec, pseudo_inverse, solve, times, transpose
from ..core import dual
from ..core.estimate import Estimate, LeftOut, NotEstimableError
from ..core.geometry import Geometry
from ..core.moments import AgentData, Moments
from ..world.views import Views, ViewsLike, require_seen

CovarianceLike = ArrayLike | Geometry

#: A direction with this share of the best-known direction's information, or less, has none.
UNINFORMED = 1e-10


def aggregate(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    weights: Sequence[ArrayLike],
) -> Estimate:
    """Weighted empirical risk minimisation with any weights (the paper's general approach).

    ``(sum n_i T_i' W_i T_i)^-1 sum n_i T_i' W_i theta_hat_i``: consistent whatever the weights.

    Parameters
    ----------
    weights : list of arrays, shape (..., d_i, d_i)
        Symmetric positive definite, one per agent, per labelled sample.
    """
    geometry = Geometry.of(covariance, views)
    agents, left_out = participants(moments, geometry, by_residual=False)
    checked = square_weights(weights, [view.size for view in geometry.views])
    estimate = aggregated(moments, geometry, dict(enumerate(checked)), agents, left_out)
    if not estimate.determined:
        raise NotEstimableError("weights: together they leave some direction without weight")
    return estimate


def aggregated(
    moments: Sequence[Moments],
    geometry: Geometry,
    weights: Mapping[int, Array],
    agents: Sequence[int],
    left_out: tuple[LeftOut, ...],
) -> Estimate:
    """Solve ``sum n_i T_i' W_i T_i theta = sum n_i T_i' W_i theta_hat_i``."""
    scaled = {i: times(moments[i].n, weights[i]) for i in agents}
    # T_i' W T_i  ->  S W S,  T_i' W theta_hat  ->  S W theta_hat  in the dual.
    gains = {i: geometry.inverses[i] @ scaled[i] for i in agents}
    blocks = [gains[i] @ geometry.inverses[i] for i in agents]
    vectors = [matvec(gains[i], moments[i].fit.theta) for i in agents]

    def meats() -> list[Array]:
        return [gains[i] @ moments[i].fit.covariance @ transpose(gains[i]) for i in agents]

    information = geometry.scatter_matrices(blocks, agents)
    right = geometry.scatter_vectors(vectors, agents)
    return solved(geometry, agents, information, right, meats, left_out)


def imputed(
    data: Sequence[AgentData],
    geometry: Geometry,
    rates: dict[int, Array],
    left_out: tuple[LeftOut, ...],
    variances: Mapping[int, Array] | None = None,
) -> Estimate:
    """Solve ``sum a_i T_i' xx T_i theta = sum a_i T_i' xy``, the agents being the keys of rates.

    Global imputation with ``a_i``, and COLLAB with empirical weights when ``a_i = 1/R_i``.

    Parameters
    ----------
    variances : dict of arrays, shape (...), optional
        ``s_i`` as the covariance of the estimate takes them; each agent's own by default.
    """
    agents = list(rates)
    moments = {i: with_xx(data[i]) for i in agents}

    def meats() -> list[Array]:
        own = variances or {i: moments[i].fit.variance for i in agents}
        return [
            times(rates[i] ** 2 * own[i], dual.lifted(moments[i], geometry.inverses[i]))
            for i in agents
        ]

    information = dual.information(moments, geometry, rates)
    right = dual.right_side(moments, geometry, rates)
    return solved(geometry, agents, information, right, meats, left_out)


def solved(
    geometry: Geometry,
    agents: Sequence[int],
    information: Array,
    right: Array,
    meats: Callable[[], Sequence[Array]],
    left_out: tuple[LeftOut, ...],
) -> Estimate:
    """Solve ``K phi = right``; the covariance of phi is ``K^-1 (sum of meats) K^-1``.

    The meats, one (..., d_i, d_i) an agent, are made when the covariance is asked for.
    """
    phi, rank = solve(information, right)
    short = rank < geometry.dimension
    if short.any():
        # What no sample varied in gets coefficient 0, and that is said of theta, not of phi: a
        # rare level that nobody had would otherwise get a large one (found on census records).
        phi = np.where(short[..., None], _least_theta(geometry, information, right), phi)

    def phi_covariance() -> Array:
        spread = geometry.scatter_matrices(meats(), agents)
        return congruence(pseudo_inverse(information)[0], spread)

    determined = bool((rank == geometry.dimension).all())
    return Estimate(phi, geometry, left_out, phi_covariance, determined)


def _least_theta(geometry: Geometry, information: Array, right: Array) -> Array:
    """Solve ``K phi = right`` with the least theta, in the features' own scale, (..., d).

    In theta the equations are ``Sigma K Sigma theta = Sigma right``.
    """
    sigma = geometry.covariance
    scale = np.sqrt(np.diagonal(sigma, axis1=-2, axis2=-1))
    primal = congruence(sigma, information) / (scale[..., :, None] * scale[..., None, :])
    inverted = np.linalg.pinv(primal, rcond=UNINFORMED, hermitian=True)
    theta = matvec(inverted, matvec(sigma, right) / scale) / scale
    return matvec(sigma, theta)


def participants(
    moments: Sequence[AgentData], geometry: Geometry, *, by_residual: bool, any_size: bool = False
) -> tuple[list[int], tuple[LeftOut, ...]]:
    """Agents that can take part, and the others with the reason.

    Parameters
    ----------
    by_residual : bool
        Whether weights divide by the residual, which then must not be 0.
    any_size : bool
        Whether agents with ``n <= d_i`` are welcome, because only their sums are read.
    """
    views = geometry.views
    check_moments(moments, views)
    left_out = () if any_size else _interpolating(moments, views)
    if by_residual:
        known = {entry.agent for entry in left_out}
        left_out += tuple(
            LeftOut(i, "its labels are fitted without residual, so its weight would be infinite")
            for i, moment in enumerate(moments)
            if i not in known and views[i].size and (moment.fit.rss <= 0).any()
        )
    skipped = {entry.agent for entry in left_out}
    # An agent that sees nothing is not left out: it takes part by adding nothing.
    agents = [i for i, view in enumerate(views) if view.size and i not in skipped]
    if not agents:
        raise NotEstimableError(_nothing_left(left_out))
    why = "".join(f"; agent {entry.agent} is left out: {entry.reason}" for entry in left_out[:3])
    require_seen(
        [views[i] for i in agents],
        geometry.dimension,
        why=why and f" that takes part ({why[2:]})",
        error=NotEstimableError,
    )
    return agents, left_out


def _interpolating(moments: Sequence[AgentData], views: Views) -> tuple[LeftOut, ...]:
    """Agents whose least squares has no degree of freedom left."""
    return tuple(
        LeftOut(
            i,
            f"n = {moment.n.min():g} is not above its {view.size} features"
            + (" and the mean" if moment.is_centred else "")
            + ", so least squares interpolates",
        )
        for i, (moment, view) in enumerate(zip(moments, views, strict=True))
        if view.size and (moment.degrees_of_freedom <= view.size).any()
    )


def _nothing_left(left_out: tuple[LeftOut, ...]) -> str:
    if not left_out:
        return "moments: no agent sees any feature"
    return f"moments: no agent is left; agent {left_out[0].agent}: {left_out[0].reason}"


def check_moments(moments: Sequence[AgentData], views: Views) -> None:
    """Refuse moments that do not go with the views."""
    if len(moments) != len(views):
        raise ValueError(f"moments must hold one entry per view ({len(views)}), got {len(moments)}")
    for i, (moment, view) in enumerate(zip(moments, views, strict=True)):
        if moment.features != view.size:
            raise ValueError(
                f"moments[{i}] must be of the {view.size} features that views[{i}] names,"
                f" got {moment.features}"
            )


def square_weights(
    weights: Sequence[ArrayLike], sizes: Sequence[int], name: str = "weights"
) -> list[Array]:
    """Symmetric matrices, not negative in any direction, one an agent, shapes (..., k, k)."""
    if len(weights) != len(sizes):
        raise ValueError(
            f"{name} must hold one matrix per agent ({len(sizes)}), got {len(weights)}"
        )
    checked = [finite_array(f"{name}[{i}]", weight) for i, weight in enumerate(weights)]
    for i, (weight, size) in enumerate(zip(checked, sizes, strict=True)):
        if weight.shape[-2:] != (size, size):
            raise ValueError(f"{name}[{i}] must be ({size}, {size}), got shape {weight.shape}")
        largest = np.abs(weight).max(initial=0)
        if np.abs(weight - transpose(weight)).max(initial=0) > 1e-8 * largest:
            raise ValueError(f"{name}[{i}] must be symmetric")
        if size and np.linalg.eigvalsh(weight).min() < -1e-8 * largest:
            raise ValueError(f"{name}[{i}] must not be negative in any direction")
    return checked


def with_xx(data: AgentData) -> Moments:
    """An agent's sums, or a sentence that they are needed."""
    if not isinstance(data, Moments):
        raise ValueError("empirical weights and imputation need every agent's xx: give Moments")
    return data


def stacked_models(
    moments: Sequence[AgentData], views: Views, d: int
) -> tuple[Array, tuple[LeftOut, ...]]:
    """Local models as columns ``P_i' theta_hat_i``, shape (..., d, m); 0 for agents left out."""
    check_moments(moments, views)
    left_out = _interpolating(moments, views)
    skipped = {entry.agent for entry in left_out}
    if len(skipped) == len(moments):
        raise NotEstimableError(_nothing_left(left_out))
    leading = np.broadcast_shapes(*(moment.fit.rss.shape for moment in moments))
    models = np.zeros((*leading, d, len(moments)))
    for i, view in enumerate(views):
        if i not in skipped:
            models[..., view, i] = moments[i].fit.theta
    return models, left_out
