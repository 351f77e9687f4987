"""Drawing an agent's data without drawing its samples.

For Gaussian features every estimator reads the data through sums whose law is known. An agent sees
``y = x' w + e`` with ``w = T_i theta`` and ``e ~ N(0, s_i)`` independent of what it sees, so for n
new samples with ``X'X = R R'`` (R from Bartlett's decomposition of a Wishart matrix)

    X'y = X'X w + sqrt(s) R z,                                z ~ N(0, I),
    y'y = w'X'X w + 2 sqrt(s) w'R z + s (z'z + chi2(n - d_i)).

The cost does not depend on n. Sums of further samples add, so along a grid of n the same agents
collect more and more data. Other features have no such law: their samples are drawn in pieces of
bounded size and summed up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from ._checks import Array, Indices
from ._linalg import matvec, transpose
from .laws import FeatureLaw, square_root
from .moments import LocalSummary, Moments
from .problem import Problem

#: Numbers of raw samples held at a time (16 MB of float64).
PIECE = 2_000_000


class StoppedError(Exception):
    """Raised inside a long draw when its caller asked to stop."""


@dataclass(frozen=True)
class Source:
    """Where an agent's samples come from: ``y = x[view]' w + e``, ``e ~ N(0, s)``.

    Attributes
    ----------
    view : integer array, shape (k,)
    root : array, shape (k, k)
        Lower Cholesky factor of the covariance of what it sees.
    local_theta : array, shape (k,)
    unexplained : float
    """

    view: Indices
    root: Array
    local_theta: Array
    unexplained: float

    @classmethod
    def of_agent(cls, problem: Problem, agent: int) -> Source:
        """Agent i of a problem."""
        return cls(
            problem.views[agent],
            np.linalg.cholesky(problem.geometry.block(agent)),
            problem.local_theta(agent),
            float(problem.unexplained[agent]),
        )

    @classmethod
    def full(cls, problem: Problem) -> Source:
        """A newcomer who sees every feature."""
        return cls(
            np.arange(problem.dimension),
            np.linalg.cholesky(problem.covariance),
            problem.theta,
            problem.noise**2,
        )


def wishart_root(rng: np.random.Generator, trials: int, n: int, k: int) -> Array:
    """``U`` with ``U'U ~ Wishart(n, I_k)``, shape (trials, min(n, k), k).

    Bartlett: upper triangular, normals above the diagonal, square roots of chi-squares of
    n, n-1, .. degrees on it. With fewer samples than features, the samples themselves.
    """
    if n < k:
        return rng.standard_normal((trials, n, k))
    upper = np.zeros((trials, k, k))
    rows, columns = _above_diagonal(k)
    upper[:, rows, columns] = rng.standard_normal((trials, rows.size))
    diagonal = np.arange(k)
    upper[:, diagonal, diagonal] = np.sqrt(rng.chisquare(n - diagonal, size=(trials, k)))
    return upper


@cache
def _above_diagonal(k: int) -> tuple[Indices, Indices]:
    rows, columns = np.triu_indices(k, 1)
    return rows, columns


def gaussian_sums(
    rng: np.random.Generator, source: Source, trials: int, n: int
) -> tuple[Array, Array, Array]:
    """``X'X`` (t, k, k), ``X'y`` (t, k) and ``y'y`` (t,) of n Gaussian samples, exactly."""
    k, w, s = source.view.size, source.local_theta, source.unexplained
    if k == 0:
        return np.zeros((trials, 0, 0)), np.zeros((trials, 0)), s * rng.chisquare(n, size=trials)
    white = wishart_root(rng, trials, n, k)
    rank = white.shape[1]
    # R' = U L', all trials in one product.
    coloured = (white.reshape(-1, k) @ source.root.T).reshape(white.shape)
    z = rng.standard_normal((trials, rank))
    chi = rng.chisquare(n - rank, size=trials) if n > rank else np.zeros(trials)
    xx = transpose(coloured) @ coloured
    xe = np.sqrt(s) * (z[:, None, :] @ coloured)[:, 0, :]
    xx_w = matvec(xx, w)
    yy = xx_w @ w + 2 * xe @ w + s * ((z**2).sum(axis=1) + chi)
    return xx, xx_w + xe, yy


