"""What simulation must show: estimators reach their bounds, intervals cover at their level.

Fixed seeds; every tolerance is a stated number of Monte-Carlo standard errors.
"""

import numpy as np
import pytest

import collab_core as cc
from collab_core.bounds import covariances as bounds
from collab_core.methods import estimators

from .worlds import random_problem, raw_moments

TRIALS, N = 3000, 1500
STANDARD_ERRORS = 4


@pytest.fixture(scope="module")
def problem():
    return random_problem(np.random.default_rng(11), d=4, m=4, noise=0.7)


@pytest.fixture(scope="module")
def moments(problem):
    rng = np.random.default_rng(12)
    parts = [raw_moments(problem, N, rng, trials=(TRIALS // 20,)) for _ in range(20)]
    return [
        cc.Moments(N, *(np.concatenate([getattr(part[i], name) for part in parts])
                        for name in ("xx", "xy", "yy")))
        for i in range(problem.agents)
    ]  # fmt: skip


def assert_reaches(problem, theta, C):
    """Variance of the estimate in many directions, and its prediction error, match C / n."""
    gap = np.sqrt(N) * (theta - problem.theta)
    directions = np.vstack([np.eye(problem.dimension), np.linalg.eigh(C)[1].T])
    actual = ((gap @ directions.T) ** 2).mean(axis=0)
    expected = np.einsum("qi,ij,qj->q", directions, C, directions)
    # The square of a normal has relative standard deviation sqrt(2).
    tolerance = STANDARD_ERRORS * np.sqrt(2 / TRIALS) + 10 / N
    np.testing.assert_allclose(actual / expected, 1, atol=tolerance)
    errors = ((gap @ problem.covariance) * gap).sum(axis=1)
    slack = STANDARD_ERRORS * errors.std() / np.sqrt(TRIALS) + 10 / N * errors.mean()
    assert abs(errors.mean() - bounds.error(problem, C)) < slack


@pytest.mark.parametrize("weights", ["empirical", "population"])
def test_collab_reaches_c_gauss(problem, moments, weights):
    estimate = estimators.collab(moments, problem.views, problem.covariance, weights)
    assert_reaches(problem, estimate.theta, bounds.gauss(problem))


@pytest.mark.parametrize("known", [True, False])
def test_collab_plus_reaches_c_exact(problem, moments, known):
    noise = problem.noise if known else None
    plus = estimators.collab_plus(moments, problem.views, problem.covariance, noise)
    assert plus.converged.all()
    assert_reaches(problem, plus.theta, bounds.exact(problem, noise_known=known))
    # The bounds are far enough apart here for that to mean something.
    gain = bounds.error(problem, bounds.gauss(problem)) / bounds.error(
        problem, bounds.exact(problem, noise_known=known)
    )
    assert gain > 1 + 2 * STANDARD_ERRORS * np.sqrt(2 / TRIALS / problem.dimension)


def test_imputation_reaches_its_covariance(problem, moments):
    equal = estimators.global_imputation(moments, problem.views, problem.covariance)
    assert_reaches(problem, equal.theta, bounds.imputation(problem))
    identity = [np.eye(size) for size in problem.sizes]
    plain = estimators.aggregate(moments, problem.views, problem.covariance, identity)
    assert_reaches(problem, plain.theta, bounds.weighted(problem, identity))


def test_naive_average_levels_out_at_its_floor(problem, moments):
    limit = bounds.naive_collab(problem)
    gap = estimators.naive_collab(moments, problem.views, problem.dimension).theta - problem.theta
    errors = ((gap @ problem.covariance) * gap).sum(axis=1)
    expected = limit.floor + bounds.error(problem, limit.covariance) / N
    slack = STANDARD_ERRORS * errors.std() / np.sqrt(TRIALS) + 10 / N**2 * N * 0.01
    assert abs(errors.mean() - expected) < slack
    assert limit.floor > 10 * bounds.error(problem, bounds.gauss(problem)) / N


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("method", ["collab", "population", "collab_plus", "imputation"])
def test_intervals_cover_at_their_level(problem, moments, method, level):
    arguments = (moments, problem.views, problem.covariance)
    estimate = {
        "collab": lambda: estimators.collab(*arguments),
        "population": lambda: estimators.collab(*arguments, weights="population"),
        "collab_plus": lambda: estimators.collab_plus(*arguments),
        "imputation": lambda: estimators.global_imputation(*arguments),
    }[method]()
    combination = np.random.default_rng(0).standard_normal(problem.dimension)
    targets = [
        (estimate.interval(level), problem.theta),
        (estimate.interval(level, agent=0), problem.local_theta(0)),
        (estimate.interval(level, combination=combination), combination @ problem.theta),
    ]
    tolerance = STANDARD_ERRORS * np.sqrt(level * (1 - level) / TRIALS) + 2 / N
    for (low, high), truth in targets:
        covered = ((low <= truth) & (truth <= high)).mean(axis=0)
        np.testing.assert_allclose(covered, level, atol=tolerance)


def test_interval_coverage_at_small_samples():
    """The covariance is conditional on the features and exact in n but for the residuals."""
    rng = np.random.default_rng(0)
    problem = random_problem(rng, d=4, m=4)
    n, trials = 40, 4000
    moments = raw_moments(problem, n, rng, trials=(trials,))
    low, high = estimators.collab(moments, problem.views, problem.covariance).interval(0.95)
    covered = ((low <= problem.theta) & (problem.theta <= high)).mean(axis=0)
    # Residuals of about 37 degrees of freedom stand in for s_i: a few tenths of a percent.
    assert (covered > 0.95 - 0.02 - STANDARD_ERRORS * np.sqrt(0.0475 / trials)).all()


def test_collab_plus_uses_what_an_agent_that_sees_nothing_knows():
    """Such an agent adds to C_exact, so it must add to COLLAB+."""
    problem = cc.Problem([[1, 0.5], [0.5, 1]], [1, 1.5], 1.0, [[0, 1], []], shares=[1, 3])
    moments = raw_moments(problem, N, np.random.default_rng(0), trials=(TRIALS,))
    plus = estimators.collab_plus(moments, problem.views, problem.covariance)
    assert_reaches(problem, plus.theta, bounds.exact(problem, noise_known=False))
    assert bounds.error(problem, bounds.exact(problem, noise_known=False)) < 0.9 * bounds.error(
        problem, bounds.gauss(problem)
    )
