"""True coefficients: kinds of theta."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, covariance_matrix, finite_array, whole


def standard_normal(d: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
    """Independent normal coefficients of standard deviation ``scale``, shape (d,)."""
    scale = finite_array("scale", scale, ndim=0).item()
    return scale * rng.standard_normal(whole("d", d, low=1))


def unit(d: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
    """Uniformly random direction of length ``scale``, shape (d,)."""
    direction = standard_normal(d, rng)
    return scale * direction / np.linalg.norm(direction)


def sparse(d: int, nonzero: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
    """Normal coefficients on ``nonzero`` random features and 0 elsewhere, shape (d,)."""
    nonzero = whole("nonzero", nonzero, low=0, high=whole("d", d, low=1))
    theta = np.zeros(d)
    theta[rng.permutation(d)[:nonzero]] = standard_normal(max(nonzero, 1), rng, scale)[:nonzero]
    return theta


def principal(covariance: ArrayLike, which: str, scale: float = 1.0) -> Array:
    """Eigenvector of the covariance of length ``scale``: ``"strongest"`` or ``"weakest"``."""
    choice("which", which, ("strongest", "weakest"))
    _, vectors = np.linalg.eigh(covariance_matrix(covariance))
    direction = vectors[:, -1 if which == "strongest" else 0]
    # An eigenvector's sign is arbitrary; fix it so that machines agree.
    return scale * direction * np.sign(direction[np.argmax(np.abs(direction))])
