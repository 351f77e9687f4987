"""Disturbed worlds: closed forms against recomputation and simulation, break-evens."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm, sqrtm

import collab_core as cc
from collab_core.runs import disturbances, disturbed
from collab_core.runs.draws import CompleteSums, complete_sums
from collab_core.world.laws import square_root

from .worlds import problems, random_problem


def exact_moments(problem, thetas, n=1000.0):
    """Moments as they are on average: every local model, residual and covariance is the truth."""
    found = []
    for i, view in enumerate(problem.views):
        theta = thetas.get(i, problem.theta)
        block = problem.covariance[np.ix_(view, view)]
        xy = (problem.covariance @ theta)[view]
        yy = theta @ problem.covariance @ theta + problem.noise**2
        size = n * problem.shares[i]
        found.append(cc.Moments(size, size * block, size * xy, size * yy))
    return found


def bias_by_estimation(problem, told, thetas):
    """COLLAB's squared bias for every agent, by running COLLAB itself on noiseless averages."""
    estimate = cc.estimators.collab(exact_moments(problem, thetas), problem.views, told)
    errors = []
    for i, view in enumerate(problem.views):
        block = problem.covariance[np.ix_(view, view)]
        truth = np.linalg.solve(block, (problem.covariance @ thetas.get(i, problem.theta))[view])
        gap = estimate.local(i) - truth
        errors.append(gap @ block @ gap)
    return np.array(errors)


# What is disturbed -------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.floats(0, 4))
def test_a_perturbed_covariance_is_positive_definite(seed, size):
    rng = np.random.default_rng(seed)
    covariance = cc.covariance.geometric(5, 100.0, rng)
    noise = disturbed.symmetric_noise(rng, 3, 5)
    before = noise.copy()
    found = disturbed.perturb(covariance, noise, size)
    assert_array_equal(noise, before)
    assert (np.linalg.eigvalsh(found) > 0).all()
    root = np.real(sqrtm(covariance))
    for matrix, given_noise in zip(found, noise, strict=True):
        assert_allclose(
            matrix, root @ expm(size * given_noise) @ root, rtol=1e-6, atol=1e-6 * abs(matrix).max()
        )
    assert_array_equal(disturbed.perturb(covariance, noise, 0.0)[0], covariance)


def test_noise_is_that_of_a_sample_covariance():
    # I + e G has, to first order, the spread of the covariance of d / e^2 white samples.
    d, size, rng = 4, 0.05, np.random.default_rng(0)
    noise = disturbed.symmetric_noise(rng, 4000, d)
    x = rng.standard_normal((4000, round(d / size**2), d))
    sample = np.swapaxes(x, -1, -2) @ x / x.shape[1]
    for j, k in ((0, 0), (0, 1), (2, 3)):
        assert size * noise[:, j, k].std() == pytest.approx(sample[:, j, k].std(), rel=0.06)


@given(problems())
def test_unit_shifts_are_a_standard_deviation_of_the_label(problem):
    shifts = disturbed.unit_shifts(problem, np.random.default_rng(1), 5)
    lengths = ((shifts @ problem.covariance) * shifts).sum(axis=1)
    assert_allclose(lengths, problem.label_variance, rtol=1e-6)


def test_labels_laid_on_sums_are_those_laid_on_samples():
    rng = np.random.default_rng(3)
    x, e = rng.standard_normal((2, 30, 4)), rng.standard_normal((2, 30))
    sums = CompleteSums(30, np.swapaxes(x, -1, -2) @ x, (e[:, None] @ x)[:, 0], (e**2).sum(axis=1))
    view, theta = np.array([2, 0]), rng.standard_normal((2, 4))
    found = sums.labelled(view, theta, 0.7)
    again = cc.Moments.from_arrays(x[..., view], (x @ theta[..., None])[..., 0] + 0.7 * e)
    for name in ("xx", "xy", "yy"):
        assert_allclose(getattr(found, name), getattr(again, name))


