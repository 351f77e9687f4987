"""The six steps of the story: what each says, its figure, and the lines that make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go

import collab_core as cc
from collab_core import figures
from collab_core.words import start as say
from pages.shared.script import Script

SIZES = [10, 12, 15, 20, 30, 50, 80, 120, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 100_000]


@dataclass(frozen=True)
class StoryStep:
    """One step of the story.

    Attributes
    ----------
    told : Told
        Its words.
    figure : Figure
    script : Script
        The lines that were run for the figure.
    """

    told: say.StoryTold
    figure: go.Figure
    script: Script


def alone(world: cc.Scenario, problem: cc.Problem, script: Script) -> StoryStep:
    """Least squares of the agent that misses most."""
    agent = int(problem.irreducible.argmax())
    frame = script.run(
        "frame", cc.whatif.error_lines, problem, ("local",), SIZES, target=agent, total=True
    )
    told = say.alone(problem, agent)
    drawn = figures.error_lines(frame, title=told.figure, floor=say.floor(problem, agent))
    return StoryStep(told, drawn, script)


def naive(world: cc.Scenario, problem: cc.Problem, script: Script) -> StoryStep:
    """The average of all models as they are."""
    frame = script.run("frame", cc.whatif.error_lines, problem, ("naive_collab", "collab"), SIZES)
    told = say.naive(problem)
    drawn = figures.error_lines(frame, title=told.figure, floor=say.bias(problem))
    return StoryStep(told, drawn, script)


def correction(world: cc.Scenario, problem: cc.Problem, script: Script) -> StoryStep:
    """What every agent would find with endless data."""
    script.run("frame", cc.whatif.local_limits, problem)
    told = say.correction(problem)
    drawn = figures.coefficients_by_agent(
        problem.theta, problem.embedded, problem.mask, title=told.figure, height=380
    )
    return StoryStep(told, drawn, script)


def weights(world: cc.Scenario, problem: cc.Problem, script: Script) -> StoryStep:
    """How much every agent counts."""
    frame = script.run("frame", cc.whatif.weight_shares, problem)
    told = say.weights(problem, frame)
    drawn = figures.shares_by_agent(
        frame["share"], say.unexplained(problem), title=told.figure, axis="share of the weight"
    )
    return StoryStep(told, drawn, script)


def optimum(world: cc.Scenario, problem: cc.Problem, script: Script) -> StoryStep:
    """COLLAB against what is possible."""
    found = script.branch().run("found", cc.whatif.findings, problem, world.n)
    frame = script.run("frame", cc.whatif.comparison, problem, world.n)
    told = say.optimum(frame, found)
    return StoryStep(told, figures.errors_by_method(frame, title=told.figure), script)


def cost(world: cc.Scenario, problem: cc.Problem, script: Script) -> StoryStep:
    """Bytes of models against bytes of data."""
    frame = script.run("frame", cc.whatif.bytes_sent, problem, ("collab", "imputation"), SIZES)
    told = say.cost(frame)
    return StoryStep(told, figures.bytes_lines(frame, title=told.figure), script)


STEPS: list[Callable[[cc.Scenario, cc.Problem, Script], StoryStep]] = [
    alone, naive, correction, weights, optimum, cost,
]  # fmt: skip
