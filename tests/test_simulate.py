"""The simulation engine: exact laws, theory beside it, seeds, executors, cancelling."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ks_2samp, ttest_rel

import collab_core as cc
import collab_core.methods as registry
from collab_core.runs import simulate
from collab_core.runs import world as world_source
from collab_core.runs.draws import Collecting, CollectingModels, Samplers, wishart_root
from collab_core.runs.simulate import error_curve, error_curves, planned
from collab_core.runs.world import Settings
from collab_core.world.laws import Gaussian, Uniform, square_root

from .worlds import random_problem, raw_data, raw_moments

STANDARD_ERRORS = 4


def never() -> bool:
    return False


def same_law(a, b) -> None:
    """Two samples of positive numbers have one law: means, variances and quantiles of the logs.

    Logs, because at n = d_i + 2 the errors themselves have no variance to speak of.
    """
    a, b = np.log(a), np.log(b)
    spread = np.sqrt(a.var() / a.size + b.var() / b.size)
    assert abs(a.mean() - b.mean()) < STANDARD_ERRORS * spread
    # Variance of a sample variance by its fourth moment.
    fourth = [((x - x.mean()) ** 4).mean() - x.var() ** 2 for x in (a, b)]
    spread = np.sqrt(fourth[0] / a.size + fourth[1] / b.size)
    assert abs(a.var() - b.var()) < STANDARD_ERRORS * spread
    assert ks_2samp(a, b).pvalue > 1e-4


HUB = cc.Scenario(d=5, m=4, spectrum="ar1", correlation=0.9, missing="hub", size=2, seed=1)
WORLDS = {
    "correlated": random_problem(np.random.default_rng(0), d=4, m=3),
    "one feature": cc.Problem([[2.0]], [1.5], 0.5, [[0], [0]]),
    "unequal sizes": random_problem(np.random.default_rng(1), d=4, m=4, shares=True),
    "strongly correlated hub": HUB.problem(),
}


# Exact in distribution ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("extra", [2, 20])
def test_exact_draws_have_the_law_of_raw_data(name, extra):
    """Both exact paths against raw samples, for every agent; n = d_i + 2 included."""
    problem = WORLDS[name]
    trials, rng = 1500, np.random.default_rng(7)
    n = int(np.ceil((problem.sizes.max() + extra) / problem.shares.min()))
    sizes = problem.sample_sizes(n)
    for i, (x, y) in enumerate(raw_data(problem, n, rng, (trials,))):
        sources = Samplers.of_agents(problem, [i])
        raw = cc.Moments.from_arrays(x, y)
        # Two steps: what an agent collects in between must not matter.
        collecting = Collecting(rng, problem, sources, trials, Gaussian(), never)
        collecting.up_to(int(sizes[i]) // 2)
        (exact,) = collecting.up_to(int(sizes[i]))
        models = CollectingModels(rng, sources, trials)
        models.up_to(int(problem.sizes[i]) + 1)
        (summary,) = models.up_to(int(sizes[i]))
        block, truth = problem.geometry.block(i), problem.local_theta(i)

        def error(fit, block=block, truth=truth):
            gap = fit.theta - truth
            return ((gap @ block) * gap).sum(axis=-1)

        for other in (exact, summary):
            same_law(error(raw.fit), error(other.fit))
            same_law(raw.fit.rss, other.fit.rss)
        same_law(raw.yy, exact.yy)
        same_law(np.trace(raw.xx, axis1=1, axis2=2), np.trace(exact.xx, axis1=1, axis2=2))
        same_law(np.linalg.det(raw.xx), np.linalg.det(exact.xx))


@pytest.mark.parametrize("method", ["collab", "collab_plus", "imputation", "pooled_moments"])
def test_estimates_on_exact_draws_have_the_law_of_raw_data(method):
    problem = random_problem(np.random.default_rng(3), d=4, m=3)
    n, trials = int(problem.sizes.max()) + 4, 1500
    moments = raw_moments(problem, n, np.random.default_rng(4), (trials,))
    function = {
        "collab": cc.estimators.collab,
        "collab_plus": cc.estimators.collab_plus,
        "imputation": cc.estimators.global_imputation,
        "pooled_moments": cc.estimators.pooled_moments,
    }[method]
    gap = function(moments, problem.views, problem.covariance).theta - problem.theta
    curve = error_curve(problem, [n], trials, [method], seed=5)
    same_law(((gap @ problem.covariance) * gap).sum(axis=1), curve.errors[method][n])


def test_the_matrix_free_path_agrees_with_bartletts():
    problem = random_problem(np.random.default_rng(3), d=4, m=3)
    sizes, trials = [7, 12, 100], 3000
    free = error_curve(problem, sizes, trials, ["collab", "naive_collab"], weights="population")
    # Asking for imputation too makes xx necessary.
    full = error_curve(
        problem,
        sizes,
        trials,
        ["collab", "naive_collab", "imputation"],
        weights="population",
        seed=1,
    )
    for n in sizes:
        for method in ("collab", "naive_collab"):
            same_law(free.errors[method][n], full.errors[method][n])
    for target in (0, 1):
        a = error_curve(problem, [9], trials, ["local"], target=target)
        b = error_curve(problem, [9], trials, ["local", "imputation"], target=target, seed=1)
        same_law(a.errors["local"][9], b.errors["local"][9])


def test_wishart_of_few_samples_is_singular_and_right():
    rng = np.random.default_rng(0)
    for n in (2, 4, 9):
        root = wishart_root(rng, 20_000, n, 4)
        xx = np.swapaxes(root, 1, 2) @ root
        assert np.linalg.matrix_rank(xx[0]) == min(n, 4)
        # Entries of a Wishart matrix: mean n I, variance 2n on the diagonal and n off it.
        assert_allclose(xx.mean(axis=0), n * np.eye(4), atol=STANDARD_ERRORS * np.sqrt(2 * n / 2e4))


@pytest.mark.parametrize("law", cc.laws.keys())
def test_feature_laws_are_white(law):
    rng = np.random.default_rng(0)
    x = cc.laws.of(law).white(rng, (200_000, 3))
    assert_allclose(x.mean(axis=0), 0, atol=STANDARD_ERRORS / np.sqrt(2e5))
    fourth = (x**4).mean()
    assert_allclose(x.T @ x / 2e5, np.eye(3), atol=STANDARD_ERRORS * np.sqrt(fourth / 2e5))


def test_square_root():
    covariance = cc.covariance.ar1(4, 0.7)
    root = square_root(covariance)
    assert_allclose(root @ root, covariance, rtol=1e-10)
    assert_allclose(root, root.T, atol=1e-12)


def test_raw_path_with_gaussian_like_law_agrees(monkeypatch):
    """The raw path itself, checked where the truth is known: a mixture of separation 0."""
    problem = random_problem(np.random.default_rng(3), d=3, m=3)
    monkeypatch.setattr("collab_core.runs.draws.PIECE", 5_000)
    raw = error_curve(problem, [8, 30], 1500, ["collab"], features="mixture(0)")
    exact = error_curve(problem, [8, 30], 1500, ["collab"], seed=1)
    for n in (8, 30):
        same_law(raw.errors["collab"][n], exact.errors["collab"][n])


@pytest.mark.parametrize("law", ["student_t(5)", "uniform", "rademacher", "exponential", "mixture"])
def test_every_law_runs_and_claims_no_theory_for_an_estimated_covariance(law):
    problem = random_problem(np.random.default_rng(3), d=3, m=3)
    frame = error_curve(
        problem, [40, 400], 60, features=law, sigma="unlabelled", unlabelled=500
    ).frame
    # Local least squares alone needs no covariance.
    assert set(frame.loc[frame["theory"].notna(), "method"]) == {"local"}
    assert frame["mean"].notna().all()
    consistent = frame[~frame["method"].isin(["naive_collab", "optimized_naive_collab"])]
    for _, rows in consistent.groupby("method"):
        small, large = rows.sort_values("n")["mean"]
        assert large < small


# Theory beside simulation ------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["full", 0])
@pytest.mark.parametrize("noise_known", [True, False])
def test_large_n_means_meet_theory(target, noise_known):
    problem = random_problem(np.random.default_rng(9), d=4, m=3, shares=True)
    n, trials = 100_000, 4000
    methods = None if target == "full" else list(registry.usual(full=False))
    curve = error_curve(problem, [n], trials, methods, target, noise_known=noise_known)
    for method in curve.methods:
        errors = curve.errors[method][n]
        theory = cc.theory.expected_error(problem, method, n, target, noise_known=noise_known)
        assert theory is not None, method
        slack = STANDARD_ERRORS * errors.std() / np.sqrt(trials)
        assert abs(errors.mean() - theory) < slack + 50 / n * theory, method


@pytest.mark.parametrize("n", [12, 40])
def test_finite_n_theory_is_exact_where_it_says_so(n):
    problem = random_problem(np.random.default_rng(8), d=4, m=3)
    trials = 20_000
    for target in ("full", 1):
        curve = error_curve(
            problem, [n], trials, ["local", "naive_collab", "pooled_moments"], target
        )
        for method in curve.methods:
            errors = curve.errors[method][n]
            theory = cc.theory.expected_error(problem, method, n, target)
            assert abs(errors.mean() - theory) < STANDARD_ERRORS * errors.std() / np.sqrt(trials)


def test_optimized_naive_theory_where_models_do_not_span():
    problem = random_problem(np.random.default_rng(2), d=6, m=3)
    assert cc.bounds.optimized_naive_collab(problem).floor > 0
    trials, n = 4000, 2000
    errors = error_curve(problem, [n], trials, ["optimized_naive_collab"]).errors
    theory = cc.theory.expected_error(problem, "optimized_naive_collab", n)
    floor = cc.bounds.optimized_naive_collab(problem).floor
    found = errors["optimized_naive_collab"][n]
    # What is left after the leading order is about 1/n of it.
    slack = STANDARD_ERRORS * found.std() / np.sqrt(trials) + 20 / n * (theory - floor)
    assert abs(found.mean() - theory) < slack
    assert theory > floor


def test_theory_is_silent_where_none_is_known():
    twins = cc.Problem(cc.covariance.ar1(3, 0.5), [1, 1, 1], 1.0, [[0, 1, 2], [0], [0]])
    # Two agents with one view: noisy models span more than true ones do.
    two = cc.Problem(cc.covariance.ar1(4, 0.5), [1, 1, 1, 1], 1.0, [[0, 1], [0, 1], [2, 3]])
    assert cc.theory.expected_error(two, "optimized_naive_collab", 100) is None
    assert cc.theory.expected_error(twins, "local", 4) is None
    assert cc.theory.expected_error(twins, "optimized_naive_collab", 100, target=0) is None
    assert cc.theory.expected_error(twins, "naive_collab", 4) is None
    with pytest.raises(ValueError, match="method must be one of"):
        cc.theory.expected_error(twins, "best", 100)


def test_the_papers_ordering_holds_in_its_set_up():
    experiment = simulate.paper_experiment(trials=300, sample_sizes=[100, 400, 1000])
    for curve in (experiment.full, experiment.missing):
        mean = curve.frame.pivot_table("mean", "n", "method")
        # COLLAB matches RW-Imputation ...
        assert_allclose(mean["collab"], mean["rw_imputation"], rtol=0.08)
        for n in (100, 400, 1000):
            paired = {m: e[n] for m, e in curve.errors.items()}
            for worse in ("imputation", "local"):
                # ... and is ahead of imputation and of working alone, trial by trial.
                gap = paired[worse] - paired["collab"]
                assert gap.mean() > 2 * gap.std() / np.sqrt(gap.size), (n, worse)
    naive = experiment.full.frame.query("method == 'naive_collab'")["mean"].to_numpy()
    floor = cc.bounds.naive_collab(experiment.problem).floor
    assert_allclose(naive[-2:], floor, rtol=0.05)
    # Thirty models span thirty features: the optimised weights are plain least squares here.
    optimized = experiment.full.errors["optimized_naive_collab"][1000]
    assert_allclose(optimized, experiment.full.errors["local"][1000], rtol=1e-4)


def test_optimized_naive_levels_out_where_models_do_not_span():
    scenario = cc.Scenario(m=10, rich=4, seed=2)
    problem = scenario.problem()
    curve = error_curve(problem, [10**3, 10**5, 10**6], 40, ["optimized_naive_collab", "collab"])
    means = {m: [curve.errors[m][n].mean() for n in curve.sample_sizes] for m in curve.methods}
    floor = cc.bounds.optimized_naive_collab(problem).floor
    assert floor > 0.1
    assert_allclose(means["optimized_naive_collab"][1:], floor, rtol=0.02)
    assert means["collab"][-1] < 1e-3 * floor


def test_authors_own_numbers():
    published = simulate.paper_experiment(trials=2, sample_sizes=[100]).problem
    authors = simulate.paper_experiment(trials=2, sample_sizes=[100], authors=True).problem
    assert_allclose(authors.theta, 50 * published.theta)
    assert (
        np.linalg.eigvalsh(authors.covariance)[-1]
        > 5 * np.linalg.eigvalsh(published.covariance)[-1]
    )
    assert published.sizes.tolist() == [20] * 10 + [15] * 20


# Modes -------------------------------------------------------------------------------------------


def mean_error(problem, method, **options):
    curve = error_curve(problem, [options.pop("n", 60)], 600, [method], seed=3, **options)
    return curve.errors[method][curve.sample_sizes[0]].mean()


def test_modes_do_what_they_say():
    problem = random_problem(np.random.default_rng(5), d=5, m=4)
    known = mean_error(problem, "collab")
    assert mean_error(problem, "collab", sigma="unlabelled", unlabelled=40) > 1.1 * known
    assert_allclose(
        mean_error(problem, "collab", sigma="unlabelled", unlabelled=10**8), known, rtol=1e-3
    )
    assert mean_error(problem, "collab", weights="population", n=9) > 1.1 * mean_error(
        problem, "collab", n=9
    )
    told = mean_error(problem, "collab_plus", noise_known=True, n=12)
    assert told < mean_error(problem, "collab_plus", n=12)
    assert mean_error(problem, "collab", correction=True, n=9) != mean_error(problem, "collab", n=9)


def test_pooled_covariance_mode():
    mask = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1]], dtype=bool)
    problem = cc.Problem(cc.covariance.ar1(4, 0.6), [1, -1, 1, 2], 1.0, mask)
    curve = error_curve(problem, [50, 5000], 300, ["collab"], sigma="pooled")
    frame = curve.frame
    assert frame["theory"].isna().all()
    known = error_curve(problem, [50, 5000], 300, ["collab"])
    # Pooling costs something at small n; both go to zero.
    assert curve.errors["collab"][50].mean() > known.errors["collab"][50].mean()
    assert curve.errors["collab"][5000].mean() < 0.05 * curve.errors["collab"][50].mean()
    split = cc.Problem(np.eye(2), [1, 1], 1.0, [[0], [1]])
    with pytest.raises(ValueError, match="seen together by no agent"):
        error_curve(split, [50], 3, sigma="pooled")


def test_unequal_sample_sizes():
    views = [[0, 1], [1, 2]]
    problem = cc.Problem(cc.covariance.ar1(3, 0.5), [1, 1, 1], 1.0, views, shares=[1, 10])
    step = error_curve(problem, [50], 200, ["local"], target=0)
    other = error_curve(problem, [50], 200, ["local"], target=1)
    assert step.frame["theory"][0] > 5 * other.frame["theory"][0]


def test_small_agents_and_impossible_rows_say_why():
    problem = cc.Problem(cc.covariance.ar1(3, 0.5), [1, 1, 1], 1.0, [[0, 1, 2], [0], [1, 2]])
    frame = error_curve(problem, [1, 2, 3, 30], 20).frame
    numbers = frame.select_dtypes("Float64")
    finite = numbers.map(lambda value: value is pd.NA or np.isfinite(value))
    assert finite.all().all()

    def row(method, n):
        return frame.query("method == @method and n == @n").iloc[0]

    assert row("collab", 1)["mean"] is pd.NA
    assert row("collab", 1)["theory"] is pd.NA
    assert "interpolates" in row("collab", 1)["note"]
    assert row("collab", 1)["trials"] == 0
    # At n = 3 the agent with three features is left out, and the others cover everything.
    assert row("collab", 3)["mean"] > 0
    assert "left out: agents 0" in row("collab", 3)["note"]
    assert row("collab", 30)["note"] == ""
    assert "not above 3 features" in row("local", 2)["note"]
    assert row("imputation", 2)["mean"] > 0


def test_an_agent_that_sees_nothing():
    problem = cc.Problem(cc.covariance.ar1(2, 0.5), [1, 1], 1.0, [[0, 1], []])
    frame = error_curve(problem, [20], 10, target=1).frame
    assert (frame["mean"] == 0).all()
    assert not error_curve(problem, [20], 10).frame["mean"].isna().any()


def test_one_trial_has_no_interval():
    problem = random_problem(np.random.default_rng(0))
    frame = error_curve(problem, [50], 1, ["collab"]).frame
    assert frame["mean"][0] > 0
    assert frame["low"].isna().all()


def test_interval_of_the_mean_covers():
    problem = random_problem(np.random.default_rng(0), d=3, m=3)
    truth = cc.theory.expected_error(problem, "local", 20, target=0)
    inside = 0
    for seed in range(300):
        row = error_curve(problem, [20], 60, ["local"], target=0, seed=seed).frame.iloc[0]
        inside += row["low"] <= truth <= row["high"]
    # 95%, less a little for the skewness of errors; four binomial standard errors.
    assert inside / 300 > 0.95 - 0.02 - STANDARD_ERRORS * np.sqrt(0.0475 / 300)


def test_irreducible_part_is_apart():
    problem = random_problem(np.random.default_rng(0))
    assert error_curve(problem, [30], 2, ["collab"]).irreducible == 0
    curve = error_curve(problem, [30], 2, ["collab"], target=2)
    assert_allclose(curve.irreducible, problem.irreducible[2])


# Samples and coverage ----------------------------------------------------------------------------


def test_sampled_estimates_scatter_as_they_should():
    problem = random_problem(np.random.default_rng(8), d=3, m=3)
    n, trials = 2000, 3000
    sample = simulate.sample_estimates(problem, n, trials, ["collab", "naive_collab", "local"])
    assert_allclose(sample.truth, problem.theta)
    collab = sample.estimates["collab"]
    assert collab.shape == (trials, 3)
    ratio = n * collab.var(axis=0) / np.diagonal(cc.bounds.gauss(problem))
    assert_allclose(ratio, 1, atol=STANDARD_ERRORS * np.sqrt(2 / trials) + 10 / n)
    bias = sample.estimates["naive_collab"].mean(axis=0) - cc.bounds.naive_collab(problem).theta
    assert np.abs(bias).max() < 0.01
    local = simulate.sample_estimates(problem, n, 50, ["local", "collab"], target=1)
    assert local.estimates["local"].shape == (50, problem.sizes[1])
    few = simulate.sample_estimates(problem, 1, 50, ["collab"])
    assert "collab" not in few.estimates
    assert "interpolates" in few.notes["collab"]


@pytest.mark.parametrize("target", ["full", 1])
def test_coverage_run(target):
    problem = random_problem(np.random.default_rng(8), d=3, m=3)
    frame = simulate.coverage(problem, 500, 2000, 0.9, target=target)
    assert set(frame["method"]) == {"collab", "collab_plus"}
    gap = (frame["covered"] - 0.9).abs()
    assert (gap < STANDARD_ERRORS * frame["error"] + 2 / 500).all()
    with pytest.raises(ValueError, match="methods must be one of"):
        simulate.coverage(problem, 500, 10, methods=["naive_collab"])


# Seeds, executors, progress, cancelling ----------------------------------------------------------


class Inline:
    """The smallest thing with a submit."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        future.set_result(function(*args, **kwargs))
        return future


