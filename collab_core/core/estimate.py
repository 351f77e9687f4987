"""What an estimator returns: models for everyone, and how sure they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, agent_index, finite_array, fraction
from .._base.intervals import normal_reach
from .._base.linalg import congruence
from .geometry import Geometry


class NotEstimableError(ValueError):
    """The data at hand do not determine what is asked for; the message says why."""


class LeftOut(NamedTuple):
    """An agent that could not take part in an aggregate, and why."""

    agent: int
    reason: str


class Interval(NamedTuple):
    """Lower and upper ends of confidence intervals, entry by entry."""

    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate of theta for all, and with it a model for every agent.

    Attributes
    ----------
    phi : array, shape (..., d)
        Estimated covariance of the features with the label (the dual of theta).
    geometry : Geometry
        The covariance and the views that lead from phi to the models.
    left_out : tuple of LeftOut
        Agents that could not take part.
    determined : bool
        False if in some trial the samples of all agents together leave a direction of theta
        without any information (a feature that never varied, say). The estimate is then 0 there,
        and there are no intervals.
    """

    phi: Array
    geometry: Geometry
    left_out: tuple[LeftOut, ...] = ()
    phi_covariance_of: Callable[[], Array] | None = field(default=None, repr=False)
    determined: bool = True

    @cached_property
    def theta(self) -> Array:
        """Coefficients on all features, shape (..., d)."""
        return self.geometry.theta(self.phi)

    def local(self, agent: int) -> Array:
        """Agent i's model ``T_i theta = inv(Sigma_i+) phi[o_i]``, shape (..., d_i).

        It needs no covariance between features that were never seen together.
        """
        return self.geometry.local(self.phi, agent_index(agent, self.geometry.agents))

    @cached_property
    def phi_covariance(self) -> Array:
        """Estimated covariance of phi, shape (..., d, d)."""
        if self.phi_covariance_of is None:
            raise ValueError("this estimator gives no covariance: use COLLAB, COLLAB+ or another"
                             " weighted aggregate")  # fmt: skip
        if not self.determined:
            raise NotEstimableError(
                "some direction of theta did not vary in any agent's samples, so there is no"
                " information on it and no interval"
            )
        return self.phi_covariance_of()

    @cached_property
    def covariance(self) -> Array:
        """Estimated covariance of theta itself (already divided by n), shape (..., d, d)."""
        return congruence(self.geometry.precision, self.phi_covariance)

    def local_covariance(self, agent: int) -> Array:
        """Estimated covariance of agent i's model, shape (..., d_i, d_i)."""
        view = self.geometry.views[agent]
        return congruence(
            self.geometry.inverses[agent], self.phi_covariance[..., view[:, None], view]
        )

    def interval(
        self, level: float = 0.95, *, agent: int | None = None, combination: ArrayLike | None = None
    ) -> Interval:
        """Confidence intervals for theta, for an agent's model, or for linear combinations.

        Parameters
        ----------
        level : float
            Confidence level in (0, 1).
        agent : int, optional
            Intervals for the coefficients of this agent's model instead of theta's.
        combination : array, shape (d,) or (q, d), optional
            Intervals for ``combination @ coefficients``; with ``agent``, of its d_i coefficients.
        """
        level = fraction("level", level)
        centre = self.theta if agent is None else self.local(agent)
        covariance = self.covariance if agent is None else self.local_covariance(agent)
        if combination is None:
            variance = np.diagonal(covariance, axis1=-2, axis2=-1)
        else:
            rows = finite_array("combination", combination)
            if rows.ndim not in (1, 2) or rows.shape[-1] != centre.shape[-1]:
                raise ValueError(
                    f"combination must have shape ({centre.shape[-1]},) or (q,"
                    f" {centre.shape[-1]}), got {rows.shape}"
                )
            many = np.atleast_2d(rows)
            centre = centre @ many.T
            variance = ((many @ covariance) * many).sum(axis=-1)
            if rows.ndim == 1:
                centre, variance = centre[..., 0], variance[..., 0]
        half = normal_reach(level) * np.sqrt(np.maximum(variance, 0.0))
        return Interval(centre - half, centre + half)


@dataclass(frozen=True, eq=False)
class NaiveEstimate:
    """Coefficients put together without correcting for what agents did not see.

    Attributes
    ----------
    theta : array, shape (..., d)
    weights : array, shape (..., m)
        The weight every agent's model got.
    """

    theta: Array
    views: tuple[np.ndarray, ...]
    weights: Array
    left_out: tuple[LeftOut, ...] = ()

    def local(self, agent: int) -> Array:
        """Agent i's model: its entries of theta, shape (..., d_i)."""
        return self.theta[..., self.views[agent_index(agent, len(self.views))]]
