"""The story, a step at a time: its words, its figure, and the way on."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from pages.shared import state
from pages.shared.figure import show
from pages.shared.script import Script

from .steps import STEPS

#: Where a step of the story is taken further; the Playground otherwise.
DEEPER = {
    1: "pages/error_vs_n.py",
    2: "pages/error_vs_n.py",
    4: "pages/ellipses.py",
    5: "pages/lower_bounds.py",
    6: "pages/methods.py",
}


def part(world: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """The step that this session is at."""
    number = state.lesson().step
    step = STEPS[number - 1](world, problem, script.branch())
    st.subheader(f"{number}. {step.told.title}", divider="gray")
    st.markdown(step.told.text)
    show(
        step.figure,
        step.script,
        key=f"step-{number}",
        name=step.told.title,
        alt=step.told.title,
        formula=step.told.formula,
    )
    _way_on(number, world)


def _way_on(number: int, world: cc.Scenario) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back", on_click=_go, args=(-1,), disabled=number == 1, key="back", shortcut="Left"
        )
        st.button(
            "Next", on_click=_go, args=(1,), disabled=number == len(STEPS), key="next",
            shortcut="Right", type="primary",
        )  # fmt: skip
        st.markdown(f"Step {number} of {len(STEPS)}")
        st.page_link(
            DEEPER.get(number, "pages/playground.py"),
            label="Go deeper with this world",
            query_params=world.to_query(),
        )
        st.toggle(
            "Lecture mode", value=state.lesson().lecture, key="lecture", on_change=_lecture,
            help="Larger type, no sidebar; the arrow keys turn the steps.",
        )  # fmt: skip


def _go(by: int) -> None:
    state.change_lesson(step=min(max(state.lesson().step + by, 1), len(STEPS)))


def _lecture() -> None:
    state.change_lesson(lecture=st.session_state["lecture"])
