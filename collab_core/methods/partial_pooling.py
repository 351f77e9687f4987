"""Partial pooling: one shared relation and everybody's own deviation (beyond the paper).

Agent i's relation is ``theta + delta_i``, ``delta_i ~ N(0, D / w_i)`` with ``D`` diagonal and
``w_i ~ Gamma(nu/2, nu/2)``, so that deviations are Student's t with nu degrees of freedom. With a
root ``R_i R_i' = xx_i / s_i`` of its information, what agent i knows is

    z_i = R_i' theta_hat_i ~ N(Y_i theta, M_i),   Y_i = R_i' T_i,   M_i = I + Y_i (D / w_i) Y_i'.

``D`` and ``w`` maximise the marginal likelihood of the ``z_i``, theta integrated out (restricted
likelihood), times the laws of ``w`` and of ``D``: ``D_j`` is drawn about a common level ``c`` with
the weight of ``a`` agents. With ``r_i = M_i^-1 (z_i - Y_i theta)``,
``C = (sum Y_i' M_i^-1 Y_i)^-1`` and
``Q_i = Y_i' (M_i^-1 - M_i^-1 Y_i C Y_i' M_i^-1) Y_i`` the derivative by ``u_ij = D_j / w_i`` is

    g_ij = ((Y_i' r_i)_j^2 - (Q_i)_jj) / 2,

and ``E_ij = u_ij + 2 u_ij^2 g_ij`` is the E-step of the EM algorithm, whose fixed points are the
same. EM creeps where agents agree; Fisher's scoring on ``log D`` and ``log w`` (information
``u_ij u_ik (Q_i)_jk^2 / 2``) takes a dozen steps.

Everything inside is in standard units: features by their standard deviation, labels by theirs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.checks import Array
from .._base.linalg import inverse, matvec, transpose

#: Degrees of freedom of the deviations' law: 4, as in METHOD, lets an agent be far away.
TAIL = 4.0

#: How many agents the common level of heterogeneity is worth when a feature's own is estimated.
COMMON = 10.0

#: Where scoring begins: deviations explain this share of the labels' variance, feature by feature.
START = 0.1

#: Most steps of scoring, and what a further step may gain at most (in log-likelihood) at the end.
STEPS, GAIN = 60, 1e-7

#: Agents count as one relation unless differing gains more than this in log-likelihood: chance
#: alone gains about half as much as often as not.
PREFERENCE = 2.0

#: No step changes a logarithm by more than this.
LONGEST = 3.0

#: ``D`` is never below this (in standard units, where the labels' variance is 1).
LEAST = 1e-12

#: A direction of theta with this share of the best-known direction's information has none: a
#: prior so weak keeps its coefficient at 0 and everything else as it is.
UNINFORMED = 1e-10

#: Numbers in the arrays of one chunk of trials: few enough to stay near the processor.
CHUNK_NUMBERS = 400_000


@dataclass(frozen=True, eq=False)
class Pool:
    """What agents know, in standard units; trials along the first axis.

    Attributes
    ----------
    designs : array, shape (t, m, p, d)
        ``Y_i sqrt(s_i)``; agents with fewer than p directions have rows of 0.
    values : array, shape (t, m, p)
        ``z_i sqrt(s_i)``.
    variances : array, shape (t, m)
        ``s_i``.
    """

    designs: Array
    values: Array
    variances: Array

    @property
    def trials(self) -> int:
        """Number of trials t."""
        return int(self.designs.shape[0])

    def scaled(self) -> tuple[Array, Array, Array]:
        """``Y_i``, ``z_i`` and the weak prior's precision of theta, (t,)."""
        root = 1 / np.sqrt(self.variances)
        Y, z = self.designs * root[..., None, None], self.values * root[..., None]
        information = (Y**2).sum(axis=(1, 2)).max(axis=-1)
        return Y, z, UNINFORMED * np.where(information > 0, information, 1.0)

    def part(self, trials: slice) -> Pool:
        """Some of the trials."""
        return Pool(self.designs[trials], self.values[trials], self.variances[trials])

    def without(self, agent: int, variances: Array, unit: Array) -> Pool:
        """The others, with residual variances, (t, m - 1), and a unit of the label of their own."""
        return Pool(
            np.delete(self.designs, agent, axis=1),
            np.delete(self.values, agent, axis=1) / unit[:, None, None],
            variances,
        )