def same_bits(a, b):
    assert a.methods == b.methods
    for method, by_n in a.errors.items():
        assert by_n.keys() == b.errors[method].keys()
        for n, errors in by_n.items():
            assert (errors == b.errors[method][n]).all(), (method, n)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(world_source, "CHUNK_NUMBERS", 500)


def test_seeds_repeat_and_differ():
    problem = random_problem(np.random.default_rng(0))
    one, again = (error_curve(problem, [20, 50], 30, seed=4) for _ in range(2))
    same_bits(one, again)
    other = error_curve(problem, [20, 50], 30, seed=5)
    assert (one.errors["collab"][20] != other.errors["collab"][20]).all()


@pytest.mark.parametrize("features", ["gaussian", "student_t"])
def test_executors_agree_to_the_bit(small_chunks, features):
    problem = random_problem(np.random.default_rng(0))
    options = {"features": features, "sigma": "unlabelled", "unlabelled": 100}
    own = error_curve(problem, [20, 50], 40, **options)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(5) as five:
        for executor in (one, five, Inline()):
            same_bits(own, error_curve(problem, [20, 50], 40, executor=executor, **options))


def test_choosing_methods_does_not_change_the_draws():
    problem = random_problem(np.random.default_rng(0))
    every = error_curve(problem, [20, 50], 30)
    some = error_curve(problem, [20, 50], 30, ["imputation", "collab"])
    assert_allclose(some.errors["collab"][50], every.errors["collab"][50], rtol=1e-12)
    # More trials begin with the same ones.
    both = error_curves(problem, [20, 50], 30, ["full", 1])
    same_bits(both["full"], every)


