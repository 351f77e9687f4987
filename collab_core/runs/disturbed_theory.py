"""What COLLAB tends to when it is told another covariance or agents follow relations of their own.

With ``S~_i`` from the told covariance and ``r_i = share_i / s_i`` its limit solves

    K phi~ = sum_i r_i P_i' S~_i Sigma_i+ T_i theta_i,    K = sum_i r_i P_i' S~_i Sigma_i+ S~_i P_i.

An agent whose model the limit does not meet, ``delta_i = T_i theta_i - S~_i phi~[o_i]``, has scores
that vary by more than its noise: its features vary (``Cov(x x' delta)`` of Gaussian features), and
so does its weight 1/R_i, with relative variance 2/n_i, on a mean score that is not 0. Hence
``inv(K) (K + M) inv(K) / n`` is the covariance about the limit, with

    M = sum_i (r_i^2 / share_i) P_i' S~_i [(delta_i' Sigma_i+ delta_i) Sigma_i+
                                           + 3 Sigma_i+ delta_i delta_i' Sigma_i+] S~_i P_i.

Two things more count at few samples. The variance is that of the undisturbed world there times
what the disturbance makes of it at leading order. And where the estimate is on average is not yet
its limit: agent i's mean weight is ``n_i / (n_i - d_i - 2)`` of ``1/s_i``, and of its samples it
pays ``(d_i + 1) / d_i`` for each of the ``e_i`` coefficients that it fits (both from
`collab_core.answers.planning.finite`), so its rate there is

    r_i n_i / (n_i - d_i - 2) (1 - (d_i + 1) / d_i e_i / n_i),
    e_i = tr(r_i S~_i Sigma_i+ S~_i inv(K)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, positive
from .._base.linalg import inverse, matvec, outer, times
from ..answers.planning import Consortium, finite_errors
from ..core.geometry import Geometry
from ..core.problem import Problem

#: An agent's mean weight exists above two degrees of freedom and means something above this many.
STEADY = 4


def expected(
    problem: Problem,
    n: float,
    *,
    covariance: ArrayLike | Geometry | None = None,
    thetas: Mapping[int, Array] | None = None,
) -> tuple[Array, Array]:
    """COLLAB's error in closed form when it is told another covariance or agents differ in theta.

    Gaussian features, Algorithm 1's weights, to order 1/n (see the module). Every agent's own model
    is judged by its own truth.

    Parameters
    ----------
    covariance : array, shape (d, d) or (..., d, d), optional
        What COLLAB is told; the truth by default.
    thetas : dict of arrays, shape (d,) or (..., d), optional
        The relation of agents whose data follow another one than ``problem.theta``.

    Returns
    -------
    squared_bias : array, shape (..., m)
        What no data remove, beyond the irreducible part.
    falling : array, shape (..., m)
        What falls as 1/n: the variance, and what few samples add to the squared bias.
    """
    size = positive("n", n)
    told = Geometry.of(problem.geometry if covariance is None else covariance, problem.views)
    others = dict(thetas or {})
    truths = [
        local_truth(problem, i, others.get(i, theta)) for i, theta in enumerate(problem.thetas)
    ]
    world = _Told(problem, told, [model for model, _ in truths])
    rates = [problem.shares[i] / unexplained for i, (_, unexplained) in enumerate(truths)]
    spread, gaps = world.limit(rates)
    meats = [
        times(
            rates[i] ** 2 / problem.shares[i],
            times(world.length(gap, i), world.weighted[i]) + 3 * outer(matvec(world.gains[i], gap)),
        )
        for i, gap in enumerate(gaps)
    ]
    meat = told.scatter_matrices(meats)
    _, early = world.limit(_early(problem, size, rates, world.traces(spread)))
    bias = world.stacked([world.length(gap, i) for i, gap in enumerate(gaps)])
    variance = world.stacked(world.traces(spread + spread @ meat @ spread)) / size
    more = world.stacked([world.length(gap, i) for i, gap in enumerate(early)]) - bias
    return bias, variance * few_samples(problem, size) + more


@dataclass(frozen=True, eq=False)
class _Told:
    """A world through a covariance that is told.

    Attributes
    ----------
    problem : Problem
    told : Geometry
    models : list of arrays, shape (..., d_i)
        ``T_i theta_i``, everybody's own truth.
    """

    problem: Problem
    told: Geometry
    models: Sequence[Array]

    @cached_property
    def gains(self) -> list[Array]:
        """``S~_i Sigma_i+``, shapes (..., d_i, d_i)."""
        return [
            local @ self.problem.geometry.block(i) for i, local in enumerate(self.told.inverses)
        ]

    @cached_property
    def weighted(self) -> list[Array]:
        """``S~_i Sigma_i+ S~_i``, shapes (..., d_i, d_i)."""
        return [gain @ local for gain, local in zip(self.gains, self.told.inverses, strict=True)]

    def limit(self, rates: Sequence[Array]) -> tuple[Array, list[Array]]:
        """``inv(K)`` (..., d, d), and every agent's ``delta_i`` (..., d_i)."""
        blocks = [times(rate, block) for rate, block in zip(rates, self.weighted, strict=True)]
        vectors = [
            rate[..., None] * matvec(gain, model)
            for rate, gain, model in zip(rates, self.gains, self.models, strict=True)
        ]
        spread = inverse(self.told.scatter_matrices(blocks))
        phi = matvec(spread, self.told.scatter_vectors(vectors))
        return spread, [model - self.told.local(phi, i) for i, model in enumerate(self.models)]

    def length(self, gap: Array, agent: int) -> Array:
        """``delta' Sigma_i+ delta``, shape (...)."""
        return np.asarray((matvec(self.problem.geometry.block(agent), gap) * gap).sum(axis=-1))

    def traces(self, spread: Array) -> list[Array]:
        """``tr(S~_i Sigma_i+ S~_i spread)`` of every agent, shapes (...)."""
        return [
            (block * spread[..., view[:, None], view]).sum(axis=(-1, -2))
            for view, block in zip(self.problem.views, self.weighted, strict=True)
        ]

    def stacked(self, parts: Sequence[Array]) -> Array:
        """A number an agent side by side, shape (..., m)."""
        return np.stack(np.broadcast_arrays(*parts), axis=-1)


