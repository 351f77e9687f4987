"""Where pretending matters: a map over tail weight and the share of features missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import beyond_gaussian as say
from pages.shared import options, run
from pages.shared.figure import columns, ink, show
from pages.shared.say import error_box, words
from pages.shared.script import Script

from .world import LawWorld

KURTOSES = (-2, 0, 1, 3, 6, 12, 25, 50, 100)
MISSING = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
DRAWS = (1, 4, 10, 30, 100, 300)
#: Key of the figure, kind of tails, title, what the figure is called.
MAPS = (
    ("law-map", "independent", "Every feature with tails of its own",
     "Where pretending costs, independent features"),
    ("law-map-common", "common", "One scale common to all features",
     "Where pretending costs, one common scale"),
)  # fmt: skip


def draw(world: LawWorld, scenario: cc.Scenario) -> None:
    """The whole part."""
    if not isinstance(world.law, str):
        error_box(say.ONLY_SYNTHETIC)
        return
    left, _ = st.columns([1, 1.5])
    with left:
        draws = options.pick(
            "draws", "Patterns of missing features", DRAWS, 100, widget=st.select_slider,
            help="Drawn at random for every share missing, and averaged over: more make the map "
            "surer.",
        )  # fmt: skip
    shares = shares_of(scenario.m)
    begun = Script.of(scenario)
    call = begun.plan(
        "losses", cc.gaussian_cost.loss_map, scenario, list(KURTOSES), list(shares), draws=draws
    )

    def show_so_far(losses: pd.DataFrame, final: bool) -> None:
        if not losses.empty:
            script = begun.branch()
            script.done(call, losses)
            words(say.loss_map(losses, draws))
            show_maps(world, losses, shares, script)
            words(under(world, shares))

    run.of_call(
        "law-map", call, show_so_far, label="Draw the map",
        help="Works out the cost for every square, by formula.", auto=True, below=True,
    )  # fmt: skip


def shares_of(agents: int) -> tuple[float, ...]:
    """Shares that can be missing, every feature being seen by somebody."""
    most = cc.gaussian_cost.most_missing(agents)
    return tuple(share for share in MISSING if share < most) or (0.0,)


def off(world: LawWorld, shares: tuple[float, ...]) -> str:
    """Why no square of the map is this world's, or nothing."""
    tails = cc.laws.of(world.law).tails
    return say.off_the_map(tails, missing(world), KURTOSES, shares)


def missing(world: LawWorld) -> float:
    """Share of its features that an agent does not see, on average."""
    return float(1 - world.problem.mask.mean())


def ring(world: LawWorld, kind: str, shares: tuple[float, ...]) -> tuple[float, float] | None:
    """Where this world and law are on the map of a kind of tails, if anywhere."""
    tails = cc.laws.of(world.law).tails
    if tails is None or tails.kind != kind or off(world, shares):
        return None
    return missing(world), tails.kurtosis


def show_maps(
    world: LawWorld, losses: pd.DataFrame, shares: tuple[float, ...], begun: Script
) -> None:
    """A map for each kind of tails; ``begun`` ends with the losses of both."""
    places = columns(*(key for key, *_ in MAPS), sizes=[1, 1])
    for place, (key, kind, title, name) in zip(places, MAPS, strict=True):
        script = begun.branch()
        script.run("frame", cc.gaussian_cost.map_of_kind, losses, kind)
        here = ring(world, kind, shares)
        with place:
            # The maps have the same rows and colours, so each is drawn knowing of both.
            show(
                figures.loss_heatmap(losses, kind, title=title, here=here, ink=ink(), height=440),
                script,
                key=key,
                name=name,
                alt=f"Cost of pretending over share missing and tail weight. {title}.",
                formula=say.MAP_FORMULA,
            )


def under(world: LawWorld, shares: tuple[float, ...]) -> str:
    """What is said under the maps."""
    problem = world.problem
    lost = world.script.branch().run("loss", cc.gaussian_cost.loss, problem, world.law)
    return say.under_the_map(
        off(world, shares),
        lost,
        unequal=bool(np.ptp(problem.shares) > 0),
        agents=problem.agents,
        cut=len(shares) < len(MISSING),
    )
