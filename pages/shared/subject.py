"""What a question is asked of: the sidebar's world, the census, or the table of this session.

Pages that answer for any of them read a `Subject` and never what it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from collab_core import census
from collab_core.answers import planning
from collab_core.census import CensusSums, Study, StudyChoice
from collab_core.core.problem import Problem
from collab_core.figures import feature_names
from collab_core.world.scenario import Scenario

from . import options
from .say import error_box, words
from .script import Script
from .shell import problem_of

#: Where the page "Your data" leaves its Subject, or a sentence why there is none.
TABLE = "table-subject"

DATA = Path(__file__).parents[2] / "data"
BUILT_IN = DATA / "acs2024_moments.npz"
SOURCE = "ACS 2024 1-Year, sums over 1,072,864 workers of 49 states"
#: States that the census begins with, in the order of the paper's pattern.
USUAL = ("NY", "PA", "OH", "FL", "IL")
#: More would crowd every figure, and fair shares take all coalitions.
MOST_STATES = 12
PEOPLE = (0, 200, 500, 1000, 5000, 20_000)

WORLDS = {"sidebar": "The sidebar's", "census": "Census", "table": "Your table"}


@dataclass(frozen=True, eq=False)
class Subject:
    """A world with names.

    Attributes
    ----------
    problem : Problem
    n : float
        Labelled samples per agent, times its share.
    agents : list of str
        What the agents are called in a sentence: "agent 3", "Ohio".
    features : list of str
        What the features are called, one a column: "x5", "Age".
    script : Script
        The lines that make ``problem``. Figures go their own way from it (`Script.branch`).
    source : str
        What it is, in a sentence; empty for the sidebar's world.
    groups : list of lists of int, optional
        Columns that come together, such as the levels of one question; each by itself by default.
    group_names : list of str, optional
        What they are called; as the features by default.
    numbered : bool
        Whether agents and features have numbers rather than names, which figures write shorter.
    seed : int
        Of what is simulated of it.
    """

    problem: Problem
    n: float
    agents: Sequence[str]
    features: Sequence[str]
    script: Script
    source: str = ""
    groups: list[list[int]] | None = None
    group_names: Sequence[str] | None = None
    numbered: bool = False
    seed: int = 0

    @property
    def measures(self) -> Sequence[str]:
        """What an agent can start to see: features, or groups of them."""
        if self.groups is None:
            return self.features
        return self.group_names or [self.features[part[0]] for part in self.groups]

    @property
    def agent_names(self) -> list[str] | None:
        """Names of the agents for figures and tables; None where they have numbers."""
        return None if self.numbered else list(self.agents)

    @property
    def measure_names(self) -> list[str] | None:
        """Names of what agents can see for figures and tables; None where they have numbers."""
        return None if self.numbered else list(self.measures)

    @property
    def is_real(self) -> bool:
        """Whether it was estimated from real data."""
        return bool(self.source)


def pick(scenario: Scenario) -> Subject | None:
    """Let a person choose the world; None after saying why there is none."""
    left, right = st.columns([1, 1.6], vertical_alignment="bottom")
    with left:
        world = options.segments("world", "World", WORLDS)
    if world == "census":
        with right:
            return of_census()
    return of_table() if world == "table" else of_scenario(scenario)


def is_sidebars() -> bool:
    """Whether the sidebar's world is chosen, so that its controls matter."""
    return options.get("world", "sidebar") not in ("census", "table")


def of_scenario(scenario: Scenario) -> Subject | None:
    """The sidebar's world."""
    script = Script.of(scenario)
    problem = problem_of(scenario, script)
    if problem is None:
        return None
    return Subject(
        problem,
        scenario.n,
        [f"agent {i + 1}" for i in range(problem.agents)],
        feature_names(problem.dimension),
        script,
        numbered=True,
        seed=scenario.seed,
    )


@st.cache_resource(show_spinner=False)
def built_in() -> CensusSums:
    """The sums that come with the dashboard."""
    return CensusSums.load(BUILT_IN, SOURCE)


def built_in_script() -> tuple[Script, CensusSums]:
    """Lines that begin with these sums, as ``sums``; they run in the repository's folder."""
    script, path = Script(), BUILT_IN.relative_to(DATA.parent).as_posix()
    line = f"sums = cc.census.CensusSums.load({path!r})"
    return script, script.given("sums", built_in(), line)


def of_census() -> Subject | None:
    """Real states, the paper's pattern of questions."""
    sums = built_in()
    left, right = st.columns([1.9, 1], vertical_alignment="bottom")
    with left:
        states = options.several("states", "States", sums.states, USUAL, most=MOST_STATES)
    with right:
        people = options.pick(
            "people", "People of each", PEOPLE, 0, words=lambda n: f"{n:,}" if n else "all"
        )
    if not states:
        error_box("Pick at least one state.")
        return None
    script, study = _study(tuple(states))
    problem: Problem = script.read("problem", study, "problem")
    n = float(study.counts.mean())
    if people:
        problem, n = script.run("problem", planning.equal_shares, problem), float(people)
    keys = [census.question_of(name).key for name in study.features]
    questions = list(dict.fromkeys(keys))
    return Subject(
        problem,
        n,
        [census.STATE_NAMES[s] for s in states],
        [sums.text_of(name) for name in study.features],
        script,
        source=f"{SOURCE}. Time to work, in logarithms and standard deviations.",
        groups=[[j for j, key in enumerate(keys) if key == question] for question in questions],
        group_names=[census.QUESTIONS[question].name for question in questions],
    )


def _study(states: tuple[str, ...]) -> tuple[Script, Study]:
    script, sums = built_in_script()
    asked = census.paper_views(states, sums.questions)
    choice = StudyChoice(states, tuple(asked[s] for s in states), states[-1])
    return script, script.run("study", Study, sums, script.write("choice", choice))


def of_table() -> Subject | None:
    """The table of this session, if the page "Your data" holds one."""
    found: Subject | str | None = st.session_state.get(TABLE)
    if isinstance(found, str):
        error_box(f"Your table makes no world for these questions: {found}")
        return None
    if found is None:
        words(
            "**There is no table in this session yet.** Open one on the page *Your data*, then "
            "come back: its groups are the agents here, and its columns the features."
        )
    return found
