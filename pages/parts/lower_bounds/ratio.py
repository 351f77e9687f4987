"""Against p: how far apart the bounds are when features are missing at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

import collab_core as cc
from collab_core import figures
from collab_core.bounds import PatternSums
from collab_core.words import lower_bounds as words
from pages.parts.lower_bounds import direction
from pages.parts.lower_bounds.direction import Direction
from pages.shared import figure, options, run, say
from pages.shared.script import Script

Array = NDArray[np.floating[Any]]

AGENTS = (0, 10, 30, 100, 300, 1000)
#: Above 14 features patterns are sampled; this many of each size answer within a second.
PATTERNS = 240
#: Where draws are made, and how many at each place.
PLACES, DRAWS = 9, 6
#: The corollary's factor.
FACTOR = 4.0


def show(scenario: cc.Scenario) -> None:
    """Draw the part."""
    world = direction.without_agents(scenario)
    script = Script.of(world)
    covariance = script.read("covariance", world, "covariance")
    theta = script.read("theta", world, "coefficients")
    sums = script.run(
        "sums", cc.bounds.PatternSums, covariance, theta, world.sigma, patterns_per_size=PATTERNS
    )
    first, second = st.columns([2, 1], vertical_alignment="bottom")
    with first:
        of = direction.pick(scenario)
    with second:
        agents: int = options.pick(
            "agents", "Draws of m agents", AGENTS, 30, widget=st.select_slider,
            help="0 for none. With more agents the draws close in on the limit.",
        )  # fmt: skip
    rows = None
    if of.kind != "all":
        rows = script.run(
            "rows", cc.bounds.direction_rows, covariance, of.kind, of.number, view=of.view
        )
    against_p(script, scenario, sums, of, rows, agents)
    if not sums.exact_sum:
        say.words(words.sampled(scenario.d, PATTERNS))


def against_p(
    script: Script,
    scenario: cc.Scenario,
    sums: PatternSums,
    of: Direction,
    rows: Array | None,
    agents: int,
) -> None:
    """Say the corollary and draw the ratios, the limit at once and draws as they come in."""
    threshold = script.branch().run("threshold", sums.threshold, FACTOR, transform=rows)
    ratio = float(sums.curve([min(scenario.p, 0.999)], rows).high[0])
    say.words(words.statement(scenario, sums, of.kind, threshold, ratio))
    grid = script.run("grid", cc.bounds.missingness_grid, sums)
    curve = script.run("curve", sums.curve, grid, transform=rows)
    call = script.plan(
        "draws", cc.bounds.finite_draws, sums, grid, agents, transform=rows, places=PLACES,
        draws=DRAWS, seed=scenario.seed,
    )  # fmt: skip

    def draw(draws: pd.DataFrame, final: bool) -> None:
        mine = script.branch()
        if agents:
            mine.done(call, draws)
        frame = mine.read("frame", curve, "frame")
        figure.show(
            figures.ratio_against_p(
                frame, title=words.ratio_title(of.kind, of.number, threshold),
                p_star=sums.p_star, threshold=threshold, draws=draws,
                here=scenario.p if scenario.missing == "independent" else None,
            ),
            mine,
            key="ratio",
            name="C_gauss against C_strong",
            alt="Smallest and largest ratio of C_gauss to C_strong against missingness p.",
            formula=words.RATIO_FORMULA,
        )  # fmt: skip

    run.of_call(
        "finite", call, draw, label="Draw agents",
        help="Draws which features each agent misses, again and again.", auto=True, below=True,
    )  # fmt: skip
