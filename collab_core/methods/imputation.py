"""Imputation: all data in one place, what is missing filled in, equal weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, finite_array
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from ..world.views import ViewsLike
from .aggregate import (
    CovarianceLike,
    imputed,
    participants,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, data_numbers
from .collab import collab


def global_imputation(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    alphas: ArrayLike | str | None = None,
) -> Estimate:
    """Impute every agent's features by their conditional mean, pool all data, weighted OLS.

    ``(sum a_i T_i' xx T_i)^-1 sum a_i T_i' xy``. It needs all data in one place.

    Parameters
    ----------
    alphas : array, shape (m,) or (..., m), or "residual", optional
        Weights above 0; equal by default (Imputation). ``1 / problem.unexplained`` is optimal
        (RW-Imputation); ``"residual"`` uses ``1 / R_i``, and then the estimate is COLLAB's.
    """
    geometry = Geometry.of(covariance, views)
    if isinstance(alphas, str):
        choice("alphas", alphas, ("residual",))
        return collab(moments, views, geometry)
    agents, left_out = participants(moments, geometry, by_residual=False, any_size=True)
    given = np.full(geometry.agents, 1 / geometry.agents) if alphas is None else alphas
    rates = finite_array("alphas", given)
    if rates.ndim == 0 or rates.shape[-1] != geometry.agents:
        raise ValueError(f"alphas must have {geometry.agents} entries, got shape {rates.shape}")
    if (rates <= 0).any():
        raise ValueError(f"alphas must be above 0, got {rates.min():g}")
    return imputed(moments, geometry, {i: rates[..., i] for i in agents}, left_out)


class Imputation(Method):
    """Impute, pool, least squares."""

    key = "imputation"
    label = "Imputation"
    summary = "All data imputed and pooled with equal weights."
    style = Style("#009988", "dash", "square-open")
    needs = frozenset({"fit", "xx", "covariance"})
    formulas = Formulas("$C(\\Sigma_{1+}, .., \\Sigma_{m+})$", "$T_i C T_i'$", "$\\Theta(n d_i)$")
    gives_intervals = True

    def estimate(self, agents: Agents) -> Estimate:
        return global_imputation(agents.moments, agents.views, agents.geometry)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return bounds.imputation(problem, score_covariances=told.scores)

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(data_numbers(problem, n), problem.sizes)
