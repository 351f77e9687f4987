"""Planes in the space of coefficients: two of them, principal directions, or one's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from ..._base.checks import Array, finite_array, whole

#: Largest over smallest entry of a direction of one's own.
LONGEST, SHORTEST = 1e6, 1e-6


@dataclass(frozen=True)
class Plane:
    """Two directions in the space of coefficients.

    Attributes
    ----------
    directions : array, shape (2, k)
    names : (str, str)
        What the axes are called.
    """

    directions: Array
    names: tuple[str, str]

    def of(self, C: ArrayLike) -> Array:
        """A covariance (k, k) as seen in the plane, shape (2, 2)."""
        seen = self.directions @ np.asarray(C, dtype=float) @ self.directions.T
        return (seen + seen.T) / 2

    def points(self, estimates: ArrayLike) -> Array:
        """Coefficients (.., k) as points of the plane, shape (.., 2)."""
        return np.asarray(estimates, dtype=float) @ self.directions.T


def coordinates(k: int, first: int, second: int, names: tuple[str, str] | None = None) -> Plane:
    """The plane of two coefficients."""
    for index in (first, second):
        whole("coordinate", index, low=0, high=k - 1)
    if first == second:
        raise ValueError(f"coordinates must differ, got {first} twice")
    return Plane(
        np.eye(k)[[first, second]],
        names or (f"coefficient {first + 1}", f"coefficient {second + 1}"),
    )


def principal(covariance: ArrayLike, first: int, second: int) -> Plane:
    """The plane of two principal directions of a covariance, counted from the strongest, 0."""
    matrix = finite_array("covariance", covariance, ndim=2)
    k = matrix.shape[0]
    _, vectors = np.linalg.eigh(matrix)
    base = coordinates(k, first, second)
    names = (f"principal direction {first + 1}", f"principal direction {second + 1}")
    return Plane(base.directions @ _signed(vectors[:, ::-1].T), names)


def most_different(A: ArrayLike, B: ArrayLike) -> Plane:
    """The plane in which two covariances differ most.

    Spanned by the directions u in which ``|log(u'A u / u'B u)|`` is largest: generalised
    eigenvectors of (A, B), made of length 1.
    """
    first, second = (finite_array(name, C, ndim=2) for name, C in (("A", A), ("B", B)))
    k = first.shape[0]
    if k < 2:
        raise ValueError("A must have at least two rows: one coefficient makes no plane")
    values, vectors = eigh(first, second)
    order = np.argsort(-np.abs(np.log(np.maximum(values, 1e-300))), kind="stable")[:2]
    directions = vectors[:, order].T
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return Plane(_signed(directions), ("where they differ most", "where they differ next"))


def own_directions(first: ArrayLike, second: ArrayLike, k: int) -> Plane:
    """The plane of two directions of one's own, k numbers each."""
    rows = []
    for name, direction in (("first direction", first), ("second direction", second)):
        row = finite_array(name, direction, ndim=1)
        if row.size != k:
            raise ValueError(f"{name} must have {k} numbers, got {row.size}")
        if not row.any():
            raise ValueError(f"{name} must not be all zeros")
        sizes = np.abs(row[row != 0])
        if sizes.max() > LONGEST or sizes.min() < SHORTEST:
            raise ValueError(f"{name} must have entries of size {SHORTEST:g} to {LONGEST:g}, or 0")
        rows.append(row)
    directions = np.array(rows)
    scaled = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    if abs(scaled[0] @ scaled[1]) > 1 - 1e-9:
        raise ValueError("the second direction must not be a multiple of the first")
    return Plane(directions, ("first direction", "second direction"))


def _signed(directions: Array) -> Array:
    """Each row with its largest entry positive, so that pictures do not flip by chance."""
    largest = np.abs(directions).argmax(axis=1)
    return directions * np.sign(directions[np.arange(len(directions)), largest])[:, None]
