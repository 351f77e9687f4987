"""Who gains: every state alone and together, every method on the target's people."""

from __future__ import annotations

import streamlit as st

from collab_core import census, figures
from collab_core.census import Study
from collab_core.words import census as say
from pages.shared import figure
from pages.shared.say import words
from pages.shared.script import Script

#: Resamples behind the intervals; fewer with many states, to answer within a second.
RESAMPLES, FEW_RESAMPLES, FEW_STATES = 40, 12, 15


def show(script: Script, study: Study) -> None:
    """Draw the part."""
    states, people, covariance = script.branch(), script.branch(), script.branch()
    few = len(study.choice.states) <= FEW_STATES
    frame = states.run("frame", census.by_state, study)
    results = people.run("frame", study.results, RESAMPLES if few else FEW_RESAMPLES)
    words(say.gains(study, frame, results))
    left, right = figure.columns("gains", "people", sizes=[1, 1.1])
    with left:
        figure.show(
            figures.states_measured(frame, title="Every state's own model, on its own people"),
            states,
            key="gains",
            name="What each state gains",
            alt="Measured error of every state's own model alone and together.",
            formula=say.GAINS_FORMULA,
        )
    with right:
        whom = study.choice.target
        count = study.sums.n[study.sums.index(whom), 1]
        figure.show(
            figures.errors_on_people(results, title=f"On {count:,} people of {whom}"),
            people,
            key="people",
            name="Error on real people",
            alt="Error of every method on the target state's test people.",
            formula=say.PEOPLE_FORMULA,
        )
    for method, note in zip(results["method"], results["note"], strict=True):
        if note:
            words(say.missing(figures.label(method), note))
    matrix = covariance.run("frame", census.correlations, study)
    figure.show(
        figures.covariance_heatmap(
            matrix.to_numpy(),
            list(matrix.columns),
            title="How answers go together, within states",
            height=560,
        ),
        covariance,
        key="census-covariance",
        name="Covariance of the answers",
        alt="Heatmap of the pooled correlation of all answers.",
        formula=say.COVARIANCE_FORMULA,
    )
    if study.flat:
        st.caption(say.never_answered(study))
