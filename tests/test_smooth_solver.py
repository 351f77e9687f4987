"""The solver of smooth losses: derivatives, batches against SciPy, separation, cancelling."""

from threading import Event

import numpy as np
import pytest
from scipy.optimize import check_grad, linprog, minimize

from collab_core.smooth import LOGISTIC, SQUARED, FeatureLayout, fit, with_constant
from collab_core.smooth.cancelling import CancelledError, cancelled_by
from collab_core.smooth.objective import AgentBlock, objective
from collab_core.smooth.solver import minimise, separated

from .worlds import logistic_data, random_problem

RNG = np.random.default_rng


def blocks_of(problem, n, rng, attenuated, trials=2):
    designs, labels = logistic_data(problem, n, rng, (trials,))
    layout = FeatureLayout(problem.covariance, problem.views)
    return [
        AgentBlock(x, y, rng.uniform(0.5, 2, trials), layout.transforms[i],
              layout.spreads[i] if attenuated else None)
        for i, (x, y) in enumerate(zip(designs, labels, strict=True))
    ], layout  # fmt: skip


@pytest.mark.parametrize("attenuated", [False, True])
@pytest.mark.parametrize("loss", [LOGISTIC, SQUARED], ids=lambda loss: loss.name)
def test_gradients_against_finite_differences(loss, attenuated):
    rng = RNG(1)
    blocks, layout = blocks_of(random_problem(rng, shares=True), 20, rng, attenuated)
    penalty = rng.uniform(0, 0.1, layout.parameters)
    for trial in range(2):
        some = [block.of(np.array([trial])) for block in blocks]
        theta = rng.standard_normal(layout.parameters)

        def value(at, some=some):
            return float(objective(some, at[None], loss, penalty)[0][0])

        def gradient(at, some=some):
            return objective(some, at[None], loss, penalty)[1][0]

        assert check_grad(value, gradient, theta, epsilon=1e-6) < 1e-5 * (1 + abs(value(theta)))
        # Central differences, entry by entry, are sharper.
        step = 1e-5 * np.eye(layout.parameters)
        central = [(value(theta + e) - value(theta - e)) / 2e-5 for e in step]
        np.testing.assert_allclose(gradient(theta), central, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", [LOGISTIC, SQUARED], ids=lambda loss: loss.name)
def test_slope_and_curvature_are_derivatives(loss):
    eta, target = np.linspace(-20, 20, 81), np.linspace(0, 1, 81)
    h = 1e-4
    slope = (loss.value(target, eta + h) - loss.value(target, eta - h)) / (2 * h)
    bend = (loss.slope(target, eta + h) - loss.slope(target, eta - h)) / (2 * h)
    np.testing.assert_allclose(loss.slope(target, eta), slope, atol=1e-6)
    np.testing.assert_allclose(loss.curvature(target, eta), bend, atol=1e-6)
    assert np.isfinite(LOGISTIC.value(target, 1e4 * eta)).all()


@pytest.mark.parametrize("attenuated", [False, True])
def test_the_batch_finds_what_scipy_finds_one_by_one(attenuated):
    rng = RNG(2)
    blocks, layout = blocks_of(random_problem(rng), 40, rng, attenuated, trials=4)
    found = minimise(blocks, np.zeros((4, layout.parameters)), LOGISTIC, steps=100)
    assert found.converged.all()
    _, gradient = objective(blocks, found.theta, LOGISTIC)
    assert np.abs(gradient).max() < 1e-8
    for trial in range(4):
        some = [block.of(np.array([trial])) for block in blocks]

        def both(at, some=some):
            value, slope = objective(some, at[None], LOGISTIC)
            return float(value[0]), slope[0]

        other = minimize(both, found.theta[trial] + 0.05, jac=True, method="BFGS",
                         options={"gtol": 1e-9})  # fmt: skip
        np.testing.assert_allclose(found.theta[trial], other.x, atol=2e-6)
        assert found.value[trial] <= other.fun + 1e-12


def test_scipy_ends_what_the_batch_does_not():
    rng = RNG(2)
    blocks, layout = blocks_of(random_problem(rng), 40, rng, False, trials=2)
    start = np.zeros((2, layout.parameters))
    whole = minimise(blocks, start, LOGISTIC)
    short = minimise(blocks, start, LOGISTIC, steps=1, by_scipy=False)
    assert not short.converged.any()
    ended = minimise(blocks, start, LOGISTIC, steps=1)
    assert ended.converged.all()
    np.testing.assert_allclose(ended.theta, whole.theta, atol=1e-6)


def test_a_stack_is_fitted_like_its_members():
    rng = RNG(7)
    designs, labels = logistic_data(random_problem(rng), 40, rng, (2, 3), scale=3.0)
    stacked = fit(designs[0], labels[0])
    for place in np.ndindex(2, 3):
        one = fit(designs[0][place], labels[0][place])
        np.testing.assert_allclose(stacked.theta[place], one.theta, atol=1e-7)
        assert stacked.regularised[place] == one.regularised
        np.testing.assert_allclose(stacked.of(place[0]).loss[place[1]], one.loss, atol=1e-9)


# Where there is no end ---------------------------------------------------------------------------


def test_separated_classes_get_a_ridge_and_say_so():
    x = with_constant(np.linspace(-1, 1, 20)[:, None])
    y = (x[:, 1] > 0) * 1.0
    one = fit(x, y)
    assert bool(one.regularised)
    assert np.isfinite(one.theta).all()
    assert 0 < one.theta[1] < 20
    assert one.loss > 0
    # The ridge's answer is the minimum of its own objective.
    penalty = np.array([0.0, x[:, 1].var()]) / 20

    def value(theta):
        eta = x @ theta
        return LOGISTIC.value(y, eta).mean() + (penalty * theta**2).sum() / 2

    found = minimize(value, np.zeros(2), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(one.theta, found.x, atol=1e-4)
    # More ridge, less slope.
    assert fit(x, y, ridge=10.0).theta[1] < one.theta[1]


def test_a_column_of_one_class_alone_is_quasi_separated_and_gets_a_ridge():
    """A rare level whose few people are all of one class: as on census records."""
    rng = RNG(13)
    x = rng.standard_normal((200, 1))
    rare = np.zeros((200, 1))
    rare[:3] = 1
    y = (rng.random(200) < 0.5) * 1.0
    y[:3] = 1
    one = fit(with_constant(np.hstack([x, rare])), y)
    assert bool(one.regularised)
    assert np.abs(one.theta).max() < 15
    y[0] = 0
    assert not fit(with_constant(np.hstack([x, rare])), y).regularised


def test_a_constant_column_gets_no_coefficient():
    rng = RNG(14)
    x = np.hstack([rng.standard_normal((100, 1)), np.zeros((100, 1))])
    y = (rng.random(100) < 0.5) * 1.0
    one = fit(with_constant(x), y)
    np.testing.assert_allclose(one.theta[2], 0)
    np.testing.assert_allclose(one.theta[:2], fit(with_constant(x[:, :1]), y).theta, atol=1e-7)


def test_non_convergence_is_said():
    x = with_constant(np.linspace(-1, 1, 20)[:, None])
    y = (x[:, 1] > -0.5) * 1.0
    y[0] = 1
    found = minimise([AgentBlock(x[None], y[None], np.ones(1))], np.zeros((1, 2)), LOGISTIC,
                     steps=1, by_scipy=False)  # fmt: skip
    assert not found.converged.any()
    assert not found.separated.any()


def by_counting(x, y):
    """How many labels some direction puts strictly right without putting any wrong, by an LP."""
    n, k = x.shape
    margins = (2 * y - 1)[:, None] * x
    found = linprog(
        np.concatenate([np.zeros(k), -np.ones(n)]),
        A_ub=np.hstack([-margins, np.eye(n)]),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * k + [(0, 1)] * n,
        method="highs",
    )
    return round(-found.fun)


@pytest.mark.parametrize(
    ("n", "k", "signal"), [(12, 2, 2), (30, 6, 2), (60, 5, 4), (60, 5, 8), (300, 2, 20)]
)
def test_a_ridge_answers_where_labels_are_separated_and_nowhere_else(n, k, signal):
    """A hundred data sets in all, against a linear programme of another form."""
    rng = RNG(n)
    x = rng.standard_normal((20, n, k))
    theta = rng.standard_normal((20, k))
    theta *= signal / np.linalg.norm(theta, axis=1)[:, None]
    p = 1 / (1 + np.exp(-np.einsum("bnk,bk->bn", x, theta)))
    y = (rng.random((20, n)) < p) * 1.0
    # A column that is 0 but for two samples is often separated in part only.
    x[:, :, -1] *= np.arange(n) < 2
    design = with_constant(x)
    one = fit(design, y)
    expected = [by_counting(*both) > 0 for both in zip(design, y, strict=True)]
    two = ~one.one_class
    np.testing.assert_array_equal(one.regularised[two], np.array(expected)[two])
    # What has an end is brought there.
    assert one.converged.all()
    eta = (design @ one.theta[..., None])[..., 0]
    slope = ((y - 1 / (1 + np.exp(-eta)))[..., None] * design).mean(axis=-2)
    assert np.abs(slope[two & ~one.regularised]).max(initial=0.0) < 1e-8


def test_separation_is_seen_behind_transforms():
    """Two agents of whom each is separated by itself need not be together."""
    x = with_constant(np.linspace(-1, 1, 20)[:, None])
    up, down = (x[:, 1] > 0) * 1.0, (x[:, 1] < 0) * 1.0
    eye = np.eye(2)

    def blocks(*labels):
        return [AgentBlock(x[None], y[None], np.ones(1), eye) for y in labels]

    assert separated(blocks(up), np.ones(2))
    assert separated(blocks(up, up), np.ones(2))
    assert not separated(blocks(up, down), np.ones(2))
    silent = AgentBlock(x[None], down[None], np.zeros(1), eye)
    assert separated([*blocks(up), silent], np.ones(2))


def test_cancelling_ends_a_solver_within_a_step():
    x = with_constant(np.linspace(-1, 1, 20)[:, None])
    y = (np.abs(x[:, 1]) > 0.5) * 1.0
    event = Event()
    with cancelled_by(event):
        fit(x, y)
        event.set()
        with pytest.raises(CancelledError):
            fit(x, y)
    fit(x, y)
