"""What is to gain: bounds and the methods that reach them on one axis, theory and simulation."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.runs.simulate import Sample
from collab_core.words import lower_bounds as words
from pages.parts.lower_bounds import direction
from pages.parts.lower_bounds.direction import Direction
from pages.shared import estimates, figure, options, say
from pages.shared.script import Call, Script
from pages.shared.shell import problem_of

TRIALS = (0, 100, 400, 1000, 4000)
#: The methods that reach C_gauss and the exact bound with unknown noise, from the same messages.
REACHING = ("collab", "collab_plus")


def show(scenario: cc.Scenario) -> None:
    """Draw the part."""
    if problem_of(scenario) is None:
        return
    script = Script.of(scenario)
    problem = script.run("problem", scenario.problem)
    first, second = st.columns([2, 1], vertical_alignment="bottom")
    with first:
        of = direction.pick(scenario)
    with second:
        trials: int = options.pick(
            "trials", "Simulated trials", TRIALS, 400, widget=st.select_slider,
            help=f"At n = {scenario.n:,}, the sidebar's.",
        )  # fmt: skip

    def draw(sample: Sample, call: Call[Sample]) -> None:
        mine = script.branch()
        if sample.estimates:
            mine.done(call, sample)
        draw_gap(mine, problem, of, sample, scenario.n)

    estimates.panel(
        "gap", script, problem, scenario, trials, REACHING, of.target, draw,
        help="Runs COLLAB and COLLAB+ on simulated data.",
    )  # fmt: skip


def draw_gap(script: Script, problem: cc.Problem, of: Direction, sample: Sample, n: int) -> None:
    """Draw the bounds with simulated errors over them."""
    simulated = pd.DataFrame({"method": [], "mean": [], "low": [], "high": []})
    if sample.estimates:
        form = script.run("form", cc.bounds.quadratic_form, problem, of.kind, of.number)
        simulated = script.run("simulated", cc.simulate.quadratic_errors, sample, form, n)
    frame = script.run("frame", cc.bounds.gap, problem, of.kind, of.number)
    say.words(words.gap(frame, simulated, n))
    figure.show(
        figures.errors_by_method(
            frame, title=words.gap_title(of.kind, of.number), simulated=simulated,
            axis="n × expected error", height=360,
        ),
        script,
        key="gap",
        name="Bounds and methods on one axis",
        alt="Bounds, COLLAB and COLLAB+ on one axis, theory and simulation.",
        formula=words.GAP_FORMULA,
    )  # fmt: skip
    for key in sample.notes:
        if key not in sample.estimates:
            say.words(words.not_simulated(key))
