"""Beyond linear: odd worlds, every part, words that are the numbers, stored and live records."""

import numpy as np
import pandas as pd
import pytest

import collab_core as cc
from collab_core.census import People
from collab_core.smooth import methods
from tests.bureau import records
from tests.test_smooth_methods import Ignorant

from .apps import (
    ODD_WORLDS,
    assert_put_right,
    assert_sound,
    compare,
    csv_frames,
    figures_of,
    finished,
    open_page,
    param,
    run_snippet,
    said,
    wait_for,
)

PAGE = "pages/beyond_linear.py"
SMALL = cc.Scenario(d=5, m=6, rich=2, rich_size=4, size=3, spikes=1, seed=2).to_query()
RUNS = {"curves": "logistic", "calibration": "reliability", "models": "logistic-models"}


def opened(query):
    app = open_page(PAGE, query)
    part = query.get("part", "curves")
    if part in RUNS and not app.error:
        finished(app, RUNS[part])
    return app


@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds(name):
    app = opened(ODD_WORLDS[name] | {"trials": "1"})
    assert_sound(app, least=2)
    assert not app.error
    for part in ("calibration", "models"):
        app.session_state["options"]["beyond_linear"] = {"part": part}
        finished(app.run(), RUNS[part])
        # One sample an agent has one class: there is no aggregate, and a sentence says so.
        if name == "n = 1":
            spoken = said(app) + "".join(error.value for error in app.error)
            assert "all labels are of one class" in spoken
            continue
        assert_sound(app)
        assert not app.error


@pytest.mark.parametrize(
    "choices",
    [
        {"measure": "accuracy", "signal": "4.0"},
        {"measure": "calibration", "intercept": "-2.0"},
        {"beyond": "0", "agent": "3", "trials": "1"},
        {"unlabelled": "pool", "corrected": "1"},
        {"methods": "naive_collab"},
        {"methods": "local,full_data", "from": "10", "to": "20"},
    ],
    ids=str,
)
def test_odd_choices(choices):
    app = opened(SMALL | {"trials": "5", "to": "50"} | choices)
    assert_sound(app, least=2)
    assert not app.error


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"signal": "7"}, "is not one of the choices; 2 is used"),
        ({"measure": "luck"}, "is not one of the choices"),
        ({"methods": "collab_plus"}, "is not one of the choices"),
        ({"agent": "77"}, "is not one of the choices"),
        ({"part": "census", "model": "x"}, "is not one of the choices"),
    ],
)
def test_a_wrong_link_is_put_right_and_says_so(choices, sentence):
    app = open_page(PAGE, SMALL | choices)
    assert_put_right(app, sentence)


def test_no_methods_get_a_sentence():
    for part in ("curves", "calibration"):
        app = open_page(PAGE, SMALL | {"part": part, "methods": "none"})
        assert any("Pick at least one method" in error.value for error in app.error)


def test_an_unidentifiable_world_gets_a_sentence():
    query = {"d": "4", "m": "2", "missing": "mask", "mask": "2x4.wA", "spectrum": "isotropic"}
    app = open_page(PAGE, query)
    assert any("Nobody sees x3, x4" in error.value for error in app.error)
    assert not app.exception


@pytest.mark.parametrize("part", [*RUNS, "census"])
def test_snippets_print_the_figures_numbers(monkeypatch, part):
    frames = csv_frames(monkeypatch)
    opened(SMALL | {"part": part, "trials": "5", "target": "1", "to": "50"})
    assert (
        set(frames)
        == {
            "curves": {"logistic-full", "logistic-agent"},
            "calibration": {"reliability"},
            "models": {"logistic-models"},
            "census": {"travel"},
        }[part]
    )
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


def test_the_words_are_the_numbers():
    app = opened(SMALL | {"trials": "20", "agent": "1", "to": "100"})
    scenario = cc.Scenario.from_query(SMALL)[0]
    world = cc.smooth.LogisticWorld(scenario.problem(), 2.0, 0.0)
    x = figures_of(app)[1]["data"][-1]["x"]
    sizes = [int(n) for n in np.asarray(compact(x))]
    own = cc.smooth.curves(world, sizes, 20, ["full", 1], seed=2)[1]["log_loss"]
    last = sizes[-1]
    assert own.compare("collab", "local", last) == 1
    assert "agent 2 predicts better together than alone" in said(app)
    numbers = [
        f"{own.mean('collab', n):.4f} against {own.mean('local', n):.4f} at n = {n:,}"
        for n in (sizes[0], last)
    ]
    assert f"log-loss {', '.join(numbers)}; paired" in said(app)
    for word in ("Theorem", "Heuristic", "Measured"):
        assert word in said(app)
    assert "20 trials; bands are 95% intervals" in said(app)


