"""The laws of features that the page offers, and how one is picked."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core.world.fields import Field
from collab_core.world.laws import Law
from pages.shared import options

#: Records that were loaded have a law too, which no name says.
RECORDS = {"census": "Census records"}

#: What links of before call a parameter; others are ``law-`` and their name, so that none is taken
#: for the world's.
LINKED = {"rate": "rate", "ratio": "wider", "degrees_of_freedom": "freedom", "separation": "apart"}

#: Where the page begins, if not at the law's own default: where pretending costs more.
USUAL = {"rate": 0.01, "degrees_of_freedom": 5.0}


def kinds() -> dict[str, str]:
    """What can be chosen: keys with names for people."""
    return {law.key: law.label for law in cc.laws.LAWS} | RECORDS


def usual(field: Field) -> float:
    """The value of a law's parameter that the page begins with."""
    return USUAL.get(field.name, field.default)


def pick_kind() -> str:
    """Let a person choose a kind of law: a key of `kinds`."""
    names = kinds()
    return options.pick("law", "Law of the features", list(names), "rare", words=names.__getitem__)


def pick_law(kind: str) -> str:
    """The law as the library reads it: its key, with its parameters in brackets."""
    law = cc.laws.get(kind)
    fields = law.parameters()
    if not fields:
        st.caption(law.help)
    return law(**{field.name: _pick(field, law.help) for field in fields}).text


def _pick(field: Field, about: str) -> float:
    values = sorted({_plain(value) for value in (*field.steps, usual(field))})
    return options.pick(
        LINKED.get(field.name, f"law-{field.name}"), field.label, values, _plain(usual(field)),
        widget=st.select_slider, words=lambda value: f"{value:g}", help=about,
    )  # fmt: skip


def _plain(value: float) -> float:
    """Links write 5, not 5.0."""
    return int(value) if value == int(value) else value


def compared(law: str | Law) -> dict[str, str]:
    """A law of every kind by its name, the one at hand with its own parameters."""
    found = {}
    for kind in cc.laws.LAWS:
        one = kind(**{field.name: usual(field) for field in kind.parameters()}).text
        if isinstance(law, str) and law.partition("(")[0] == kind.key:
            one = law
        _, _, values = one.partition("(")
        found[f"{kind.label} ({values}" if values else kind.label] = one
    return found
