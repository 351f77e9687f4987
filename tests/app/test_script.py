"""Script: library calls that write their own line, and values kept by their text."""

import contextlib
import io
from threading import Event

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import collab_core as cc
from pages.shared import run
from pages.shared.script import WIDTH, Script, as_part

SMALL = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1)


def ran(script: Script) -> dict:
    """Names after the script's text has run as it stands, in a world of its own."""
    namespace: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(script.text, namespace)
    assert out.getvalue().strip()
    return namespace


def lines(script: Script) -> list[str]:
    """The script without its imports and the last line, which prints."""
    return script.text.split("\n\n", 1)[1].splitlines()[:-1]


def with_problem(scenario: cc.Scenario = SMALL) -> tuple[Script, cc.Problem]:
    script = Script.of(scenario)
    return script, script.run("problem", scenario.problem)


# The text runs as it stands ----------------------------------------------------------------------


def test_a_figures_lines_print_its_numbers():
    script, problem = with_problem()
    frame = script.run("frame", cc.whatif.worth, problem, SMALL.n)
    assert script.text == (
        "import collab_core as cc\n\n"
        "scenario = cc.Scenario(d=4, m=3, spikes=1, rich=1, rich_size=4, size=2)\n"
        "problem = scenario.problem()\n"
        "frame = cc.whatif.worth(problem, 100)\n"
        "print(frame)\n"
    )
    assert script.last is frame
    pd.testing.assert_frame_equal(ran(script)["frame"], frame)


def test_the_usual_world_is_written_without_its_defaults():
    assert "scenario = cc.Scenario()\n" in Script.of(cc.Scenario()).text


@pytest.mark.parametrize("preset", cc.presets.PRESETS, ids=lambda preset: preset.key)
def test_every_world_reads_back(preset):
    script = Script.of(preset.scenario)
    assert ran(script)["scenario"].to_query() == preset.scenario.to_query()
    assert all(len(line) <= WIDTH or line.startswith("    ") for line in lines(script))


def test_fields_that_do_not_count_are_left_out():
    assert "condition" not in Script.of(SMALL.replace(condition=77.0)).text


def test_reading_and_picking():
    script, problem = with_problem()
    curves = script.run(
        "curves", cc.simulate.error_curves, problem, [20, 40], 3, ["full", 1], ["collab"], seed=2
    )
    curve = script.item("curve", curves, np.int64(1))
    frame = script.read("frame", curve, "frame")
    assert script.read("agent", curve, "target.agent") == 1
    assert lines(script)[-3:] == [
        "curve = curves[1]",
        "frame = curve.frame",
        "agent = curve.target.agent",
    ]
    pd.testing.assert_frame_equal(ran(script)["frame"], frame)


def test_a_long_call_is_written_one_argument_a_line():
    script, problem = with_problem()
    settings = cc.simulate.Settings(sigma="unlabelled", unlabelled=500)
    script.plan("short", cc.simulate.error_curves, problem, [20], 2, ["full"])
    call = script.plan(
        "curves", cc.simulate.error_curves, problem, list(range(20, 50)), 2, ["full"],
        settings=settings,
    )  # fmt: skip
    assert call.line.splitlines()[0] == "curves = cc.simulate.error_curves("
    assert "    settings=cc.simulate.Settings(sigma='unlabelled', unlabelled=500),\n" in call.line
    assert call.line.endswith("\n)")


# Arguments ---------------------------------------------------------------------------------------


def echo(value):
    """Stands for a function of the library; only how it is written is looked at."""
    return value


def written(value, monkeypatch) -> str:
    monkeypatch.setattr("pages.shared.script._path", lambda thing: "cc.echo")
    return Script().plan("value", echo, value).line.removeprefix("value = cc.echo(")[:-1]


@pytest.mark.parametrize(
    "value",
    [
        True, None, 7, -0.1, 1e-300, "it's", np.float64(0.1), np.int64(3), np.bool_(True),
        np.str_("a"), (), (1,), (1, "b"), [], [1.5, [2]], {"a": (1, 2), 3: None}, range(2, 9, 3),
        float("inf"), -np.inf, [np.float64(2)],
    ],
    ids=repr,
)  # fmt: skip
def test_plain_values_read_back(value, monkeypatch):
    text = written(value, monkeypatch)
    assert "np." not in text
    assert eval(text) == value


