"""The laws of features that the page offers, and how one is picked."""

from __future__ import annotations

import streamlit as st

from collab_core.world.laws import Law
from pages.shared import options

LAWS = {
    "rare": "Rare yes or no",
    "outliers": "Outliers",
    "student_t": "Student t",
    "elliptical_t": "Student t, common scale",
    "exponential": "Exponential",
    "uniform": "Uniform",
    "rademacher": "Signs (Rademacher)",
    "mixture": "Two clusters",
    "gaussian": "Gaussian",
    "census": "Census records",
}
#: A law's parameter: name in the link, label, choices, default.
PARAMETERS: dict[str, tuple[str, str, tuple[float, ...], float]] = {
    "rare": ("rate", "How often yes", (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 0.01),
    "outliers": ("wider", "Outliers' spread over the others'", (1.5, 2, 3, 4, 5, 8), 4),
    "student_t": ("freedom", "Degrees of freedom", (4.2, 4.5, 5, 6, 8, 12, 30), 5),
    "elliptical_t": ("freedom", "Degrees of freedom", (4.2, 4.5, 5, 6, 8, 12, 30), 5),
    "mixture": ("apart", "How far apart", (0.5, 0.7, 0.9, 0.99), 0.9),
}
ABOUT = {
    "rare": "Every feature is yes or no, seldom yes, independently of the others.",
    "outliers": "One sample in twenty is spread wider, in all features at once.",
    "student_t": "Heavy tails, independent from feature to feature. Near 4 degrees averages of "
    "fourth powers settle slowly.",
    "elliptical_t": "Heavy tails in all features at once: one chi-square a sample. Near 4 degrees "
    "averages of fourth powers settle slowly.",
    "exponential": "Skewed, independent from feature to feature.",
    "uniform": "Light tails, independent from feature to feature.",
    "rademacher": "Plus or minus one, independently.",
    "mixture": "Two Gaussian clusters on either side of 0.",
    "gaussian": "The case that COLLAB's weights are made for.",
    "census": "Real people's answers, each drawn as a whole.",
}


def pick_kind() -> str:
    """Let a person choose a kind of law: a key of `LAWS`."""
    return options.pick("law", "Law of the features", list(LAWS), "rare", words=LAWS.__getitem__)


def pick_law(kind: str) -> str:
    """The law as the library reads it: its name, with its parameter in brackets."""
    if kind not in PARAMETERS:
        st.caption(ABOUT[kind])
        return kind
    name, label, choices, usual = PARAMETERS[kind]
    value = options.pick(
        name, label, choices, usual, widget=st.select_slider, words=lambda v: f"{v:g}",
        help=ABOUT[kind],
    )  # fmt: skip
    return f"{kind}({value:g})"


def compared(law: str | Law) -> dict[str, str]:
    """A law of every kind by its name, the one at hand with its own parameter."""
    found = {}
    for kind, name in LAWS.items():
        if kind == "census":
            continue
        one = f"{kind}({PARAMETERS[kind][-1]:g})" if kind in PARAMETERS else kind
        if isinstance(law, str) and law.partition("(")[0] == kind:
            one = law
        _, _, value = one.partition("(")
        found[f"{name} ({value}" if value else name] = one
    return found
