"""Ellipses as outlines and in numbers: how far they reach, what lies inside, their sizes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import chi2

from ..._base.checks import Array, choice, finite_array, fraction, positive
from .planes import Plane


def radius(level: float) -> float:
    """How many standard deviations an ellipse of this level reaches in the plane."""
    return float(np.sqrt(chi2.ppf(fraction("level", level), 2)))


def interval_reach(level: float) -> float:
    """How many standard deviations an interval of this level reaches on a line."""
    return float(np.sqrt(chi2.ppf(fraction("level", level), 1)))


def outline(seen: ArrayLike, centre: ArrayLike, level: float, points: int = 97) -> Array:
    """Points of the ellipse ``(x - c)' inv(seen) (x - c) = chi2(level)``, shape (points, 2).

    Parameters
    ----------
    seen : array, shape (2, 2)
        Covariance in the plane, already over n.
    centre : array, shape (2,)
    level : float
        Share of a normal law inside.
    """
    matrix = finite_array("seen", seen, ndim=2)
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    angles = np.linspace(0, 2 * np.pi, points)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(centre, dtype=float) + radius(level) * (root @ circle).T


def inside(points: ArrayLike, seen: ArrayLike, centre: ArrayLike, level: float) -> np.ndarray:
    """Which points (t, 2) lie inside an ellipse, shape (t,) of bool."""
    gap = np.asarray(points, dtype=float) - np.asarray(centre, dtype=float)
    factor = np.linalg.cholesky(np.asarray(seen, dtype=float))
    white = np.linalg.solve(factor, gap.T)
    return (white**2).sum(axis=0) <= radius(level) ** 2


def measures(
    found: Mapping[str, Array], plane: Plane, n: float, level: float, reference: str = "collab"
) -> pd.DataFrame:
    """Size of every ellipse in numbers, a row a covariance.

    Returns
    -------
    DataFrame
        ``method``; ``area``, ``long`` and ``short`` (half axes) of its ellipse in the plane;
        ``area_ratio`` to the reference's; ``volume_ratio``, that of the whole ellipsoids in k
        dimensions; ``per_axis``, its k-th root: by how much an axis is longer on average.
    """
    n, reach = positive("n", n), radius(level)
    choice("reference", reference, tuple(found))
    base = found[reference]
    k = base.shape[0]
    base_area = np.sqrt(np.linalg.det(plane.of(base)))
    base_log = np.linalg.slogdet(base)[1]
    rows = []
    for key, C in found.items():
        seen = plane.of(C)
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(seen), 0.0) / n)
        logs = (np.linalg.slogdet(C)[1] - base_log) / 2
        area = float(np.sqrt(max(np.linalg.det(seen), 0.0)))
        rows.append(
            {
                "method": key,
                "area": np.pi * reach**2 * area / n,
                "long": reach * values[1],
                "short": reach * values[0],
                "area_ratio": area / base_area,
                # Beyond what a float holds the exponent alone is told apart.
                "volume_ratio": float(np.exp(np.clip(logs, -700, 700))),
                "per_axis": float(np.exp(logs / k)),
            }
        )
    return pd.DataFrame(rows)


def coverage_in_plane(
    estimates: Mapping[str, ArrayLike],
    found: Mapping[str, Array],
    plane: Plane,
    centre: ArrayLike,
    n: float,
    level: float,
) -> pd.DataFrame:
    """Share of simulated estimates inside their own method's ellipse around the truth.

    Returns
    -------
    DataFrame
        ``method``, ``inside`` (share), ``error`` (its Monte-Carlo standard error at the level),
        ``level``, ``trials``. Biased methods, that have no ellipse here, are measured by the
        reference's, ``collab``.
    """
    rows = []
    for key, values in estimates.items():
        points = plane.points(values)
        C = found.get(key, found["collab"])
        trials = len(points)
        share = inside(points, plane.of(C) / n, plane.points(centre), level).mean()
        rows.append(
            {
                "method": key,
                "inside": float(share),
                "error": float(np.sqrt(level * (1 - level) / trials)),
                "level": level,
                "trials": trials,
            }
        )
    return pd.DataFrame(rows, columns=["method", "inside", "error", "level", "trials"])


def half_widths(found: Mapping[str, Array], n: float, level: float) -> pd.DataFrame:
    """Intervals of a single coefficient, which has no ellipse.

    Parameters
    ----------
    found : mapping of arrays, shape (1, 1)

    Returns
    -------
    DataFrame
        ``method``, ``half_width``.
    """
    reach = interval_reach(level)
    widths = [reach * float(np.sqrt(C[0, 0] / positive("n", n))) for C in found.values()]
    return pd.DataFrame({"method": list(found), "half_width": widths})


def areas(frame: pd.DataFrame) -> dict[str, float]:
    """Area inside every outline of a `picture`, by method."""
    found = {}
    for key, rows in frame[frame["what"] == "outline"].groupby("method", sort=False):
        x, y = rows["x"].to_numpy(), rows["y"].to_numpy()
        found[str(key)] = abs(float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum())) / 2
    return found
