"""Adaptive COLLAB: what is shared is shared, what is an agent's own stays its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import t as student

from .._base.checks import Array, agent_index, fraction
from .._base.linalg import matvec, transpose
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import Interval, LeftOut
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from ..world.views import ViewsLike
from .aggregate import CovarianceLike
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, message_numbers
from .partial_pooling import SpreadFit, posterior, residual_information
from .pooling_input import Input, pooled_input
from .scoring import best_spread, chunk_size, preferred


@dataclass(frozen=True, eq=False)
class AdaptiveEstimate:
    """A shared relation and everybody's own deviation from it.

    Attributes
    ----------
    geometry : Geometry
    given : Input
        The agents' sums in standard units.
    likely, spread : SpreadFit
        How far agents differ: of the largest marginal likelihood, and with none preferred where
        the evidence is as good as equal. Models are made from the second, intervals from the
        first: that nothing speaks for a difference does not make it 0.
    gain : array, shape (t,)
        What differing gains over one relation in log-likelihood.
    deviations : array, shape (t, m, d)
        In standard units, of the agents that see something.
    shared : array, shape (t, d)
        Theta in standard units.
    """

    geometry: Geometry
    given: Input
    likely: SpreadFit
    spread: SpreadFit
    gain: Array
    shared: Array
    deviations: Array

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Nobody: agents with few samples take part through their sums."""
        return self.given.left_out

    @cached_property
    def theta(self) -> Array:
        """Coefficients of the shared relation, shape (..., d)."""
        return self.given.units.coefficients(self.shared)

    def full(self, agent: int) -> Array:
        """Agent i's model of all features, also those it never saw, shape (..., d)."""
        place = self._place(agent)
        if place is None:
            return self.theta
        return self.given.units.coefficients(self.shared + self.deviations[:, place])

    def local(self, agent: int) -> Array:
        """Agent i's own model ``T_i (theta + delta_i)``, shape (..., d_i)."""
        place = self._place(agent)
        units = self.given.units
        if place is None:
            return np.zeros((*units.leading, 0))
        own = matvec(self.given.transforms[place], self.shared + self.deviations[:, place])
        view = self.geometry.views[agent]
        return units.trials(own * units.label[:, None] / units.features[..., view])

    @cached_property
    def heterogeneity(self) -> Array:
        """``D_j``: squared scale of the agents' deviations in each coefficient, shape (..., d)."""
        units = self.given.units
        variance = np.exp(self.spread.log_d) * (units.label[:, None] / units.features) ** 2
        return units.trials(np.where(self._differ[:, None], variance, 0.0))

    @cached_property
    def trust(self) -> Array:
        """``w_i``: about 1 for an agent that belongs, near 0 for one far away, shape (..., m)."""
        found = np.ones((self.shared.shape[0], self.geometry.agents))
        found[:, list(self.given.agents)] = np.exp(self.spread.log_w)
        return self.given.units.trials(found)

    @cached_property
    def evidence(self) -> Array:
        """Gain in log marginal likelihood over one relation for all, shape (...).

        The marginal likelihood of the agents' estimates, the shared relation integrated out, with
        the laws of ``D`` and ``w``; as a difference, because it is known up to a constant.
        """
        return self.given.units.trials(np.maximum(self.gain, 0.0))

    @cached_property
    def _differ(self) -> np.ndarray:
        return np.asarray(self.spread.log_c > SpreadFit.none(self.spread).log_c + 1e-9)

    def _place(self, agent: int) -> int | None:
        i = agent_index(agent, self.geometry.agents)
        return self.given.agents.index(i) if i in self.given.agents else None

    def interval(self, level: float = 0.95, *, agent: int | None = None) -> Interval:
        """Intervals for the shared coefficients, or for those of an agent's own model.

        Posterior variance at the most likely spread, and Student's t with Satterthwaite's degrees
        of freedom: of the residual variances, and of the heterogeneity, of which few agents tell
        little.

        Parameters
        ----------
        level : float
        agent : int, optional
        """
        level = fraction("level", level)
        units, d = self.given.units, self.geometry.dimension
        place = None if agent is None else self._place(agent)
        if agent is not None and place is None:
            return Interval(self.local(agent), self.local(agent))
        rows = np.eye(d) if place is None else self.given.transforms[place]
        variance, freedom = self._uncertainty(rows, place)
        half = student.ppf((1 + level) / 2, np.maximum(freedom, 1.0)) * np.sqrt(variance)
        if agent is None:
            centre, reach = self.theta, units.coefficients(half)
        else:
            view = self.geometry.views[agent]
            centre = self.local(agent)
            reach = units.trials(half * units.label[:, None] / units.features[..., view])
        return Interval(centre - reach, centre + reach)

    def _uncertainty(self, rows: Array, place: int | None) -> tuple[Array, Array]:
        """Posterior variance of ``rows @ (theta + delta_i)`` and its degrees of freedom, (t, q)."""
        pool, size = self.given.pool, chunk_size(self.given.pool)
        parts = []
        for low in range(0, pool.trials, size):
            here = slice(low, low + size)
            chosen = rows if rows.ndim == 2 else rows[here]
            scaled = pool.part(here).scaled()
            freedom = self.given.residual.freedom[here]
            parts.append(uncertainty(scaled, self.likely.part(here), freedom, chosen, place))
        variances, freedoms = zip(*parts, strict=True)
        return np.concatenate(variances), np.concatenate(freedoms)


