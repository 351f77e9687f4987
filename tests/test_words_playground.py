"""Sentences of the Playground as pure functions of what the library found."""

from dataclasses import replace

import numpy as np
import pytest

import collab_core as cc
from collab_core.words import playground as say
from collab_core.words.world import features

FOUND = cc.whatif.Findings(
    gains_most=(3, 4.26),
    gains_least=(1, 1.5),
    scarcest=(2, 1),
    naive_floor=0.25,
    naive_crossing=70.2,
    smallest_n=12,
    to_optimum=1.234,
)


def test_sentences_hold_the_numbers():
    assert say.sentences(5, FOUND) == (
        "**Agent 3 gains most: working together is worth 4.3 times its data.** "
        "Agent 1 gains least, 1.5 times. "
        "The scarcest feature is x2, seen by 1 of 5 agents. "
        "Averaging the local models naively never gets below an error of 0.25; by the large-n "
        "formulas COLLAB is ahead of it from about n = 71 on."
    )


@pytest.mark.parametrize(
    ("changes", "there", "not_there"),
    [
        ({"gains_most": (3, 1.001)}, "Nobody gains", "Agent"),
        ({"gains_least": (1, 4.2)}, "Agent 3 gains most", "gains least"),
        ({"scarcest": (1, 5)}, "Everybody sees everything", "scarcest"),
        ({"naive_floor": 0.0}, "is unbiased here", "naively"),
        ({"naive_crossing": 0.0}, "from about n = 12 on", "n = 71"),
    ],
)
def test_sentences_hold_in_their_worlds(changes, there, not_there):
    said = say.sentences(5, replace(FOUND, **changes))
    assert there in said
    assert not_there not in said


def test_too_few_samples_are_said_only_where_they_are_too_few():
    assert say.few_samples(12, FOUND) == ""
    assert "take n of 12 or more" in say.few_samples(11, FOUND)


def test_titles():
    assert say.worth_title(FOUND) == "Agent 3 gains most: worth 4.3 × its data"
    assert "is the same" in say.worth_title(replace(FOUND, gains_most=(1, 1.0)))
    assert "within 1.23 times" in say.methods_title(FOUND)
    assert say.simulated_title(400, 1000) == "Theory, and 400 simulated trials at n = 1,000"
    assert say.not_computed(["COLLAB", "COLLAB+"], 5).startswith("COLLAB, COLLAB+ cannot be")


def test_what_nobody_sees():
    one, two = (np.arange(count) + 3 for count in (1, 2))
    assert say.nobody_sees(one, True).startswith("Nobody sees x4: no method can tell its coef")
    assert "x4, x5: no method can tell their coefficients" in say.nobody_sees(two, True)
    assert say.nobody_sees(two, False).endswith("Here no agent sees anything.")


def test_long_lists_of_features_are_cut():
    assert features([0, 3]) == "x1, x4"
    assert features(np.arange(6)) == "x1, x2, x3, x4, x5, x6"
    assert features(np.arange(9)) == "x1, x2, x3, x4, x5, x6 and 3 more"
