"""Start's parts without a browser: every step of the story, at every position of the slider."""

from pathlib import Path

import pandas as pd
import pytest

import collab_core as cc
from pages import start
from pages.parts.start.steps import SIZES, STEPS
from pages.parts.start.story import DEEPER
from pages.shared import state
from pages.shared.script import Script

from .apps import ROOT, run_snippet


@pytest.mark.parametrize("sees", range(1, state.MOST_SEEN + 1))
@pytest.mark.parametrize("number", range(state.STEPS))
def test_a_step_prints_the_lines_of_its_figure(number, sees):
    world = start.WORLD.replace(size=sees)
    script = Script.of(world)
    problem = script.run("problem", world.problem)
    step = STEPS[number](world, problem, script.branch())
    assert step.figure.layout.title.text == step.told.figure
    assert step.told.title
    assert step.told.formula
    found = run_snippet(step.script.text)
    pd.testing.assert_frame_equal(found, step.script.last)


def test_there_are_as_many_steps_as_links_may_ask_for():
    assert len(STEPS) == state.STEPS
    assert set(DEEPER) <= set(range(1, state.STEPS + 1))
    assert all(Path(ROOT, page).is_file() for page in DEEPER.values())


def test_the_first_step_is_a_total_error():
    world = start.WORLD
    problem = world.problem()
    agent = int(problem.irreducible.argmax())
    excess = cc.whatif.error_lines(problem, ("local",), SIZES, target=agent)
    total = cc.whatif.error_lines(problem, ("local",), SIZES, target=agent, total=True)
    pd.testing.assert_series_equal(total["error"], excess["error"] + problem.irreducible[agent])
    full = cc.whatif.error_lines(problem, ("collab",), SIZES)
    pd.testing.assert_frame_equal(
        cc.whatif.error_lines(problem, ("collab",), SIZES, total=True), full
    )
