"""Agents that differ, in closed form: alone, COLLAB, partial pooling, and the bound.

Agent i's relation is ``theta + delta_i`` with independent deviations of known variances,
``delta_i ~ N(0, diag(D_i))`` (random effects). Everything is in the dual: agent i's own
``phi_i = Sigma (theta + delta_i)`` has covariance ``E_i = Sigma diag(D_i) Sigma`` about the shared
one, and its least squares measures ``phi_i[o_i]`` with covariance ``N_i = s_i Sigma_i+ / n_i``.
Errors are means over the agents' data and over their deviations, every agent judged by its own
truth; leading order in 1/n, with ``s_i`` at its mean over the deviations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._base.checks import Array, finite_array, positive
from .._base.linalg import inverse
from ..core.problem import Problem

#: What the closed forms are for, as methods are called; "bound" is no method.
LINES = ("local", "collab", "adaptive", "bound")

#: Sample sizes between which crossings are looked for.
FEWEST, MOST = 1.0, 1e12


class RandomEffects:
    """A world whose agents deviate from its theta with known variances.

    Parameters
    ----------
    problem : Problem
        Its theta is the shared relation; deviations that it may have are not looked at.
    variances : array, shape (m, d) or (d,)
        ``D``: of every agent's deviations, or the same for all.
    """

    def __init__(self, problem: Problem, variances: ArrayLike) -> None:
        shape = (problem.agents, problem.dimension)
        given = finite_array("variances", variances)
        if given.shape not in (shape, shape[1:]):
            raise ValueError(f"variances must have shape {shape} or {shape[1:]}, got {given.shape}")
        if (given < 0).any():
            raise ValueError(f"variances must not be negative, got {given.min():g}")
        self.problem = problem.one_relation()
        self.variances: Array = np.broadcast_to(given, shape)

    def scaled(self, size: float) -> RandomEffects:
        """The same world with deviations so many times as large."""
        return RandomEffects(self.problem, size**2 * self.variances)

    @cached_property
    def spread(self) -> Array:
        """``E_i = Sigma diag(D_i) Sigma``, covariance of ``Sigma delta_i``, shape (m, d, d)."""
        sigma = self.problem.covariance
        return (sigma * self.variances[:, None, :]) @ sigma

    @cached_property
    def hidden(self) -> Array:
        """``Q_i = I - P_i' T_i``: what of a relation agent i cannot see, shape (m, d, d)."""
        problem = self.problem
        hidden = np.repeat(np.eye(problem.dimension)[None], problem.agents, axis=0)
        for i, view in enumerate(problem.views):
            hidden[i][view] -= problem.transform(i)
        return hidden

    @cached_property
    def unexplained(self) -> Array:
        """``s_i`` on average over the deviations, shape (m,)."""
        through = self.hidden.transpose(0, 2, 1) @ self.problem.covariance @ self.hidden
        return self.problem.unexplained + np.einsum("ijj,ij->i", through, self.variances)

    @cached_property
    def padded(self) -> Array:
        """``P_i' inv(Sigma_i+) P_i``, shape (m, d, d)."""
        problem = self.problem
        padded = np.zeros((problem.agents, problem.dimension, problem.dimension))
        for i, view in enumerate(problem.views):
            padded[i][np.ix_(view, view)] = problem.geometry.inverses[i]
        return padded

    def _errors(self, covariances: Array) -> Array:
        """``tr(inv(Sigma_i+) C_i[o_i, o_i])`` of covariances of phi_i, (m, d, d) -> (m,)."""
        return np.asarray((self.padded * covariances).sum(axis=(-1, -2)))

    # Errors, agent by agent ----------------------------------------------------------------------

    def local(self, n: float) -> Array:
        """Least squares alone, exactly: ``s_i d_i / (n_i - d_i - 1)``; infinite below, (m,)."""
        k, counts = self.problem.sizes, self.problem.shares * positive("n", n)
        room = np.maximum(counts - k - 1, 0.0)
        with np.errstate(divide="ignore"):
            return np.where(k > 0, self.unexplained * k / room, 0.0)

    def collab(self, n: float) -> Array:
        """COLLAB: ``squared_bias + variance / n``, shape (m,)."""
        bias, variance = self._collab
        return bias + variance / positive("n", n)

    @cached_property
    def _collab(self) -> tuple[Array, Array]:
        """What stays, and what falls as 1/n times n, shapes (m,).

        ``phi~ - phi = sum_k B_k Sigma delta_k`` with ``B_k = inv(K) r_k P_k' inv(Sigma_k+) P_k``,
        so about agent i's own phi_i the limit has covariance
        ``sum_k B_k E_k B_k' - B_i E_i - E_i B_i' + E_i``. About the limit there is noise, and what
        features and residuals happen to be (see `collab_core.bounds.differing`).
        """
        s, rates = self.unexplained, self.problem.shares / self.unexplained
        inverted = inverse((rates[:, None, None] * self.padded).sum(axis=0))
        pulled = inverted @ (rates[:, None, None] * self.padded) @ self.spread
        shared = (
            pulled @ (rates[:, None, None] * self.padded) @ inverted
        ).sum(axis=0)  # fmt: skip
        gaps = shared - pulled - pulled.transpose(0, 2, 1) + self.spread
        bias = self._errors(gaps)
        # E g g' for the model's own coefficients, g = inv(Sigma_i+) (phi_i - phi~)[o_i].
        own = self.padded @ gaps @ self.padded
        weights = (rates * (1 + bias / s))[:, None, None]
        meats = weights * self.padded + (3 * rates / s)[:, None, None] * own
        spread = inverted @ meats.sum(axis=0) @ inverted
        return bias, self._errors(spread[None])

    def adaptive(self, n: float) -> Array:
        """Partial pooling that knows D: the best linear unbiased prediction, shape (m,).

        The shared phi has covariance ``C = (sum_i P_i' (N_i + E_i)^-1 P_i)^-1``; agent i's own adds
        ``N - N (N + E)^-1 N + G C G'`` with ``G = N (N + E)^-1``. Its own ``N_i`` is the exact mean
        over its features, ``s_i Sigma_i+ / (n_i - d_i - 1)``, so that without anything in common
        this is least squares alone; with one relation it is COLLAB.
        """
        problem, geometry = self.problem, self.problem.geometry
        counts = problem.shares * positive("n", n)
        blocks = [
            np.linalg.inv(self.unexplained[i] / counts[i] * geometry.block(i) + self._own(i))
            for i in range(problem.agents)
        ]
        shared = inverse(geometry.scatter_matrices(blocks))
        found = np.zeros(problem.agents)
        for i, view in enumerate(problem.views):
            room, C = counts[i] - view.size - 1, shared[np.ix_(view, view)]
            covariance = self._own(i) + C
            if room > 0:
                noise = self.unexplained[i] / room * geometry.block(i)
                kept = np.linalg.solve(noise + self._own(i), noise).T
                covariance = noise - kept @ noise + kept @ C @ kept.T
            found[i] = (geometry.inverses[i] * covariance).sum()
        return found

    def _own(self, agent: int) -> Array:
        """``E_i[o_i, o_i]``, shape (d_i, d_i)."""
        view = self.problem.views[agent]
        return self.spread[agent][np.ix_(view, view)]

    def bound(self, n: float) -> Array:
        """What nobody beats on average over deviations, even knowing D and the noise, shape (m,).

        Van Trees: agent i's data have the information
        ``J_i = n_i (P_i' inv(Sigma_i+) P_i / s_i + 2 / s_i^2 E h_i h_i')`` on its phi_i,
        ``h_i = Q_i (theta + delta_i)``, of which ``A_i = (inv(J_i) + E_i)^-1`` is on the shared
        phi. With one relation it is the exact bound (`collab_core.bounds.exact`).
        """
        problem, s = self.problem, self.unexplained
        counts = (problem.shares * positive("n", n))[:, None, None]
        h = self.hidden @ problem.theta
        second = h[:, :, None] * h[:, None, :]
        second = second + (self.hidden * self.variances[:, None, :]) @ self.hidden.transpose(
            0, 2, 1
        )
        J = counts * (self.padded / s[:, None, None] + 2 / s[:, None, None] ** 2 * second)
        # E = R R', which may be singular: K = R (I + R' J R)^-1 R' is (inv(E) + J)^-1 without it.
        R = problem.covariance * np.sqrt(self.variances)[:, None, :]
        inner = np.eye(problem.dimension) + R.transpose(0, 2, 1) @ J @ R
        K = R @ np.linalg.solve(inner, R.transpose(0, 2, 1))
        left = np.eye(problem.dimension) - K @ J
        shared = inverse((J @ left).sum(axis=0))
        return self._errors(K + left @ shared @ left.transpose(0, 2, 1))

    def line(self, key: str) -> Callable[[float], Array]:
        """Errors by n of one of `LINES`."""
        lines = {
            "local": self.local, "collab": self.collab, "adaptive": self.adaptive,
            "bound": self.bound,
        }  # fmt: skip
        if key not in lines:
            raise ValueError(f"key must be one of {', '.join(lines)}, got {key!r}")
        return lines[key]

    # Where methods change places -----------------------------------------------------------------

    def collab_pays_until(self, agents: Sequence[int] | None = None) -> float | None:
        """The n from which on COLLAB's mean error is above that of working alone.

        None where it is ahead for ever; 0 where it is never ahead.

        Parameters
        ----------
        agents : list of int, optional
            Over whom errors are averaged; everybody by default.
        """
        return self._from(lambda n: self._mean(self.collab, n, agents)
                          - self._mean(self.local, n, agents), agents)  # fmt: skip

    def collab_pays_up_to(self, n: float, agents: Sequence[int] | None = None) -> float | None:
        """How many times as large deviations can be before COLLAB loses to working alone at n.

        None where it never does, 0 where it does without any.
        """

        def excess(size: float) -> float:
            world = self.scaled(size)
            return world._mean(world.collab, n, agents) - world._mean(world.local, n, agents)

        low, high = np.log(1e-6), np.log(1e3)
        if excess(np.exp(low)) > 0:
            return 0.0
        if not excess(np.exp(high)) > 0:
            return None
        while high - low > 1e-5:
            middle = (low + high) / 2
            low, high = (low, middle) if excess(np.exp(middle)) > 0 else (middle, high)
        return float(np.exp(high))

    def alone_from(self, agents: Sequence[int] | None = None, within: float = 0.05) -> float | None:
        """The n from which on partial pooling saves less than a share of the error of alone.

        None where it always saves more; 0 where it never does.
        """
        return self._from(lambda n: self._mean(self.adaptive, n, agents)
                          - (1 - within) * self._mean(self.local, n, agents), agents)  # fmt: skip

    def _mean(
        self, errors: Callable[[float], Array], n: float, agents: Sequence[int] | None
    ) -> float:
        chosen = list(range(self.problem.agents)) if agents is None else list(agents)
        return float(errors(n)[chosen].mean())

    def _from(self, excess: Callable[[float], float], agents: Sequence[int] | None) -> float | None:
        """Where a difference that ends above 0 becomes so, by bisection on log n."""
        chosen = list(range(self.problem.agents)) if agents is None else list(agents)
        # Below this somebody cannot work alone, and anything is better than that.
        least = ((self.problem.sizes + 1.001) / self.problem.shares)[chosen].max()
        low, high = np.log(max(least, FEWEST)), np.log(MOST)
        if excess(np.exp(high)) <= 0:
            return None
        if excess(np.exp(low)) > 0:
            return 0.0
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (low, middle) if excess(np.exp(middle)) > 0 else (middle, high)
        return float(np.exp(high))


def against_spread(
    problem: Problem,
    variances: ArrayLike,
    n: float,
    sizes: Sequence[float],
    agents: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Expected errors by how much agents differ, a row per size and line.

    Parameters
    ----------
    variances : array, shape (m, d) or (d,)
        Of deviations of size 1.
    sizes : list of float
        How many times as large the deviations are.
    agents : list of int, optional
        Over whom errors are averaged; everybody by default.

    Returns
    -------
    DataFrame
        ``spread``, ``method`` ("bound" for the bound) and ``theory``.
    """
    world = RandomEffects(problem, variances)
    rows = []
    for size in sizes:
        at = world.scaled(float(size))
        for key in LINES:
            mean = at._mean(at.line(key), n, agents)
            rows.append({"spread": float(size), "method": key, "theory": mean})
    return pd.DataFrame(rows)


def against_n(
    problem: Problem,
    variances: ArrayLike,
    sample_sizes: Sequence[float],
    agents: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Expected errors by n, a row per n and line: ``n``, ``method`` and ``theory``."""
    world = RandomEffects(problem, variances)
    return pd.DataFrame(
        {"n": float(n), "method": key, "theory": world._mean(world.line(key), float(n), agents)}
        for n in sample_sizes
        for key in LINES
    )
