"""Optimal weights beyond Gaussian features (the paper's Theorem 3.1).

``W_i* = Sigma_i+ Q_i^-1 Sigma_i+`` with ``Q_i = E[x+ x+' (theta_-' z)^2] + noise^2 Sigma_i+`` and
``z = x_- - Sigma_-+ inv(Sigma_i+) x_+``. For Gaussian features z is independent of x_+ and Q_i
becomes ``s_i Sigma_i+``; for others it has to be integrated over their law: exactly where the law's
fourth moments are known (`scores_of_law`), over unlabelled samples otherwise (`score_covariances`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, Indices, finite_array, vector
from .._base.linalg import inverse, matvec, transpose
from ..core.geometry import Geometry
from ..core.moments import LocalFit
from ..core.problem import Problem
from ..world import laws
from ..world.laws import Law, Tails, square_root

#: Unlabelled samples whose products are held at a time (2,048 x d^2 numbers).
CHUNK = 2048


def optimal_weights(
    samples: ArrayLike, geometry: Geometry, theta: ArrayLike, noise_variance: ArrayLike
) -> list[Array]:
    """Estimate ``W_i*`` from unlabelled full-feature samples.

    Parameters
    ----------
    samples : array, shape (N, d)
        Unlabelled samples of mean 0.
    geometry : Geometry
    theta : array, shape (..., d)
        Plug-in coefficients.
    noise_variance : float or array, shape (...)
        Variance of the label noise.

    Returns
    -------
    list of m arrays, shape (..., d_i, d_i)
    """
    return weights_of(score_covariances(samples, geometry, theta, noise_variance), geometry)


def weights_of(scores: Sequence[Array], geometry: Geometry) -> list[Array]:
    """``W_i* = Sigma_i+ Q_i^-1 Sigma_i+`` of every agent's Q_i, shapes (..., d_i, d_i)."""
    # Symmetric products of three: rounding must not leave the two triangles apart.
    return [
        inverse(geometry.inverses[i] @ spread @ geometry.inverses[i])
        for i, spread in enumerate(scores)
    ]


def gaussian_weights(problem: Problem) -> list[Array]:
    """``W_i^g = Sigma_i+ / s_i``: optimal if features are Gaussian, shapes (d_i, d_i)."""
    return [problem.geometry.block(i) / s for i, s in enumerate(problem.unexplained)]


def scores_of_law(problem: Problem, features: str | Law | Tails) -> list[Array]:
    """``Q_i`` of every agent, integrated over a law of features, shapes (d_i, d_i).

    What agent i cannot see of the signal is ``h'x = a'z`` with ``h = theta - P_i' T_i theta``,
    ``a = Sigma^(1/2) h`` and white z, so that Q_i is a block of
    ``Sigma^(1/2) E[(a'z)^2 z z'] Sigma^(1/2) + noise^2 Sigma``. Its Gaussian part is
    ``s_i Sigma_i+``: the term ``2 a a'`` has no block on what i sees, since ``P_i Sigma h = 0``.
    What a law adds is in `Law.excess`.
    """
    law = features if isinstance(features, Tails) else laws.of(features)
    root = square_root(problem.covariance)
    excess = law.excess((problem.thetas - problem.embedded) @ root)
    result = []
    for i, view in enumerate(problem.views):
        added = root[view] @ excess[i] @ root[:, view]
        gaussian = problem.unexplained[i] * problem.geometry.block(i)
        result.append(gaussian + (added + added.T) / 2)
    return result


def empirical_weights(
    scores: Sequence[Array], covariances: Mapping[int, Array], geometry: Geometry
) -> dict[int, Array]:
    """Optimal weights that know what an agent's own sample looks like, as Algorithm 1's do.

    Algorithm 1 weighs by ``xx/n`` where Theorem 3.1 has Sigma_i+: a direction that an agent hardly
    saw gets hardly any weight. For a general Q_i the same is had by stretching W_i* as the sample
    is stretched. With ``Sigma_i+ = L L'`` and ``xx/n = L E L'``,

        W_i = L E^(1/2) (L' Q_i^-1 L) E^(1/2) L',

    which is ``(xx/n) / s_i`` for Gaussian features and W_i* as n grows (E becomes I). Ours, not
    the paper's: it keeps the limit and mends small n.

    Parameters
    ----------
    scores : list of arrays, shape (..., d_i, d_i)
        ``Q_i`` of every agent.
    covariances : dict of arrays, shape (..., d_i, d_i)
        ``xx / n`` of those who take part.

    Returns
    -------
    dict of arrays, shape (..., d_i, d_i)
    """
    result = {}
    for i, sample in covariances.items():
        lower = np.linalg.cholesky(geometry.block(i))
        white = np.linalg.inv(lower)
        values, vectors = np.linalg.eigh(white @ sample @ transpose(white))
        # A direction without samples has eigenvalue 0 up to rounding.
        stretch = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :] @ transpose(vectors)
        gain = lower @ stretch @ transpose(lower)
        weight = gain @ inverse(scores[i]) @ transpose(gain)
        result[i] = (weight + transpose(weight)) / 2
    return result


