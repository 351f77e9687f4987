"""COLLAB at few samples: exact where that is known, against simulation over a grid of worlds."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.answers import planning
from collab_core.answers.planning import finite

from .worlds import problems, random_problem


def covariance_of(rng, d):
    root = rng.standard_normal((d, d + 2))
    return root @ root.T / d + 0.2 * np.eye(d)


def world(d, m, size, seed=0, shares=None, noise=0.8):
    """Agents that see ``size`` features each, drawn until every feature is seen."""
    rng = np.random.default_rng(seed)
    covariance, theta = covariance_of(rng, d), rng.standard_normal(d)
    mask = np.zeros((m, d), dtype=bool)
    while not mask.any(axis=0).all():
        mask[:] = False
        for row in mask:
            row[rng.choice(d, size, replace=False)] = True
    return cc.Problem(covariance, theta, noise, mask, shares)


#: One agent, four, thirty; all see all; a feature that one agent alone sees; unequal sizes.
WORLDS = {
    "one agent": world(5, 1, 5),
    "four agents": world(6, 4, 4),
    "four see all": world(10, 4, 10),
    "four unequal": world(6, 4, 4, shares=[1, 2, 3, 5]),
    "eight see two": world(8, 8, 2, seed=3),
    "thirty agents": world(8, 30, 4),
    "thirty see all": world(10, 30, 10),
    "thirty unequal": world(8, 30, 4, shares=np.linspace(1, 4, 30)),
    "thirty of views of any size": random_problem(np.random.default_rng(2), d=8, m=30),
    "the paper's": cc.Scenario().problem(),
}


def least_size(problem, more):
    """The least n at which every agent has ``more`` samples above its features."""
    return int(np.ceil(((problem.sizes + more) / problem.shares).max()))


def compare(problem, n, trials, seed=1):
    """Formula over simulation of every agent that sees something, and its standard error."""
    agents = np.flatnonzero(problem.sizes > 0).tolist()
    curves = cc.simulate.error_curves(problem, [n], trials, agents, ["collab"], seed=seed)
    found = planning.finite_errors(problem, n)[0]
    ratios, errors = [], []
    for i in agents:
        drawn = curves[i].at("collab", n)
        ratios.append(found[i] / drawn.mean())
        errors.append(drawn.std(ddof=1) / np.sqrt(trials) / drawn.mean())
    return np.array(ratios), np.array(errors)


@given(problems(max_agents=1))
def test_one_agent_is_least_squares_exactly(problem):
    d, n = problem.dimension, np.array([1.5, 2.0, 4.0, 6.0, 30.0, 1e6])
    found = finite.finite_errors(problem, (d + n) / problem.shares[0])[:, 0]
    assert_allclose(found, problem.unexplained[0] * d / (n - 1), rtol=1e-6)


@pytest.mark.parametrize("m", [2, 5])
def test_agents_that_see_all_and_know_their_weights_are_one_agent(m, monkeypatch):
    # With every residual at one value weights are equal, and m agents are one with all samples.
    monkeypatch.setattr(finite, "_points", lambda agents, count: np.full((count, agents), 0.5))
    problem = world(4, m, 4)
    found = finite.finite_errors(problem, [8.0, 20.0])
    expected = problem.noise**2 * 4 / (m * np.array([8.0, 20.0]) - 5)
    assert_allclose(found, np.repeat(expected[:, None], m, axis=1), rtol=1e-6)


def test_weights_that_do_not_compete_cost_nothing():
    # Two agents with nothing in common: each is alone, whatever its weight.
    covariance = np.diag([1.0, 2.0, 1.0, 3.0])
    problem = cc.Problem(covariance, np.ones(4), 1.0, [[0, 1], [2, 3]])
    found = finite.finite_errors(problem, [6.0, 9.0])
    expected = problem.unexplained * 2 / (np.array([6.0, 9.0])[:, None] - 3)
    assert_allclose(found, expected, rtol=1e-3)


@given(problems())
def test_many_samples_leave_the_leading_order(problem):
    found = finite.finite_errors(problem, 1e8)[0]
    leading = planning.Consortium(problem, 1e8).together
    assert_allclose(found, leading, rtol=1e-4, atol=1e-30)


def test_what_nobody_who_takes_part_sees_is_infinite():
    problem = cc.Problem(np.eye(4), np.ones(4), 1.0, [[0, 1, 2, 3], [0, 1], []])
    # At n = 4 the first agent interpolates; the second goes on alone, the third sees nothing.
    first, second, third = finite.finite_errors(problem, [4.0])[0]
    assert np.isinf(first)
    assert second == pytest.approx(problem.unexplained[1] * 2 / (4 - 3))
    assert third == 0
    assert np.isinf(finite.finite_errors(problem, [2.0])[0, :2]).all()
    with pytest.raises(ValueError, match="sizes must be finite"):
        finite.finite_errors(problem, [np.nan])


def test_errors_fall_with_samples_and_stay_above_the_leading_order():
    problem = WORLDS["four unequal"]
    sizes = np.linspace(9, 60, 30)
    found = finite.finite_errors(problem, sizes)
    assert (found > planning.Consortium(problem, 1.0).together / sizes[:, None]).all()
    # Points over the residuals become fewer as freedom grows: by a percent it may go up there.
    assert (np.diff(np.log(found), axis=0) < 0.01).all()


#: Four standard errors of the simulation, over what is promised.
def assert_within(ratios, errors, promised=0.05):
    assert (np.abs(ratios - 1) < promised + 4 * errors).all(), ratios.round(3)


@pytest.mark.parametrize("name", ["four agents", "four unequal", "thirty agents"])
def test_few_samples_agree_with_simulation(name):
    problem = WORLDS[name]
    assert_within(*compare(problem, least_size(problem, 4), 1500))


@pytest.mark.slow
@pytest.mark.parametrize("more", [4, 5, 6, 8, 12, 20, 40])
@pytest.mark.parametrize("name", WORLDS)
def test_a_grid_of_worlds_agrees_with_simulation(name, more):
    problem = WORLDS[name]
    trials = 4000 if problem.dimension > 20 else 20_000
    ratios, errors = compare(problem, least_size(problem, more), trials)
    print(f"{name}, {more} more: {ratios.min():.3f} to {ratios.max():.3f} (se {errors.max():.3f})")
    assert_within(ratios, errors / 2)


# Samples needed ----------------------------------------------------------------------------------


@given(problems())
def test_samples_needed_give_the_wanted_error(problem):
    wanted = 0.01 * problem.label_variance
    frame = planning.samples_needed(problem, wanted)
    for i in np.flatnonzero(problem.sizes > 0):
        alone, together = frame["alone"][i], frame["together"][i]
        assert alone == pytest.approx(cc.whatif.samples_alone(problem, i, wanted))
        # At least what the leading order says, and never more than alone.
        leading = cc.bounds.error(problem, cc.bounds.gauss(problem), i) / wanted
        assert leading * problem.shares[i] <= together * (1 + 1e-4)
        assert together <= alone
        if together < alone:
            # It suffices, and a little less does not.
            size = together / problem.shares[i]
            less, enough = planning.finite_errors(problem, [0.99 * size, size])[:, i]
            assert enough <= 1.02 * wanted
            assert less >= 0.98 * wanted
    # With very many samples the leading order is all there is.
    leading = planning.Consortium(problem, 1e8).together
    least = leading[problem.sizes > 0].min()
    many = planning.samples_needed(problem, least)["together"]
    assert_allclose(many, leading / least * 1e8 * problem.shares, rtol=1e-3)


@given(problems(max_agents=1))
def test_one_agent_needs_together_what_it_needs_alone(problem):
    frame = planning.samples_needed(problem, 0.1 * problem.label_variance)
    assert frame["together"][0] == frame["alone"][0]


@pytest.mark.parametrize("name", ["four agents", "the paper's"])
def test_samples_together_reach_the_wanted_error_in_simulation(name):
    problem = WORLDS[name]
    worth = planning.Consortium(problem, 1.0)
    agent = int((worth.alone / worth.together).argmax())
    size = least_size(problem, 10)
    wanted = float(planning.finite_errors(problem, size)[0, agent])
    assert planning.samples_needed(problem, wanted)["together"][agent] == pytest.approx(
        size, rel=0.01
    )
    curve = cc.simulate.error_curve(problem, [size], 800, ["collab"], target=agent, seed=1)
    row = curve.frame.iloc[0]
    error = (row["high"] - row["mean"]) / 1.96
    assert abs(row["mean"] - wanted) < 4 * error + 0.05 * wanted
    assert worth.together[agent] / size < row["mean"] - 4 * error
