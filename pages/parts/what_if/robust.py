"""Robustness: one assumption is broken, more and more, and errors are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.core.target import TargetKey
from collab_core.runs.disturbed import DISTURBANCES, DisturbedCurve
from collab_core.words import disturbed as texts
from collab_core.words.what_if import starting
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import words
from pages.shared.script import Script
from pages.shared.subject import Subject

from .large import is_large

TRIALS = (20, 50, 200, 1000)
#: Samples that are not Gaussian are drawn one by one: so many numbers a trial, and so many trials.
MOST_RAW, MOST_RAW_TRIALS = 300_000, 50


@dataclass(frozen=True)
class DisturbedChoices:
    """Which assumption is broken, whose error is judged, who is shifted, trials, and n."""

    kind: str
    target: TargetKey
    shifted: int
    trials: int
    n: float


def part(asked: Subject) -> None:
    """Draw the part of the page."""
    problem = asked.problem
    able = cc.disturbed.judged(problem, asked.n)
    if problem.agents == 1:
        words(texts.one_agent(asked.agents[0]))
        return
    if not able:
        words(texts.nobody_alone())
        return
    chosen = choices(asked, able)
    kind, target, shifted, n = chosen.kind, chosen.target, chosen.shifted, chosen.n
    script = asked.script.branch()
    values = script.run("values", cc.disturbed.grid, problem, n, kind, target, shifted)
    call = script.plan(
        "curve", cc.disturbed.curve, problem, n, chosen.trials, kind, values, target,
        shifted=shifted, seed=asked.seed,
    )  # fmt: skip

    def draw_found(found: DisturbedCurve, final: bool) -> None:
        if found.done:
            mine = script.branch()
            draw_curve(asked, mine, mine.done(call, found))

    run.of_call(
        "robust", call, draw_found, label="Simulate",
        help="Draws the agents' data and disturbs one assumption more and more.",
        auto=True, below=True,
    )  # fmt: skip


def choices(asked: Subject, able: list[int]) -> DisturbedChoices:
    """What a person picks; who has most to lose, and whom it would miss most, to begin with."""
    problem, n = asked.problem, asked.n
    shifting = options.get("wrong", "unlabelled") == "shift"
    widths = [1.5, 1.2, 1.2, 1] if shifting else [1.5, 1.2, 1]
    first, second, *others = st.columns(widths, vertical_alignment="bottom")
    with first:
        kind = options.pick(
            "wrong", "What is wrong", list(DISTURBANCES), "unlabelled",
            words=lambda key: DISTURBANCES[key].label,
        )  # fmt: skip

    def name_of(agent: TargetKey) -> str:
        return starting(asked.agents[int(agent)])

    world = cc.planning.Consortium(problem, n)
    whom: list[TargetKey] = ["everybody", *able]
    with second:
        target = options.pick(
            "judged", "Whose error", whom,
            max(able, key=lambda i: float(world.alone[i] / world.together[i])),
            words=lambda i: "all, on average" if i == "everybody" else name_of(i),
        )  # fmt: skip
    shifted = most_missed(asked, target)
    if kind == "shift":
        with others[0]:
            shifted = options.pick(
                "shifted", "Whose θ is another", range(problem.agents), shifted,
                words=name_of,
            )  # fmt: skip
    with others[-1]:
        # Large worlds take longer, and say much in few trials.
        usual_trials = TRIALS[0] if is_large(asked) else TRIALS[1]
        trials = options.pick("trials", "Trials", TRIALS, usual_trials, widget=st.select_slider)
    if kind in ("tails", "clusters"):
        most = max(MOST_RAW // (problem.agents * problem.dimension), 4 * int(problem.sizes.max()))
        n, trials = min(n, most), min(trials, MOST_RAW_TRIALS)
    return DisturbedChoices(kind, target, shifted, trials, n)


def most_missed(asked: Subject, target: TargetKey) -> int:
    """The agent without which errors rise most: an agent's, or all others' in sum."""
    rises = cc.planning.who_helps_whom(asked.problem, asked.n)
    np.fill_diagonal(rises, 0.0)
    return int((rises.sum(axis=0) if target == "everybody" else rises[int(target)]).argmax())


def draw_curve(asked: Subject, script: Script, found: DisturbedCurve) -> None:
    """Draw the errors along the disturbance."""
    words(texts.summary(found, asked.agents))
    disturbance, even = DISTURBANCES[found.disturbance], found.break_even
    ends = None
    if even is not None and even.value is not None:
        ends = (even.value, even.early, even.late)
    frame = script.read("frame", found, "frame")
    show(
        figures.advantage(
            frame,
            axis=disturbance.axis + (" (fewer to the right)" if disturbance.falling else ""),
            title=texts.title(found),
            falling=disturbance.falling,
            break_even=ends,
            said="" if ends is None else f"break-even {texts.size(found, ends[0])}",
        ),
        script,
        key="robust",
        name="How fast the advantage goes",
        alt="Error of every method over that of working alone, against the disturbance.",
        formula=texts.FORMULA,
    )
    words(texts.others(found, asked.n, MOST_RAW_TRIALS))
    for sentence in texts.missing(found):
        words(sentence)
