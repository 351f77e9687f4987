"""Worlds in which agents differ: choices, links, truths, draws, and formulas that know of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import collab_core as cc
from collab_core.world.deviations import SPREADS
from pages.shared.script import Script

SMALL = cc.Scenario(d=5, m=4, rich=2, rich_size=4, size=3, spikes=1, seed=2)
WORLDS = {
    "common": {"differ": "common", "spread": 0.5},
    "per_feature": {"differ": "per_feature", "spread": 0.7, "own_features": 2},
    "few": {"differ": "few", "spread": 1.0, "few": 1},
}


def test_every_spread_is_tried():
    assert {"none", *WORLDS} == set(SPREADS.keys())


def test_one_relation_is_the_default_and_no_link_says_so():
    assert "differ" not in SMALL.to_query()
    assert not SMALL.problem().differs
    assert not SMALL.replace(differ="common", spread=0.0).problem().differs


@pytest.mark.parametrize("name", WORLDS)
def test_a_link_and_code_open_the_same_world(name):
    world = SMALL.replace(**WORLDS[name])
    again, notices = cc.Scenario.from_query(world.to_query())
    assert (again, notices) == (world, [])
    namespace: dict = {}
    exec(Script.of(world).lines, namespace)
    assert_array_equal(namespace["scenario"].deviations, world.deviations)
    # What is shared stays what it was.
    assert_array_equal(world.coefficients, SMALL.coefficients)
    assert_array_equal(world.covariance, SMALL.covariance)


def test_wrong_values_of_a_link_are_put_right():
    query = SMALL.to_query() | {"differ": "few", "few": "9", "spread": "-1"}
    world, notices = cc.Scenario.from_query(query)
    assert (world.few, world.spread) == (4, 0.0)
    assert len(notices) == 2


def label_variance(world):
    return world.sigma**2 + world.coefficients @ world.covariance @ world.coefficients


@pytest.mark.parametrize("name", WORLDS)
def test_deviations_have_the_size_that_was_asked_for(name):
    world = SMALL.replace(**WORLDS[name] | {"m": 400 if name != "few" else 4})
    if name == "few":
        assert (world.variances.any(axis=1)).sum() == 1
        sizes = [[world.replace(seed=s).deviations, world.replace(seed=s)] for s in range(300)]
        ratios = np.array(
            [np.einsum("ij,jk,ik->", d, w.covariance, d) / label_variance(w) for d, w in sizes]
        )
    else:
        d = world.deviations
        ratios = np.einsum("ij,jk,ik->i", d, world.covariance, d) / label_variance(world)
    error = ratios.std() / np.sqrt(ratios.size)
    assert abs(ratios.mean() - world.spread**2) < 4 * error
    if name == "per_feature":
        assert (world.variances.any(axis=0)).sum() == 2


@pytest.mark.parametrize("name", WORLDS)
def test_every_agent_has_its_own_truth(name):
    problem = SMALL.replace(**WORLDS[name]).problem()
    for i, view in enumerate(problem.views):
        theta = problem.theta + problem.deviations[i]
        own = cc.Problem(
            problem.covariance, theta, problem.noise, [view, np.arange(problem.dimension)]
        )
        assert_allclose(problem.local_theta(i), own.local_theta(0), rtol=1e-10)
        assert_allclose(problem.unexplained[i], own.unexplained[0], rtol=1e-10)
    assert not problem.one_relation().differs


def test_no_deviations_are_one_relation():
    one = SMALL.problem()
    zero = cc.Problem(
        one.covariance, one.theta, one.noise, one.views, one.shares,
        deviations=np.zeros((one.agents, one.dimension)),
    )  # fmt: skip
    assert not zero.differs
    assert_array_equal(zero.unexplained, one.unexplained)
    with pytest.raises(ValueError, match=r"deviations must have shape \(4, 5\)"):
        cc.Problem(one.covariance, one.theta, one.noise, one.views, deviations=np.zeros((3, 5)))


@pytest.mark.parametrize("law", ["gaussian", "uniform"])
def test_data_follow_every_agents_own_relation(law):
    problem = SMALL.replace(**WORLDS["common"]).problem()
    n, trials = 400, 60
    for agent in range(2):
        curve = cc.simulate.error_curve(
            problem, [n], trials, ["local"], target=agent, features=law, seed=3
        )
        errors = curve.at("local", n)
        expected = problem.unexplained[agent] * problem.sizes[agent] / n
        # Five standard errors, and 10% for what other laws and finite n change.
        assert abs(errors.mean() - expected) < 5 * errors.std() / np.sqrt(trials) + 0.1 * expected


@pytest.mark.parametrize("target", ["full", 0, 3])
@pytest.mark.parametrize("name", WORLDS)
def test_collabs_formula_knows_that_agents_differ(name, target):
    problem = SMALL.replace(**WORLDS[name]).problem()
    curve = cc.simulate.error_curve(problem, [3000], 300, ["collab"], target=target, seed=1)
    errors = curve.at("collab", 3000)
    (theory,) = curve.theory("collab")
    # Four standard errors, and 3% for the next order in 1/n.
    assert abs(errors.mean() - theory) < 4 * errors.std() / np.sqrt(300) + 0.03 * theory


def test_formulas_for_one_relation_are_not_used():
    problem = SMALL.replace(**WORLDS["common"]).problem()
    for key in ("collab_plus", "rw_imputation", "imputation", "pooled_moments"):
        assert cc.theory.expected_error(problem, key, 1000) is None
        assert cc.theory.expected_error(problem.one_relation(), key, 1000) is not None
