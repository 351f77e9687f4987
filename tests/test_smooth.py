"""Models of smooth losses: COLLAB exactly for squared loss, theorems for log-loss, who is in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import collab_core as cc
from collab_core.core.estimate import NotEstimableError
from collab_core.smooth import (
    SQUARED,
    FeatureLayout,
    collab,
    fit,
    imputation,
    naive,
    pooled,
    with_constant,
)

from .worlds import logistic_data, problems, random_problem, raw_data

RNG = np.random.default_rng


# Squared loss is COLLAB ---------------------------------------------------------------------------


@given(problems(max_features=6, max_agents=5), st.integers(0, 1000), st.sampled_from([(), (3,)]))
def test_squared_loss_over_own_features_is_collab(problem, seed, trials):
    """Algorithm 1's weights, agents of unequal size, one data set or a stack of trials."""
    n = int(np.ceil(((problem.sizes + 8) / problem.shares).max()))
    data = raw_data(problem, n, RNG(seed), trials)
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    expected = cc.estimators.collab(moments, problem.views, problem.covariance)
    fits = [fit(x, y, SQUARED, intercept=False) for x, y in data]
    layout = FeatureLayout(problem.covariance, problem.views, "none")
    found = collab([x for x, _ in data], fits, layout, SQUARED)
    assert found.converged.all()
    size = np.sqrt(np.diagonal(problem.covariance))
    scale = np.abs(expected.theta * size).max() + 1e-12
    np.testing.assert_allclose(found.theta * size, expected.theta * size, atol=1e-6 * scale)
    for i, moment in enumerate(moments):
        np.testing.assert_allclose(fits[i].loss, moment.fit.residual, rtol=1e-6)
        own = size[problem.views[i]]
        np.testing.assert_allclose(
            found.local(i) * own, expected.local(i) * own, atol=2e-6 * scale * problem.dimension
        )


def test_squared_loss_over_a_pool_is_collab_with_the_pools_covariance():
    rng = RNG(3)
    problem = random_problem(rng, shares=True)
    data = raw_data(problem, 60, rng)
    pool = rng.multivariate_normal(np.zeros(6), problem.covariance, 500)
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    weights = [
        pool[:, v].T @ pool[:, v] / 500 / m.fit.residual
        for v, m in zip(problem.views, moments, strict=True)
    ]
    expected = cc.estimators.aggregate(moments, problem.views, problem.covariance, weights)
    fits = [fit(x, y, SQUARED, intercept=False) for x, y in data]
    layout = FeatureLayout(problem.covariance, problem.views, "none")
    found = collab([pool[:, v] for v in problem.views], fits, layout, SQUARED)
    np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-6, atol=1e-8)


def test_an_agent_that_interpolates_is_left_out_as_by_collab():
    rng = RNG(6)
    problem = random_problem(rng)
    data = raw_data(problem, 40, rng)
    k = problem.sizes.argmax()
    data[k] = (data[k][0][: problem.sizes[k]], data[k][1][: problem.sizes[k]])
    # Everything is still seen by somebody else.
    problem = cc.Problem(problem.covariance, problem.theta, 1.0, problem.views)
    others = np.delete(problem.mask, k, axis=0).any(axis=0)
    assert others.all()
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    expected = cc.estimators.collab(moments, problem.views, problem.covariance)
    assert [entry.agent for entry in expected.left_out] == [k]
    fits = [fit(x, y, SQUARED, intercept=False) for x, y in data]
    layout = FeatureLayout(problem.covariance, problem.views, "none")
    found = collab([x for x, _ in data], fits, layout, SQUARED)
    assert np.flatnonzero(found.left_out).tolist() == [k]
    np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-6, atol=1e-8)


def test_a_shared_intercept_with_squared_loss_is_a_feature_that_everybody_sees():
    rng = RNG(4)
    problem = random_problem(rng)
    data = [(with_constant(x), y + 2.0) for x, y in raw_data(problem, 80, rng)]
    whole = np.zeros((7, 7))
    whole[0, 0], whole[1:, 1:] = 1.0, problem.covariance
    views = [np.append(0, 1 + view) for view in problem.views]
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    expected = cc.estimators.collab(moments, views, whole).theta
    fits = [fit(x, y, SQUARED) for x, y in data]
    found = collab(
        [x for x, _ in data], fits, FeatureLayout(problem.covariance, problem.views), SQUARED
    )
    np.testing.assert_allclose(found.full(), expected, rtol=1e-6, atol=1e-8)
    layout = FeatureLayout(problem.covariance, problem.views)
    other = imputation([x for x, _ in data], [y for _, y in data], layout, SQUARED)
    assert np.abs(other.theta - expected).max() > 1e-4
    alphas = cc.estimators.global_imputation(moments, views, whole).theta
    np.testing.assert_allclose(other.theta, alphas, rtol=1e-6, atol=1e-8)


