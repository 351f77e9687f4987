"""What is studied: which states, who asks what, whose commute."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from collab_core import census
from collab_core.census import CensusSums, Study, StudyChoice
from collab_core.words import census as say
from pages.shared import options, state
from pages.shared.say import error_box
from pages.shared.script import Script
from pages.shared.subject import USUAL

PATTERNS = {
    "paper": "The paper's pattern",
    "all": "Everybody asks everything",
    "half": "Every other question",
    "own": "Mine (the grid below)",
}


def pick(script: Script, sums: CensusSums) -> Study | None:
    """Let a person choose a study of ``sums``; None after saying what is missing."""
    picked = _states(sums)
    if picked is None:
        return None
    states, target = picked
    script.given("states", states, f"states = {states!r}")
    first, second, third, fourth = st.columns([1.4, 1.2, 1, 0.6], vertical_alignment="bottom")
    with first:
        pattern = options.pick(
            "pattern", "Who asks what", list(PATTERNS), "paper", words=PATTERNS.__getitem__
        )
    with second:
        own = options.segments("model", "Model of", {"all": "all questions", "own": "its own"})
    with third:
        log = options.segments("unit", "Target", {"log": "log minutes", "minutes": "minutes"})
    with fourth, st.popover("Grid"):
        asked = _grid(script, sums, states, pattern)
    choice = script.write("choice", StudyChoice(states, asked, target, own == "own", log == "log"))
    return script.run("study", Study, sums, choice)


def _states(sums: CensusSums) -> tuple[tuple[str, ...], str] | None:
    """The agents, and whose people are to be predicted."""
    usual = [s for s in USUAL if s in sums.states] or list(sums.states[:5])
    left, middle, right = st.columns([2.4, 0.5, 0.9], vertical_alignment="bottom")
    with left:
        states = options.several("states", "States as agents", sums.states, usual)
    with middle:
        st.button(
            f"All {len(sums.states)}",
            on_click=options.put,
            width="stretch",
            args=("states", ",".join(sums.states)),
            help="Every state of the data as an agent.",
        )
    if not states:
        error_box("Pick at least one state.")
        return None
    with right:
        target: str = options.pick("target", "Whose commute", states, states[-1])
    return tuple(states), target


def _grid(
    script: Script, sums: CensusSums, states: tuple[str, ...], pattern: str
) -> tuple[tuple[str, ...], ...]:
    """Who asks what, by preset or square by square."""
    questions: tuple[str, ...] = script.read("questions", sums, "questions")
    if pattern == "own":
        asked = census.grid_of_text(options.get("asks", ""), states, questions)
        text = census.grid_text(asked, states, questions)
        asked = script.run("asked", census.grid_of_text, text, states, questions)
        # The grid is in the link, whatever it began as.
        state.options()["asks"] = text
        state.options_in_use()["asks"] = text
    else:
        asked = script.run("asked", census.asked_by, pattern, states, questions)
        text = census.grid_text(asked, states, questions)
    table = pd.DataFrame(
        [[key in asks for key in questions] for asks in asked],
        index=list(states),
        columns=[census.QUESTIONS[key].name for key in questions],
    )
    edited = st.data_editor(table, key=f"grid-{hash(text)}", alt="Which state asks what.")
    if (edited.to_numpy() != table.to_numpy()).any():
        changed = tuple(
            tuple(key for key, on in zip(questions, row, strict=True) if on)
            for row in edited.to_numpy()
        )
        options.put("asks", census.grid_text(changed, states, questions))
        options.put("pattern", "own")
        st.rerun()
    if sums.absent:
        st.caption(say.absent(sums.absent))
    return asked
