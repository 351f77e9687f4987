"""One plane: ellipses of the chosen covariances, with simulated estimates over them."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.runs.simulate import Sample
from collab_core.words import ellipses as words
from pages.parts.ellipses.look import View, choose
from pages.shared import estimates, figure, options, say
from pages.shared.script import Call, Script

TRIALS = (0, 100, 300, 1000, 3000)


def show(view: View) -> None:
    """Draw the part."""
    left, right = st.columns([2.4, 1], vertical_alignment="bottom")
    with left:
        keys = choose(view)
    with right:
        trials: int = options.pick(
            "trials", "Simulated estimates", TRIALS, 300, widget=st.select_slider
        )
    if not keys:
        say.error_box("Pick at least one ellipse.")
        return
    # Naive averaging has no ellipse of its own: its cloud gathers elsewhere.
    can_run = cc.methods.keys(weightings=False)
    methods = [key for key in view.found if key in keys and key in can_run] + ["naive_collab"]

    def draw(sample: Sample, call: Call[Sample]) -> None:
        script = view.script.branch()
        if sample.estimates:
            script.done(call, sample)
        draw_plane(script, view, keys, sample)

    estimates.panel(
        "ellipses", view.world, view.problem, view.scenario, trials, methods, view.target, draw,
        help="Draws the agents' data again and again.",
    )  # fmt: skip


def draw_plane(script: Script, view: View, keys: list[str], sample: Sample) -> None:
    """Draw ellipses and estimates, and say how they lie."""
    n, level, plane = view.scenario.n, view.level, view.plane
    points = script.read("estimates", sample, "estimates") if sample.estimates else None
    shown = script.run("shown", cc.ellipses.only, view.found, keys)
    pairs = cc.ellipses.comparisons(shown, plane)
    say.words(words.nesting(pairs, list(shown)))
    frame = script.run(
        "frame", cc.ellipses.picture, shown, plane, view.truth, n, level, estimates=points
    )
    figure.show(
        figures.ellipses(frame, plane.names, title=view.title, height=450),
        script,
        key="ellipses",
        name="Confidence ellipses",
        alt="Confidence ellipses of methods and bounds in a plane, with simulated estimates.",
        formula=words.FORMULA,
    )
    say.words(words.crossings(pairs))
    if sample.estimates:
        inside = cc.ellipses.coverage_in_plane(
            sample.estimates, view.found, plane, view.truth, n, level
        )
        say.words(words.shares_inside(inside, naive_is_biased=naive_is_biased(view.problem)))
    for key in sample.notes:
        if key not in sample.estimates:
            say.words(words.no_points(key))
    measured = cc.ellipses.measures(view.found, plane, n, level)
    say.words(words.sizes(measured[measured["method"].isin(keys)]))


def naive_is_biased(problem: cc.Problem) -> bool:
    """Whether averaging local models as they are misses the truth, by more than rounding."""
    return cc.bounds.naive_collab(problem).floor > 1e-12 * problem.label_variance
