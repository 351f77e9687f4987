"""Sums about the mean, and errors on held-out rows from sums alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.checks import Array


def about_mean(n: Array, total: Array, cross: Array, least: Array) -> tuple[Array, Array]:
    """Means, and sums of products about them, from sums and sums of products.

    Parameters
    ----------
    n : array, shape (...)
        At least 1.
    total : array, shape (..., c)
    cross : array, shape (..., c, c)
    least : array, shape (..., c)
        A column whose squares about the mean sum up to no more than this does not vary: what is
        left of it is rounding. It becomes exactly 0; as a tiny constant it would be a hidden
        intercept with an enormous coefficient.

    Returns
    -------
    mean : array, shape (..., c)
    spread : array, shape (..., c, c)
    """
    mean = total / n[..., None]
    spread = cross - total[..., :, None] * mean[..., None, :]
    return mean, varying(spread, least)


def varying(spread: Array, least: Array) -> Array:
    """Sums of products with the rows and columns of what does not vary set to 0, (..., c, c)."""
    varies = np.diagonal(spread, axis1=-2, axis2=-1) > least
    return spread * (varies[..., :, None] & varies[..., None, :])


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that were held out, as sums over features and label (k + 1 columns, the label last).

    Attributes
    ----------
    count : array, shape (...)
        Rows.
    mean : array, shape (..., k + 1)
    spread : array, shape (..., k + 1, k + 1)
        Sums of products about the mean.
    """

    count: Array
    mean: Array
    spread: Array

    @classmethod
    def of_products(cls, sums: Array) -> HeldOut:
        """From sums of products of (1, x, y), shape (..., k + 2, k + 2); 0 rows have error 0."""
        count = np.maximum(sums[..., 0, 0], 1.0)
        mean, spread = about_mean(
            count, sums[..., 0, 1:], sums[..., 1:, 1:], np.full_like(sums[..., 0, 1:], -np.inf)
        )
        return cls(count, mean, spread)

    def error(self, theta: Array, centre: Array) -> Array:
        """Mean squared error of a model whose predictions start from ``centre``, shape (...).

        Parameters
        ----------
        theta : array, shape (..., k)
        centre : array, shape (..., k + 1)
            Means of features and label that were removed before the model was fitted.
        """
        weights = np.concatenate([-theta, np.ones((*theta.shape[:-1], 1))], axis=-1)
        quadratic = ((weights[..., None, :] @ self.spread)[..., 0, :] * weights).sum(axis=-1)
        bias = (weights * (self.mean - centre)).sum(axis=-1)
        return np.asarray(np.maximum(quadratic, 0.0) / self.count + bias**2)
