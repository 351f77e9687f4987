"""The formulas checked by simulation, on demand."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.tabular.export import safe_csv
from collab_core.words import playground as say
from pages.shared import run
from pages.shared.script import Script

TRIALS = 400


def part(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """An expander with a run of its own."""
    comparison = script.branch().run("frame", cc.whatif.comparison, problem, scenario.n)
    # Of what the formulas compare, the bounds are no methods.
    known = cc.methods.keys()
    methods = [key for key in comparison["method"] if key in known]
    call = script.plan(
        "curve",
        cc.simulate.error_curve,
        problem,
        [scenario.n],
        TRIALS,
        methods,
        seed=scenario.seed,
    )

    def draw(curve: cc.simulate.Curve, final: bool) -> None:
        mine = script.branch()
        mine.done(call, curve)
        _show(comparison, mine.read("frame", curve, "frame"), scenario.n, final)

    with st.expander("Check it by simulation"):
        run.of_call(
            "playground",
            call,
            draw,
            label=f"Simulate {TRIALS} trials",
            help="Draws the agents' data, runs every method on it and compares with the formulas.",
        )


def _show(comparison: pd.DataFrame, frame: pd.DataFrame, n: int, final: bool) -> None:
    trials = int(frame["trials"].max())
    drawn = figures.errors_by_method(
        comparison, title=say.simulated_title(trials, n), simulated=frame
    )
    st.plotly_chart(drawn, key=f"chart-simulated-{trials}", alt="Theory and simulation.")
    empty = [figures.label(key) for key in frame["method"][frame["mean"].isna()]]
    if empty and trials:
        st.caption(say.not_computed(empty, n))
    elif frame["note"].any():
        st.caption(say.SOME_LEFT_OUT)
    if final:
        st.download_button(
            "Data", lambda: safe_csv(frame), "collab-simulated.csv", "text/csv",
            key="data-simulated", on_click="ignore", type="tertiary",
        )  # fmt: skip
