"""A spectrum, a pattern, a rule, an allocation and a law of the tests, on pages as they are."""

import pytest

import collab_core as cc
from pages.shared.script import Script

from ..newcomers import LINK, newcomers
from .apps import (
    assert_put_right,
    assert_sound,
    compare,
    csv_frames,
    finished,
    open_page,
    param,
    run_snippet,
    scenario_of,
)

PLAYGROUND = "pages/playground.py"


@pytest.fixture(autouse=True)
def registered():
    with newcomers():
        yield


def test_the_sidebar_offers_a_newcomer_and_its_parameters():
    app = open_page(PLAYGROUND)
    options = app.sidebar.selectbox(key="control-spectrum").options
    assert options[0] == "Spiked (the paper's)"
    assert options[-1] == "Rippled variances"
    assert not [slider for slider in app.sidebar.slider if slider.key == "control-ripple"]
    app.sidebar.selectbox(key="control-spectrum").set_value("rippled").run()
    depth = app.sidebar.slider(key="control-ripple")
    assert (depth.label, depth.value, depth.min, depth.max, depth.step) == (
        "Ripple",
        0.5,
        0,
        2,
        0.1,
    )
    # No more than there are features.
    assert app.sidebar.slider(key="control-period").max == 30
    depth.set_value(1.5).run()
    app.sidebar.slider(key="control-d").set_value(3).run()
    assert scenario_of(app).ripple == 1.5
    assert param(app, "ripple") == "1.5"
    assert param(app, "spectrum") == "rippled"
    assert_put_right(app, "Period: at most d = 3, so 3 is used.")
    assert_sound(app, least=4)


@pytest.mark.parametrize(
    ("name", "key", "label"),
    [
        ("missing", "all_but_one", "All but one"),
        ("allocation", "lottery", "By chance"),
        ("theta", "alternating", "Plus and minus in turn"),
    ],
)
def test_every_sort_of_newcomer_can_be_picked(name, key, label):
    app = open_page(PLAYGROUND, {"d": "5", "m": "6"})
    box = app.sidebar.selectbox(key=f"control-{name}")
    assert label in box.options
    box.set_value(key).run()
    assert getattr(scenario_of(app), name) == key
    assert_sound(app, least=4)


def test_a_link_to_a_newcomer_opens_and_its_code_prints_the_figures_numbers(monkeypatch):
    frames = csv_frames(monkeypatch)
    app = open_page(PLAYGROUND, LINK)
    assert_sound(app, least=4)
    assert not app.info
    assert scenario_of(app).to_query() == LINK
    assert len(frames) >= 4
    for key, (frame, code) in frames.items():
        assert "ripple=1.25" in code
        compare(key, frame, run_snippet(code))


def test_a_wrong_link_to_a_newcomer_is_put_right_and_said():
    app = open_page(PLAYGROUND, LINK | {"ripple": "9"})
    assert_put_right(app, "Ripple: 9 is not allowed, so 2 is used.")
    lesson = open_page(PLAYGROUND, LINK | {"controls": "ripple,gap"})
    assert [slider.key for slider in lesson.slider] == ["control-ripple", "control-gap"]


def test_a_newcomer_is_written_as_python():
    text = Script.of(cc.Scenario.from_query(LINK)[0]).text
    assert "spectrum='rippled'" in text
    namespace: dict = {}
    exec(text, namespace)
    assert namespace["scenario"].to_query() == LINK


def test_a_newcomer_law_is_simulated_where_laws_are_listed():
    small = LINK | {"trials": "5", "points": "2", "to": "200"}
    app = open_page("pages/error_vs_n.py", small | {"law": "two_scales(0.35)"})
    finished(app, "error-vs-n")
    assert_sound(app, least=2)
    assert not app.info
    (box,) = [box for box in app.selectbox if box.label == "Feature law"]
    assert box.value == "two_scales(0.35)"
    assert box.options[-1] == "Two scales, contrast 0.35"


def test_a_newcomer_law_has_its_slider_where_laws_cost():
    app = open_page("pages/beyond_gaussian.py", LINK | {"law": "two_scales", "part": "cost"})
    assert_sound(app, least=2)
    (contrast,) = [slider for slider in app.select_slider if slider.label == "Contrast"]
    # Its default is offered, though it is no round value.
    assert contrast.value == 0.35
    contrast.set_value(0.9).run()
    assert param(app, "law-contrast") == "0.9"
    assert_sound(app, least=2)
    assert not app.info


@pytest.mark.parametrize(("old", "now"), [("mixture", "mixture(0.9)"), ("student_t(6)", None)])
def test_a_law_of_a_link_of_before_is_still_known(old, now):
    query = LINK | {"trials": "1", "points": "2", "to": "200", "law": old}
    app = open_page("pages/error_vs_n.py", query)
    finished(app, "error-vs-n")
    assert not app.info
    (box,) = [box for box in app.selectbox if box.label == "Feature law"]
    assert box.value == (now or old)