@pytest.mark.parametrize("law", ["gaussian", "student_t(8)", "mixture(0.8)"])
@pytest.mark.parametrize("n", [3, 40])
def test_complete_sums_have_the_moments_of_samples(law, n):
    covariance = cc.covariance.equicorrelated(4, 0.5)
    trials = 4000
    sums = complete_sums(
        np.random.default_rng(1), np.random.default_rng(2), cc.laws.of(law),
        square_root(covariance), trials, n, lambda: False,
    )  # fmt: skip
    spread = sums.xx.std(axis=0) / np.sqrt(trials)
    assert (np.abs(sums.xx.mean(axis=0) - n * covariance) < 4.5 * spread).all()
    assert sums.ee.mean() == pytest.approx(n, abs=4.5 * np.sqrt(2 * n / trials))
    # Var(x'e) = n Sigma, whatever the law of x.
    assert_allclose(sums.xe.T @ sums.xe / trials, n * covariance, atol=0.12 * n)


# Closed forms ------------------------------------------------------------------------------------


@given(problems())
def test_undisturbed_is_the_finite_error_and_unbiased(problem):
    bias, variance = disturbed.expected(problem, 50)
    assert_allclose(bias, 0, atol=1e-8 * problem.label_variance)
    again = cc.planning.finite_errors(problem, 50)[0]
    assert_allclose(variance, again, rtol=1e-5, atol=1e-12)
    # Of many samples the leading order is left.
    _, variance = disturbed.expected(problem, 1e8)
    leading = cc.bounds.local_errors(problem, cc.bounds.gauss(problem)) / 1e8
    assert_allclose(variance, leading, rtol=1e-5, atol=1e-12)


@given(problems(max_features=5), st.integers(0, 1000))
def test_bias_is_what_collab_makes_of_endless_data(problem, seed):
    rng = np.random.default_rng(seed)
    noise = disturbed.symmetric_noise(rng, 2, problem.dimension)
    told = disturbed.perturb(problem.covariance, noise, 0.3)
    who = int(rng.integers(problem.agents))
    shifts = disturbed.unit_shifts(problem, rng, 2)
    thetas = problem.theta + 0.5 * shifts
    bias, _ = disturbed.expected(problem, 10, covariance=told, thetas={who: thetas})
    for t in range(2):
        again = bias_by_estimation(problem, told[t], {who: thetas[t]})
        assert_allclose(bias[t], again, rtol=1e-4, atol=1e-7 * problem.label_variance)


@pytest.mark.parametrize("target", [0, 2])
def test_the_bias_of_a_shift_is_a_matrix_times_the_shift(target):
    rng = np.random.default_rng(4)
    base = random_problem(rng, d=5, m=4, shares=True)
    # Agent 2 sees everything, so its unexplained variance is the noise's, whatever its theta.
    views = [*base.views[:2], np.arange(5), base.views[3]]
    problem = cc.Problem(base.covariance, base.theta, base.noise, views, base.shares)
    sigma, view = problem.covariance, problem.views[target]
    inverse = np.linalg.inv(sigma[np.ix_(view, view)])
    rate = problem.shares[2] / problem.noise**2
    moved = np.linalg.solve(problem.information, rate * np.linalg.inv(sigma) @ sigma)
    matrix = inverse @ moved[view]
    if target == 2:
        matrix = matrix - np.eye(5)
    shift = rng.standard_normal(5)
    for size in (0.1, 1.0, 7.0):
        bias, _ = disturbed.expected(problem, 1, thetas={2: problem.theta + size * shift})
        gap = size * matrix @ shift
        expected = gap @ sigma[np.ix_(view, view)] @ gap
        assert bias[target] == pytest.approx(expected, rel=1e-6)


