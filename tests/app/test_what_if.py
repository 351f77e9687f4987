"""What if: odd worlds, every part, real data, and numbers that agree with the library's."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import collab_core as cc
from collab_core.answers import planning
from pages.parts.what_if import robust, samples
from pages.shared.script import Script
from pages.shared.subject import Subject, of_scenario

from .apps import (
    ODD_WORLDS,
    ROOT,
    assert_sound,
    compare,
    csv_frames,
    figures_of,
    finished,
    open_page,
    run_snippet,
    said,
)

PAGE = "pages/what_if.py"
SMALL = cc.Scenario(d=5, m=4, rich=2, rich_size=4, size=3, spikes=1, seed=2)
CLOSED = ["helps", "measure", "samples"]
#: What is said where there is no figure to draw.
NOTHING = ("only one agent", "nothing more to measure", "Nobody can work alone")


def with_table(subject, query):
    """The page in a session that holds a table."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.session_state["table-subject"] = subject
    for name, value in ({"world": "table"} | query).items():
        app.query_params[name] = value
    app.switch_page(PAGE)
    return app.run()


def table():
    """Two clinics, one of which does not ask about smoking, a question of two columns."""
    script = Script("a made-up table")
    covariance = script.run("covariance", cc.covariance.equicorrelated, 3, 0.4)
    problem = script.run(
        "problem", cc.Problem, covariance, [1.0, -0.5, 0.8], 1.0, [[0, 1, 2], [0]], [1.5, 0.5]
    )
    return Subject(
        problem, 60.0, ["Clinic A", "Clinic B"], ["Age", "Smokes: some", "Smokes: much"], script,
        source="A made-up table.", groups=[[0], [1, 2]], group_names=["Age", "Smokes"],
    )  # fmt: skip


@pytest.mark.parametrize("part", CLOSED)
@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds(name, part):
    app = open_page(PAGE, ODD_WORLDS[name] | {"part": part})
    nothing = any(sentence in said(app) for sentence in NOTHING)
    assert_sound(app, least=0 if nothing else 2)
    assert not app.error


@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds_are_disturbed(name):
    app = open_page(PAGE, ODD_WORLDS[name] | {"part": "robust", "wrong": "shift", "trials": "20"})
    if any(sentence in said(app) for sentence in NOTHING):
        assert not app.get("plotly_chart")
    else:
        assert_sound(finished(app, "robust"))
        assert "**COLLAB " in said(app)
    assert not app.error


@pytest.mark.parametrize("part", CLOSED)
def test_snippets_print_the_figures_numbers(monkeypatch, part):
    frames = csv_frames(monkeypatch)
    open_page(PAGE, SMALL.to_query() | {"part": part, "additions": "2"})
    assert len(frames) == 2
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


@pytest.mark.parametrize("wrong", ["unlabelled", "perturbed", "tails", "clusters", "shift"])
def test_every_disturbance_is_drawn_and_its_snippet_prints_its_numbers(monkeypatch, wrong):
    frames = csv_frames(monkeypatch)
    app = open_page(
        PAGE, SMALL.to_query() | {"part": "robust", "wrong": wrong, "trials": "20", "judged": "1"}
    )
    finished(app, "robust")
    assert_sound(app)
    assert "agent 2's own model" in said(app)
    assert "20 trials" in said(app)
    frame, code = frames["robust"]
    again = run_snippet(code)
    np.testing.assert_array_equal(frame["mean"].astype(float), again["mean"].astype(float))


def test_the_break_even_is_said_and_marked():
    app = open_page(PAGE, SMALL.to_query() | {"part": "robust", "wrong": "perturbed", "n": "1000"})
    finished(app, "robust")
    spec = assert_sound(app)[0]
    problem = SMALL.problem()
    world = planning.Consortium(problem, 1000)
    usual = int((world.alone / world.together).argmax())
    result = cc.disturbed.curve(problem, 1000, 50, "perturbed", target=usual, seed=SMALL.seed)
    even = result.break_even
    assert even.kind == "inside"
    assert f"until Σ is wrong by more than ε = {even.value:.3g}" in said(app)
    lines = [shape for shape in spec["layout"]["shapes"] if shape["line"].get("dash") == "dash"]
    assert [line["x0"] for line in lines] == [pytest.approx(even.value)]
    assert f"break-even {even.value:.3g}" in str(spec["layout"]["annotations"])


