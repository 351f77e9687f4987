"""COLLAB with weights for the features' own law, from unlabelled samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, finite_array
from .._base.linalg import times
from ..bounds import covariances as bounds
from ..bounds.weights import (
    empirical_weights,
    noise_variance,
    score_covariances,
    weights_of,
)
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from ..core.sigma import from_unlabelled
from ..world.views import ViewsLike
from .aggregate import (
    CovarianceLike,
    aggregate,
    aggregated,
    participants,
    square_weights,
    with_xx,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, get, message_numbers
from .collab import collab


def collab_optimal(
    moments: Sequence[Moments],
    views: ViewsLike,
    unlabelled: ArrayLike,
    covariance: CovarianceLike | None = None,
    noise: float | None = None,
    *,
    weights: str = "population",
    plug_in: Estimate | None = None,
) -> Estimate:
    """COLLAB with weights that are optimal for the features' own law, Gaussian or not.

    Theorem 3.1's ``W_i*`` with a plug-in theta (COLLAB's) and expectations over unlabelled samples.

    Parameters
    ----------
    unlabelled : array, shape (N, d), or (trials, N, d)
        Full-feature samples without labels, of mean 0: for all trials, or each trial's own.
    covariance : array, optional
        The unlabelled samples' own by default.
    noise : float, optional
        Standard deviation of the label noise if known; estimated from the residuals otherwise.
    weights : {"population", "empirical"}
        As in `collab`; see `collab_core.weights.empirical_weights`.
    plug_in : Estimate, optional
        Where theta comes from, if it is at hand already.
    """
    samples = finite_array("unlabelled", unlabelled, copy=None)
    geometry = Geometry.of(from_unlabelled(samples) if covariance is None else covariance, views)
    plug_in = plug_in or collab(moments, views, geometry)
    agents, _ = participants(moments, geometry, by_residual=True)
    variance = (
        noise_variance({i: moments[i].fit for i in agents}, geometry, plug_in.phi)
        if noise is None
        else np.asarray(noise**2)
    )
    scores = score_covariances(samples, geometry, plug_in.theta, variance)
    return collab_scored(moments, views, geometry, scores, weights)


def collab_scored(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    scores: Sequence[ArrayLike],
    weights: str = "empirical",
) -> Estimate:
    """COLLAB with the weights that are optimal where every agent's ``Q_i`` is known.

    Parameters
    ----------
    scores : list of arrays, shape (..., d_i, d_i)
        ``Q_i``, the covariance of ``x_+ (y - x_+' T_i theta)``: from a law
        (`collab_core.weights.scores_of_law`) or estimated.
    weights : {"empirical", "population"}
        As in `collab`; see `collab_core.weights.empirical_weights`.
    """
    choice("weights", weights, ("empirical", "population"))
    geometry = Geometry.of(covariance, views)
    checked = square_weights(scores, [view.size for view in geometry.views], "scores")
    if weights == "population":
        return aggregate(moments, views, geometry, weights_of(checked, geometry))
    agents, left_out = participants(moments, geometry, by_residual=True)
    samples = {i: times(1 / moments[i].n, with_xx(moments[i]).xx) for i in agents}
    return aggregated(
        moments, geometry, empirical_weights(checked, samples, geometry), agents, left_out
    )


class CollabOptimal(Method):
    """Theorem 3.1's weights, estimated."""

    key = "collab_optimal"
    label = "COLLAB, optimal weights"
    summary = "Weights for the features' own law, estimated from unlabelled samples."
    style = Style("#4E9A06", "solid", "pentagon")
    needs = frozenset({"fit", "xx", "covariance", "all_pairs", "unlabelled"})
    formulas = Formulas("$C(W^*)$", "$T_i C(W^*) T_i'$", "$\\Theta(d_i^2)$")
    usual = False
    in_table_1 = False
    is_weighting = True

    def estimate(self, agents: Agents) -> Estimate:
        assert agents.unlabelled is not None
        return optimal(agents, agents.unlabelled)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return (
            bounds.gauss(problem) if told.scores is None else bounds.optimal(problem, told.scores)
        )

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(message_numbers(problem), problem.sizes)


def optimal(agents: Agents, samples: Array) -> Estimate:
    """COLLAB with optimal weights from these unlabelled samples (..., N, d)."""
    told = agents.options
    start = get("collab").of(agents)
    assert isinstance(start, Estimate)
    return collab_optimal(
        agents.moments, agents.views, samples, agents.geometry, weights=told.form, plug_in=start
    )
