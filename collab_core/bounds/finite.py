"""Corollary 4.4 with finitely many agents, drawn again and again."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._base.checks import Array, covariance_matrix, finite_array, whole
from ..core.problem import Problem
from ..world.views import independent, unseen_features
from .limits import PatternSums


def finite_ratios(
    covariance: ArrayLike,
    theta: ArrayLike,
    noise: float,
    p: float,
    agents: int,
    draws: int,
    seed: int = 0,
    transform: ArrayLike | None = None,
) -> Array:
    """Smallest and largest ratio of C_gauss to C_strong among finitely many random agents.

    Returns
    -------
    array, shape (draws, 2)
        Only of draws in which every feature is seen by somebody, so there may be fewer rows.
    """
    matrix = covariance_matrix(finite_array("covariance", covariance, ndim=2))
    d = matrix.shape[0]
    whole("draws", draws, low=1)
    rng = np.random.default_rng(whole("seed", seed, low=0))
    factor = np.linalg.cholesky(matrix)
    rows = None if transform is None else finite_array("transform", transform, ndim=2)
    basis = None if rows is None else np.linalg.qr(np.linalg.solve(factor, rows.T))[0]
    found = []
    for _ in range(draws):
        views = independent(agents, d, p, rng)
        if unseen_features(views, d).size:
            continue
        problem = Problem(matrix, theta, noise, views)
        rate = 2 * (1 / problem.unexplained).sum()
        inner = factor.T @ problem.information @ factor
        if basis is None:
            found.append(rate / np.linalg.eigvalsh(inner)[[-1, 0]])
        else:
            seen = np.linalg.eigvalsh(basis.T @ np.linalg.solve(inner, basis))
            found.append(rate * seen[[0, -1]])
    return np.array(found).reshape(-1, 2)


def finite_draws(
    sums: PatternSums,
    ps: ArrayLike,
    agents: int,
    *,
    transform: ArrayLike | None = None,
    places: int = 9,
    draws: int = 6,
    seed: int = 0,
    progress: Callable[[float, pd.DataFrame], None] | None = None,
    cancel: Event | None = None,
) -> pd.DataFrame:
    """`finite_ratios` at some of many p, to be seen beside `PatternSums.curve`.

    Parameters
    ----------
    sums : PatternSums
        Of the world.
    ps : array, shape (c,)
    agents : int
        How many there are; with none there are no draws.
    transform : array, shape (k, d), optional
        As in `PatternSums.curve`.
    places : int
        How many of the p are looked at, evenly from the first to the last.
    draws : int
        At each of them.
    progress : callable, optional
        Told the fraction done and the rows so far, the first time before there are any.
    cancel : Event, optional
        When set, the rows so far are returned.

    Returns
    -------
    DataFrame
        ``p``, ``low`` and ``high``, a row a draw.
    """
    grid = finite_array("ps", ps, ndim=1)
    chosen = grid[np.linspace(0, grid.size - 1, whole("places", places, low=1)).astype(int)]
    report = progress or (lambda fraction, rows: None)
    found = pd.DataFrame({"p": [], "low": [], "high": []})
    report(0.0, found)
    for done, p in enumerate(chosen if whole("agents", agents, low=0) else [], start=1):
        if cancel is not None and cancel.is_set():
            break
        ratios = finite_ratios(
            sums.covariance, sums.theta, sums.noise, float(p), agents, draws, seed, transform
        )
        drawn = pd.DataFrame({"p": p, "low": ratios[:, 0], "high": ratios[:, 1]})
        found = pd.concat([found, drawn], ignore_index=True)
        report(done / chosen.size, found)
    return found
