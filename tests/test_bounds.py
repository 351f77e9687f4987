from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core import bounds

from .worlds import assert_psd_order, problems, random_problem

SEEDS = st.integers(0, 2**32 - 1)


def random_weights(problem, rng):
    weights = []
    for size in problem.sizes:
        root = rng.standard_normal((size, size + 1))
        weights.append(root @ root.T + 0.05 * np.eye(size))
    return weights


def optimal_weights(problem):
    return [problem.geometry.block(i) / s for i, s in enumerate(problem.unexplained)]


# Order: what the paper proves, as inequalities ---------------------------------------------------


@given(problems(), SEEDS)
def test_no_weights_beat_the_gaussian_ones(problem, seed):
    best = bounds.gauss(problem)
    weights = random_weights(problem, np.random.default_rng(seed))
    assert_psd_order(bounds.weighted(problem, weights), best)
    assert_allclose(
        bounds.weighted(problem, optimal_weights(problem)), best,
        rtol=1e-6, atol=1e-9 * np.abs(best).max(),
    )  # fmt: skip


@given(problems(), SEEDS)
def test_global_imputation_is_never_better(problem, seed):
    best = bounds.gauss(problem)
    alphas = np.random.default_rng(seed).uniform(0.01, 10, size=problem.agents)
    assert_psd_order(bounds.imputation(problem, alphas), best)
    assert_psd_order(bounds.imputation(problem), best)
    assert_allclose(
        bounds.imputation(problem, 1 / problem.unexplained), best,
        rtol=1e-6, atol=1e-9 * np.abs(best).max(),
    )  # fmt: skip


@given(problems())
def test_working_together_is_never_worse_than_alone(problem):
    together = bounds.gauss(problem)
    for i in range(problem.agents):
        if problem.sizes[i]:
            assert_psd_order(bounds.local_ols(problem, i), bounds.local(problem, together, i))


@given(problems())
def test_the_chain_of_bounds(problem):
    chain = [
        bounds.gauss(problem),
        bounds.exact(problem, noise_known=False),
        bounds.exact(problem, noise_known=True),
        bounds.strong(problem),
    ]
    for upper, lower in pairwise(chain):
        assert_psd_order(upper, lower)
    # The paper's own chain: C_gauss >= (sum Sigma/s_i)^-1 >= C_strong.
    assert_psd_order(chain[0], 2 * chain[3])


# Two routes to the same place --------------------------------------------------------------------


@given(problems())
def test_gauss_is_the_sum_over_transforms(problem):
    information = sum(
        share * problem.transform(i).T @ weight @ problem.transform(i)
        for i, (share, weight) in enumerate(
            zip(problem.shares, optimal_weights(problem), strict=True)
        )
    )
    product = bounds.gauss(problem) @ information
    assert_allclose(product, np.eye(problem.dimension), atol=1e-6)


@given(problems())
def test_exact_bound_is_the_inverse_fisher_information(problem):
    """Block by block as in the derivation: theta and noise^2, before any elimination."""
    d = problem.dimension
    fisher = np.zeros((d + 1, d + 1))
    for i, (share, s) in enumerate(zip(problem.shares, problem.unexplained, strict=True)):
        transform = problem.transform(i)
        fisher[:d, :d] += share * transform.T @ problem.geometry.block(i) @ transform / s
        gradient = np.append(2 * problem.leverage[i], 1.0)
        fisher += share * np.outer(gradient, gradient) / (2 * s**2)
    scale = np.sqrt(np.diagonal(fisher))
    unit = fisher / np.outer(scale, scale)
    unknown = np.linalg.inv(unit)[:d, :d] / np.outer(scale[:d], scale[:d])
    known = np.linalg.inv(unit[:d, :d]) / np.outer(scale[:d], scale[:d])
    for actual, expected in (
        (bounds.exact(problem, noise_known=False), unknown),
        (bounds.exact(problem), known),
    ):
        assert_allclose(actual, expected, rtol=1e-5, atol=1e-8 * np.abs(expected).max())


