"""Many planes: every pair of a few coefficients as small multiples."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import ellipses as words
from pages.parts.ellipses.look import View, choose
from pages.shared import figure, options, say

MOST_COORDINATES = 5


def show(view: View) -> None:
    """Draw the part."""
    names, n, level = view.names, view.scenario.n, view.level
    left, right = st.columns(2)
    with left:
        keys = choose(view)
    with right:
        picked = options.several(
            "coefficients", f"Coefficients (2 to {MOST_COORDINATES})", names, names[:4],
            most=MOST_COORDINATES,
        )  # fmt: skip
    if len(picked) < 2 or not keys:
        say.error_box("Pick at least two coefficients and one ellipse.")
        return
    measured = cc.ellipses.measures(view.found, view.plane, n, level)
    chosen = measured[measured["method"].isin(keys)]
    say.words(words.volumes(chosen, len(picked), len(names)))
    script = view.script.branch()
    shown = script.run("shown", cc.ellipses.only, view.found, keys)
    places = [names.index(name) for name in picked]
    frame = script.run(
        "frame", cc.ellipses.pair_pictures, shown, view.truth, places, picked, n, level
    )
    figure.show(
        figures.ellipse_matrix(frame, picked, title=f"{view.title}, pair by pair"),
        script,
        key="ellipse-matrix",
        name="Ellipses, pair by pair",
        alt="Confidence ellipses of every pair of a few coefficients.",
        formula=words.FORMULA,
    )