def test_naive_average_of_squared_loss_is_naive_collab():
    rng = RNG(5)
    problem = random_problem(rng)
    data = raw_data(problem, 50, rng, (2,))
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    expected = cc.estimators.naive_collab(moments, problem.views, 6)
    fits = [fit(x, y, SQUARED, intercept=False) for x, y in data]
    found = naive(fits, FeatureLayout(problem.covariance, problem.views, "none"))
    np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.local(2), expected.local(2), rtol=1e-8, atol=1e-10)


# Logistic ----------------------------------------------------------------------------------------


def test_over_own_features_the_proposal_is_weighted_imputed_regression():
    """Exact, because an agent's own fit has X'(y - p) = 0."""
    rng = RNG(8)
    problem = random_problem(rng, shares=True)
    designs, labels = logistic_data(problem, 120, rng, (3,))
    fits = [fit(x, y) for x, y in zip(designs, labels, strict=True)]
    assert not any(one.regularised.any() for one in fits)
    layout = FeatureLayout(problem.covariance, problem.views)
    found = collab(designs, fits, layout)
    pooled_data = imputation(designs, labels, layout, weights=[1 / one.loss for one in fits])
    np.testing.assert_allclose(found.theta, pooled_data.theta, atol=1e-7)
    # The weights do matter: without them it is another estimate.
    assert np.abs(found.theta - imputation(designs, labels, layout).theta).max() > 1e-4
    # And imputation is logistic regression on features that are really imputed.
    imputed = np.concatenate([x @ layout.transforms[i] for i, x in enumerate(designs)], axis=-2)
    plain = fit(imputed, np.concatenate(labels, axis=-1))
    np.testing.assert_allclose(imputation(designs, labels, layout).theta, plain.theta, atol=1e-7)


def test_a_ridge_anywhere_parts_the_proposal_from_imputed_regression():
    """X'(y - p) = 0 only at a finite minimum: the theorem needs one for every agent."""
    rng = RNG(8)
    problem = random_problem(rng)
    designs, labels = logistic_data(problem, 120, rng)
    labels[0] = (designs[0][:, 1] > 0) * 1.0
    fits = [fit(x, y) for x, y in zip(designs, labels, strict=True)]
    assert [bool(one.regularised) for one in fits] == [True] + [False] * (len(fits) - 1)
    layout = FeatureLayout(problem.covariance, problem.views)
    weights = [1 / one.loss for one in fits]
    other = imputation(designs, labels, layout, weights=weights)
    assert np.abs(collab(designs, fits, layout).theta - other.theta).max() > 0.01


def test_everybody_seeing_everything_gives_back_one_fit_for_one_agent():
    rng = RNG(9)
    problem = cc.Problem(np.eye(3), [1.0, -1, 0.5], 1.0, [[0, 1, 2]])
    designs, labels = logistic_data(problem, 100, rng)
    one = fit(designs[0], labels[0])
    layout = FeatureLayout(problem.covariance, problem.views)
    np.testing.assert_allclose(collab(designs, [one], layout).theta, one.theta, atol=1e-8)
    bent = collab(designs, [one], layout, attenuated=True)
    np.testing.assert_allclose(bent.theta, one.theta, atol=1e-8)


def test_own_intercepts_are_everybodys_own_and_slopes_are_shared():
    rng = RNG(10)
    x = [rng.standard_normal((400, 2)) for _ in range(3)]
    y = [
        (rng.random(400) < 1 / (1 + np.exp(-(a + part @ [1.0, -1.0])))) * 1.0
        for a, part in zip((-1.0, 0.0, 1.0), x, strict=True)
    ]
    designs = [with_constant(part) for part in x]
    together = pooled(designs, y, own_intercepts=True)
    theta = together.theta
    assert theta.shape == (5,)
    assert not together.regularised
    dummies = np.concatenate(
        [np.column_stack([np.tile(np.eye(3)[i], (400, 1)), x[i]]) for i in range(3)]
    )
    plain = fit(dummies, np.concatenate(y), intercept=False)
    np.testing.assert_allclose(theta, plain.theta, atol=1e-7)
    np.testing.assert_allclose(together.loss, plain.loss, rtol=1e-10)
    shared = pooled(designs, y)
    assert shared.theta.shape == (3,)


# Attenuation -------------------------------------------------------------------------------------


