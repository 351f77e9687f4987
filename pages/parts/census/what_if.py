"""What if a state asked one more question, left, joined, or had twice its people."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from collab_core import census, figures
from collab_core.census import Changes, Study
from collab_core.words import census as say
from pages.shared import figure, run
from pages.shared.say import words
from pages.shared.script import Call, Script


def show(script: Script, study: Study) -> None:
    """Draw the part."""
    call = script.plan("changes", census.changes, study)

    def draw(found: Changes | None, final: bool) -> None:
        if found is not None:
            words(say.what_if(study, found))
            _questions(script, call, study, found)
            _tables(found)

    run.of_call(
        "census-whatif",
        call,
        draw,
        label="Ask",
        help="Fits COLLAB anew for every change.",
        auto=True,
        below=True,
    )


def _questions(
    script: Script, call: Call[Changes | None], study: Study, found: Changes
) -> None:  # fmt: skip
    """By how much the error falls, a square a state and a question."""
    if found.asking.empty:
        return
    mine = script.branch()
    mine.done(call, found)
    mine.read("frame", found, "asking")
    table = census.question_table(found.asking, study.choice.states)
    names = {key: question.name for key, question in census.QUESTIONS.items()}
    figure.show(
        figures.falls_by_question(
            table,
            names,
            title="If a state asked one more question: how far "
            f"{study.choice.target}'s error falls",
            height=max(300, 120 + 22 * len(table)),
        ),
        mine,
        key="questions",
        name="What to ask next",
        alt="By how much the target's error falls if a state asked a question.",
        formula=say.WHATIF_FORMULA,
    )


def _tables(found: Changes) -> None:
    """The other changes, side by side."""
    titles = {
        "If a state leaves (measured)": found.leaving,
        "If a state joins, asking everything (measured)": found.joining,
        "If its people doubled (by the formulas, beyond what no data remove)": found.doubling,
    }
    for column, (title, frame) in zip(st.columns(3), titles.items(), strict=True):
        with column:
            words(f"**{title}**")
            if frame.empty:
                words("There is none.")
            else:
                _table(frame)


def _table(frame: pd.DataFrame) -> None:
    st.dataframe(
        frame.assign(change=frame["after"] / frame["before"] - 1).sort_values("after"),
        hide_index=True,
        height=260,
        column_config={
            "before": st.column_config.NumberColumn(format="%.3g"),
            "after": st.column_config.NumberColumn(format="%.5g"),
            "change": st.column_config.NumberColumn(format="percent"),
        },
    )
