"""In which direction bounds are compared, and the world without its agents."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

import collab_core as cc
from collab_core.core.target import TargetKey as Target
from pages.shared import options

DIRECTIONS = {
    "all": "Every direction",
    "coefficient": "One coefficient",
    "principal": "A principal direction",
    "agent": "An agent's own model",
}


@dataclass(frozen=True)
class Direction:
    """What bounds are compared in.

    Attributes
    ----------
    kind : str
        Of `collab_core.bounds.DIRECTIONS`.
    number : int
        Of the coefficient, principal direction or agent, from 0.
    view : list of int, optional
        What the agent sees.
    """

    kind: str
    number: int = 0
    view: list[int] | None = None

    @property
    def target(self) -> Target:
        """Whose model it is about."""
        return self.number if self.kind == "agent" else "full"


def pick(scenario: cc.Scenario) -> Direction:
    """The controls of a direction."""
    left, right = st.columns(2)
    with left:
        kind: str = options.pick(
            "of", "Compare in", list(DIRECTIONS), "all", words=DIRECTIONS.__getitem__
        )
    if kind == "all":
        return Direction(kind)
    with right:
        if kind == "agent":
            agent: int = options.pick(
                "agent", "Agent", range(scenario.m), 0, words=lambda i: f"Agent {i + 1}"
            )
            view = scenario.views[agent].tolist()
            if not view:
                raise ValueError(f"agent {agent + 1} sees nothing and has no model; pick another")
            return Direction(kind, agent, view)
        letter = "x" if kind == "coefficient" else ""
        number: int = options.pick(
            "direction", "Which", range(scenario.d), 0, words=lambda j: f"{letter}{j + 1}",
            help="Principal directions are counted from the strongest.",
        )  # fmt: skip
    return Direction(kind, number)


def without_agents(scenario: cc.Scenario, **changes: object) -> cc.Scenario:
    """The world as the corollary knows it: who sees what and how much does not matter to it."""
    return scenario.nearest(m=1, n=1, missing="independent", p=0.0, allocation="equal", **changes)[
        0
    ]
