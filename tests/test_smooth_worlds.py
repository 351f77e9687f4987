"""Logistic worlds: measures, ordering of methods, calibration, one seed; their figures."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from threading import Event

import numpy as np
import pytest

import collab_core as cc
from collab_core import figures
from collab_core.core.target import Target
from collab_core.smooth import (
    LogisticSettings,
    LogisticWorld,
    curves,
    fit,
    methods,
    models_of_agent,
    trouble_of,
    with_constant,
)
from collab_core.smooth.cancelling import CancelledError, cancelled_by
from collab_core.smooth.measures import (
    accuracy,
    calibration_error,
    log_loss,
    measured,
    overconfidence,
    reliability,
)
from collab_core.smooth.running import Part, chunk, measured_at
from collab_core.smooth.simulated import Data, SimulatedStep, planned

SMALL = cc.Scenario(d=6, m=8, rich=2, rich_size=5, size=3, spikes=2, seed=1)
METHODS = methods.keys()
FULL = Target()


# Measures ----------------------------------------------------------------------------------------


def test_measures_against_plain_loops():
    rng = np.random.default_rng(0)
    eta, y = 2 * rng.standard_normal((3, 50)), (rng.random((3, 50)) < 0.4) * 1.0
    p = 1 / (1 + np.exp(-eta))
    loss = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(axis=1)
    np.testing.assert_allclose(log_loss(eta, y), loss)
    np.testing.assert_allclose(accuracy(eta, y), ((p > 0.5) == y).mean(axis=1))
    sums = reliability(eta, y, bins=5)
    for t in range(3):
        error = 0.0
        for j in range(5):
            inside = (p[t] >= j / 5) & (p[t] < (j + 1) / 5)
            np.testing.assert_allclose(sums[t, 0, j], inside.sum())
            np.testing.assert_allclose(sums[t, 1, j], p[t][inside].sum())
            if inside.any():
                error += inside.mean() * abs(p[t][inside].mean() - y[t][inside].mean())
        np.testing.assert_allclose(calibration_error(sums)[t], error)
    assert np.isfinite(measured(np.full((1, 2), 5000.0), np.array([[1.0, 0.0]]))[0]["log_loss"])


def test_overconfidence_has_the_right_sign():
    eta = np.random.default_rng(0).standard_normal(20_000)
    truth = 1 / (1 + np.exp(-eta))
    assert overconfidence(reliability(3 * eta, truth)) > 0.05
    assert overconfidence(reliability(eta / 3, truth)) < -0.05
    assert abs(overconfidence(reliability(eta, truth))) < 1e-12


# Worlds ------------------------------------------------------------------------------------------


def test_the_best_predictor_is_the_conditional_probability():
    """Against drawing the unseen features given the seen ones."""
    rng = np.random.default_rng(0)
    world = LogisticWorld(SMALL.problem(), 2.0, -0.5)
    view = world.problem.views[4]
    x = rng.multivariate_normal(np.zeros(6), world.problem.covariance, 5)
    unseen = np.flatnonzero(~world.problem.mask[4])
    sigma = world.problem.covariance
    gain = sigma[np.ix_(unseen, view)] @ np.linalg.inv(sigma[np.ix_(view, view)])
    root = np.linalg.cholesky(world.problem.schur(4))
    draws = 200_000
    for row in x:
        rest = gain @ row[view] + rng.standard_normal((draws, unseen.size)) @ root.T
        full = np.tile(row, (draws, 1))
        full[:, unseen] = rest
        p = (1 / (1 + np.exp(-world.predictor(full)))).mean()
        found = 1 / (1 + np.exp(-world.best_predictor(row[None], 4)[0]))
        assert abs(found - p) < 4 * 0.5 / np.sqrt(draws)
    assert abs(np.sqrt(world.theta @ sigma @ world.theta) - 2.0) < 1e-12


@pytest.fixture(scope="module")
def found():
    return curves(LogisticWorld(SMALL.problem(), 2.5), [40, 150, 1500], 24, ["full", 3], seed=3)


def test_collab_is_between_alone_and_the_ceiling(found):
    """Log-loss, paired trials: what a person is told, at small and at large n."""
    own, full = found[3]["log_loss"], found["full"]["log_loss"]
    for n in (40, 150, 1500):
        assert own.compare("collab", "local", n) == 1
        assert own.compare("collab", "naive_collab", n) == 1
        assert own.compare("collab", "full_data", n) in (-1, 0)
        assert found[3]["accuracy"].compare("collab", "local", n) in (0, 1)
    assert own.ahead_from("collab", "local") == 40
    assert own.ahead_from("local", "collab") is None
    assert full.compare("collab", "full_data", 1500) == -1
    assert full.compare("naive_collab", "collab", 1500) == -1


def test_nothing_beats_the_best_possible(found):
    for measured_of_target in found.values():
        loss, right = (measured_of_target[measure] for measure in ("log_loss", "accuracy"))
        for method in METHODS:
            for n in loss.sample_sizes:
                assert loss.at(method, n).size == right.at(method, n).size == 24
                assert (loss.at(method, n) >= loss.best - 1e-12).all()
                assert (right.at(method, n) <= right.best + 1e-12).all()
        assert measured_of_target["calibration"].best < 1e-12


def test_everybody_gets_calibrated_with_n_but_the_linear_transform_stays_timid(found):
    """On all features the paper's linear T is biased: that shows in calibration."""
    full, own = found["full"]["calibration"], found[3]["calibration"]
    for method in ("local", "full_data", "collab_attenuated"):
        small, large = (full.mean(method, n) for n in (40, 1500))
        assert large < 0.5 * small
    assert full.mean("full_data", 1500) < 0.01
    assert full.compare("collab_attenuated", "collab", 1500) == 1
    assert overconfidence(full.bins["collab", 1500]) < -0.01
    assert overconfidence(own.bins["local", 40]) > 0.05
    assert found["full"]["log_loss"].compare("collab_attenuated", "collab", 1500) == 1


