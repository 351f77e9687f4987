"""COLLAB's expected error at sizes that are not large.

Given everybody's ``xx`` and residuals, COLLAB with Algorithm 1's weights has in the dual the
covariance ``A Q A`` with

    A = inv(sum_k w_k M_k),    Q = sum_k w_k^2 s_k M_k,    M_k = S_k xx_k S_k ~ Wishart(n_k, S_k),

and weights ``w_k = n_k / RSS_k = u_k / s_k``, ``u_k = n_k / chi2(n_k - d_k)``, that are
independent of all else. The mean over both is taken in two steps.

**Features.** ``A Q A`` is how fast A falls when ``w_k`` grows by ``w_k^2 s_k``, so it is enough to
know the mean of A. Integrating by parts over an agent's rows (Stein's identity) gives

    E[A M_k] = n_k E[A] S_k - w_k E[A M_k A + tr(M_k A) A] S_k.

With ``w_k M_k`` replaced by what it stands for, ``E[A w_k M_k] = A Y_k``, that is

    A = inv(sum_k Y_k),    Y_k = w_k [(n_k - e_k) S_k - Y_k A S_k],    e_k = tr(Y_k A):

of the d coefficients that are fitted in all, agent k pays for ``e_k`` with as many of its samples.
One agent alone has ``e = d`` and ``A = inv(S) / (w (n - d - 1))``, as is exact; agents that see
all and have equal weights are one with all samples, again exactly.

**Weights.** The mean over the residuals is one over fixed quasi-random points. What estimated
weights cost is nothing where weights do not compete (one agent: they cancel), and grows with how
evenly several agents share a direction; no expansion in ``1 / (n_k - d_k)`` reaches down to four
degrees of freedom, where the weights have no variance any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv
from scipy.stats import qmc

from ..._base.checks import Array, finite_array
from ...core.problem import Problem

#: Rounds end when the samples that agents pay move by less than this share of all that are paid.
SETTLED, MOST_ROUNDS = 3e-4, 200

#: Points over the residuals, from many degrees of freedom to few: so many that their error stays
#: within a percent or two (the tails of 1 / chi2 are what they are there for).
FEWEST_POINTS, MOST_POINTS, POINTS_TIMES_FREEDOM = 32, 512, 1536


def finite_errors(problem: Problem, sizes: ArrayLike) -> Array:
    """COLLAB's expected error for every agent at any size, shape (q,) -> (q, m).

    Algorithm 1's weights, Gaussian features, known covariance; the irreducible part is not in it.
    Exact for one agent, ``s d / (n - d - 1)``; within a few percent of simulation from ``d_i + 4``
    samples on (see the module). Agents with fewer than ``d_i + 1`` do not take part. Infinite where
    a feature is seen by nobody who does, or by nobody with samples enough for a mean to exist.

    Parameters
    ----------
    sizes : array, shape (q,)
        Labelled samples per agent, times its share.
    """
    counts = np.atleast_1d(finite_array("sizes", sizes))
    world = _World(problem)
    return np.stack([world.errors(size) for size in counts])


@cache
def _points(agents: int, count: int) -> Array:
    """Points of the unit cube, the same in every call, shape (count, agents)."""
    return np.asarray(qmc.Sobol(agents, seed=0).random(count))


@dataclass(frozen=True, eq=False)
class _Settled:
    """Where the equations of the module settle, for a stack of weights.

    Attributes
    ----------
    spread : array, shape (q, d, d)
        A, the mean of the inverse information on phi.
    traces : array, shape (q, m)
        ``tr(S_k A) / s_k``.
    rates : array, shape (q, m)
        ``Y_k = rates_k S_k / s_k``.
    room : array, shape (q, m)
        Samples that are left to agents after they paid.
    """

    spread: Array
    traces: Array
    rates: Array
    room: Array


class _World:
    """A problem, with ``S_k / s_k`` of every agent side by side."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        m, d = problem.agents, problem.dimension
        self.blocks = [
            local / s
            for local, s in zip(problem.geometry.inverses, problem.unexplained, strict=True)
        ]
        padded = np.zeros((m, d, d))
        for i, (view, block) in enumerate(zip(problem.views, self.blocks, strict=True)):
            padded[i][np.ix_(view, view)] = block
        self.flat = padded.reshape(m, d * d)
        # Y A S stands for e S / d_k where Y is a multiple of S: an agent pays (d_k + 1) / d_k.
        self.price = (problem.sizes + 1) / np.maximum(problem.sizes, 1)

    def errors(self, size: float) -> Array:
        """Every agent's error at one size, shape (m,)."""
        problem = self.problem
        counts = size * problem.shares
        freedom = counts - problem.sizes
        # Samples are whole: least squares leaves a residual from the first one above d_i on.
        active = (freedom >= 1) & (problem.sizes > 0)
        known = problem.mask[active].any(axis=0)
        if not known.any():
            return np.where(problem.sizes > 0, np.inf, 0.0)
        # What stands for features that nobody sees keeps matrices regular and touches no others.
        spare = np.diag(np.where(known, 0.0, 1.0))
        least = float(freedom[active].min())
        count = int(np.clip(POINTS_TIMES_FREEDOM / least, FEWEST_POINTS, MOST_POINTS))
        cube = _points(problem.agents, 2 ** int(np.ceil(np.log2(count))))
        residuals = 2 * gammaincinv(np.where(active, freedom, 1.0) / 2, cube)
        weights = np.where(active, counts / residuals, 0.0)
        settled = self._settle(weights, counts, spare)
        variance = self._falling(settled, weights).mean(axis=0)
        usual = np.where(active, counts / np.where(active, freedom, 1.0), 0.0)
        errors = self._traces(variance) * problem.unexplained * self._shape(usual, counts, spare)
        poor = (settled.room <= 0).any(axis=0) & active
        lost = ~known | problem.mask[poor].any(axis=0)
        errors[(problem.mask & lost).any(axis=1)] = np.inf
        return np.asarray(errors)

    def _traces(self, spread: Array) -> Array:
        """``tr(S_k spread) / s_k``, (..., d, d) -> (..., m)."""
        return spread.reshape(*spread.shape[:-2], -1) @ self.flat.T

    def _sum(self, rates: Array) -> Array:
        """``sum_k rates_k S_k / s_k``, (..., m) -> (..., d, d)."""
        d = self.problem.dimension
        return (rates @ self.flat).reshape(*rates.shape[:-1], d, d)

    def _settle(self, weights: Array, counts: Array, spare: Array) -> _Settled:
        """Solve ``rates = weights (n - price e)``, ``e = rates tr(S A)``; weights (q, m)."""

        def at(paid: Array) -> _Settled:
            room = counts - self.price * paid
            # Who has nothing left is told apart afterwards; until then a little keeps A finite.
            rates = weights * np.maximum(room, 1e-6 * counts)
            spread = np.linalg.inv(self._sum(rates) + spare)
            return _Settled(spread, self._traces(spread), rates, room)

        def again(paid: Array) -> Array:
            settled = at(paid)
            return settled.rates * settled.traces

        scale = np.full(len(weights), float(self.problem.dimension))
        return at(_fixed_point(again, np.zeros_like(weights), scale))

    def _falling(self, settled: _Settled, weights: Array) -> Array:
        """The mean of ``A Q A`` over features: minus A's derivative, shape (q, d, d).

        Every weight w grows by ``w^2``, and what agents pay for moves along.
        """
        grown = weights * settled.rates

        def falling(paid: Array) -> tuple[Array, Array]:
            rates = grown - weights * self.price * paid
            return rates, settled.spread @ self._sum(rates) @ settled.spread

        def again(paid: Array) -> Array:
            rates, spread = falling(paid)
            return rates * settled.traces - settled.rates * self._traces(spread)

        scale = (grown * settled.traces).max(axis=-1)
        return falling(_fixed_point(again, np.zeros_like(grown), scale))[1]

    def _shape(self, weights: Array, counts: Array, spare: Array) -> Array:
        """What ``Y_k`` that are no multiples of S_k change in every agent's error, a factor (m,).

        An agent's samples go where nobody else's are, so that features it alone sees get less of
        them. Taken once, at usual weights: all points share nearly the same factor.
        """
        problem = self.problem
        plain = self._settle(weights[None], counts, spare)
        spread, paid = plain.spread[0], plain.rates[0] * plain.traces[0]
        parts = [rate * block for rate, block in zip(plain.rates[0], self.blocks, strict=True)]
        for _ in range(MOST_ROUNDS):
            total, before = spare.copy(), paid
            # Y_k A, whose trace is what agent k pays.
            inner = [
                part @ spread[np.ix_(view, view)]
                for part, view in zip(parts, problem.views, strict=True)
            ]
            paid = np.array([np.trace(part) for part in inner])
            for k, (view, block) in enumerate(zip(problem.views, self.blocks, strict=True)):
                part = weights[k] * ((counts[k] - paid[k]) * block - inner[k] @ block)
                parts[k] = (part + part.T) / 2
                total[np.ix_(view, view)] += parts[k]
            spread = np.linalg.inv(total)
            if np.abs(paid - before).max() < SETTLED * problem.dimension:
                break
        own = plain.traces[0]
        return np.divide(self._traces(spread), own, out=np.ones_like(own), where=own > 0)


def _fixed_point(again: Callable[[Array], Array], start: Array, scale: Array) -> Array:
    """Where ``again(x) = x``, for rows by themselves, shape (q, m); ``scale`` (q,) is their size.

    Every step is bettered by the one before it (Anderson's acceleration of depth 1): where agents
    have hardly a degree of freedom left, plain steps go back and forth.
    """
    x, step = start, again(start) - start
    last_x, last_step = x, step
    x = x + step
    for _ in range(MOST_ROUNDS):
        step = again(x) - x
        if (np.abs(step).max(axis=-1) <= SETTLED * scale).all():
            break
        change = step - last_step
        length = (change**2).sum(axis=-1, keepdims=True)
        share = (step * change).sum(axis=-1, keepdims=True)
        back = np.divide(share, length, out=np.zeros_like(share), where=length > 0)
        last_x, last_step, x = x, step, x + step - back * (x - last_x + change)
    return x + step