def test_curves_follow_the_same_agents():
    """Along the grid the same agents collect more data: errors at neighbouring n are correlated."""
    problem = random_problem(np.random.default_rng(0))
    curve = error_curve(problem, [1000, 1100], 300, ["collab", "imputation"])
    for method in curve.methods:
        a, b = (curve.errors[method][n] for n in curve.sample_sizes)
        assert np.corrcoef(a, b)[0, 1] > 0.8


def test_progress_reports_the_partial_result(small_chunks):
    problem = random_problem(np.random.default_rng(0))
    seen = []
    final = error_curve(
        problem, [20, 50], 40, ["collab"],
        progress=lambda fraction, curve: seen.append((fraction, curve)),
    )  # fmt: skip
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert len(seen) > 3
    counts = [curve.frame["trials"].max() for _, curve in seen]
    assert counts == sorted(counts)
    assert seen[0][1].partial
    assert not final.partial
    same_bits(final, seen[-1][1])


@pytest.mark.parametrize("executor", [None, "threads", "inline"])
def test_cancel_keeps_what_is_done(small_chunks, executor):
    problem = random_problem(np.random.default_rng(0))
    cancel = threading.Event()

    def stop_early(fraction, curve):
        if fraction > 0.2:
            cancel.set()

    pool = ThreadPoolExecutor(2) if executor == "threads" else None
    runner = Inline() if executor == "inline" else pool
    curve = error_curve(
        problem, [20, 50], 400, ["collab"], progress=stop_early, cancel=cancel, executor=runner
    )
    done = curve.frame["trials"].max()
    if executor != "inline":
        # Inline has done everything at submission; nothing was left to stop.
        assert curve.partial
        assert 0 < done < 400
    assert curve.frame["mean"].notna().all()
    if pool:
        pool.shutdown()


