"""What the page looks at: a world, a law of its features, and whose model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import collab_core as cc
from collab_core.core.target import TargetKey as Target
from collab_core.words import beyond_gaussian as say
from collab_core.world.laws import EmpiricalLaw, Law, Rare
from pages.shared import options, records, state
from pages.shared.say import error_box
from pages.shared.script import Script
from pages.shared.shell import problem_of

from .laws import kinds, pick_kind, pick_law

RELATIONS = {"fitted": "As fitted to the records", "random": "Random coefficients, noise 1"}
ASKS = {"own": "As in the paper", "half": "One all, others half"}
#: States of a census world: more would only be slower.
MOST_STATES = 5
#: Rare answers that a sample should hold: with hardly any, least squares is lost.
ANSWERS = 5


@dataclass(frozen=True)
class LawWorld:
    """What is looked at.

    Attributes
    ----------
    case : Case
        The problem, the law, and whose model: what sentences are about.
    script : Script
        Lines that make the problem, and the law where it is not just a name.
    seed, n : int
    """

    case: say.Case
    script: Script
    seed: int
    n: int

    @property
    def problem(self) -> cc.Problem:
        """The agents and what they see."""
        return self.case.problem

    @property
    def law(self) -> str | Law:
        """Of the features."""
        return self.case.law

    @property
    def target(self) -> Target:
        """Whose model."""
        return self.case.target

    @property
    def lowest(self) -> int:
        """A little above the largest view, so that everybody's least squares exists."""
        return int(np.ceil(((self.problem.sizes + 5) / self.problem.shares).max()))

    def first(self, largest: int) -> int:
        """Where a grid up to ``largest`` begins: where samples hold the rare answers, if any."""
        law, low = cc.laws.of(self.law), 2 * self.lowest
        if not isinstance(law, Rare):
            return low
        rare = ANSWERS / min(law.rate, 1 - law.rate) / self.problem.shares.min()
        return max(low, min(int(np.ceil(rare)), largest // 4))

    @property
    def lost(self) -> float:
        """What pretending costs here."""
        return self.script.branch().run(
            "loss", cc.gaussian_cost.loss, self.problem, self.law, self.target
        )


@dataclass(frozen=True)
class Made:
    """A problem and a law, with the lines that make them and what agents are called."""

    problem: cc.Problem
    law: str | Law
    script: Script
    agents: tuple[str, ...]


def pick(scenario: cc.Scenario, part: str) -> LawWorld | None:
    """Let a person choose law and target; None after saying why there is nothing to look at."""
    first, second, third, fourth = st.columns([1.1, 1.3, 1, 1], vertical_alignment="bottom")
    with first:
        kind = pick_kind()
    if kind == "census":
        made = of_records(scenario, second, fourth)
    else:
        made = of_scenario(scenario, kind, second, fourth)
    if made is None:
        return None
    # On the map patterns are random, and the model is of all features.
    target: Target = "full"
    if part != "map":
        with third:
            target = pick_target(made.problem, made.agents)
    if target != "full" and made.problem.sizes[int(target)] == 0:
        error_box(say.sees_nothing(int(target)))
        return None
    case = say.Case(made.problem, made.law, kinds()[kind], target, made.agents)
    return LawWorld(case, made.script, scenario.seed, scenario.n)


def pick_target(problem: cc.Problem, agents: tuple[str, ...]) -> Target:
    """Whose model; at first that of the first agent who sees something.

    An agent's own model varies less from trial to trial than that of all features.
    """
    targets: tuple[Target, ...] = ("full", *range(problem.agents))
    usual = int(np.flatnonzero(problem.sizes)[0])
    return options.pick(
        "target", "Model of", targets, usual, words=lambda target: say.model_of(target, agents)
    )


# The sidebar's world -----------------------------------------------------------------------------


def of_scenario(
    scenario: cc.Scenario, kind: str, second: DeltaGenerator, fourth: DeltaGenerator
) -> Made | None:
    """The sidebar's world with a synthetic law."""
    with second:
        law = pick_law(kind)
    with fourth:
        st.button(
            "Where it costs more", on_click=dearer, width="stretch",
            help="A world in which one agent sees everything, with outliers: there the "
            "weights of COLLAB are far from optimal.",
        )  # fmt: skip
    if problem_of(scenario) is None:
        return None
    script = Script.of(scenario)
    problem = script.run("problem", scenario.problem)
    return Made(problem, law, script, tuple(f"agent {i + 1}" for i in range(problem.agents)))


def dearer() -> None:
    """Go to a world of the same size in which pretending costs much."""
    state.change(missing="hub", size=state.scenario().d // 2)
    options.put("law", "outliers")


# Records -----------------------------------------------------------------------------------------


def of_records(
    scenario: cc.Scenario, second: DeltaGenerator, fourth: DeltaGenerator
) -> Made | None:
    """A world whose features are real people's answers."""
    loaded = records.drawable()
    if loaded is None:
        error_box(say.NO_RECORDS)
        return None
    with second:
        relation = options.pick(
            "relation", "Labels by", list(RELATIONS), "fitted", words=RELATIONS.__getitem__
        )
    with fourth:
        asks = options.pick("asks", "Who asks what", list(ASKS), "own", words=ASKS.__getitem__)
    script, study, law = script_of_records(loaded)
    problem = script.run(
        "problem", cc.census.world_of, study, relation=relation, asks=asks, seed=scenario.seed
    )
    states = study.choice.states
    st.caption(say.records(loaded.sums.source, len(law.rows), states, problem.dimension))
    return Made(problem, law, script, states)


def script_of_records(loaded: cc.census.People) -> tuple[Script, cc.census.Study, EmpiricalLaw]:
    """Lines that make a study and the law of its people's answers, and these two."""
    script, sums = records.script()
    states = sums.states[:MOST_STATES]
    asked = cc.census.paper_views(list(states), sums.questions)
    chosen = cc.census.StudyChoice(states, tuple(asked[s] for s in states), states[-1])
    choice = script.write("choice", chosen)
    study = script.run("study", cc.census.Study, sums, choice)
    law = script.run("law", loaded.feature_law, study)
    return script, study, law
