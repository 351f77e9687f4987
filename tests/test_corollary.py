from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import collab_core as cc
from collab_core.bounds import PatternSums, corollary
from collab_core.bounds import limits as module

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


# Curves, thresholds, maps ------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 3, 8])
def test_a_curve_is_its_points(d):
    covariance, theta = world(d, 30.0)
    sums = PatternSums(covariance, theta, 0.6)
    ps = [0.0, 1e-6, 0.2, 0.9, 0.999]
    curve = sums.curve(ps)
    for i, p in enumerate(ps):
        ratios = sums.at(p).ratios
        assert_allclose([curve.low[i], curve.high[i]], ratios[[0, -1]], rtol=1e-9)
    assert list(curve.frame) == ["p", "low", "high", "low_error", "high_error"]


def test_a_curve_in_chosen_directions_is_direct_computation():
    covariance, theta = world(5, 20.0)
    sums = PatternSums(covariance, theta, 1.0)
    rng = np.random.default_rng(0)
    view = cc.geometry.Geometry(covariance, [[0, 2, 3], [0, 1, 2, 3, 4]]).transform(0)
    for rows in (rng.standard_normal((1, 5)), rng.standard_normal((3, 5)), view):
        curve = sums.curve([0.1, 0.6], rows)
        for i, p in enumerate((0.1, 0.6)):
            limit = sums.at(p)
            gauss, strong = (rows @ C @ rows.T for C in (limit.gauss, limit.strong))
            expected = eigh(gauss, strong, eigvals_only=True)
            assert_allclose([curve.low[i], curve.high[i]], expected[[0, -1]], rtol=1e-8)
    u = rng.standard_normal((1, 5))
    along = sums.threshold(4.0, u)
    assert sums.curve([along], u).high[0] == pytest.approx(4)
    assert along >= sums.threshold(4.0)
    assert_allclose(sums.curve([0.3], u).low, sums.curve([0.3], u).high)


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e6])
@pytest.mark.parametrize("noise", [0.1, 1.0, 10.0])
def test_the_threshold_is_where_the_ratio_is_four_and_beyond_p_star(condition, noise):
    covariance, theta = world(7, condition)
    sums = PatternSums(covariance, theta, noise)
    threshold = sums.threshold(4.0)
    assert sums.at(threshold).ratios[-1] == pytest.approx(4, rel=1e-6)
    assert threshold >= sums.p_star
    before = np.linspace(0, 0.999 * threshold, 50)
    assert (sums.curve(before).high < 4).all()


def test_a_ratio_never_reached_has_no_threshold_and_one_below_two_has_zero():
    sums = PatternSums(*world(3, 2.0), 1.0)
    assert sums.threshold(1e9) is None
    assert sums.threshold(1.5) == 0.0


def test_an_isotropic_world_has_its_threshold_at_one_half():
    """Sigma = I and little signal: K = (1 - p) I / s, so the ratio is 2 / (1 - p); sampled too."""
    for d in (6, 20, 40):
        theta = np.full(d, 1e-3 / np.sqrt(d))
        assert PatternSums(np.eye(d), theta, 1.0).threshold(4.0) == pytest.approx(0.5, abs=1e-4)


def test_sampled_patterns_agree_with_exact_sums_within_their_error(monkeypatch):
    covariance, theta = world(9, 30.0)
    ps = [0.01, 0.2, 0.6]
    exact = PatternSums(covariance, theta, 0.8).curve(ps)
    monkeypatch.setattr(module, "LARGEST_EXACT", 4)
    off = []
    for seed in range(20):
        curve = PatternSums(covariance, theta, 0.8, patterns_per_size=72, seed=seed).curve(ps)
        assert (curve.high_error[1:] > 0).all()
        off.append((curve.high[1:] - exact.high[1:]) / curve.high_error[1:])
    # 40 deviations in standard errors, from eight batches each: a t law with 7 degrees.
    assert np.sqrt(np.mean(np.square(off))) < 2.2
    assert np.abs(np.mean(off)) < 1.2


def test_balanced_patterns_hold_every_feature_equally_often():
    patterns = module._random_patterns(17, 5, 3, np.random.default_rng(0))
    assert patterns.shape == (51, 5)
    assert (np.bincount(patterns.ravel(), minlength=17) == 15).all()
    assert all(len(set(row)) == 5 for row in patterns.tolist())


def test_finitely_many_agents_close_in_on_the_limit():
    covariance, theta = world(6, 10.0)
    sums = PatternSums(covariance, theta, 1.0)
    limit = sums.at(0.4).ratios[-1]
    spread = []
    for agents in (30, 300, 3000):
        found = cc.bounds.finite_ratios(covariance, theta, 1.0, 0.4, agents, 12, seed=1)
        spread.append(np.abs(found[:, 1] / limit - 1).mean())
    assert spread[0] > spread[1] > spread[2]
    assert spread[2] < 0.05
    u = np.eye(6)[[2]]
    along = cc.bounds.finite_ratios(covariance, theta, 1.0, 0.4, 3000, 6, seed=1, transform=u)
    assert_allclose(along[:, 1], sums.curve([0.4], u).high[0], rtol=0.1)


def test_draws_in_which_nobody_sees_a_feature_are_left_out():
    found = cc.bounds.finite_ratios(*world(8), 1.0, 0.95, 2, 10)
    assert found.shape == (0, 2)


def test_the_map_is_each_world_by_itself_and_never_below_one():
    scenario = cc.Scenario(d=6, spikes=0, seed=2)
    reports = []
    frame = cc.threshold_map.threshold_map(
        scenario, [1.0, 100.0], [0.1, 10.0], progress=lambda share, part: reports.append(share)
    )
    assert reports == [0.25, 0.5, 0.75, 1.0]
    assert (frame["ratio"] >= 1).all()
    for row in frame.itertuples():
        there = cc.threshold_map.world_at(scenario, row.kappa, row.snr)
        sums = PatternSums(there.covariance, there.coefficients, there.sigma)
        assert sums.signal_to_noise == pytest.approx(row.snr)
        assert sums.condition_number == pytest.approx(row.kappa, rel=1e-6)
        assert row.threshold == pytest.approx(sums.threshold(4.0))
        assert row.p_star == pytest.approx(sums.p_star)


def test_a_map_without_signal_says_so():
    with pytest.raises(ValueError, match="theta must not be 0"):
        cc.threshold_map.threshold_map(cc.Scenario(d=4, spikes=0, theta_scale=0.0), [1.0], [1.0])


def test_the_chain_is_generalised_eigenvalues():
    problem = cc.Scenario(d=6, m=5, rich=2, rich_size=5, size=3, spikes=2).problem()
    gauss, middle, strong = cc.bounds.chain_ratios(problem)
    bounds = cc.bounds.gauss(problem), cc.bounds.strong(problem)
    assert_allclose(gauss, eigh(*bounds, eigvals_only=True), rtol=1e-8)
    between = np.linalg.inv((problem.covariance[None] / problem.unexplained[:, None, None]).sum(0))
    assert_allclose(middle, eigh(between, bounds[1], eigvals_only=True), rtol=1e-8)
    assert (gauss >= middle - 1e-9).all()
    assert (middle >= strong).all()