class Interrupting(Uniform):
    """A law whose draws are interrupted after so many calls, as by somebody who presses Stop."""

    calls = 0
    cancel = None
    after = 0

    def white(self, rng, shape):
        type(self).calls += 1
        if self.calls > self.after:
            self.cancel.set()
        return super().white(rng, shape)


@pytest.fixture
def interrupting():
    Interrupting.calls, Interrupting.after, Interrupting.cancel = 0, 6, threading.Event()
    return Interrupting()


def test_a_chunk_that_was_stopped_half_way_is_kept_but_not_counted(interrupting):
    problem = random_problem(np.random.default_rng(0), d=3, m=2)
    fractions = []
    curve = error_curve(
        problem, [20, 40, 60, 80, 100], 8, ["collab"], features=interrupting,
        cancel=interrupting.cancel, progress=lambda fraction, _: fractions.append(fraction),
    )  # fmt: skip
    # Two agents a size: three sizes were drawn when it was stopped.
    assert list(curve.errors["collab"]) == [20, 40, 60]
    assert curve.partial
    assert fractions == [0, 0]


def test_paths_that_were_stopped_half_way_are_not_counted(interrupting):
    problem = random_problem(np.random.default_rng(0), d=3, m=2)
    fractions = []
    paths = simulate.sample_paths(
        problem, [20, 40, 60, 80], 8, ["collab"], settings=Settings(features=interrupting),
        cancel=interrupting.cancel, progress=lambda fraction, _: fractions.append(fraction),
    )  # fmt: skip
    assert list(paths) == [20, 40, 60]
    assert fractions == [0]


