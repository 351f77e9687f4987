"""Moderated residual variances: what an agent with few residuals borrows from the others.

An agent with one or two residual degrees of freedom has a residual that is nearly 0 by luck alone,
and a weight by its inverse then speaks for everybody. The empirical Bayes of Smyth (2004) takes the
agents' unexplained variances as draws from one law, ``1/s_i ~ chi2(v_0) / (v_0 s_0)``, estimates
that law from all of them, and answers with the posterior

    s_i = (v_0 s_0 + RSS_i) / (v_0 + v_i),        v_i = n_i - d_i.

G. K. Smyth (2004), Linear models and empirical Bayes methods for assessing differential expression
in microarray experiments, Statistical Applications in Genetics and Molecular Biology 3(1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from .._base.checks import Array
from .estimate import NotEstimableError
from .moments import LocalFit

#: Mean squares below this share of the pooled one count as this much: the logarithm of a perfect
#: fit's 0 would otherwise be the whole law.
LEAST_SHARE = 1e-5

#: Newton's steps for the inverse of trigamma; five give all digits.
STEPS = 50


@dataclass(frozen=True, eq=False)
class Moderated:
    """Residual variances that lean on everybody's.

    Attributes
    ----------
    variances : array, shape (..., m)
        ``s_i``. Above 0, for agents without residual degrees of freedom too: those get ``s_0``.
    freedom : array, shape (..., m)
        ``v_0 + v_i``: degrees of freedom behind each; may be infinite.
    prior_variance : array, shape (...)
        ``s_0``, what is typical.
    prior_freedom : array, shape (...)
        ``v_0``, what the others are worth in residual degrees of freedom: infinite where the agents
        do not differ by more than chance, 0 where only one agent has residuals at all.
    """

    variances: Array
    freedom: Array
    prior_variance: Array
    prior_freedom: Array


def moderated(fits: Sequence[LocalFit], otherwise: Array | None = None) -> Moderated:
    """Moderate the residual variances of agents' least squares, each shape (...).

    ``otherwise`` as in `moderated_variances`.
    """
    return moderated_variances(*residual_sums(fits), otherwise)


def residual_sums(fits: Sequence[LocalFit]) -> tuple[Array, Array]:
    """``RSS_i`` and ``v_i`` of agents' least squares, each shape (..., m)."""
    rss = [fit.rss for fit in fits]
    left = [np.asarray(fit.degrees_of_freedom - fit.rank, dtype=float) for fit in fits]
    shape = np.broadcast_shapes(*(part.shape for part in (*rss, *left)))
    return (
        np.stack([np.broadcast_to(part, shape) for part in rss], axis=-1),
        np.stack([np.broadcast_to(part, shape) for part in left], axis=-1),
    )


def has_residual(rss: Array, freedom: Array) -> np.ndarray:
    """Whether anybody's least squares leaves a residual, shape (...)."""
    return np.asarray(((rss > 0) & (freedom > 0)).any(axis=-1))


def moderated_variances(rss: Array, freedom: Array, otherwise: Array | None = None) -> Moderated:
    """Moderate residual variances by the moments of their logarithms (Smyth 2004, section 6.2).

    Parameters
    ----------
    rss : array, shape (..., m)
        Residual sums of squares.
    freedom : array, shape (..., m)
        ``v_i``; agents with 0 or less have no residual, and their ``rss`` is not read.
    otherwise : array, shape (...), optional
        ``s_0`` for trials in which nobody has a residual.

    Raises
    ------
    NotEstimableError
        If in some trial nobody has a residual above 0 and there is nothing else to go by.
    """
    freedom = np.maximum(freedom, 0.0)
    told = freedom > 0
    squares = np.where(told, rss, 0.0)
    some = has_residual(rss, freedom)
    if not some.all() and (otherwise is None or not (otherwise[~some] > 0).all()):
        raise NotEstimableError(
            "no agent's least squares leaves a residual, so how far labels vary about the models"
            " is not known; somebody needs more samples than features"
        )
    s_0, v_0 = _prior(np.where(some[..., None], squares, 1.0), freedom, told)
    if otherwise is not None:
        s_0, v_0 = np.where(some, s_0, otherwise), np.where(some, v_0, np.inf)
    known = np.isfinite(v_0)[..., None]
    weight = np.where(known, v_0[..., None], 0.0)
    divisor = weight + freedom
    # Where v_0 = 0 an agent without residuals has nothing but s_0.
    keeps = known & (divisor > 0)
    posterior = (weight * s_0[..., None] + squares) / np.where(keeps, divisor, 1.0)
    variances = np.where(keeps, posterior, s_0[..., None])
    return Moderated(variances, v_0[..., None] + freedom, s_0, v_0)


def _prior(rss: Array, freedom: Array, told: np.ndarray) -> tuple[Array, Array]:
    """``s_0`` and ``v_0`` from the moments of ``log(RSS_i / v_i)``, shapes (...)."""
    divisor = np.where(told, freedom, 1.0)
    mean_square = rss / divisor
    pooled = rss.sum(axis=-1) / np.maximum(freedom.sum(axis=-1), 1.0)
    z = np.log(np.maximum(mean_square, LEAST_SHARE * pooled[..., None]))
    # E log(RSS/v) = log s_i + digamma(v/2) - log(v/2), Var = trigamma(v/2) about its own s_i.
    e = np.where(told, z - digamma(divisor / 2) + np.log(divisor / 2), 0.0)
    count = np.maximum(told.sum(axis=-1), 1)
    mean = e.sum(axis=-1) / count
    scatter = np.where(told, (e - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    chance = np.where(told, polygamma(1, divisor / 2), 0.0).sum(axis=-1) / count
    excess = scatter / np.maximum(count - 1, 1) - chance
    differ = excess > 0
    half = trigamma_inverse(np.where(differ, excess, 1.0))
    centre = np.exp(mean + digamma(half) - np.log(half))
    # Agents that do not differ by more than chance share one variance, best estimated by pooling.
    s_0 = np.where(differ, centre, pooled)
    v_0 = np.where(differ, 2 * half, np.inf)
    # One agent says nothing of how agents differ: it keeps its own.
    return np.where(count > 1, s_0, pooled), np.where(count > 1, v_0, 0.0)


def trigamma_inverse(value: Array) -> Array:
    """Solve ``trigamma(y) = value`` for y > 0, by Newton on ``1 / trigamma`` (Smyth 2004, App.).

    ``1/trigamma`` is convex and nearly straight, so that the steps rise to the root from one side.
    """
    y = 0.5 + 1 / value
    for _ in range(STEPS):
        here = polygamma(1, y)
        step = here * (1 - here / value) / polygamma(2, y)
        y = y + step
        if (np.abs(step) <= 1e-12 * y).all():
            break
    return np.asarray(y)
