"""Spectra: from a few numbers to a feature covariance.

Functions that need a basis take a ``rng`` and draw a uniformly random orthogonal one; without a
``rng`` the covariance is diagonal, in the order of its eigenvalues.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, covariance_matrix, finite_array, fraction, positive, whole


def random_rotation(d: int, rng: np.random.Generator) -> Array:
    """Draw a uniformly random orthogonal matrix, shape (d, d)."""
    q, r = np.linalg.qr(rng.standard_normal((whole("d", d, low=1), d)))
    # QR alone is not uniform: its signs are a convention. Fix them by the diagonal of R.
    return q * np.sign(np.diagonal(r))


def from_eigenvalues(eigenvalues: ArrayLike, rng: np.random.Generator | None = None) -> Array:
    """Covariance with the given eigenvalues, in a random basis or (without ``rng``) diagonal."""
    values = finite_array("eigenvalues", eigenvalues, ndim=1)
    if values.size == 0:
        raise ValueError("eigenvalues must hold at least one number, got none")
    if (values <= 0).any():
        raise ValueError(f"eigenvalues must be above 0, got {values.min():g}")
    if rng is None:
        return np.diag(values)
    basis = random_rotation(values.size, rng)
    result = (basis * values) @ basis.T
    return (result + result.T) / 2


def isotropic(d: int, scale: float = 1.0) -> Array:
    """Uncorrelated features of equal variance ``scale``."""
    return positive("scale", scale) * np.eye(whole("d", d, low=1))


def spiked(d: int, rng: np.random.Generator, spikes: int = 3, factor: float = 10.0) -> Array:
    """Eigenvalues uniform on [0, 1], ``spikes`` of them multiplied by ``factor``, random basis.

    The paper's synthetic covariance (d = 30, 3 spikes, factor 10).
    """
    d = whole("d", d, low=1)
    spikes = whole("spikes", spikes, low=0, high=d)
    values = rng.uniform(size=d)
    values[rng.permutation(d)[:spikes]] *= positive("factor", factor)
    return from_eigenvalues(values, rng)


def geometric(d: int, condition: float, rng: np.random.Generator | None = None) -> Array:
    """Eigenvalues falling geometrically from 1 to ``1 / condition``."""
    d = whole("d", d, low=1)
    condition = positive("condition", condition)
    if condition < 1:
        raise ValueError(f"condition must be at least 1, got {condition:g}")
    return from_eigenvalues(np.geomspace(1, 1 / condition, d), rng)


def power_law(d: int, exponent: float, rng: np.random.Generator | None = None) -> Array:
    """Eigenvalues ``1 / j ** exponent`` for j = 1..d."""
    exponent = finite_array("exponent", exponent, ndim=0).item()
    return from_eigenvalues(np.arange(1.0, whole("d", d, low=1) + 1) ** -exponent, rng)


def ar1(d: int, correlation: float) -> Array:
    """Unit variances, correlation ``correlation ** |j - k|``: features along a line or in time."""
    correlation = finite_array("correlation", correlation, ndim=0).item()
    if not -1 < correlation < 1:
        raise ValueError(f"correlation must be in (-1, 1), got {correlation:g}")
    index = np.arange(whole("d", d, low=1))
    return correlation ** np.abs(index[:, None] - index)


def equicorrelated(d: int, correlation: float) -> Array:
    """Unit variances, every pair of features correlated equally."""
    d = whole("d", d, low=1)
    correlation = finite_array("correlation", correlation, ndim=0).item()
    lowest = -1 / (d - 1) if d > 1 else -1.0
    if not lowest < correlation < 1:
        raise ValueError(
            f"correlation must be in ({lowest:.4g}, 1) for {d} features, got {correlation:g}"
        )
    return np.full((d, d), correlation) + (1 - correlation) * np.eye(d)


def factor_model(d: int, factors: int, share: float, rng: np.random.Generator) -> Array:
    """Unit variances; ``share`` of each feature's variance comes from ``factors`` common causes."""
    d = whole("d", d, low=1)
    factors = whole("factors", factors, low=1, high=d)
    share = fraction("share", share)
    loadings = rng.standard_normal((d, factors))
    loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
    return share * loadings @ loadings.T + (1 - share) * np.eye(d)


def block(d: int, groups: int, within: float, between: float = 0.0) -> Array:
    """Unit variances; ``groups`` of features correlated ``within``, and ``between`` each other."""
    d = whole("d", d, low=1)
    groups = whole("groups", groups, low=1, high=d)
    group = np.arange(d) * groups // d
    within = finite_array("within", within, ndim=0).item()
    between = finite_array("between", between, ndim=0).item()
    matrix = np.where(group[:, None] == group, within, between)
    np.fill_diagonal(matrix, 1.0)
    return covariance_matrix(matrix, name=f"block(within={within:g}, between={between:g})")


def condition_number(covariance: ArrayLike) -> float:
    """Ratio of the largest to the smallest eigenvalue: the corollary's kappa."""
    eigenvalues = np.linalg.eigvalsh(covariance_matrix(covariance))
    return float(eigenvalues[-1] / eigenvalues[0])