def over_formula(problem, n, trials, disturbance, values, target, shifted):
    """Simulation over the closed form along a disturbance, and its standard error."""
    found = disturbed.curve(
        problem, n, trials, disturbance, values, target, methods=["collab", "local"],
        shifted=shifted, seed=3,
    )  # fmt: skip
    errors, theory = found.table("collab"), formula(found, "collab")
    return errors.mean(axis=0) / theory, errors.std(axis=0) / np.sqrt(trials) / theory


DISTURBED = [
    ("perturbed", [0.05, 0.2, 0.6], "everybody", 0),
    ("perturbed", [0.2, 0.6], 1, 0),
    ("unlabelled", [1000, 100, 25], "everybody", 0),
    ("shift", [0.2, 0.5, 1.0, 3.0], "everybody", 1),
    ("shift", [0.2, 0.5, 1.0, 3.0], 1, 2),
    ("shift", [0.2, 0.5, 1.0, 3.0], 2, 2),
]


@pytest.mark.parametrize(("disturbance", "values", "target", "shifted"), DISTURBED)
def test_simulation_agrees_with_the_closed_form(disturbance, values, target, shifted):
    problem = random_problem(np.random.default_rng(8), d=5, m=4, shares=True)
    ratios, errors = over_formula(problem, 100, 300, disturbance, values, target, shifted)
    assert (np.abs(ratios - 1) < 0.03 + 4 * errors).all(), ratios


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 100, 400, 1500])
@pytest.mark.parametrize("world", ["small", "other", "third", "paper"])
@pytest.mark.parametrize(("disturbance", "values", "target", "shifted"), DISTURBED)
def test_a_grid_of_disturbed_worlds_agrees(world, n, disturbance, values, target, shifted):
    seeds = {"small": 8, "other": 1, "third": 2}
    if world == "paper":
        problem, trials = cc.Scenario().problem(), 400
        # 25 samples are no covariance of 30 features.
        values = [max(value, 60) for value in values] if disturbance == "unlabelled" else values
    else:
        rng = np.random.default_rng(seeds[world])
        problem, trials = random_problem(rng, d=5, m=4, shares=True), 6000
    ratios, errors = over_formula(problem, n, trials, disturbance, values, target, shifted)
    print(world, n, disturbance, target, shifted, ratios.round(3), errors.round(3))
    assert (np.abs(ratios - 1) < 0.03 + 3 * errors).all(), ratios


@given(problems(max_features=5), st.integers(0, 1000))
def test_a_disturbance_only_adds_to_the_variance(problem, seed):
    rng = np.random.default_rng(seed)
    shift = disturbed.unit_shifts(problem, rng, 3)
    many = 1e9
    _, before = disturbed.expected(problem, many)
    _, after = disturbed.expected(problem, many, thetas={0: problem.theta})
    assert_allclose(after, before, rtol=1e-6)
    # Who sees everything has the same unexplained variance whatever its theta.
    views = [np.arange(problem.dimension), *problem.views[1:]]
    seeing = cc.Problem(problem.covariance, problem.theta, problem.noise, views, problem.shares)
    _, before = disturbed.expected(seeing, 1e9)
    bias, after = disturbed.expected(seeing, 1e9, thetas={0: problem.theta + shift})
    # At 1e9 samples what falls is the variance, up to the part of the squared bias that does too.
    assert (after + 1e-6 * bias >= before * (1 - 1e-6)).all()


