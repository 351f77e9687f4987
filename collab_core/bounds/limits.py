"""Corollary 4.4: when the bounds C_gauss and C_strong are comparable.

(In the paper's source it is ``cor:lower-bounds-comparable``.) Every feature of every agent is
missing independently with probability p. Then ``K / m`` converges to

    lim K = sum over patterns o of  p^(d-|o|) (1-p)^|o|  P_o' inv(Sigma_oo) P_o / s_o,

and for ``p <= p* = 1 / (2 kappa (1 + theta' Sigma theta / noise^2))`` the corollary says
``4 lim m C_strong >= lim m C_gauss >= lim m C_strong``.

The weight of a pattern depends on its size only, so the sums over patterns of each size are made
once (`PatternSums`) and every p after that is a sum of d + 1 small matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import binom

from .._base.checks import (
    Array,
    Indices,
    covariance_matrix,
    finite_array,
    fraction,
    positive,
    vector,
    whole,
)
from .._base.linalg import congruence, inverse, transpose

#: Up to this dimension all 2^d patterns are summed; above it patterns are sampled.
LARGEST_EXACT = 14

#: Sampled patterns come in this many independent batches; their spread is the sampling error.
BATCHES = 8


@dataclass(frozen=True, eq=False)
class Corollary:
    """Limits of the bounds as the number of agents grows, at one p.

    Attributes
    ----------
    p : float
        Probability that a feature is missing.
    gauss, strong : arrays, shape (d, d)
        ``lim m C_gauss`` and ``lim m C_strong``.
    exact, exact_unknown : arrays, shape (d, d)
        ``lim m C_exact`` with the noise known and unknown.
    ratios : array, shape (d,)
        Generalised eigenvalues of (gauss, strong), ascending: in every direction C_gauss is
        between the first and the last times C_strong.
    ratio_errors : array, shape (2,)
        Standard errors of the smallest and the largest ratio; 0 for an exact sum.
    p_star : float
        The corollary's condition is ``p <= p_star``.
    exact_sum : bool
        Whether all 2^d patterns were summed, rather than a sample of them.
    """

    p: float
    gauss: Array
    strong: Array
    exact: Array
    exact_unknown: Array
    ratios: Array
    ratio_errors: Array
    p_star: float
    exact_sum: bool

    @property
    def condition_holds(self) -> bool:
        """Whether the corollary's condition ``p <= p_star`` is met."""
        return self.p <= self.p_star


def corollary(
    covariance: ArrayLike,
    theta: ArrayLike,
    noise: float,
    p: float,
    *,
    patterns_per_size: int = 256,
    seed: int = 0,
) -> Corollary:
    """Limits of ``m C_gauss`` and ``m C_strong`` under random missingness, and their ratio.

    Parameters
    ----------
    covariance : array, shape (d, d)
    theta : array, shape (d,)
    noise : float
        Standard deviation of the label noise.
    p : float
        Probability in [0, 1) that a feature of an agent is missing.
    patterns_per_size : int
        For d above 14, how many patterns of each size are sampled.
    seed : int
        Of that sample.

    See Also
    --------
    PatternSums : the same for many p at once.
    """
    return PatternSums(covariance, theta, noise, patterns_per_size=patterns_per_size, seed=seed).at(
        p
    )


@dataclass(frozen=True, eq=False)
class RatioCurve:
    """Smallest and largest ratio of C_gauss to C_strong against p.

    Attributes
    ----------
    p, low, high : arrays, shape (c,)
    low_error, high_error : arrays, shape (c,)
        Standard errors of sampling patterns; 0 for exact sums.
    """

    p: Array
    low: Array
    high: Array
    low_error: Array
    high_error: Array

    @property
    def errors(self) -> Array:
        """Both standard errors, shape (c, 2)."""
        return np.stack([self.low_error, self.high_error], axis=1)

    @property
    def frame(self) -> pd.DataFrame:
        """A row per p."""
        return pd.DataFrame({f.name: getattr(self, f.name) for f in fields(self)})


