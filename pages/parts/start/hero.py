"""The problem in one picture and one slider."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core.words import start as say
from pages.shared import pictures, state
from pages.shared.figure import ink
from pages.shared.script import Script


def part(world: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """Title, picture, slider, and what working together is worth at its position."""
    worth = script.branch().run("frame", cc.whatif.worth, problem, world.n)
    st.title(say.TITLE)
    st.markdown(say.INTRODUCTION)
    left, right = st.columns([2, 1], vertical_alignment="center")
    with right:
        state.hold("sees", state.lesson().sees)
        st.slider(
            "Features each agent sees", 1, state.MOST_SEEN, state.lesson().sees, key="sees",
            on_change=_slid,
            help="Of six. The more their views overlap, the more agents can learn from each other.",
        )  # fmt: skip
        st.metric("Working together multiplies the data by", say.multiple(worth), border=True)
        st.markdown(say.hero(world.size, world.d, worth))
    with left:
        st.image(
            pictures.story(problem.mask, worth["worth"].to_numpy(), ink()),
            width="stretch",
            alt=say.PICTURE,
        )


def _slid() -> None:
    state.change_lesson(sees=st.session_state["sees"])