def _early(
    problem: Problem, n: float, rates: Sequence[Array], traces: Sequence[Array]
) -> list[Array]:
    """Rates with which agents count on average while samples are few."""
    found = []
    for i, (rate, trace) in enumerate(zip(rates, traces, strict=True)):
        count, k = n * problem.shares[i], max(int(problem.sizes[i]), 1)
        freedom = count - k
        weight = count / (freedom - 2) if freedom > STEADY else 1.0
        room = 1 - (k + 1) / k * rate * trace / count
        found.append(rate * weight * np.maximum(room, 0.1))
    return found


@lru_cache(maxsize=32)
def few_samples(problem: Problem, n: float) -> Array:
    """What few samples add to each agent's undisturbed variance, a factor of 1 or more, (m,)."""
    leading = Consortium(problem, n).together
    found = finite_errors(problem, n)[0]
    return np.divide(found, leading, out=np.ones_like(found), where=leading > 0)


def local_truth(problem: Problem, agent: int, theta: Array) -> tuple[Array, Array]:
    """``T_i theta`` (..., d_i) and ``s_i`` (...) of an agent whose data follow ``theta``."""
    model = problem.geometry.local(theta @ problem.covariance, agent)
    unseen = theta.copy()
    unseen[..., problem.views[agent]] -= model
    return model, problem.noise**2 + ((unseen @ problem.covariance) * unseen).sum(axis=-1)


def local_errors(problem: Problem, n: float, thetas: Mapping[int, Array]) -> Array:
    """Exact mean error of least squares alone, ``s_i d_i / (n_i - d_i - 1)``, shape (..., m).

    For Gaussian features. 0 where there is none.
    """
    parts = []
    for i, (k, size) in enumerate(zip(problem.sizes, problem.sample_sizes(n), strict=True)):
        _, unexplained = local_truth(problem, i, thetas.get(i, problem.thetas[i]))
        parts.append(unexplained * k / (size - k - 1) if size > k + 1 else 0 * unexplained)
    return np.stack(np.broadcast_arrays(*parts), axis=-1)