def compact(values):
    """A trace's numbers, packed or not."""
    if isinstance(values, dict):
        import base64

        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return values


def test_separation_is_said():
    app = opened(SMALL | {"trials": "10", "signal": "4.0", "from": "10", "to": "20"})
    assert "no finite best model" in said(app)
    assert "A small ridge answers for them" in said(app)


#: A narrow agent among rich ones: a linear T hurts it where the signal is strong.
NARROW = cc.Scenario(d=6, m=5, rich=4, rich_size=6, size=2, spikes=1, seed=1).to_query()


def findings_of(app):
    """The list of findings under the curves."""
    return next(block.value for block in app.markdown if "nothing is decided" in block.value
                or "bands are 95%" in block.value)  # fmt: skip


def test_ridge_answers_of_every_method_are_said():
    strong = {"signal": "4.0", "from": "10", "to": "20"}
    text = findings_of(opened(SMALL | {"trials": "5"} | strong))
    assert "On the left, answers that are a ridge's themselves" in text
    assert "Local (the newcomer)" in text
    text = said(opened(SMALL | {"part": "calibration", "signal": "4.0", "n": "12"}))
    assert "Local is a newcomer who sees all features" in text
    assert "Local (the newcomer)" in text
    text = said(opened(SMALL | {"part": "calibration", "target": "1", "n": "12"}))
    assert "newcomer" not in text
    text = said(opened(SMALL | {"part": "models", "signal": "4.0", "n": "10"}))
    assert "no finite best model" in text
    assert "at n = 10. A small ridge" in text


def test_the_theorem_is_called_on_only_where_it_holds():
    plain = SMALL | {"trials": "2", "signal": "1.0", "from": "200", "to": "500"}
    twins = "here the two differ only in the weights 1/loss"
    assert twins in findings_of(opened(plain))
    for other in ({"unlabelled": "pool"}, {"corrected": "1"},
                  {"signal": "4.0", "from": "10", "to": "20"}):  # fmt: skip
        text = findings_of(opened(plain | other))
        assert "Against imputation" in text
        assert twins not in text
    assert "where every agent's own fit is finite" in said(opened(plain))


def test_shares_of_a_way_are_shares():
    """Behind alone, or beyond everybody's samples of its features: no -138% of the way."""
    link = NARROW | {"agent": "4", "trials": "20", "from": "100", "to": "200"}
    app = opened(link | {"signal": "3.0"})
    scenario = cc.Scenario.from_query(NARROW)[0]
    world = cc.smooth.LogisticWorld(scenario.problem(), 3.0, 0.0)
    own = cc.smooth.curves(world, [100], 20, [4], seed=1)[4]["log_loss"]
    assert own.compare("collab", "local", 100) != 1
    assert "of the way" not in findings_of(app)
    text = findings_of(opened(SMALL | {"trials": "20", "agent": "1", "to": "100"}))
    share = float(text.split("working together goes ")[1].split("%")[0])
    assert 0 < share <= 100
    assert "ceiling" not in text


def test_every_measure_is_told_in_its_own_numbers():
    link = SMALL | {"trials": "5", "to": "50"}
    for measure in ("accuracy", "calibration"):
        text = findings_of(opened(link | {"measure": measure}))
        assert "log-loss" not in text
        assert cc.smooth.MEASURES[measure].label in text


def test_one_trial_decides_nothing():
    text = said(opened(SMALL | {"trials": "1", "to": "50"}))
    assert "One trial decides nothing" in text
    for word in (
        "cannot be told",
        "Against imputation",
        "no difference that shows",
        "% of the way",
    ):
        assert word not in text


def test_a_large_world_has_a_smaller_largest_n():
    query = {"d": "60", "m": "60", "rich": "20", "rich_size": "40", "size": "30"}
    app = open_page(PAGE, query | {"to": "5000", "trials": "1"})
    assert any("'5000' is not one of the choices" in info.value for info in app.info)
    assert "in a world of this size n goes up to 1,388" in said(app)
    for button in app.button:
        if button.key == "stop-logistic":
            button.click().run()


def test_a_large_n_is_limited_and_said():
    app = opened(SMALL | {"part": "models", "n": "1000000"})
    assert "n = 5,000 is used instead of 1,000,000" in said(app)
    assert_sound(app)


