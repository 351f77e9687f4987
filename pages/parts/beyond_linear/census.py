"""More than twenty minutes to work: a stored run on real records, or a live one on a person's."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import census, figures
from collab_core.census import CensusSums, People, StudyChoice
from collab_core.smooth import MEASURES, MeasureCurve, Measured, trouble_of
from collab_core.words import beyond_linear as say
from pages.shared import options, run
from pages.shared.figure import columns, show
from pages.shared.say import error_box, words
from pages.shared.script import Script

STORED = Path(__file__).parents[3] / "data" / "travel_logistic_2024.csv"
#: Whose test people the stored run predicts.
STORED_TARGET = "IL"
SIZES = (200, 500, 1000, 2000, 5000)
DRAWS = (2, 5, 10, 20, 40)
USUAL_STATES = ("NY", "PA", "OH", "FL", "IL")


def draw() -> None:
    """The whole part."""
    people: People | None = st.session_state.get("census-people")
    words(say.TRAVEL_QUESTION)
    first, second = st.columns([1.2, 1], vertical_alignment="bottom")
    with first:
        measure = options.pick(
            "measure", "Measure", list(MEASURES), "log_loss", widget=st.segmented_control,
            words=lambda key: MEASURES[key].label,
        )  # fmt: skip
    with second:
        model = options.segments(
            "model", "Model of", {"all": "all questions", "own": "the target's own"}
        )
    if people is None or not people.holds_records:
        draw_stored(measure, model, too_many=people is not None)
        return
    try:
        draw_live(people, measure, model)
    except (ValueError, ArithmeticError) as reason:
        error_box(f"This study is not possible: {reason}.")


def draw_stored(measure: str, model: str, *, too_many: bool) -> None:
    """A run of ours on real records, kept as a table: sums hold no logistic fit."""
    script = Script()
    path = script.given("path", STORED, f"path = {str(STORED.relative_to(STORED.parents[1]))!r}")
    frame = script.run("frame", cc.smooth.stored_travel, path, measure, model)
    words(say.travel(frame, measure, STORED_TARGET))
    show_travel(frame, measure, STORED_TARGET, script)
    words(say.stored_notes(frame, trouble_of(frame), too_many=too_many))
    st.page_link("pages/census.py", label="To the Census page")


def draw_live(people: People, measure: str, model: str) -> None:
    """Draws of a person's own records, as long as they look."""
    chosen = choose(people.sums, model)
    if chosen is None:
        error_box("Pick at least one state.")
        return
    choice, trials = chosen
    script = Script(people.sums.digest)
    paths = st.session_state.get("census-paths") or ["the files you uploaded"]
    script.given("people", people, f"people = cc.census.People.from_files({paths}, 'mine')")
    study = script.run("study", cc.census.Study, script.read("sums", people, "sums"), choice)
    smallest = int(study.counts.min())
    sizes = [n for n in SIZES if n <= smallest] or [smallest]
    call = script.plan("measured", cc.smooth.travel_curve, people, study, sizes, trials)

    def draw_so_far(found: Measured, final: bool) -> None:
        if not found[measure].done:
            words("**The first draws are on their way.**")
            return
        mine = script.branch()
        mine.done(call, found)
        show_live(found, measure, choice.target, mine)
        words(say.live_notes(found[measure], people.sums.source))

    run.of_call(
        "travel", call, draw_so_far, label="Draw",
        help="Draws n people of every state, again and again.", auto=True,
    )  # fmt: skip


def choose(sums: CensusSums, model: str) -> tuple[StudyChoice, int] | None:
    """Let a person choose states, whose people are predicted, and how many draws."""
    usual = [s for s in USUAL_STATES if s in sums.states] or list(sums.states[:5])
    first, second, third = st.columns([1.8, 0.7, 0.9], vertical_alignment="bottom")
    with first:
        states = options.several("states", "States as agents", sums.states, usual)
    if not states:
        return None
    with second:
        target = options.pick("whose", "Whose commute", states, states[-1])
    with third:
        trials = options.pick("draws", "Draws", DRAWS, 10, widget=st.select_slider)
    views = census.paper_views(states, sums.questions)
    return StudyChoice(
        tuple(states), tuple(views[s] for s in states), target, model == "own"
    ), trials


def show_live(found: Measured, measure: str, target: str, script: Script) -> None:
    """Both figures of a run, and what it says."""
    mine = script.branch()
    frame = mine.read("frame", mine.item("curve", found, measure), "frame")
    words(say.travel(frame, measure, target))
    left, right = columns("travel", "travel-reliability", sizes=[1, 1])
    with left:
        show_travel(frame, measure, target, mine)
    with right:
        mine = script.branch()
        show_reliability(mine.item("curve", found, "calibration"), mine)


def show_travel(frame: pd.DataFrame, measure: str, target: str, script: Script) -> None:
    """A measure of every method on the target's test people."""
    name = MEASURES[measure].label
    show(
        figures.measure_curve(
            frame, name, log=measure == "calibration", title=say.travel_title(frame, target)
        ),
        script,
        key="travel",
        name="Census: more than 20 minutes",
        alt=f"{name} of every method on real test people against n.",
        formula=say.TRAVEL_FORMULA,
    )


def show_reliability(curve: MeasureCurve, script: Script) -> None:
    """Whether probabilities are kept, at the smallest n."""
    n = curve.sample_sizes[0]
    frame = script.run("frame", curve.reliability_frame, n)
    form = f"n = {n:,}: off by {{}}, alone {{}}"
    title = say.against_local(curve, n, form)
    show(
        figures.reliability(frame, title=title, height=430),
        script,
        key="travel-reliability",
        name="Census: are probabilities kept",
        alt="Real share of long ways to work against the predicted probability.",
        formula=say.RELIABILITY_FORMULA,
    )
