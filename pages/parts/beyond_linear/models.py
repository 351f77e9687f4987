"""One agent's coefficients: fitted alone, returned by the server, and the best it can have."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.smooth import AgentModels
from collab_core.smooth import methods as registry
from collab_core.words import beyond_linear as say
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import words
from pages.shared.script import Script

from .world import limited_n, name_of, server_controls, signal_controls


def drawn() -> list[str]:
    """Working alone, then every method that has something come back to the agent."""
    known = registry.keys()
    at_home = [key for key in known if not registry.get(key).in_one_place]
    return sorted(at_home, key=lambda key: key != "local")


def draw(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """The whole part."""
    left, right = st.columns([1, 1.6], vertical_alignment="bottom")
    with left:
        agent: int = options.pick("agent", "Agent", range(problem.agents), 0,
                                  words=lambda i: f"Agent {i + 1}")  # fmt: skip
    with right:
        signal = signal_controls()
    with st.expander("What the server is given"):
        settings = server_controls()
    n = limited_n(scenario, problem)
    world = signal.world(problem, script)
    call = script.plan(
        "found", cc.smooth.models_of_agent, world, n, agent, drawn(),
        seed=scenario.seed, settings=settings,
    )  # fmt: skip

    def draw_found(found: AgentModels | None, final: bool) -> None:
        if found is not None:
            mine = script.branch()
            mine.done(call, found)
            show_models(found, agent, n, mine)

    run.of_call(
        "logistic-models", call, draw_found, label="Fit",
        help="Draws one data set and fits every model.", auto=True, below=True,
    )  # fmt: skip


def show_models(found: AgentModels, agent: int, n: int, script: Script) -> None:
    """The figure, and what it says."""
    words(say.models(found, agent, n))
    frame = script.read("frame", found, "frame")
    show(
        figures.models_of_agent(
            frame["name"].tolist(),
            {key: (name_of(key), frame[key]) for key in drawn()},
            frame["best"],
            title=say.models_title(found, n),
            height=420,
        ),
        script,
        key="logistic-models",
        name="Logistic: an agent's coefficients",
        alt="An agent's coefficients: fitted alone, returned by the server, and the best.",
        formula=say.MODELS_FORMULA,
    )
    words(say.models_notes(found, agent, n))