def test_a_shift_of_other_features_is_simulated_too():
    problem = random_problem(np.random.default_rng(2), d=4, m=3)
    shift = disturbed.unit_shifts(problem, np.random.default_rng(0), 1)[0]
    found = disturbed.curve(
        problem, 60, 400, "shift", [1.0], 1, shifted=1, direction=shift, features="uniform",
        methods=["collab", "local"],
    )  # fmt: skip
    assert set(found.theory("collab")) == {None}
    assert found.frame["theory"].isna().all()
    # Brute force: agent 1's samples drawn one by one with its own relation.
    rng, view = np.random.default_rng(9), problem.views[1]
    x = rng.uniform(-np.sqrt(3), np.sqrt(3), (400, 60, 4)) @ square_root(problem.covariance)
    theta = problem.theta + shift
    y = x @ theta + problem.noise * rng.standard_normal((400, 60))
    block = problem.covariance[np.ix_(view, view)]
    truth = np.linalg.solve(block, (problem.covariance @ theta)[view])
    gap = cc.Moments.from_arrays(x[..., view], y).fit.theta - truth
    errors = ((gap @ block) * gap).sum(axis=1)
    mine = found.table("local")[:, 1]
    slack = 4.5 * np.hypot(errors.std(), mine.std()) / np.sqrt(400)
    assert abs(errors.mean() - mine.mean()) < slack


# Runs --------------------------------------------------------------------------------------------


def test_undisturbed_is_the_simulation_of_the_other_page():
    problem = random_problem(np.random.default_rng(1), shares=True)
    found = disturbed.curve(problem, 60, 400, "perturbed", [0.5], 1)
    curve = cc.simulate.error_curve(problem, [60], 400, found.methods, target=1)
    for method in found.methods:
        mine, other = found.table(method)[:, 0], curve.errors[method][60]
        slack = 4.5 * np.hypot(mine.std(), other.std()) / np.sqrt(400)
        assert abs(mine.mean() - other.mean()) < slack, method


def test_unlabelled_samples_are_those_of_the_other_page_and_nested():
    problem = random_problem(np.random.default_rng(1), shares=True)
    found = disturbed.curve(problem, 60, 400, "unlabelled", [90, 30], 1)
    for place, count in ((1, 90), (2, 30)):
        curve = cc.simulate.error_curve(
            problem, [60], 400, ["collab", "imputation"], 1, sigma="unlabelled", unlabelled=count
        )
        for method in curve.methods:
            mine, other = found.table(method)[:, place], curve.errors[method][60]
            slack = 4.5 * np.hypot(mine.std(), other.std()) / np.sqrt(400)
            assert abs(mine.mean() - other.mean()) < slack, (method, count)
    # The first 30 of 90 people are the same 30 by themselves.
    alone = disturbed.curve(problem, 60, 400, "unlabelled", [30], 1)
    assert_array_equal(found.table("collab")[:, 2], alone.table("collab")[:, 1])


def test_the_same_seed_gives_the_same_numbers_on_any_executor():
    problem = random_problem(np.random.default_rng(1))
    runs = []
    for workers in (None, 1, 3):
        executor = None if workers is None else ThreadPoolExecutor(workers)
        runs.append(disturbed.curve(problem, 40, 120, "shift", [0.3], shifted=1, executor=executor))
    for other in runs[1:]:
        for method in runs[0].methods:
            assert_array_equal(runs[0].table(method), other.table(method))
    assert runs[0].done == 120
    assert not runs[0].partial


@pytest.mark.parametrize("disturbance", ["unlabelled", "perturbed"])
def test_trials_are_paired(disturbance):
    problem = random_problem(np.random.default_rng(1))
    found = disturbed.curve(problem, 40, 20, disturbance, [20, 50] if disturbance[0] == "u" else [
        0.1, 0.4])  # fmt: skip
    local = found.table("local")
    assert_allclose(local, np.repeat(local[:, :1], 3, axis=1))
    # More disturbance is to the right, whichever way its numbers run.
    assert found.values == ((50.0, 20.0) if disturbance[0] == "u" else (0.1, 0.4))
    assert found.table("collab").mean(axis=0)[2] > found.table("collab").mean(axis=0)[1]


