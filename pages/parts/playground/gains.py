"""Who gains what, and how close to the best possible: the answers in closed form."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

import collab_core as cc
from collab_core import figures
from collab_core.words import playground as say
from pages.shared.figure import columns, show
from pages.shared.say import words
from pages.shared.script import Script


def part(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> None:
    """The findings in words, and the two figures that they are about."""
    found = findings(scenario, problem, script)
    words(say.sentences(scenario.m, found))
    warn(scenario, found)
    left, right = columns("worth", "methods", sizes=[1.25, 1])
    with left:
        worth(scenario, problem, found, script)
    with right:
        _methods(scenario, problem, found, script.branch())


def findings(scenario: cc.Scenario, problem: cc.Problem, script: Script) -> cc.whatif.Findings:
    """Numbers that the sentences are made of; no line of any figure."""
    return script.branch().run("found", cc.whatif.findings, problem, scenario.n)


def warn(scenario: cc.Scenario, found: cc.whatif.Findings) -> None:
    """The formulas are for large n; say so where an agent cannot even fit."""
    said = say.few_samples(scenario.n, found)
    if said:
        st.warning(said)


def worth(
    scenario: cc.Scenario,
    problem: cc.Problem,
    found: cc.whatif.Findings,
    script: Script,
    features: NDArray[np.intp] | None = None,
) -> None:
    """Every agent alone and together; features are named by a larger world where it is given."""
    mine = script.branch()
    frame = mine.run("frame", cc.whatif.worth, problem, scenario.n, features=features)
    show(
        figures.worth_by_agent(frame, title=say.worth_title(found)),
        mine,
        key="worth",
        name="What working together is worth",
        alt="Expected error of every agent alone and together, largest gain first.",
        formula=say.WORTH_FORMULA,
    )


def _methods(
    scenario: cc.Scenario, problem: cc.Problem, found: cc.whatif.Findings, script: Script
) -> None:
    frame = script.run("frame", cc.whatif.comparison, problem, scenario.n)
    show(
        figures.errors_by_method(frame, title=say.methods_title(found)),
        script,
        key="methods",
        name="Methods and bounds",
        alt="Expected error of a full-feature model by method and bound, on a log axis.",
        formula=say.METHODS_FORMULA,
    )
