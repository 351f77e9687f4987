"""Plans in closed form, against recomputation from scratch and against brute force."""

from itertools import permutations
from threading import Event

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.answers import planning

from .worlds import problems, random_problem


def error_of(problem, members, agent, n):
    """Expected error of an agent in a coalition, by a problem of its own."""
    members = sorted(members)
    part, _ = cc.Problem.of_seen(
        problem.covariance,
        problem.theta,
        problem.noise,
        [problem.views[i] for i in members],
        problem.shares[members],
    )
    place = members.index(agent)
    return cc.bounds.error(part, cc.bounds.gauss(part), place) / n


@given(problems())
def test_who_helps_whom_is_everybody_leaving_in_turn(problem):
    found = planning.who_helps_whom(problem, 100)
    for j in range(problem.agents):
        expected = cc.whatif.without(problem, j, 100)["rise"].to_numpy()
        seeing = problem.sizes > 0
        assert_allclose(found[seeing, j], expected[seeing], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_shapley_is_the_average_over_all_orders(seed):
    problem = random_problem(np.random.default_rng(seed), d=5, m=4, shares=True)
    n = 50
    alone = [error_of(problem, [i], i, n) for i in range(4)]

    def worth(members):
        return sum(alone[i] - error_of(problem, members, i, n) for i in members)

    values = np.zeros(4)
    for order in permutations(range(4)):
        members = []
        for agent in order:
            before = worth(members) if members else 0.0
            members.append(agent)
            values[agent] += (worth(members) - before) / 24
    shares = planning.shapley(problem, n)
    assert shares.exact
    assert_allclose(shares.values, values, rtol=1e-8, atol=1e-12)
    assert_allclose(shares.frame["share"], shares.values)
    assert shares.values.sum() == pytest.approx(shares.total)


def test_what_an_agent_brings_is_its_shapley_value_among_each_others_partners():
    problem = random_problem(np.random.default_rng(4), d=5, m=4, shares=True)
    n = 50
    brings = np.zeros(4)
    for i in range(4):
        partners = [j for j in range(4) if j != i]
        for order in permutations(partners):
            members, before = [i], error_of(problem, [i], i, n)
            for agent in order:
                members.append(agent)
                after = error_of(problem, members, i, n)
                brings[agent] += (before - after) / 6
                before = after
    shares = planning.shapley(problem, n)
    assert_allclose(shares.brings, brings, rtol=1e-8, atol=1e-12)
    assert shares.brings.sum() == pytest.approx(shares.total)
    assert shares.gets.sum() == pytest.approx(shares.total)


def test_who_knows_most_brings_most_and_gets_least():
    covariance = cc.covariance.equicorrelated(4, 0.5)
    # Equal relations and noise; agent 0 has ten times the others' samples.
    problem = cc.Problem(covariance, np.ones(4), 1.0, [range(4)] * 3, [10, 1, 1])
    shares = planning.shapley(problem, 50)
    assert shares.brings.argmax() == 0
    assert shares.gets.argmin() == 0


@given(problems())
def test_the_error_of_joining_is_that_of_the_larger_coalition(problem):
    world = planning.Consortium(problem, 50)
    rng = np.random.default_rng(0)
    members = rng.random((6, problem.agents)) < 0.5
    members[0] = False
    found = planning.shares._joining(world, members)
    for i in np.flatnonzero(problem.sizes > 0):
        larger = members.copy()
        larger[:, i] = True
        expected = world.errors(world.information_of(larger))[:, i]
        assert_allclose(found[:, i], expected, rtol=1e-6)


def test_shares_stopped_early_are_those_of_fewer_orders():
    problem = random_problem(np.random.default_rng(7), d=4, m=13)
    stop, seen = Event(), []

    def look(share, partial):
        seen.append((share, partial.orders))
        if len(seen) == 3:
            stop.set()

    found = planning.shapley(problem, 50, orders=100, seed=1, progress=look, cancel=stop)
    assert found.orders == 40
    assert seen == [(0.2, 20), (0.3, 30), (0.4, 40)]
    assert_allclose(found.values, planning.shapley(problem, 50, orders=40, seed=1).values)


def test_equal_agents_have_equal_shares():
    covariance = cc.covariance.equicorrelated(4, 0.5)
    problem = cc.Problem(covariance, np.ones(4), 1.0, [[0, 1], [0, 1], [2, 3], [2, 3]])
    values = planning.shapley(problem, 20).values
    assert values[0] == pytest.approx(values[1])
    assert values[2] == pytest.approx(values[3])


def test_sampled_shares_agree_with_exact_ones_within_their_error(monkeypatch):
    problem = random_problem(np.random.default_rng(7), d=6, m=9)
    exact = planning.shapley(problem, 50)
    monkeypatch.setattr(planning.shares, "LARGEST_EXACT", 3)
    sampled = planning.shapley(problem, 50, orders=300, seed=1)
    assert not sampled.exact
    assert sampled.values.sum() == pytest.approx(exact.total)
    assert (np.abs(sampled.values - exact.values) < 4.5 * sampled.errors + 1e-12).all()
    assert (np.abs(sampled.brings - exact.brings) < 4.5 * sampled.brings_errors + 1e-12).all()
    assert sampled.brings.sum() == pytest.approx(exact.total)


@given(problems(max_features=5, max_agents=4))
def test_next_features_are_recomputation(problem):
    frame = planning.next_features(problem, 80)
    assert len(frame) == (~problem.mask).sum()
    assert_recomputed(problem, frame, [[j] for j in range(problem.dimension)])


def assert_recomputed(problem, frame, groups, n=80):
    """Every row is the difference of two worlds, each from scratch."""
    now = cc.whatif.worth(problem, n)
    before = now["together"] + now["irreducible"]
    for row in frame.itertuples():
        other = planning.with_feature(problem, row.agent - 1, groups[row.feature - 1])
        assert other.mask[row.agent - 1, groups[row.feature - 1]].all()
        after = cc.whatif.worth(other, n)
        errors = after["together"] + after["irreducible"]
        scale = before.sum()
        assert_allclose(row.own / scale, (before - errors)[row.agent - 1] / scale, atol=1e-6)
        assert_allclose(row.everybody / scale, (before - errors).sum() / scale, atol=1e-6)


@given(problems(max_features=6, max_agents=4))
def test_groups_of_features_come_together(problem):
    n, d = 80, problem.dimension
    groups = [list(range(start, min(start + 2, d))) for start in range(0, d, 2)]
    frame = planning.next_features(problem, n, groups)
    expected = {
        (i + 1, g + 1)
        for i in range(problem.agents)
        for g, part in enumerate(groups)
        if not problem.mask[i, part].all()
    }
    assert set(zip(frame["agent"], frame["feature"], strict=True)) == expected
    assert_recomputed(problem, frame, groups, n)
    alone = planning.next_features(problem, n, [[j] for j in range(d)])
    assert alone.equals(planning.next_features(problem, n))


def test_a_plan_of_groups_adds_all_their_columns():
    problem = random_problem(np.random.default_rng(3), d=6, m=4)
    groups = [[0, 3], [1, 2, 5], [4]]
    plan = planning.plan_features(problem, 60, 50, groups=groups)
    # In the end everybody sees everything, and no group is added twice.
    assert not plan.duplicated(["agent", "feature"]).any()
    world = problem
    for row in plan.iloc[1:].itertuples():
        world = planning.with_feature(world, row.agent - 1, groups[row.feature - 1])
    assert world.mask.all()
    assert plan["error"].iloc[-1] == pytest.approx(
        planning.plan_features(world, 60, 0)["error"].iloc[0]
    )


@pytest.mark.parametrize("groups", [[[0, 1]], [[0, 1], [1, 2]], [[0], [1], [2], [3]], [[0.5]]])
def test_groups_hold_every_feature_once(groups):
    problem = cc.Problem(np.eye(3), np.ones(3), 1.0, [[0, 1], [2]])
    with pytest.raises(ValueError, match="groups"):
        planning.next_features(problem, 10, groups)


def test_a_plan_is_greedy_and_its_errors_are_those_of_the_worlds():
    problem = random_problem(np.random.default_rng(3), d=5, m=4)
    plan = planning.plan_features(problem, 60, 3)
    world = problem
    for row in plan.iloc[1:].itertuples():
        options = planning.next_features(world, 60)
        best = options.loc[options["everybody"].idxmax()]
        assert (row.agent, row.feature) == (best["agent"], best["feature"])
        world = planning.with_feature(world, row.agent - 1, row.feature - 1)
        frame = cc.whatif.worth(world, 60)
        assert row.error == pytest.approx((frame["together"] + frame["irreducible"]).sum())
    own = planning.plan_features(problem, 60, 2, goal=1)
    assert set(own["agent"][1:]) <= {2}
    full = cc.Problem(np.eye(2), [1, 1], 1.0, [[0, 1]])
    assert len(planning.plan_features(full, 10, 5)) == 1
    stop, seen = Event(), []
    stopped = planning.plan_features(
        problem, 60, 3, progress=lambda share, part: (seen.append(len(part)), stop.set()),
        cancel=stop,
    )  # fmt: skip
    assert seen == [2]
    assert stopped.equals(plan.iloc[:2])


def test_extra_samples_are_recomputation_with_other_shares():
    problem = random_problem(np.random.default_rng(5), shares=True)
    n, extra = 100, 500
    frame = planning.spend_samples(problem, n, extra)
    before = cc.whatif.worth(problem, n)["together"].sum()
    for i in range(problem.agents):
        shares = problem.shares.copy()
        shares[i] += extra / n
        other = cc.Problem(problem.covariance, problem.theta, problem.noise, problem.views, shares)
        after = cc.whatif.worth(other, n)["together"].sum()
        assert frame["fall"][i] == pytest.approx(before - after)
    assert frame["given"].sum() == pytest.approx(extra)
    assert frame["given"].idxmax() == frame["fall"].idxmax()
    spread = planning.spend_samples(problem, n, extra, steps=20)
    assert spread["given"].sum() == pytest.approx(extra)


def test_the_largest_world_is_planned():
    problem = cc.Scenario(d=60, m=100, rich_size=40, size=30).problem()
    assert planning.who_helps_whom(problem, 100).shape == (100, 100)
    assert planning.shapley(problem, 100, orders=4).values.shape == (100,)


def test_names_stand_beside_numbers():
    frame = pd.DataFrame({"agent": [2, 0, 1], "feature": [1, 0, 3], "gain": [0.1, 0.2, 0.3]})
    usual = planning.with_names(frame)
    assert list(usual["agent_name"]) == ["agent 2", "", "agent 1"]
    assert list(usual["feature_name"]) == ["x1", "", "x3"]
    named = planning.with_names(frame, ["Ohio", "Iowa"], ["Age", "Sex", "Job"])
    assert list(named["agent_name"]) == ["Iowa", "", "Ohio"]
    assert list(named["feature_name"]) == ["Age", "", "Job"]
    assert "feature_name" not in planning.with_names(frame[["agent", "gain"]])
    assert list(frame.columns) == ["agent", "feature", "gain"]


def test_rises_are_a_table_with_a_column_for_each_who_leaves():
    matrix = np.array([[0.5, 0.1], [0.2, 0.3]])
    frame = planning.rises_by_agent(matrix, ["Ohio", "Iowa"])
    assert list(frame["agent"]) == ["Ohio", "Iowa"]
    np.testing.assert_array_equal(frame[["without Ohio", "without Iowa"]], matrix)
    assert list(planning.rises_by_agent(matrix).columns) == [
        "agent", "without agent 1", "without agent 2"
    ]  # fmt: skip


def test_equal_shares_and_the_usual_error_alone():
    problem = cc.Scenario(d=6, m=5, missing="hub", size=3, allocation="narrow", seed=5).problem()
    equal = planning.equal_shares(problem)
    assert (equal.shares == 1).all()
    assert (problem.shares != 1).any()
    np.testing.assert_array_equal(equal.unexplained, problem.unexplained)
    alone = equal.unexplained * equal.sizes / 40
    assert planning.usual_error(equal, 40) == pytest.approx(np.median(alone))
