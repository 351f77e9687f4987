"""Ellipses: odd worlds, every plane, the lab and the animation."""

import numpy as np
import pytest
import streamlit as st

import collab_core as cc
from collab_core.methods.base import PLAIN
from collab_core.methods.collab import Collab
from pages import ellipses as the_page
from pages.parts.ellipses import look

from .apps import (
    ODD_WORLDS,
    assert_sound,
    compare,
    csv_frames,
    figures_of,
    finished,
    open_page,
    param,
    run_snippet,
    said,
)

PAGE = "pages/ellipses.py"
SMALL = cc.Scenario(d=5, m=4, rich=2, rich_size=4, size=3, spikes=1, seed=2)


def opened(query):
    app = open_page(PAGE, query)
    # One feature has no plane, so nothing runs; a plane of estimates does.
    if query.get("part", "plane") == "plane" and "no ellipse" not in said(app) and not app.error:
        finished(app, "ellipses")
    return app


@pytest.mark.parametrize("part", ["plane", "matrix", "lab", "play"])
@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds(name, part):
    app = opened(ODD_WORLDS[name] | {"part": part, "trials": "100"})
    assert_sound(app)
    assert not app.error
    if ODD_WORLDS[name]["d"] == "1":
        assert "One coefficient has no ellipse" in said(app)


@pytest.mark.parametrize(
    "world",
    [
        {"d": "2", "m": "3", "rich": "3", "rich_size": "2", "spikes": "0"},
        {"d": "40", "m": "60", "missing": "independent", "p": "0.3"},
        {"d": "6", "m": "5", "missing": "independent", "p": "0"},
        {"d": "6", "m": "100", "missing": "independent", "p": "0.95"},
        {"d": "8", "m": "6", "spectrum": "geometric", "condition": "1000000", "missing": "blocks"},
        {"d": "8", "m": "6", "spectrum": "equicorrelated", "correlation": "0.99", "size": "5"},
    ],
    ids=str,
)
def test_extreme_worlds(world):
    for part in ("plane", "matrix", "lab", "play"):
        app = opened(world | {"part": part, "trials": "0"})
        unidentifiable = any("Nobody sees" in error.value for error in app.error)
        assert_sound(app, least=0 if unidentifiable else 1)
        assert unidentifiable or not app.error


@pytest.mark.parametrize("target", ["full", "1"])
@pytest.mark.parametrize(
    "choices",
    [
        {"plane": "coordinates", "x": "0", "y": "2"},
        {"plane": "principal", "x": "1", "y": "0"},
        {"plane": "different", "one": "collab", "other": "exact"},
        {"plane": "own", "u": "1 1 0 0", "v": "0 0 1 -1"},
        {"show": "collab,strong,identity,imputation,pooled_moments,exact", "level": "0.5"},
        {"trials": "0"},
    ],
    ids=str,
)
def test_snippets_print_the_figures_numbers(monkeypatch, target, choices):
    if choices.get("plane") == "own" and target == "full":
        choices = choices | {"u": "1,1,0,0,0", "v": "0,0,1,-1,0"}
    frames = csv_frames(monkeypatch)
    app = opened(SMALL.to_query() | {"target": target, "trials": "100"} | choices)
    assert_sound(app)
    assert not app.info
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))
    assert set(frames) == {"ellipses"}


