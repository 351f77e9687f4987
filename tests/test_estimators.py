import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.methods import estimators as est

from .worlds import random_problem, raw_data, raw_moments

SEEDS = st.integers(0, 2**32 - 1)


def world(seed=0, n=60, **options):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, **options)
    return problem, raw_moments(problem, n, rng), rng


def positive_definite(k, rng):
    root = rng.standard_normal((k, k + 1))
    return root @ root.T + 0.1 * np.eye(k)


def every_method(problem, moments, fresh):
    """All estimators on the same data, by name: theta and the model of agent 1."""
    views, covariance = problem.views, problem.covariance
    rng = np.random.default_rng(9)
    weights = [positive_definite(v.size, rng) for v in views]
    wide = [positive_definite(problem.dimension, rng) for _ in views]
    unlabelled = rng.standard_normal((300, problem.dimension)) @ np.linalg.cholesky(covariance).T
    return {
        "collab": est.collab(moments, views, covariance),
        "collab, population": est.collab(moments, views, covariance, weights="population"),
        "collab, corrected": est.collab(moments, views, covariance, correction=True),
        "collab_plus": est.collab_plus(moments, views, covariance),
        "collab_plus, known": est.collab_plus(moments, views, covariance, noise=problem.noise),
        "collab_optimal": est.collab_optimal(moments, views, unlabelled, covariance),
        "aggregate": est.aggregate(moments, views, covariance, weights),
        "imputation": est.global_imputation(moments, views, covariance),
        "rw_imputation": est.global_imputation(moments, views, covariance, 1 / problem.unexplained),
        "local_imputation": est.local_imputation(moments, views, covariance, wide),
        "pooled_moments": est.pooled_moments(moments, views, covariance),
        "naive_collab": est.naive_collab(moments, views, problem.dimension),
        "optimized_naive_collab": est.optimized_naive_collab(moments, views, fresh),
    }


def fresh_moments(problem, n, rng, trials=()):
    everything = cc.Problem(
        problem.covariance, problem.theta, problem.noise, [np.arange(problem.dimension)]
    )
    return raw_moments(everything, n, rng, trials)[0]


# Brute force on raw data -------------------------------------------------------------------------