@pytest.mark.parametrize(
    "value",
    [
        np.array([0.1, -2.0]), np.array([[1, 2], [3, 4]]), np.array([True, False]),
        np.array([], dtype=int), np.array([np.inf, np.nan, 1.0]),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_read_back(value, monkeypatch):
    again = eval(written(value, monkeypatch), {"np": np})
    np.testing.assert_array_equal(again, value)
    assert again.dtype == value.dtype


def test_not_a_number_can_be_written(monkeypatch):
    assert np.isnan(eval(written(float("nan"), monkeypatch)))


def test_a_library_function_is_an_argument_by_its_name():
    call = Script().plan("value", cc.whatif.worth, cc.bounds.gauss, 1)
    assert call.line == "value = cc.whatif.worth(cc.bounds.gauss, 1)"


def test_imports_are_those_that_are_needed():
    script = Script.of(SMALL)
    problem, _ = script.run(
        "seen", cc.Problem.of_seen, np.eye(2), np.ones(2), 1.0, [np.array([0, 1])]
    )
    assert script.text.startswith("import collab_core as cc\nimport numpy as np\n\n")
    assert "seen = cc.Problem.of_seen(" in script.text
    np.testing.assert_array_equal(ran(script)["seen"][0].covariance, problem.covariance)
    table = script.run("frame", pd.DataFrame, {"a": [1]})
    assert "import pandas as pd\n" in script.text
    pd.testing.assert_frame_equal(ran(script)["frame"], table)


def test_an_argument_that_is_none_anyway_is_not_written():
    script, problem = with_problem()
    call = script.plan("frame", cc.planning.next_features, problem, 20, groups=None)
    assert call.line == "frame = cc.planning.next_features(problem, 20)"


def test_a_long_dataclass_is_written_a_field_a_line():
    script = Script()
    choice = cc.tabular.TableChoice("y", "site", tuple(f"a long feature {j}" for j in range(6)))
    script.write("choice", choice)
    assert len(lines(script)) == 5
    assert ran(script)["choice"] == choice


# Names -------------------------------------------------------------------------------------------


def test_values_are_written_by_name():
    script, problem = with_problem()
    covariance = script.run("covariance", cc.bounds.gauss, problem)
    script.run("error", cc.bounds.error, problem, covariance)
    assert lines(script)[-1] == "error = cc.bounds.error(problem, covariance)"
    # A number has no name: the same number elsewhere is another.
    call = script.plan("error", cc.bounds.error, problem, script.last)
    assert "error)" not in call.line


def test_a_name_that_is_given_again_means_the_latest():
    script, problem = with_problem()
    first = script.run("frame", cc.whatif.worth, problem, 10)
    second = script.run("frame", cc.whatif.worth, problem, 20)
    assert script.plan("text", second.to_csv).line == "text = frame.to_csv()"
    with pytest.raises(ValueError, match="has no name yet"):
        script.plan("text", first.to_csv)


def test_functions_are_named_by_their_home():
    problem = SMALL.problem()
    for function, line in (
        (cc.theory.expected_errors, "a = cc.theory.expected_errors("),
        (cc.simulate.sample_paths, "a = cc.simulate.sample_paths("),
        (cc.bounds.gauss, "a = cc.bounds.gauss("),
    ):
        script = Script()
        script.given("problem", problem, "problem = ...")
        assert script.plan("a", function, problem).line.startswith(line)


# What is unknown is refused ----------------------------------------------------------------------


def test_what_cannot_be_written_is_refused():
    script, _ = with_problem()
    with pytest.raises(ValueError, match="DataFrame cannot be written as Python"):
        script.run("frame", cc.whatif.worth, pd.DataFrame(), 1)
    with pytest.raises(ValueError, match="is no public name of collab_core"):
        script.run("frame", echo, 1)
    with pytest.raises(ValueError, match="is no public name of collab_core"):
        script.run("frame", lambda: 1)
    with pytest.raises(ValueError, match="Scenario of problem has no name yet"):
        script.run("problem", SMALL.replace(d=5).problem)
    with pytest.raises(ValueError, match="has no name in this script yet"):
        script.read("frame", object(), "frame")
    with pytest.raises(ValueError, match="has no name in this script yet"):
        script.item("frame", {"a": 1}, "a")
    assert lines(script)[-1] == "problem = scenario.problem()"


def test_an_error_of_the_library_leaves_no_line():
    script, problem = with_problem()
    with pytest.raises(ValueError, match="n must"):
        script.run("frame", cc.whatif.worth, problem, 0)
    assert lines(script)[-1] == "problem = scenario.problem()"


# Branches ----------------------------------------------------------------------------------------


def test_branches_share_what_came_before_and_nothing_else():
    script, problem = with_problem()
    left, right = script.branch(), script.branch()
    left.run("frame", cc.whatif.worth, problem, 10)
    right.run("frame", cc.whatif.comparison, problem, 10)
    assert "worth" in left.text
    assert "worth" not in right.text
    assert lines(script) == lines(left)[:-1] == lines(right)[:-1]
    assert script.last is problem


# Values are kept by their text -------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch):
    """A function of the library that counts its runs."""
    calls = []
    original = cc.whatif.worth

    def worth(problem, n):
        calls.append(n)
        return original(problem, n)

    monkeypatch.setattr("pages.shared.script._path", lambda thing: "cc.whatif.worth")
    return worth, calls


def test_the_same_lines_run_once(counted):
    worth, calls = counted
    scenario = SMALL.replace(seed=4711)
    frames = []
    for _ in range(2):
        script = Script("a file")
        script.given("scenario", scenario, "scenario = ...")
        problem = script.run("problem", scenario.problem)
        frames.append(script.run("frame", worth, problem, 10))
    assert frames[0] is frames[1]
    assert calls == [10]
    script = Script("another file")
    script.given("scenario", scenario, "scenario = ...")
    script.run("frame", worth, script.run("problem", scenario.problem), 10)
    assert calls == [10, 10]


def test_what_follows_from_a_part_is_not_kept():
    script, problem = with_problem(SMALL.replace(seed=4712))
    call = script.plan("paths", cc.simulate.sample_paths, problem, [20], 6, ["collab"])
    whole = call()
    part = {
        20: cc.simulate.Sample({"collab": whole[20].estimates["collab"][:2]}, problem.theta, {})
    }
    for found, partial in ((part, True), (whole, False), (part, True)):
        with as_part(partial):
            mine = script.branch()
            mine.done(call, found)
            frame = mine.branch().run("frame", cc.simulate.path_frame, found, (0, 1))
        assert len(frame) == (2 if partial else 6)


def test_somebodys_own_data_are_kept_for_the_session_only(monkeypatch):
    monkeypatch.setattr("pages.shared.script.MOST_OWN", 2)
    st.session_state.pop("script-values", None)

    def value(salt: str):
        script = Script(salt)
        script.write("scenario", SMALL)
        return script.run("problem", SMALL.problem)

    mine, shared = value("digest of a file"), value("")
    assert value("digest of a file") is mine
    assert mine is not shared
    assert list(st.session_state["script-values"].values()) == [mine]
    for salt in ("another", "a third"):
        value(salt)
    assert len(st.session_state["script-values"]) == 2
    assert value("digest of a file") is not mine


# Planned calls -----------------------------------------------------------------------------------


def test_a_planned_call_runs_later_with_progress_and_stop():
    script, problem = with_problem()
    before = script.text
    call = script.plan("curve", cc.simulate.error_curve, problem, [20, 40], 5, ["collab"], seed=1)
    assert script.text == before
    told: list[float] = []
    stop = Event()
    curve = call(progress=lambda fraction, found: told.append(fraction), cancel=stop)
    assert told[0] == 0.0
    assert told[-1] == 1.0
    script.done(call, curve)
    frame = script.read("frame", curve, "frame")
    assert "progress" not in script.text
    pd.testing.assert_frame_equal(ran(script)["frame"], frame)


def test_a_planned_call_can_be_taken_at_once():
    script = Script.of(SMALL)
    call = script.plan("problem", SMALL.problem)
    other = script.branch()
    assert script.take(call) is other.run("problem", SMALL.problem)
    assert script.text == script.lines + "print(problem)\n"


def test_a_call_gets_only_what_its_function_takes():
    script, problem = with_problem()
    call = script.plan("frame", cc.whatif.worth, problem, 10)
    assert len(call(progress=print, cancel=Event())) == SMALL.m


def test_two_files_of_one_name_are_two_runs():
    keys = {Script(salt).plan("frame", cc.whatif.worth, None, 1).key for salt in ("a", "b")}
    assert len(keys) == 2


def test_a_run_that_failed_has_a_part():
    def fails(report, cancel):
        report(0.5, "half")
        raise ValueError("no")

    job = run.Job("failing", fails)
    with contextlib.suppress(ValueError):
        job.future.result(10)
    assert job.stopped
    assert job.result == "half"
