"""Beyond Gaussian features: fourth moments, optimal weights, what pretending costs."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core import figures
from collab_core.answers import gaussian_cost as pretending
from collab_core.bounds import weights
from collab_core.runs.simulate import error_curve
from collab_core.runs.unlabelled import curve as unlabelled_curve
from collab_core.words.numbers import percent, plus_minus, two_digits
from collab_core.world.laws import EmpiricalLaw, FeatureLaw, NamedLaw, Tails, square_root

from .bureau import records
from .test_census import PERSONS, needs_persons
from .worlds import assert_psd_order, problems, random_problem, raw_moments

STANDARD_ERRORS = 4.5
HUB = cc.Scenario(
    d=4, m=5, spectrum="geometric", condition=10, missing="hub", size=2, sigma=0.5, seed=1
)
TAILS = st.one_of(
    st.builds(Tails, st.just("independent"), st.sampled_from([-2.0, -1.2, 0.0, 6.0, 50.0])),
    st.builds(Tails, st.just("common"), st.sampled_from([0.0, 3.0, 30.0])),
)


def law_of(key: str) -> NamedLaw:
    """With moments enough for a Monte-Carlo average of fourth moments to have an error."""
    mild = {"degrees_of_freedom": 14.0, "rate": 0.2, "ratio": 2.5}
    law = cc.laws.get(key)
    names = [field.name for field in law.parameters()]
    return law(**{name: value for name, value in mild.items() if name in names})


# Laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", cc.laws.keys())
def test_fourth_moments_in_closed_form_are_the_draws(name):
    law, count = law_of(name), 300_000
    b = np.array([0.3, -1.1, 0.6])
    z = law.white(np.random.default_rng(1), (count, 3))
    products = (z @ b)[:, None, None] ** 2 * z[:, :, None] * z[:, None, :]
    expected = (b @ b) * np.eye(3) + 2 * np.outer(b, b) + law.excess(b)
    error = products.std(axis=0) / np.sqrt(count)
    assert (np.abs(products.mean(axis=0) - expected) < STANDARD_ERRORS * error).all()


@pytest.mark.parametrize("name", sorted({*cc.laws.keys()} - {"mixture"}))
def test_kurtosis_of_a_coordinate(name):
    law, count = law_of(name), 300_000
    fourth = law.white(np.random.default_rng(2), (count, 2))[:, 0] ** 4
    spread = fourth.std() / np.sqrt(count)
    assert abs(fourth.mean() - 3 - law.tails.kurtosis) <= STANDARD_ERRORS * spread + 1e-12


def test_excess_takes_stacks_of_directions():
    b = np.random.default_rng(0).standard_normal((2, 5, 4))
    for law in (FeatureLaw("mixture"), FeatureLaw("rare"), FeatureLaw("outliers")):
        together = law.excess(b)
        assert together.shape == (2, 5, 4, 4)
        assert_allclose(together[1, 3], law.excess(b[1, 3]), rtol=1e-12)


def test_laws_are_read_from_text_with_their_parameter():
    assert cc.laws.of("rare(0.1)") == FeatureLaw("rare", rate=0.1)
    assert cc.laws.of("outliers(3)") == FeatureLaw("outliers", ratio=3)
    assert cc.laws.of("elliptical_t(5)") == FeatureLaw("elliptical_t", degrees_of_freedom=5)
    for wrong in ("rare(0)", "rare(1)", "outliers(0.5)", "elliptical_t(4)", "uniform(3)", "rare(-"):
        with pytest.raises(ValueError, match=r"rate|ratio|degrees_of_freedom|features"):
            cc.laws.of(wrong)
    with pytest.raises(ValueError, match="at least 0 here"):
        Tails("common", -1)


def test_an_empirical_law_gives_its_rows_back():
    rng = np.random.default_rng(0)
    rows = rng.exponential(size=(500, 3)) @ rng.standard_normal((3, 3)) + 5
    law = EmpiricalLaw(rows)
    centred = rows - rows.mean(axis=0)
    drawn = law.white(np.random.default_rng(1), (4, 50, 3)) @ square_root(law.covariance)
    assert drawn.shape == (4, 50, 3)
    gaps = np.abs(drawn.reshape(-1, 1, 3) - centred).max(axis=2)
    assert gaps.min(axis=1).max() < 1e-9
    b = np.array([[1.0, 0.5, -2.0], [0.0, 1.0, 0.0]])
    z = law.rows
    assert_allclose(z.T @ z / 500, np.eye(3), atol=1e-10)
    direct = np.einsum("nk,nl,in->ikl", z, z, (b @ z.T) ** 2) / 500
    gaussian = (b**2).sum(axis=1)[:, None, None] * np.eye(3) + 2 * b[:, :, None] * b[:, None, :]
    assert_allclose(law.excess(b), direct - gaussian, atol=1e-10)


def test_an_empirical_law_says_what_is_wrong_with_its_rows():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 3))
    with pytest.raises(ValueError, match="more than their 3 columns"):
        EmpiricalLaw(x[:3])
    with pytest.raises(ValueError, match="column 1 does not vary"):
        EmpiricalLaw(x * [1, 0, 1])
    with pytest.raises(ValueError, match="combination of others"):
        EmpiricalLaw(np.column_stack([x, x.sum(axis=1)]))
    with pytest.raises(ValueError, match="has 3 features, 4 were asked for"):
        EmpiricalLaw(x).white(rng, (5, 4))


# Scores and weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rare", "outliers", "mixture", "rademacher"])
def test_scores_of_a_law_are_those_of_many_samples(name):
    law, count = law_of(name), 400_000
    problem = random_problem(np.random.default_rng(3), d=4, m=3)
    x = law.white(np.random.default_rng(4), (count, 4)) @ square_root(problem.covariance)
    measured = weights.score_covariances(x, problem.geometry, problem.theta, problem.noise**2)
    for i, (exact, mean) in enumerate(
        zip(weights.scores_of_law(problem, law), measured, strict=True)
    ):
        view = problem.views[i]
        left = x @ problem.theta - x[:, view] @ problem.local_theta(i)
        products = left[:, None, None] ** 2 * x[:, view, None] * x[:, None, view]
        error = products.std(axis=0) / np.sqrt(count)
        assert (np.abs(mean - exact) < STANDARD_ERRORS * error).all()


def test_a_common_scale_only_changes_how_much_an_agent_counts():
    problem = random_problem(np.random.default_rng(0), d=5, m=4)
    law = FeatureLaw("elliptical_t", degrees_of_freedom=5.0)
    for i, score in enumerate(weights.scores_of_law(problem, law)):
        # E r^4 = (nu - 2) / (nu - 4) = 3.
        factor = 3 * problem.irreducible[i] + problem.noise**2
        assert_allclose(score, factor * problem.geometry.block(i), rtol=1e-9, atol=1e-12)


def test_samples_of_each_trials_own_are_summed_as_shared_ones():
    problem = random_problem(np.random.default_rng(1), d=5, m=4)
    rng = np.random.default_rng(2)
    x, theta = rng.standard_normal((3, 70, 5)), rng.standard_normal((3, 5))
    variance = np.array([0.5, 1.0, 2.0])
    stacked = weights.score_covariances(x, problem.geometry, theta, variance)
    for t in range(3):
        one = weights.score_covariances(x[t], problem.geometry, theta[t], variance[t])
        for a, b in zip(stacked, one, strict=True):
            assert_allclose(a[t], b, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="2 or 3 axes"):
        weights.score_covariances(x[0, 0], problem.geometry, theta[0], 1.0)


@given(problems(), TAILS)
def test_no_weights_beat_the_optimal_ones(problem, tails):
    scores = weights.scores_of_law(problem, tails)
    best = cc.bounds.optimal(problem, scores)
    again = cc.bounds.weighted(problem, weights.weights_of(scores, problem.geometry), scores)
    assert_allclose(best, again, rtol=1e-5, atol=1e-7 * np.abs(best).max())
    rng = np.random.default_rng(0)
    others = [
        weights.gaussian_weights(problem),
        [np.eye(size) for size in problem.sizes],
        [np.diag(rng.uniform(0.2, 2, size)) for size in problem.sizes],
    ]
    # In units in which features have variance 1, so that rounding is small against all of it.
    scale = np.sqrt(np.diagonal(problem.covariance))
    unit = np.outer(scale, scale)
    for other in others:
        assert_psd_order(unit * cc.bounds.weighted(problem, other, scores), unit * best)
    assert pretending.loss(problem, tails) >= 0


@given(problems())
def test_nothing_is_lost_where_features_are_gaussian(problem):
    assert pretending.loss(problem, "gaussian") == 0
    found = pretending.covariances(problem, "gaussian")
    assert_allclose(found["collab"], cc.bounds.gauss(problem), rtol=1e-6)
    assert_allclose(found["collab_oracle"], cc.bounds.gauss(problem), rtol=1e-6)


def test_nothing_is_lost_where_everybody_sees_everything():
    problem = cc.Problem(cc.covariance.ar1(4, 0.6), [1, -1, 2, 0.5], 0.3, [range(4)] * 3)
    assert pretending.loss(problem, "rare(0.01)") == 0


def test_stretched_weights_are_algorithm_1s_for_gaussian_features():
    problem = random_problem(np.random.default_rng(5), d=5, m=4)
    moments = raw_moments(problem, 30, np.random.default_rng(6), trials=(3,))
    scores = weights.scores_of_law(problem, "gaussian")
    samples = {i: moment.xx / 30 for i, moment in enumerate(moments)}
    found = weights.empirical_weights(scores, samples, problem.geometry)
    for i in range(problem.agents):
        assert_allclose(found[i], samples[i] / problem.unexplained[i], rtol=1e-8, atol=1e-10)
    with_scores = cc.estimators.collab_scored(
        moments, problem.views, problem.covariance, scores, "empirical"
    )
    imputed = cc.estimators.global_imputation(
        moments, problem.views, problem.covariance, 1 / problem.unexplained
    )
    assert_allclose(with_scores.theta, imputed.theta, rtol=1e-7)


def test_stretched_weights_become_the_optimal_ones_as_the_sample_grows():
    problem = random_problem(np.random.default_rng(5), d=4, m=3)
    scores = weights.scores_of_law(problem, "rare(0.1)")
    exact = {i: problem.geometry.block(i) for i in range(problem.agents)}
    found = weights.empirical_weights(scores, exact, problem.geometry)
    for i, best in enumerate(weights.weights_of(scores, problem.geometry)):
        assert_allclose(found[i], best, rtol=1e-8)


def test_wrong_scores_are_named():
    problem = random_problem(np.random.default_rng(0), d=4, m=3)
    moments = raw_moments(problem, 50, np.random.default_rng(1))
    scores = weights.scores_of_law(problem, "uniform")
    with pytest.raises(ValueError, match="scores must hold one matrix per agent"):
        cc.estimators.collab_scored(moments, problem.views, problem.covariance, scores[:2])
    with pytest.raises(ValueError, match="score_covariances must hold 3"):
        cc.bounds.optimal(problem, scores[:2])
    wrong = [np.eye(size + 1) for size in problem.sizes]
    with pytest.raises(ValueError, match=r"score_covariances\[0\] must be"):
        cc.bounds.optimal(problem, wrong)


# Theory beside simulation ------------------------------------------------------------------------

COMPARED = ["collab", "collab_oracle", "identity", "imputation", "local"]


@pytest.mark.parametrize("target", ["full", 2])
@pytest.mark.parametrize("features", ["outliers(3)", "rare(0.1)"])
def test_measured_errors_are_those_of_the_integral_over_the_law(features, target):
    problem, n, trials = HUB.problem(), 4000, 400
    curve = error_curve(problem, [n], trials, COMPARED, target, features=features, seed=1)
    for row in curve.frame.itertuples():
        error = (row.high - row.low) / 2 / 1.96
        # What the leading order leaves out is of the relative size d kurtosis / n.
        assert abs(row.mean - row.theory) < STANDARD_ERRORS * error + 0.01 * row.theory, row


def test_optimal_weights_win_what_theory_says():
    problem, n = HUB.problem(), 2000
    methods = ["collab", "collab_optimal", "collab_oracle"]
    curve = error_curve(
        problem, [n], 400, methods, features="outliers(4)", seed=2, unlabelled=20_000
    )
    frame = curve.relative_to("collab").set_index("method")
    promised = 1 / (1 + pretending.loss(problem, "outliers(4)"))
    assert promised < 0.85
    for method in ("collab_optimal", "collab_oracle"):
        row = frame.loc[method]
        error = (row["high"] - row["low"]) / 2 / 1.96
        assert_allclose(row["theory"], promised, rtol=1e-9)
        # 20,000 unlabelled samples leave the estimated weights within a hundredth of the best.
        assert abs(row["ratio"] - promised) < STANDARD_ERRORS * error + 0.015
        assert row["high"] < 1
    assert curve.compare("collab_oracle", "collab", n) == 1


def test_any_weights_are_consistent():
    problem = HUB.problem()
    rng = np.random.default_rng(0)
    odd = [np.diag(rng.uniform(0.01, 1, size)) for size in problem.sizes]
    law, root = FeatureLaw("exponential"), square_root(problem.covariance)
    errors = {}
    for n in (200, 3200):
        moments = []
        for view in problem.views:
            x = law.white(rng, (300, n, 4)) @ root
            y = x @ problem.theta + problem.noise * rng.standard_normal((300, n))
            moments.append(cc.Moments.from_arrays(x[..., view], y))
        gap = cc.estimators.aggregate(moments, problem.views, problem.covariance, odd).theta
        gap = gap - problem.theta
        errors[n] = ((gap @ problem.covariance) * gap).sum(axis=1)
    ratio = errors[200].mean() / errors[3200].mean()
    spread = ratio * np.sqrt(sum((e.std() / e.mean()) ** 2 / e.size for e in errors.values()))
    # Sixteen times the samples, a sixteenth of the error; at n = 200 a little more than 1/n.
    assert abs(ratio - 16) < STANDARD_ERRORS * spread + 2


def test_theory_of_a_method_without_a_formula_is_missing():
    curve = error_curve(HUB.problem(), [200], 3, features="uniform")
    known = set(curve.frame.loc[curve.frame["theory"].notna(), "method"])
    assert known == {"collab", "rw_imputation", "imputation", "local"}
    gaussian = error_curve(HUB.problem(), [200], 3, ["collab", "collab_oracle", "identity"])
    theory = gaussian.frame.set_index("method")["theory"]
    assert_allclose(theory["collab_oracle"], theory["collab"])
    assert theory["identity"] > theory["collab"]


def test_ratios_of_paired_trials():
    curve = error_curve(HUB.problem(), [50], 30, ["collab", "identity"], features="uniform")
    row = curve.relative_to("collab").iloc[0]
    mine, theirs = (curve.errors[key][50] for key in ("identity", "collab"))
    assert_allclose(row["ratio"], mine.mean() / theirs.mean())
    assert row["low"] < row["ratio"] < row["high"]
    alone = error_curve(HUB.problem(), [50], 1, ["collab", "identity"], features="uniform")
    assert pd.isna(alone.relative_to("collab")["low"].iloc[0])


# Unlabelled samples ------------------------------------------------------------------------------


def test_more_unlabelled_samples_come_nearer_to_the_optimum():
    problem = HUB.problem()
    sizes = [10, 40, 200, 1000, 5000]
    curve = unlabelled_curve(problem, 300, sizes, 60, features="outliers(4)", seed=3)
    limits = curve.frame["limit"].to_numpy(dtype=float)
    assert (np.diff(limits) < 0).all()
    # Never below the optimum, whatever was drawn.
    assert all((values >= curve.optimal * (1 - 1e-9)).all() for values in curve.limits.values())
    assert limits[-1] < curve.optimal * 1.02
    assert curve.won > 0.9
    at = curve.break_even
    k = int(np.flatnonzero(limits >= curve.gaussian)[-1]) if limits[0] >= curve.gaussian else None
    if k is None:
        assert at == 10
    else:
        assert sizes[k] <= at <= sizes[k + 1]
    assert_allclose(curve.gaussian / curve.optimal - 1, pretending.loss(problem, "outliers(4)"))


def test_break_even_by_hand():
    curve = unlabelled_curve(HUB.problem(), 50, [10, 100], 2, features="outliers(4)")
    limits = {10: np.array([2.0, 2.0]), 100: np.array([0.5, 0.5])}
    by_hand = replace(curve, limits=limits, gaussian=1.0, optimal=0.4)
    # In logarithms 1 is half way between 2 and 1/2.
    assert_allclose(by_hand.break_even, np.sqrt(10 * 100))
    assert_allclose(by_hand.won, 0.5 / 0.6)


def test_the_range_of_a_break_even():
    curve = unlabelled_curve(HUB.problem(), 50, [10, 100], 2, features="outliers(4)")
    rng = np.random.default_rng(0)

    def limits(spread, trials=20):
        late = 0.5 * np.exp(spread * rng.standard_normal(trials))
        return {10: np.full(trials, 2.0), 100: late}

    by_hand = replace(curve, limits=limits(0.0), gaussian=1.0, optimal=0.4)
    assert_allclose(by_hand.break_even_range, by_hand.break_even)
    narrow, wide = (replace(by_hand, limits=limits(spread)) for spread in (0.1, 0.4))
    for one in (narrow, wide):
        low, high = one.break_even_range
        assert low < one.break_even < high
    (low, high), (lower, higher) = narrow.break_even_range, wide.break_even_range
    assert higher / lower > high / low
    # A mean below 1 by two standard errors or less: some draws of the trials never pay.
    uncertain = np.where(np.arange(20) < 18, 0.5, 4.0)
    never = replace(by_hand, limits={10: np.full(20, 2.0), 100: uncertain})
    assert never.break_even is not None
    assert never.break_even_range[1] is None
    assert replace(by_hand, limits=limits(0.1, trials=1)).break_even_range is None
    assert replace(by_hand, limits={}).break_even_range is None


def test_gaussian_features_never_pay():
    curve = unlabelled_curve(HUB.problem(), 50, [20, 2000], 4, features="gaussian")
    assert curve.break_even is None
    assert curve.break_even_range is None
    assert curve.won is None
    assert abs(curve.loss) < 1e-9
    assert_allclose(curve.gaussian, curve.optimal)


def test_the_same_seed_gives_the_same_numbers_on_any_executor():
    problem = HUB.problem()
    curves = []
    for workers in (1, 3):
        with ThreadPoolExecutor(workers) as executor:
            curves.append(
                unlabelled_curve(
                    problem, 60, [20, 100_000], 8, features="rare(0.1)", executor=executor
                )
            )
    pd.testing.assert_frame_equal(curves[0].frame, curves[1].frame)
    assert curves[0].pays_from is None or curves[0].pays_from in (20, 100_000)


def test_stopping_keeps_what_was_computed():
    cancel = Event()
    seen = []

    def progress(fraction, curve):
        seen.append((fraction, curve))
        if fraction > 0:
            cancel.set()

    curve = unlabelled_curve(
        HUB.problem(), 60, [20, 60_000], 30, features="uniform", progress=progress, cancel=cancel
    )
    assert curve.partial
    assert 0 < curve.frame["trials"].iloc[0] < 30
    assert seen[0][1].frame["mean"].isna().all()
    with pytest.raises(ValueError, match="sizes must hold"):
        unlabelled_curve(HUB.problem(), 60, [], 3, features="uniform")


# Tables and maps ---------------------------------------------------------------------------------


def test_tables_agree_with_each_other():
    problem = HUB.problem()
    laws = {"a": "outliers(4)", "b": "gaussian", "c": "mixture"}
    frame = pretending.by_law(problem, laws).set_index("law")
    assert list(frame["loss"]) == sorted(frame["loss"], reverse=True)
    assert frame.loc["b", "loss"] == 0
    assert pd.isna(frame.loc["c", "kurtosis"])
    found = pretending.covariances(problem, "outliers(4)")
    errors = pretending.errors(found, problem).set_index("method")
    assert_allclose(errors.loc["collab", "loss"], frame.loc["a", "loss"])
    assert errors.loc["collab_oracle", "loss"] == 0
    assert errors.loc["collab", "worst"] >= errors.loc["collab", "loss"]
    wasted = errors.loc["collab", "wasted"]
    assert_allclose(1 / (1 - wasted) - 1, errors.loc["collab", "loss"])
    # What optimal weights save is of the Gaussian ones' error, what these cost of the optimum.
    saved = 1 - errors.loc["collab_oracle", "error"] / errors.loc["collab", "error"]
    assert_allclose(pretending.saving(errors.loc["collab", "loss"]), saved)
    agents = pretending.by_agent(problem, "outliers(4)")
    for row in agents.itertuples():
        expected = pretending.loss(problem, "outliers(4)", row.agent - 1)
        assert_allclose(row.loss, expected, atol=1e-9)
        own = pretending.covariances(problem, "outliers(4)", row.agent - 1)
        assert set(own) == set(COMPARED)


@pytest.mark.parametrize("target", ["full", 2])
def test_working_alone_is_compared_by_the_same_formula_as_in_curves(target):
    problem = HUB.problem()
    found = pretending.covariances(problem, "outliers(4)", target)
    table = pretending.errors(found, problem, target).set_index("method")
    for method in COMPARED:
        expected = cc.theory.expected_error(problem, method, 1, target, features="outliers(4)")
        assert_allclose(table.loc[method, "error"], expected)


@given(problems(), st.sampled_from(["independent", "common"]))
def test_many_tail_weights_at_once_are_each_by_itself(problem, kind):
    kurtoses = [0.0, 1.0, 30.0] + ([-2.0] if kind == "independent" else [])
    found = pretending.losses(problem, kind, kurtoses)
    each = [pretending.loss(problem, Tails(kind, kurtosis)) for kurtosis in kurtoses]
    assert_allclose(found, each, rtol=1e-6, atol=2 * pretending.NOTHING)


def test_the_map_is_the_loss_of_every_square():
    seen = []
    frame = pretending.loss_map(
        HUB, [-1.0, 0.0, 20.0], [0.0, 0.3], draws=2, progress=lambda f, rows: seen.append((f, rows))
    )
    assert len(frame) == 2 * (3 + 2)
    # All squares are there from the first pattern on.
    assert [(fraction, len(rows)) for fraction, rows in seen] == [(0.5, 10), (1.0, 10)]
    assert seen[0][1]["error"].isna().all()
    assert (frame.loc[frame["kurtosis"] == 0, "loss"] == 0).all()
    assert (frame.loc[frame["missing"] == 0, "loss"] == 0).all()
    assert (frame.loc[frame["kurtosis"] == 20, "loss"].to_numpy()[-2:] > 0).any()
    assert_allclose(frame["error"].astype(float), frame["spread"])
    again = pretending.loss_map(HUB, [20.0], [0.0, 0.3], draws=2, kinds=["common"])
    same = frame[(frame["kind"] == "common") & (frame["kurtosis"] == 20)]
    assert_allclose(again["loss"], same["loss"])
    with pytest.raises(ValueError, match="missing must be in"):
        pretending.loss_map(HUB, [1.0], [1.0])


def test_a_stopped_map_has_all_its_squares_or_none():
    cancel = Event()
    cancel.set()
    assert pretending.loss_map(HUB, [1.0], [0.1], cancel=cancel).empty
    cancel.clear()
    frame = pretending.loss_map(
        HUB, [1.0, 9.0], [0.1, 0.3], draws=9, cancel=cancel,
        progress=lambda fraction, _: cancel.set() if fraction > 0.3 else None,
    )  # fmt: skip
    assert len(frame) == 2 * 2 * 2
    assert set(frame["draws"]) == {3}


@pytest.mark.parametrize(("m", "share"), [(2, 0.1), (2, 0.4), (3, 0.6), (30, 0.7)])
def test_the_share_missing_is_the_one_asked_for(m, share):
    """With two agents and 40% missing, every fourth feature would have to be given back."""
    scenario = cc.Scenario(d=20, m=m, missing="independent")
    chance = pretending._chance(share, m)
    shares = []
    for draw in range(200):
        seen = pretending._seen_views(scenario, chance, (0, draw))
        shares.append(1 - sum(len(view) for view in seen) / (20 * m))
        assert len(set().union(*seen)) == 20
    error = np.std(shares) / np.sqrt(200)
    assert abs(np.mean(shares) - share) < STANDARD_ERRORS * error
    with pytest.raises(ValueError, match=f"below .* with {m} agents"):
        pretending.loss_map(scenario, [1.0], [pretending.most_missing(m)])


# Figures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaled", [False, True])
def test_a_method_gone_wild_does_not_take_the_axis(scaled):
    curve = error_curve(HUB.problem(), [50, 200], 5, ["collab", "identity"], features="uniform")
    frame = curve.frame
    wild = frame["method"].eq("identity") & frame["n"].eq(50)
    frame = frame.assign(
        mean=frame["mean"].mask(wild, 1e6),
        high=frame["high"].mask(wild, 2e6),
        low=frame["low"].mask(wild, 0),
    )
    drawn = figures.weighting_errors(frame, ["collab"], title="t", scaled=scaled)
    bottom, top = (10**end for end in drawn.layout.yaxis.range)
    values = frame[["theory", "mean"]].mul(frame["n"] if scaled else 1, axis=0)
    shown = values[~wild].stack().astype(float)
    assert bottom < shown.min()
    assert shown.max() < top < 1e3
    # Bands end within the figure.
    for trace in drawn.data:
        if trace.fill == "toself":
            assert bottom <= np.min(trace.y)
            assert np.max(trace.y) <= top
    outside = figures.beyond_axis(frame, ["collab"], scaled)
    assert list(outside["mean"]) == [1e6]


def legend(figure):
    return [t.name for t in figure.data if t.showlegend is not False and t.name and len(t.x)]


def test_the_legend_is_whole_before_the_first_trial():
    reports = []
    error_curve(
        HUB.problem(), [50, 200], 3, ["collab", "collab_oracle"], features="outliers(4)",
        progress=lambda _, curve: reports.append(curve),
    )  # fmt: skip
    names = [figures.label(key) for key in ("collab", "collab_oracle")]
    for curve in (reports[0], reports[-1]):
        errors = figures.weighting_errors(curve.frame, ["collab"], title="t")
        assert legend(errors) == names
        ratios = figures.relative_errors(curve.relative_to("collab"), "collab", title="t")
        assert legend(ratios) == names


def test_colours_of_the_map_do_not_depend_on_what_is_there():
    frame = pretending.loss_map(HUB, [0.0, 20.0], [0.1, 0.3], draws=3)
    tops = {
        figures.loss_heatmap(rows, "common", title="t").data[0].zmax
        for rows in (frame, frame.assign(loss=frame["loss"] * 10))
    }
    assert len(tops) == 1
    cells = figures.loss_heatmap(frame, "common", title="t").data[0]
    row = frame[(frame["kind"] == "common")].iloc[-1]
    assert cells.customdata[-1][-1] == plus_minus(row["loss"], row["error"])


def test_numbers_have_the_digits_that_are_known():
    assert percent(0.0234) == "2.3%"
    assert percent(0.0234, 0.012) == "2%"
    assert percent(0.164, pd.NA) == "16%"
    assert plus_minus(0.164, 0.069) == "16% ± 7%"
    assert plus_minus(0.0234, 0.0021) == "2.3% ± 0.2%"
    assert plus_minus(0.3, 0.001) == "30% ± 1%"
    assert plus_minus(0.0, 0.0) == "0.0%"
    assert [two_digits(x) for x in (8872, 358.2, 12, 7)] == ["8,900", "360", "12", "7"]


# Records -----------------------------------------------------------------------------------------


def study_of(people, states):
    asked = cc.census.paper_views(list(states), people.sums.questions)
    choice = cc.census.StudyChoice(tuple(states), tuple(asked[s] for s in states), states[-1])
    return cc.census.Study(people.sums, choice)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    path = tmp_path_factory.mktemp("census") / "people.csv"
    records(6000).to_csv(path, index=False)
    return cc.census.People.from_files([path], "made up")


def test_records_are_a_law_of_their_own(made_up):
    study = study_of(made_up, ("CA", "IL", "NY"))
    law = made_up.feature_law(study)
    assert law.rows.shape == (int(study.counts.sum()), len(study.features))
    # Sums divide by people less states, rows by people.
    freedom = (study.counts.sum() - 3) / study.counts.sum()
    assert_allclose(law.covariance, study.covariance * freedom, atol=1e-9)
    few = made_up.feature_law(study, most=900, seed=1)
    assert few.rows.shape[0] == 900
    assert_allclose(few.rows, made_up.feature_law(study, most=900, seed=1).rows)


def test_worlds_of_records(made_up):
    study = study_of(made_up, ("CA", "IL", "NY"))
    fitted = cc.census.world_of(study)
    assert_allclose(fitted.theta, study.problem.theta)
    assert [view.size for view in fitted.views] == [view.size for view in study.views]
    other = cc.census.world_of(study, relation="random", asks="half", seed=3)
    d = len(study.features)
    assert other.noise == 1
    assert list(other.sizes) == [d, d // 2, d // 2]
    again = cc.census.world_of(study, relation="random", asks="half", seed=3)
    assert_allclose(other.theta, again.theta)
    with pytest.raises(ValueError, match="relation must be one of"):
        cc.census.world_of(study, relation="wished for")
    with pytest.raises(ValueError, match="asks must be one of"):
        cc.census.world_of(study, asks="nothing")


def test_drawn_records_err_as_the_average_over_records_says(made_up):
    study = study_of(made_up, ("CA", "IL", "NY"))
    law = made_up.feature_law(study)
    # Rare levels need many samples before 1/n is all there is: the first few columns will do.
    part = EmpiricalLaw(law.rows[:, :5] + 0.3 * law.rows[:, 5:10])
    problem = cc.Problem(part.covariance, [1, -1, 0.5, 2, 1], 0.5, [range(5), [0, 1], [2, 3, 4]])
    n = 2000
    curve = error_curve(problem, [n], 300, ["collab", "collab_oracle"], features=part)
    for row in curve.frame.itertuples():
        error = (row.high - row.low) / 2 / 1.96
        assert abs(row.mean - row.theory) < STANDARD_ERRORS * error + 0.01 * row.theory


def test_sums_alone_are_no_law(made_up):
    study = study_of(made_up, ("CA", "IL", "NY"))
    without = cc.census.People(made_up.features, {}, made_up.sums)
    with pytest.raises(ValueError, match="only sums were kept"):
        without.feature_law(study)


@needs_persons
def test_real_records_lose_next_to_nothing_by_pretending():
    """What the states do not ask explains a two-hundredth of what nobody can: weights agree."""
    people = cc.census.People.from_files([PERSONS], "records")
    study = study_of(people, people.sums.states)
    law = people.feature_law(study)
    fitted = cc.census.world_of(study)
    assert fitted.irreducible.max() < 0.01 * fitted.noise**2
    assert pretending.loss(fitted, law) < 1e-6
    # With coefficients of which much is unseen it does cost, though tails are heavy in both.
    other = cc.census.world_of(study, relation="random", asks="half")
    assert pretending.loss(other, law) > 1e-3


def test_the_dearest_agents_come_first():
    problem = cc.Scenario(d=6, m=5, missing="hub", size=3, seed=1).problem()
    everybody = pretending.by_agent(problem, "outliers(4)")
    two = pretending.by_agent(problem, "outliers(4)", dearest=2)
    assert len(two) == 2
    assert two["loss"].tolist() == sorted(everybody["loss"], reverse=True)[:2]
    assert (two["loss"].to_numpy() == everybody.loc[two["agent"] - 1, "loss"].to_numpy()).all()
    with pytest.raises(ValueError, match="dearest"):
        pretending.by_agent(problem, "outliers(4)", dearest=0)


def test_errors_are_ranked_worst_first():
    problem = cc.Scenario(d=6, m=5, missing="hub", size=3, seed=1).problem()
    table = pretending.errors(pretending.covariances(problem, "outliers(4)"), problem)
    ranked = pretending.ranked(table)
    assert ranked["error"].is_monotonic_decreasing
    assert set(ranked["method"]) == set(table["method"])


def test_a_map_has_the_squares_of_each_kind():
    losses = pretending.loss_map(cc.Scenario(d=4, m=4, seed=1), [0, 6], [0.1, 0.3], draws=1)
    parts = [pretending.map_of_kind(losses, kind) for kind in ("independent", "common")]
    assert sum(map(len, parts)) == len(losses)
    for kind, part in zip(("independent", "common"), parts, strict=True):
        assert set(part["kind"]) == {kind}
        assert part.index.tolist() == list(range(len(part)))
    with pytest.raises(ValueError, match="kind"):
        pretending.map_of_kind(losses, "wild")
