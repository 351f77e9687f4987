"""Worlds and data that many tests share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import collab_core as cc
from collab_core.smooth import with_constant


def random_problem(rng, d=6, m=5, noise=0.8, shares=False) -> cc.Problem:
    """A small world with random correlated features in which every feature is seen."""
    root = rng.standard_normal((d, d + 2))
    covariance = root @ root.T / d + 0.2 * np.eye(d)
    mask = rng.random((m, d)) < 0.6
    mask[rng.integers(m, size=d), np.arange(d)] = True
    return cc.Problem(
        covariance,
        rng.standard_normal(d),
        noise,
        mask,
        shares=rng.uniform(0.5, 2, size=m) if shares else None,
    )


def raw_data(problem: cc.Problem, n: int, rng, trials: tuple[int, ...] = ()):
    """Labelled samples of every agent, its own columns only: a list of (X_i, y_i)."""
    root = np.linalg.cholesky(problem.covariance)
    data = []
    for view, size in zip(problem.views, problem.sample_sizes(n), strict=True):
        x = rng.standard_normal((*trials, size, problem.dimension)) @ root.T
        y = x @ problem.theta + problem.noise * rng.standard_normal((*trials, size))
        data.append((x[..., view], y))
    return data


def raw_moments(problem, n, rng, trials=()):
    return [cc.Moments.from_arrays(x, y) for x, y in raw_data(problem, n, rng, trials)]


def smallest_eigenvalue(matrix) -> float:
    return float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])


def assert_psd_order(upper, lower) -> None:
    """``upper >= lower`` in the p.s.d. order, up to rounding at the scale of the matrices."""
    scale = np.abs(upper).max() + np.abs(lower).max()
    assert smallest_eigenvalue(upper - lower) >= -1e-9 * scale


@st.composite
def problems(draw, max_features=7, max_agents=6):
    """Worlds of every shape: agents that see nothing, one feature, tiny and large noise."""
    d = draw(st.integers(1, max_features))
    m = draw(st.integers(1, max_agents))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    condition = draw(st.sampled_from([1.0, 10.0, 1e3]))
    covariance = cc.covariance.geometric(d, condition, rng) * draw(
        st.sampled_from([1e-3, 1.0, 1e3])
    )
    mask = rng.random((m, d)) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    mask[rng.integers(m, size=d), np.arange(d)] = True
    noise = draw(st.sampled_from([1e-2, 1.0, 30.0]))
    shares = rng.uniform(0.3, 3, size=m) if draw(st.booleans()) else None
    return cc.Problem(covariance, rng.standard_normal(d), noise, mask, shares)


def logistic_data(problem, n, rng, trials=(), scale=1.0, intercept=0.3):
    """Designs with a constant, and labels, of every agent; sizes by the problem's shares."""
    root = np.linalg.cholesky(problem.covariance)
    theta = scale * problem.theta / np.sqrt(problem.theta @ problem.phi)
    designs, labels = [], []
    for view, size in zip(problem.views, problem.sample_sizes(n), strict=True):
        x = rng.standard_normal((*trials, size, problem.dimension)) @ root.T
        labels.append((rng.random(x.shape[:-1]) < 1 / (1 + np.exp(-x @ theta - intercept))) * 1.0)
        designs.append(with_constant(x[..., view]))
    return designs, labels
