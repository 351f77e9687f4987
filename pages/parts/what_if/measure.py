"""What to measure: what one more feature of one agent gains, and a plan of several."""

from __future__ import annotations

from threading import Event

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import what_if as texts
from pages.shared import options, run
from pages.shared.figure import columns, show
from pages.shared.say import words
from pages.shared.script import Call, Script
from pages.shared.subject import Subject

from .large import is_large

ADDITIONS = (1, 2, 3, 5, 8, 12)

#: Gains of every addition, and a plan as far as it is made.
Measured = tuple[pd.DataFrame, pd.DataFrame | None]


def part(asked: Subject) -> None:
    """Draw the part of the page."""
    problem, n = asked.problem, asked.n
    if problem.mask.all():
        words(texts.all_seen(asked.agents))
        return
    gains_call = asked.script.plan(
        "gains", cc.planning.next_features, problem, n, groups=asked.groups
    )
    whose, goal, additions = choices(asked, gains_call)
    plan_call = asked.script.plan(
        "plan", cc.planning.plan_features, problem, n, additions, goal=goal, groups=asked.groups
    )

    def draw_found(found: Measured, final: bool) -> None:
        draw_both(asked, (gains_call, plan_call), found, whose, goal)

    if not is_large(asked):
        first, second = asked.script.branch(), asked.script.branch()
        draw_found((first.take(gains_call), second.take(plan_call)), True)
        return

    def work(report: run.Report, cancel: Event) -> Measured:
        gains = gains_call()
        report(0.0, (gains, None))
        plan = plan_call(cancel=cancel, progress=lambda share, part: report(share, (gains, part)))
        return gains, plan

    run.panel(
        "measure", (gains_call.key, plan_call.key), work, draw_found, label="Plan",
        help="Tries every feature for every agent, again after each addition.",
        auto=True, below=True,
    )  # fmt: skip


def choices(asked: Subject, gains_call: Call[pd.DataFrame]) -> tuple[str, str | int, int]:
    """Whose gain is drawn, whom the plan is for, and how many additions it has."""
    left, middle, right = st.columns([1.1, 1, 1.1], vertical_alignment="bottom")
    with left:
        whose = options.segments(
            "whose", "Gain of", {"everybody": "everybody", "own": "the agent itself"}
        )
    goal: str | int = "everybody"
    if whose == "own":
        able = [int(i) for i in np.flatnonzero(~asked.problem.mask.all(axis=1))]
        usual = able[0]
        if not is_large(asked):
            gains = asked.script.branch().take(gains_call)
            best = gains.sort_values("own_share", kind="stable").iloc[-1]
            usual = int(best["agent"]) - 1
        with middle:
            goal = options.pick(
                "for", "Plan for", able, usual, words=lambda i: texts.starting(asked.agents[i])
            )
    with right:
        additions = options.pick(
            "additions", "Features to plan", ADDITIONS, 5, widget=st.select_slider
        )
    return whose, goal, additions


def draw_both(
    asked: Subject,
    calls: tuple[Call[pd.DataFrame], Call[pd.DataFrame]],
    found: Measured,
    whose: str,
    goal: str | int,
) -> None:
    """Draw the gains, and the plan as far as it is made."""
    gains, plan = found
    words(texts.measure(gains, whose, asked.agents, asked.measures))
    first, second = columns("measure", "plan", sizes=[1.2, 1])
    with first:
        draw_gains(asked, with_names(asked, calls[0], gains), gains, whose)
    if plan is None:
        return
    steps = texts.additions(plan.iloc[1:], asked.agents, asked.measures)
    with second:
        show(
            figures.plan(plan, ["now", *steps], title=texts.plan_title(plan, goal, asked.agents)),
            with_names(asked, calls[1], plan),
            key="plan",
            name="A plan of additions",
            alt="The error after each addition of a greedy plan.",
            formula=texts.PLAN_FORMULA,
        )
    words(texts.plan(steps))


def draw_gains(asked: Subject, script: Script, gains: pd.DataFrame, whose: str) -> None:
    """Draw agents by features."""
    show(
        figures.feature_gains(
            gains, f"{whose}_share", len(asked.agents), len(asked.measures),
            title=texts.measure_title(gains, whose), agents=asked.agent_names,
            features=asked.measure_names,
        ),
        script,
        key="measure",
        name="What to measure next",
        alt="Heatmap of agents by features: what seeing one more gains.",
        formula=texts.MEASURE_FORMULA,
    )  # fmt: skip


def with_names(asked: Subject, call: Call[pd.DataFrame], found: pd.DataFrame) -> Script:
    """The lines of a figure: the call, and names beside its numbers."""
    script = asked.script.branch()
    frame = script.done(call, found)
    script.run(
        "frame", cc.planning.with_names, frame, agents=asked.agent_names,
        features=asked.measure_names,
    )  # fmt: skip
    return script
