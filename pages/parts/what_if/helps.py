"""Who helps whom: whose error rises when an agent leaves, and what each brings by fair share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import collab_core as cc
from collab_core import figures
from collab_core.answers.planning import LARGEST_EXACT, Shares
from collab_core.words import what_if as texts
from pages.shared import run
from pages.shared.figure import columns, show
from pages.shared.say import words
from pages.shared.script import Script
from pages.shared.subject import Subject

from .large import is_large

#: Random orders of arrival, where there are too many agents to value all coalitions.
ORDERS = 200


def part(asked: Subject) -> None:
    """Draw the part of the page."""
    if asked.problem.agents == 1:
        words(texts.one_agent(asked.agents[0]))
        return
    left, right = asked.script.branch(), asked.script.branch()
    rises = left.run("rises", cc.planning.who_helps_whom, asked.problem, asked.n)
    call = right.plan(
        "shares", cc.planning.shapley, asked.problem, asked.n, orders=ORDERS, seed=asked.seed
    )
    if asked.problem.agents <= LARGEST_EXACT and not is_large(asked):
        shares = right.take(call)
        draw_both(asked, left, right, rises, shares)
        return

    def draw_so_far(shares: Shares, final: bool) -> None:
        mine = right.branch()
        draw_both(asked, left.branch(), mine, rises, mine.done(call, shares))

    # Random orders, live: the first are there at once.
    run.of_call(
        "helps", call, draw_so_far, label="Value coalitions",
        help="Values agents in random orders of arrival.", auto=True, below=True,
    )  # fmt: skip


def draw_both(
    asked: Subject, left: Script, right: Script, rises: NDArray[np.floating[Any]], shares: Shares
) -> None:
    """Draw both figures, each with its own lines."""
    words(texts.helps(rises, shares, asked.agents))
    first, second = columns("helps", "shares", sizes=[1.1, 1])
    names = asked.agent_names
    with first:
        left.run("frame", cc.planning.rises_by_agent, rises, agents=names)
        show(
            figures.rises(rises, title=texts.helps_title(rises, asked.agents), agents=names),
            left,
            key="helps",
            name="Who helps whom",
            alt="Heatmap of how much each agent's error rises when each other agent leaves.",
            formula=texts.HELPS_FORMULA,
        )
    with second:
        frame = right.read("frame", shares, "frame")
        right.run("frame", cc.planning.with_names, frame, agents=names)
        show(
            figures.fair_shares(
                frame, title=texts.shares_title(shares, asked.agents), agents=names
            ),
            right,
            key="shares",
            name="Fair shares",
            alt="What each agent brings to the others by fair share, and what it saves itself.",
            formula=texts.SHARES_FORMULA,
        )
    words(texts.beyond_noise(asked.problem, asked.n) + texts.sampled(shares))
