"""How many unlabelled samples optimal weights need before they pay, by simulation."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.runs.unlabelled import UnlabelledCurve
from collab_core.words import beyond_gaussian as say
from pages.shared import options, run
from pages.shared.figure import show
from pages.shared.say import words
from pages.shared.script import Script

from .curves import TRIALS, UNLABELLED, grid
from .world import LawWorld

LABELLED = (100, 200, 500, 1000, 2000, 5000, 10_000)


def draw(world: LawWorld, scenario: cc.Scenario) -> None:
    """The whole part."""
    trials, n, most = choices(world)
    sizes = grid(max(20, world.problem.dimension), most, 9)
    call = world.script.plan(
        "curve", cc.unlabelled.curve, world.problem, n, sizes, trials, world.target,
        features=world.law, seed=world.seed,
    )  # fmt: skip

    def show_so_far(curve: UnlabelledCurve, final: bool) -> None:
        script = world.script.branch()
        script.done(call, curve)
        words(say.unlabelled(world.case, world.lost, curve))
        show_curve(curve, script)
        words(say.measured(curve))

    run.of_call(
        "unlabelled", call, show_so_far, label="Simulate",
        help="Draws labelled and unlabelled samples, and weights from more and more of the latter.",
        auto=True,
    )  # fmt: skip


def choices(world: LawWorld) -> tuple[int, int, int]:
    """Controls of the run: trials, labelled samples of each agent, most unlabelled samples."""
    first, second, third = st.columns(3)
    with first:
        trials = options.pick("sets", "Trials", TRIALS, 20, widget=st.select_slider)
    allowed = [n for n in LABELLED if n >= 2 * world.lowest] or [2 * world.lowest]
    with second:
        n = options.pick(
            "labelled", "Labelled samples of each agent, n", allowed,
            1000 if 1000 in allowed else allowed[0], widget=st.select_slider,
            words=lambda v: f"{v:,}",
        )  # fmt: skip
    with third:
        most = options.pick(
            "most", "Most unlabelled samples", UNLABELLED[2:], 20_000, widget=st.select_slider,
            words=lambda v: f"{v:,}",
        )  # fmt: skip
    return trials, n, most


def show_curve(curve: UnlabelledCurve, script: Script) -> None:
    """The figure; ``script`` ends with the curve."""
    frame = script.read("frame", curve, "frame")
    measured = curve.scaled("collab")
    show(
        figures.unlabelled_errors(
            frame,
            {"collab": curve.gaussian, "collab_oracle": curve.optimal},
            n=curve.n,
            measured=None if measured is None else measured[0],
            break_even=say.pays_from(curve),
            between=curve.break_even_range,
            title=say.unlabelled_title(curve),
            height=400,
        ),
        script,
        key="unlabelled",
        name="Unlabelled samples that optimal weights need",
        alt="Error of estimated optimal weights against the number of unlabelled samples.",
        formula=say.UNLABELLED_FORMULA,
    )