def test_who_sees_everything_needs_no_covariance():
    problem = cc.Problem(np.eye(3) + 0.3, [1.0, 2.0, -1.0], 1.0, np.ones((3, 3), dtype=bool))
    found = disturbed.curve(problem, 30, 10, "unlabelled", [5, 100], 0)
    collab = found.table("collab")
    assert_allclose(collab, np.repeat(collab[:, :1], 3, axis=1), rtol=1e-6)
    assert found.break_even.kind in ("beyond", "never")


def test_one_agent_has_nothing_to_lose():
    problem = cc.Problem(np.eye(2), [1.0, 1.0], 1.0, [[0, 1]])
    assert disturbed.curve(problem, 20, 5, "perturbed", [0.5]).break_even.kind == "equal"


def test_a_run_can_be_stopped_and_keeps_whole_trials():
    problem = cc.Scenario(d=20, m=20, rich_size=15, size=10).problem()
    cancel, seen = Event(), []

    def progress(fraction, partial):
        seen.append(partial.done)
        if partial.done:
            cancel.set()

    found = disturbed.curve(
        problem, 60, 2000, "perturbed", [0.1, 0.3], progress=progress, cancel=cancel
    )
    assert found.partial
    assert 0 < found.done < 2000
    assert seen[0] == 0
    assert {len(found.table(method)) for method in found.methods} == {found.done}
    cancelled = disturbed.curve(problem, 60, 2000, "tails", [1.0], cancel=cancel)
    assert cancelled.done == 0
    assert cancelled.break_even is None
    assert cancelled.frame["mean"].isna().all()


def test_the_grid_holds_the_break_even():
    problem = random_problem(np.random.default_rng(12), d=6, m=5)
    for disturbance in ("unlabelled", "perturbed"):
        found = disturbed.curve(problem, 500, 200, disturbance, target=1)
        even = found.break_even
        assert even.kind == "inside"
        low, high = sorted([even.early, even.late])
        assert low < even.value < high
        # Where the formulas cross is within the interval, or a hair beside it.
        gaps = np.array(found.theory("collab"), dtype=float) - np.array(
            found.theory("local"), dtype=float
        )
        place = int(np.argmax(gaps >= 0))
        part = gaps[place - 1] / (gaps[place - 1] - gaps[place])
        ends = np.log(found.values[place - 2 : place])
        assert low * 0.97 < np.exp(ends[0] + part * (ends[1] - ends[0])) < high * 1.03


def formula(found, method):
    return np.array(found.theory(method), dtype=float)


def made(gaps, values=(1.0, 10.0, 100.0)):
    """A result with given differences to local least squares, by trial or the same in all."""
    given = np.asarray(gaps, dtype=float)
    given = np.repeat(given[None], 4, axis=0) if given.ndim == 1 else given
    grid = (0.0, *values)
    errors = {
        "collab": dict(zip(grid, 1 + given.T, strict=True)),
        "local": dict(zip(grid, np.ones_like(given.T), strict=True)),
    }
    return disturbed.DisturbedCurve(
        axis="value", grid=grid, methods=("collab", "local"), errors=errors, notes={}, trials=4,
        partial=False, problem=cc.Problem(np.eye(1), [1.0], 1.0, [[0]]), n=10,
        disturbance="shift", shifted=0,
    )  # fmt: skip


def test_break_evens_of_every_kind():
    even = made([-0.5, -0.5, -0.25, 0.25]).break_even
    assert even.kind == "inside"
    assert even.value == pytest.approx(10**1.5)
    assert even.early == even.late == pytest.approx(even.value)
    assert made([-0.5, -0.4, -0.3, -0.2]).break_even.kind == "beyond"
    assert made([-0.5, 0.1, 0.2, 0.3]).break_even.kind == "before"
    assert made([0.1, 0.2, 0.3, 0.4]).break_even.kind == "never"
    assert made([0.0, 0.0, 0.0, 0.0]).break_even.kind == "equal"
    half = made([-0.5, -0.5, -0.5, 0.0]).crossing("collab", 0.5)
    assert half.value == pytest.approx(10**1.5)
    assert made([-0.5] * 4).crossing("imputation") is None