def test_stop_keeps_what_was_computed():
    app = open_page(PAGE)
    trials = next(element for element in app.select_slider if element.label == "Trials")
    trials.set_value(200).run()
    wait_for(app, lambda: "bands are 95%" in said(app) or "1 trial, so" in said(app))
    app.button(key="stop-logistic").click().run()
    finished(app, "logistic")
    assert "What was computed is kept" in said(app)
    assert_sound(app, least=2)
    done = next(b.value for b in app.markdown if " trials; bands" in b.value)
    assert 0 < int(done.split(" trials; bands")[0].split()[-1]) < 200
    # The code is of all trials, and that is said beside it.
    assert "the numbers of the whole run; the figure shows a part of it" in said(app)


def test_without_records_a_stored_run_is_shown_and_said():
    for measure in cc.smooth.MEASURES:
        for model in ("all", "own"):
            app = open_page(PAGE, {"part": "census", "measure": measure, "model": model})
            assert_sound(app)
            assert not app.error
            assert "A stored run" in said(app)
            assert "load person files on the page Census" in said(app)
            assert "States whose own fit has no finite best model" in said(app)
            assert "Local 100% at every n" in said(app)
    table = pd.read_csv("data/travel_logistic_2024.csv")
    rows = table[(table["measure"] == "calibration") & (table["model"] == "own")]
    first = rows[(rows["n"] == rows["n"].min()) & (rows["method"] == "collab")].iloc[0]
    assert f"({first['mean']:.4f} against" in said(app)


def test_with_records_it_is_live(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    records(5000).to_csv(path, index=False)
    frames = csv_frames(monkeypatch)
    app = open_page(PAGE, {"part": "census", "draws": "2"})
    app.session_state["census-people"] = People.from_files([path], "my 1 file")
    app.session_state["census-paths"] = [str(path)]
    app.run()
    finished(app, "travel")
    assert_sound(app, least=2)
    assert not app.error
    assert "my 1 file" in said(app)
    assert "A stored run" not in said(app)
    assert set(frames) == {"travel", "travel-reliability"}
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))
    # One state is not ahead of itself, by its own questions.
    only = open_page(PAGE, {"part": "census", "draws": "2", "states": "IL", "model": "own"})
    only.session_state["census-people"] = app.session_state["census-people"]
    finished(only.run(), "travel")
    assert said(only).count("not to be told from Illinois alone") == 2
    app.multiselect[0].set_value([]).run()
    assert any("Pick at least one state" in error.value for error in app.error)
    app.session_state["census-people"] = People.from_files([path], "sums", most=10)
    app.run()
    assert "A stored run" in said(app)
    assert "too many people to hold" in said(app)


def test_choices_are_in_the_link():
    app = opened(SMALL | {"signal": "3.0", "trials": "1", "measure": "accuracy"})
    assert param(app, "signal") == "3.0"
    assert param(app, "measure") == "accuracy"


def test_a_world_without_signal_has_no_coefficients_to_shrink():
    query = cc.Scenario(d=5, m=4, rich=1, rich_size=5, size=2, spikes=1, theta_scale=0.0).to_query()
    app = open_page(PAGE, query | {"part": "models"})
    finished(app, "logistic-models")
    assert_sound(app)
    assert "smaller than the linear T" not in said(app)


def test_a_newly_registered_method_is_on_every_simulated_part(monkeypatch):
    frames = csv_frames(monkeypatch)
    with methods.registered(Ignorant()):
        for part in RUNS:
            app = opened(SMALL | {"part": part, "trials": "5", "to": "50"})
            assert_sound(app)
            names = [trace.get("name") for spec in figures_of(app) for trace in spec["data"]]
            assert "Ignorant" in names
    frame, code = frames["logistic-agent"]
    assert "'ignorant'" in code
    found = frame.loc[frame["method"] == "ignorant", "mean"].astype(float)
    np.testing.assert_allclose(found, np.log(2))


def test_parts_can_be_imported_and_their_limits_asked_without_a_browser():
    from pages.parts.beyond_linear import curves, models, world

    problem = cc.Scenario.from_query(SMALL)[0].problem()
    low, high = curves.usual_grid(problem)
    assert low == world.smallest_n(problem) == 4 * 5
    assert low < high <= world.most_n(problem) == 5000
    assert models.drawn()[0] == "local"
    assert not {"imputation", "full_data"} & set(models.drawn())