def chunks_of(problem, n, trials, **settings):
    methods = ["collab", "collab_oracle"]
    plan = planned(problem, [n], trials, ["full"], methods, 0, Settings(**settings))
    return plan.chunks


def test_chunks_are_cut_by_the_samples_that_are_drawn():
    problem = HUB.problem()
    # A long run reports soon and often ...
    assert chunks_of(problem, 20_000, 400, features="student_t(5)") > 10
    assert chunks_of(problem, 20, 400, features="student_t(5)") == 1
    # ... and moments of Gaussian samples are drawn without the samples.
    assert chunks_of(problem, 10**9, 400) == chunks_of(problem, 20, 400) == 1
    few = {"features": "uniform", "sigma": "unlabelled"}
    assert chunks_of(problem, 20, 400, unlabelled=10, **few) == 1
    assert chunks_of(problem, 20, 400, unlabelled=10**6, **few) > 100


@pytest.mark.parametrize("methods", [["collab"], ["collab", "collab_optimal"]])
def test_executors_agree_to_the_bit_where_samples_are_drawn(monkeypatch, methods):
    monkeypatch.setattr(world_source, "CHUNK_PRODUCTS", 20_000)
    problem = HUB.problem()
    options = {"features": "uniform", "unlabelled": 200}
    own = error_curve(problem, [20, 50], 12, methods, **options)
    assert chunks_of(problem, 50, 12, **options) > 2
    with ThreadPoolExecutor(5) as five:
        for executor in (five, Inline()):
            same_bits(
                own, error_curve(problem, [20, 50], 12, methods, executor=executor, **options)
            )


