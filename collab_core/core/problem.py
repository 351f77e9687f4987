"""Problem: a world in which the truth is known, and what follows from it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import Array, covariance_matrix, finite_array, positive, vector
from .._base.linalg import inverse
from .geometry import Geometry
from .views import Views, ViewsLike, as_mask, as_views, require_seen


class Problem:
    """Gaussian features, a linear model, and agents that each see some of the features.

    Parameters
    ----------
    covariance : array, shape (d, d)
        Covariance of the features, positive definite.
    theta : array, shape (d,)
        True coefficients.
    noise : float
        Standard deviation of the label noise, above 0.
    views : list of index arrays, or (m, d) boolean mask
        What every agent sees. Every feature must be seen by somebody (see `of_seen` otherwise);
        an agent may see nothing.
    shares : array, shape (m,), optional
        Relative sample sizes: at sample size ``n`` agent i has ``n * shares[i]`` labelled samples.
        All 1 by default. Every covariance C of `collab_core.bounds` then means that an estimate
        at size n has covariance C / n.
    deviations : array, shape (m, d), optional
        What every agent's own relation has beyond theta: agent i's labels follow
        ``theta + deviations[i]``, and so does its truth. One relation for all by default, and that
        is what the formulas of `collab_core.bounds` are for; `collab_core.different` has those for
        agents that differ.

    Examples
    --------
    >>> problem = Problem([[1, 0.8], [0.8, 1]], theta=[1, -1], noise=0.5, views=[[0], [1]])
    >>> problem.unexplained.round(2)
    array([0.61, 0.61])
    """

    def __init__(
        self,
        covariance: ArrayLike,
        theta: ArrayLike,
        noise: float,
        views: ViewsLike,
        shares: ArrayLike | None = None,
        deviations: ArrayLike | None = None,
    ) -> None:
        self.geometry = Geometry(finite_array("covariance", covariance, ndim=2), views)
        require_seen(self.views, self.dimension)
        self.theta = vector("theta", theta, self.dimension)
        self.noise = positive("noise", noise)
        self.shares = vector(
            "shares", np.ones(self.agents) if shares is None else shares, self.agents
        )
        if (self.shares <= 0).any():
            raise ValueError(f"shares must be above 0, got {self.shares.min():g}")
        self.deviations = self._checked(deviations)

    def _checked(self, deviations: ArrayLike | None) -> Array | None:
        """Deviations of every agent; None where nobody has any: that is one relation for all."""
        if deviations is None:
            return None
        given = finite_array("deviations", deviations, ndim=2)
        if given.shape != (self.agents, self.dimension):
            raise ValueError(
                f"deviations must have shape ({self.agents}, {self.dimension}), a row an agent,"
                f" got {given.shape}"
            )
        return given if given.any() else None

    @classmethod
    def of_seen(
        cls,
        covariance: ArrayLike,
        theta: ArrayLike,
        noise: float,
        views: ViewsLike,
        shares: ArrayLike | None = None,
    ) -> tuple[Problem, NDArray[np.intp]]:
        """Drop the features that nobody sees, without changing anything an agent can learn.

        What the seen features tell about an unseen one moves into the remaining coefficients, the
        rest into the noise. For Gaussian features this world is indistinguishable from the old.

        Returns
        -------
        problem : Problem
            On the seen features only.
        seen : integer array
            Which features those are.
        """
        matrix = covariance_matrix(finite_array("covariance", covariance, ndim=2))
        d = matrix.shape[0]
        mask = as_mask(views, d)
        seen = np.flatnonzero(mask.any(axis=0))
        if seen.size == 0:
            raise ValueError("views: no agent sees any feature")
        whole = cls(matrix, theta, noise, [seen, np.arange(d)])
        position = np.cumsum(mask.any(axis=0)) - 1
        part = cls(
            matrix[np.ix_(seen, seen)],
            whole.local_theta(0),
            float(np.sqrt(whole.unexplained[0])),
            [position[view] for view in as_views(views, d)],
            shares,
        )
        return part, seen

    @property
    def covariance(self) -> Array:
        """Feature covariance, shape (d, d)."""
        return self.geometry.covariance

    @property
    def views(self) -> Views:
        """What every agent sees, a tuple of m index arrays."""
        return self.geometry.views

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return self.geometry.dimension

    @property
    def agents(self) -> int:
        """Number of agents m."""
        return self.geometry.agents

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Number of features every agent sees, d_i, shape (m,)."""
        return np.array([view.size for view in self.views])

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Views as a mask, shape (m, d)."""
        return as_mask(self.views, self.dimension)

    @property
    def differs(self) -> bool:
        """Whether agents have relations of their own."""
        return self.deviations is not None

    @cached_property
    def thetas(self) -> Array:
        """Every agent's own relation, ``theta + deviations[i]``, shape (m, d)."""
        shape = (self.agents, self.dimension)
        if self.deviations is None:
            return np.broadcast_to(self.theta, shape)
        return self.theta + self.deviations

    def one_relation(self) -> Problem:
        """The same world if all agents followed theta."""
        if self.deviations is None:
            return self
        return Problem(self.covariance, self.theta, self.noise, self.views, self.shares)

    @cached_property
    def phi(self) -> Array:
        """Covariance of the features with the label, ``covariance @ theta``, shape (d,)."""
        return self.covariance @ self.theta

    @cached_property
    def phis(self) -> Array:
        """The same by every agent's own relation, shape (m, d)."""
        if self.deviations is None:
            return np.broadcast_to(self.phi, (self.agents, self.dimension))
        return self.phi + self.deviations @ self.covariance

    @cached_property
    def label_variance(self) -> float:
        """``Var(y) = noise^2 + theta' covariance theta``."""
        return float(self.noise**2 + self.theta @ self.phi)

    @property
    def signal_to_noise(self) -> float:
        """``theta' covariance theta / noise^2``."""
        return float(self.theta @ self.phi / self.noise**2)

    def local_theta(self, agent: int) -> Array:
        """``T_i theta_i``: the best linear model agent i can have, shape (d_i,)."""
        return self.geometry.local(self.phis[agent], agent)

    @cached_property
    def embedded(self) -> Array:
        """``P_i' T_i theta``, every agent's best model with 0 for what it does not see, (m, d)."""
        result = np.zeros((self.agents, self.dimension))
        for i, view in enumerate(self.views):
            result[i, view] = self.local_theta(i)
        return result

    @cached_property
    def leverage(self) -> Array:
        """``v_i = phi - covariance P_i' T_i theta``, the gradient of ``s_i / 2``, shape (m, d).

        Zero on what agent i sees, ``Gamma_i theta_i-`` on what it does not.
        """
        return np.where(self.mask, 0.0, self.phis - self.embedded @ self.covariance)

    @cached_property
    def irreducible(self) -> Array:
        """``theta_i-' Gamma_i theta_i-``: what unseen features cost agent i forever, shape (m,)."""
        # Not Var(y) - phi' S phi: that difference loses all digits when the noise is small.
        if self.deviations is None:
            return np.maximum(self.leverage @ self.theta, 0.0)
        return np.maximum((self.leverage * self.thetas).sum(axis=1), 0.0)

    @cached_property
    def unexplained(self) -> Array:
        """``s_i = noise^2 + irreducible_i``: variance agent i can never explain, shape (m,)."""
        return self.noise**2 + self.irreducible

    def transform(self, agent: int) -> Array:
        """``T_i = [I, inv(Sigma_i+) Sigma_i+-] Pi_i``, shape (d_i, d)."""
        return self.geometry.transform(agent)

    def schur(self, agent: int) -> Array:
        """``Gamma_i``: covariance of the unseen features given the seen, (d - d_i, d - d_i)."""
        unseen = np.flatnonzero(~self.mask[agent])
        cross = self.covariance[np.ix_(unseen, self.views[agent])]
        return (
            self.covariance[np.ix_(unseen, unseen)]
            - cross @ self.geometry.inverses[agent] @ cross.T
        )

    @cached_property
    def information(self) -> Array:
        """``K = sum_i share_i / s_i P_i' inv(Sigma_i+) P_i``, the information on phi, (d, d)."""
        rates = self.shares / self.unexplained
        return self.geometry.scatter_matrices(
            [rate * local for rate, local in zip(rates, self.geometry.inverses, strict=True)]
        )

    @cached_property
    def information_inverse(self) -> Array:
        """``inv(K)``, the covariance of phi times n, shape (d, d)."""
        return inverse(self.information)

    def sample_sizes(self, n: float) -> NDArray[np.intp]:
        """``n_i``, the nearest whole number to ``n * shares[i]``, shape (m,)."""
        sizes = np.rint(positive("n", n) * self.shares)
        if sizes.max() > 2**53:
            raise ValueError(f"n must stay below 2^53 samples per agent, got {n:g}")
        return sizes.astype(np.intp)

    def __repr__(self) -> str:
        return (
            f"Problem({self.agents} agents, {self.dimension} features,"
            f" {self.mask.mean():.0%} seen, noise {self.noise:g}"
            f"{', relations of their own' if self.differs else ''})"
        )
