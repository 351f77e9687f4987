"""Moments: everything that an estimator of the paper reads of an agent's data.

``n``, ``X'X``, ``X'y`` and ``y'y`` (with sums of x and y where centring is wanted). Moments of two
batches of the same agent add, so raw arrays, simulated draws, chunks of a file and partitions on a
cluster all become the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ._checks import Array, finite_array
from ._linalg import matvec, pseudo_inverse, solve

#: After centring, a column whose variance is this share of its mean square or less is rounding.
CONSTANT = 1e-12


class Moments:
    """Sufficient sums of one agent's labelled samples, or of a stack of trials of it.

    Parameters
    ----------
    n : int or array, shape (...)
        Number of samples.
    xx : array, shape (..., k, k)
        ``X'X`` of the k features that the agent sees.
    xy : array, shape (..., k)
        ``X'y``.
    yy : float or array, shape (...)
        ``y'y``.
    x_sum : array, shape (..., k), optional
        Sum of the features; only needed for `centred`.
    y_sum : float or array, shape (...), optional
        Sum of the labels; only needed for `centred`.
    is_centred : bool
        Whether the sample's own mean was removed, which costs one degree of freedom.

    Notes
    -----
    Arrays are kept as they are, not copied: a stack of trials is large.
    """

    def __init__(
        self,
        n: ArrayLike,
        xx: ArrayLike,
        xy: ArrayLike,
        yy: ArrayLike,
        x_sum: ArrayLike | None = None,
        y_sum: ArrayLike | None = None,
        is_centred: bool = False,
    ) -> None:
        self.n = finite_array("n", n, copy=None)
        self.xx = finite_array("xx", xx, copy=None)
        self.xy = finite_array("xy", xy, copy=None)
        self.yy = finite_array("yy", yy, copy=None)
        self.x_sum = None if x_sum is None else finite_array("x_sum", x_sum, copy=None)
        self.y_sum = None if y_sum is None else finite_array("y_sum", y_sum, copy=None)
        self.is_centred = is_centred
        self._check()

    def _check(self) -> None:
        k = self.xy.shape[-1] if self.xy.ndim else -1
        if self.xx.ndim < 2 or self.xx.shape[-2:] != (k, k):
            raise ValueError(
                f"xx must have shape (..., k, k) for xy of shape (..., k); got {self.xx.shape}"
                f" and {self.xy.shape}"
            )
        leading = self.xx.shape[:-2]
        if (self.x_sum is None) != (self.y_sum is None):
            raise ValueError("x_sum and y_sum must be given together")
        shapes = {"xy": (self.xy, (*leading, k)), "yy": (self.yy, leading)}
        if self.x_sum is not None and self.y_sum is not None:
            shapes |= {"x_sum": (self.x_sum, (*leading, k)), "y_sum": (self.y_sum, leading)}
        for name, (array, shape) in shapes.items():
            if array.shape != shape:
                raise ValueError(f"{name} must have shape {shape} to go with xx, got {array.shape}")
        if self.n.ndim and self.n.shape != leading:
            raise ValueError(f"n must be one number or of shape {leading}, got {self.n.shape}")
        for name, array in (("n", self.n), ("yy", self.yy)):
            if (array < 0).any():
                raise ValueError(f"{name} must not be negative, got {array.min():g}")
        if not leading and not np.allclose(self.xx, self.xx.T, rtol=1e-6, atol=0):
            raise ValueError("xx must be symmetric")

    @classmethod
    def from_arrays(cls, X: ArrayLike, y: ArrayLike) -> Moments:
        """Sum up raw data: ``X`` of shape (..., n, k), ``y`` of shape (..., n)."""
        features = finite_array("X", X, copy=None)
        labels = finite_array("y", y, copy=None)
        if features.ndim < 2 or features.shape[:-1] != labels.shape:
            raise ValueError(
                f"X must have shape (..., n, k) and y (..., n); got {features.shape}"
                f" and {labels.shape}"
            )
        transposed = np.swapaxes(features, -1, -2)
        return cls(
            n=features.shape[-2],
            xx=transposed @ features,
            xy=(transposed @ labels[..., None])[..., 0],
            yy=(labels**2).sum(axis=-1),
            x_sum=features.sum(axis=-2),
            y_sum=labels.sum(axis=-1),
        )

    @classmethod
    def from_chunks(cls, chunks: Iterable[tuple[ArrayLike, ArrayLike]]) -> Moments:
        """Sum up ``(X, y)`` pieces one at a time, for data too large to hold."""
        total: Moments | None = None
        for X, y in chunks:
            part = cls.from_arrays(X, y)
            total = part if total is None else total + part
        if total is None:
            raise ValueError("chunks must hold at least one (X, y) pair, got none")
        return total

    def __add__(self, other: Moments) -> Moments:
        """Moments of both batches together."""
        if not isinstance(other, Moments):
            return NotImplemented
        if self.features != other.features:
            raise ValueError(
                f"moments of {self.features} and {other.features} features cannot be added"
            )
        if self.is_centred or other.is_centred:
            raise ValueError("centred moments cannot be added: add first, then centre")
        total = Moments(
            self.n + other.n, self.xx + other.xx, self.xy + other.xy, self.yy + other.yy
        )
        if self.x_sum is not None and other.x_sum is not None:
            total.x_sum = self.x_sum + other.x_sum
        if self.y_sum is not None and other.y_sum is not None:
            total.y_sum = self.y_sum + other.y_sum
        return total

    @property
    def features(self) -> int:
        """Number of features k."""
        return int(self.xy.shape[-1])

    @property
    def degrees_of_freedom(self) -> Array:
        """Samples that remain after the mean: n, or n - 1 if centred."""
        return self.n - 1 if self.is_centred else self.n

    def centred(self) -> Moments:
        """Remove the sample's own mean from features and labels.

        A feature that is constant in the sample becomes exactly zero. Centred by anything but the
        sample itself it would be a tiny constant: a hidden intercept with a huge coefficient.
        """
        if self.is_centred:
            return self
        if self.x_sum is None or self.y_sum is None:
            raise ValueError("centring needs x_sum and y_sum; these moments came without them")
        if (self.n < 1).any():
            raise ValueError("centring needs at least one sample, got n = 0")
        mean_x = self.x_sum / self.n[..., None]
        xx = self.xx - self.x_sum[..., :, None] * mean_x[..., None, :]
        xy = self.xy - mean_x * self.y_sum[..., None]
        yy = np.maximum(self.yy - self.y_sum**2 / self.n, 0.0)
        raw = np.diagonal(self.xx, axis1=-2, axis2=-1)
        varies = np.diagonal(xx, axis1=-2, axis2=-1) > CONSTANT * raw
        return Moments(
            self.n,
            xx * (varies[..., :, None] & varies[..., None, :]),
            xy * varies,
            np.where(yy > CONSTANT * self.yy, yy, 0.0),
            is_centred=True,
        )

    def select(self, columns: ArrayLike) -> Moments:
        """Moments of some of the features, in the given order."""
        index = np.asarray(columns, dtype=np.intp)
        return Moments(
            self.n,
            self.xx[..., index[:, None], index],
            self.xy[..., index],
            self.yy,
            None if self.x_sum is None else self.x_sum[..., index],
            self.y_sum,
            self.is_centred,
        )

    def squared_error(self, theta: Array) -> Array:
        """``sum (y - x'theta)^2`` over the samples, shape (...)."""
        cross = (self.xy * theta).sum(axis=-1)
        quadratic = (matvec(self.xx, theta) * theta).sum(axis=-1)
        return np.maximum(self.yy - 2 * cross + quadratic, 0.0)

    @cached_property
    def fit(self) -> LocalFit:
        """Ordinary least squares on these samples, computed once."""
        theta, rank = solve(self.xx, self.xy)
        explained = (self.xy * theta).sum(axis=-1)
        rss = np.maximum(self.yy - explained, 0.0)
        # What cancellation leaves of a perfect fit is rounding, and 1/R must never be built on it.
        rss = np.where(rss > 1e-13 * self.yy, rss, 0.0)
        rss = np.where(self.degrees_of_freedom > rank, rss, 0.0)
        return LocalFit(self, theta, rss, rank)


@dataclass(frozen=True, eq=False)
class LocalFit:
    """Ordinary least squares of one agent.

    Attributes
    ----------
    theta : array, shape (..., k)
        ``pinv(xx) xy``. Directions that the sample did not vary in get coefficient 0.
    rss : array, shape (...)
        Residual sum of squares; exactly 0 where the fit interpolates.
    rank : integer array, shape (...)
        Number of directions that could be estimated.
    """

    moments: Moments
    theta: Array
    rss: Array
    rank: np.ndarray

    @property
    def residual(self) -> Array:
        """``R_i = RSS / n``, the paper's, shape (...)."""
        return self.rss / self.moments.n

    @property
    def variance(self) -> Array:
        """``RSS / (n - rank)``, unbiased for s_i, shape (...).

        0 where no degree of freedom is left; estimators leave such agents out.
        """
        left = self.moments.degrees_of_freedom - self.rank
        return self.rss / np.maximum(left, 1)

    @cached_property
    def inverse_xx(self) -> Array:
        """``pinv(xx)``; the covariance of theta is s_i times this, shape (..., k, k)."""
        return pseudo_inverse(self.moments.xx)[0]

    @property
    def covariance(self) -> Array:
        """Estimated covariance of theta, shape (..., k, k)."""
        return self.variance[..., None, None] * self.inverse_xx
