"""Sentences of Error vs n as pure functions of what the library found."""

from threading import Event

import pytest

import collab_core as cc
from collab_core.words import error_vs_n as say

SMALL = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1)
ALL_SEEN = cc.Scenario(d=4, m=3, missing="independent", p=0.0)


def curves(scenario=SMALL, trials=50, agent=1, **how):
    problem = scenario.problem()
    found = cc.simulate.error_curves(problem, [20, 200], trials, ["full", agent], seed=0, **how)
    return problem, found["full"], found[agent]


@pytest.fixture(scope="module")
def small():
    return curves()


def test_the_headline_says_from_when_and_what_it_is_worth(small):
    problem, _, own = small
    said = say.headline(problem, own, 1)
    equal = cc.whatif.samples_alone(problem, 1, own.mean("collab", 200))
    assert said.startswith("**COLLAB beats working alone")
    assert f"does with 200 samples what it would need {equal:,.0f} for alone.**" in said


def test_samples_alone_are_not_said_of_features_that_are_not_gaussian():
    settings = cc.simulate.Settings(features="uniform")
    problem, _, own = curves(trials=20, settings=settings)
    assert "would need" not in say.headline(problem, own, 1)


def test_nothing_is_claimed_before_there_are_trials():
    stop = Event()
    stop.set()
    problem, full, own = curves(cancel=stop)
    assert say.headline(problem, own, 1) == "**How well does agent 2 predict, alone and together?**"
    assert say.drawn(full) == "Simulated points come as trials are done; lines are theory."


def test_an_agent_that_sees_nothing_has_nothing_to_gain():
    problem, _, own = curves(cc.Scenario(d=6, m=4, missing="hub", size=0), trials=2)
    assert say.headline(problem, own, 1) == (
        "**Agent 2 sees nothing, so it has no model to improve.**"
    )
    assert say.nothing_to_estimate(1).startswith("Agent 2 sees nothing")


def test_alone_and_together_cannot_be_told_apart_where_there_is_one_agent():
    problem, _, own = curves(cc.Scenario(d=5, m=1, rich=1, rich_size=5), agent=0)
    assert "cannot be told from working alone for agent 1" in say.headline(problem, own, 0)


def test_findings_are_a_list_of_the_numbers(small):
    problem, full, own = small
    said = say.findings(problem, full, own, 1)
    assert all(line.startswith("- ") for line in said.splitlines())
    assert f"levels out at {cc.bounds.naive_collab(problem).floor:.3g}" in said
    assert f"{problem.irreducible[1]:.3g} is what unseen features cost it forever" in said
    assert said.endswith("- 50 trials; bands are 95% intervals of the mean, lines are theory.")


def test_what_was_not_simulated_is_not_spoken_of():
    problem, full, own = curves(trials=1, methods=["collab"])
    said = say.findings(problem, full, own, 1)
    assert "naive" not in said
    assert "Local OLS" not in said
    assert "1 trial, so there are no bands" in said


@pytest.mark.parametrize(
    ("scenario", "there", "not_there"),
    [
        (ALL_SEEN, "unbiased here", "levels out"),
        (SMALL, "local models make up for what", "unbiased"),
        (
            cc.Scenario(d=6, m=5, rich=2, rich_size=5, size=4, spectrum="isotropic"),
            ": it divides by m where fewer see a feature.",
            "make up for",
        ),
    ],
)
def test_the_naive_averages_faults(scenario, there, not_there):
    problem = scenario.problem()
    assert there in say.naive(problem)
    assert not_there not in say.naive(problem)
    assert say.is_biased(problem) == ("unbiased" not in say.naive(problem))
    assert ("somewhere else" in say.gathering(problem, [10, 1000])) == say.is_biased(problem)


def test_the_limits_of_raw_samples():
    assert "at most 100 trials and n = 20,000" in say.one_by_one(100, 20_000)
