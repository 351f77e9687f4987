"""What the simulated parts share: the world with labels 0 and 1, and how much of it is borne."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

import collab_core as cc
from collab_core.smooth import LogisticSettings, LogisticWorld, methods
from pages.shared import options
from pages.shared.say import words
from pages.shared.script import Script

SIGNALS = (0.5, 1.0, 2.0, 3.0, 4.0)
INTERCEPTS = (-2.0, -1.0, 0.0, 1.0, 2.0)
UNLABELLED = {"own": "The agents' own", "pool": "A common pool of 2,000"}
#: Samples are drawn one by one and fitted again and again: what a session can bear.
MOST_N = 5000
#: m n d^2 of a trial at any n.
MOST_WORK = 3e8


@dataclass(frozen=True)
class Signal:
    """What labels add to the sidebar's world."""

    size: float
    intercept: float

    def world(self, problem: cc.Problem, script: Script) -> LogisticWorld:
        """The world with labels 0 and 1."""
        return script.run("world", cc.smooth.LogisticWorld, problem, self.size, self.intercept)


def signal_controls() -> Signal:
    """Let a person choose how far labels are from tosses of a fair coin."""
    left, right = st.columns(2)
    with left:
        size = options.pick(
            "signal", "Signal", SIGNALS, 2.0, widget=st.select_slider,
            words=lambda v: f"{v:g}",
            help="Standard deviation of the log-odds x'θ: θ is scaled to it. At 0.5 nearly "
            "everything is a toss-up, at 4 most labels are almost certain. The noise σ has no "
            "role here: a label is a toss with probability 1/(1 + exp(-(a + x'θ))).",
        )  # fmt: skip
    with right:
        intercept = options.pick(
            "intercept", "Intercept a", INTERCEPTS, 0.0, widget=st.select_slider,
            words=lambda v: f"{v:g}", help="Log-odds at the mean of the features.",
        )  # fmt: skip
    return Signal(size, intercept)


def server_controls() -> LogisticSettings:
    """Let a person choose what the server is given."""
    unlabelled = options.pick(
        "unlabelled", "Agree over which features", list(UNLABELLED), "own",
        words=UNLABELLED.__getitem__,
        help="Unlabelled features over which the server's model should agree with each agent's. "
        "Over their own, a direction that an agent hardly saw gets hardly any weight.",
    )  # fmt: skip
    correction = options.switch(
        "corrected", "Training losses corrected by k/n",
        help="A fit's own training loss promises too much, by about k/n.",
    )  # fmt: skip
    return LogisticSettings(unlabelled=unlabelled, correction=correction)


def pick_methods() -> list[str]:
    """Let a person choose among all methods of logistic models."""
    known = methods.keys()
    return options.several("methods", "Methods", known, known, words=name_of)


def name_of(method: str) -> str:
    """What a method is called."""
    return methods.get(method).label


def smallest_n(problem: cc.Problem) -> int:
    """Four samples a coefficient, so that few agents' classes are separated."""
    return 4 * (int(problem.sizes.max()) + 1)


def most_n(problem: cc.Problem) -> int:
    """The largest n whose trials a session can bear, in memory and in time to a Stop."""
    bearable = int(MOST_WORK / (problem.agents * problem.dimension**2))
    return min(MOST_N, max(bearable, 3 * smallest_n(problem)))


def limited_n(scenario: cc.Scenario, problem: cc.Problem) -> int:
    """The scenario's n, within what can be drawn sample by sample; said where it is less."""
    most = most_n(problem)
    if scenario.n > most:
        words(f"Labels are drawn one by one: n = {most:,} is used instead of {scenario.n:,}.")
    return min(scenario.n, most)
