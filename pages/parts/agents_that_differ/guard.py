"""The guard's theorem, tried: one agent is moved away as far as a person likes."""

from __future__ import annotations

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.runs.disturbed import DisturbedCurve
from collab_core.words import agents_that_differ as say
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import error_box, words
from pages.shared.script import Script

from .world import begun

FAR = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
POINTS = 7


def part(world: cc.Scenario) -> None:
    """Draw the part of the page."""
    script, problem = begun(world)
    able = cc.disturbed.judged(problem, world.n)
    if not able or problem.agents == 1:
        error_box("There must be two agents, and one with two samples more than it sees features.")
        return
    left, right = st.columns(2)
    with left:
        agent = options.pick(
            "moved", "Who is moved away", able, able[0], words=lambda i: f"agent {i + 1}"
        )
    with right:
        far = options.pick(
            "far", "How far (standard deviations of the label)", FAR, 3.0,
            widget=st.select_slider, words=lambda size: f"{size:g}",
        )  # fmt: skip
    values = [float(f"{size:.2g}") for size in far * np.geomspace(0.01, 1, POINTS)]
    call = script.plan(
        "curve", cc.disturbed.curve, problem, float(world.n), 200, "shift", values, agent,
        shifted=agent, methods=cc.different.compared(), seed=world.seed,
    )  # fmt: skip

    def draw(found: DisturbedCurve, final: bool) -> None:
        if found.done:
            mine = script.branch()
            _show(mine, mine.done(call, found), f"agent {agent + 1}")

    run.of_call(
        "guard", call, draw, label="Simulate",
        help="Draws everybody's data, and moves one agent's relation away.", auto=True, below=True,
    )  # fmt: skip


def _show(script: Script, found: DisturbedCurve, agent: str) -> None:
    words(f"{say.guard(found, agent)} {say.missing(found.methods)}")
    frame = script.read("frame", found, "frame")
    show(
        figures.advantage(
            frame,
            axis="distance from the others, in standard deviations of the label",
            title=say.guard_title(found),
        ),
        script,
        key="guard",
        name="Never worse than alone",
        alt="Error of one agent over that of working alone, against how far it is moved away.",
        formula=say.GUARD_FORMULA,
    )
