"""Error vs n: odd worlds, every control, and the paper's claims on the numbers behind the page."""

import pytest

import collab_core as cc
from pages import error_vs_n
from pages.parts.error_vs_n import clouds
from pages.parts.error_vs_n.choices import smallest_n

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

PAGE = "pages/error_vs_n.py"
SMALL = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1).to_query()


def curves(query: dict[str, str] | None = None):
    return finished(open_page(PAGE, query), "error-vs-n")


def widget(elements, label):
    return next(element for element in elements if element.label == label)


@pytest.mark.parametrize("name", ODD_WORLDS)
def test_curves_and_clouds_of_odd_worlds(name):
    app = curves(ODD_WORLDS[name] | {"trials": "5"})
    assert_sound(app, least=2)
    assert not app.error
    cloud = finished(open_page(PAGE, ODD_WORLDS[name] | {"part": "cloud"}), "cloud")
    assert_sound(cloud)
    assert not cloud.error


@pytest.mark.parametrize(
    "choices",
    [
        {"trials": "1"},
        {"from": "1", "to": "5"},
        {"from": "2", "points": "20"},
        {"to": "10000000"},
        {"law": "exponential"},
        {"law": "student_t(6)", "from": "20000", "to": "10000000", "trials": "1", "points": "2"},
        {"known": "unlabelled", "unlabelled": "100"},
        {"known": "pooled"},
        {"weights": "population", "corrected": "1", "noise": "1"},
        {"weights": "moderated", "from": "1", "to": "20"},
        {"weights": "plug_in", "known": "unlabelled"},
        {"methods": "local"},
        {"log": "0", "scaled": "1"},
        {"agent": "2"},
    ],
    ids=str,
)
def test_every_choice_by_link(choices):
    app = curves(SMALL | {"trials": "5"} | choices)
    assert_sound(app, least=2)
    assert not app.error
    assert not app.info
    for name, text in choices.items():
        assert param(app, name) == text


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"agent": "99"}, "'99' is not one of the choices; Agent 1 is used"),
        ({"agent": "<b>"}, "is not one of the choices"),
        ({"trials": "1e9"}, "is not one of the choices; 20 is used"),
        ({"methods": "collab,magic"}, "'magic' is not one of the choices"),
        ({"points": "many"}, "'many' is not a number; 10 is used"),
        ({"points": "500"}, "500 is not between 2 and 20"),
        ({"scaled": "perhaps"}, "is neither 0 nor 1"),
        ({"part": "cloud", "x": "77"}, "is not one of the choices"),
        ({"part": "nowhere"}, "is not one of the choices; Error against n is used"),
    ],
)
def test_a_wrong_choice_is_put_right_and_says_so(choices, sentence):
    app = open_page(PAGE, SMALL | choices)
    assert_put_right(app, sentence)


def test_curves_follow_the_controls():
    app = curves(SMALL)
    before = figures_of(app)
    widget(app.select_slider, "Trials").set_value(1).run()
    finished(app, "error-vs-n")
    assert "1 trial, so there are no bands" in said(app)
    widget(app.selectbox, "Feature law").set_value("exponential").run()
    finished(app, "error-vs-n")
    assert_sound(app, least=2)
    widget(app.toggle, "n × error").set_value(True).run()
    assert figures_of(app) != before
    assert param(app, "scaled") == "1"
    app.multiselect[0].set_value([]).run()
    assert any("Pick at least one method" in error.value for error in app.error)
    # A method back, and all is as it was: nothing else was lost.
    app.multiselect[0].set_value(["collab", "local"]).run()
    finished(app, "error-vs-n")
    assert widget(app.selectbox, "Feature law").value == "exponential"


def test_choices_of_a_page_are_kept_and_stay_out_of_other_pages_links():
    app = curves(SMALL | {"agent": "1", "scaled": "1"})
    app.query_params.clear()
    app.switch_page("pages/playground.py").run()
    assert "scaled" not in app.query_params
    app.query_params.clear()
    app.switch_page(PAGE).run()
    finished(app, "error-vs-n")
    assert param(app, "scaled") == "1"
    assert param(app, "agent") == "1"


def test_an_unidentifiable_world_has_no_curves_but_a_sentence():
    query = {"d": "4", "m": "2", "missing": "mask", "mask": "2x4.wA", "spectrum": "isotropic"}
    app = open_page(PAGE, query)
    assert any("Nobody sees x3, x4" in error.value for error in app.error)
    assert not app.exception


def test_an_agent_that_sees_nothing_has_no_cloud_but_a_sentence():
    app = open_page(PAGE, ODD_WORLDS["some see nothing"] | {"part": "cloud", "target": "2"})
    assert any("sees nothing" in error.value for error in app.error)
    assert not app.exception


@pytest.mark.parametrize("choices", [{}, {"part": "cloud", "target": "0"}])
def test_snippets_print_the_figures_numbers(monkeypatch, choices):
    frames = csv_frames(monkeypatch)
    app = open_page(PAGE, SMALL | choices)
    finished(app, "cloud" if choices else "error-vs-n")
    assert set(frames) == ({"cloud"} if choices else {"full", "agent"})
    for key, (frame, code) in frames.items():
        found = run_snippet(code)
        assert frame["method"].tolist() == found["method"].tolist()
        compare(key, frame, found)


