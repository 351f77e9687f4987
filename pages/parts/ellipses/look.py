"""What is looked at: whose model, in which plane, at which level. All parts of the page ask it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

import collab_core as cc
from collab_core import figures
from collab_core.answers.ellipses import Plane
from collab_core.core.target import TargetKey as Target
from collab_core.words import ellipses as words
from pages.shared import figure, options, say
from pages.shared.script import Script

Array = NDArray[np.floating[Any]]

PLANES = {
    "coordinates": "Two coefficients",
    "principal": "Principal directions of Σ",
    "different": "Where two differ most",
    "own": "My directions",
}
LEVELS = (0.5, 0.68, 0.9, 0.95, 0.99)
#: Usual methods that are not drawn until somebody asks: RW-Imputation's ellipse is COLLAB's, and
#: the others would be dots in these.
LARGE_OR_SAME = {"full": ("rw_imputation", "pooled_moments"),
                 "agent": ("rw_imputation", "pooled_moments", "imputation")}  # fmt: skip


@dataclass(frozen=True)
class View:
    """What is looked at.

    Attributes
    ----------
    names : list of str
        Of the model's features.
    found : mapping of arrays, shape (k, k)
        All covariances there are, by key.
    truth : array, shape (k,)
    world : Script
        Lines up to ``problem``: what a simulation depends on.
    script : Script
        Lines up to ``found``, ``truth`` and ``plane``.
    """

    scenario: cc.Scenario
    problem: cc.Problem
    target: Target
    names: list[str]
    level: float
    found: Mapping[str, Array]
    truth: Array
    plane: Plane
    world: Script
    script: Script

    @property
    def title(self) -> str:
        """Of a figure of these ellipses."""
        return f"{self.level:.0%} ellipses at n = {self.scenario.n:,}"


def look(scenario: cc.Scenario, part: str) -> View | None:
    """The page's controls; None where there is nothing to draw, which was then said."""
    world = Script.of(scenario)
    problem = world.run("problem", scenario.problem)
    first, second, third, fourth = st.columns([1.1, 1.3, 1.3, 1], vertical_alignment="bottom")
    with first:
        # Tilted weights are a matter of the whole model.
        target = "full" if part == "lab" else pick_target(problem)
    with fourth:
        level: float = options.pick(
            "level", "Level", LEVELS, 0.95, widget=st.select_slider, words=lambda v: f"{v:.0%}"
        )
    seen = np.arange(problem.dimension) if isinstance(target, str) else problem.views[target]
    names = [f"x{j + 1}" for j in seen]
    if not names:
        say.error_box(f"Agent {int(target) + 1} sees nothing, so it has no model. Pick another.")
        return None
    script = world.branch()
    found = script.run("found", cc.ellipses.covariances, problem, target)
    truth = script.run("truth", cc.ellipses.truth, problem, target)
    plane: Plane | None
    if len(names) == 1:
        plane = None
        one_coefficient(script, found, float(truth[0]), names[0], scenario.n, level)
    elif part == "matrix":
        plane = cc.ellipses.coordinates(len(names), 0, 1)
    else:
        with second:
            kind = options.pick(
                "plane", "Plane", list(PLANES), "coordinates", words=PLANES.__getitem__
            )
        with third:
            plane = pick_plane(script, problem, target, kind, names, found)
    if plane is None:
        return None
    return View(scenario, problem, target, names, level, found, truth, plane, world, script)


def pick_target(problem: cc.Problem) -> Target:
    """All features, or one agent's own model."""
    target: Target = options.pick(
        "target", "Model", ("full", *range(problem.agents)), "full",
        words=lambda t: "All features" if t == "full" else f"Agent {t + 1}'s own",
    )  # fmt: skip
    return target


def pick_plane(
    script: Script,
    problem: cc.Problem,
    target: Target,
    kind: str,
    names: list[str],
    found: Mapping[str, Array],
) -> Plane | None:
    """A plane of the chosen kind, made by the script's next lines; None where there is none."""
    if kind == "different":
        return different_plane(script, found)
    if kind == "own":
        return own_plane(script, len(names))
    left, right = st.columns(2)
    usual = cc.ellipses.most_biased(problem, target) if kind == "coordinates" else (0, 1)

    def called(index: int) -> str:
        return names[index] if kind == "coordinates" else f"number {index + 1}"

    with left:
        across: int = options.pick("x", "Across", range(len(names)), usual[0], words=called)
    with right:
        up: int = options.pick("y", "Up", range(len(names)), usual[1], words=called)
    if across == up:
        say.error_box("Pick two different directions: one alone has no ellipse.")
        return None
    if kind == "principal":
        if isinstance(target, str):
            sigma = script.read("sigma", problem, "covariance")
        else:
            geometry = script.read("geometry", problem, "geometry")
            sigma = script.run("sigma", geometry.block, target)
        return script.run("plane", cc.ellipses.principal, sigma, across, up)
    titles = (f"coefficient of {names[across]}", f"coefficient of {names[up]}")
    return script.run("plane", cc.ellipses.coordinates, len(names), across, up, titles)


def different_plane(script: Script, found: Mapping[str, Array]) -> Plane | None:
    """The plane in which two chosen covariances differ most."""
    keys = list(found)
    left, right = st.columns(2)
    with left:
        first = options.pick("one", "Between", keys, "imputation", words=figures.label)
    with right:
        second = options.pick("other", "and", keys, "strong", words=figures.label)
    if first == second:
        say.error_box("Pick two different covariances.")
        return None
    one, other = script.item("one", found, first), script.item("other", found, second)
    return script.run("plane", cc.ellipses.most_different, one, other)


def own_plane(script: Script, k: int) -> Plane | None:
    """The plane of two directions that a person types in."""
    left, right = st.columns(2)
    usual = [" ".join("1" if j == i else "0" for j in range(k)) for i in (0, 1)]
    with left:
        first = options.text("u", "First", usual[0], help=f"{k} numbers.")
    with right:
        second = options.text("v", "Second", usual[1], help=f"{k} numbers.")
    try:
        return script.run("plane", cc.ellipses.own_directions, numbers(first), numbers(second), k)
    except ValueError as reason:
        say.error_box(f"My directions: {reason}.")
        return None


def numbers(text: str) -> list[float]:
    """Numbers that a person has typed, with spaces or commas between them."""
    found = []
    for part in text.replace(",", " ").split():
        try:
            found.append(float(part))
        except ValueError:
            raise ValueError(f"{part[:20]!r} is not a number") from None
    return found


def choose(view: View) -> list[str]:
    """Which covariances to draw."""
    full = view.target == "full"
    shown = {*cc.methods.usual(full=full), "strong"} - {*LARGE_OR_SAME["full" if full else "agent"]}
    usual = [key for key in view.found if key in shown]
    return options.several("show", "Ellipses", list(view.found), usual, words=figures.label)


def one_coefficient(
    script: Script, found: Mapping[str, Array], truth: float, name: str, n: int, level: float
) -> None:
    """Intervals, where a model of one feature has no ellipses."""
    say.words(words.ONE_COEFFICIENT)
    frame = script.run("frame", cc.ellipses.half_widths, found, n, level)
    widths = dict(zip(frame["method"], frame["half_width"], strict=True))
    figure.show(
        figures.intervals(
            widths, truth, f"coefficient of {name}", title=f"{level:.0%} intervals at n = {n:,}"
        ),
        script,
        key="ellipses",
        name="Confidence ellipses",
        alt="Intervals of the only coefficient by method and bound.",
        formula=words.FORMULA,
    )
