"""Play: the ellipses of one plane, as n, missingness or correlation grows."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import ellipses as words
from pages.parts.ellipses.look import View, choose
from pages.shared import figure, options, say

OVER = {"n": "Samples n", "p": "Missingness p", "correlation": "Correlation"}


def show(view: View) -> None:
    """Draw the part."""
    scenario, plane = view.scenario, view.plane
    left, right = st.columns([2.4, 1], vertical_alignment="bottom")
    with left:
        chosen = choose(view)
    with right:
        over: str = options.pick("over", "Over", list(OVER), "p", words=OVER.__getitem__)
    if not chosen:
        say.error_box("Pick at least one ellipse.")
        return
    if over == "p" and view.target != "full":
        say.error_box(
            "As p changes, so does what an agent sees, and with it the space of its model. "
            "Pick all features, or play over n or the correlation."
        )
        return
    keys = [key for key in view.found if key in chosen]
    script = view.script.branch()
    frame = script.run(
        "frame", cc.ellipses.played, scenario, over, view.target, keys, plane, view.level
    )
    if frame.empty:
        say.error_box(
            "None of the worlds on the way can be drawn: somebody must see every feature."
        )
        return
    steps = {str(step): part for step, part in frame.groupby("step", sort=False)}
    said = words.played(
        frame,
        over,
        left_out=len(cc.ellipses.neighbours(scenario, over)) - len(steps),
        correlated_anew=over == "correlation" and "correlation" not in scenario.active,
        is_principal=plane.names[0].startswith("principal"),
    )
    say.words(said)
    figure.show(
        figures.played_ellipses(
            steps, plane.names, f"{over} = ",
            title=f"{view.level:.0%} ellipses as {over} grows",
            at={"n": f"{scenario.n:,}", "p": "0.4", "correlation": "0.6"}[over],
        ),
        script,
        key="played",
        name="Ellipses, played",
        alt="Confidence ellipses of methods and bounds, played over a range of worlds.",
        formula=words.FORMULA,
    )  # fmt: skip
