"""The Playground's parts without a browser, and what its links show."""

import numpy as np

import collab_core as cc
from collab_core.world.fields import MOST_AGENTS
from pages import playground
from pages.parts.playground.unseen import with_what_is_missing

from .apps import csv_frames, open_page, run_snippet

HALF_SEEN = cc.Scenario(
    d=4, m=2, spectrum="ar1", correlation=0.5, missing="mask", mask=("0110", "0010")
)


def test_the_page_can_be_imported_and_does_nothing_then():
    assert callable(playground.main)


def test_a_new_agent_sees_what_is_missing_and_a_neighbour():
    mask = with_what_is_missing(HALF_SEEN)
    np.testing.assert_array_equal(mask[:2], cc.views.as_mask(HALF_SEEN.views, 4))
    np.testing.assert_array_equal(mask[2], [True, True, False, True])
    assert not HALF_SEEN.with_views(mask).unseen.size


def test_where_agents_are_as_many_as_can_be_the_last_one_sees_more():
    full = HALF_SEEN.replace(m=MOST_AGENTS, mask=("0010",) * MOST_AGENTS)
    mask = with_what_is_missing(full)
    assert mask.shape == (MOST_AGENTS, 4)
    np.testing.assert_array_equal(mask[-1], [True, True, True, True])


def test_names_count_the_features_of_the_whole_world(monkeypatch):
    frames = csv_frames(monkeypatch)
    open_page("pages/playground.py", HALF_SEEN.to_query())
    frame, code = frames["worth"]
    assert frame["sees"].tolist() == ["x2 x3", "x3"]
    assert run_snippet(code)["sees"].tolist() == ["x2 x3", "x3"]


def test_every_control_of_the_grid_is_there():
    app = open_page("pages/playground.py", HALF_SEEN.to_query())
    toggle = next(toggle for toggle in app.toggle if toggle.label == "Change it as a grid")
    toggle.set_value(True).run()
    assert not app.exception
