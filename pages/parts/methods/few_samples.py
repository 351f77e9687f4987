"""A word of warning that two parts share."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core.words import methods as say
from pages.shared.script import Script


def warn(problem: cc.Problem, n: int, script: Script) -> None:
    """The formulas are for large n; say so where an agent cannot even fit."""
    smallest = script.branch().run("findings", cc.whatif.findings, problem, n).smallest_n
    if n < smallest:
        st.warning(say.few_samples(n, smallest))