@given(SEEDS)
def test_collab_on_raw_data_by_algorithm_1(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    data = raw_data(problem, 40, rng)
    left, right = 0, 0
    for i, (x, y) in enumerate(data):
        theta = np.linalg.lstsq(x, y, rcond=None)[0]
        weight = x.T @ x / len(y) / np.mean((x @ theta - y) ** 2)
        transform = problem.transform(i)
        left = left + transform.T @ weight @ transform
        right = right + transform.T @ weight @ theta
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    estimate = est.collab(moments, problem.views, problem.covariance)
    assert_allclose(estimate.theta, np.linalg.solve(left, right), rtol=1e-6, atol=1e-8)
    assert_allclose(estimate.local(2), problem.transform(2) @ estimate.theta, rtol=1e-6, atol=1e-9)


@given(SEEDS)
def test_global_imputation_is_least_squares_on_imputed_data(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    data = raw_data(problem, 40, rng)
    alphas = rng.uniform(0.1, 3, size=problem.agents)
    rows = np.concatenate(
        [
            np.sqrt(a) * x @ problem.transform(i)
            for i, (a, (x, _)) in enumerate(zip(alphas, data, strict=True))
        ]
    )
    labels = np.concatenate([np.sqrt(a) * y for a, (_, y) in zip(alphas, data, strict=True)])
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    estimate = est.global_imputation(moments, problem.views, problem.covariance, alphas)
    expected = np.linalg.lstsq(rows, labels, rcond=None)[0]
    assert_allclose(estimate.theta, expected, rtol=1e-6, atol=1e-8)


def test_aggregate_minimises_the_weighted_disagreement():
    problem, moments, rng = world()
    weights = [positive_definite(v.size, rng) for v in problem.views]
    theta = est.aggregate(moments, problem.views, problem.covariance, weights).theta

    def disagreement(t):
        gaps = [m.fit.theta - problem.transform(i) @ t for i, m in enumerate(moments)]
        return sum(g @ w @ g for g, w in zip(gaps, weights, strict=True))

    lowest = disagreement(theta)
    for direction in rng.standard_normal((20, problem.dimension)):
        assert disagreement(theta + 1e-4 * direction) > lowest


def test_local_imputation_on_raw_data():
    problem, _, rng = world()
    for i, (x, y) in enumerate(raw_data(problem, 40, rng)):
        transform = problem.transform(i)
        imputed = x @ transform
        min_norm = np.linalg.pinv(imputed) @ y
        local = cc.Moments.from_arrays(x, y).fit.theta
        lifted = transform.T @ np.linalg.solve(transform @ transform.T, local)
        assert_allclose(min_norm, lifted, rtol=1e-6, atol=1e-9)


def test_optimized_naive_weights_are_the_best():
    problem, moments, rng = world(m=3)
    fresh = fresh_moments(problem, 200, rng)
    estimate = est.optimized_naive_collab(moments, problem.views, fresh)
    lowest = fresh.squared_error(estimate.theta)
    models = np.zeros((problem.dimension, 3))
    for i, view in enumerate(problem.views):
        models[view, i] = moments[i].fit.theta
    assert_allclose(models @ estimate.weights, estimate.theta)
    for step in rng.standard_normal((20, 3)):
        assert fresh.squared_error(models @ (estimate.weights + 1e-3 * step)) > lowest
    # As many agents as features, and the weights can make any theta: plain least squares.
    problem, moments, rng = world(d=4, m=6)
    fresh = fresh_moments(problem, 200, rng)
    many = est.optimized_naive_collab(moments, problem.views, fresh)
    assert_allclose(many.theta, fresh.fit.theta, rtol=1e-6)


def test_pooled_moments_on_raw_data():
    problem, _, rng = world(shares=True)
    data = raw_data(problem, 50, rng)
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    phi = []
    for j in range(problem.dimension):
        products = [
            x[:, list(view).index(j)] * y
            for view, (x, y) in zip(problem.views, data, strict=True)
            if j in view
        ]
        phi.append(np.concatenate(products).mean())
    estimate = est.pooled_moments(moments, problem.views, problem.covariance)
    assert_allclose(estimate.theta, np.linalg.solve(problem.covariance, phi), rtol=1e-7)


# Two routes to the same place --------------------------------------------------------------------


@given(SEEDS)
def test_collab_is_reweighted_imputation_by_residual(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, shares=True)
    moments = raw_moments(problem, 40, rng)
    alphas = [1 / m.fit.residual for m in moments]
    collab = est.collab(moments, problem.views, problem.covariance)
    imputed = est.global_imputation(moments, problem.views, problem.covariance, alphas)
    assert_allclose(collab.theta, imputed.theta, rtol=1e-9)
    named = est.global_imputation(moments, problem.views, problem.covariance, "residual")
    assert_allclose(collab.theta, named.theta, rtol=1e-12)


@given(SEEDS)
def test_collab_is_the_aggregate_with_its_weights(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, shares=True)
    moments = raw_moments(problem, 40, rng)
    views, covariance = problem.views, problem.covariance
    empirical = [m.xx / m.n / m.fit.residual for m in moments]
    population = [problem.geometry.block(i) / m.fit.residual for i, m in enumerate(moments)]
    for name, weights in (("empirical", empirical), ("population", population)):
        direct = est.collab(moments, views, covariance, weights=name)
        general = est.aggregate(moments, views, covariance, weights)
        assert_allclose(direct.theta, general.theta, rtol=1e-7, atol=1e-9)
        assert_allclose(direct.covariance, general.covariance, rtol=1e-6, atol=1e-12)


@given(SEEDS)
def test_local_imputation_with_lifted_weights_is_collab(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    moments = raw_moments(problem, 40, rng)
    collab = est.collab(moments, problem.views, problem.covariance)
    imputed = est.local_imputation(moments, problem.views, problem.covariance)
    assert_allclose(imputed.theta, collab.theta, rtol=1e-6, atol=1e-8)
    assert_allclose(imputed.covariance, collab.covariance, rtol=1e-5, atol=1e-10)


def test_everything_seen_by_everyone_is_pooled_least_squares():
    rng = np.random.default_rng(0)
    problem = cc.Problem(cc.covariance.ar1(4, 0.7), [1, -1, 2, 0.5], 1.0, np.ones((3, 4), bool))
    data = raw_data(problem, 50, rng)
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    pooled = np.linalg.lstsq(
        np.concatenate([x for x, _ in data]), np.concatenate([y for _, y in data]), rcond=None
    )[0]
    imputed = est.global_imputation(moments, problem.views, problem.covariance)
    assert_allclose(imputed.theta, pooled, rtol=1e-8)
    # Whatever covariance is believed: nothing is missing, so it cancels.
    other = est.global_imputation(moments, problem.views, np.eye(4))
    assert_allclose(other.theta, pooled, rtol=1e-8)
    # COLLAB weighs agents by precision, a generalised least squares of the same rows.
    rates = [1 / m.fit.residual for m in moments]
    expected = np.linalg.solve(
        sum(r * m.xx for r, m in zip(rates, moments, strict=True)),
        sum(r * m.xy for r, m in zip(rates, moments, strict=True)),
    )
    assert_allclose(
        est.collab(moments, problem.views, problem.covariance).theta, expected, rtol=1e-8
    )


def test_batch_is_the_loop():
    rng = np.random.default_rng(3)
    problem = random_problem(rng, shares=True)
    moments = raw_moments(problem, 30, rng, trials=(2, 3))
    fresh = fresh_moments(problem, 30, rng, trials=(2, 3))
    batch = every_method(problem, moments, fresh)
    for trial in np.ndindex(2, 3):
        single = [cc.Moments(m.n, m.xx[trial], m.xy[trial], m.yy[trial]) for m in moments]
        alone = cc.Moments(fresh.n, fresh.xx[trial], fresh.xy[trial], fresh.yy[trial])
        for name, estimate in every_method(problem, single, alone).items():
            assert_allclose(batch[name].theta[trial], estimate.theta, rtol=1e-6, err_msg=name)
            assert_allclose(batch[name].local(1)[trial], estimate.local(1), rtol=1e-6)
            if getattr(estimate, "phi_covariance_of", None):
                assert_allclose(
                    batch[name].covariance[trial], estimate.covariance, rtol=1e-5, atol=1e-12
                )


def test_one_covariance_per_trial():
    rng = np.random.default_rng(4)
    problem = random_problem(rng)
    moments = raw_moments(problem, 30, rng, trials=(3,))
    fresh = fresh_moments(problem, 30, rng, trials=(3,))
    covariances = problem.covariance * np.array([1.0, 1.5, 2.0])[:, None, None]
    covariances[1] += 0.3 * np.eye(problem.dimension)
    for method in (est.collab, est.collab_plus, est.global_imputation, est.local_imputation,
                   est.pooled_moments):  # fmt: skip
        batch = method(moments, problem.views, covariances)
        for t in range(3):
            single = [cc.Moments(m.n, m.xx[t], m.xy[t], m.yy[t]) for m in moments]
            one = method(single, problem.views, covariances[t])
            assert_allclose(batch.theta[t], one.theta, rtol=1e-6, err_msg=method.__name__)
            assert_allclose(batch.local(1)[t], one.local(1), rtol=1e-6)
    assert fresh.n == 30


# Invariances -------------------------------------------------------------------------------------


@given(SEEDS)
def test_order_of_agents_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    moments = raw_moments(problem, 40, rng)
    order = rng.permutation(problem.agents)
    for method in (est.collab, est.collab_plus, est.global_imputation, est.pooled_moments):
        one = method(moments, problem.views, problem.covariance)
        other = method(
            [moments[i] for i in order], [problem.views[i] for i in order], problem.covariance
        )
        assert_allclose(one.theta, other.theta, rtol=1e-6, atol=1e-8)


@given(SEEDS)
def test_relabelling_features_relabels_theta(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    moments = raw_moments(problem, 40, rng)
    order = rng.permutation(problem.dimension)  # new feature j is old feature order[j]
    place = np.argsort(order)
    views = [place[view] for view in problem.views]
    covariance = problem.covariance[np.ix_(order, order)]
    for method in (est.collab, est.collab_plus, est.local_imputation):
        one = method(moments, problem.views, problem.covariance)
        other = method(moments, views, covariance)
        assert_allclose(one.theta[order], other.theta, rtol=1e-6, atol=1e-8)
        assert_allclose(one.local(0), other.local(0), rtol=1e-6, atol=1e-8)


@given(SEEDS)
def test_units_of_features_and_labels_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    data = raw_data(problem, 40, rng)
    scale = 10.0 ** rng.integers(-3, 4, size=problem.dimension)
    unit = 100.0
    plain = [cc.Moments.from_arrays(x, y) for x, y in data]
    scaled = [
        cc.Moments.from_arrays(x * scale[view], y * unit)
        for view, (x, y) in zip(problem.views, data, strict=True)
    ]
    covariance = problem.covariance * np.outer(scale, scale)
    for method in (est.collab, est.collab_plus, est.global_imputation, est.pooled_moments):
        one = method(plain, problem.views, problem.covariance)
        other = method(scaled, problem.views, covariance)
        assert_allclose(other.theta * scale / unit, one.theta, rtol=1e-5, atol=1e-7)


# Agents that cannot take part --------------------------------------------------------------------


def test_small_agents_are_left_out_and_listed():
    problem, moments, rng = world(m=5)
    widest = int(problem.sizes.argmax())
    small = raw_moments(problem, int(problem.sizes[widest]), rng)[widest]
    mixed = [small if i == widest else m for i, m in enumerate(moments)]
    views = [*problem.views, np.arange(problem.dimension)]
    everybody = [*mixed, fresh_moments(problem, 60, rng)]
    estimate = est.collab(everybody, views, problem.covariance)
    assert [entry.agent for entry in estimate.left_out] == [widest]
    assert "is not above its" in estimate.left_out[0].reason
    without = [i for i in range(6) if i != widest]
    same = est.collab(
        [everybody[i] for i in without], [views[i] for i in without], problem.covariance
    )
    assert_allclose(estimate.theta, same.theta, rtol=1e-9)
    # It still gets a model, and imputation (which needs no residual) still reads its data.
    assert estimate.local(widest).shape == (problem.sizes[widest],)
    assert est.global_imputation(everybody, views, problem.covariance).left_out == ()
    naive = est.naive_collab(everybody, views, problem.dimension)
    assert naive.weights[widest] == 0
    assert_allclose(naive.weights.sum(), 1)


def test_centring_costs_a_sample():
    x, y = np.random.default_rng(0).standard_normal((4, 3)), np.arange(4.0)
    moments = cc.Moments.from_arrays(x, y)
    assert est.collab([moments], [[0, 1, 2]], np.eye(3)).left_out == ()
    with pytest.raises(ValueError, match="not above its 3 features and the mean"):
        est.collab([moments.centred()], [[0, 1, 2]], np.eye(3))


def test_perfect_labels_are_left_out():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 2))
    perfect = cc.Moments.from_arrays(x, x @ [1.0, 2.0])
    noisy = cc.Moments.from_arrays(x, x @ [1.0, 2.0] + rng.standard_normal(50))
    estimate = est.collab([perfect, noisy], [[0, 1], [0, 1]], np.eye(2))
    assert estimate.left_out[0].agent == 0
    assert "without residual" in estimate.left_out[0].reason
    with pytest.raises(ValueError, match="no agent is left"):
        est.collab([perfect], [[0, 1]], np.eye(2))


def test_an_agent_that_sees_nothing_gets_an_empty_model():
    rng = np.random.default_rng(0)
    problem = cc.Problem(np.eye(2), [1, 1], 1.0, [[0, 1], []])
    moments = raw_moments(problem, 40, rng)
    for method in (est.collab, est.collab_plus, est.global_imputation, est.local_imputation,
                   est.pooled_moments):  # fmt: skip
        estimate = method(moments, problem.views, problem.covariance)
        assert estimate.local(1).shape == (0,)
        assert estimate.left_out == ()
        alone = method(moments[:1], problem.views[:1], problem.covariance)
        if method is est.collab_plus:
            # Its labels' variance tells about the size of theta.
            assert np.abs(estimate.theta - alone.theta).max() > 1e-6
        else:
            assert_allclose(estimate.theta, alone.theta, rtol=1e-9)


def test_rare_levels_get_no_weight():
    """A one-hot column that is constant in one agent's sample: pinv, not an explosion."""
    rng = np.random.default_rng(0)
    problem = cc.Problem(cc.covariance.ar1(3, 0.5), [1, 1, 1], 1.0, np.ones((2, 3), bool))
    (x, y), other = raw_data(problem, 60, rng)
    x[:, 2] = 0.25
    moments = [cc.Moments.from_arrays(x, y).centred(), cc.Moments.from_arrays(*other).centred()]
    estimate = est.collab(moments, problem.views, problem.covariance)
    assert np.abs(estimate.theta - problem.theta).max() < 1
    assert estimate.left_out == ()
    low, high = estimate.interval()
    assert np.isfinite(low).all()
    assert (high > low).all()


def test_what_never_varied_has_no_interval():
    """A feature that is constant in every sample: no information, and no false confidence."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.standard_normal(80), np.full(80, 3.0)])
    y = x[:, 0] + rng.standard_normal(80)
    moments = [cc.Moments.from_arrays(x, y).centred()]
    estimate = est.collab(moments, [[0, 1]], [[1, 0.5], [0.5, 1]])
    assert not estimate.determined
    assert np.isfinite(estimate.theta).all()
    with pytest.raises(ValueError, match="did not vary in any agent's samples"):
        estimate.interval()
    good, m, _ = world()
    assert est.collab(m, good.views, good.covariance).determined


def test_optimal_weights_pass_over_an_agent_that_sees_nothing():
    rng = np.random.default_rng(0)
    problem = cc.Problem(cc.covariance.ar1(2, 0.5), [1, 1], 1.0, [[0], [1], []])
    moments = raw_moments(problem, 60, rng)
    unlabelled = rng.standard_normal((500, 2))
    with_it = est.collab_optimal(moments, problem.views, unlabelled)
    without = est.collab_optimal(moments[:2], problem.views[:2], unlabelled)
    assert_allclose(with_it.theta, without.theta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, v, s: est.collab(m[:-1], v, s), "moments must hold one entry per view"),
        (lambda m, v, s: est.collab(m[::-1], v, s), r"moments\[0\] must be of the"),
        (lambda m, v, s: est.collab(m, v, s, weights="best"), "weights must be one of"),
        (lambda m, v, s: est.collab(m, v, np.eye(7)), "feature 6 is seen by no agent"),
        (lambda m, v, s: est.global_imputation(m, v, s, [1, 2]), "alphas must have"),
        (lambda m, v, s: est.global_imputation(m, v, s, [0] * 5), "alphas must be above 0"),
        (lambda m, v, s: est.global_imputation(m, v, s, "fair"), "alphas must be one of"),
        (lambda m, v, s: est.aggregate(m, v, s, [np.eye(2)]), "one matrix per agent"),
        (lambda m, v, s: est.aggregate(m, v, s, [np.eye(9)] * 5), r"weights\[0\] must be"),
        (lambda m, v, s: est.aggregate(m, v, s, [-np.eye(k.size) for k in v]), "negative"),
        (lambda m, v, s: est.aggregate(m, v, s, [np.zeros((k.size,) * 2) for k in v]), "without"),
        (lambda m, v, s: est.aggregate(m, v, s, [np.tri(k.size, k=0) for k in v]), "symmetric"),
        (lambda m, v, s: est.collab(m, v, s).local(5), "agent must be a whole number from 0 to 4"),
        (lambda m, v, s: est.collab(m, v, s).local(-1), "agent must be"),
        (lambda m, v, s: est.collab(m, None, s), "views must be a list"),
        (lambda m, v, s: est.collab_plus(m, v, s, noise=0.0), "noise must be above 0"),
        (lambda m, v, s: est.collab_optimal(m, v, np.ones((3, 6))), "must number at least 6"),
        (lambda m, v, s: est.naive_collab(m, v, 6).theta[9], None),
    ],
)
def test_bad_input_is_named(call, message):
    problem, moments, _ = world(seed=2)
    if message is None:
        with pytest.raises(IndexError):
            call(moments, problem.views, problem.covariance)
    else:
        with pytest.raises(ValueError, match=message):
            call(moments, problem.views, problem.covariance)


def test_a_feature_lost_with_a_left_out_agent_is_named():
    rng = np.random.default_rng(0)
    problem = cc.Problem(np.eye(3), [1, 1, 1], 1.0, [[0, 1], [1, 2]])
    moments = [raw_moments(problem, n, rng)[i] for i, n in enumerate((40, 2))]
    with pytest.raises(ValueError, match=r"feature 2 .*agent 1 is left out: n = 2"):
        est.collab(moments, problem.views, problem.covariance)


# Intervals ---------------------------------------------------------------------------------------


def test_intervals_of_combinations_and_local_models():
    problem, moments, rng = world()
    estimate = est.collab(moments, problem.views, problem.covariance)
    whole, one = estimate.interval(0.9), estimate.interval(0.9, combination=np.eye(6)[2])
    assert_allclose(one, [whole.low[2], whole.high[2]])
    rows = rng.standard_normal((3, 6))
    many = estimate.interval(0.9, combination=rows)
    assert many.low.shape == (3,)
    half = 1.6448536 * np.sqrt(np.einsum("qi,ij,qj->q", rows, estimate.covariance, rows))
    assert_allclose(many.high - many.low, 2 * half, rtol=1e-6)
    # An agent's model is a combination of theta: T_i.
    local = estimate.interval(0.9, agent=1)
    by_hand = estimate.interval(0.9, combination=problem.transform(1))
    assert_allclose(local, by_hand, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="combination must have shape"):
        estimate.interval(combination=[1, 2])
    with pytest.raises(ValueError, match="level must be in"):
        estimate.interval(1.2)
    pooled = est.pooled_moments(moments, problem.views, problem.covariance)
    with pytest.raises(ValueError, match="gives no covariance"):
        _ = pooled.covariance
