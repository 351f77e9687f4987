"""The Stein guard: collaboration that is never worse than alone, by theorem (beyond the paper).

Given its features, agent i's ``v = R_i' (theta_hat_i - t_i)``, ``R_i R_i' = xx_i``, is normal about
some mean with covariance ``s I_q``, and its residual sum of squares is an independent
``s chi2_f``. For any prediction ``t_i`` of its model and any ``B`` that is symmetric and not
negative, both made without its labels, and ``tr B > 2 lambda(B)``, lambda the largest eigenvalue,

    v - min(1, (tr B - 2 lambda) RSS / ((f + 2) |B v|^2)) B v

predicts better on its sample than least squares, on average, whatever the agents' relations are.
``B = s (s I + R_i' P_i R_i)^-1`` with ``P_i = T_i (C_-i + D) T_i'`` shrinks towards what adaptive
COLLAB of the others says. ``t_i``, ``C_-i``, ``D`` and ``s`` come from the others' messages alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._base.checks import Array, agent_index
from .._base.linalg import inverse, matvec, pseudo_inverse, transpose
from ..core.agents import Agents
from ..core.estimate import LeftOut, NotEstimableError
from ..core.moments import Moments
from ..core.problem import Problem
from ..world.views import ViewsLike
from .adaptive import Adaptive, AdaptiveEstimate, adaptive
from .aggregate import CovarianceLike
from .base import Formulas, Method, Style, Traffic, message_numbers
from .partial_pooling import posterior
from .pooling_input import Input, residual_variances
from .scoring import best_spread, chunk_size

#: Most steps of scoring without agent i, from the same start as ever: one from the fit of all would
#: know agent i's labels. What a last step may still gain need not be as little as for a fit.
STEPS, GAIN = 30, 1e-6


@dataclass(frozen=True, eq=False)
class GuardedEstimate:
    """Everybody's least squares, moved towards the others as far as is safe.

    Attributes
    ----------
    joint : AdaptiveEstimate
        Adaptive COLLAB of everybody, for the shared relation.
    """

    joint: AdaptiveEstimate

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Nobody."""
        return self.joint.left_out

    @property
    def theta(self) -> Array:
        """Coefficients of the shared relation: adaptive COLLAB's, shape (..., d)."""
        return self.joint.theta

    @cached_property
    def _moved(self) -> tuple[list[Array], Array]:
        """Own models in standard units, (t, d_i), and how far each moved, (t, m)."""
        given = self.joint.given
        found = [_shrunk(given, place, *others(self.joint, place)) for place in _places(given)]
        return [model for model, _ in found], np.stack([share for _, share in found], axis=1)

    @cached_property
    def shrunk(self) -> Array:
        """Share of the way from its least squares to adaptive COLLAB that each went, (..., m).

        1 for an agent without residual degrees of freedom: it has no least squares to guard.
        """
        given = self.joint.given
        share = np.zeros((given.pool.trials, self.joint.geometry.agents))
        share[:, list(given.agents)] = self._moved[1]
        return given.units.trials(share)

    def local(self, agent: int) -> Array:
        """Agent i's own model, shape (..., d_i)."""
        given = self.joint.given
        i = agent_index(agent, self.joint.geometry.agents)
        if i not in given.agents:
            return self.joint.local(i)
        units, view = given.units, self.joint.geometry.views[i]
        own = self._moved[0][given.agents.index(i)]
        return units.trials(own * units.label[:, None] / units.features[..., view])


def _places(given: Input) -> range:
    return range(len(given.agents))


def others(joint: AdaptiveEstimate, place: int) -> tuple[Array, Array, Array]:
    """What the others say of agent i's model, made without any label of its own.

    Returns
    -------
    prediction : array, shape (t, d_i)
        ``t_i = T_i theta_-i``.
    uncertainty : array, shape (t, d_i, d_i)
        ``P_i = T_i (C_-i + D_-i) T_i'``.
    typical : array, shape (t,)
        ``s``, the residual variance that is typical of them.
    """
    given = joint.given
    T = given.transforms[place]
    if len(given.agents) == 1:
        t, k = given.models[place].shape
        return np.zeros((t, k)), np.full((t, 1, 1), 1e12) * np.eye(k), np.ones(t)
    rss, freedom, squares, samples = (
        np.delete(part, place, axis=1)
        for part in (given.rss, given.freedom, given.squares, given.samples)
    )
    # Even the unit is the others': where scoring starts is relative to the labels' variance.
    unit = squares.sum(axis=1) / np.maximum(samples.sum(axis=1), 1.0)
    unit = np.where(unit > 0, unit, 1.0)
    residual = residual_variances(rss / unit[:, None], freedom)
    pool = given.pool.without(place, residual.variances, np.sqrt(unit))
    spread = best_spread(pool, steps=STEPS, gain=GAIN)
    size, theta, spreads = chunk_size(pool), [], []
    for low in range(0, pool.trials, size):
        here = slice(low, low + size)
        found = posterior(*pool.part(here).scaled(), spread.part(here))
        own = found.covariance.copy()
        d = np.arange(own.shape[-1])
        own[:, d, d] += np.exp(spread.log_d[here])
        theta.append(found.theta)
        spreads.append(own)
    prediction = matvec(T, np.concatenate(theta) * np.sqrt(unit)[:, None])
    uncertainty = T @ (np.concatenate(spreads) * unit[:, None, None]) @ transpose(T)
    return prediction, uncertainty, residual.prior_variance * unit


