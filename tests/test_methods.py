"""One registration: every method passes the common checks, and no other answers for a typo."""

from typing import ClassVar

import numpy as np
import pytest

import collab_core as cc
from collab_core.core.agents import NEEDS
from collab_core.methods import Method
from collab_core.methods.collab import Collab

from .worlds import random_problem


@pytest.mark.parametrize("key", cc.methods.keys())
def test_every_method_passes_the_common_checks(key, capsys):
    report = cc.methods.check_method(key)
    with capsys.disabled():
        for name, reason in report.exempt.items():
            print(f"\n{key} is exempt from {name}: {reason}")
    assert len(report.passed) + len(report.exempt) + len(report.not_asked) == 13


@pytest.mark.parametrize("key", cc.methods.keys())
def test_every_method_says_what_it_is(key):
    method = cc.methods.get(key)
    assert method.key == key
    assert method.label
    assert method.summary.endswith(".")
    assert method.needs <= set(NEEDS)
    looks = [(one.style.colour, one.style.dash, one.style.marker) for one in cc.methods.every()]
    assert len(set(looks)) == len(looks)


class Lopsided(Collab):
    """COLLAB that forgets its last agent: the order of agents matters to it."""

    key = "lopsided"

    def estimate(self, agents):
        found = super().estimate(agents)
        last = agents.moments[-1]
        return type(found)(found.phi + last.xy.mean() / 1e3, found.geometry)


class Nameless(Collab):
    key = "nameless"
    exempt: ClassVar = {"politeness": "it has none"}


def test_the_checks_can_fail():
    with pytest.raises(AssertionError, match="lopsided, "):
        cc.methods.check_method(Lopsided())
    with pytest.raises(ValueError, match="exempt names no check: politeness"):
        cc.methods.check_method(Nameless())


def test_a_method_comes_and_goes():
    assert "lopsided" not in set(cc.methods.keys())
    with cc.methods.registered(Lopsided) as method:
        assert isinstance(method, Method)
        assert cc.methods.keys()[-1] == "lopsided"
        with pytest.raises(ValueError, match="registered already"):
            cc.methods.register(Lopsided)
    with pytest.raises(ValueError, match=r"method must be one of collab, .*; got 'lopsided'"):
        cc.methods.get("lopsided")


def small_study():
    sums = cc.census.CensusSums.load("data/acs2024_moments.npz")
    states = ("NY", "IL")
    asked = cc.census.paper_views(states, sums.questions)
    choice = cc.census.StudyChoice(states, tuple(asked[s] for s in states), "IL")
    return cc.census.Study(sums, choice)


@pytest.mark.parametrize(
    "ask",
    [
        lambda p: cc.simulate.error_curve(p, [50], 2, ["collab", "a_typo"]),
        lambda p: cc.simulate.sample_estimates(p, 50, 2, ["a_typo"]),
        lambda p: cc.simulate.coverage(p, 50, 2, methods=["a_typo"]),
        lambda p: cc.disturbed.curve(p, 50, 2, "shift", [0.1], methods=["a_typo"]),
        lambda p: small_study().error_curve([400], 5, ["collab", "a_typo"]),
        lambda p: small_study().model("a_typo"),
        lambda p: cc.theory.expected_error(p, "a_typo", 50),
        lambda p: cc.theory.asymptotic_covariance(p, "a_typo"),
        lambda p: cc.whatif.error_lines(p, ["a_typo"], [50]),
        lambda p: cc.methods.check_method("a_typo"),
    ],
)
def test_a_typo_is_an_error_that_lists_the_methods(ask):
    problem = random_problem(np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"must be one of .*collab.*'a_typo'"):
        ask(problem)
