"""Where the covariance comes from when it is not known.

An agent's own model needs only covariances of features that somebody sees together; the
full-feature theta needs all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, covariance_matrix, finite_array
from .._base.linalg import transpose
from .moments import Moments
from .views import ViewsLike, as_views


@dataclass(frozen=True, eq=False)
class PooledCovariance:
    """Covariance put together from what agents see, entry by entry.

    Attributes
    ----------
    covariance : array, shape (..., d, d)
        Positive definite.
    pairs : array, shape (d, d)
        Number of samples behind every entry.
    moved : array, shape (...)
        How far the repair moved it: Frobenius norm of the change over that of the raw matrix,
        0 where none was needed.
    """

    covariance: Array
    pairs: Array
    moved: Array


def from_unlabelled(samples: ArrayLike, *, centre: bool = False) -> Array:
    """Covariance of unlabelled full-feature samples, shape (..., N, d) -> (..., d, d).

    Parameters
    ----------
    centre : bool
        Remove the samples' mean. Off by default: features have mean 0 in the model.
    """
    x = finite_array("samples", samples)
    if x.ndim < 2:
        raise ValueError(f"samples must have shape (N, d), got {x.shape}")
    count, d = x.shape[-2:]
    freedom = count - centre
    if freedom < d:
        raise ValueError(
            f"samples must number at least {d + centre} for {d} features, got {count}:"
            " with fewer their covariance is singular"
        )
    if centre:
        x = x - x.mean(axis=-2, keepdims=True)
    return covariance_matrix(transpose(x) @ x / freedom, name="covariance of samples")


def pooled(
    moments: Sequence[Moments], views: ViewsLike, dimension: int, *, floor: float = 1e-6
) -> PooledCovariance:
    """Average every entry over the agents that see both features, weighted by samples.

    Entries from different agents need not fit together: the result can be indefinite and is then
    moved to the nearest positive definite matrix (eigenvalues of the correlation matrix raised to
    ``floor``, variances kept).

    Raises
    ------
    ValueError
        If some pair of features is seen together by no agent: it is named, and the full-feature
        model cannot be had from the agents alone.
    """
    checked = as_views(views, dimension)
    leading = np.broadcast_shapes(*(moment.yy.shape for moment in moments))
    total = np.zeros((*leading, dimension, dimension))
    pairs = np.zeros((dimension, dimension))
    for moment, view in zip(moments, checked, strict=True):
        if moment.n.ndim:
            raise ValueError("moments must share one n over their trials to be pooled")
        total[..., view[:, None], view] += moment.xx
        pairs[np.ix_(view, view)] += moment.n
    require_pairs(checked, dimension)
    raw = total / pairs
    repaired, moved = nearest_positive_definite(raw, floor=floor)
    return PooledCovariance(repaired, pairs, moved)


def require_pairs(views: ViewsLike, dimension: int) -> None:
    """Refuse views in which some pair of features is seen together by nobody, by name."""
    missing = unseen_pairs(views, dimension)
    if missing:
        j, k = missing[0]
        more = f" ({len(missing)} pairs in all)" if len(missing) > 1 else ""
        raise ValueError(
            f"views: features {j} and {k} are seen together by no agent{more}, so the full-feature"
            " model cannot be had from the agents alone; give a covariance or unlabelled samples"
        )


def unseen_pairs(views: ViewsLike, dimension: int) -> list[tuple[int, int]]:
    """Pairs ``(j, k)``, j <= k, of features that no agent sees together."""
    together = np.zeros((dimension, dimension), dtype=bool)
    for view in as_views(views, dimension):
        together[np.ix_(view, view)] = True
    return [(int(j), int(k)) for j, k in np.argwhere(~together) if j <= k]


def completed(matrix: Array, known: np.ndarray, *, floor: float = 1e-6, rounds: int = 100) -> Array:
    """Fill in what is not known so that the whole is positive definite, and what is known stays.

    Alternating projections: onto positive definite matrices, and back to the known entries. Where
    no filling in fits, what is known is moved as little as the projections move it. Agents' own
    models never read the entries that are filled in.

    Parameters
    ----------
    matrix : array, shape (..., d, d)
        Symmetric, with a positive diagonal; entries that are not known are ignored.
    known : boolean array, shape (d, d)

    Returns
    -------
    array, shape (..., d, d)
    """
    scale = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    outer = scale[..., :, None] * scale[..., None, :]
    given = np.where(known, matrix / outer, 0.0)
    current = given
    for _ in range(rounds):
        eigenvalues, vectors = np.linalg.eigh(current)
        if (eigenvalues[..., 0] >= floor).all():
            break
        raised = (vectors * np.maximum(eigenvalues, 2 * floor)[..., None, :]) @ transpose(vectors)
        current = np.where(known, given, raised)
    return steadied((current + transpose(current)) / 2 * outer, floor=floor)


def steadied(matrix: Array, *, floor: float = 1e-6) -> Array:
    """Make a covariance that was put together from different agents safe to invert.

    The most negative eigenvalue of its correlation matrix shows by how much the agents' entries
    disagree. Eigenvalues below twice that size are nothing but this disagreement, and to divide by
    them would blow it up: they are raised to it. A positive definite matrix stays as it is.
    """
    scale = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    lowest = np.linalg.eigvalsh(matrix / (scale[..., :, None] * scale[..., None, :]))[..., 0]
    least = np.clip(-2 * lowest, floor, 0.5)
    return nearest_positive_definite(matrix, floor=least)[0]


def nearest_positive_definite(matrix: Array, *, floor: float | Array = 1e-6) -> tuple[Array, Array]:
    """Raise the correlation matrix's eigenvalues to ``floor`` (one, or one a matrix).

    Variances are kept.

    Returns
    -------
    repaired : array, shape (..., d, d)
    moved : array, shape (...)
        Frobenius norm of the change over that of the matrix.
    """
    scale = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    if (scale <= 0).any():
        feature = int(np.argwhere(scale <= 0)[0][-1])
        raise ValueError(f"covariance: feature {feature} does not vary")
    outer = scale[..., :, None] * scale[..., None, :]
    eigenvalues, vectors = np.linalg.eigh(matrix / outer)
    least = np.asarray(floor, dtype=float)[..., None]
    raised = (vectors * np.maximum(eigenvalues, least)[..., None, :]) @ transpose(vectors)
    unit = np.sqrt(np.diagonal(raised, axis1=-2, axis2=-1))
    raised = raised / (unit[..., :, None] * unit[..., None, :]) * outer
    needed = (eigenvalues[..., :1] < least)[..., None]
    repaired = np.where(needed, (raised + transpose(raised)) / 2, matrix)
    change = np.linalg.norm(repaired - matrix, axis=(-1, -2))
    return repaired, change / np.linalg.norm(matrix, axis=(-1, -2))
