"""Batched linear algebra on symmetric positive semi-definite matrices.

Every function takes leading axes, so that a thousand trials cost one call.
"""

from __future__ import annotations

import math

import numpy as np

from .checks import Array

#: A direction that explains less than this share of its features' own variance counts as unseen.
#: Ranks are judged after scaling every diagonal to one, so that units do not matter.
RANK_TOLERANCE = 1e-11


#: From this many systems on, substitution for all at once beats LAPACK one by one.
LARGE_STACK = 200

#: Systems of a stack that are worked on at a time: they fit into a processor's own memory.
BLOCK = 1000


def transpose(matrix: Array) -> Array:
    """Swap the last two axes."""
    return np.swapaxes(matrix, -1, -2)


def matvec(matrix: Array, vector: Array) -> Array:
    """Multiply matrices (..., r, c) with vectors (..., c), axes before them broadcasting."""
    if matrix.ndim == 2:
        # One matrix for all vectors is one large product, not many small ones.
        return vector @ matrix.T
    return (matrix @ vector[..., None])[..., 0]


def times(scalar: Array, matrix: Array) -> Array:
    """Scale matrices (..., k, k) by scalars (...)."""
    return scalar[..., None, None] * matrix


def outer(vector: Array) -> Array:
    """``v v'``, shape (..., k) -> (..., k, k)."""
    return vector[..., :, None] * vector[..., None, :]


def congruence(outside: Array, inner: Array) -> Array:
    """Return ``outside @ inner @ outside`` for symmetric matrices, shapes (..., k, k)."""
    if outside.ndim > 2 or inner.ndim == 2:
        result = outside @ inner @ outside
        return (result + transpose(result)) / 2
    # A shared outer matrix: fold all trials into the rows of two large products. The half product
    # is transposed in between, and the result is symmetric up to rounding, so none is owed at the
    # end.
    k = outside.shape[-1]
    half = (inner.reshape(-1, k) @ outside).reshape(inner.shape)
    return (transpose(half).reshape(-1, k) @ outside).reshape(inner.shape)


def inverse(matrix: Array) -> Array:
    """Invert symmetric positive definite matrices, exactly symmetric again."""
    result = np.linalg.inv(matrix)
    return (result + transpose(result)) / 2


def cholesky(matrix: Array) -> Array | None:
    """Cholesky factors of a stack, or None unless all are safely positive definite.

    Safely: no feature is explained by the features before it to within ``RANK_TOLERANCE``,
    whatever the units.
    """
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
    # pivot^2 / diagonal is the share of a feature's variance that the features before it leave.
    pivots = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    return factor if (pivots > RANK_TOLERANCE * diagonal).all() else None


def pseudo_inverse(matrix: Array) -> tuple[Array, np.ndarray]:
    """Pseudo-invert positive semi-definite matrices, and count what was kept.

    The pseudo-inverse is Moore-Penrose's for the matrix scaled to a unit diagonal, scaled back:
    unlike the plain one it does not change with the units in which features are measured.

    Returns
    -------
    inverse : array, shape (..., k, k)
    rank : integer array, shape (...)
    """
    k = matrix.shape[-1]
    if cholesky(matrix) is not None:
        return inverse(matrix), np.full(matrix.shape[:-2], k)
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scales = outer(scale)
    eigenvalues, vectors = np.linalg.eigh(matrix / scales)
    kept = eigenvalues > RANK_TOLERANCE * k
    inverted = np.where(kept, 1 / np.where(kept, eigenvalues, 1.0), 0.0)
    result = (vectors * inverted[..., None, :]) @ transpose(vectors)
    return result / scales, kept.sum(axis=-1)


def solve(matrix: Array, right: Array) -> tuple[Array, np.ndarray]:
    """Solve ``matrix @ x = right`` for vectors ``right``; directions of no information give 0.

    Returns
    -------
    x : array, shape (..., k)
    rank : integer array, shape (...)
    """
    factor = cholesky(matrix)
    if factor is None:
        inverted, rank = pseudo_inverse(matrix)
        return matvec(inverted, right), rank
    rank = np.full(matrix.shape[:-2], matrix.shape[-1])
    if matrix.ndim > 2 and rank.size < LARGE_STACK:
        return np.linalg.solve(matrix, right[..., None])[..., 0], rank
    if matrix.ndim == 2:
        return (right @ inverse(matrix) if right.ndim > 1 else np.linalg.solve(matrix, right)), rank
    return _substitute(factor, right), rank


def _substitute(factor: Array, right: Array) -> Array:
    """Solve ``L L' x = right`` for a stack, coordinate by coordinate and all trials at once.

    The factor is at hand from the rank check; a second factorisation would cost twice as much.
    Trials go last, in blocks that stay near the processor, so that every step runs along them.
    """
    k = factor.shape[-1]
    leading = np.broadcast_shapes(factor.shape[:-2], right.shape[:-1])
    count = math.prod(leading)
    lower = np.broadcast_to(factor, (*leading, k, k)).reshape(count, k, k)
    vectors = np.broadcast_to(right, (*leading, k)).reshape(count, k)
    result = np.empty_like(vectors)
    for start in range(0, count, BLOCK):
        part = slice(start, start + BLOCK)
        L = np.ascontiguousarray(lower[part].transpose(1, 2, 0))
        x = np.array(vectors[part].T, order="C")
        for j in range(k):
            x[j] -= np.einsum("it,it->t", L[j, :j], x[:j])
            x[j] /= L[j, j]
        for j in reversed(range(k)):
            x[j] /= L[j, j]
            x[:j] -= L[j, :j] * x[j]
        result[part] = x.T
    return result.reshape(*leading, k)
