"""What the page Error vs n adds to the world: its own controls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import error_vs_n as say
from pages.shared import options
from pages.shared.say import words

SIGMA = {"known": "Known", "unlabelled": "From unlabelled samples", "pooled": "Pooled from agents"}
TRIALS = (1, 5, 20, 50, 100, 200, 500, 1000, 2000)
UNLABELLED = (100, 200, 500, 1000, 2000, 5000, 10_000)

#: Other laws than Gaussian are drawn sample by sample: what a session can bear.
MOST_RAW, MOST_RAW_TRIALS = 20_000, 100


@dataclass(frozen=True)
class CurveChoices:
    """What is simulated, and how it is drawn.

    Attributes
    ----------
    agent : int
        Whose own model the right figure shows.
    methods : list of str
    sample_sizes : list of int
    trials : int
    settings : Settings
    scaled, log : bool
        Whether n times the error is drawn, and axes are logarithmic.
    """

    agent: int
    methods: list[str]
    sample_sizes: list[int]
    trials: int
    settings: cc.simulate.Settings
    scaled: bool
    log: bool


def choose(scenario: cc.Scenario, problem: cc.Problem) -> CurveChoices:
    """Draw the controls of the curves, in one row and one expander."""
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    with first:
        agent = options.pick(
            "agent", "Agent of the right figure", range(problem.agents), 0, words=agent_name
        )
    with second:
        trials = options.pick(
            "trials", "Trials", TRIALS, 20, widget=st.select_slider,
            help=f"1 to {TRIALS[-1]:,}. The paper's is 20.",
        )  # fmt: skip
    with third:
        scaled = options.switch(
            "scaled", "n × error", help="Theory of a consistent method is then a flat line."
        )
    with fourth:
        log = options.switch("log", "Log axes", True)
    with st.expander("Methods, grid of n, features, what is known"):
        left, middle, right = st.columns(3)
        with left:
            methods = options.several(
                "methods", "Methods", cc.methods.keys(weightings=False), cc.methods.usual(),
                words=figures.label,
            )  # fmt: skip
        with middle:
            sizes = _grid(problem)
            laws = cc.laws.choices()
            law = options.pick(
                "law", "Feature law", list(laws), "gaussian", words=laws.__getitem__,
                spelled=cc.laws.spelled,
            )  # fmt: skip
        with right:
            settings = _settings(scenario, law)
    if not cc.laws.of(law).is_gaussian:
        trials = min(trials, MOST_RAW_TRIALS)
        sizes = [n for n in sizes if n <= MOST_RAW] or [MOST_RAW]
        words(say.one_by_one(MOST_RAW_TRIALS, MOST_RAW))
    return CurveChoices(agent, methods, sizes, trials, settings, scaled, log)


def agent_name(agent: int) -> str:
    """Agents count from 1 for people."""
    return f"Agent {agent + 1}"


def smallest_n(problem: cc.Problem) -> int:
    """A little above the largest view, so that everybody's least squares exists."""
    return int(np.ceil(((problem.sizes + 5) / problem.shares).max()))


def thousands(n: int) -> str:
    """A sample size for people."""
    return f"{n:,}"


def _grid(problem: cc.Problem) -> list[int]:
    """The grid of n: from a little above the largest view by default, evenly on a log scale."""
    lowest = smallest_n(problem)
    usual = (lowest, max(1000, 30 * lowest))
    values = sorted({*usual, *(10**e * k for e in range(7) for k in (1, 2, 5)), 10**7})
    low = options.pick(
        "from", "Smallest n", values[:-1], usual[0], widget=st.select_slider, words=thousands,
        help="Up to its number of features, an agent's least squares has nothing left over.",
    )  # fmt: skip
    above = [n for n in values if n > low]
    high = options.pick(
        "to", "Largest n", above, max(usual[1], above[0]), widget=st.select_slider, words=thousands
    )
    points = options.number("points", "Points on the curve", 2, 20, 10)
    return [int(n) for n in np.unique(np.geomspace(low, high, points).round().astype(int))]


def _settings(scenario: cc.Scenario, law: str) -> cc.simulate.Settings:
    """What estimators are told."""
    sigma = options.pick("known", "How Σ is known", list(SIGMA), "known", words=SIGMA.__getitem__)
    unlabelled = options.pick(
        "unlabelled", "Unlabelled samples", UNLABELLED, 1000, widget=st.select_slider,
        disabled=sigma != "unlabelled",
    )  # fmt: skip
    weights = options.pick(
        "weights", "COLLAB's weights", list(cc.methods.WEIGHTS), "empirical",
        words=cc.methods.WEIGHTS.__getitem__, help=say.WEIGHTS_HELP,
    )  # fmt: skip
    noise_known = options.switch("noise", "COLLAB+ knows the noise")
    correction = options.switch(
        "corrected", "Small-sample correction of residuals",
        help="For the paper's weights; the others have it already.",
    )  # fmt: skip
    return cc.simulate.Settings(
        features=law, sigma=sigma, unlabelled=max(unlabelled, scenario.d), weights=weights,
        correction=correction, noise_known=noise_known,
    )  # fmt: skip
