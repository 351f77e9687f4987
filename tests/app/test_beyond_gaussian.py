"""Beyond Gaussian: every part and law, odd worlds, links, snippets, records of one's own."""

import pytest

import collab_core as cc
from collab_core.answers import gaussian_cost as pretending
from collab_core.methods.collab import Collab
from collab_core.methods.identity import Identity
from collab_core.words import beyond_gaussian as say
from collab_core.words.numbers import two_digits
from pages.parts.beyond_gaussian import curves, laws, loss_map, world
from pages.shared.script import Script
from tests.bureau import records

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
)

PAGE = "pages/beyond_gaussian.py"
PANELS = {"curves": "law-curves", "map": "law-map", "unlabelled": "unlabelled"}
FIGURES = {"curves": 2, "cost": 3, "map": 2, "unlabelled": 1}
SMALL = cc.Scenario(d=4, m=4, missing="hub", size=2, spikes=1, sigma=0.5, seed=2)
#: Runs that are over in a moment.
QUICK = {"trials": "10", "samples": "200", "sets": "10", "most": "1000", "labelled": "200",
         "draws": "1", "to": "500"}  # fmt: skip
WORLD = SMALL.to_query() | QUICK


def opened(query):
    app = open_page(PAGE, query)
    part = query.get("part", "curves")
    if part in PANELS and not app.error:
        finished(app, PANELS[part])
    return app


#: Worlds in which runs are tried too; the formulas, that are quick, are tried in all.
RUN = ("one of each", "n = 1", "some see nothing", "theta is zero", "unequal")


@pytest.mark.parametrize(
    ("name", "part"),
    [(name, "cost") for name in ODD_WORLDS]
    + [(name, part) for name in RUN for part in ("curves", "map", "unlabelled")],
)
def test_odd_worlds(name, part):
    app = opened(ODD_WORLDS[name] | QUICK | {"part": part})
    assert_sound(app, least=FIGURES[part])
    assert not app.error


@pytest.mark.parametrize(
    "choices",
    [
        {"law": "outliers", "wider": "8"},
        {"law": "student_t", "freedom": "4.2"},
        {"law": "elliptical_t", "freedom": "30"},
        {"law": "exponential", "target": "1"},
        {"law": "uniform", "target": "full"},
        {"law": "rademacher"},
        {"law": "mixture", "apart": "0.99"},
        {"law": "gaussian"},
        {"rate": "0.5"},
        {"law": "mixture", "part": "cost"},
        {"law": "exponential", "part": "unlabelled"},
    ],
)
def test_every_law_by_link(choices):
    app = opened(WORLD | choices)
    assert_sound(app, least=FIGURES[choices.get("part", "curves")])
    assert not app.error
    assert not app.info
    for name, text in choices.items():
        assert param(app, name) == text


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"law": "wild"}, "'wild' is not one of the choices; Rare yes or no is used"),
        ({"rate": "2"}, "is not one of the choices; 0.01 is used"),
        ({"target": "99"}, "'99' is not one of the choices"),
        ({"trials": "many"}, "is not one of the choices; 40 is used"),
        ({"part": "nowhere"}, "is not one of the choices; Error vs n is used"),
        ({"part": "map", "draws": "-1"}, "is not one of the choices; 100 is used"),
    ],
)
def test_a_wrong_choice_is_put_right_and_says_so(choices, sentence):
    app = open_page(PAGE, WORLD | choices)
    assert_put_right(app, sentence)


@pytest.mark.parametrize("part", FIGURES)
def test_snippets_print_the_figures_numbers(monkeypatch, part):
    frames = csv_frames(monkeypatch)
    opened(WORLD | {"part": part, "law": "outliers"})
    assert len(frames) == FIGURES[part]
    for key, (frame, code) in frames.items():
        found = run_snippet(code).reset_index(drop=True)
        compare(key, frame.reset_index(drop=True).dropna(axis=1, how="all"), found)


def test_one_coefficient_has_an_interval(monkeypatch):
    frames = csv_frames(monkeypatch)
    opened({"d": "1", "m": "3", "rich": "3", "rich_size": "1", "spikes": "0", "part": "cost"})
    frame, code = frames["law-ellipses"]
    compare("law-ellipses", frame, run_snippet(code))


