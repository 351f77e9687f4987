"""Every page with AppTest: no exception, finished figures, nothing that is not a number."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import collab_core as cc
from collab_core.world.catalogue import fields
from pages.shared import run, state

from .apps import (
    PAGES,
    assert_sound,
    compare,
    csv_frames,
    figures_of,
    open_page,
    param,
    run_snippet,
    scenario_of,
    snippets,
    wait_for,
)


@pytest.mark.parametrize("page", PAGES)
def test_page_opens_with_finished_figures(page):
    app = open_page(page)
    # Pages that simulate start at once and draw as trials come in.
    wait_for(app, lambda: figures_of(app))
    assert_sound(app)


# The world in the URL ----------------------------------------------------------------------------


@pytest.mark.parametrize("preset", cc.presets.PRESETS, ids=lambda preset: preset.key)
def test_every_preset_opens(preset):
    app = open_page("pages/playground.py", preset.scenario.to_query())
    assert_sound(app, least=4)
    found = scenario_of(app)
    assert all(getattr(found, name) == getattr(preset.scenario, name) for name in found.active)
    assert not app.info
    said = [error.value for error in app.error]
    assert bool(said) == (preset.key == "unidentifiable")


def test_extremes_of_every_field():
    """Lowest and highest of every whole number and number, on a small world and on the largest."""
    small = {"d": "3", "m": "2"}
    large = {"d": "60", "m": "100"}
    app = open_page("pages/playground.py")
    for name, field in fields().items():
        if field.kind not in ("whole", "number"):
            continue
        for base in (small, large):
            for value in (field.low, field.high):
                query = base | {name: f"{value:.12g}"} | choices_for(name)
                scenario, _ = cc.Scenario.from_query(query)
                app.session_state["scenario"] = scenario
                assert_sound(app.run(), least=3)


def choices_for(name: str) -> dict[str, str]:
    """Choices that make a field count."""
    return {
        "condition": {"spectrum": "geometric"},
        "exponent": {"spectrum": "power_law"},
        "correlation": {"spectrum": "equicorrelated"},
        "groups": {"spectrum": "factor"},
        "p": {"missing": "independent"},
        "tiers": {"missing": "tiers"},
        "nonzero": {"theta": "sparse"},
        "ratio": {"allocation": "narrow"},
    }.get(name, {})


def random_scenario(rng) -> cc.Scenario:
    d, m = int(rng.integers(1, 20)), int(rng.integers(1, 20))
    mask = rng.random((m, d)) < 0.5
    values = {
        "d": d, "m": m, "n": int(10 ** rng.uniform(0, 6)), "sigma": float(10 ** rng.uniform(-2, 2)),
        "seed": int(rng.integers(1000)), "spectrum": str(rng.choice(fields()["spectrum"].choices)),
        "missing": str(rng.choice(fields()["missing"].choices)),
        "theta": str(rng.choice(fields()["theta"].choices)),
        "allocation": str(rng.choice(fields()["allocation"].choices)),
        "ratio": float(10 ** rng.uniform(0, 2)),
        "correlation": float(rng.uniform(0, 0.99)), "condition": float(10 ** rng.uniform(0, 6)),
        "p": float(rng.uniform(0, 0.95)), "size": int(rng.integers(0, d + 1)),
        "rich": int(rng.integers(0, m + 1)), "rich_size": int(rng.integers(0, d + 1)),
        "tiers": int(rng.integers(1, m + 1)), "groups": int(rng.integers(1, d + 1)),
        "nonzero": int(rng.integers(0, d + 1)), "theta_scale": float(rng.uniform(0, 3)),
        "eigenvalues": tuple(rng.uniform(0.1, 3, d)), "values": tuple(rng.standard_normal(d)),
        "matrix": tuple(map(tuple, cc.covariance.ar1(d, 0.4))),
        "mask": tuple("".join("01"[int(seen)] for seen in row) for row in mask),
    }  # fmt: skip
    return cc.Scenario().nearest(**values)[0]


def test_fifty_random_worlds():
    app, rng = open_page("pages/playground.py"), np.random.default_rng(0)
    seen = {"fine": 0, "not identifiable": 0}
    for _ in range(50):
        scenario = random_scenario(rng)
        app.session_state["scenario"] = scenario
        app.run()
        some_agent_sees = any(view.size for view in scenario.views)
        assert_sound(app, least=4 if some_agent_sees else 3)
        assert bool(app.error) == bool(scenario.unseen.size)
        seen["not identifiable" if app.error else "fine"] += 1
    assert min(seen.values()) >= 5


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"d": "500"}, "500 is not allowed, so 60 is used"),
        ({"d": "-3"}, "-3 is not allowed, so 1 is used"),
        ({"d": "many"}, "'many' is not a number; 30 is used"),
        ({"d": "7.4"}, "7.4 is not allowed, so 7 is used"),
        ({"n": "nan"}, "'nan' is not a finite number"),
        ({"sigma": "0"}, "0 is not allowed, so 0.01 is used"),
        ({"spectrum": "rainbow"}, "must be one of"),
        ({"missing": "mask", "mask": "3x3.!!"}, "is not a pattern of views"),
        ({"missing": "mask", "mask": "2x2.8A", "m": "3", "d": "4"}, "fitted to 3 agents"),
        ({"d": "5", "spikes": "9"}, "at most d = 5, so 5 is used"),
        ({"spectrum": "matrix", "matrix": "1,2;3"}, "the identity is used"),
        ({"spectrum": "matrix", "matrix": "1,2;2,1"}, "positive definite, so"),
        ({"spectrum": "eigenvalues", "eigenvalues": "1,two"}, "'two' is not a number"),
        ({"theta": "values", "values": "1,2", "d": "4"}, "2 zeros were added"),
        ({"spectrum": "eigenvalues", "eigenvalues": "1e200,1e-190"}, "kept between"),
        ({"spectrum": "eigenvalues", "eigenvalues": "1e6,1e-6"}, "the least are raised"),
        ({"spectrum": "eigenvalues", "eigenvalues": ",".join("1" * 90)}, "more than the 60"),
        ({"theta": "values", "values": "1e200,1", "d": "2"}, "kept between"),
        ({"spectrum": "matrix", "matrix": "1e300,0;0,1e-300"}, "kept between"),
        ({"controls": "n,volume"}, "there is none called volume"),
        ({"step": "99"}, "step: 99 is not allowed, so 6 is used"),
        ({"sees": "x"}, "is not a whole number"),
    ],
)
def test_a_wrong_link_is_put_right_and_says_so(query, said):
    app = open_page("pages/playground.py", query)
    assert_sound(app)
    assert any(said in info.value for info in app.info), [info.value for info in app.info]


def test_hostile_links_do_no_harm():
    for text in ("<script>alert(1)</script>", "x" * 5000, "\u0000", "1e999"):
        for name in ("d", "mask", "matrix", "spectrum", "controls", "figure", "step"):
            query = {"missing": "mask", "spectrum": "matrix", name: text}
            app = open_page("pages/start.py" if name == "step" else "pages/playground.py", query)
            assert not app.exception


def test_links_read_back_as_the_same_world():
    rng = np.random.default_rng(1)
    for _ in range(200):
        scenario = random_scenario(rng)
        again, notices = cc.Scenario.from_query(scenario.to_query())
        assert notices == []
        assert all(getattr(again, name) == getattr(scenario, name) for name in scenario.active)
        assert again.to_query() == scenario.to_query()


def test_the_world_is_kept_from_page_to_page():
    app = open_page("pages/playground.py", {"d": "7", "m": "4", "rich": "1"})
    before = scenario_of(app)
    app.query_params.clear()
    app.switch_page("pages/start.py").run()
    app.query_params.clear()
    app.switch_page("pages/playground.py").run()
    assert scenario_of(app) == before
    assert param(app, "d") == "7"


def test_controls_change_the_world():
    app = open_page("pages/playground.py")
    app.slider(key="control-d").set_value(10).run()
    assert scenario_of(app).d == 10
    # What the smaller d makes impossible is put right, and said.
    assert scenario_of(app).rich_size == 10
    assert any("at most d = 10" in info.value for info in app.info)
    app.selectbox(key="control-spectrum").set_value("equicorrelated").run()
    app.slider(key="control-correlation").set_value(0.9).run()
    assert scenario_of(app).correlation == 0.9
    app.select_slider(key="control-n").set_value(1000).run()
    assert scenario_of(app).n == 1000
    assert_sound(app, least=5)
    seed = scenario_of(app).seed
    next(button for button in app.button if button.label == "New seed").click().run()
    assert scenario_of(app).seed != seed
    next(button for button in app.button if button.label == "Reset").click().run()
    assert scenario_of(app) == cc.Scenario()


def test_typed_numbers_are_read_or_refused_in_words():
    app = open_page("pages/playground.py", {"spectrum": "eigenvalues", "d": "3"})
    app.text_input(key="control-eigenvalues").set_value("3, 2, 1").run()
    assert scenario_of(app).eigenvalues == (3.0, 2.0, 1.0)
    app.text_input(key="control-eigenvalues").set_value("3, zwei, 1").run()
    assert scenario_of(app).eigenvalues == (3.0, 2.0, 1.0)
    assert any("'zwei' is not a number" in info.value for info in app.info)
    app.text_input(key="control-eigenvalues").set_value("3, -1, 1").run()
    assert any("kept between 1e-06 and 1e+06" in info.value for info in app.info)
    assert_sound(app, least=4)


def test_what_nobody_sees_is_named_and_can_be_added():
    unidentifiable = next(p for p in cc.presets.PRESETS if p.key == "unidentifiable")
    app = open_page("pages/playground.py", unidentifiable.scenario.to_query())
    assert "Nobody sees x4" in app.error[0].value
    next(button for button in app.button if button.label.startswith("Add an agent")).click().run()
    assert not app.error
    assert scenario_of(app).m == 4
    assert_sound(app, least=5)


def test_a_lesson_shows_one_figure_and_one_control():
    query = cc.Scenario(d=6, m=5, rich=1, rich_size=6, size=3).to_query()
    app = open_page("pages/playground.py", query | {"controls": "n", "figure": "worth"})
    assert len(assert_sound(app)) == 1
    assert len(app.select_slider) == 1
    assert not app.sidebar.slider
    assert not app.title
    bare = open_page("pages/playground.py", query | {"controls": "none"})
    assert not bare.sidebar.slider
    assert len(figures_of(bare)) == 5


# Start -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sees", range(1, 7))
def test_the_story_holds_at_every_position_of_the_slider(sees):
    app = open_page("pages/start.py", {"sees": str(sees)})
    for step in range(1, 7):
        assert_sound(app)
        assert any(f"Step {step} of 6" in block.value for block in app.markdown)
        if step < 6:
            app.button(key="next").click().run()
    app.button(key="back").click().run()
    assert param(app, "step") == "5"


def test_the_hero_number_follows_the_slider():
    app = open_page("pages/start.py")
    assert app.metric[0].value == "3.0 ×"
    app.slider(key="sees").set_value(6).run()
    assert app.metric[0].value == "6.0 ×"
    assert param(app, "sees") == "6"


def test_lecture_mode():
    app = open_page("pages/start.py", {"lecture": "1", "step": "2"})
    assert not app.metric
    assert not any(block.value == "Worlds to open" for block in app.subheader)
    assert_sound(app)


# The code beside a figure prints the figure's numbers --------------------------------------------


@pytest.mark.parametrize("preset", ["paper", "unidentifiable", "two"])
def test_playground_snippets_print_the_figures_numbers(monkeypatch, preset):
    frames = csv_frames(monkeypatch)
    scenario = next(p for p in cc.presets.PRESETS if p.key == preset).scenario
    app = open_page("pages/playground.py", scenario.to_query())
    assert len(snippets(app)) == len(frames) >= 4
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


@pytest.mark.parametrize("step", range(1, 7))
def test_story_snippets_print_the_figures_numbers(monkeypatch, step):
    frames = csv_frames(monkeypatch)
    open_page("pages/start.py", {"step": str(step)})
    ((key, (frame, code)),) = frames.items()
    compare(key, frame, run_snippet(code))


# The run panel -----------------------------------------------------------------------------------


def test_the_run_panel_simulates_and_forgets_when_the_world_changes():
    small = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1)
    app = open_page("pages/playground.py", small.to_query())
    app.button(key="start-playground").click().run()
    wait_for(app, lambda: any(b.key == "again-playground" for b in app.button))
    specs = assert_sound(app, least=6)
    titles = [spec["layout"]["title"]["text"] for spec in specs]
    assert "Theory, and 400 simulated trials at n = 100" in titles
    app.session_state["scenario"] = small.replace(n=200)
    app.run()
    assert any(b.key == "start-playground" for b in app.button)


def test_a_world_that_cannot_be_simulated_says_why():
    app = open_page("pages/playground.py", {"d": "4", "m": "3", "n": "1"})
    app.button(key="start-playground").click().run()
    wait_for(app, lambda: any(b.key == "again-playground" for b in app.button))
    assert not app.exception
    assert any("interpolates" in caption.value for caption in app.caption)


def test_a_url_on_its_way_is_not_the_last_word(monkeypatch):
    """A quick key press comes with the URL of a run ago, though a later one was sent already."""
    sent = []
    browser = SimpleNamespace(to_dict=lambda: {"step": "5"}, from_dict=sent.append)
    session = {"written": {"step": "5"}, "sent": {"step": "6"}}
    monkeypatch.setattr(state, "st", SimpleNamespace(session_state=session, query_params=browser))
    monkeypatch.setattr(state, "query", lambda start: {"step": "5"})
    state.write_url(start=True)
    assert sent == [{"step": "5"}]
    state.write_url(start=True)
    assert len(sent) == 1


def test_a_job_ends_when_nobody_looks_any_more(monkeypatch):
    """Nobody can stop the work of a closed tab, so it stops itself."""
    monkeypatch.setattr(run, "PATIENCE", 0.5)

    def work(report, cancel):
        for step in range(3000):
            report(step / 3000, None)
            if cancel.wait(0.01):
                return "stopped"
        return "done"

    job = run.Job("signature", work)
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        # Somebody looks, for longer than the patience.
        job.seen = time.monotonic()
        time.sleep(0.02)
    assert job.running
    assert job.future.result(30) == "stopped"
