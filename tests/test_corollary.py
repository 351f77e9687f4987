from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import collab_core as cc
from collab_core import corollary as module
from collab_core.bounds import PatternSums, corollary

from .worlds import assert_psd_order


def world(d, condition=10.0, seed=0):
    rng = np.random.default_rng(seed)
    theta = cc.coefficients.unit(d, rng)
    return cc.covariance.geometric(d, condition, rng), theta


def brute_force(covariance, theta, noise, p):
    """Expected information of one agent over all 2^d patterns, by the primal formulas."""
    d = len(theta)
    gauss, strong, fisher = np.zeros((d, d)), np.zeros((d, d)), np.zeros((d + 1, d + 1))
    for pattern in product([False, True], repeat=d):
        seen = np.flatnonzero(pattern)
        weight = p ** (d - seen.size) * (1 - p) ** seen.size
        # A second agent sees everything, so that the world is a legal problem.
        problem = cc.Problem(covariance, theta, noise, [seen, np.arange(d)])
        s, transform = problem.unexplained[0], problem.transform(0)
        information = transform.T @ problem.geometry.block(0) @ transform / s
        gauss += weight * information
        strong += weight * 2 * covariance / s
        fisher[:d, :d] += weight * information
        gradient = np.append(2 * problem.leverage[0], 1.0)
        fisher += weight * np.outer(gradient, gradient) / (2 * s**2)
    inverse = np.linalg.inv
    return inverse(gauss), inverse(strong), inverse(fisher[:d, :d]), inverse(fisher)[:d, :d]


@pytest.mark.parametrize("d", [1, 2, 4, 6])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.7])
def test_exact_sum_against_brute_force(d, p):
    covariance, theta = world(d)
    limit = corollary(covariance, theta, 0.7, p)
    gauss, strong, exact, unknown = brute_force(covariance, theta, 0.7, p)
    assert_allclose(limit.gauss, gauss, rtol=1e-8)
    assert_allclose(limit.strong, strong, rtol=1e-8)
    assert_allclose(limit.exact, exact, rtol=1e-8)
    assert_allclose(limit.exact_unknown, unknown, rtol=1e-8)
    assert_allclose(limit.ratios, eigh(gauss, strong, eigvals_only=True), rtol=1e-8)
    assert limit.exact_sum
    assert (limit.ratio_errors == 0).all()


@pytest.mark.parametrize("condition", [1.0, 3.0, 30.0])
@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_the_corollary_holds_where_its_condition_does(condition, noise):
    for seed in range(3):
        covariance, theta = world(5, condition, seed)
        sums = PatternSums(covariance, theta, noise)
        assert_allclose(
            sums.p_star, 0.5 / condition / (1 + theta @ covariance @ theta / noise**2), rtol=1e-9
        )
        for share in (0.01, 0.5, 1.0):
            limit = sums.at(share * sums.p_star)
            assert limit.condition_holds
            assert limit.ratios[-1] <= 4
            assert limit.ratios[0] >= 2 - 1e-9
            assert_psd_order(4 * limit.strong, limit.gauss)
            assert_psd_order(limit.gauss, limit.strong)


def test_the_condition_is_conservative():
    """METHOD.md: kappa = 10, unit theta, noise 1 allow p about 0.008; at 0.2 the ratio is ~3."""
    covariance, theta = world(10, 10.0)
    limit = corollary(covariance, theta, 1.0, 0.2)
    assert limit.p_star < 0.05
    assert not limit.condition_holds
    assert limit.ratios[-1] < 4


def test_ratio_is_two_when_nothing_is_missing():
    covariance, theta = world(5)
    assert_allclose(corollary(covariance, theta, 1.0, 0.0).ratios, 2.0, rtol=1e-9)


def test_finite_worlds_close_in_on_the_limit():
    covariance, theta = world(4)
    limit = corollary(covariance, theta, 1.0, 0.3)
    m, rng = 40_000, np.random.default_rng(0)
    views = cc.views.independent(m, 4, 0.3, rng)
    problem = cc.Problem(covariance, theta, 1.0, views)
    for actual, expected in (
        (m * cc.bounds.gauss(problem), limit.gauss),
        (m * cc.bounds.strong(problem), limit.strong),
        (m * cc.bounds.exact(problem), limit.exact),
    ):
        # Relative fluctuation of an average of m bounded terms is about 1/sqrt(m) = 0.005.
        assert_allclose(np.trace(actual) / np.trace(expected), 1, atol=5 / np.sqrt(m))


def test_sampling_agrees_with_the_exact_sum_within_its_error(monkeypatch):
    covariance, theta = world(10)
    exact = PatternSums(covariance, theta, 1.0)
    monkeypatch.setattr(module, "LARGEST_EXACT", 5)
    sampled = PatternSums(covariance, theta, 1.0, patterns_per_size=160, seed=1)
    assert not sampled.exact_sum
    for p in (0.1, 0.3, 0.6):
        one, other = exact.at(p), sampled.at(p)
        assert (other.ratio_errors > 0).all()
        gap = np.abs(one.ratios[[0, -1]] - other.ratios[[0, -1]])
        # Four jackknife standard errors, and the bias of an extreme eigenvalue (of the order of
        # its variance).
        assert (gap < 4 * other.ratio_errors + 0.01 * one.ratios[[0, -1]]).all()


def test_above_fourteen_features_patterns_are_sampled():
    covariance, theta = world(20)
    limit = corollary(covariance, theta, 1.0, 0.2, patterns_per_size=64)
    assert not limit.exact_sum
    assert np.isfinite(limit.ratios).all()
    again = corollary(covariance, theta, 1.0, 0.2, patterns_per_size=64)
    assert (limit.gauss == again.gauss).all()


@pytest.mark.parametrize("p", [-0.1, 1.0, 2.0, np.nan])
def test_bad_p_is_named(p):
    covariance, theta = world(3)
    with pytest.raises(ValueError, match="p must be"):
        corollary(covariance, theta, 1.0, p)


def test_hard_worlds_stay_finite():
    for condition in (1.0, 1e6):
        for p in (0.0, 0.999):
            covariance, theta = world(6, condition)
            limit = corollary(covariance, theta, 1e-3, p)
            assert np.isfinite(limit.gauss).all()
            assert limit.ratios[0] >= 2 - 1e-6