def test_the_words_are_the_numbers():
    problem = SMALL.problem()
    lost = pretending.loss(problem, "outliers(4)", 0)
    app = opened(WORLD | {"law": "outliers", "part": "cost"})
    assert f"makes the error {lost:.1%} larger" in said(app)
    found = pretending.covariances(problem, "outliers(4)", 0)
    table = pretending.errors(found, problem, 0).set_index("method")
    assert f"thrown away {table.loc['collab', 'wasted']:.1%}" in said(app)
    curves = opened(WORLD | {"law": "outliers"})
    assert f"theory says {1 / (1 + lost) - 1:+.1%}" in said(curves)
    assert "Consistent whatever the weights" in said(curves)
    unlabelled = opened(WORLD | {"law": "outliers", "part": "unlabelled"})
    assert "Optimal weights pay from" in said(unlabelled)
    assert f"of the {lost / (1 + lost):.1%} of the error that there is to save" in said(unlabelled)
    assert "paired 95% interval" in said(unlabelled)


def test_gaussian_features_lose_nothing():
    for part in ("cost", "unlabelled"):
        app = opened(WORLD | {"law": "gaussian", "part": part})
        assert "COLLAB's weights are the optimal ones" in said(app)


def test_where_nothing_is_to_be_won_the_figure_does_not_say_when_it_pays():
    world = {"d": "8", "m": "5", "sigma": "100", "missing": "hub", "size": "4"}
    app = opened(QUICK | world | {"part": "unlabelled"})
    assert "costs next to nothing here" in said(app)
    (spec,) = assert_sound(app)
    assert spec["layout"]["title"]["text"] == "Unlabelled samples and error"
    assert "shapes" not in spec["layout"]


def test_a_break_even_has_two_digits_and_a_range():
    app = opened(WORLD | {"law": "outliers", "part": "unlabelled", "sets": "20"})
    curve = cc.unlabelled.curve(
        SMALL.problem(), 200, [20, 33, 53, 87, 141, 231, 376, 613, 1000], 20, 0,
        features="outliers(4)", seed=SMALL.seed,
    )  # fmt: skip
    low, high = (two_digits(end) for end in curve.break_even_range)
    pays = two_digits(curve.break_even)
    assert f"pay from about {pays} unlabelled samples on (for large n; 95%: {low} to {high}" in (
        said(app)
    )
    (spec,) = figures_of(app)
    assert spec["layout"]["title"]["text"] == f"It takes about {pays} unlabelled samples"


def test_curves_of_rare_answers_begin_where_samples_hold_some():
    app = opened(WORLD | {"to": "2000"})
    left, right = assert_sound(app, least=2)
    for spec in (left, right):
        assert min(10 ** spec["layout"]["xaxis"]["range"][0], 500) > 400
    # A small run begins where it can.
    small = assert_sound(opened(WORLD), least=2)[0]
    assert 10 ** small["layout"]["xaxis"]["range"][0] > 100


@pytest.mark.parametrize(
    ("target", "sentence"),
    [("0", "agent 1 alone"), ("full", "a newcomer's own least squares")],
)
def test_the_cost_compares_with_working_alone(monkeypatch, target, sentence):
    frames = csv_frames(monkeypatch)
    app = opened(WORLD | {"law": "outliers", "part": "cost", "target": target})
    assert sentence in said(app)
    frame, _ = frames["law-errors"]
    assert set(frame["method"]) == {"collab", "collab_oracle", "identity", "imputation", "local"}


@pytest.mark.parametrize(
    ("choices", "sentence", "rings"),
    [
        ({}, "The ring is the square nearest", 1),
        ({"law": "outliers"}, "The ring is the square nearest", 1),
        ({"law": "mixture"}, "No square is this law's", 0),
        ({"rate": "0.005"}, "excess kurtosis, 195, is above the map", 0),
        ({"d": "8", "size": "1", "m": "20"}, "share missing, 83%, is beside the map", 0),
        ({"allocation": "rising"}, "and its unequal n_i", 1),
        ({"m": "2"}, "at most 50% can be missing", 1),
    ],
)
def test_the_words_under_the_map_are_of_the_map(choices, sentence, rings):
    app = opened(WORLD | {"part": "map"} | choices)
    specs = assert_sound(app, least=2)
    assert sentence in said(app)
    drawn = [trace for spec in specs for trace in spec["data"]]
    assert sum(trace.get("name") == "this world and law" for trace in drawn) == rings
    assert ("The ring" in said(app)) == bool(rings)