def test_a_link_shows_the_figure_alone():
    query = SMALL.to_query() | {"part": "robust", "trials": "20", "figure": "robust"}
    app = finished(open_page(PAGE, query | {"controls": "n"}), "robust")
    assert len(assert_sound(app)) == 1
    assert "stays ahead" not in said(app)


def test_the_words_are_the_numbers():
    problem = SMALL.problem()
    matrix = planning.who_helps_whom(problem, SMALL.n)
    np.fill_diagonal(matrix, 0)
    hurt, leaver = np.unravel_index(matrix.argmax(), matrix.shape)
    app = open_page(PAGE, SMALL.to_query())
    assert f"Agent {hurt + 1} leans most on agent {leaver + 1}" in said(app)
    assert f"{matrix.max():.1%}" in said(app)
    shares = planning.shapley(problem, SMALL.n)
    most = int(shares.brings.argmax())
    assert f"agent {most + 1} brings most to the others" in said(app)
    assert f"{shares.brings[most] / shares.total:.1%} of all" in said(app)


def test_what_to_measure_for_an_agent_itself():
    problem = SMALL.problem()
    gains = planning.next_features(problem, SMALL.n)
    ordered = gains.sort_values("own_share", ascending=False)
    best = ordered.iloc[0]
    app = open_page(PAGE, SMALL.to_query() | {"part": "measure", "whose": "own"})
    assert f"agent {int(best['agent'])} should see x{int(best['feature'])}" in said(app)
    # The list goes down, by the numbers that are drawn.
    listed = said(app).split("The best 5: ")[1].split(".\n")[0]
    shares = [part.rsplit("(")[1].rstrip("%)") for part in listed.split("; ")]
    assert shares == [f"{100 * share:.1f}" for share in ordered["own_share"].head(5)]
    heatmap, plan = figures_of(app)
    assert f"{best['own_share']:.1%}" in heatmap["layout"]["title"]["text"]
    expected = planning.plan_features(problem, SMALL.n, 5, goal=int(best["agent"]) - 1)
    fall = 1 - expected["error"].iloc[-1] / expected["error"].iloc[0]
    assert (
        f"agent {int(best['agent'])}'s error falls by {fall:.1%}" in plan["layout"]["title"]["text"]
    )


def test_a_heatmap_begins_at_nothing():
    """An agent that helps little is pale, also where nobody helps less."""
    app = open_page(PAGE, {"world": "census"})
    heatmap = figures_of(app)[0]["data"][0]
    values = [value for row in heatmap["z"] for value in row if value is not None]
    assert (heatmap["zmin"], heatmap["zmax"]) == (0, pytest.approx(max(values)))
    assert min(values) > 0.05 * max(values)


def test_a_wanted_error_stays_while_the_world_changes():
    for n in ("50", "100", "1000"):
        app = open_page(PAGE, SMALL.to_query() | {"part": "samples", "error": "0.37", "n": n})
        assert not app.info
        assert "For an error of 0.37" in said(app)
    app = open_page(PAGE, SMALL.to_query() | {"part": "samples", "error": "-1"})
    assert "Put right" in app.info[0].value


def test_what_is_alike_is_not_told_as_a_choice():
    alike = {"d": "4", "m": "3", "missing": "independent", "p": "0"}
    app = open_page(PAGE, alike)
    assert "Whoever leaves" in said(app)
    assert "all bring the same" in figures_of(app)[1]["layout"]["title"]["text"]
    assert "help everywhere the same" in said(open_page(PAGE, alike | {"part": "samples"}))