class PatternSums:
    """Sums over missingness patterns by size: the work that all p share.

    Parameters as in `corollary`, and

    Parameters
    ----------
    patterns_per_size : int
        For d above 14, about how many patterns of each size are sampled; at least d a batch.
    batches : int
        Of sampled patterns, whose spread tells the error; with one there is none to tell.
    """

    def __init__(
        self,
        covariance: ArrayLike,
        theta: ArrayLike,
        noise: float,
        *,
        patterns_per_size: int = 256,
        batches: int = BATCHES,
        seed: int = 0,
    ) -> None:
        self.covariance = covariance_matrix(finite_array("covariance", covariance, ndim=2))
        self.dimension = self.covariance.shape[0]
        self.theta = vector("theta", theta, self.dimension)
        self.noise = positive("noise", noise)
        self.exact_sum = self.dimension <= LARGEST_EXACT
        self.batches = 1 if self.exact_sum else whole("batches", batches, low=1)
        wanted = whole("patterns_per_size", patterns_per_size, low=1)
        rounds = max(1, round(wanted / (self.batches * self.dimension)))
        self._make_sums(rounds, np.random.default_rng(seed))

    @cached_property
    def condition_number(self) -> float:
        """``kappa``, the covariance's largest eigenvalue over its smallest."""
        eigenvalues = np.linalg.eigvalsh(self.covariance)
        return float(eigenvalues[-1] / eigenvalues[0])

    @property
    def signal_to_noise(self) -> float:
        """``theta' covariance theta / noise^2``."""
        return float(self.theta @ self.covariance @ self.theta / self.noise**2)

    @property
    def p_star(self) -> float:
        """``1 / (2 kappa (1 + signal_to_noise))``: the largest p of the corollary's condition."""
        return 1 / (2 * self.condition_number * (1 + self.signal_to_noise))

    def at(self, p: float) -> Corollary:
        """Limits at missingness ``p`` in [0, 1)."""
        p = fraction("p", p)
        information, relative, spread, cross, square = self._limits(p)
        precision = inverse(self.covariance)

        def primal(matrix: Array) -> Array:
            return congruence(precision, inverse(matrix))

        known = information + 2 * spread
        return Corollary(
            p=p,
            gauss=primal(information),
            strong=precision / (2 * relative),
            exact=primal(known),
            exact_unknown=primal(known - np.outer(cross, cross) / (square / 2)),
            ratios=self._ratios(information, relative),
            ratio_errors=self.curve([p]).errors[0],
            p_star=self.p_star,
            exact_sum=self.exact_sum,
        )

    def curve(self, ps: ArrayLike, transform: ArrayLike | None = None) -> RatioCurve:
        """Smallest and largest ratio of the bounds at many p, at once.

        Parameters
        ----------
        ps : array, shape (c,)
            Each in [0, 1).
        transform : array, shape (k, d), optional
            Compare ``T C T'`` instead of C: one row u for ``u'C u``, an agent's ``T_i`` for its
            own model.
        """
        grid = np.array([fraction("ps", p) for p in np.atleast_1d(np.asarray(ps, dtype=float))])
        rows = None if transform is None else finite_array("transform", transform, ndim=2)
        if rows is not None and (rows.shape[1] != self.dimension or rows.shape[0] < 1):
            raise ValueError(f"transform must be (k, {self.dimension}), got {rows.shape}")
        weights = _size_weights(self.dimension, grid)
        ends = self._ends(
            weights, self._information.mean(axis=0), self._relative.mean(axis=0), rows
        )
        errors = np.zeros_like(ends)
        if self.batches > 1:
            # Jackknife over batches: what leaving one out changes, all p and batches in one stack.
            left = [
                self._ends(
                    weights,
                    (self._information.sum(axis=0) - self._information[b]) / (self.batches - 1),
                    (self._relative.sum(axis=0) - self._relative[b]) / (self.batches - 1),
                    rows,
                )
                for b in range(self.batches)
            ]
            deviations = np.array(left) - np.mean(left, axis=0)
            errors = np.sqrt((self.batches - 1) / self.batches * (deviations**2).sum(axis=0))
        return RatioCurve(grid, ends[:, 0], ends[:, 1], errors[:, 0], errors[:, 1])

    def threshold(self, ratio: float = 4.0, transform: ArrayLike | None = None) -> float | None:
        """The smallest p at which C_gauss is ``ratio`` times C_strong in some direction.

        None where it stays below up to p = 0.999. With ``transform`` as in `curve`.
        """
        positive("ratio", ratio)
        rows = None if transform is None else finite_array("transform", transform, ndim=2)
        information, relative = self._information.mean(axis=0), self._relative.mean(axis=0)

        def above(p: float | Array) -> Array:
            weights = _size_weights(self.dimension, np.atleast_1d(p))
            return self._ends(weights, information, relative, rows)[:, 1] - ratio

        # The curve need not be monotone; the grid is dense near 0, where condition numbers bite.
        grid = np.concatenate([[0.0], np.geomspace(1e-8, 0.05, 40), np.linspace(0.06, 0.999, 60)])
        crossed = np.flatnonzero(above(grid) >= 0)
        if crossed.size == 0:
            return None
        first = int(crossed[0])
        if first == 0:
            return 0.0
        return float(brentq(lambda p: above(p)[0], grid[first - 1], grid[first], xtol=1e-12))

    def _ends(
        self, weights: Array, information: Array, relative: Array, transform: Array | None
    ) -> Array:
        """Smallest and largest ratio for each row of size weights, shape (c, 2)."""
        d = self.dimension
        total = (weights @ information.reshape(d + 1, d * d)).reshape(-1, d, d)
        rate = 2 * (weights @ relative)[:, None]
        factor = np.linalg.cholesky(self.covariance)
        inner = transpose(factor) @ total @ factor
        if transform is None:
            return rate / np.linalg.eigvalsh(inner)[:, [-1, 0]]
        # T C_gauss T' = F' inv(inner) F and T C_strong T' = F'F / rate with F = inv(L) T'.
        rows = np.linalg.solve(factor, transform.T)
        orthogonal, _ = np.linalg.qr(rows)
        seen = orthogonal.T @ np.linalg.solve(
            inner, np.broadcast_to(orthogonal, (len(inner), *orthogonal.shape))
        )
        return rate * np.linalg.eigvalsh((seen + transpose(seen)) / 2)[:, [0, -1]]

    def _make_sums(self, rounds: int, rng: np.random.Generator) -> None:
        d, count = self.dimension, self.batches
        # By batch and size k: averages over patterns o of size k of
        self._information = np.zeros((count, d + 1, d, d))  # P_o' inv(Sigma_oo) P_o / s_o
        self._relative = np.zeros((count, d + 1))  #            1 / s_o
        self._spread = np.zeros((count, d + 1, d, d))  #        h_o h_o' / s_o^2
        self._cross = np.zeros((count, d + 1, d))  #            h_o / s_o^2
        self._square = np.zeros((count, d + 1))  #              1 / s_o^2
        for k in range(d + 1):
            enumerable = self.exact_sum or math.comb(d, k) <= rounds * d
            shared = self._sums_of(_all_patterns(d, k)) if enumerable else None
            for batch in range(count):
                sums = shared or self._sums_of(_random_patterns(d, k, rounds, rng))
                (
                    self._information[batch, k],
                    self._relative[batch, k],
                    self._spread[batch, k],
                    self._cross[batch, k],
                    self._square[batch, k],
                ) = sums

    def _sums_of(self, patterns: Indices) -> tuple[Array, float, Array, Array, float]:
        """Averages over patterns of one size, an index array of shape (g, k)."""
        g, d, phi = len(patterns), self.dimension, self.covariance @ self.theta
        inverses = inverse(self.covariance[patterns[:, :, None], patterns[:, None, :]])
        local = (inverses @ phi[patterns][..., None])[..., 0]
        embedded = np.zeros((g, d))
        np.put_along_axis(embedded, patterns, local, axis=1)
        leverage = phi - embedded @ self.covariance
        np.put_along_axis(leverage, patterns, 0.0, axis=1)
        s = self.noise**2 + np.maximum(leverage @ self.theta, 0.0)
        h = self.theta - embedded
        positions = (patterns[:, :, None] * d + patterns[:, None, :]).ravel()
        values = (inverses / s[:, None, None]).ravel()
        information = np.bincount(positions, weights=values, minlength=d * d).reshape(d, d)
        rate = 1 / s**2
        return (
            information / g,
            float((1 / s).mean()),
            (h.T * rate) @ h / g,
            rate @ h / g,
            float(rate.mean()),
        )

    def _limits(self, p: float) -> tuple[Array, float, Array, Array, float]:
        weights = _size_weights(self.dimension, np.array([p]))[0]
        return (
            np.tensordot(weights, self._information.mean(axis=0), axes=1),
            float(weights @ self._relative.mean(axis=0)),
            np.tensordot(weights, self._spread.mean(axis=0), axes=1),
            weights @ self._cross.mean(axis=0),
            float(weights @ self._square.mean(axis=0)),
        )

    def _ratios(self, information: Array, relative: float) -> Array:
        # gauss v = r strong v  with gauss = inv(Sigma) inv(K) inv(Sigma), strong = inv(2 b Sigma):
        # r = 2 b / mu for the eigenvalues mu of L' K L, Sigma = L L'. No inverse is needed.
        factor = np.linalg.cholesky(self.covariance)
        inner = np.linalg.eigvalsh(transpose(factor) @ information @ factor)
        return 2 * relative / inner[::-1]