def test_frames_hold_the_numbers(found):
    curve = found["full"]["log_loss"]
    frame = curve.frame.set_index(["method", "n"])
    values = curve.at("collab", 150)
    row = frame.loc[("collab", 150)]
    assert row["mean"] == pytest.approx(values.mean())
    assert row["low"] < row["mean"] < row["high"]
    gap = values - curve.at("local", 150)
    assert row["gap"] == pytest.approx(gap.mean())
    assert row["gap_high"] < 0
    table = found["full"].table()
    assert set(table["measure"]) == {"log_loss", "accuracy", "calibration"}
    assert len(table) == 3 * len(METHODS) * 3
    lines = curve.reliability_frame(150)
    shares = lines.groupby("method")["share"].sum()
    np.testing.assert_allclose(shares, 1)
    assert lines["observed"].between(0, 1).all()


def test_one_seed_gives_one_result_whatever_the_executor():
    world = LogisticWorld(SMALL.problem(), 1.0, 0.5)
    settings = LogisticSettings(unlabelled="pool", pool=200, correction=True)
    arguments = (world, [30, 60], 45, ["full"], ["collab", "local"])
    one = curves(*arguments, seed=5, settings=settings)["full"]
    with ThreadPoolExecutor(3) as executor:
        other = curves(*arguments, seed=5, settings=settings, executor=executor)["full"]
    for measure, curve in one.items():
        for method, n in product(("collab", "local"), (30, 60)):
            np.testing.assert_array_equal(curve.at(method, n), other[measure].at(method, n))
        assert curve.done == 45
    third = curves(*arguments, seed=6, settings=settings)["full"]
    assert (third["log_loss"].at("local", 30) != one["log_loss"].at("local", 30)).any()


def test_unequal_sizes_empty_views_and_few_samples_are_survived():
    scenario = cc.Scenario(d=5, m=4, missing="hub", size=0, allocation="narrow", ratio=50, seed=2)
    found = curves(LogisticWorld(scenario.problem(), 3.0, 1.0), [6, 12], 6, ["full", 1], seed=1)
    for measured_of_target in found.values():
        for curve in measured_of_target.values():
            for method, n in product(METHODS, (6, 12)):
                assert np.isfinite(curve.at(method, n)).all()
    trouble = found["full"]["log_loss"].trouble[6]
    assert trouble.fits == 6 * 4
    assert trouble.regularised + trouble.one_class > 0


