"""Weights lab: tilt the agents' weights away from optimal, and see what it costs."""

from __future__ import annotations

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.answers.weight_tilt import Tilts
from collab_core.words import ellipses as words
from pages.parts.ellipses.look import Array, View
from pages.shared import figure, options, say, state
from pages.shared.script import Script

#: Tilts are powers of two; this many sliders are shown at a time.
MOST_TILT, SLIDERS = 3.0, 12


def show(view: View) -> None:
    """Draw the part."""
    exponents, on_screen = pick_tilts(view.problem.agents)
    world = view.world.branch()
    lab, tilts = tilted(world, view.problem, exponents)
    is_tilted = any(exponents)
    say.words(words.tilted(is_tilted, lab.loss(tilts)))
    left, right = figure.columns("lab", "loss", sizes=[1.3, 1])
    with left:
        draw_ellipses(view, exponents)
    with right:
        if not state.lesson().figure:
            controls(view.problem, on_screen)
    draw_loss(world, lab, tilts, is_tilted)


def tilted(script: Script, problem: cc.Problem, exponents: list[float]) -> tuple[Tilts, Array]:
    """The lab and its tilts (m,), made by the script's next lines."""
    lab = script.run("lab", cc.weight_tilt.Tilts, problem)
    return lab, script.run("tilts", cc.weight_tilt.powers_of_two, exponents)


def draw_ellipses(view: View, exponents: list[float]) -> None:
    """Ellipses of tilted and of optimal weights."""
    n, level, plane = view.scenario.n, view.level, view.plane
    script = view.script.branch()
    lab, tilts = tilted(script, view.problem, exponents)
    both = script.run("both", lab.beside_optimal, tilts)
    frame = script.run("frame", cc.ellipses.picture, both, plane, view.truth, n, level)
    figure.show(
        figures.ellipses(
            frame, plane.names, height=430,
            title=f"Optimal and tilted weights, {level:.0%} at n = {n:,}",
        ),
        script,
        key="lab",
        name="Weights lab",
        alt="Confidence ellipse of optimal weights inside that of tilted ones.",
        formula=words.LAB_FORMULA,
    )  # fmt: skip


def draw_loss(script: Script, lab: Tilts, tilts: Array, is_tilted: bool) -> None:
    """The error along the tilt; along the steepest where there is none."""
    direction = tilts if is_tilted else script.run("direction", lab.steepest, tilts)
    frame = script.run("frame", lab.along, direction)
    along = "this" if is_tilted else "the steepest"
    figure.show(
        figures.loss_along(
            frame["step"].tolist(), frame["loss"].tolist(), here=float(is_tilted),
            title=f"The error along {along} tilt",
        ),
        script,
        key="loss",
        name="Error along a tilt of the weights",
        alt="Error over the best possible along the tilt, smallest where weights are optimal.",
        formula=words.LAB_FORMULA,
    )  # fmt: skip


def controls(problem: cc.Problem, on_screen: range) -> None:
    """Sliders of some agents, and the ways to the steepest loss and back."""
    say.words("Tilt a weight by powers of two: 1 doubles it, −1 halves it.")
    with st.container(horizontal=True):
        st.button(
            "Steepest loss", on_click=go_steepest, args=(problem,),
            disabled=problem.agents == 1,
            help="Tilts all weights a step in the direction in which the error grows fastest.",
        )  # fmt: skip
        st.button("Back to optimal", on_click=go_optimal, args=(problem.agents,))
    for row in range(0, len(on_screen), 3):
        for column, agent in zip(st.columns(3), on_screen[row : row + 3], strict=False):
            with column:
                tilt_of(agent, visible=True)


def pick_tilts(agents: int) -> tuple[list[float], range]:
    """Tilts of all agents, and which of them have their slider on the screen."""
    groups = [range(start, min(start + SLIDERS, agents)) for start in range(0, agents, SLIDERS)]
    number = 0
    if len(groups) > 1:
        number = options.pick(
            "group", "Sliders of", range(len(groups)), 0, widget=st.segmented_control,
            words=lambda g: f"{groups[g][0] + 1}–{groups[g][-1] + 1}",
        )  # fmt: skip
    return [tilt_of(agent, visible=False) for agent in range(agents)], groups[number]


def tilt_of(agent: int, *, visible: bool) -> float:
    """One agent's tilt."""
    tilt: float = options.number(
        f"tilt{agent + 1}", f"Agent {agent + 1}", -MOST_TILT, MOST_TILT, 0.0, step=0.1,
        visible=visible,
    )  # fmt: skip
    return tilt


def go_steepest(problem: cc.Problem) -> None:
    """Move all tilts a step in the direction in which the error grows fastest."""
    tilts = np.array([float(options.get(f"tilt{i + 1}", "0")) for i in range(problem.agents)])
    direction = Tilts(problem).steepest(cc.weight_tilt.powers_of_two(tilts))
    largest = np.abs(direction).max() or 1.0
    moved = np.clip((tilts + direction / largest).round(1), -MOST_TILT, MOST_TILT)
    for i, tilt in enumerate(moved):
        options.put(f"tilt{i + 1}", f"{tilt + 0.0:g}")


def go_optimal(agents: int) -> None:
    """Set all tilts back to 0."""
    for i in range(agents):
        options.put(f"tilt{i + 1}", "0")