def test_exact_bound_by_numerical_differentiation():
    """Fisher information as the curvature of the Kullback-Leibler divergence, sample by sample."""
    problem = random_problem(np.random.default_rng(0), d=3, m=3)

    def law(theta, tau):
        """Mean map and variance of y given what agent i sees."""
        moved = cc.Problem(problem.covariance, theta, np.sqrt(tau), problem.views)
        return [(moved.local_theta(i), moved.unexplained[i]) for i in range(3)]

    truth = law(problem.theta, problem.noise**2)

    def divergence(step):
        total = 0.0
        moved = law(problem.theta + step[:3], problem.noise**2 + step[3])
        for i, ((mean, s), (mean1, s1)) in enumerate(zip(truth, moved, strict=True)):
            gap = mean1 - mean
            shift = gap @ problem.geometry.block(i) @ gap
            total += (np.log(s1 / s) + (s + shift) / s1 - 1) / 2
        return total

    h, basis = 1e-4, np.eye(4)
    hessian = [
        [
            (divergence(h * (a + b)) - divergence(h * (a - b)) - divergence(h * (b - a))
             + divergence(-h * (a + b))) / (4 * h * h)
            for b in basis
        ]
        for a in basis
    ]  # fmt: skip
    fisher = np.array(hessian)
    assert_allclose(bounds.exact(problem), np.linalg.inv(fisher[:3, :3]), rtol=1e-4)
    assert_allclose(
        bounds.exact(problem, noise_known=False), np.linalg.inv(fisher)[:3, :3], rtol=1e-4
    )


@given(problems())
def test_local_errors_are_traces(problem):
    C = bounds.gauss(problem)
    for i in range(problem.agents):
        expected = np.trace(problem.geometry.block(i) @ bounds.local(problem, C, i))
        assert_allclose(bounds.error(problem, C, i), expected, rtol=1e-6, atol=1e-12)
    assert_allclose(bounds.error(problem, C), np.trace(problem.covariance @ C))


def test_shares_are_sample_sizes():
    rng = np.random.default_rng(0)
    plain = random_problem(rng)
    double = cc.Problem(
        plain.covariance, plain.theta, plain.noise, plain.views, shares=[2.0] * plain.agents
    )
    for bound in (bounds.gauss, bounds.strong, bounds.exact, bounds.imputation):
        assert_allclose(bound(double), bound(plain) / 2, rtol=1e-9)
    # Two agents with one view are one agent with the samples of both.
    twice = cc.Problem(plain.covariance, plain.theta, plain.noise, [*plain.views, plain.views[0]])
    shares = np.ones(plain.agents)
    shares[0] = 2
    merged = cc.Problem(plain.covariance, plain.theta, plain.noise, plain.views, shares=shares)
    for bound in (bounds.gauss, bounds.strong, bounds.exact):
        assert_allclose(bound(twice), bound(merged), rtol=1e-9)


@given(problems(), SEEDS)
def test_bounds_follow_relabelling_and_rescaling(problem, seed):
    rng = np.random.default_rng(seed)
    order, scale = rng.permutation(problem.dimension), rng.uniform(0.1, 10, problem.dimension)
    place = np.argsort(order)
    moved = cc.Problem(
        (problem.covariance * np.outer(scale, scale))[np.ix_(order, order)],
        (problem.theta / scale)[order],
        problem.noise,
        [place[view] for view in problem.views],
        problem.shares,
    )
    for bound in (bounds.gauss, bounds.strong, bounds.exact, bounds.imputation):
        C = bound(problem)
        expected = (C / np.outer(scale, scale))[np.ix_(order, order)]
        assert_allclose(bound(moved), expected, rtol=1e-5, atol=1e-7 * np.abs(expected).max())
        assert_allclose(bounds.error(moved, bound(moved)), bounds.error(problem, C), rtol=1e-5)


@given(problems(), SEEDS)
def test_order_of_agents_does_not_matter(problem, seed):
    order = np.random.default_rng(seed).permutation(problem.agents)
    moved = cc.Problem(
        problem.covariance, problem.theta, problem.noise,
        [problem.views[i] for i in order], problem.shares[order],
    )  # fmt: skip
    for bound in (bounds.gauss, bounds.strong, bounds.exact, bounds.imputation):
        C = bound(problem)
        assert_allclose(bound(moved), C, rtol=1e-6, atol=1e-9 * np.abs(C).max())