def test_stop_keeps_what_was_computed():
    app = open_page(PAGE)
    widget(app.select_slider, "Trials").set_value(2000).run()
    # Theory is there at once; wait for the first simulated points.
    wait_for(app, lambda: " trials; bands" in said(app))
    app.button(key="stop-error-vs-n").click().run()
    finished(app, "error-vs-n")
    assert "What was computed is kept" in said(app)
    assert_sound(app, least=2)
    done = next(block.value for block in app.markdown if " trials; bands" in block.value)
    assert 0 < int(done.split(" trials; bands")[0].split()[-1]) < 2000


def test_a_lesson_of_one_curve_shows_no_page_controls():
    app = curves(SMALL | {"figure": "agent", "controls": "n", "agent": "2", "trials": "5"})
    (spec,) = assert_sound(app)
    assert "Agent 3" in spec["layout"]["title"]["text"]
    assert not app.multiselect


# The parts without a browser ----------------------------------------------------------------------


def test_grids_begin_where_everybody_can_fit():
    problem = cc.Scenario.from_query(SMALL)[0].problem()
    sizes = clouds.sample_sizes(problem)
    assert sizes[0] == smallest_n(problem) > problem.sizes.max()
    assert sizes[-1] == 100 * sizes[0]
    assert sizes == sorted(set(sizes))


def test_clouds_are_those_of_methods_that_agents_can_carry_out():
    assert clouds.methods(full=False) == [
        "local", "imputation", "naive_collab", "collab", "collab_plus", "pooled_moments"
    ]  # fmt: skip
    # For all features, least squares would need fresh samples of all of them.
    assert clouds.methods(full=True) == clouds.methods(full=False)[1:]


def test_a_page_can_be_imported_and_does_nothing_then():
    assert list(error_vs_n.PARTS) == ["curves", "cloud"]


# The paper's synthetic experiment, on the numbers behind the page as it opens ---------------------


@pytest.fixture(scope="module")
def paper():
    """Both frames of the page untouched, but with trials enough to tell methods apart."""
    with pytest.MonkeyPatch.context() as patch:
        frames = csv_frames(patch)
        curves({"trials": "200"})
    return {key: frame.set_index(["method", "n"]) for key, (frame, _) in frames.items()}


@pytest.mark.parametrize("key", ["full", "agent"])
def test_collab_matches_rw_imputation_and_both_beat_the_others(paper, key):
    frame = paper[key]
    sizes = frame.loc["collab"].index
    for n in sizes[sizes >= 100]:
        collab, rw = frame.loc[("collab", n)], frame.loc[("rw_imputation", n)]
        # They are the same estimator up to how the weights are known: within 5% on shared draws.
        assert abs(collab["mean"] / rw["mean"] - 1) < 0.05
        assert collab["mean"] < frame.loc[("imputation", n), "mean"]
        if key == "agent":
            assert collab["high"] < frame.loc[("local", n), "low"]


def test_the_naive_average_levels_out_and_collab_does_not(paper):
    frame = paper["full"]
    sizes = frame.loc["collab"].index
    floor = cc.bounds.naive_collab(cc.Scenario().problem()).floor
    last, middle = sizes[-1], sizes[len(sizes) // 2]
    naive = frame.loc["naive_collab", "mean"].astype(float)
    assert naive[last] == pytest.approx(floor, rel=0.05)
    assert naive[last] > 0.9 * naive[middle]
    collab = frame.loc["collab", "mean"].astype(float)
    assert collab[last] < 0.3 * collab[middle]


def test_the_irreducible_part_is_a_level_apart_from_the_curves():
    app = curves(SMALL | {"agent": "1", "trials": "5"})
    problem = cc.Scenario.from_query(SMALL)[0].problem()
    specs = figures_of(app)
    levels = [shape["y0"] for shape in specs[1]["layout"].get("shapes", [])]
    assert levels == pytest.approx([problem.irreducible[1]])
    assert not specs[0]["layout"].get("shapes")


def test_the_words_are_the_numbers():
    app = curves(SMALL | {"agent": "1", "trials": "50"})
    problem = cc.Scenario.from_query(SMALL)[0].problem()
    assert "COLLAB beats working alone" in said(app)
    floor = cc.bounds.naive_collab(problem).floor
    assert f"levels out at {floor:.3g}" in said(app)
    assert f"{problem.irreducible[1]:.3g} is what unseen features cost" in said(app)


@pytest.mark.parametrize(
    ("world", "there", "not_there"),
    [
        (ODD_WORLDS["one agent"], "cannot be told from working alone", "what it would need"),
        (ODD_WORLDS["all seen"], "The naive average is unbiased here", "levels out"),
        (
            {"d": "6", "m": "5", "rich": "2", "rich_size": "5", "size": "4",
             "spectrum": "isotropic"},
            "it divides by m where fewer see a feature",
            "make up for what",
        ),
        ({"law": "uniform", "trials": "20"} | SMALL, "COLLAB beats working alone", "would need"),
    ],
)  # fmt: skip
def test_sentences_hold_in_their_worlds(world, there, not_there):
    app = curves(world)
    assert there in said(app)
    assert not_there not in said(app)


def test_leaving_the_page_cancels_its_run():
    app = open_page(PAGE, {"d": "30", "trials": "2000"})
    wait_for(app, lambda: app.session_state["job-error-vs-n"] is not None)
    job = app.session_state["job-error-vs-n"]
    app.query_params.clear()
    app.switch_page("pages/methods.py").run()
    assert job.cancel.is_set()
    assert app.session_state["job-error-vs-n"] is None