def test_two_ways_to_one_model_are_not_told_apart():
    problem = cc.Problem(np.eye(2), [1.0, -1.0], 1.0, [[0, 1]])
    curve = curves(LogisticWorld(problem, 1.5), [80], 20, [0], ["local", "collab", "full_data"])
    curve = curve[0]["log_loss"]
    assert curve.compare("collab", "local", 80) == 0
    assert curve.compare("full_data", "local", 80) == 0


def test_a_plan_can_be_sent_to_a_worker():
    plan = planned(LogisticWorld(SMALL.problem(), 1.0), [30], 2, ["full"], METHODS, 0, None)
    again = pickle.loads(pickle.dumps(plan))
    one, two = (chunk(which, 0, None)[FULL] for which in (plan, again))
    for key, values in one.values.items():
        np.testing.assert_array_equal(values, two.values[key])


def test_stopping_keeps_what_was_done_and_reports_come_along_the_way():
    cancel, seen = Event(), []

    def progress(fraction, partial):
        seen.append((fraction, partial["full"]["log_loss"].done))
        if seen[-1][1]:
            cancel.set()

    world = LogisticWorld(SMALL.problem(), 1.0)
    found = curves(world, [50], 200, ["full"], ["local"], progress=progress, cancel=cancel)
    found = found["full"]["log_loss"]
    assert seen[0] == (0.0, 0)
    assert 0 < found.done < 200
    assert found.partial
    # Chunks that were cut short are not counted as done.
    assert seen[-1][0] < 1


def test_models_of_one_data_set():
    world = LogisticWorld(SMALL.problem(), 2.0)
    found = models_of_agent(world, 20_000, 0, ("local", "collab", "full_data"), seed=1)
    assert found.trouble.all_plain
    frame = found.frame
    assert frame["name"].tolist()[0] == "intercept"
    assert len(frame) == 1 + world.problem.sizes[0]
    # Its own fit at large n is near its limit, which is not the linear transform of the truth.
    near = np.abs(frame["local"] - frame["best"]).max()
    assert near < 0.12
    assert np.abs(frame["full_data"] - frame["best"]).max() < 0.12
    assert (np.abs(frame["best"]) <= np.abs(frame["plain"]) + 1e-12).all()


def test_ridge_answers_are_counted_by_method_and_target():
    """Newcomers and everybody's samples together may be separated where no agent is."""
    world = LogisticWorld(SMALL.problem(), 4.0)
    found = curves(world, [16], 10, ["full", 3], seed=1)
    found = {target: measured_there["log_loss"] for target, measured_there in found.items()}
    for target, curve in found.items():
        trouble = curve.trouble[16]
        assert trouble.fits == 80
        assert set(trouble.ridge) == set(METHODS)
        assert trouble.ridge["collab"] == trouble.ridge["naive_collab"] == 0
        frame = curve.frame
        assert trouble_of(frame)[16] == trouble, target
    # The newcomer sees all six features, the agent three.
    assert found["full"].trouble[16].ridge["local"] > found[3].trouble[16].ridge["local"] > 0
    assert not found["full"].trouble[16].all_plain
    plan = planned(world, [16], 10, ["full"], METHODS, 1, None)
    data = Data.draw(plan, 0)
    x, y = data.newcomer
    newcomer = fit(with_constant(x), y)
    assert found["full"].trouble[16].ridge["local"] == newcomer.regularised.sum()
    assert models_of_agent(world, 16, 3, seed=1).trouble.regularised > 0


def test_what_fails_in_some_trials_has_no_average():
    """The one agent who sees everything has one class in some trials: no model of all there."""
    scenario = cc.Scenario(d=6, m=4, missing="hub", size=2, seed=0)
    curve = curves(
        LogisticWorld(scenario.problem(), 2.0, -2.0), [8], 60, ["full"], ["collab", "local"]
    )
    found = curve["full"]["log_loss"]
    assert "nobody who takes part sees" in found.notes["collab", 8]
    assert found.mean("collab", 8) is None
    assert found.mean("local", 8) is not None