def test_the_map_is_of_all_features_whatever_is_picked():
    app = opened(WORLD | {"part": "map", "target": "1"})
    assert "Model of" not in {box.label for box in app.selectbox}
    # The choice is kept for the other parts.
    app.segmented_control(key="option-part").set_value("cost").run()
    assert next(box for box in app.selectbox if box.label == "Model of").value == 1


def test_a_map_that_is_not_done_says_so():
    losses = pretending.loss_map(SMALL, [0, 6], [0.1, 0.3], draws=3)
    assert "means over 3 patterns ± standard error, of 30 so far." in say.loss_map(losses, 30)
    assert "means over 3 patterns ± standard error." in say.loss_map(losses, 3)
    app = opened(WORLD | {"part": "map", "draws": "4"})
    assert "means over 4 patterns ± standard error." in said(app)


def test_who_would_do_better_alone_is_told():
    problem = SMALL.problem()
    found = pretending.covariances(problem, "outliers(8)", 0)
    table = pretending.errors(found, problem, 0).set_index("method")
    assert table.loc["local", "error"] < table.loc["collab", "error"]
    app = opened(WORLD | {"law": "outliers", "wider": "8", "part": "cost"})
    assert "would even do better than" in said(app)
    other = opened(WORLD | {"law": "uniform", "part": "cost"})
    assert "would even do better than" not in said(other)


def test_a_world_where_it_costs_more():
    app = opened({**QUICK, "d": "6", "m": "5", "size": "3", "rich": "2", "rich_size": "5"})
    button = next(b for b in app.button if b.label == "Where it costs more")
    button.click().run()
    finished(app, "law-curves")
    assert param(app, "law") == "outliers"
    assert param(app, "missing") == "hub"
    assert_sound(app, least=2)


def test_an_agent_that_sees_nothing_is_not_chosen():
    world = cc.Scenario(d=3, m=2, missing="mask", mask=("000", "111"), spikes=0).to_query()
    app = opened(world | QUICK | {"part": "cost"})
    assert next(box for box in app.selectbox if box.label == "Model of").value == 1
    assert_sound(app, least=2)
    app = open_page(PAGE, world | QUICK | {"part": "cost", "target": "0"})
    assert any("Agent 1 sees nothing" in error.value for error in app.error)
    assert not figures_of(app)


def test_a_link_can_show_one_figure_alone():
    app = opened(WORLD | {"figure": "law-gain"})
    assert [spec["layout"]["title"]["text"] for spec in figures_of(app)] == [
        "Optimal weights: error over COLLAB's"
    ]
    assert not app.exception


def test_without_records_the_census_law_says_how_to_get_them():
    app = open_page(PAGE, WORLD | {"law": "census"})
    assert any("Load PUMS files on the Census page" in error.value for error in app.error)
    assert not app.exception


@pytest.mark.parametrize(
    ("part", "choices"),
    [
        ("curves", {"relation": "random", "asks": "half"}),
        ("cost", {}),
        ("map", {}),
        ("unlabelled", {"relation": "random"}),
    ],
)
def test_records_of_this_session_are_a_law(tmp_path, part, choices):
    path = tmp_path / "people.csv"
    records(8000).to_csv(path, index=False)
    app = open_page(PAGE, WORLD | {"law": "census", "part": part} | choices)
    app.session_state["census-people"] = cc.census.People.from_files([path], "my file")
    app.session_state["census-paths"] = [str(path)]
    app.run()
    if part == "map":
        assert any("over synthetic laws" in error.value for error in app.error)
        return
    if part in PANELS:
        finished(app, PANELS[part])
    assert_sound(app, least=FIGURES[part])
    assert not app.error
    assert "my file" in said(app)
    assert "labels follow a linear model" in said(app)
    model = next(box for box in app.selectbox if box.label == "Model of")
    assert model.options == ["all features", "CA's own", "IL's own", "NY's own"]
    if part == "cost":
        assert "explains little" in said(app)
        code = next(block.value for block in app.code if "by_agent" in block.value)
        assert len(run_snippet(code)) == 3


# Parts and sentences without a browser -----------------------------------------------------------


def looked_at(law="outliers(4)", target=0, scenario=SMALL):
    script = Script.of(scenario)
    problem = script.run("problem", scenario.problem)
    agents = tuple(f"agent {i + 1}" for i in range(problem.agents))
    case = say.Case(problem, law, "Outliers", target, agents)
    return world.LawWorld(case, script, scenario.seed, scenario.n)


