"""COLLAB+: score, information, maximum, and what it reaches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import collab_core as cc
from collab_core.methods.likelihood import Likelihood

from .worlds import random_problem, raw_data, raw_moments


def setting(n=50, known=False, seed=0, **options):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, d=4, m=4, **options)
    data = raw_data(problem, n, rng)
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    fits = {i: m.fit for i, m in enumerate(moments)}
    model = Likelihood(fits, problem.geometry, (), known, np.arange(1))
    values = np.append(problem.phi, problem.noise**2)[None]
    return problem, data, moments, model, values


def test_likelihood_is_that_of_the_raw_labels():
    problem, data, _, model, values = setting()
    other = np.append(1.1 * problem.phi + 0.05, 0.8)[None]

    def direct(value):
        theta = np.linalg.solve(problem.covariance, value[0, :-1])
        world = cc.Problem(problem.covariance, theta, np.sqrt(value[0, -1]), problem.views)
        total = 0.0
        for i, (x, y) in enumerate(data):
            s = world.unexplained[i]
            total -= (len(y) * np.log(s) + ((y - x @ world.local_theta(i)) ** 2).sum() / s) / 2
        return total

    difference = model.point(values).log_likelihood - model.point(other).log_likelihood
    assert_allclose(difference[0], direct(values) - direct(other), rtol=1e-8)


@pytest.mark.parametrize("known", [True, False])
def test_score_against_finite_differences(known):
    problem, _, _, model, values = setting(known=known)
    rng = np.random.default_rng(1)
    values = values + 0.1 * rng.standard_normal(values.shape) ** 2
    score, _ = model.point(values).score_and_information()
    steps = 1e-5 * np.eye(5)[: score.shape[1]]
    numeric = [
        (model.point(values + e).log_likelihood - model.point(values - e).log_likelihood)[0] / 2e-5
        for e in steps
    ]
    assert_allclose(score[0], numeric, rtol=1e-5, atol=1e-4)
    assert problem.dimension == 4


def test_information_is_the_expected_square_of_the_score():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, d=3, m=3)
    trials, n = 4000, 60
    moments = raw_moments(problem, n, rng, trials=(trials,))
    model = Likelihood(
        {i: m.fit for i, m in enumerate(moments)},
        problem.geometry,
        (trials,),
        False,
        np.arange(trials),
    )
    values = np.broadcast_to(np.append(problem.phi, problem.noise**2), (trials, 4))
    score, information = model.point(values).score_and_information()
    inverse = np.linalg.inv(information[0])
    # score' I^-1 score has mean 4; its variance is near 8 (chi-squared), heavier at small n.
    distance = np.einsum("ti,ij,tj->t", score, inverse, score)
    assert abs(distance.mean() - 4) < 4 * distance.std() / np.sqrt(trials)


@pytest.mark.parametrize("noise", [None, 0.8])
def test_it_finds_the_maximum_that_a_general_optimiser_finds(noise):
    problem, _, moments, model, values = setting(n=40, known=noise is not None)
    estimate = cc.estimators.collab_plus(moments, problem.views, problem.covariance, noise=noise)
    assert estimate.converged

    def negative(parameters):
        tau = 0.64 if noise else np.exp(parameters[-1])
        phi = parameters if noise else parameters[:-1]
        return -model.point(np.append(phi, tau)[None]).objective[0]

    start = problem.phi if noise else np.append(problem.phi, np.log(0.64))
    found = minimize(negative, start, method="BFGS", options={"gtol": 1e-7})
    phi = found.x if noise else found.x[:-1]
    assert_allclose(estimate.phi, phi, rtol=1e-3, atol=1e-3)
    if not noise:
        assert_allclose(estimate.noise_variance, np.exp(found.x[-1]), rtol=1e-3)
    assert values.shape == (1, 5)


def test_given_noise_is_kept():
    problem, _, moments, *_ = setting()
    estimate = cc.estimators.collab_plus(moments, problem.views, problem.covariance, noise=0.7)
    assert_allclose(estimate.noise_variance, 0.49)


def test_everything_seen_leaves_nothing_to_gain():
    rng = np.random.default_rng(0)
    problem = cc.Problem(cc.covariance.ar1(3, 0.5), [1, 2, 3], 1.0, [np.arange(3)])
    moments = raw_moments(problem, 50, rng)
    plus = cc.estimators.collab_plus(moments, problem.views, problem.covariance)
    assert_allclose(plus.theta, moments[0].fit.theta, rtol=1e-8)


def test_hard_cases_converge_or_say_so():
    """Tiny samples, tiny and huge noise: finite, positive noise, and a flag that is honest."""
    for noise in (1e-4, 1.0, 1e4):
        for n in (9, 30):
            rng = np.random.default_rng(5)
            problem = random_problem(rng, d=6, m=5, noise=noise)
            moments = raw_moments(problem, n, rng, trials=(50,))
            plus = cc.estimators.collab_plus(moments, problem.views, problem.covariance)
            assert np.isfinite(plus.theta).all()
            assert (plus.noise_variance > 0).all()
            assert plus.converged.mean() > 0.9
    few = cc.estimators.collab_plus(moments, problem.views, problem.covariance, steps=1)
    assert not few.converged.all()