def test_attenuation_is_what_averaging_over_the_unseen_does():
    """Large-sample fits of an agent against the probit approximation, and against linear T."""
    rng = RNG(11)
    problem = cc.Problem([[1, 0.3], [0.3, 1]], [1.5, 2.5], 1.0, [[0], [0, 1]])
    world = cc.smooth.LogisticWorld(problem)
    x, y = world.draw(rng, (400_000,))
    limit = fit(with_constant(x[:, [0]]), y).theta
    plain = problem.local_theta(0)[0]
    attenuated = world.best_model(0)
    # Standard error of the slope is about 0.005; the approximation is good to 3%.
    assert abs(limit[1] / attenuated[1] - 1) < 0.03
    assert limit[1] < 0.75 * plain


def test_the_attenuated_server_finds_the_truth_where_the_linear_one_is_biased():
    rng = RNG(12)
    covariance = cc.covariance.ar1(4, 0.3)
    problem = cc.Problem(covariance, [1.5, -1.5, 1, 1], 1.0, [[0, 1], [1, 2], [2, 3], [0, 3]])
    world = cc.smooth.LogisticWorld(problem, signal=3.0)
    data = [world.draw(rng, (40_000,)) for _ in range(4)]
    designs = [with_constant(x[:, v]) for (x, _), v in zip(data, problem.views, strict=True)]
    fits = [fit(x, y) for x, (_, y) in zip(designs, data, strict=True)]
    layout = world.layout
    linear = collab(designs, fits, layout).full()
    bent = collab(designs, fits, layout, attenuated=True).full()
    off = [np.linalg.norm(model[1:] - world.theta) for model in (linear, bent)]
    assert off[1] < 0.25 * off[0]
    np.testing.assert_allclose(
        bent[1:] / np.linalg.norm(bent[1:]), world.theta / np.linalg.norm(world.theta), atol=0.05
    )


# Trouble -----------------------------------------------------------------------------------------


def test_one_class_agents_get_an_intercept_and_are_left_out():
    rng = RNG(15)
    problem = cc.Problem(np.eye(2), [1.0, 1.0], 1.0, [[0, 1], [0, 1]])
    designs, labels = logistic_data(problem, 50, rng)
    labels[1] = np.ones_like(labels[1])
    fits = [fit(x, y) for x, y in zip(designs, labels, strict=True)]
    assert fits[1].one_class
    np.testing.assert_allclose(fits[1].theta, [np.log(50.5 / 0.5), 0, 0])
    layout = FeatureLayout(problem.covariance, problem.views)
    found = collab(designs, fits, layout)
    assert found.left_out.tolist() == [False, True]
    np.testing.assert_allclose(found.theta, fits[0].theta, atol=1e-7)
    np.testing.assert_allclose(naive(fits, layout).theta, fits[0].theta)
    apart = collab(designs, fits, FeatureLayout(problem.covariance, problem.views, "own"))
    np.testing.assert_allclose(apart.full(1), [np.log(50.5 / 0.5), *fits[0].theta[1:]], atol=1e-7)
    np.testing.assert_allclose(apart.full(0), fits[0].theta, atol=1e-7)
    with pytest.raises(NotEstimableError, match="one class"):
        collab(designs[1:] * 2, [fits[1]] * 2, layout)


@pytest.mark.parametrize("attenuated", [False, True])
def test_with_one_agent_a_column_of_zeros_changes_nothing(attenuated):
    """As on census records: a level that nobody of the sample had, behind a T that rounds."""
    rng = RNG(21)
    covariance = cc.covariance.ar1(6, 0.7) * np.outer(*[[1, 2, 5, 0.1, 1, 1]] * 2)
    problem = cc.Problem(covariance, np.ones(6), 1.0, [rng.permutation(6)])
    x = rng.multivariate_normal(np.zeros(6), covariance, 80)
    x[:, [2, 5]] = 0
    design = with_constant(x[:, problem.views[0]])
    y = (rng.random(80) < 1 / (1 + np.exp(-x @ problem.theta))) * 1.0
    for intercept in ("shared", "own"):
        layout = FeatureLayout(covariance, problem.views, intercept)
        one = fit(design, y)
        assert not one.regularised
        found = collab([design], [one], layout, attenuated=attenuated)
        assert found.converged
        assert not found.regularised
        np.testing.assert_allclose(found.local(0), one.theta, atol=1e-9)
        np.testing.assert_allclose(imputation([design], [y], layout).local(0), one.theta, atol=1e-9)
        # Also where the agent's own answer is a ridge's.
        apart = fit(design, (design[:, 1] > 0) * 1.0)
        assert apart.regularised
        again = collab([design], [apart], layout, attenuated=attenuated)
        assert not again.regularised
        np.testing.assert_allclose(again.local(0), apart.theta, atol=1e-8)