def _shrunk(
    given: Input, place: int, prediction: Array, uncertainty: Array, typical: Array
) -> tuple[Array, Array]:
    """Agent i's model, (t, d_i), and the share of the way that it went, (t,)."""
    R = given.roots[place]
    gap = matvec(transpose(R), given.models[place] - prediction)
    rss, freedom = given.rss[:, place], given.freedom[:, place]
    moved, share = stein(gap, R, uncertainty, typical, rss, freedom)
    # theta = t + (R')^+ (v - c B v); where its sample did not vary the others' word stands.
    back = pseudo_inverse(R @ transpose(R))[0] @ R
    return prediction + matvec(back, moved), share


def stein(
    gap: Array, root: Array, uncertainty: Array, typical: Array, rss: Array, freedom: Array
) -> tuple[Array, Array]:
    """The guard itself.

    Parameters
    ----------
    gap : array, shape (t, k)
        ``v = R' (theta_hat - t)``.
    root : array, shape (t, k, k)
        ``R``; directions that the sample did not vary in are columns of 0.
    uncertainty : array, shape (t, k, k)
        ``P``.
    typical, rss, freedom : arrays, shape (t,)
        ``s``, ``RSS`` and its degrees of freedom.

    Returns
    -------
    moved : array, shape (t, k)
    share : array, shape (t,)
        The factor of ``B v``; 0 where ``tr B <= 2 lambda(B)``.
    """
    k = gap.shape[-1]
    seen = (root**2).sum(axis=-2) > 0
    inner = transpose(root) @ uncertainty @ root
    s = typical[:, None, None]
    # What was not seen has no place in B.
    B = s * inverse(s * np.eye(k) + inner) * (seen[:, :, None] & seen[:, None, :])
    Bv = matvec(B, gap)
    room = np.trace(B, axis1=-2, axis2=-1) - 2 * np.linalg.eigvalsh(B)[:, -1]
    size = (Bv**2).sum(axis=-1)
    factor = (
        np.maximum(room, 0.0) * rss / ((np.maximum(freedom, 0.0) + 2) * np.maximum(size, 1e-300))
    )
    share = np.where(freedom > 0, np.minimum(1.0, factor), 1.0)
    return gap - share[:, None] * Bv, share


def guarded(
    moments: Sequence[Moments], views: ViewsLike, covariance: CovarianceLike
) -> GuardedEstimate:
    """The Stein guard: adaptive COLLAB for agents that must not lose by collaborating.

    For every agent with three features or more and residual degrees of freedom the mean squared
    error of prediction on its own sample is below that of its least squares, whatever the agents'
    relations are: by theorem, for normal noise. Its price is part of the gain at small n.

    Parameters
    ----------
    moments, views, covariance
        As for `adaptive`.

    Returns
    -------
    GuardedEstimate
        ``.local(i)``, ``.shrunk`` (m,), ``.theta`` (adaptive COLLAB's).
    """
    return GuardedEstimate(adaptive(moments, views, covariance))


class Guarded(Method):
    """Least squares, moved towards the others as far as is safe."""

    key = "guarded"
    label = "Guarded COLLAB"
    summary = "Moves an agent's own model towards the others only as far as it cannot lose by it."
    style = Style("#882255", "dashdot", "hexagon")
    needs = frozenset({"fit", "xx", "covariance", "all_pairs"})
    formulas = Formulas("as Adaptive COLLAB", "at most $(W_i^g)^{-1}$", "$\\Theta(d_i^2)$")
    usual = False
    in_table_1 = False

    def estimate(self, agents: Agents) -> GuardedEstimate:
        joint = Adaptive().of(agents)
        if not isinstance(joint, AdaptiveEstimate):
            raise NotEstimableError("the guard needs adaptive COLLAB's estimate")
        return GuardedEstimate(joint)

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(message_numbers(problem), problem.sizes)
