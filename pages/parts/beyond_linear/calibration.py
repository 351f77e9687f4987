"""Whether predicted probabilities are kept, method by method."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.smooth import MeasureCurve, Measured
from collab_core.words import beyond_linear as say
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import error_box, words
from pages.shared.script import Script

from .world import limited_n, pick_methods, server_controls, signal_controls

TRIALS = 10


def draw(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """The whole part."""
    left, right = st.columns([1, 1.6], vertical_alignment="bottom")
    with left:
        target = pick_target(problem)
    with right:
        methods = pick_methods()
    with st.expander("Signal, what the server is given"):
        signal = signal_controls()
        settings = server_controls()
    if not methods:
        error_box("Pick at least one method.")
        return
    n = limited_n(scenario, problem)
    world = signal.world(problem, script)
    call = script.plan(
        "curves", cc.smooth.curves, world, [n], TRIALS, [target], methods,
        seed=scenario.seed, settings=settings,
    )  # fmt: skip

    def draw_so_far(found: dict[str | int, Measured], final: bool) -> None:
        mine = script.branch()
        mine.done(call, found)
        measured = mine.item("measured", found, target)
        show_reliability(mine.item("curve", measured, "calibration"), n, final, mine)

    run.of_call(
        "reliability", call, draw_so_far, label="Simulate",
        help="Draws labelled samples and fits every method to them.", auto=True,
    )  # fmt: skip


def pick_target(problem: cc.Problem) -> str | int:
    """Let a person choose whose model it is."""
    target: str | int = options.pick(
        "target", "Model of", ("full", *range(problem.agents)), "full",
        words=lambda t: "all features" if t == "full" else f"agent {t + 1}'s features",
    )  # fmt: skip
    return target


def show_reliability(curve: MeasureCurve, n: int, final: bool, script: Script) -> None:
    """The figure, and what it says."""
    frame = script.run("frame", curve.reliability_frame, n)
    if frame.empty:
        missing = next(iter(curve.notes.values()), "")
        words("**The first trials are on their way.**" if not final else "")
        if final:
            error_box(f"With n = {n} there is nothing to show: {missing or 'no trial ended'}.")
        return
    words(say.CALIBRATION_QUESTION)
    form = f"{say.whose(curve.target)}: off by {{}}, alone {{}}"
    title = say.against_local(curve, n, form)
    show(
        figures.reliability(frame, title=title, height=420),
        script,
        key="reliability",
        name="Logistic: are probabilities kept",
        alt="Real share of ones against the predicted probability, for every method.",
        formula=say.RELIABILITY_FORMULA,
    )
    words(say.calibration(curve, n))
    words(say.calibration_notes(curve, n))