def test_stopping_leaves_no_n_with_some_methods_only():
    """Cancelled while methods are fitted: what is kept is still paired."""
    cancel = Event()
    world = LogisticWorld(SMALL.problem(), 1.0)
    plan = planned(world, [20, 40], 4, ["full"], METHODS, 0, None)
    data = Data.draw(plan, 0)

    class Late(SimulatedStep):
        def model(self, method, target):
            if self.n == 40 and method == "local":
                cancel.set()
            return super().model(method, target)

    part = Part()
    with cancelled_by(cancel):
        part.take(measured_at(Late(plan, data, 20, {}), METHODS, [FULL])[FULL])
        with pytest.raises(CancelledError):
            measured_at(Late(plan, data, 40, {}), METHODS, [FULL])
    assert {n for _, _, n in part.values} == {20}
    assert not chunk(plan, 0, cancel)[FULL].values
    assert models_of_agent(world, 20, 0, cancel=cancel) is None


def test_a_stopped_run_knows_how_many_trials_each_n_has():
    world = cc.smooth.LogisticWorld(
        cc.Scenario(d=6, m=4, rich=2, rich_size=5, size=3).problem(), 2.0
    )
    curve = cc.smooth.curves(world, [40, 80], 3, ["full"])["full"]["accuracy"]
    assert curve.done_at == {40: 3, 80: 3}
    shorter = {key: {40: found[40], 80: found[80][:2]} for key, found in curve.errors.items()}
    assert replace(curve, errors=shorter).done_at == {40: 3, 80: 2}


def test_wrong_arguments_are_named():
    world = LogisticWorld(SMALL.problem())
    with pytest.raises(ValueError, match=r"method must be one of collab, .*; got 'collab_plus'"):
        curves(world, [10], 1, methods=["collab_plus"])
    with pytest.raises(ValueError, match="methods must name"):
        curves(world, [10], 1, methods=[])
    with pytest.raises(ValueError, match="sample_sizes must"):
        curves(world, [], 1)
    with pytest.raises(ValueError, match="targets must name"):
        curves(world, [10], 1, [])
    with pytest.raises(ValueError, match="target must be"):
        curves(world, [10], 1, [99])
    with pytest.raises(ValueError, match="signal must not be negative"):
        LogisticWorld(SMALL.problem(), -1.0)
    with pytest.raises(ValueError, match="unlabelled must be one of"):
        LogisticSettings(unlabelled="some")


# Figures -----------------------------------------------------------------------------------------


def test_collab_is_drawn_over_everything_and_full_data_under_it(found):
    drawn = figures.measure_curve(found[3]["log_loss"].frame, "log-loss", title="t", beyond=True)
    lines = [trace for trace in drawn.data if trace.mode == "lines+markers"]
    assert [lines[0].name, lines[-1].name] == ["Full data", "COLLAB"]
    assert lines[0].line.width > 3 * lines[-1].line.width
    # The legend keeps the order of tables.
    ranked = sorted(lines, key=lambda line: line.legendrank)
    assert [line.name for line in ranked] == [methods.get(key).label for key in METHODS]


@pytest.mark.parametrize("beyond", [True, False])
def test_bands_are_within_the_axis_and_never_reach_the_floor_of_a_log_axis(beyond):
    found = curves(LogisticWorld(SMALL.problem(), 2.5), [12, 40], 3, ["full"], seed=3)
    frame = found["full"]["log_loss"].frame
    assert (frame["low"] < frame["best"]).any()
    drawn = figures.measure_curve(frame, "log-loss", title="t", beyond=beyond)
    low, high = drawn.layout.yaxis.range
    if beyond:
        low, high = 10**low, 10**high
    best = frame["best"].iloc[0] if beyond else 0.0
    bands = [trace for trace in drawn.data if trace.fill == "toself"]
    assert len(bands) == len(METHODS)
    for trace in bands:
        rows = frame[frame["method"].map(lambda key: methods.get(key).label) == trace.legendgroup]
        ends, means = trace.y[len(rows) :][::-1], (rows["mean"] - best).to_numpy(dtype=float)
        if beyond:
            assert (ends >= means / 4 - 1e-12).all()
            assert ends.min() > low
    # A linear axis holds bands as far as half of what the means span, no further.
    calm = frame[frame["method"] == "full_data"]
    assert (calm["high"] - best).max() < high
    assert low < max((calm["low"] - best).min(), 0.25 * (calm["mean"] - best).min())
