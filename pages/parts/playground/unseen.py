"""A world in which nobody sees some feature: what still can be had, and what would help."""

from __future__ import annotations

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core.words import playground as say
from collab_core.world.fields import MOST_AGENTS
from pages.shared import state
from pages.shared.say import error_box
from pages.shared.script import Script

from . import gains


def part(scenario: cc.Scenario, script: Script) -> None:
    """Say what is missing, offer an agent that has it, and show what agents gain all the same."""
    some_see = any(view.size for view in scenario.views)
    error_box(say.nobody_sees(scenario.unseen, some_see))
    st.button("Add an agent that sees what is missing", on_click=_add_agent, type="primary")
    if not some_see:
        return
    mine = script.branch()
    of_seen = mine.run(
        "of_seen",
        cc.Problem.of_seen,
        mine.read("covariance", scenario, "covariance"),
        mine.read("coefficients", scenario, "coefficients"),
        scenario.sigma,
        mine.read("views", scenario, "views"),
        mine.read("shares", scenario, "shares"),
    )
    problem: cc.Problem = mine.item("problem", of_seen, 0)
    # Names count the features of the whole world, not of the part that is seen.
    features = mine.item("features", of_seen, 1)
    found = gains.findings(scenario, problem, mine)
    gains.warn(scenario, found)
    gains.worth(scenario, problem, found, mine, features)


def with_what_is_missing(scenario: cc.Scenario) -> np.ndarray:
    """Views with one more agent, who sees what nobody does and a neighbour to relate it to.

    The last agent sees it in addition where there are as many as can be. Shape (m or m + 1, d).
    """
    mask = cc.views.as_mask(scenario.views, scenario.d)
    new = np.zeros(scenario.d, dtype=bool)
    new[scenario.unseen] = True
    new[(scenario.unseen[0] + 1) % scenario.d] = True
    if scenario.m < MOST_AGENTS:
        return np.vstack([mask, new])
    return np.vstack([mask[:-1], mask[-1] | new])


def _add_agent() -> None:
    scenario = state.scenario()
    state.replace_scenario(scenario.with_views(with_what_is_missing(scenario)))