def test_cancel_before_the_first_chunk_is_an_empty_result():
    problem = random_problem(np.random.default_rng(0))
    cancel = threading.Event()
    cancel.set()
    curve = error_curve(problem, [20], 5, ["collab"], cancel=cancel)
    assert curve.partial
    assert curve.frame["mean"].isna().all()
    # A long draw of raw samples is stopped inside too.
    slow = error_curve(problem, [20], 5, ["collab"], cancel=cancel, features="uniform")
    assert slow.partial


def test_a_failing_callback_ends_the_run(small_chunks):
    problem = random_problem(np.random.default_rng(0))

    def fail(fraction, curve):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        error_curve(problem, [20], 400, ["collab"], progress=fail)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_sizes": []}, "sample_sizes must hold at least one"),
        ({"sample_sizes": [0]}, "sample_sizes must be a whole number from 1"),
        ({"sample_sizes": [2.5]}, "sample_sizes must be a whole number"),
        ({"sample_sizes": [10**19]}, "sample_sizes must be a whole number"),
        ({"methods": []}, "methods must name at least one"),
        ({"trials": 0}, "trials must be a whole number at least 1"),
        ({"methods": ["best"]}, "methods must be one of"),
        ({"methods": ["optimized_naive_collab"], "target": 0}, "for an agent's target"),
        ({"target": 9}, "target must be a whole number from 0 to 4"),
        ({"target": "everything"}, "target must be"),
        ({"seed": -1}, "seed must be"),
        ({"features": "cauchy"}, "features must be one of"),
        ({"features": "student_t(3)"}, "degrees_of_freedom must be above 4"),
        ({"features": "student_t(1e)"}, "is not a number"),
        ({"features": "mixture(1.5)"}, "separation must be"),
        ({"sigma": "guessed"}, "sigma must be one of"),
        ({"sigma": "unlabelled", "unlabelled": 3}, "unlabelled must be at least"),
        ({"weights": "best"}, "weights must be one of"),
    ],
)
def test_bad_input_is_named(options, message):
    problem = random_problem(np.random.default_rng(2))
    with pytest.raises(ValueError, match=message):
        error_curve(problem, **({"sample_sizes": [50], "trials": 2} | options))