def test_the_interval_of_a_break_even_covers_it():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        noise = rng.standard_normal((30, 1)) + 0.3 * rng.standard_normal((30, 4))
        gaps = np.array([-2.0, -2.0, -1.0, 1.0]) + noise
        even = made(gaps).break_even
        low = 0.0 if even.early is None else even.early
        high = np.inf if even.late is None else even.late
        covered += low <= 10**1.5 <= high
    # Within three standard errors of 95%.
    assert covered / 200 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)


def test_the_frame_has_ratios_and_no_nan():
    problem = random_problem(np.random.default_rng(5))
    found = disturbed.curve(problem, 40, 10, "unlabelled", [100, 20], 0)
    frame = found.frame
    assert frame["value"].isna().sum() == len(found.methods)
    assert_allclose(frame[frame["method"] == "local"]["ratio"].astype(float), 1.0)
    known = frame[["mean", "low", "high", "ratio", "ratio_low", "ratio_high"]].astype(float)
    assert np.isfinite(known.to_numpy()).all()
    assert (known["ratio_low"] <= known["ratio"]).all()
    single = disturbed.curve(problem, 40, 1, "shift", [0.5], 0).frame
    assert single["low"].isna().all()
    assert single["ratio"].notna().all()


def test_methods_that_do_not_exist_are_named():
    # Nobody but agent 0 sees feature 3, and it has too few samples for its features.
    problem = cc.Problem(np.eye(4), np.ones(4), 1.0, [[0, 1, 2, 3], [0, 1], [1, 2]], [0.1, 1, 1])
    found = disturbed.curve(problem, 20, 5, "perturbed", [0.1], 1)
    assert "collab" in found.missing
    assert found.break_even is None
    assert disturbed.judged(problem, 20) == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"disturbance": "rain"}, "disturbance"),
        ({"values": []}, "values"),
        ({"values": [-1.0]}, "values"),
        ({"disturbance": "unlabelled", "values": [3]}, "values"),
        ({"disturbance": "clusters", "values": [1.0]}, "values"),
        ({"target": 9}, "target"),
        ({"n": 4, "target": 0}, "target"),
        ({"n": 1}, "n = 1"),
        ({"shifted": 9}, "shifted"),
        ({"direction": [1.0]}, "direction"),
        ({"methods": ["optimized_naive_collab"]}, "methods"),
        ({"trials": 0}, "trials"),
    ],
)
def test_bad_input_is_named(arguments, word):
    problem = random_problem(np.random.default_rng(1))
    usual = {"n": 40, "trials": 5, "disturbance": "perturbed", "values": [0.1]}
    with pytest.raises(ValueError, match=word):
        disturbed.curve(problem, **(usual | arguments))
    with pytest.raises(ValueError, match="size"):
        disturbed.perturb(np.eye(2), np.eye(2), -1)


def test_one_trial_has_a_break_even_but_no_interval():
    problem = random_problem(np.random.default_rng(3), d=5, m=4)
    one = disturbed.curve(problem, 60, 1, "perturbed", [0.05, 0.2, 0.8, 2.0])
    even = one.break_even
    assert even.early is None
    assert even.late is None


def test_heavy_tails_are_every_features_own_whatever_the_covariance():
    """Independent tails would be mixed away by the covariance; a common scale is not."""
    law = disturbances.law_of("tails", 2.0, None)
    root = square_root(cc.covariance.equicorrelated(6, 0.8))
    count = 200_000
    x = law.white(np.random.default_rng(0), (count, 6)) @ root
    unit = x / x.std(axis=0)
    # A t of 7 degrees has no eighth moment, so the error is by blocks: 20 of them.
    blocks = (unit**4).reshape(20, -1, 6).mean(axis=1) - 3
    error = blocks.std(axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(blocks.mean(axis=0) - 2.0) < 4.5 * error).all()
