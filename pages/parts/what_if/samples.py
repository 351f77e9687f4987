"""Samples: how many a wanted error needs, alone and together, and where more are best spent."""

from __future__ import annotations

import contextlib

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import what_if as texts
from pages.shared import options
from pages.shared.figure import columns, show
from pages.shared.say import words
from pages.shared.subject import Subject

EXTRA = (100, 300, 1000, 3000, 10_000, 100_000)

#: Portions in which a plan spends extra samples.
PORTIONS = 20


def part(asked: Subject) -> None:
    """Draw the part of the page."""
    wanted, extra = choices(cc.planning.usual_error(asked.problem, asked.n))
    names = asked.agent_names
    left, right = asked.script.branch(), asked.script.branch()
    needed = left.run("needed", cc.planning.samples_needed, asked.problem, wanted)
    spent = right.run(
        "spent", cc.planning.spend_samples, asked.problem, asked.n, extra, steps=PORTIONS
    )
    words(texts.samples(needed, spent, wanted, extra, asked.agents))
    first, second = columns("needed", "budget", sizes=[1, 1])
    with first:
        left.run("frame", cc.planning.with_names, needed, agents=names)
        show(
            figures.samples_needed(needed, title=texts.needed_title(needed, wanted), agents=names),
            left,
            key="needed",
            name="Samples for a wanted error",
            alt="Labelled samples every agent needs for the wanted error, alone and together.",
            formula=texts.SAMPLES_FORMULA,
        )
    with second:
        right.run("frame", cc.planning.with_names, spent, agents=names)
        show(
            figures.budget(
                spent, title=texts.budget_title(spent, extra, asked.agents), agents=names
            ),
            right,
            key="budget",
            name="Where extra samples help",
            alt="Fall of all agents' errors in sum if the extra samples went to one agent.",
            formula=texts.BUDGET_FORMULA,
        )
    words(texts.beyond_noise(asked.problem, asked.n))


def choices(usual: float) -> tuple[float, int]:
    """The wanted error, and samples to spend."""
    stops = wishes(usual, options.get("error", ""))
    left, right = st.columns(2)
    with left:
        wanted = options.pick(
            "error", "Wanted error, beyond what an agent can never explain", stops,
            min(stops, key=lambda stop: abs(np.log(stop / (0.2 * usual)))),
            widget=st.select_slider, words=lambda v: f"{v:g}",
        )  # fmt: skip
    with right:
        extra = options.pick(
            "extra", "Extra labelled samples to spend", EXTRA, 1000, widget=st.select_slider,
            words=lambda v: f"{v:,}",
        )  # fmt: skip
    return wanted, extra


def wishes(usual: float, own: str) -> list[float]:
    """Errors to wish for: 1, 2, 5 of every power of ten around a usual one, and a link's own."""
    powers = range(int(np.floor(np.log10(usual))) - 3, int(np.ceil(np.log10(usual))) + 2)
    stops = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    found = [stop for stop in stops if 0.004 * usual <= stop <= 3 * usual]
    with contextlib.suppress(ValueError):
        # So that a wish stays the same while the world changes.
        if np.isfinite(float(own)) and 1e-6 * usual <= float(own) <= 1e6 * usual:
            found.append(float(own))
    return sorted(set(found), reverse=True)