def uncertainty(
    scaled: tuple[Array, Array, Array],
    spread: SpreadFit,
    freedom: Array,
    rows: Array,
    place: int | None,
) -> tuple[Array, Array]:
    """Variance of the best linear prediction of ``a'(theta + delta_i)``, and its freedom.

    The prediction is ``sum_k l_k' z_k``. Its error has the parts ``|l_k|^2`` (of agent k's noise,
    as its ``s_k``) and ``sum_j u_kj (Y_k' l_k - [k = i] a)_j^2`` (of its deviation, as ``D``);
    as the prediction is the best one, these are the variance's derivatives by ``log s_k`` and
    ``log D`` too, and ``2 variance^2 / Var(variance)`` follows.
    """
    Y, _, _ = scaled
    found, u = posterior(*scaled, spread), spread.units
    a = np.broadcast_to(rows, (Y.shape[0], *rows.shape[-2:]))
    N, own = found.inner, 0 if place is None else place
    b = a * (0.0 if place is None else u[:, own, None, :])
    # l_k = N_k C (a - H_i b) + [k = i] N_i b,  H_i = Y_i' N_i.
    H = transpose(Y[:, own]) @ N[:, own]
    through = (a - b @ H) @ found.covariance
    loads = N @ transpose(through)[:, None]
    loads[:, own] += N[:, own] @ transpose(b)
    noise = (loads**2).sum(axis=2)
    moved = transpose(loads) @ Y
    if place is not None:
        moved[:, own] -= a
    between = ((moved**2) * u[:, :, None, :]).sum(axis=(1, 3))
    variance = noise.sum(axis=1) + between
    Q = residual_information(Y, found)
    known = 0.5 * (u * ((Q * Q) @ u[..., None])[..., 0]).sum(axis=(1, 2))
    doubt = between**2 / np.maximum(known, 1e-300)[:, None]
    doubt = np.where(between > 1e-9 * variance, doubt, 0.0)
    doubt = doubt + (2 * noise**2 / freedom[..., None]).sum(axis=1)
    return variance, 2 * variance**2 / np.maximum(doubt, 1e-300)


def adaptive(
    moments: Sequence[Moments], views: ViewsLike, covariance: CovarianceLike
) -> AdaptiveEstimate:
    """Adaptive COLLAB: a shared relation plus everybody's own deviation (beyond the paper).

    From COLLAB's messages. Where agents agree it is COLLAB, where they have nothing in common it
    is everybody alone; how much they differ, coefficient by coefficient, is estimated, and agents
    that do not belong lose their say.

    Parameters
    ----------
    moments : list of Moments
        One per agent, of the features it sees in the order of its view. Any sample sizes.
    views : list of index arrays, or (m, d) boolean mask
    covariance : array, shape (d, d) or (..., d, d)
        Feature covariance of all pairs of features.

    Returns
    -------
    AdaptiveEstimate
        ``.theta`` (shared), ``.local(i)``, ``.full(i)``, ``.heterogeneity`` (d,), ``.trust`` (m,),
        ``.interval(level, agent=i)``, ``.evidence``.
    """
    geometry = Geometry.of(covariance, views)
    return fitted(geometry, pooled_input(moments, geometry))


def fitted(geometry: Geometry, given: Input) -> AdaptiveEstimate:
    """`adaptive` from what partial pooling reads."""
    pool = given.pool
    likely = best_spread(pool)
    spread, gain = preferred(pool, likely)
    shared, deviations = np.empty((pool.trials, geometry.dimension)), np.empty_like(spread.units)
    size = chunk_size(pool)
    for low in range(0, pool.trials, size):
        here = slice(low, low + size)
        found = posterior(*pool.part(here).scaled(), spread.part(here))
        shared[here] = found.theta
        deviations[here] = spread.part(here).units * found.pulls
    return AdaptiveEstimate(geometry, given, likely, spread, gain, shared, deviations)


class Adaptive(Method):
    """Partial pooling from COLLAB's messages."""

    key = "adaptive"
    label = "Adaptive COLLAB"
    summary = "Shares what agents have in common and leaves each what is its own."
    style = Style("#009988", "dash", "star")
    needs = frozenset({"fit", "xx", "covariance", "all_pairs"})
    formulas = Formulas(
        "$C^g$ where agents agree", "$T_i C^g T_i'$ where agents agree", "$\\Theta(d_i^2)$"
    )
    usual = False
    gives_intervals = False
    in_table_1 = False

    def estimate(self, agents: Agents) -> AdaptiveEstimate:
        return adaptive(agents.moments, agents.views, agents.geometry)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return bounds.gauss(problem) if told.scores is None else None

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(message_numbers(problem), problem.sizes)