def test_everything_seen():
    problem = cc.Problem(cc.covariance.ar1(3, 0.4), [1, 2, 3], 2.0, np.ones((5, 3), bool))
    expected = 4 / 5 * np.linalg.inv(problem.covariance)
    for C in (bounds.gauss(problem), bounds.exact(problem), bounds.exact(problem, False)):
        assert_allclose(C, expected, rtol=1e-9, atol=1e-14)
    assert_allclose(bounds.strong(problem), expected / 2, rtol=1e-9, atol=1e-14)
    assert_allclose(bounds.local_ols(problem, 0), 5 * expected, rtol=1e-9, atol=1e-14)


# Naive averages, finite samples, communication ---------------------------------------------------


def test_naive_floor_by_hand():
    problem = cc.Problem([[1, 0.8], [0.8, 1]], [1, -1], 0.5, [[0], [1]])
    limit = bounds.naive_collab(problem)
    # T_0 theta = 1 - 0.8, and half of it is the average over two agents.
    assert_allclose(limit.theta, [0.1, -0.1])
    gap = np.array([-0.9, 0.9])
    assert_allclose(limit.floor, gap @ problem.covariance @ gap)
    assert_allclose(np.diagonal(limit.covariance), 0.61 / 4)


@given(problems())
def test_optimized_naive_floor_is_the_lowest(problem):
    best, plain = bounds.optimized_naive_collab(problem), bounds.naive_collab(problem)
    assert best.floor <= plain.floor + 1e-9 * (1 + plain.floor)
    gap = best.weights @ problem.embedded - problem.theta
    gradient = problem.embedded @ problem.covariance @ gap
    assert_allclose(gradient, 0, atol=1e-6 * (1 + problem.theta @ problem.phi))


def test_local_ols_error_is_exact():
    problem = random_problem(np.random.default_rng(0))
    i, n = 0, int(problem.sizes[0]) + 5
    expected = problem.unexplained[i] * problem.sizes[i] / (n - problem.sizes[i] - 1)
    assert_allclose(bounds.local_ols_error(problem, i, n), expected)
    with pytest.raises(ValueError, match="more than"):
        bounds.local_ols_error(problem, i, int(problem.sizes[i]) + 1)


def test_communication_counts():
    problem = cc.Problem(np.eye(4), np.ones(4), 1.0, [[0, 1, 2], [3], []])
    frame = bounds.communication(problem, n=100)
    assert frame.loc["collab", "up"].tolist() == [3 + 6 + 1, 1 + 1 + 1, 0]
    assert frame.loc["collab", "down"].tolist() == [3, 1, 0]
    assert frame.loc["collab_plus", "up"].tolist() == [10, 3, 1]
    assert frame.loc["local_imputation", "down"].tolist() == [13, 11, 10]
    assert frame.loc["imputation", "up"].tolist() == [400, 200, 0]
    assert (frame.loc["local"] == 0).all()
    assert set(frame.index) == set(cc.methods.keys())
    in_bytes = bounds.communication(problem, n=100, unit="bytes")
    assert (in_bytes == 8 * frame).all().all()
    later = bounds.communication(problem, n=10_000)
    grows = (later != frame).any(axis=1)
    assert set(grows[grows].index) == {"imputation", "rw_imputation"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: bounds.weighted(p, [np.eye(2)]), "weights must hold 5 matrices"),
        (lambda p: bounds.weighted(p, [np.eye(9)] * 5), r"weights\[0\] must be"),
        (lambda p: bounds.imputation(p, [1, 2]), "alphas must have 5 entries"),
        (lambda p: bounds.imputation(p, [1, 1, 1, 1, -1]), "alphas must be above 0"),
        (lambda p: bounds.local_ols(p, 5), "agent must be a whole number from 0 to 4, got 5"),
        (lambda p: bounds.local(p, np.eye(6), -1), "agent must be"),
        (lambda p: bounds.communication(p, 0), "n must be above 0"),
        (lambda p: bounds.communication(p, 9, unit="pages"), "unit must be one of"),
        (lambda p: bounds.weighted(p, [np.zeros((k, k)) for k in p.sizes]), "without weight"),
    ],
)
def test_bad_input_is_named(call, message):
    problem = random_problem(np.random.default_rng(2))
    with pytest.raises(ValueError, match=message):
        call(problem)
