"""Weights tilted away from optimal: how much is lost, and in which direction fastest.

COLLAB weighs agent i by ``W_i^g = Sigma_i+ / s_i``. With ``a_i W_i^g`` instead, ``a_i =
exp(tilt_i)``, the dual form gives ``M = sum a_i A_i``, ``V = sum a_i^2 A_i``, ``A_i = P_i'
inv(Sigma_i+) P_i share_i / s_i``, and the covariance of phi is ``inv(M) V inv(M)``. At a = 1 it is
``inv(K)``, and every other choice adds to it in the p.s.d. order.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._base.checks import Array, finite_array, vector
from .._base.linalg import congruence, inverse
from ..bounds.covariances import gauss
from ..core.problem import Problem

#: A slope or curvature of the error, relative to it, that is only rounding.
FLAT = 1e-10


class Tilts:
    """A problem whose agents' weights can be tilted.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        rates = problem.shares / problem.unexplained
        d = problem.dimension
        # A_i padded to (m, d, d): the largest world of the dashboard has 100 x 60 x 60 numbers.
        self._parts = np.zeros((problem.agents, d, d))
        for i, (view, local) in enumerate(
            zip(problem.views, problem.geometry.inverses, strict=True)
        ):
            self._parts[i][np.ix_(view, view)] = rates[i] * local

    def covariance(self, tilts: ArrayLike) -> Array:
        """``C(W)`` with agent i's weight times ``exp(tilts[i])``, shape (d, d)."""
        return congruence(self.problem.geometry.precision, self._phi_covariance(self._sums(tilts)))

    def beside_optimal(self, tilts: ArrayLike) -> dict[str, Array]:
        """Covariances of tilted and of optimal weights: ``tilted`` and ``collab``, each (d, d)."""
        return {"tilted": self.covariance(tilts), "collab": gauss(self.problem)}

    def loss(self, tilts: ArrayLike) -> float:
        """Prediction error ``tr(Sigma C(W))`` over that of optimal weights, at least 1."""
        precision = self.problem.geometry.precision
        best = float((precision * self.problem.information_inverse).sum())
        return float((precision * self._phi_covariance(self._sums(tilts))).sum()) / best

    def steepest(self, tilts: ArrayLike) -> Array:
        """Direction in which the loss grows fastest, of length 1, shape (m,).

        The gradient; at the optimum, where there is none, the direction of largest curvature.
        Zero where tilting changes nothing, such as for a single agent.
        """
        given = vector("tilts", tilts, self.problem.agents)
        # Against the error itself: in other units all derivatives are larger or smaller.
        best = float((self.problem.geometry.precision * self.problem.information_inverse).sum())
        # All tilts alike change nothing: at such a point, the optimum, look at the curvature.
        if np.ptp(given) < 1e-9:
            values, vectors = np.linalg.eigh(self.curvature / best)
            if values[-1] < FLAT:
                return np.zeros_like(given)
            direction = vectors[:, -1]
            return np.asarray(direction * np.sign(direction[np.abs(direction).argmax()]))
        direction = self._gradient(given) / best
        length = np.linalg.norm(direction)
        return np.asarray(direction / length) if length > FLAT else np.zeros_like(given)

    def along(self, direction: ArrayLike, reach: float = 1.5, points: int = 61) -> pd.DataFrame:
        """The loss along a direction (m,), from ``-reach`` to ``reach`` times it.

        Returns
        -------
        DataFrame
            ``step`` (0 is optimal, 1 the direction itself) and ``loss``.
        """
        given = vector("direction", direction, self.problem.agents)
        steps = np.linspace(-reach, reach, points)
        return pd.DataFrame({"step": steps, "loss": [self.loss(step * given) for step in steps]})

    @property
    def curvature(self) -> Array:
        """Second derivatives of half the error at the optimum, p.s.d., shape (m, m).

        ``C(1 + e) - C(1) = inv(M) [sum e_i^2 A_i - (sum e_i A_i) inv(M) (sum e_i A_i)] inv(M)``
        to second order.
        """
        middle = self.problem.information_inverse
        outer = middle @ self.problem.geometry.precision @ middle
        own = np.einsum("ide,ed->i", self._parts, outer)
        # tr(outer A_i inv(M) A_j) for all pairs
        left = np.einsum("de,ief->idf", outer, self._parts).reshape(self.problem.agents, -1)
        right = np.einsum("de,jef->jdf", middle, self._parts)
        right = right.transpose(0, 2, 1).reshape(self.problem.agents, -1)
        cross = left @ right.T
        return np.asarray(np.diag(own) - (cross + cross.T) / 2)

    def _sums(self, tilts: ArrayLike) -> tuple[Array, Array]:
        weights = np.exp(vector("tilts", tilts, self.problem.agents))
        return (
            np.tensordot(weights, self._parts, axes=1),
            np.tensordot(weights**2, self._parts, axes=1),
        )

    @staticmethod
    def _phi_covariance(sums: tuple[Array, Array]) -> Array:
        total, squares = sums
        return congruence(inverse(total), squares)

    def _gradient(self, tilts: Array) -> Array:
        """Derivatives of ``tr(Sigma C)`` by the tilts, shape (m,)."""
        weights = np.exp(tilts)
        total, squares = self._sums(tilts)
        bread = inverse(total)
        outer = bread @ self.problem.geometry.precision @ bread
        pulled = outer @ squares @ bread
        grown = np.einsum("ide,ed->i", self._parts, outer)
        shrunk = np.einsum("ide,ed->i", self._parts, pulled)
        return np.asarray(2 * weights * (weights * grown - shrunk))


def powers_of_two(exponents: ArrayLike) -> Array:
    """Tilts that multiply weights by powers of two: 1 doubles a weight, -1 halves it."""
    return finite_array("exponents", exponents, ndim=1) * np.log(2)
