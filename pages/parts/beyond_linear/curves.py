"""Every measure of every method against n, for all features and for one agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.smooth import MEASURES, LogisticSettings, MeasureCurve, Measured
from collab_core.words import beyond_linear as say
from pages.shared import options, run
from pages.shared.figure import columns, show
from pages.shared.say import error_box, words
from pages.shared.script import Script

from .world import (
    MOST_N,
    Signal,
    most_n,
    pick_methods,
    server_controls,
    signal_controls,
    smallest_n,
)

TRIALS = (1, 5, 10, 20, 50, 100, 200)
#: m n d^2 of a trial at the largest n of the usual grid: some second of work.
USUAL_WORK = 3e7
#: Both figures, by key: what they are called.
FIGURES = {
    "logistic-full": "Logistic: a model of all features",
    "logistic-agent": "Logistic: one agent's model",
}


@dataclass(frozen=True)
class LogisticChoices:
    """What is simulated, and what is drawn of it."""

    signal: Signal
    settings: LogisticSettings
    methods: list[str]
    sizes: list[int]
    trials: int
    agent: int
    measure: str
    beyond: bool


def draw(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """The whole part."""
    chosen = choices(problem)
    if not chosen.methods:
        error_box("Pick at least one method.")
        return
    world = chosen.signal.world(problem, script)
    call = script.plan(
        "curves", cc.smooth.curves, world, chosen.sizes, chosen.trials, ["full", chosen.agent],
        chosen.methods, seed=scenario.seed, settings=chosen.settings,
    )  # fmt: skip

    def draw_so_far(found: dict[str | int, Measured], final: bool) -> None:
        mine = script.branch()
        mine.done(call, found)
        show_curves(found, chosen, mine)

    run.of_call(
        "logistic", call, draw_so_far, label="Simulate",
        help="Draws labelled samples and fits every method to them.", auto=True,
    )  # fmt: skip


def choices(problem: cc.Problem) -> LogisticChoices:
    """The part's controls."""
    first, second, third = st.columns([1.2, 0.9, 0.9], vertical_alignment="bottom")
    with first:
        measure = options.pick(
            "measure", "Measure", list(MEASURES), "log_loss", widget=st.segmented_control,
            words=lambda key: MEASURES[key].label,
        )  # fmt: skip
    with second:
        agent = options.pick("agent", "Agent of the right figure", range(problem.agents), 0,
                             words=lambda i: f"Agent {i + 1}")  # fmt: skip
    with third:
        trials = options.pick("trials", "Trials", TRIALS, 10, widget=st.select_slider)
    with st.expander("Signal, methods, grid of n, what the server is given"):
        signal = signal_controls()
        left, middle, right = st.columns(3)
        with left:
            methods = pick_methods()
        with middle:
            sizes = pick_grid(problem)
        with right:
            settings = server_controls()
            beyond = options.switch(
                "beyond", "Beyond the best possible", True,
                help="Log-loss less what even the true probabilities cost, on a log axis.",
            )  # fmt: skip
    return LogisticChoices(signal, settings, methods, sizes, trials, agent, measure, beyond)


def usual_grid(problem: cc.Problem) -> tuple[int, int]:
    """The smallest and the largest n where nobody chose."""
    low = min(smallest_n(problem), MOST_N // 2)
    high = int(USUAL_WORK / (problem.agents * problem.dimension**2))
    return low, int(np.clip(high, 3 * low, min(max(1000, 3 * low), most_n(problem))))


def pick_grid(problem: cc.Problem) -> list[int]:
    """Let a person choose the grid of n."""
    usual, most = usual_grid(problem), most_n(problem)
    steps = (10, 20, 50, 100, 200, 500, 1000, 2000, MOST_N)
    values = sorted({*usual, *(n for n in steps if n < most), most})

    def pick(name: str, label: str, offered: list[int], default: int) -> int:
        chosen: int = options.pick(
            name, label, offered, default, widget=st.select_slider, words=lambda n: f"{n:,}"
        )
        return chosen

    low = pick("from", "Smallest n", values[:-1], usual[0])
    above = [n for n in values if n > low]
    high = pick("to", "Largest n", above, max(usual[1], above[0]))
    if most < MOST_N:
        words(f"Labels are drawn one by one: in a world of this size n goes up to {most:,}.")
    return [int(n) for n in np.unique(np.geomspace(low, high, 6).round().astype(int))]


def show_curves(
    found: Mapping[str | int, Measured], chosen: LogisticChoices, script: Script
) -> None:
    """Both figures, and what they say."""
    full, own = (found[target][chosen.measure] for target in ("full", chosen.agent))
    if not own.done:
        words("**The first trials are on their way.**")
        return
    words(say.headline(own, chosen.agent))
    sides = columns(*FIGURES, sizes=[1, 1])
    for side, key, target in zip(sides, FIGURES, ("full", chosen.agent), strict=True):
        with side:
            mine = script.branch()
            measured = mine.item("measured", found, target)
            show_curve(mine.item("curve", measured, chosen.measure), key, chosen, mine)
    log = chosen.beyond or chosen.measure == "calibration"
    words(say.findings(full, own, chosen.agent, chosen.settings, log=log))
    words(say.WHAT_IS_WHAT)


def show_curve(curve: MeasureCurve, key: str, chosen: LogisticChoices, script: Script) -> None:
    """One target's figure."""
    measure, best = curve.measure, curve.best
    level = None if best is None or measure == "calibration" else (best, f"best {best:.3f}")
    name, title = say.name_of(curve), say.curve_title(curve)
    frame = script.read("frame", curve, "frame")
    show(
        figures.measure_curve(
            frame, name, title=title, beyond=chosen.beyond and measure == "log_loss",
            log=measure == "calibration", level=level, height=400,
        ),
        script,
        key=key,
        name=FIGURES[key],
        alt=f"{title}: {name} of every method against n.",
        formula=say.FORMULA,
    )  # fmt: skip
