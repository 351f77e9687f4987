"""What if: odd worlds, every part, and numbers that agree with the library's."""

import numpy as np
import pytest

import collab_core as cc
from collab_core import planning

from .apps import (
    ODD_WORLDS,
    assert_sound,
    compare,
    csv_frames,
    open_page,
    run_snippet,
    said,
)

PAGE = "pages/what_if.py"
SMALL = cc.Scenario(d=5, m=4, rich=2, rich_size=4, size=3, spikes=1, seed=2)


@pytest.mark.parametrize("part", ["helps", "measure", "samples"])
@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds(name, part):
    app = open_page(PAGE, ODD_WORLDS[name] | {"part": part})
    nothing = "only one agent" in said(app) or "nothing more to measure" in said(app)
    assert_sound(app, least=0 if nothing else 2)
    assert not app.error


@pytest.mark.parametrize("part", ["helps", "measure", "samples"])
def test_snippets_print_the_figures_numbers(monkeypatch, part):
    frames = csv_frames(monkeypatch)
    open_page(PAGE, SMALL.to_query() | {"part": part, "additions": "2"})
    assert len(frames) == 2
    for key, (frame, code) in frames.items():
        found = run_snippet(code)
        if key == "helps":
            np.testing.assert_allclose(frame.drop(columns="agent"), found)
        elif key == "shares":
            np.testing.assert_allclose(frame["share"], found)
        else:
            compare(key, frame, found)


def test_the_words_are_the_numbers():
    problem = SMALL.problem()
    matrix = planning.who_helps_whom(problem, SMALL.n)
    np.fill_diagonal(matrix, 0)
    hurt, leaver = np.unravel_index(matrix.argmax(), matrix.shape)
    app = open_page(PAGE, SMALL.to_query())
    assert f"Agent {hurt + 1} leans most on agent {leaver + 1}" in said(app)
    assert f"{matrix.max():.1%}" in said(app)
    best = planning.next_features(problem, SMALL.n).sort_values("own", ascending=False).iloc[0]
    app = open_page(PAGE, SMALL.to_query() | {"part": "measure", "whose": "own"})
    assert f"agent {int(best['agent'])} should see x{int(best['feature'])}" in said(app)


def test_large_worlds_have_sampled_shares():
    app = open_page(PAGE, {"d": "12", "m": "20", "rich": "10", "rich_size": "9", "size": "6"})
    assert_sound(app, least=2)
    assert "random orders of arrival" in said(app)
