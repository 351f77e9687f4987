"""What the table is asked: target, agents, features, gaps; a guess stands there at first."""

from __future__ import annotations

import streamlit as st

from collab_core import methods, tabular
from collab_core.tabular import Table, TableChoice
from pages.shared import options
from pages.shared.say import error_box, literal, words

from .table import OF_AGENTS, forget

#: Kinds of columns that can be features, some of them only if a person says so.
OPEN = ("number", "category", "mixed", "text", "identifier")

#: Numbers with at most so many different values may be names.
MOST_NAMES = 100

GAPS = (
    "A gap is a missing value of a feature that the row's agent usually has. It is filled "
    "with the mean of rows like it, of all agents: right only if gaps come by chance and "
    "features go together alike everywhere."
)

#: Of all weights, those that lean on nothing but these rows.
TABLE_WEIGHTS = ("moderated", "empirical")

WEIGHTS = (
    "How much COLLAB heeds an agent goes by how far its rows are from its own model. Moderated: "
    "with few rows that is judged by everybody's, so that nobody speaks for all by luck. The "
    "paper's own: by the agent's residual alone, and agents with too few rows stay out."
)


def pick_choice(table: Table) -> TableChoice | None:
    """The choice by its controls, or None after saying what is missing."""
    usual = tabular.usual_choice(table)
    if told := table.not_a_target():
        words(literal(told))
    first, second, third = st.columns(3, vertical_alignment="bottom")
    with first:
        target = options.pick(
            "target", "Predict", table.can_be_target(), usual.target,
            words=lambda name: with_texts(table, name),
        )  # fmt: skip
    able = [name for name in table.can_name_agents() if name != target]
    if not able:
        error_box("No other column can name the agents: one with a few different values is needed.")
        return None
    with second:
        agent = options.pick(
            "agent", "One agent for every", able, usual.agent if usual.agent in able else able[0]
        )
    forget("table-agents-of", (table, agent), OF_AGENTS)
    guess = tabular.usual_choice(table, target=target, agent=agent)
    with third, st.popover("Features, gaps and more", width="stretch"):
        return more_choices(table, guess)


def with_texts(table: Table, name: str) -> str:
    """A column's name, and how many of its cells are no number."""
    texts = table.column(name).texts if table.column(name).kind == "mixed" else 0
    return f"{name} ({texts:,} texts: gaps)" if texts else name


def more_choices(table: Table, guess: TableChoice) -> TableChoice | None:
    """What is asked less often."""
    gaps = options.pick(
        "gaps", "Rows with gaps", ("drop", "mean"), "drop", widget=st.segmented_control,
        words={"drop": "leave out", "mean": "fill in"}.__getitem__, help=GAPS,
    )  # fmt: skip
    features, categories = pick_features(table, guess)
    values = table.column(guess.agent).values
    without = options.several(
        "without", "Agents to leave out", [str(j) for j in range(len(values))], [],
        words=lambda place: values[int(place)],
    )  # fmt: skip
    log = options.switch("log", "Predict the logarithm")
    rare = options.pick(
        "rare", "Group levels rarer than", (0.0, 0.001, 0.01, 0.05), 0.01, widget=st.select_slider,
        words=lambda share: f"{share:.1%}",
    )  # fmt: skip
    sigma = "agents"
    if table.column(guess.target).missing:
        sigma = options.pick(
            "sigma", "How features go together", ("agents", "unlabelled"), "agents",
            words={"agents": "from the agents' rows",
                   "unlabelled": "from rows without a target"}.__getitem__,
        )  # fmt: skip
    weights = options.pick(
        "weights", "COLLAB's weights", TABLE_WEIGHTS, "moderated",
        words=methods.WEIGHTS.__getitem__, help=WEIGHTS,
    )  # fmt: skip
    if not features:
        error_box("Pick at least one feature.")
        return None
    return TableChoice(
        guess.target, guess.agent, features, categories, log=log, gaps=gaps,
        without=tuple(values[int(place)] for place in without), rare=rare, sigma=sigma,
        weights=weights,
    )  # fmt: skip


def pick_features(table: Table, guess: TableChoice) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Features, and which of them are names. By number in the link: a name may hold anything."""
    columns, names = table.columns, table.names
    open_to = [
        str(place)
        for place, column in enumerate(columns)
        if column.name not in (guess.target, guess.agent) and column.kind in OPEN
    ]

    def name_of(place: str) -> str:
        return names[int(place)]

    def is_number(place: str) -> bool:
        return columns[int(place)].kind == "number"

    chosen = options.several(
        "features", "Features", open_to, [str(names.index(name)) for name in guess.features],
        words=name_of,
    )  # fmt: skip
    named = [
        place for place in chosen
        if not is_number(place) or (columns[int(place)].distinct or 10**9) <= MOST_NAMES
    ]  # fmt: skip
    categories = options.several(
        "categories", "Of these, names and not amounts", named,
        [place for place in named if not is_number(place)], words=name_of,
    )  # fmt: skip
    return tuple(map(name_of, chosen)), tuple(map(name_of, categories))