def test_too_few_samples_are_warned_of():
    few = {"d": "8", "m": "4", "rich": "1", "rich_size": "8", "size": "3", "n": "5"}
    for part in ("helps", "samples"):
        assert "promise too much" in said(open_page(PAGE, few | {"part": part}))
    # Agents that see nothing need no samples.
    nothing = {"d": "6", "m": "4", "missing": "hub", "size": "0", "part": "samples"}
    assert "promise too much" not in said(open_page(PAGE, nothing))


def test_a_choice_that_another_world_does_not_have_is_dropped_without_a_word():
    query = {"d": "12", "m": "12", "rich": "4", "rich_size": "9", "size": "6", "part": "robust"}
    app = open_page(PAGE, query | {"judged": "8", "trials": "20"})
    assert "agent 9's own model" in said(finished(app, "robust"))
    app.segmented_control(key="option-world").set_value("census").run()
    assert not app.info
    assert "Illinois's own model" in said(finished(app, "robust"))


@pytest.mark.parametrize("part", ["helps", "measure"])
def test_the_largest_worlds_show_progress(part):
    query = {"d": "60", "m": "17", "rich": "5", "rich_size": "50", "size": "8", "part": part}
    app = open_page(PAGE, query | {"additions": "1"})
    assert_sound(finished(app, part), least=2)


def test_large_worlds_have_sampled_shares():
    app = open_page(PAGE, {"d": "12", "m": "20", "rich": "10", "rich_size": "9", "size": "6"})
    assert_sound(finished(app, "helps"), least=2)
    assert "averages over 200 random orders of arrival" in said(app)


@pytest.mark.parametrize(
    ("world", "part", "sentence"),
    [
        ("one agent", "helps", "only one agent, agent 1"),
        ("one agent", "measure", "Agent 1 sees everything"),
        ("one agent", "samples", "nobody to share the work with"),
        ("one agent", "robust", "no advantage to lose"),
        ("all seen", "measure", "Everybody sees everything"),
        ("n = 1", "robust", "Nobody can work alone"),
    ],
)
def test_small_worlds_have_sentences_of_their_own(world, part, sentence):
    assert sentence in said(open_page(PAGE, ODD_WORLDS[world] | {"part": part}))


def test_two_agents_bring_what_the_other_saves():
    two = {"d": "4", "m": "2", "missing": "hub", "size": "2"}
    assert "each brings what the other saves" in said(open_page(PAGE, two))


# Real data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", CLOSED)
def test_the_census_has_names_and_snippets(monkeypatch, part):
    frames = csv_frames(monkeypatch)
    app = open_page(PAGE, {"world": "census", "part": part})
    assert_sound(app, least=2)
    assert "one relation holds for all" in said(app)
    assert "Illinois" in str([frame.to_csv() for frame, _ in frames.values()])
    assert "agent 1" not in said(app)
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


def test_a_state_that_asks_a_question_gets_all_its_levels():
    app = open_page(PAGE, {"world": "census", "part": "measure"})
    spec = assert_sound(app, least=2)[0]
    assert "Marital status" in spec["data"][0]["x"]
    assert len(spec["data"][0]["x"]) == 12
    sums = cc.census.CensusSums.load("data/acs2024_moments.npz")
    states = ("NY", "PA", "OH", "FL", "IL")
    asked = cc.census.paper_views(states, sums.questions)
    study = cc.census.Study(sums, cc.census.StudyChoice(states, tuple(asked.values()), "IL"))
    keys = [cc.census.question_of(name).key for name in study.features]
    groups = [[j for j, k in enumerate(keys) if k == key] for key in dict.fromkeys(keys)]
    best = planning.next_features(study.problem, study.counts.mean(), groups)
    top = best.loc[best["everybody"].idxmax()]
    name = cc.census.QUESTIONS[list(dict.fromkeys(keys))[int(top["feature"]) - 1]].name
    state = cc.census.STATE_NAMES[states[int(top["agent"]) - 1]]
    assert f"Measure next: {state} should see {name}" in said(app)


