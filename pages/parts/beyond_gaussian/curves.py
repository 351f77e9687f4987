"""Error against n of every weighting, by simulation, and what optimal weights would save."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.runs.simulate import Curve
from collab_core.runs.unlabelled import OPTIMAL
from collab_core.words import beyond_gaussian as say
from pages.shared import options, run
from pages.shared.figure import columns, show
from pages.shared.say import words
from pages.shared.script import Script

from .world import LawWorld

#: What the figure of errors must show; others may run off it.
FOCUS = ("collab", *OPTIMAL)
TRIALS = (10, 20, 40, 100, 200, 400)
UNLABELLED = (200, 500, 1000, 2000, 5000, 10_000, 20_000)
#: Raw numbers that a run draws by default: a few seconds.
BUDGET = 2e8
LARGEST = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)


@dataclass(frozen=True)
class LawChoices:
    """What is simulated, and how it is drawn."""

    trials: int
    largest: int
    samples: int
    scaled: bool


def draw(world: LawWorld, scenario: cc.Scenario) -> None:
    """The whole part."""
    chosen = choices(world)
    sizes = grid(world.first(chosen.largest), chosen.largest)
    methods = list(cc.gaussian_cost.simulated())
    call = world.script.plan(
        "curve", cc.simulate.error_curve, world.problem, sizes, chosen.trials, methods,
        world.target, world.seed, features=world.law, unlabelled=chosen.samples,
    )  # fmt: skip

    def show_so_far(curve: Curve, final: bool) -> None:
        script = world.script.branch()
        script.done(call, curve)
        show_curves(world, curve, chosen, script)

    run.of_call(
        "law-curves", call, show_so_far, label="Simulate",
        help="Draws the agents' data sample by sample and runs every weighting on it.", auto=True,
    )  # fmt: skip


def choices(world: LawWorld) -> LawChoices:
    """Controls of the run."""
    with st.expander("Trials, largest n, unlabelled samples, scale"):
        first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
        with first:
            trials = options.pick("trials", "Trials", TRIALS, 40, widget=st.select_slider)
        with second:
            largest = pick_largest(world, trials)
        with third:
            samples = options.pick(
                "samples", "Unlabelled samples", UNLABELLED, 5000, widget=st.select_slider,
                words=lambda v: f"{v:,}", help="From which the optimal weights are estimated.",
            )  # fmt: skip
        with fourth:
            scaled = options.switch(
                "scaled", "n × error", help="Theory of a consistent method is then a flat line."
            )
    return LawChoices(trials, largest, samples, scaled)


def pick_largest(world: LawWorld, trials: int) -> int:
    """The largest n; by default as large as takes a few seconds."""
    problem = world.problem
    values = [n for n in LARGEST if n > 2 * world.lowest] or [8 * world.lowest]
    afford = BUDGET / (trials * problem.agents * problem.dimension)
    usual = max([n for n in values if n <= afford], default=values[0])
    return options.pick(
        "to", "Largest n", values, usual, widget=st.select_slider, words=lambda n: f"{n:,}",
        help="Such features are drawn one by one: more takes longer. Stop keeps what is there.",
    )  # fmt: skip


def grid(low: int, high: int, points: int = 8) -> list[int]:
    """Whole numbers from low to high, evenly apart on a log axis."""
    return [int(n) for n in np.unique(np.geomspace(low, high, points).round().astype(int))]


def show_curves(world: LawWorld, curve: Curve, chosen: LawChoices, script: Script) -> None:
    """Both figures and their words; ``script`` ends with the curve."""
    gains = script.branch()
    relative = gains.run("frame", cc.unlabelled.gains, curve)
    words(say.gain(world.case, world.lost, relative, curve.sample_sizes[-1]))
    left, right = columns("law-curves", "law-gain", sizes=[1, 1])
    errors = script.branch()
    frame = errors.read("frame", curve, "frame")
    with left:
        show(
            figures.weighting_errors(
                frame, FOCUS, title=say.curves_title(world.case), scaled=chosen.scaled, height=390
            ),
            errors,
            key="law-curves",
            name="Other laws: error against n",
            alt="Simulated error of every weighting against n, theory as lines.",
            formula=say.CURVES_FORMULA,
        )
    with right:
        show(
            figures.relative_errors(
                relative, "collab", title="Optimal weights: error over COLLAB's", height=390
            ),
            gains,
            key="law-gain",
            name="Other laws: optimal over Gaussian weights",
            alt="Error of optimal weights over that of COLLAB's Gaussian weights, against n.",
            formula=say.GAIN_FORMULA,
        )
    outside = figures.beyond_axis(frame, FOCUS, chosen.scaled)
    words(say.curves(world.case, curve, outside, chosen.samples))
