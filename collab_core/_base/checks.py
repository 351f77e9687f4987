"""Bad input becomes a ``ValueError`` that names the argument, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Real arrays. Everything the library makes is float64; NumPy's stubs only promise "floating".
Array: TypeAlias = NDArray[np.floating[Any]]
Indices: TypeAlias = NDArray[np.intp]

#: A correlation matrix with an eigenvalue below this counts as singular: double precision cannot
#: tell the two apart after one inversion.
SINGULAR = 1e-14


def finite_array(
    name: str, value: ArrayLike, *, ndim: int | None = None, copy: bool | None = True
) -> Array:
    """Return ``value`` as a float64 array, refusing text, NaN and infinities.

    A new array by default; ``copy=None`` copies only where that is needed.
    """
    try:
        array = np.array(value, dtype=np.float64, copy=copy)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers, got {_short(value)}") from None
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, got shape {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(index) for index in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at position {where}")
    return array


def vector(name: str, value: ArrayLike, size: int) -> Array:
    """Return ``value`` as a vector of the given size."""
    array = finite_array(name, value, ndim=1)
    if array.shape != (size,):
        raise ValueError(f"{name} must have {size} entries, got {array.size}")
    return array


def positive(name: str, value: float) -> float:
    """Return ``value`` as a float above zero."""
    number = finite_array(name, value, ndim=0).item()
    if number <= 0:
        raise ValueError(f"{name} must be above 0, got {number:g}")
    return number


def fraction(name: str, value: float, *, closed: bool = False) -> float:
    """Return ``value`` as a float in [0, 1), or in [0, 1] if ``closed``."""
    number = finite_array(name, value, ndim=0).item()
    if not (0 <= number < 1 or (closed and number == 1)):
        raise ValueError(f"{name} must be in [0, 1{']' if closed else ')'}, got {number:g}")
    return number


def whole(name: str, value: int, *, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int within ``[low, high]``."""
    number = finite_array(name, value, ndim=0).item()
    allowed = f"at least {low}" if high is None else f"from {low} to {high}"
    if number != int(number) or number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be a whole number {allowed}, got {number:g}")
    return int(number)


def agent_index(agent: int, agents: int) -> int:
    """Return ``agent`` if there is one of that number, counted from 0."""
    return whole("agent", agent, low=0, high=agents - 1)


def choice(name: str, value: str, allowed: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``allowed``."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
    return value


def covariance_matrix(value: ArrayLike, *, name: str = "covariance") -> Array:
    """Return a symmetric positive definite matrix, or a stack of them, shape (..., d, d)."""
    matrix = finite_array(name, value)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or matrix.shape[-1] == 0:
        raise ValueError(f"{name} must be a square matrix, got shape {matrix.shape}")
    transposed = np.swapaxes(matrix, -1, -2)
    largest = np.abs(matrix).max(axis=(-1, -2), keepdims=True)
    if (np.abs(matrix - transposed) > 1e-8 * largest).any():
        gap = np.abs(matrix - transposed).max()
        raise ValueError(f"{name} must be symmetric, but entries differ by up to {gap:.3g}")
    matrix = (matrix + transposed) / 2
    # Judged with every variance scaled to one: units must not make a matrix singular.
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    unit = matrix / (scale[..., :, None] * scale[..., None, :])
    if (np.linalg.eigvalsh(unit)[..., 0] <= SINGULAR).any() or (diagonal <= 0).any():
        eigenvalues = np.linalg.eigvalsh(matrix)
        low, high = eigenvalues[..., 0], eigenvalues[..., -1]
        raise ValueError(
            f"{name} must be positive definite, but its smallest eigenvalue is {low.min():.3g}"
            f" (largest {high.max():.3g})"
        )
    return matrix


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
