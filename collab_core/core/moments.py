"""Moments: everything that an estimator of the paper reads of an agent's data.

``n``, ``X'X``, ``X'y`` and ``y'y`` (with sums of x and y where centring is wanted). Moments of two
batches of the same agent add, so raw arrays, simulated draws, chunks of a file and partitions on a
cluster all become the same thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, finite_array
from .._base.linalg import matvec, pseudo_inverse, solve

#: Centred from raw sums, a column whose variance is this share of its mean square or less is
#: rounding. Sums that were taken about the mean do not suffer this cancellation.
CONSTANT = 1e-12
CONSTANT_ABOUT_MEAN = 1e-24


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
        self._about_mean: tuple[Array, Array, Array] | None = None
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
        if not leading:
            # At the scale of each pair: products that cancel leave rounding on either side.
            size = np.sqrt(np.abs(np.diagonal(self.xx)))
            if (np.abs(self.xx - self.xx.T) > 1e-6 * np.outer(size, size)).any():
                raise ValueError("xx must be symmetric")

    def _check_consistent(self) -> None:
        """Refuse what cannot be sums over real samples (too dear to check for a stack)."""
        scale = np.sqrt(np.append(np.diagonal(self.xx), self.yy).clip(0))
        scale[scale == 0] = 1
        whole = np.block([[self.xx, self.xy[:, None]], [self.xy[None], self.yy[None, None]]])
        lowest = np.linalg.eigvalsh(whole / np.outer(scale, scale))[0]
        if lowest < -1e-6:
            raise ValueError(
                "xx, xy and yy must be sums of products over samples, but together they are not"
                f" positive semi-definite (smallest eigenvalue {lowest:.3g} at unit scale)"
            )

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
        n = features.shape[-2]
        x_sum, y_sum = features.sum(axis=-2), labels.sum(axis=-1)
        # Sums about the sample's own mean first: from raw sums they cannot be had back where the
        # mean is large (a year, a time stamp, an income).
        dx = features - (x_sum / max(n, 1))[..., None, :]
        dy = labels - (y_sum / max(n, 1))[..., None]
        transposed = np.swapaxes(dx, -1, -2)
        about = (transposed @ dx, (transposed @ dy[..., None])[..., 0], (dy**2).sum(axis=-1))
        # Adding the means back: n xbar xbar' and so on.
        shift = 1 / max(n, 1)
        total = cls(
            n,
            about[0] + shift * x_sum[..., :, None] * x_sum[..., None, :],
            about[1] + shift * x_sum * y_sum[..., None],
            about[2] + shift * y_sum**2,
            x_sum,
            y_sum,
        )
        total._about_mean = about
        return total

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
        total._about_mean = self._merged_about_mean(other)
        return total

    def _merged_about_mean(self, other: Moments) -> tuple[Array, Array, Array] | None:
        """Sums about the mean of both batches together (Chan, Golub and LeVeque 1983)."""
        if self._about_mean is None or other._about_mean is None:
            return None
        assert self.x_sum is not None
        assert self.y_sum is not None
        assert other.x_sum is not None
        assert other.y_sum is not None
        one, two = np.maximum(self.n, 1), np.maximum(other.n, 1)
        gap_x = self.x_sum / one[..., None] - other.x_sum / two[..., None]
        gap_y = self.y_sum / one - other.y_sum / two
        rate = self.n * other.n / np.maximum(self.n + other.n, 1)
        (xx, xy, yy), (more_xx, more_xy, more_yy) = self._about_mean, other._about_mean
        return (
            xx + more_xx + rate[..., None, None] * gap_x[..., :, None] * gap_x[..., None, :],
            xy + more_xy + rate[..., None] * gap_x * gap_y[..., None],
            yy + more_yy + rate * gap_y**2,
        )

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
        if self._about_mean is not None:
            xx, xy, yy = self._about_mean
            constant = CONSTANT_ABOUT_MEAN
        else:
            mean_x = self.x_sum / self.n[..., None]
            xx = self.xx - self.x_sum[..., :, None] * mean_x[..., None, :]
            xy = self.xy - mean_x * self.y_sum[..., None]
            yy = np.maximum(self.yy - self.y_sum**2 / self.n, 0.0)
            constant = CONSTANT
        raw = np.diagonal(self.xx, axis1=-2, axis2=-1)
        varies = np.diagonal(xx, axis1=-2, axis2=-1) > constant * raw
        return Moments(
            self.n,
            xx * (varies[..., :, None] & varies[..., None, :]),
            xy * varies,
            np.where(yy > constant * self.yy, yy, 0.0),
            is_centred=True,
        )

    def select(self, columns: ArrayLike) -> Moments:
        """Moments of some of the features, in the given order."""
        index = np.asarray(columns, dtype=np.intp)
        part = Moments(
            self.n,
            self.xx[..., index[:, None], index],
            self.xy[..., index],
            self.yy,
            None if self.x_sum is None else self.x_sum[..., index],
            self.y_sum,
            self.is_centred,
        )
        if self._about_mean is not None:
            xx, xy, yy = self._about_mean
            part._about_mean = (xx[..., index[:, None], index], xy[..., index], yy)
        return part

    def squared_error(self, theta: Array) -> Array:
        """``sum (y - x'theta)^2`` over the samples, shape (...)."""
        cross = (self.xy * theta).sum(axis=-1)
        quadratic = (matvec(self.xx, theta) * theta).sum(axis=-1)
        return np.maximum(self.yy - 2 * cross + quadratic, 0.0)

    @cached_property
    def fit(self) -> LocalFit:
        """Ordinary least squares on these samples, computed once."""
        if not self.yy.ndim:
            self._check_consistent()
        return self._fit_from(*solve(self.xx, self.xy))

    def _fit_from(self, theta: Array, rank: np.ndarray) -> LocalFit:
        explained = (self.xy * theta).sum(axis=-1)
        rss = np.maximum(self.yy - explained, 0.0)
        # What cancellation leaves of a perfect fit is rounding, and 1/R must never be built on it.
        rss = np.where(rss > 1e-13 * self.yy, rss, 0.0)
        rss = np.where(self.degrees_of_freedom > rank, rss, 0.0)
        return LocalFit(self.n, self.degrees_of_freedom, theta, rss, rank, self.xx)


def fit_together(moments: Sequence[Moments]) -> None:
    """Compute the fits of many agents at once, those of one size in one call.

    Only a matter of speed: small stacks of trials cost more in calls than in work.
    """
    groups: dict[tuple[int, ...], list[Moments]] = {}
    for moment in moments:
        groups.setdefault(moment.xx.shape, []).append(moment)
    for group in groups.values():
        theta, rank = solve(
            np.stack([moment.xx for moment in group]), np.stack([moment.xy for moment in group])
        )
        for i, moment in enumerate(group):
            moment.__dict__["fit"] = moment._fit_from(theta[i], rank[i])


class LocalSummary:
    """An agent known by its least squares alone: no ``xx`` was drawn or sent.

    Enough for every method that reads only ``(theta_hat_i, R_i)``: COLLAB with population weights,
    Naive-Collab, local OLS.

    Parameters
    ----------
    n : int or array, shape (...)
    theta : array, shape (..., k)
    rss : array, shape (...)
        Residual sum of squares.
    """

    is_centred = False

    def __init__(self, n: ArrayLike, theta: ArrayLike, rss: ArrayLike) -> None:
        self.n = finite_array("n", n, copy=None)
        coefficients = finite_array("theta", theta, copy=None)
        squares = finite_array("rss", rss, copy=None)
        if coefficients.ndim == 0 or coefficients.shape[:-1] != squares.shape:
            raise ValueError(
                f"theta must have shape (..., k) and rss (...), got {coefficients.shape}"
                f" and {squares.shape}"
            )
        rank = np.full(squares.shape, coefficients.shape[-1])
        self.fit = LocalFit(self.n, self.n, coefficients, squares, rank)

    @property
    def features(self) -> int:
        """Number of features k."""
        return int(self.fit.theta.shape[-1])

    @property
    def degrees_of_freedom(self) -> Array:
        """Samples n: no mean was removed."""
        return self.n


@dataclass(frozen=True, eq=False)
class LocalFit:
    """Ordinary least squares of one agent.

    Attributes
    ----------
    n, degrees_of_freedom : arrays, shape () or (...)
        Samples, and samples that remain after the mean.
    theta : array, shape (..., k)
        ``pinv(xx) xy``. Directions that the sample did not vary in get coefficient 0.
    rss : array, shape (...)
        Residual sum of squares; exactly 0 where the fit interpolates.
    rank : integer array, shape (...)
        Number of directions that could be estimated.
    xx : array, shape (..., k, k), optional
        None where only the fit is known.
    """

    n: Array
    degrees_of_freedom: Array
    theta: Array
    rss: Array
    rank: np.ndarray
    xx: Array | None = None

    @property
    def residual(self) -> Array:
        """``R_i = RSS / n``, the paper's, shape (...)."""
        return self.rss / self.n

    @property
    def variance(self) -> Array:
        """``RSS / (n - rank)``, unbiased for s_i, shape (...).

        0 where no degree of freedom is left; estimators leave such agents out.
        """
        return self.rss / np.maximum(self.degrees_of_freedom - self.rank, 1)

    @cached_property
    def covariance(self) -> Array:
        """Estimated covariance of theta, ``variance * pinv(xx)``, shape (..., k, k)."""
        if self.xx is None:
            raise ValueError("the covariance of a local model needs xx, and only its fit is known")
        return self.variance[..., None, None] * pseudo_inverse(self.xx)[0]


#: What an agent contributes: its moments, or only its fit where a method needs no more.
AgentData: TypeAlias = Moments | LocalSummary
