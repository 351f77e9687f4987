"""What pretending costs, by formula: ellipses, laws or agents side by side, every weighting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

import collab_core as cc
from collab_core import figures
from collab_core.words import beyond_gaussian as say
from collab_core.words.rows import by_method
from pages.shared.figure import columns, show
from pages.shared.say import words
from pages.shared.script import Script

from . import laws
from .world import LawWorld

#: Agents that are shown one by one.
MOST_AGENTS = 12
#: Of the ellipses.
LEVEL = 0.95


def draw(world: LawWorld, scenario: cc.Scenario) -> None:
    """The whole part."""
    script = world.script.branch()
    found = script.run(
        "found", cc.gaussian_cost.covariances, world.problem, world.law, world.target
    )
    errors = script.branch()
    table = errors.run("table", cc.gaussian_cost.errors, found, world.problem, world.target)
    words(say.cost(world.case, world.lost, table))
    left, right = columns("law-ellipses", "law-costs", sizes=[1.15, 1])
    with left:
        show_ellipses(world, found, script, without_local=dwarfs(table))
        if dwarfs(table):
            st.caption(say.dwarfed())
    with right:
        if isinstance(world.law, str):
            show_laws(world)
        else:
            show_agents(world)
    show_errors(world, table, errors)
    if isinstance(world.law, str):
        words(say.SYNTHETIC)


def dwarfs(table: pd.DataFrame) -> bool:
    """Whether working alone errs so much more that the other ellipses would be dots in its own."""
    errors = {key: row["error"] for key, row in by_method(table).items()}
    alone = errors.pop("local")
    return bool(alone > 6 * max(errors.values()))


def show_ellipses(
    world: LawWorld,
    found: dict[str, NDArray[np.floating[Any]]],
    begun: Script,
    *,
    without_local: bool,
) -> None:
    """Ellipses where Gaussian and optimal weights differ most, or intervals of one coefficient."""
    script = begun.branch()
    if without_local:
        keys = [key for key in found if key != "local"]
        found = script.run("found", cc.ellipses.only, found, keys)
    if len(found["collab"]) < 2:
        truth = cc.ellipses.truth(world.problem, world.target)
        frame = script.run("frame", cc.ellipses.half_widths, found, world.n, LEVEL)
        widths = dict(zip(frame["method"], frame["half_width"], strict=True))
        figure = figures.intervals(
            widths, float(truth[0]), "the coefficient", title="95% intervals by weighting",
            height=460,
        )  # fmt: skip
    else:
        truth = script.run("truth", cc.ellipses.truth, world.problem, world.target)
        gaussian = script.item("gaussian", found, "collab")
        optimal = script.item("optimal", found, "collab_oracle")
        plane = script.run("plane", cc.ellipses.most_different, gaussian, optimal)
        frame = script.run("frame", cc.ellipses.picture, found, plane, truth, world.n, LEVEL)
        figure = figures.ellipses(
            frame, plane.names, title="Where Gaussian and optimal weights differ most", height=460
        )
    show(
        figure,
        script,
        key="law-ellipses",
        name="Other laws: ellipses of the weights",
        alt="95% ellipses of estimates by weighting, where Gaussian and optimal differ most.",
        formula=say.COST_FORMULA,
    )


def show_laws(world: LawWorld) -> None:
    """The cost under every synthetic law."""
    compared = laws.compared(world.law)
    script = world.script.branch()
    frame = script.run("frame", cc.gaussian_cost.by_law, world.problem, compared, world.target)
    here = next(name for name, law in compared.items() if law == world.law)
    show(
        figures.losses_by_law(frame, "law", here=here, title=say.laws_title(frame), height=460),
        script,
        key="law-costs",
        name="What pretending costs, by law",
        alt="Cost of pretending in this world under every law of features.",
        formula=say.COST_FORMULA,
    )


def show_agents(world: LawWorld) -> None:
    """The cost to every agent's own model."""
    script = world.script.branch()
    frame = script.run(
        "frame", cc.gaussian_cost.by_agent, world.problem, world.law, dearest=MOST_AGENTS
    )
    named = frame.assign(name=[world.case.agents[agent - 1] for agent in frame["agent"]])
    show(
        figures.losses_by_law(named, "name", title="To each state's own model", height=460),
        script,
        key="law-agents",
        name="What pretending costs, by agent",
        alt="Cost of pretending to every agent's own model.",
        formula=say.COST_FORMULA,
    )


def show_errors(world: LawWorld, table: pd.DataFrame, script: Script) -> None:
    """Every weighting's error, largest first; ``script`` ends with the table."""
    frame = script.run("frame", cc.gaussian_cost.ranked, table)
    show(
        figures.errors_by_method(
            frame, title=say.errors_title(world.case), axis="n × prediction error", height=300
        ),
        script,
        key="law-errors",
        name="Other laws: n × error of every weighting",
        alt="n times the error of every weighting as n grows, by formula.",
        formula=say.COST_FORMULA,
    )