def test_every_method_has_a_home():
    problem = random_problem(np.random.default_rng(0))
    curve = error_curve(problem, [50], 3, list(registry.keys(weightings=False)))
    assert curve.frame["mean"].notna().all()
    assert Settings().law.is_gaussian


def test_paths_follow_the_same_trials_and_do_not_depend_on_the_grid_ahead():
    problem = random_problem(np.random.default_rng(12))
    methods = ["collab", "naive_collab", "imputation"]
    paths = simulate.sample_paths(problem, [20, 80, 5000], 60, methods, seed=3)
    single = simulate.sample_estimates(problem, 20, 60, methods, seed=3)
    for method in methods:
        assert (paths[20].estimates[method] == single.estimates[method]).all()
        # A trial's estimates at neighbouring n are of data that share samples: they correlate.
        early, late = paths[20].estimates[method], paths[80].estimates[method]
        together = [np.corrcoef(early[:, j], late[:, j])[0, 1] for j in range(early.shape[1])]
        assert np.mean(together) > 0.2
    spread = [paths[n].estimates["collab"].std(axis=0).mean() for n in (20, 80, 5000)]
    assert spread[0] > spread[1] > spread[2]
    frame = simulate.path_frame(paths, (0, 2))
    assert len(frame) == 3 * 3 * 60
    row = frame[(frame["n"] == 80) & (frame["method"] == "collab") & (frame["trial"] == 7)].iloc[0]
    assert tuple(row[["c0", "c1"]]) == tuple(paths[80].estimates["collab"][7, [0, 2]])


