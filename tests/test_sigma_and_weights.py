"""Covariances that are not known, and weights beyond Gaussian features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.bounds import weights
from collab_core.core import sigma

from .worlds import assert_psd_order, random_problem, raw_data, raw_moments


def test_unlabelled_samples():
    x = np.random.default_rng(0).standard_normal((50, 3)) + 1
    assert_allclose(sigma.from_unlabelled(x), x.T @ x / 50)
    assert_allclose(sigma.from_unlabelled(x, centre=True), np.cov(x.T), rtol=1e-9)
    with pytest.raises(ValueError, match="must number at least 3"):
        sigma.from_unlabelled(x[:2])


def test_pooling_averages_every_entry_over_those_who_see_it():
    rng = np.random.default_rng(0)
    problem = cc.Problem(cc.covariance.ar1(3, 0.5), [1, 1, 1], 1, [[0, 1], [1, 2], [0, 2]])
    data = raw_data(problem, 400, rng)
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    result = sigma.pooled(moments, problem.views, 3)
    # Feature 0 is the first column of agents 0 and 2; the pair (0, 1) is agent 0's alone.
    first = np.concatenate([data[0][0][:, 0], data[2][0][:, 0]])
    assert_allclose(result.covariance[0, 0], np.mean(first**2))
    assert_allclose(result.covariance[0, 1], np.mean(data[0][0].prod(axis=1)))
    assert result.moved == 0
    assert result.pairs[0, 0] == 800
    assert result.pairs[0, 1] == 400


def test_pooled_of_a_stack_is_the_pooled_of_each():
    rng = np.random.default_rng(1)
    problem = cc.Problem(cc.covariance.ar1(3, 0.6), [1, 1, 1], 1, [[0, 1], [1, 2], [0, 2]])
    moments = raw_moments(problem, 8, rng, trials=(40,))
    stacked = sigma.pooled(moments, problem.views, 3)
    for t in range(40):
        one = sigma.pooled(
            [cc.Moments(m.n, m.xx[t], m.xy[t], m.yy[t]) for m in moments], problem.views, 3
        )
        assert_allclose(stacked.covariance[t], one.covariance, rtol=1e-9)
    # With 8 samples some are indefinite, and are repaired.
    assert (stacked.moved > 0).any()
    assert (stacked.moved == 0).any()
    assert (np.linalg.eigvalsh(stacked.covariance)[:, 0] > 0).all()


def test_repair_keeps_variances_and_says_how_far_it_moved():
    wrong = np.array([[4.0, 2.0, -2.0], [2.0, 1.0, 1.0], [-2.0, 1.0, 1.0]])
    repaired, moved = sigma.nearest_positive_definite(wrong)
    assert_allclose(np.diagonal(repaired), np.diagonal(wrong))
    assert np.linalg.eigvalsh(repaired)[0] > 0
    assert_allclose(moved, np.linalg.norm(repaired - wrong) / np.linalg.norm(wrong))
    fine = cc.covariance.ar1(3, 0.5)
    same, moved = sigma.nearest_positive_definite(fine)
    assert (same == fine).all()
    assert moved == 0
    with pytest.raises(ValueError, match="feature 1 does not vary"):
        sigma.nearest_positive_definite(np.diag([1.0, 0.0]))


def test_a_pair_nobody_sees_together_is_named():
    rng = np.random.default_rng(0)
    problem = cc.Problem(np.eye(3), [1, 1, 1], 1, [[0, 1], [2]])
    moments = raw_moments(problem, 20, rng)
    assert sigma.unseen_pairs(problem.views, 3) == [(0, 2), (1, 2)]
    with pytest.raises(ValueError, match=r"features 0 and 2 are seen together by no agent \(2"):
        sigma.pooled(moments, problem.views, 3)
    # Every local model can be had all the same: no entry between 2 and the others is read.
    believed = np.eye(3)
    other = np.eye(3)
    other[2, :2] = other[:2, 2] = 0.5
    for i in range(2):
        a, b = (cc.estimators.collab(moments, problem.views, s).local(i) for s in (believed, other))
        assert_allclose(a, b, rtol=1e-9)


def test_gaussian_features_give_gaussian_weights():
    problem = random_problem(np.random.default_rng(0), d=4, m=3)
    rng = np.random.default_rng(1)
    samples = rng.standard_normal((400_000, 4)) @ np.linalg.cholesky(problem.covariance).T
    found = weights.optimal_weights(samples, problem.geometry, problem.theta, problem.noise**2)
    for i, weight in enumerate(found):
        expected = problem.geometry.block(i) / problem.unexplained[i]
        # Fourth moments over 400,000 samples: relative error of a few parts in a thousand.
        assert_allclose(weight, expected, atol=0.03 * np.abs(expected).max())


def skewed_samples(problem, count, rng):
    """Exponential features, whitened and coloured to the problem's covariance."""
    white = rng.exponential(size=(count, problem.dimension)) - 1
    return white @ np.linalg.cholesky(problem.covariance).T


def test_optimal_weights_beat_gaussian_weights_where_theory_says_so():
    problem = random_problem(np.random.default_rng(3), d=4, m=4, noise=0.3)
    law = skewed_samples(problem, 100_000, np.random.default_rng(1))
    spread = weights.score_covariances(law, problem.geometry, problem.theta, problem.noise**2)
    best = weights.optimal_weights(law, problem.geometry, problem.theta, problem.noise**2)
    gaussian = [problem.geometry.block(i) / s for i, s in enumerate(problem.unexplained)]
    optimum = cc.bounds.weighted(problem, best, spread)
    pretended = cc.bounds.weighted(problem, gaussian, spread)
    assert_psd_order(pretended, optimum)
    assert cc.bounds.error(problem, pretended) > 1.05 * cc.bounds.error(problem, optimum)

    rng, n, trials = np.random.default_rng(2), 1500, 300
    unlabelled = skewed_samples(problem, 20_000, rng)
    errors = {"gaussian": [], "optimal": []}
    for _ in range(trials):
        moments = []
        for view in problem.views:
            x = skewed_samples(problem, n, rng)
            y = x @ problem.theta + problem.noise * rng.standard_normal(n)
            moments.append(cc.Moments.from_arrays(x[:, view], y))
        estimates = {
            "gaussian": cc.estimators.collab(
                moments, problem.views, problem.covariance, "population"
            ),
            "optimal": cc.estimators.collab_optimal(
                moments, problem.views, unlabelled, problem.covariance
            ),
        }
        for name, estimate in estimates.items():
            gap = estimate.theta - problem.theta
            errors[name].append(n * gap @ problem.covariance @ gap)
    for name, C in (("gaussian", pretended), ("optimal", optimum)):
        standard_error = np.std(errors[name]) / np.sqrt(trials)
        # Four standard errors, and what is left of order 1/n at n = 1500.
        expected = cc.bounds.error(problem, C)
        assert abs(np.mean(errors[name]) - expected) < 4 * standard_error + 0.05 * expected
    gain = np.subtract(errors["gaussian"], errors["optimal"])
    assert gain.mean() > 3 * gain.std() / np.sqrt(trials)


def test_noise_variance_from_residuals():
    problem = random_problem(np.random.default_rng(0))
    moments = raw_moments(problem, 200_000, np.random.default_rng(1))
    fits = {i: m.fit for i, m in enumerate(moments)}
    found = weights.noise_variance(fits, problem.geometry, problem.phi)
    assert_allclose(found, problem.noise**2, rtol=0.05)
    # A plug-in that explains more than everything cannot make the noise negative.
    assert weights.noise_variance(fits, problem.geometry, 10 * problem.phi) > 0
