"""Agents that differ: every part, odd worlds, the hero control, and numbers that code prints."""

import pytest

import collab_core as cc

from .apps import (
    ODD_WORLDS,
    assert_sound,
    compare,
    csv_frames,
    finished,
    open_page,
    param,
    run_snippet,
    said,
    scenario_of,
)

PAGE = "pages/agents_that_differ.py"
SMALL = cc.Scenario(
    d=5, m=5, rich=2, rich_size=4, size=3, spikes=1, seed=2, differ="common", spread=0.3
)
RUNS = {"spread": "spread", "n": "against-n", "guard": "guard"}
PARTS = ["spread", "n", "pulled", "coefficients", "belong", "guard"]
FEW = {"trials": "20"}


def opened(part, query):
    app = open_page(PAGE, query | FEW | {"part": part})
    if part in RUNS and not app.error:
        finished(app, RUNS[part])
    return app


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("differ", ["common", "per_feature", "few"])
def test_every_part_is_drawn_and_its_code_prints_its_numbers(monkeypatch, part, differ):
    frames = csv_frames(monkeypatch)
    app = opened(part, SMALL.replace(differ=differ, own_features=2, few=1).to_query())
    assert_sound(app)
    assert not app.error
    assert "**" in said(app)
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds(name, part):
    app = opened(part, ODD_WORLDS[name])
    assert not app.exception, [error.value for error in app.exception]
    if not app.error and app.get("plotly_chart"):
        assert_sound(app)


def test_the_page_begins_with_agents_that_differ_and_leaves_the_world_alone():
    query = SMALL.replace(differ="none").to_query()
    app = opened("spread", query)
    assert "The sidebar's world has one relation for all" in said(app)
    assert scenario_of(app).differ == "none"
    app.select_slider(key="hero-spread").set_value(1.0).run()
    assert (scenario_of(app).differ, scenario_of(app).spread) == ("common", 1.0)
    assert (param(app, "differ"), param(app, "spread")) == ("common", "1")
    assert "The sidebar's world has one relation for all" not in said(app)


def test_the_words_are_the_formulas_numbers():
    world = cc.different.RandomEffects(SMALL.problem(), SMALL.variances)
    app = opened("n", SMALL.to_query())
    assert "**COLLAB pays up to about n = " in said(app)
    app = opened("spread", SMALL.to_query())
    assert f"{world.adaptive(100).mean():.3g} against {world.local(100).mean():.3g} alone" in said(
        app
    )


def test_other_pages_say_that_their_formulas_are_for_one_relation():
    for name in ("lower_bounds", "ellipses", "what_if", "playground", "beyond_linear"):
        page = f"pages/{name}.py"
        assert "Agents follow relations of their own" in said(open_page(page, SMALL.to_query()))
        one = SMALL.replace(differ="none").to_query()
        assert "Agents follow relations of their own" not in said(open_page(page, one))