def test_the_census_is_disturbed(monkeypatch):
    frames = csv_frames(monkeypatch)
    query = {"world": "census", "part": "robust", "wrong": "shift", "shifted": "0", "judged": "4"}
    app = finished(open_page(PAGE, query | {"trials": "20", "people": "500"}), "robust")
    assert_sound(app)
    assert "Illinois's own model" in said(app)
    assert "New York's relation" in said(app)
    assert "draws are Gaussian" in said(app)
    frame, code = frames["robust"]
    again = run_snippet(code)
    np.testing.assert_array_equal(frame["mean"].astype(float), again["mean"].astype(float))


def test_few_and_no_states():
    app = open_page(PAGE, {"world": "census", "states": "OH,IL"})
    assert_sound(app, least=2)
    assert "each brings what the other saves" in said(app)
    app = open_page(PAGE, {"world": "census", "states": "none"})
    assert "Pick at least one state" in app.error[0].value
    app = open_page(PAGE, {"world": "census", "states": "OH", "part": "robust"})
    assert "only one agent, Ohio" in said(app)


def test_without_a_table_it_says_where_to_get_one():
    app = open_page(PAGE, {"world": "table"})
    assert not app.exception
    assert "no table in this session" in said(app)
    assert "Your data" in said(app)


@pytest.mark.parametrize("part", [*CLOSED, "robust"])
def test_a_table_of_ones_own(monkeypatch, part):
    frames = csv_frames(monkeypatch)
    app = with_table(table(), {"part": part, "trials": "20"})
    if part == "robust":
        finished(app, "robust")
    assert_sound(app, least=1 if part == "robust" else 2)
    assert "Clinic" in said(app)
    assert "A made-up table." in said(app)
    if part == "measure":
        assert "Clinic B should see Smokes" in said(app)
        assert "Nothing else is unseen" in said(app)
    for key, (frame, code) in frames.items():
        found = run_snippet(code)
        if key == "robust":
            np.testing.assert_allclose(frame["mean"].astype(float), found["mean"].astype(float))
        else:
            compare(key, frame, found)


def test_a_bad_link_is_put_right():
    bad = {"world": "mars", "part": "robust", "wrong": "rain", "judged": "99", "trials": "7"}
    app = open_page(PAGE, SMALL.to_query() | bad)
    assert not app.exception
    assert "Put right" in app.info[0].value
    assert_sound(finished(app, "robust"))
    app = open_page(PAGE, {"world": "census", "states": "XX", "people": "3"})
    assert "Put right" in app.info[0].value
    assert_sound(app, least=2)


# Without a browser -------------------------------------------------------------------------------


def test_every_part_can_be_imported():
    from pages import what_if

    assert list(what_if.PARTS) == list(what_if.DRAWN)


def test_errors_to_wish_for():
    found = samples.wishes(0.1, "")
    assert found == sorted(found, reverse=True)
    assert 0.2 in found
    assert 0.37 in samples.wishes(0.1, "0.37")
    for own in ("nothing", "-1", "inf", "1e9"):
        assert samples.wishes(0.1, own) == found


def test_whom_an_agent_would_miss_most():
    asked, problem = of_scenario(SMALL), SMALL.problem()
    rises = planning.who_helps_whom(problem, SMALL.n)
    np.fill_diagonal(rises, 0)
    assert robust.most_missed(asked, 1) == rises[1].argmax()
    assert robust.most_missed(asked, "everybody") == rises.sum(axis=0).argmax()


def test_a_subject_is_lines_that_run():
    asked = of_scenario(SMALL)
    namespace: dict = {}
    exec(asked.script.text, namespace)
    np.testing.assert_array_equal(namespace["problem"].covariance, asked.problem.covariance)
    assert asked.agent_names is None
    assert table().agent_names == ["Clinic A", "Clinic B"]
    assert table().measure_names == ["Age", "Smokes"]