def test_ahead_from_is_decided_by_paired_differences():
    problem = random_problem(np.random.default_rng(13))
    sizes = [20, 50, 200]
    curve = simulate.error_curve(problem, sizes, 60, ["collab", "local"], target=0)
    ahead = curve.ahead_from("collab", "local")
    assert ahead is not None
    for n in sizes:
        mine, theirs = curve.errors["collab"][n], curve.errors["local"][n]
        if n >= ahead:
            assert curve.compare("collab", "local", n) == 1
            assert ttest_rel(mine, theirs).pvalue < 0.05
            assert curve.mean("collab", n) < curve.mean("local", n)
        assert curve.compare("local", "collab", n) == -curve.compare("collab", "local", n)
    assert curve.ahead_from("local", "collab") is None
    assert curve.mean("collab", 21) is None
    assert curve.compare("collab", "local", 21) is None


def test_two_ways_to_one_estimate_are_the_same_and_one_trial_decides_nothing():
    alone = cc.Problem(np.eye(3), [1.0, 2.0, 3.0], 1.0, [[0, 1, 2]])
    curve = simulate.error_curve(alone, [50, 500], 30, ["collab", "local"], target=0)
    assert curve.compare("collab", "local", 500) == 0
    assert curve.ahead_from("collab", "local") is None
    problem = random_problem(np.random.default_rng(13))
    single = simulate.error_curve(problem, [200], 1, ["collab", "local"], target=0)
    assert single.compare("collab", "local", 200) == 0


def test_the_first_report_is_theory_alone():
    problem = random_problem(np.random.default_rng(14))
    reports = []
    simulate.error_curve(
        problem, [50], 5, ["collab"], progress=lambda share, curve: reports.append((share, curve))
    )
    share, curve = reports[0]
    assert share == 0
    assert curve.frame["mean"].isna().all()
    assert curve.frame["theory"].notna().all()


def test_theory_is_worked_out_once_for_all_reports_of_a_run(monkeypatch, small_chunks):
    asked = []
    formula = simulate.expected_errors
    monkeypatch.setattr(
        simulate,
        "expected_errors",
        lambda problem, method, *rest, **more: (
            asked.append(method) or formula(problem, method, *rest, **more)
        ),
    )
    problem = random_problem(np.random.default_rng(14))
    frames = []
    error_curve(
        problem, [50, 90], 40, ["collab", "local"], target=0,
        progress=lambda _, curve: frames.append((curve.frame, curve.relative_to("collab"))),
    )  # fmt: skip
    assert len(frames) > 3
    assert sorted(asked) == ["collab", "local"]
    for frame, _ in frames:
        pd.testing.assert_series_equal(frame["theory"], frames[0][0]["theory"])
