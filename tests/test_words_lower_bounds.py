"""What the page on lower bounds says, as pure functions of results."""

import numpy as np
import pandas as pd
import pytest

import collab_core as cc
from collab_core.words import lower_bounds as words

WORLD = cc.Scenario(d=5, m=6, missing="independent", p=0.2, spikes=1, seed=2)
SUMS = cc.bounds.PatternSums(WORLD.covariance, WORLD.coefficients, WORLD.sigma)


def test_the_corollary_is_said_with_its_numbers():
    text = words.statement(WORLD, SUMS, "all", 2 * SUMS.p_star, 3.25)
    assert f"κ = {SUMS.condition_number:.3g}" in text
    assert f"**p\\* = {SUMS.p_star:.2g}**" in text
    assert f"at **p = {2 * SUMS.p_star:.2g}**, 2 times as far." in text
    assert text.endswith("At the sidebar's p = 0.2 the condition does not hold; the ratio is 3.25.")


def test_what_the_corollary_cannot_say():
    held = words.statement(WORLD.nearest(p=0.0)[0], SUMS, "agent", None, 2.0)
    assert "the factor 4 is not reached in the chosen direction at any p." in held
    assert "the condition holds" in held
    other = words.statement(WORLD.nearest(missing="hub")[0], SUMS, "all", None, 2.0)
    assert other.endswith("only its Σ, θ and σ count here.)")


@pytest.mark.parametrize(
    ("number", "text"), [(2.3456, "2.35"), (5801, "5,800"), (15_432_100, "15,400,000")]
)
def test_factors_are_readable(number, text):
    assert words.large(number) == text


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (("all", 0, None), "The bounds are never a factor 4 apart"),
        (("all", 0, 0.25), "The bounds are within a factor 4 up to p = 0.25"),
        (("coefficient", 2, 0.25), "For the coefficient of x3"),
        (("principal", 0, None), "Along principal direction 1"),
        (("agent", 6, None), "For agent 7's own model"),
    ],
)
def test_titles_against_p(given, title):
    assert words.ratio_title(*given) == title


def test_every_direction_has_a_title():
    assert len({words.gap_title(kind, 1) for kind in cc.bounds.DIRECTIONS}) == 4


def test_a_map_is_said_by_its_ends():
    frame = pd.DataFrame(
        {"kappa": [1.0, 10.0, 100.0], "snr": [1.0, 2.0, 3.0], "ratio": [5.0, np.nan, 1234.5]}
    )
    text = words.conservative(frame)
    assert "by a factor of 5 to 1,230**: least at κ = 1 and SNR = 1, most at κ = 100" in text
    assert words.conservative(frame[1:2]).startswith("In none of these worlds")


def test_the_gap_adds_up():
    frame = pd.DataFrame(
        {"method": ["collab", "collab_plus", "exact", "strong"], "error": [4.0, 3.5, 3.0, 2.0]}
    )
    nothing = pd.DataFrame({"method": [], "mean": []})
    text = words.gap(frame, nothing, 100)
    assert "50.0% is the paper's relaxation and 50.0% is there to gain** if the noise" in text
    assert text.endswith("25.0% if it is not.")
    simulated = pd.DataFrame({"method": ["collab", "collab_plus"], "mean": [4.1, 3.6]})
    assert words.gap(frame, simulated, 1000).endswith(
        "Simulated at n = 1,000: COLLAB 4.1, COLLAB+ 3.6, from the same messages."
    )
    flat = frame.assign(error=2.0)
    assert "0.0% is the paper's relaxation" in words.gap(flat, nothing, 100)


def test_the_chain_counts_directions():
    frame = pd.DataFrame({"gauss": [2.0, 3.0, 8.0], "middle": 2.0, "strong": 1.0})
    text = words.chain(frame)
    assert text.endswith("Here C_gauss is 2 to 8 times C_strong; 2 of 3 directions are within 4.")
