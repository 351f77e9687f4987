"""Optimal weights beyond Gaussian features (the paper's Theorem 3.1).

``W_i* = Sigma_i+ Q_i^-1 Sigma_i+`` with ``Q_i = E[x+ x+' (theta_-' z)^2] + noise^2 Sigma_i+`` and
``z = x_- - Sigma_-+ inv(Sigma_i+) x_+``. For Gaussian features z is independent of x_+ and Q_i
becomes ``s_i Sigma_i+``; for others it has to be integrated over their law.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ._checks import Array, finite_array, vector
from ._linalg import inverse, matvec
from .geometry import Geometry
from .moments import LocalFit

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
    spreads = score_covariances(samples, geometry, theta, noise_variance)
    # Symmetric products of three: rounding must not leave the two triangles apart.
    return [
        inverse(geometry.inverses[i] @ spread @ geometry.inverses[i])
        for i, spread in enumerate(spreads)
    ]


def score_covariances(
    samples: ArrayLike, geometry: Geometry, theta: ArrayLike, noise_variance: ArrayLike
) -> list[Array]:
    """``Q_i``, the covariance of ``x_+ (y - x_+' T_i theta)``, for every agent.

    Parameters and shapes as in `optimal_weights`; the average over ``samples`` stands for the
    expectation.
    """
    x = finite_array("samples", samples, ndim=2)
    coefficients = finite_array("theta", theta)
    d = geometry.dimension
    vector("samples[0]", x[0], d)
    variance = finite_array("noise_variance", noise_variance)
    phi = matvec(geometry.covariance, coefficients)
    count = x.shape[0]
    result: list[Array] = []
    for i, view in enumerate(geometry.views):
        k, local = view.size, geometry.local(phi, i)
        if k == 0:
            result.append(np.zeros((*local.shape[:-1], 0, 0)))
            continue
        spread = np.zeros((*local.shape[:-1], k * k))
        for start in range(0, count, CHUNK):
            chunk = x[start : start + CHUNK]
            seen = chunk[:, view]
            # theta_-' z is what agent i's best model leaves of the signal.
            left = coefficients @ chunk.T - local @ seen.T
            products = (seen[:, :, None] * seen[:, None, :]).reshape(-1, k * k)
            spread += left**2 @ products / count
        block = variance[..., None, None] * geometry.block(i)
        result.append(spread.reshape(*local.shape[:-1], k, k) + block)
    return result


def noise_variance(fits: Mapping[int, LocalFit], geometry: Geometry, phi: Array) -> Array:
    """Estimate the label noise's variance from the agents' residuals, shape (...).

    Every unbiased residual variance exceeds it by ``theta_-' Gamma_i theta_-``, known up to the
    plug-in. The differences are averaged with weights by their precision, ``(n_i - d_i) / s_i^2``,
    and kept above a twentieth of the smallest residual: the noise is positive, the average need
    not be.
    """
    theta = geometry.theta(phi)
    signal = (theta * phi).sum(axis=-1)
    differences, precisions, smallest = [], [], []
    for i, fit in fits.items():
        explained = (phi[..., geometry.views[i]] * geometry.local(phi, i)).sum(axis=-1)
        differences.append(fit.variance - (signal - explained))
        precisions.append((fit.degrees_of_freedom - fit.rank) / fit.variance**2)
        smallest.append(fit.variance)
    weights = np.array(precisions)
    average = (weights * np.array(differences)).sum(axis=0) / weights.sum(axis=0)
    return np.maximum(average, np.min(smallest, axis=0) / 20)