def test_a_ridge_at_the_server_is_said():
    """Imputed data can be separated; agents' probabilities cannot."""
    x = with_constant(np.linspace(-1, 1, 20)[:, None])
    y = (x[:, 1] > 0) * 1.0
    layout = FeatureLayout(np.eye(1), [[0]])
    assert imputation([x], [y], layout).regularised
    assert pooled([x], [y]).regularised
    assert pooled([x, x], [y, y], own_intercepts=True).regularised
    assert not collab([x], [fit(x, y)], layout).regularised
    assert not naive([fit(x, y)], layout).regularised


def test_what_only_those_left_out_see_is_not_made_up():
    rng = RNG(22)
    problem = cc.Problem(np.eye(4), np.ones(4), 1.0, [[0, 1, 2, 3], [0, 1], [1, 2], [0, 2]])
    designs, labels = logistic_data(problem, 60, rng, (3,))
    # Interpolated, by squared loss; as by the linear COLLAB.
    data = [(x[0, :, 1:], rng.standard_normal(60)) for x in designs]
    data[0] = (data[0][0][:4], data[0][1][:4])
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    said = "nobody who takes part sees x4"
    with pytest.raises(NotEstimableError, match="feature 3 is seen by no agent that takes part"):
        cc.estimators.collab(moments, problem.views, problem.covariance)
    fits = [fit(x, y, SQUARED, intercept=False) for x, y in data]
    with pytest.raises(NotEstimableError, match=said):
        collab([x for x, _ in data], fits, FeatureLayout(np.eye(4), problem.views, "none"), SQUARED)
    # One class in one trial of three.
    labels[0][1] = 1
    fits = [fit(x, y) for x, y in zip(designs, labels, strict=True)]
    with pytest.raises(NotEstimableError, match=said):
        collab(designs, fits, FeatureLayout(np.eye(4), problem.views))
    rest = [one[[0, 2]] for one in designs]
    fits = [fit(x, y[[0, 2]]) for x, y in zip(rest, labels, strict=True)]
    assert collab(rest, fits, FeatureLayout(np.eye(4), problem.views)).converged.all()


def test_one_class_with_an_intercept_of_its_own_is_left_out_of_pooled_fits_too():
    rng = RNG(23)
    problem = cc.Problem(np.eye(2), [1.0, 1.0], 1.0, [[0, 1]] * 3)
    designs, labels = logistic_data(problem, 50, rng, (2,))
    labels[2][1] = 1
    layout = FeatureLayout(problem.covariance, problem.views, "own")
    found = imputation(designs, labels, layout)
    assert found.left_out.tolist() == [[False] * 3, [False, False, True]]
    assert found.converged.all()
    assert not found.regularised.any()
    np.testing.assert_allclose(found.theta[1, 2], np.log(50.5 / 0.5))
    two = FeatureLayout(problem.covariance, problem.views[:2], "own")
    others = imputation(designs[:2], labels[:2], two)
    np.testing.assert_allclose(found.theta[1, 3:], others.theta[1, 2:], atol=1e-7)
    assert np.abs(found.theta[0, 3:] - others.theta[0, 2:]).max() > 1e-3
    np.testing.assert_allclose(
        pooled(designs, labels, own_intercepts=True).theta, found.theta, atol=1e-7
    )


def test_inputs_are_not_changed_and_wrong_ones_are_named():
    rng = RNG(16)
    problem = random_problem(rng)
    designs, labels = logistic_data(problem, 60, rng)
    copies = [x.copy() for x in (*designs, *labels)]
    fits = [fit(x, y) for x, y in zip(designs, labels, strict=True)]
    layout = FeatureLayout(problem.covariance, problem.views)
    before = [one.theta.copy() for one in fits]
    collab(designs, fits, layout, attenuated=True)
    for given_array, copy in zip((*designs, *labels), copies, strict=True):
        np.testing.assert_array_equal(given_array, copy)
    for one, copy in zip(fits, before, strict=True):
        np.testing.assert_array_equal(one.theta, copy)
    with pytest.raises(ValueError, match="labels 0 and 1 for logistic loss, got 2"):
        fit(designs[0], labels[0] + 2)
    with pytest.raises(ValueError, match="at least one label"):
        fit(np.ones((0, 1)), np.ones(0))
    with pytest.raises(ValueError, match=r"designs\[0\] must have"):
        collab([x[:, 1:] for x in designs], fits, layout)
    with pytest.raises(ValueError, match="one entry per agent"):
        collab(designs[:2], fits, layout)
    with pytest.raises(ValueError, match="ridge must be above 0"):
        fit(designs[0], labels[0], ridge=0)
    with pytest.raises(ValueError, match="intercept must be one of"):
        FeatureLayout(problem.covariance, problem.views, "some")