@pytest.mark.parametrize("part", ["matrix", "lab", "play"])
@pytest.mark.parametrize("over", ["n", "p", "correlation"])
def test_other_parts_have_snippets_too(monkeypatch, part, over):
    if part != "play" and over != "n":
        pytest.skip("only the animation goes over something")
    frames = csv_frames(monkeypatch)
    query = SMALL.to_query() | {"part": part, "over": over, "tilt2": "1.5"}
    app = open_page(PAGE, query)
    assert_sound(app)
    expected = {"matrix": {"ellipse-matrix"}, "lab": {"lab", "loss"}, "play": {"played"}}[part]
    assert set(frames) == expected
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"plane": "coordinates", "x": "1", "y": "1"}, "Pick two different directions"),
        ({"plane": "own", "u": "1 2", "v": "0 1 0 0 0"}, "must have 5 numbers, got 2"),
        ({"plane": "own", "u": "a b c d e"}, "'a' is not a number"),
        ({"plane": "own", "u": "0 0 0 0 0"}, "must not be all zeros"),
        ({"plane": "own", "u": "nan 0 0 0 0"}, "first direction"),
        ({"plane": "own", "u": "0 2 0 0 0"}, "multiple of the first"),
        ({"plane": "different", "one": "collab", "other": "collab"}, "two different covariances"),
        ({"show": "none"}, "Pick at least one ellipse"),
        ({"part": "matrix", "coefficients": "x1"}, "Pick at least two coefficients"),
        ({"part": "play", "target": "1"}, "play over n or the correlation"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(choices, sentence):
    app = open_page(PAGE, SMALL.to_query() | choices)
    assert not app.exception
    assert any(sentence in error.value for error in app.error), [e.value for e in app.error]


def test_the_order_is_said_in_words():
    app = opened(SMALL.to_query() | {"trials": "0"})
    assert "C_strong (paper) ⊂ COLLAB+ ⊂ COLLAB ⊂ Imputation" in said(app)
    crossed = opened(SMALL.to_query() | {"trials": "0", "show": "identity,imputation"})
    problem = SMALL.problem()
    found = cc.ellipses.covariances(problem)
    if cc.ellipses.order(found["identity"], found["imputation"]).relation == "neither":
        assert "are not ordered" in said(crossed)


def test_the_share_inside_is_that_of_the_library():
    app = opened(SMALL.to_query() | {"trials": "300", "n": "1000", "show": "collab"})
    problem = SMALL.problem()
    sample = cc.simulate.sample_estimates(problem, 1000, 300, ["collab", "naive_collab"], seed=2)
    gap = np.abs(cc.ellipses.naive_centre(problem) - problem.theta)
    across, up = np.argsort(-gap, kind="stable")[:2]
    frame = cc.ellipses.coverage_in_plane(
        sample.estimates,
        cc.ellipses.covariances(problem),
        cc.ellipses.coordinates(5, int(across), int(up)),
        problem.theta,
        1000,
        0.95,
    ).set_index("method")
    assert f"COLLAB {frame.loc['collab', 'inside']:.1%}" in said(app)


def test_the_lab_tilts_and_finds_the_steepest_loss():
    app = open_page(PAGE, SMALL.to_query() | {"part": "lab"})
    assert "Every weight is optimal" in said(app)
    next(s for s in app.slider if s.label == "Agent 2").set_value(2.0).run()
    assert param(app, "tilt2") == "2"
    lab = cc.weight_tilt.Tilts(SMALL.problem())
    loss = lab.loss(np.array([0, 2, 0, 0]) * np.log(2))
    assert f"cost {loss - 1:.2%} more error" in said(app)
    next(b for b in app.button if b.label == "Back to optimal").click().run()
    assert "Every weight is optimal" in said(app)
    next(b for b in app.button if b.label == "Steepest loss").click().run()
    assert "more error than the optimal" in said(app)
    tilts = [float(param(app, f"tilt{i}")) if f"tilt{i}" in app.query_params else 0.0
             for i in range(1, 5)]  # fmt: skip
    assert max(np.abs(tilts)) == 1
    assert_sound(app, least=2)


def test_tilts_of_agents_without_a_slider_on_the_screen_count():
    many = cc.Scenario(d=5, m=30, rich=30, rich_size=3, seed=1).to_query()
    app = open_page(PAGE, many | {"part": "lab", "tilt20": "3"})
    assert "more error than the optimal" in said(app)
    assert param(app, "tilt20") == "3"
    labels = {slider.label for slider in app.slider}
    assert "Agent 12" in labels
    assert "Agent 20" not in labels
    other = open_page(PAGE, many | {"part": "lab", "tilt20": "3", "group": "1"})
    assert next(s for s in other.slider if s.label == "Agent 20").value == 3.0


def test_the_animation_has_a_frame_for_every_world():
    app = open_page(PAGE, SMALL.to_query() | {"part": "play", "over": "n"})
    (spec,) = figures_of(app)
    names = [frame["name"] for frame in spec["frames"]]
    assert len(names) == 8
    assert "100" in names
    assert spec["layout"]["sliders"][0]["active"] == names.index("100")


@pytest.mark.parametrize(
    ("world", "sentence"),
    [
        ({"missing": "independent", "p": "0"}, "C_strong (paper) ⊂ COLLAB+ = COLLAB = Imputation"),
        ({"theta_scale": "0"}, "C_strong (paper) ⊂ COLLAB+ = COLLAB = Imputation"),
    ],
)
def test_equals_are_said_to_be_equal(world, sentence):
    app = opened({"d": "6", "m": "5", "rich": "2", "rich_size": "5", "size": "4", "trials": "100"} | world)  # fmt: skip  # noqa: E501
    assert sentence in said(app)
    assert "it is biased" not in said(app)


def test_a_lesson_or_another_page_does_not_meddle_with_these_choices():
    app = opened(SMALL.to_query() | {"trials": "100", "target": "1"})
    for page in ("pages/methods.py", "pages/error_vs_n.py", PAGE):
        app.query_params.clear()
        app.switch_page(page).run()
        assert not app.info
    assert param(app, "trials") == "100"
    assert param(app, "target") == "1"


def test_all_weights_tilted_alike_cost_nothing():
    tilts = {f"tilt{i}": "1" for i in range(1, 5)}
    app = open_page(PAGE, SMALL.to_query() | {"part": "lab"} | tilts)
    assert "This tilt costs nothing" in said(app)


def test_repeated_names_in_a_link_do_no_harm():
    app = open_page(PAGE, SMALL.to_query() | {"part": "matrix", "coefficients": "x1,x1,x2"})
    assert_sound(app)
    wild = open_page(PAGE, SMALL.to_query() | {"plane": "own", "u": "1e200 0 0 0 0"})
    assert not wild.exception
    assert any("must have entries of size" in error.value for error in wild.error)


def test_the_page_and_its_parts_can_be_imported():
    assert set(the_page.SHOW) == set(the_page.PARTS)
    assert look.numbers("1, 2 -3e1") == [1.0, 2.0, -30.0]
    with pytest.raises(ValueError, match="'two' is not a number"):
        look.numbers("1 two")


class Careless(Collab):
    """Throws half of the samples away."""

    key = "careless"
    label = "Careless"

    def covariance(self, problem, told=PLAIN):
        return 2 * cc.bounds.gauss(problem)


@pytest.mark.parametrize("part", ["plane", "matrix", "play"])
def test_a_registered_method_is_on_the_page(part):
    # What a process has computed before a method was registered does not know it.
    st.cache_resource.clear()
    with cc.methods.registered(Careless):
        app = opened(SMALL.to_query() | {"part": part, "trials": "100"})
        shown = next(choice for choice in app.multiselect if choice.label == "Ellipses")
        assert "careless" in shown.value
        names = {trace.get("name") for trace in assert_sound(app)[0]["data"]}
        assert "Careless" in names
        assert ("Careless, simulated" in names) == (part == "plane")
    st.cache_resource.clear()


def test_methods_that_are_shown_where_nobody_chose():
    for target, first in (("full", "imputation"), ("1", "local")):
        app = opened(SMALL.to_query() | {"trials": "0", "target": target})
        shown = next(choice for choice in app.multiselect if choice.label == "Ellipses")
        assert shown.value == [first, "collab", "collab_plus", "strong"]