@dataclass(frozen=True, eq=False)
class SpreadFit:
    """How far agents are from each other.

    Attributes
    ----------
    log_d : array, shape (t, d)
        Logarithm of ``D_j``.
    log_c : array, shape (t,)
        Logarithm of their common level.
    log_w : array, shape (t, m)
        Logarithm of the agents' weights.
    """

    log_d: Array
    log_c: Array
    log_w: Array

    @classmethod
    def start(cls, trials: int, agents: int, features: int) -> SpreadFit:
        """Where scoring begins."""
        level = float(np.log(START))
        return cls(
            np.full((trials, features), level),
            np.full(trials, level),
            np.zeros((trials, agents)),
        )

    @classmethod
    def none(cls, like: SpreadFit) -> SpreadFit:
        """No difference between agents, for as many of them."""
        level = float(np.log(LEAST))
        return cls(
            np.full_like(like.log_d, level),
            np.full_like(like.log_c, level),
            np.zeros_like(like.log_w),
        )

    @property
    def units(self) -> Array:
        """``u_ij = D_j / w_i``, shape (t, m, d)."""
        return np.exp(self.log_d[:, None, :] - self.log_w[:, :, None])

    def part(self, trials: slice | np.ndarray) -> SpreadFit:
        """Some of the trials."""
        return SpreadFit(self.log_d[trials], self.log_c[trials], self.log_w[trials])

    def times(self, scale: Array) -> SpreadFit:
        """Every logarithm times a number a trial, shape (t,)."""
        return SpreadFit(
            self.log_d * scale[:, None], self.log_c * scale, self.log_w * scale[:, None]
        )

    def moved(self, step: SpreadFit) -> SpreadFit:
        """After a step; nothing leaves the range of sensible numbers."""
        low, high = float(np.log(LEAST)), -float(np.log(LEAST))
        return SpreadFit(
            np.clip(self.log_d + step.log_d, low, high),
            np.clip(self.log_c + step.log_c, low, high),
            np.clip(self.log_w + step.log_w, low, high),
        )

    def chosen(self, better: np.ndarray, other: SpreadFit) -> SpreadFit:
        """The other's where it is better, shape (t,)."""
        return SpreadFit(
            np.where(better[:, None], other.log_d, self.log_d),
            np.where(better, other.log_c, self.log_c),
            np.where(better[:, None], other.log_w, self.log_w),
        )

    @property
    def log_prior(self) -> Array:
        """Logarithm of the laws of ``w`` and of ``D`` (as densities of the logarithms), (t,).

        ``D_j`` is ``a c / chi2_a``: heavy-tailed upwards, so that a feature in which agents differ
        much does not count for the others.
        """
        agents = TAIL / 2 * (self.log_w - np.exp(self.log_w) + 1).sum(axis=-1)
        ratio = self.log_c[:, None] - self.log_d
        return np.asarray(agents + COMMON / 2 * (ratio - np.exp(ratio) + 1).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class Posterior:
    """The shared relation and what follows from it, given the spread.

    Attributes
    ----------
    theta : array, shape (t, d)
    covariance : array, shape (t, d, d)
        ``C``, of theta.
    pulls : array, shape (t, m, d)
        ``Y_i' r_i``: ``delta_i = u_i * pulls_i``.
    inner : array, shape (t, m, p, d)
        ``M_i^-1 Y_i``.
    inverses : array, shape (t, m, p, p)
        ``M_i^-1``.
    log_likelihood : array, shape (t,)
        Restricted, up to what does not depend on the spread.
    """

    theta: Array
    covariance: Array
    pulls: Array
    inner: Array
    inverses: Array
    log_likelihood: Array


def posterior(Y: Array, z: Array, weak: Array, spread: SpreadFit) -> Posterior:
    """Theta and its covariance at a given spread."""
    t, m, p, d = Y.shape
    M = (Y * spread.units[:, :, None, :]) @ transpose(Y)
    M[..., np.arange(p), np.arange(p)] += 1
    Mi = inverse(M)
    N = Mi @ Y
    flat_y, flat_n = Y.reshape(t, m * p, d), N.reshape(t, m * p, d)
    K = transpose(flat_y) @ flat_n
    K[..., np.arange(d), np.arange(d)] += weak[:, None]
    C = inverse(K)
    theta = matvec(C, matvec(transpose(flat_n), z.reshape(t, m * p)))
    gap = z - (Y @ theta[:, None, :, None])[..., 0]
    r = (Mi @ gap[..., None])[..., 0]
    pulls = (transpose(Y) @ r[..., None])[..., 0]
    likelihood = -0.5 * (
        np.linalg.slogdet(M)[1].sum(axis=-1)
        + np.linalg.slogdet(K)[1]
        + (gap * r).sum(axis=(1, 2))
        + weak * (theta**2).sum(axis=-1)
    )
    return Posterior(theta, C, pulls, N, Mi, likelihood)


def residual_information(Y: Array, found: Posterior) -> Array:
    """``Q_i``: information on agent i's deviation when theta is not known, shape (t, m, d, d)."""
    t, m, p, d = Y.shape
    half = (found.inner.reshape(t, m * p, d) @ found.covariance).reshape(t, m, p, d)
    W = found.inverses - half @ transpose(found.inner)
    return np.asarray(transpose(Y) @ (W @ Y))


def scoring_step(
    Y: Array, found: Posterior, spread: SpreadFit, ridge: Array
) -> tuple[SpreadFit, Array]:
    """A step of Fisher's scoring on the logarithms, and what it promises to gain, (t,).

    Parameters
    ----------
    ridge : array, shape (t,)
        Caution: what is added to the information's diagonal, relatively.
    """
    Q = residual_information(Y, found)
    u = spread.units
    slope = u * 0.5 * (found.pulls**2 - np.diagonal(Q, axis1=-2, axis2=-1))
    # (t, m, d): information of log u_ij with all of log u_ik, and in full for log D.
    Q *= Q
    crossed = 0.5 * u * (Q @ u[..., None])[..., 0]
    full = 0.5 * np.einsum("tij,tijk,tik->tjk", u, Q, u, optimize=True)
    ratio = COMMON / 2 * np.exp(spread.log_c[:, None] - spread.log_d)
    w = np.exp(spread.log_w)
    by_d = slope.sum(axis=1) + ratio - COMMON / 2
    by_c = COMMON / 2 * spread.log_d.shape[1] - ratio.sum(axis=-1)
    by_w = -slope.sum(axis=-1) + TAIL / 2 * (1 - w)
    more = 1 + ridge[:, None]
    of_w = (crossed.sum(axis=-1) + TAIL / 2 * w) * more
    of_c = ratio.sum(axis=-1) * (1 + ridge)
    # w and c are eliminated first: their blocks are diagonal.
    d = np.arange(ratio.shape[-1])
    full[:, d, d] = (full[:, d, d] + ratio) * more
    full -= transpose(crossed) @ (crossed / of_w[..., None])
    full -= ratio[:, :, None] * (ratio / of_c[:, None])[:, None, :]
    right = by_d + (crossed * (by_w / of_w)[..., None]).sum(axis=1) + ratio * (by_c / of_c)[:, None]
    # Where agents agree nothing tells small from smaller: the level's own direction is nearly flat.
    full[:, d, d] += 1e-8 * ratio
    step_d = np.linalg.solve(full, right[..., None])[..., 0]
    step_w = (by_w + (crossed * step_d[:, None, :]).sum(axis=-1)) / of_w
    step_c = (by_c + (ratio * step_d).sum(axis=-1)) / of_c
    largest = np.maximum(np.abs(step_d).max(axis=-1), np.abs(step_w).max(axis=-1, initial=0.0))
    short = np.minimum(1.0, LONGEST / np.maximum(largest, np.abs(step_c)))
    step = SpreadFit(step_d * short[:, None], step_c * short, step_w * short[:, None])
    gain = (by_d * step.log_d).sum(axis=-1) + by_c * step.log_c
    return step, gain + (by_w * step.log_w).sum(axis=-1)
