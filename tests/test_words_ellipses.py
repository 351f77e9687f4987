"""What the page on ellipses says, as pure functions of results."""

import numpy as np
import pandas as pd
import pytest

import collab_core as cc
from collab_core.words import ellipses as words

PLANE = cc.ellipses.coordinates(2, 0, 1)


def pairs_of(**found):
    return cc.ellipses.comparisons({key: np.diag(C) for key, C in found.items()}, PLANE)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ({"collab": [1, 1]}, "**The ellipse of COLLAB.** Pick another to compare it with."),
        (
            {"imputation": [3, 3], "collab": [2, 2], "strong": [1, 1]},
            "**Each lies inside the next, in every direction: "
            "C_strong (paper) ⊂ COLLAB ⊂ Imputation.**",
        ),
        (
            {"imputation": [2, 2], "collab": [2, 2], "strong": [1, 1]},
            "**Each lies inside the next, in every direction: "
            "C_strong (paper) ⊂ COLLAB = Imputation.**",
        ),
        (
            {"imputation": [2, 2], "collab": [2, 2]},
            "**They are all the same here: COLLAB = Imputation.**",
        ),
    ],
)
def test_a_chain_is_said(found, sentence):
    assert words.nesting(pairs_of(**found), list(found)) == sentence


def test_what_crosses_is_said_with_its_numbers():
    pairs = pairs_of(identity=[1, 4], imputation=[2, 2])
    assert words.nesting(pairs, ["identity", "imputation"]).startswith("**Not all of these")
    assert words.crossings(pairs) == (
        "- **Identity weights and Imputation are not ordered**: the first's variance is "
        "0.5 to 2 times the second's, by direction; here their ellipses cross."
    )
    assert words.crossings(pairs_of(collab=[2, 2], strong=[1, 1])) == ""


@pytest.mark.parametrize(("biased", "said"), [(True, ": it is biased)"), (False, "ellipse)")])
def test_shares_inside_are_said_with_their_chance(biased, said):
    frame = pd.DataFrame(
        {
            "method": ["collab", "naive_collab"],
            "inside": [0.94, 0.1],
            "error": 0.01,
            "level": 0.95,
            "trials": 1000,
        }
    )
    text = words.shares_inside(frame, naive_is_biased=biased)
    assert "**Of 1,000 simulated estimates inside their 95% ellipse:** COLLAB 94.0%" in text
    assert f"Naive-Collab 10.0% (COLLAB's ellipse{said.removeprefix('ellipse')}" in text
    assert "by ±2.0%" in text


def test_sizes_are_a_table():
    found = {"collab": np.eye(2), "strong": np.eye(2) / 4}
    table = words.sizes(cc.ellipses.measures(found, PLANE, 100, 0.95)).split("\n")
    assert len(table) == 4
    assert table[3].startswith("| C_strong (paper) |")
    assert table[3].endswith("| 0.25 | 0.25 | × 0.5 |")


def test_volumes_are_those_of_the_others():
    found = {"collab": np.eye(2), "strong": np.eye(2) / 4}
    measured = cc.ellipses.measures(found, PLANE, 100, 0.95)
    assert words.volumes(measured, 4, 2) == (
        "**Every pair of 4 coefficients.** Volumes over COLLAB's, in 2 dimensions: "
        "C_strong (paper)'s × 0.25."
    )
    assert words.volumes(measured[:1], 3, 2) == "**Every pair of 3 coefficients.**"


def test_tilts_are_said_with_their_cost():
    assert "Every weight is optimal" in words.tilted(False, 1.0)
    assert "This tilt costs nothing" in words.tilted(True, 1.0)
    assert "cost 12.50% more error" in words.tilted(True, 1.125)


def test_an_animation_is_said_from_its_first_to_its_last_world():
    world = cc.Scenario(d=2, m=3, rich=3, rich_size=2, spikes=0, seed=1)
    frame = cc.ellipses.played(world, "n", "full", ["collab"], PLANE, 0.95)
    text = words.played(frame, "n", left_out=2, correlated_anew=True, is_principal=True)
    assert text.startswith("**From n = 12 to 1,600, in area:** COLLAB's shrinks 133 times.")
    assert "all features are equally correlated" in text
    assert "those of the sidebar's Σ" in text
    assert text.endswith("2 of the worlds on the way have a feature that nobody sees: left out.")
    alone = frame[frame["step"] == "100"]
    assert words.played(alone, "n") == "**Only n = 100 can be drawn.**"
