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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from .._base.checks import Array, Indices
from .._base.linalg import transpose
from ..core.moments import LocalSummary, Moments
from ..core.problem import Problem
from ..world.laws import Law, square_root

#: Numbers of raw samples held at a time (16 MB of float64).
PIECE = 2_000_000


class StoppedError(Exception):
    """Raised inside a long draw when its caller asked to stop."""


@dataclass(frozen=True)
class Samplers:
    """Where samples of g agents come from who see k features each: ``y = x[view]' w + e``.

    Attributes
    ----------
    views : integer array, shape (g, k)
    roots : array, shape (g, k, k)
        Lower Cholesky factors of the covariance of what each sees.
    local_theta : array, shape (g, k)
        ``w = T_i theta``.
    unexplained : array, shape (g,)
        ``s_i``, the variance of e.
    thetas : array, shape (g, d)
        The whole relation that each one's labels follow.
    """

    views: Indices
    roots: Array
    local_theta: Array
    unexplained: Array
    thetas: Array

    @classmethod
    def of_agents(cls, problem: Problem, agents: Sequence[int]) -> Samplers:
        """Some agents of a problem, all with views of one size."""
        return cls(
            np.stack([problem.views[i] for i in agents]),
            np.linalg.cholesky(np.stack([problem.geometry.block(i) for i in agents])),
            np.stack([problem.local_theta(i) for i in agents]),
            problem.unexplained[list(agents)],
            problem.thetas[list(agents)],
        )

    @classmethod
    def newcomer(cls, problem: Problem) -> Samplers:
        """One agent, not of the problem, who sees every feature."""
        return cls(
            np.arange(problem.dimension)[None],
            np.linalg.cholesky(problem.covariance)[None],
            problem.theta[None],
            np.array([problem.noise**2]),
            problem.theta[None],
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
    rng: np.random.Generator, sources: Samplers, trials: int, n: int
) -> tuple[Array, Array, Array]:
    """``X'X`` (g, t, k, k), ``X'y`` (g, t, k) and ``y'y`` (g, t) of n Gaussian samples, exactly."""
    g, k = sources.views.shape
    s = sources.unexplained[:, None]
    if k == 0:
        yy = s * rng.chisquare(n, size=(g, trials))
        return np.zeros((g, trials, 0, 0)), np.zeros((g, trials, 0)), yy
    white = wishart_root(rng, g * trials, n, k)
    rank = white.shape[1]
    # R' = U L', all trials of an agent in one product.
    coloured = white.reshape(g, trials * rank, k) @ transpose(sources.roots)
    coloured = coloured.reshape(g, trials, rank, k)
    z = rng.standard_normal((g, trials, rank))
    chi = rng.chisquare(n - rank, size=(g, trials)) if n > rank else 0.0
    xx = transpose(coloured) @ coloured
    xe = np.sqrt(s)[..., None] * (z[..., None, :] @ coloured)[..., 0, :]
    w = sources.local_theta[:, None, :]
    xx_w = (xx @ w[..., None])[..., 0]
    yy = ((xx_w + 2 * xe) * w).sum(axis=-1) + s * ((z**2).sum(axis=-1) + chi)
    return xx, xx_w + xe, yy


def raw_sums(
    rng: np.random.Generator,
    law: Law,
    root: Array,
    problem: Problem,
    view: Indices,
    trials: int,
    n: int,
    stop: Callable[[], bool],
    theta: Array | None = None,
) -> tuple[Array, Array, Array]:
    """The same for features of any law, by drawing samples in pieces of bounded size.

    Labels follow ``theta``, the problem's shared one by default.
    """
    theta = problem.theta if theta is None else theta
    k = view.size
    xx, xy, yy = np.zeros((trials, k, k)), np.zeros((trials, k)), np.zeros(trials)
    for x, e in _pieces(rng, rng, law, root, trials, n, stop):
        y = x @ theta + problem.noise * e
        seen = x[..., view]
        xx += transpose(seen) @ seen
        xy += (y[:, None, :] @ seen)[:, 0, :]
        yy += (y**2).sum(axis=1)
    return xx, xy, yy