def test_a_world_knows_its_cost_and_where_a_grid_begins():
    found = looked_at()
    assert found.lost == pretending.loss(found.problem, "outliers(4)", 0)
    # The largest view, four features, and a little more.
    assert found.lowest == 9
    assert found.first(2000) == 18
    # Five rare answers in a hundred samples are wanted, and a quarter of the grid at most.
    assert looked_at("rare(0.01)").first(20_000) == 500
    assert looked_at("rare(0.01)").first(400) == 100


def test_laws_are_compared_at_their_usual_parameter_but_for_the_one_at_hand():
    names = laws.compared("student_t(8)")
    assert names["Student t (8)"] == "student_t(8)"
    assert names["Outliers (4)"] == "outliers(4)"
    assert names["Uniform"] == "uniform"
    assert "census" not in names.values()


def test_the_ring_is_on_the_map_of_its_own_kind_of_tails():
    shares = loss_map.shares_of(SMALL.m)
    assert loss_map.ring(looked_at(), "independent", shares) is None
    missing, kurtosis = loss_map.ring(looked_at(), "common", shares)
    assert missing == pytest.approx(1 - SMALL.problem().mask.mean())
    assert kurtosis > 0
    assert loss_map.ring(looked_at("mixture(0.9)"), "common", shares) is None
    assert shares == tuple(share for share in loss_map.MISSING if share < 0.75)
    assert loss_map.shares_of(1) == (0.0,)


def test_a_grid_has_its_ends_and_no_number_twice():
    assert curves.grid(10, 1000, 3) == [10, 100, 1000]
    assert curves.grid(5, 7, 8) == [5, 6, 7]


@pytest.mark.parametrize(
    ("law", "lost", "sentence"),
    [
        ("gaussian", 0.0, "COLLAB's weights are the optimal ones"),
        ("uniform", 0.0, "pretending costs nothing"),
        ("uniform", 2e-4, "next to nothing here: 0.0002 of the error"),
        ("uniform", 0.125, "makes the error 12.5% larger than need be (outliers, agent 1's own)"),
    ],
)
def test_the_cost_in_a_sentence(law, lost, sentence):
    assert sentence in say.pretending(looked_at(law).case, lost)


def test_how_far_above_the_optimum():
    assert say.above(0.12) == "12% above"
    assert say.above(-0.1) == "10% below"
    assert say.above(-0.001) == "0% above"
    assert say.above(2.4) == "3.4 times it"
    assert say.above(870.4) == "870 times it"


def test_sentences_of_a_run_before_its_first_trial():
    found = looked_at()
    reports = []
    cc.unlabelled.curve(found.problem, 50, [20, 40], 2, 0, features="outliers(4)",
                        progress=lambda done, curve: reports.append(curve))  # fmt: skip
    assert say.measured(reports[0]) == ""
    assert say.unlabelled(found.case, found.lost, reports[0]) == say.pretending(
        found.case, found.lost
    )
    assert "trials" in say.measured(reports[-1])


def test_errors_of_optimal_weights_over_collabs():
    curve = cc.simulate.error_curve(
        SMALL.problem(), [50, 100], 4, list(pretending.simulated()), 0, features="outliers(4)",
        unlabelled=100,
    )  # fmt: skip
    gains = cc.unlabelled.gains(curve)
    assert set(gains["method"]) == {"collab_optimal", "collab_oracle"}
    relative = curve.relative_to("collab").set_index(["method", "n"])
    for row in gains.itertuples():
        assert row.ratio == relative.loc[(row.method, row.n), "ratio"]
    assert "W* errs" in say.gain(looked_at().case, 0.2, gains, 100)


def test_a_registered_method_and_weighting_appear_by_themselves(monkeypatch):
    class New(Collab):
        key = "new"
        label = "A new method"

    class Weights(Identity):
        key = "new_weights"
        label = "New weights"

    before = pretending.simulated()
    # Nothing stands beside the errors of a method whose theory is Gaussian.
    assert "pooled_moments" not in before
    frames = csv_frames(monkeypatch)
    world_of_its_own = WORLD | {"seed": "77", "law": "outliers"}
    with cc.methods.registered(New), cc.methods.registered(Weights):
        opened(world_of_its_own)
        app = opened(world_of_its_own | {"part": "cost"})
        assert_sound(app, least=3)
    assert set(frames["law-curves"][0]["method"]) == {*before, "new", "new_weights"}
    assert {"new", "new_weights"} < set(frames["law-errors"][0]["method"])
    assert pretending.simulated() == before
