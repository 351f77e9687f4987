"""Watch estimates gather: many trials' estimates around the truth, as agents collect more data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import error_vs_n as say
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import error_box, words
from pages.shared.script import Script

from .choices import smallest_n, thousands

TRIALS = 80

#: In rows of three: above what is done without COLLAB, below COLLAB; any others follow.
FIRST = ("local", "imputation", "naive_collab", "collab", "collab_plus")


@dataclass(frozen=True)
class CloudChoices:
    """What is drawn.

    Attributes
    ----------
    target : "full" or int
    names : list of str
        Of its features.
    coordinates : (int, int)
        Those drawn across and up.
    sample_sizes : list of int
    at : int
        The n at which the player begins.
    """

    target: str | int
    names: list[str]
    coordinates: tuple[int, int]
    sample_sizes: list[int]
    at: int


def part(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """Controls, and the run that starts by itself."""
    choices = choose(problem)
    if choices is None:
        return
    call = script.plan(
        "paths",
        cc.simulate.sample_paths,
        problem,
        choices.sample_sizes,
        TRIALS,
        methods(full=choices.target == "full"),
        choices.target,
        seed=scenario.seed,
    )

    def draw(paths: dict[int, cc.simulate.Sample], final: bool) -> None:
        if not any(sample.estimates for sample in paths.values()):
            return
        words(say.gathering(problem, choices.sample_sizes))
        mine = script.branch()
        mine.done(call, paths)
        _cloud(paths, choices, mine)

    run.of_call(
        "cloud",
        call,
        draw,
        label="Simulate",
        help="Draws the agents' data, more and more of it.",
        auto=True,
    )


def choose(problem: cc.Problem) -> CloudChoices | None:
    """Draw the controls; None after saying why there is nothing to draw."""
    first, second, third, fourth = st.columns([1.2, 1, 1, 1.6], vertical_alignment="bottom")
    targets: list[str | int] = ["full", *range(problem.agents)]
    with first:
        target = options.pick("target", "Model", targets, "full", words=_model)
    view = np.arange(problem.dimension) if isinstance(target, str) else problem.views[target]
    if view.size == 0:
        error_box(say.nothing_to_estimate(int(target)))
        return None
    names = [f"x{j + 1}" for j in view]
    usual = cc.ellipses.most_biased(problem, target)
    with second:
        across = options.pick("x", "Across", range(view.size), usual[0], words=names.__getitem__)
    with third:
        up = options.pick("y", "Up", range(view.size), usual[1], words=names.__getitem__)
    sizes = sample_sizes(problem)
    with fourth:
        at = options.pick(
            "at", "Begin at n", sizes, sizes[0], widget=st.select_slider, words=thousands
        )
    if view.size > 1 and across == up:
        error_box("Pick two different coefficients.")
        return None
    return CloudChoices(target, names, (across, up), sizes, at)


def methods(*, full: bool) -> list[str]:
    """Those that agents can carry out by what they send each other, in the order of the figure.

    Parameters
    ----------
    full : bool
        Whether a model of all features is wanted; otherwise an agent's own.
    """
    found = [
        key
        for key in cc.methods.usual(cc.whatif.SENT, full=full)
        if cc.methods.get(key).reads(full=full, weights="empirical") <= cc.whatif.SENT
    ]
    return sorted(found, key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST))


def sample_sizes(problem: cc.Problem) -> list[int]:
    """Nine sizes over two decades, from a little above the largest view."""
    lowest = smallest_n(problem)
    return [int(n) for n in np.unique(np.geomspace(lowest, 100 * lowest, 9).astype(int))]


def _model(target: str | int) -> str:
    return "All features" if isinstance(target, str) else f"Agent {target + 1}'s own"


def _cloud(paths: dict[int, cc.simulate.Sample], choices: CloudChoices, script: Script) -> None:
    across, up = choices.coordinates
    script.run("frame", cc.simulate.path_frame, paths, choices.coordinates)
    show(
        figures.estimate_clouds(
            paths,
            choices.coordinates,
            (f"coefficient of {choices.names[across]}", f"of {choices.names[up]}"),
            at=choices.at,
            title=f"{TRIALS} estimates by each method, as n grows",
        ),
        script,
        key="cloud",
        name="Estimates gathering as n grows",
        alt="Estimates of two coefficients by every method, played over the sample size.",
        formula=say.CLOUD_FORMULA,
    )
