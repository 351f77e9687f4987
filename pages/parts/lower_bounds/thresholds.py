"""Map: how conservative the corollary's condition is, over worlds that can be gone to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.words import lower_bounds as words
from pages.parts.lower_bounds import direction
from pages.shared import figure, options, run, say, state
from pages.shared.script import Script

KAPPAS = tuple(10.0**e for e in range(7))
SNRS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
COLOURED = {"ratio": "true / p*", "threshold": "true p", "p_star": "p*"}


def show(scenario: cc.Scenario) -> None:
    """Draw the part."""
    coloured: str = options.pick(
        "colour", "Colour", list(COLOURED), "ratio", widget=st.segmented_control,
        words={
            "ratio": "How conservative", "threshold": "True threshold", "p_star": "p*"
        }.__getitem__,
    )  # fmt: skip
    if not scenario.coefficients.any():
        raise ValueError("theta is 0, so there is no signal; make it larger in the sidebar")
    # The map is of other spectra and noises than the world's; those do not matter to it either.
    world = direction.without_agents(scenario, spectrum="geometric", condition=1.0, sigma=1.0)
    script = Script.of(world)
    # A single feature has only one condition number.
    kappas = KAPPAS if scenario.d > 1 else (1.0,)
    call = script.plan("frame", cc.threshold_map.threshold_map, world, kappas, SNRS)

    def draw(found: pd.DataFrame, final: bool) -> None:
        mine = script.branch()
        mine.done(call, found)
        draw_map(mine, scenario, found, coloured)

    run.of_call(
        "map", call, draw, label="Draw the map",
        help="Finds p* and the true threshold in many worlds.", auto=True, below=True,
    )  # fmt: skip


def draw_map(script: Script, scenario: cc.Scenario, found: pd.DataFrame, coloured: str) -> None:
    """Draw the map, and go to a world whose square was clicked."""
    say.words(words.conservative(found))
    if not found["ratio"].notna().any():
        return
    clicked = figure.show(
        figures.threshold_map(
            found, coloured, COLOURED[coloured], here=place_of(scenario),
            title=words.MAP_TITLES[coloured],
        ),
        script,
        key="map",
        name="Map over condition and signal to noise",
        alt="Map over condition number and signal to noise of the corollary's threshold.",
        formula=words.MAP_FORMULA,
        clickable=f"map-{st.session_state.get('clicks', 0)}",
    )  # fmt: skip
    squares = found[found[coloured].notna()]
    places = [point["point_index"] for point in clicked if point["curve_number"] == 0]
    if places:
        square = squares.iloc[places[0]]
        go_to(scenario, float(square["kappa"]), float(square["snr"]))


def place_of(scenario: cc.Scenario) -> tuple[float, float]:
    """Condition number and signal to noise of a world."""
    theta, covariance = scenario.coefficients, scenario.covariance
    signal = float(theta @ covariance @ theta)
    return float(np.linalg.cond(covariance)), signal / scenario.sigma**2


def go_to(scenario: cc.Scenario, kappa: float, snr: float) -> None:
    """Make a square's world the session's, and look at it against p."""
    world = cc.threshold_map.world_at(scenario, kappa, snr)
    state.change(spectrum="geometric", condition=kappa, sigma=float(f"{world.sigma:.4g}"))
    options.put("part", "ratio")
    # A new key forgets the selection, so that the same square can be clicked again.
    st.session_state["clicks"] = st.session_state.get("clicks", 0) + 1
    st.rerun()
