"""The world of the page: the sidebar's, with agents that differ, and the one control for it."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core.words import agents_that_differ as say
from collab_core.world.deviations import SPREAD
from pages.shared import state
from pages.shared.say import words
from pages.shared.script import Script
from pages.shared.shell import problem_of

KEY = "hero-spread"


def choose(scenario: cc.Scenario) -> cc.Scenario | None:
    """The hero control, and the world that it makes; None after saying why there is none."""
    if problem_of(scenario, knows=True) is None:
        return None
    differing = scenario.differ != "none"
    world = scenario if differing else scenario.replace(differ="common")
    if not state.lesson().figure:
        # A world may have any size; the control shows it among the round ones.
        sizes = sorted({*SPREAD.scale, world.spread})
        state.hold(KEY, world.spread)
        st.select_slider(
            "How much agents differ", sizes, world.spread, format_func=say.amount, key=KEY,
            on_change=_moved, args=(world.differ,),
            help="Distance of agents' own relations from the shared one, in standard deviations of "
            "the label: from not at all to entirely.",
        )  # fmt: skip
    if not differing:
        words(say.borrowed())
    return world


def _moved(differ: str) -> None:
    state.change(differ=differ, spread=float(st.session_state[KEY]))


def begun(world: cc.Scenario) -> tuple[Script, cc.Problem]:
    """Lines that begin with a world, and its problem."""
    script = Script.of(world)
    return script, script.run("problem", world.problem)


#: Agents times squared features above which methods that fit everybody anew for each agent are
#: left out of runs along a grid, and fewer trials are drawn.
LARGE = 5_000


def affordable(problem: cc.Problem) -> tuple[list[str], int]:
    """Methods and trials of a run along a grid that a person can wait for."""
    keys = cc.different.compared()
    if problem.agents * problem.dimension**2 <= LARGE:
        return keys, 40
    return [key for key in keys if key != "guarded"], 10


def with_unit(world: cc.Scenario) -> cc.Scenario:
    """The same world with deviations of size 1: what is drawn along sizes depends on it alone."""
    return world.replace(spread=1.0)