def _size_weights(d: int, ps: Array) -> Array:
    """Probability of a view of size k at each p, shape (c, d + 1)."""
    return np.asarray(binom.pmf(np.arange(d + 1), d, 1 - ps[:, None]))


def _all_patterns(d: int, k: int) -> Indices:
    """Every subset of size k, shape (C(d, k), k)."""
    return np.array(list(combinations(range(d), k)), dtype=np.intp).reshape(math.comb(d, k), k)


def _random_patterns(d: int, k: int, rounds: int, rng: np.random.Generator) -> Indices:
    """Random subsets of size k, shape (rounds * d, k), every feature in equally many of them.

    All windows of length k on a circle of shuffled features, for each of some shuffles. A window
    is a uniformly random subset; the balance keeps chance from favouring a feature, which would
    make the smallest eigenvalue of the information too small and the largest ratio too large.
    """
    shuffled = np.argsort(rng.random((rounds, d)), axis=1)
    windows = (np.arange(d)[:, None] + np.arange(k)) % d
    return shuffled[:, windows].reshape(rounds * d, k)


def missingness_grid(sums: PatternSums, points: int = 60) -> Array:
    """Values of p to look at, evenly on a log scale from below p* (at most 1%) to 0.95."""
    lowest = min(max(sums.p_star / 3, 1e-8), 1e-2)
    return np.asarray(np.geomspace(lowest, 0.95, whole("points", points, low=2)).round(12))
