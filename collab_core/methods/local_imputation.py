"""Local imputation: imputed and fitted at home on all features, then aggregated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array
from .._base.linalg import inverse, matvec, pseudo_inverse, solve, times, transpose
from ..bounds import covariances as bounds
from ..bounds.weights import (
    gaussian_weights,
)
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from ..world.views import ViewsLike
from .aggregate import (
    CovarianceLike,
    participants,
    square_weights,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, message_numbers


def local_imputation(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    weights: Sequence[ArrayLike] | None = None,
) -> Estimate:
    """Impute at home, fit at home on all features, then aggregate (local imputation).

    An agent's fit is ``T_i' (T_i T_i')^-1 theta_hat_i``, a linear transform of its local model, so
    nothing is gained over COLLAB; with the default weights the estimate is COLLAB's.

    Parameters
    ----------
    weights : list of arrays, shape (..., d, d), optional
        ``T_i' (xx/n)/R_i T_i`` by default.
    """
    geometry = Geometry.of(covariance, views)
    agents, left_out = participants(moments, geometry, by_residual=weights is None)
    d = geometry.dimension
    checked = None if weights is None else square_weights(weights, [d] * geometry.agents)
    total: Array = np.zeros((d, d))
    right: Array = np.zeros(d)
    gains: dict[int, Array] = {}
    for i in agents:
        transform = geometry.transform(i)
        lift = transpose(transform) @ inverse(transform @ transpose(transform))
        weight: Array = (
            transpose(transform) @ times(1 / moments[i].fit.residual, moments[i].xx) @ transform
            if checked is None
            else times(moments[i].n, checked[i])
        )
        # minimise |lift T_i theta - lift theta_hat_i|^2 in the norm of the weight
        projected = transpose(lift @ transform) @ weight
        total = total + projected @ (lift @ transform)
        gains[i] = projected @ lift
        right = right + matvec(gains[i], moments[i].fit.theta)
    theta, _ = solve(total, right)

    def phi_covariance() -> Array:
        bread = geometry.covariance @ pseudo_inverse(total)[0]
        total_covariance: Array = np.zeros(())
        for i in agents:
            gain = bread @ gains[i]
            total_covariance = total_covariance + gain @ moments[i].fit.covariance @ transpose(gain)
        return total_covariance

    return Estimate(matvec(geometry.covariance, theta), geometry, left_out, phi_covariance)


class LocalImputation(Method):
    """COLLAB by another way, for more numbers sent."""

    key = "local_imputation"
    label = "Local imputation"
    summary = "Imputed and fitted at home, aggregated."
    style = Style("#4477AA", "dashdot", "circle-open")
    needs = frozenset({"fit", "xx", "covariance", "all_pairs"})
    formulas = Formulas("$C^g$", "$T_i C^g T_i'$", "$\\Theta(d^2)$")
    # It is COLLAB by another way: two lines on top of each other say nothing.
    usual = False
    gives_intervals = True

    def estimate(self, agents: Agents) -> Estimate:
        return local_imputation(agents.moments, agents.views, agents.geometry)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        if told.scores is None:
            return bounds.gauss(problem)
        return bounds.weighted(problem, gaussian_weights(problem), told.scores)

    def sent(self, problem: Problem, n: int) -> Traffic:
        # The whole covariance comes down, a symmetric d x d.
        sigma = problem.dimension * (problem.dimension + 1) // 2
        return Traffic(message_numbers(problem), problem.sizes + sigma)
