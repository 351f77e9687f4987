"""COLLAB: local models corrected for what was not seen, weighted by residual."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, finite_array
from .._base.linalg import times
from ..bounds import covariances as bounds
from ..bounds import differing
from ..bounds.weights import (
    gaussian_weights,
)
from ..core.agents import WEIGHTS, Agents
from ..core.estimate import Estimate
from ..core.geometry import Geometry
from ..core.moments import AgentData
from ..core.problem import Problem
from ..core.target import Target
from ..world.views import ViewsLike
from .aggregate import (
    CovarianceLike,
    imputed,
    participants,
    solved,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, message_numbers
from .steady import STEADY


def collab(
    moments: Sequence[AgentData],
    views: ViewsLike,
    covariance: CovarianceLike,
    weights: str = "empirical",
    *,
    correction: bool = False,
    residuals: ArrayLike | None = None,
) -> Estimate:
    """COLLAB: aggregate local models with weights by covariance over residual.

    Parameters
    ----------
    moments : list of Moments
        One per agent, of the features it sees in the order of its view. Population weights need
        no more than a `LocalSummary`.
    views : list of index arrays, or (m, d) boolean mask
    covariance : array, shape (d, d) or (..., d, d)
        Feature covariance: known, from unlabelled samples, or pooled (`collab_core.sigma`).
    weights : {"empirical", "population", "moderated", "plug_in"}
        ``W_i = (xx/n) / R_i`` as in the paper's Algorithm 1, or ``W_i = Sigma_i+ / R_i``. They
        agree as n grows; at small n empirical weights are far better, because a direction that an
        agent hardly saw gets hardly any weight. ``"moderated"`` is ``W_i = (xx/n) / s_i`` with
        residual variances that lean on everybody's, for real data; ``"plug_in"`` with ``s_i =
        noise^2 + theta' G_i theta`` at an estimate, for Gaussian worlds in which all agents share
        one theta (both beyond the paper, `collab_core.methods.steady`). With them no agent of few
        residual degrees of freedom speaks for everybody, and agents with ``n <= d_i`` take part.
    correction : bool
        Use the unbiased ``RSS / (n - d_i)`` for R_i instead of the paper's ``RSS / n``. Moderated
        and plug-in weights are of the unbiased form already.
    residuals : array, shape (m,) or (..., m), optional
        R_i as measured on other samples than the fit's, for the paper's weights; from the fit by
        default.

    Returns
    -------
    Estimate
        With the paper's weights, agents with ``n <= d_i`` (their residual is 0, their weight would
        be infinite) do not take part and are listed in ``.left_out``.
    """
    choice("weights", weights, tuple(WEIGHTS))
    geometry = Geometry.of(covariance, views)
    if weights in STEADY:
        if residuals is not None:
            raise ValueError(
                f"residuals go with weights 'empirical' or 'population', got weights {weights!r}"
            )
        return STEADY[weights](moments, geometry)
    agents, left_out = participants(moments, geometry, by_residual=True)
    measured = None if residuals is None else finite_array("residuals", residuals)
    residual = {}
    for i in agents:
        fit = moments[i].fit
        own = fit.variance if correction else fit.residual
        residual[i] = own if measured is None else measured[..., i]
    if weights == "empirical":
        return imputed(moments, geometry, {i: 1 / residual[i] for i in agents}, left_out)
    # n_i T_i' (Sigma_i+/R_i) T_i is  n_i/R_i S_i  in the dual, and its vector n_i/R_i theta_hat_i.
    rates = {i: moments[i].n / residual[i] for i in agents}
    information = geometry.weighted_inverses(np.stack(list(rates.values()), axis=-1), agents)
    right = geometry.scatter_vectors(
        [rates[i][..., None] * moments[i].fit.theta for i in agents], agents
    )

    def meats() -> list[Array]:
        return [times(rates[i] ** 2, moments[i].fit.covariance) for i in agents]

    return solved(geometry, agents, information, right, meats, left_out)


class Collab(Method):
    """The paper's Algorithm 1."""

    key = "collab"
    label = "COLLAB"
    summary = "Local models corrected and weighted by residual."
    style = Style("#0077BB", "solid", "circle")
    needs = frozenset({"fit", "xx", "covariance"})
    formulas = Formulas(
        "$C^g = (\\sum_i T_i' W_i^g T_i)^{-1}$", "$T_i C^g T_i'$", "$\\Theta(d_i^2)$"
    )
    gives_intervals = True

    def estimate(self, agents: Agents) -> Estimate:
        told = agents.options
        return collab(
            agents.data,
            agents.views,
            agents.geometry,
            told.weights,
            correction=told.correction,
            residuals=agents.residuals,
        )

    def reads(self, *, full: bool, weights: str) -> frozenset[str]:
        if weights == "plug_in":
            # How much of the signal an agent does not see takes theta itself.
            return self.needs | {"all_pairs"}
        return self.needs - {"xx"} if weights == "population" else self.needs

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        if told.scores is None:
            return bounds.gauss(problem)
        return bounds.weighted(problem, gaussian_weights(problem), told.scores)

    def expected_errors(
        self,
        problem: Problem,
        sample_sizes: Sequence[int],
        target: Target,
        told: Told = PLAIN,
    ) -> list[float | None]:
        if not problem.differs or told.scores is not None:
            return super().expected_errors(problem, sample_sizes, target, told)
        # Agents that differ: what they pull it away from the truth stays, whatever n.
        limit = differing.collab(problem)
        whose = -1 if target.agent is None else target.agent
        bias, variance = limit.squared_bias[whose], limit.variance[whose]
        return [float(bias + variance / n) for n in sample_sizes]

    def floor(self, problem: Problem, target: Target) -> float | None:
        if not problem.differs:
            return super().floor(problem, target)
        whose = -1 if target.agent is None else target.agent
        return float(differing.collab(problem).squared_bias[whose])

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(message_numbers(problem), problem.sizes)