def score_covariances(
    samples: ArrayLike, geometry: Geometry, theta: ArrayLike, noise_variance: ArrayLike
) -> list[Array]:
    """``Q_i``, the covariance of ``x_+ (y - x_+' T_i theta)``, for every agent.

    Parameters and shapes as in `optimal_weights`; the average over ``samples`` stands for the
    expectation. Samples of shape (trials, N, d) are each trial's own, ``theta`` being (trials, d).
    """
    x = finite_array("samples", samples, copy=None)
    if x.ndim not in (2, 3):
        raise ValueError(f"samples must have 2 or 3 axes, got shape {x.shape}")
    coefficients = finite_array("theta", theta)
    d = geometry.dimension
    vector("samples[0]", x.reshape(-1, x.shape[-1])[0], d)
    variance = finite_array("noise_variance", noise_variance)
    phi = matvec(geometry.covariance, coefficients)
    locals_ = [geometry.local(phi, i) for i in range(geometry.agents)]
    spreads = (_shared_spreads if x.ndim == 2 else _own_spreads)(
        x, geometry.views, coefficients, locals_
    )
    return [
        spread + variance[..., None, None] * geometry.block(i) for i, spread in enumerate(spreads)
    ]


def _shared_spreads(
    x: Array, views: Sequence[Indices], theta: Array, locals_: Sequence[Array]
) -> list[Array]:
    """Mean of ``x_+ x_+' (theta_-' z)^2`` over samples that all trials share, (..., d_i, d_i)."""
    count = x.shape[0]
    result = []
    for view, local in zip(views, locals_, strict=True):
        k = view.size
        spread = np.zeros((*local.shape[:-1], k * k))
        for start in range(0, count if k else 0, CHUNK):
            chunk = x[start : start + CHUNK]
            seen = chunk[:, view]
            # theta_-' z is what agent i's best model leaves of the signal.
            left = theta @ chunk.T - local @ seen.T
            products = (seen[:, :, None] * seen[:, None, :]).reshape(-1, k * k)
            spread += left**2 @ products / count
        result.append(spread.reshape(*local.shape[:-1], k, k))
    return result


def _own_spreads(
    x: Array, views: Sequence[Indices], theta: Array, locals_: Sequence[Array]
) -> list[Array]:
    """The same over samples (trials, N, d) of each trial's own, shapes (trials, d_i, d_i)."""
    trials, count, _ = x.shape
    result: list[Array] = [np.zeros((trials, view.size, view.size)) for view in views]
    for t in range(trials):
        # A feature a row: an agent's features are then copied row by row, not picked one by one.
        features = np.ascontiguousarray(x[t].T)
        signal = theta[t] @ features
        for spread, view, local in zip(result, views, locals_, strict=True):
            seen = features[view]
            left = signal - local[t] @ seen
            spread[t] = (seen * left**2) @ seen.T / count
    return result


def noise_variance(
    fits: Mapping[int, LocalFit],
    geometry: Geometry,
    phi: Array,
    variances: Mapping[int, Array] | None = None,
) -> Array:
    """Estimate the label noise's variance from the agents' residuals, shape (...).

    Every unbiased residual variance exceeds it by ``theta_-' Gamma_i theta_-``, known up to the
    plug-in. The differences are averaged with weights by their precision, ``(n_i - d_i) / s_i^2``,
    and kept above a twentieth of the smallest residual: the noise is positive, the average need
    not be.

    Parameters
    ----------
    variances : dict of arrays, shape (...), optional
        ``s_i`` for the precisions and the limit; the residual variances themselves by default,
        which must then not be 0.
    """
    theta = geometry.theta(phi)
    signal = (theta * phi).sum(axis=-1)
    differences, precisions, smallest = [], [], []
    for i, fit in fits.items():
        explained = (phi[..., geometry.views[i]] * geometry.local(phi, i)).sum(axis=-1)
        differences.append(fit.variance - (signal - explained))
        own = fit.variance if variances is None else variances[i]
        precisions.append((fit.degrees_of_freedom - fit.rank) / own**2)
        smallest.append(own)
    weights = np.stack(np.broadcast_arrays(*precisions))
    total = weights.sum(axis=0)
    average = (weights * np.array(differences)).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.maximum(average, np.min(smallest, axis=0) / 20)