def _pieces(
    rng: np.random.Generator,
    noise_rng: np.random.Generator,
    law: Law,
    root: Array,
    trials: int,
    n: int,
    stop: Callable[[], bool],
) -> Iterator[tuple[Array, Array]]:
    """Features (t, c, d) and unit noise (t, c) of n samples, so many at a time."""
    d = len(root)
    piece = max(1, PIECE // (trials * d))
    for start in range(0, n, piece):
        if stop():
            raise StoppedError
        count = min(piece, n - start)
        x = law.white(rng, (trials, count, d)) @ root
        yield x, noise_rng.standard_normal((trials, count))


@dataclass(frozen=True, eq=False)
class CompleteSums:
    """Sums of n samples with all features and of their unit noise, before labels are made of them.

    Any relation can be laid on them afterwards, another one in every trial too: the same people
    with other labels.

    Attributes
    ----------
    n : int
    xx : array, shape (t, d, d)
        ``X'X``.
    xe : array, shape (t, d)
        ``X'e`` for noise e of variance 1.
    ee : array, shape (t,)
        ``e'e``.
    """

    n: int
    xx: Array
    xe: Array
    ee: Array

    def labelled(self, view: Indices, theta: Array, noise: float) -> Moments:
        """Moments of who sees ``view`` when ``y = x' theta + noise e``, theta (d,) or (t, d)."""
        xx_theta = (self.xx @ theta[..., None])[..., 0]
        xy = xx_theta + noise * self.xe
        yy = ((xx_theta + 2 * noise * self.xe) * theta).sum(axis=-1) + noise**2 * self.ee
        # y'y is a sum of squares, but rounding may not know.
        return Moments(
            self.n, self.xx[..., view[:, None], view], xy[..., view], np.maximum(yy, 0.0)
        )


def complete_sums(
    rng: np.random.Generator,
    noise_rng: np.random.Generator,
    law: Law,
    root: Array,
    trials: int,
    n: int,
    stop: Callable[[], bool],
) -> CompleteSums:
    """Draw n samples with all features, for Gaussian ones exactly and without the samples.

    Parameters
    ----------
    rng, noise_rng : Generator
        Of features and of noise, apart, so that another law keeps the noise.
    root : array, shape (d, d)
        Symmetric square root of the covariance.
    """
    d = len(root)
    if law.is_gaussian:
        white = wishart_root(rng, trials, n, d)
        rank = white.shape[1]
        coloured = white @ root
        z = noise_rng.standard_normal((trials, rank))
        chi = noise_rng.chisquare(n - rank, size=trials) if n > rank else 0.0
        xe = (z[:, None, :] @ coloured)[:, 0, :]
        return CompleteSums(n, transpose(coloured) @ coloured, xe, (z**2).sum(axis=1) + chi)
    xx, xe, ee = np.zeros((trials, d, d)), np.zeros((trials, d)), np.zeros(trials)
    for x, e in _pieces(rng, noise_rng, law, root, trials, n, stop):
        xx += transpose(x) @ x
        xe += (e[:, None, :] @ x)[:, 0, :]
        ee += (e**2).sum(axis=1)
    return CompleteSums(n, xx, xe, ee)


class Collecting:
    """Agents with views of one size in a stack of trials, collecting more and more samples.

    Parameters
    ----------
    rng : Generator
    problem : Problem
    sources : Samplers
    trials : int
    law : Law
    stop : callable
        Asked between pieces of a long draw.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        problem: Problem,
        sources: Samplers,
        trials: int,
        law: Law,
        stop: Callable[[], bool],
    ) -> None:
        self._rng, self._problem, self._sources = rng, problem, sources
        self._trials, self._law, self._stop = trials, law, stop
        self._root = None if law.is_gaussian else square_root(problem.covariance)
        g, k = sources.views.shape
        self._n = 0
        self._sums = (np.zeros((g, trials, k, k)), np.zeros((g, trials, k)), np.zeros((g, trials)))

    def up_to(self, n: int) -> list[Moments]:
        """Moments of each agent's first n samples; n must not fall from call to call."""
        more = n - self._n
        if more > 0:
            new = self._draw(more)
            xx, xy, yy = (old + added for old, added in zip(self._sums, new, strict=True))
            self._sums, self._n = (xx, xy, yy), n
        return [Moments(n, *sums) for sums in zip(*self._sums, strict=True)]

    def _draw(self, n: int) -> tuple[Array, Array, Array]:
        if self._root is None:
            return gaussian_sums(self._rng, self._sources, self._trials, n)
        told = (self._rng, self._law, self._root, self._problem)
        parts = [
            raw_sums(*told, view, self._trials, n, self._stop, theta)
            for view, theta in zip(self._sources.views, self._sources.thetas, strict=True)
        ]
        xx, xy, yy = zip(*parts, strict=True)
        return np.stack(xx), np.stack(xy), np.stack(yy)


class CollectingModels:
    """Agents of whom only the local models and residuals are drawn: no matrix at all.

    ``theta_hat = w + sqrt(s / c) L z`` with ``L L' = inv(Sigma_i+)``, ``c ~ chi2(n - d_i + 1)``,
    and independently ``RSS ~ s chi2(n - d_i)``. At every n the law is exact; from n to n the
    direction z stays and c and RSS grow by what new samples add, so that curves are smooth.
    """

    def __init__(self, rng: np.random.Generator, sources: Samplers, trials: int) -> None:
        self._rng, self._sources, self._trials = rng, sources, trials
        g, k = sources.views.shape
        z = rng.standard_normal((g, trials, k))
        # inv(Sigma) = inv(root)' inv(root), so L z = inv(root)' z.
        self._directions = z @ np.linalg.inv(sources.roots)
        self._n = 0
        self._scale = np.zeros((g, trials))
        self._rss = np.zeros((g, trials))

    def up_to(self, n: int) -> list[LocalSummary]:
        """Models and residuals after n samples; n must not fall from call to call."""
        g, k = self._sources.views.shape
        shape = (g, self._trials)
        if n <= k:
            # Least squares interpolates; estimators see that from n alone and leave it out.
            nothing = np.zeros((self._trials, k))
            return [LocalSummary(n, nothing, nothing[:, :0].sum(axis=1)) for _ in range(g)]
        s = self._sources.unexplained[:, None]
        before = max(self._n, k)
        if n > before:
            # chi2(n - k + 1) and chi2(n - k) as sums of independent parts.
            first = self._n <= k
            self._scale = self._scale + self._rng.chisquare(n - before + first, shape)
            self._rss = self._rss + s * self._rng.chisquare(n - before, shape)
            self._n = n
        noise = np.sqrt(s / self._scale)[..., None] * self._directions
        theta = self._sources.local_theta[:, None, :] + noise
        return [LocalSummary(n, theta[i], self._rss[i]) for i in range(g)]