def raw_sums(
    rng: np.random.Generator,
    law: FeatureLaw,
    root: Array,
    problem: Problem,
    view: Indices,
    trials: int,
    n: int,
    stop: Callable[[], bool],
) -> tuple[Array, Array, Array]:
    """The same for features of any law, by drawing samples in pieces of bounded size."""
    k, d = view.size, problem.dimension
    xx, xy, yy = np.zeros((trials, k, k)), np.zeros((trials, k)), np.zeros(trials)
    piece = max(1, PIECE // (trials * d))
    for start in range(0, n, piece):
        if stop():
            raise StoppedError
        count = min(piece, n - start)
        x = law.white(rng, (trials, count, d)) @ root
        y = x @ problem.theta + problem.noise * rng.standard_normal((trials, count))
        seen = x[..., view]
        xx += transpose(seen) @ seen
        xy += (y[:, None, :] @ seen)[:, 0, :]
        yy += (y**2).sum(axis=1)
    return xx, xy, yy


class Collecting:
    """One agent in a stack of trials, collecting more and more samples.

    Parameters
    ----------
    rng : Generator
    problem : Problem
    source : Source
    trials : int
    law : FeatureLaw
    stop : callable
        Asked between pieces of a long draw.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        problem: Problem,
        source: Source,
        trials: int,
        law: FeatureLaw,
        stop: Callable[[], bool],
    ) -> None:
        self._rng, self._problem, self._source = rng, problem, source
        self._trials, self._law, self._stop = trials, law, stop
        self._root = None if law.is_gaussian else square_root(problem.covariance)
        k = source.view.size
        self._n = 0
        self._sums = (np.zeros((trials, k, k)), np.zeros((trials, k)), np.zeros(trials))

    def up_to(self, n: int) -> Moments:
        """Moments of the first n samples; n must not fall from call to call."""
        more = n - self._n
        if more > 0:
            if self._root is None:
                new = gaussian_sums(self._rng, self._source, self._trials, more)
            else:
                new = raw_sums(
                    self._rng, self._law, self._root, self._problem, self._source.view,
                    self._trials, more, self._stop,
                )  # fmt: skip
            xx, xy, yy = (old + added for old, added in zip(self._sums, new, strict=True))
            self._sums, self._n = (xx, xy, yy), n
        return Moments(n, *self._sums)


class CollectingModels:
    """One agent of whom only the local model and the residual are drawn: no matrix at all.

    ``theta_hat = w + sqrt(s / c) L z`` with ``L L' = inv(Sigma_i+)``, ``c ~ chi2(n - d_i + 1)``,
    and independently ``RSS ~ s chi2(n - d_i)``. At every n the law is exact; from n to n the
    direction z stays and c and RSS grow by what new samples add, so that curves are smooth.
    """

    def __init__(self, rng: np.random.Generator, source: Source, trials: int) -> None:
        self._rng, self._source, self._trials = rng, source, trials
        k = source.view.size
        # inv(Sigma) = inv(root)' inv(root), so L z = inv(root)' z.
        z = rng.standard_normal((trials, k))
        self._direction = np.linalg.solve(source.root.T, z.T).T if k else z
        self._n = 0
        self._scale = np.zeros(trials)
        self._rss = np.zeros(trials)

    def up_to(self, n: int) -> LocalSummary:
        """Model and residual after n samples; n must not fall from call to call."""
        k, s = self._source.view.size, self._source.unexplained
        if n <= k:
            # Least squares interpolates; estimators see that from n alone and leave it out.
            return LocalSummary(n, np.zeros((self._trials, k)), np.zeros(self._trials))
        before = max(self._n, k)
        if n > before:
            # chi2(n - k + 1) and chi2(n - k) as sums of independent parts.
            self._scale = self._scale + self._rng.chisquare(
                n - before + (self._n < k + 1), self._trials
            )
            self._rss = self._rss + s * self._rng.chisquare(n - before, self._trials)
            self._n = n
        theta = self._source.local_theta + np.sqrt(s / self._scale)[:, None] * self._direction
        return LocalSummary(n, theta, self._rss)
