"""Sentences of "What if" and of disturbed worlds: pure functions of results."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import collab_core as cc
from collab_core.runs.disturbed import DISTURBANCES
from collab_core.words import disturbed, what_if

NAMES = ["Ohio", "Iowa", "Utah", "Maine"]
SCENARIO = cc.Scenario(d=5, m=4, rich=2, rich_size=4, size=3, spikes=1, seed=2)
PROBLEM = SCENARIO.problem()


@pytest.fixture(scope="module")
def rises():
    return cc.planning.who_helps_whom(PROBLEM, 100)


@pytest.fixture(scope="module")
def shares():
    return cc.planning.shapley(PROBLEM, 100)


def test_who_leans_on_whom(rises, shares):
    before = rises.copy()
    said = what_if.helps(rises, shares, NAMES)
    np.testing.assert_array_equal(rises, before)
    apart = np.where(np.eye(4, dtype=bool), 0, rises)
    hurt, leaver = np.unravel_index(apart.argmax(), apart.shape)
    assert said.startswith(f"**{NAMES[hurt]} leans most on {NAMES[leaver]}")
    assert f"{apart.max():.1%}" in said
    assert f"{NAMES[int(shares.gets.argmax())]} saves most itself" in said
    assert what_if.helps_title(rises, NAMES).startswith(f"Without {NAMES[leaver]}: up to")
    assert what_if.shares_title(shares, NAMES).startswith(NAMES[int(shares.brings.argmax())])


def test_nobody_is_missed_where_nobody_learns(shares):
    assert "Nobody would notice" in what_if.helps(np.eye(4), shares, NAMES)
    assert what_if.helps_title(np.eye(4), NAMES) == "Whose error rises when an agent leaves"
    assert "Whoever leaves" in what_if.helps(np.full((4, 4), 0.2), shares, NAMES)
    even = replace(shares, brings=np.full(4, shares.total / 4))
    assert what_if.shares_title(even, NAMES) == "By fair share, all bring the same"


def test_sampled_shares_say_so(shares):
    assert what_if.sampled(shares) == ""
    assert "averages over 40 random orders" in what_if.sampled(replace(shares, orders=40))


def test_what_to_measure_is_listed_from_the_best():
    gains = pd.DataFrame(
        {"agent": [1, 2], "feature": [2, 1], "own_share": [0.1, 0.3], "everybody_share": [0.2, 0]}
    )
    said = what_if.measure(gains, "own", NAMES, ["Age", "Sex"])
    assert "Measure next: Iowa should see Age; its own error falls by 30.0%" in said
    assert said.endswith("The best 2: Iowa sees Age (30.0%); Ohio sees Sex (10.0%).")
    assert "everybody's errors together" in what_if.measure(gains, "everybody", NAMES, ["a", "b"])
    assert "Nothing else is unseen" in what_if.measure(gains.head(1), "own", NAMES, ["a", "b"])
    assert "No single feature" in what_if.measure(gains.tail(1), "everybody", NAMES, ["a", "b"])
    assert what_if.measure_title(gains, "own") == "One more feature gains up to 30.0%"


def test_a_plan_is_a_sentence():
    plan = pd.DataFrame({"agent": [0, 1], "feature": [0, 2], "error": [2.0, 1.0]})
    steps = what_if.additions(plan.iloc[1:], NAMES, ["Age", "Sex"])
    assert what_if.plan(steps) == "**The plan:** Ohio sees Sex."
    assert what_if.plan([]) == ""
    assert what_if.plan_title(plan, "everybody", NAMES) == "One addition: all errors fall by 50.0%"
    assert what_if.plan_title(plan, 1, NAMES) == "One addition: Iowa's error falls by 50.0%"


def test_samples_alone_and_together():
    needed = cc.planning.samples_needed(PROBLEM, 0.05)
    spent = cc.planning.spend_samples(PROBLEM, 100, 300, steps=3)
    said = what_if.samples(needed, spent, 0.05, 300, NAMES)
    most = needed.loc[needed["saved"].idxmax()]
    assert f"For an error of 0.05 {NAMES[int(most['agent']) - 1]} needs" in said
    assert f"{most['alone']:,.0f} samples alone" in said
    assert "300 more are best spent so: " in said
    assert what_if.budget_title(spent, 300, NAMES).startswith("300 more: ")
    even = spent.assign(fall=0.1)
    assert "help everywhere the same" in what_if.samples(needed, even, 0.05, 300, NAMES)
    assert what_if.budget_title(even, 300, NAMES) == "It makes no difference who gets them"
    assert what_if.needed_title(needed.assign(saved=1.0), 0.05) == "Samples for an error of 0.05"


def test_too_few_samples_are_warned_of():
    assert "promise too much" not in what_if.beyond_noise(PROBLEM, 100)
    assert "promise too much" in what_if.beyond_noise(PROBLEM, 5)


def test_real_data_come_with_a_caveat():
    said = what_if.caveat(PROBLEM, 100, "A source.", simulated=False)
    assert said.startswith("A source. **Expected by the formulas, not measured:")
    assert "draws are Gaussian" in what_if.caveat(PROBLEM, 100, "A source.", simulated=True)


def test_everybody_sees_everything():
    assert what_if.all_seen(NAMES).startswith("**Everybody sees everything")
    assert what_if.all_seen(["agent 1"]).startswith("**Agent 1 sees everything")
    assert "only one agent, agent 1" in what_if.one_agent("agent 1")


# Disturbed worlds --------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=DISTURBANCES)
def found(request):
    return cc.disturbed.curve(PROBLEM, 60, 6, request.param, target=1, shifted=2, seed=3)


def test_every_disturbance_has_its_words(found):
    for text in (
        disturbed.title(found),
        disturbed.summary(found, NAMES),
        disturbed.others(found, 60, 50),
    ):
        assert text
        assert "nan" not in text
    assert "Iowa's own model" in disturbed.summary(found, NAMES)
    assert "6 trials" in disturbed.others(found, 60, 50)
    assert disturbed.missing(found) == []
    where = disturbed.beyond(found, found.values[0], NAMES) + disturbed.at(found, 0, NAMES)
    assert ("Utah's relation" in where) == (found.disturbance == "shift")


def test_fewer_samples_than_asked_for_are_said():
    found = cc.disturbed.curve(PROBLEM, 60, 2, "tails", [1.0], target=1)
    assert "60 samples an agent" in disturbed.others(found, 5000, 50)
    assert "samples an agent" not in disturbed.others(found, 60, 50)


def test_methods_that_are_missing_say_why():
    # Only the second agent sees the last feature, and it has too few samples to take part.
    problem = cc.Problem(np.eye(3), np.ones(3), 1.0, [[0, 1], [0, 1, 2]], [1.9, 0.1])
    found = cc.disturbed.curve(problem, 20, 2, "shift", [0.1], target=0)
    assert disturbed.title(found) == "There is no COLLAB here"
    said = disturbed.summary(found, NAMES)
    assert said.startswith("**COLLAB cannot be fitted here:** ")
    assert "no trial is done" not in said
    told = disturbed.missing(found)
    assert any(sentence.startswith("COLLAB+ is missing: ") for sentence in told)
    assert not any(sentence.startswith("COLLAB is") for sentence in told)
