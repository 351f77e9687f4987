"""Closed forms for agents that differ: limits, order, and simulation of the same worlds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.runs.different import DifferentWorld
from collab_core.runs.source import Chunk, Wanted

KINDS = {
    "common": {"differ": "common"},
    "per_feature": {"differ": "per_feature", "own_features": 2},
    "few": {"differ": "few", "few": 2},
}


def world(name, spread=0.3, **changes):
    given = {"d": 6, "m": 8, "rich": 4, "rich_size": 5, "size": 4, "spikes": 1, "seed": 3}
    scenario = cc.Scenario(**given | changes, **KINDS[name], spread=spread)
    return cc.different.RandomEffects(scenario.problem(), scenario.variances)


@pytest.mark.parametrize("allocation", ["equal", "rising"])
def test_with_one_relation_it_is_the_papers_theory_and_the_exact_bound(allocation):
    found = world("common", 0.0, allocation=allocation)
    problem = found.problem
    for lines, C in (
        (("collab", "adaptive"), cc.bounds.gauss(problem)),
        (("bound",), cc.bounds.exact(problem)),
    ):
        own = [
            (problem.geometry.block(i) * cc.bounds.local(problem, C, i)).sum() / 200
            for i in range(problem.agents)
        ]
        for line in lines:
            assert_allclose(found.line(line)(200), own, rtol=1e-9)


def test_an_agent_with_nothing_in_common_works_alone():
    problem = cc.Problem(np.eye(3), [1.0, -1, 0.5], 1.0, np.ones((5, 3), bool))
    found = cc.different.RandomEffects(problem, np.full(3, 1e12))
    # All features are seen, so deviations add nothing to what is unexplained.
    assert_allclose(found.adaptive(40), found.local(40), rtol=1e-6)
    assert_allclose(found.local(40), 3 / 36)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("spread", [0.0, 0.1, 0.5, 2.0])
def test_partial_pooling_is_below_both_and_above_the_bound(name, spread):
    found = world(name, spread)
    for n in (100, 1000, 100_000):
        pooled = found.adaptive(n)
        assert (pooled <= found.local(n) * (1 + 1e-9)).all()
        assert pooled.mean() <= found.collab(n).mean() * (1 + 1e-9)
        assert (found.bound(n) <= pooled * (1 + 1e-9)).all()


def test_where_methods_change_places():
    found = world("common", 0.3)
    until, alone = found.collab_pays_until(), found.alone_from()
    assert found.collab(0.99 * until).mean() < found.local(0.99 * until).mean()
    assert found.collab(1.01 * until).mean() > found.local(1.01 * until).mean()
    assert_allclose(found.adaptive(alone).mean(), 0.95 * found.local(alone).mean(), rtol=1e-4)
    assert world("common", 0.0).collab_pays_until() is None
    assert world("common", 0.0).alone_from() is None
    # Further apart, COLLAB stops paying earlier.
    assert world("common", 0.6).collab_pays_until() < until


def test_wrong_variances_are_refused():
    problem = world("common").problem
    with pytest.raises(ValueError, match="variances must have shape"):
        cc.different.RandomEffects(problem, np.ones(3))
    with pytest.raises(ValueError, match="variances must not be negative"):
        cc.different.RandomEffects(problem, -np.ones(6))
    with pytest.raises(ValueError, match="n must be given"):
        cc.different.curve(problem, np.ones(6), [0.1], 2)


@pytest.mark.parametrize("name", KINDS)
def test_simulated_alone_and_collab_are_at_their_formulas(name):
    found = world(name, 1.0)
    curve = cc.different.curve(
        found.problem, found.variances, [0.0, 0.1, 0.4], 400, n=400, methods=["local", "collab"]
    )
    for place in curve.grid:
        for method in curve.methods:
            errors = curve.at(method, place)
            theory = curve.theory(method)[curve.grid.index(place)]
            # Four standard errors, and 4% for the next order in 1/n.
            gap = abs(errors.mean() - theory)
            assert gap < 4 * errors.std() / np.sqrt(errors.size) + 0.04 * theory, (method, place)


def test_simulated_partial_pooling_that_knows_the_spread_is_at_its_formula():
    found = world("common", 0.3)
    problem, n, trials = found.problem, 300, 400
    source = DifferentWorld(problem, found.variances, "spread", n, tuple(range(problem.agents)))
    rngs = {}

    def streams(*key):
        return rngs.setdefault(key, np.random.default_rng([7, *key]))

    chunk = Chunk(trials, streams, Wanted((), frozenset()), lambda: False)
    ((_, agents),) = list(source.steps([1.0], chunk))
    s, variances = found.unexplained, found.variances
    errors = np.zeros((trials, problem.agents))
    T = [problem.transform(i) for i in range(problem.agents)]
    for t in range(trials):
        inner, right, kept = 0, 0, []
        for i in range(problem.agents):
            xx, xy = agents.data[i].xx[t], agents.data[i].xy[t]
            V = s[i] * np.linalg.inv(xx) + T[i] * variances[i] @ T[i].T
            kept.append((V, np.linalg.solve(xx, xy)))
            inner = inner + T[i].T @ np.linalg.solve(V, T[i])
            right = right + T[i].T @ np.linalg.solve(V, kept[i][1])
        theta = np.linalg.solve(inner, right)
        for i, (V, own) in enumerate(kept):
            P = T[i] * variances[i] @ T[i].T
            model = T[i] @ theta + P @ np.linalg.solve(V, own - T[i] @ theta)
            gap = model - T[i] @ agents.thetas[i][t]
            errors[t, i] = gap @ problem.geometry.block(i) @ gap
    mean, theory = errors.mean(), found.adaptive(n).mean()
    standard_error = errors.mean(axis=1).std() / np.sqrt(trials)
    # Four standard errors, and 3% for the next order in 1/n.
    assert abs(mean - theory) < 4 * standard_error + 0.03 * theory
    assert found.bound(n).mean() < mean + 4 * standard_error


def test_along_n_the_same_people_become_more():
    found = world("common", 0.1)
    curve = cc.different.curve(
        found.problem, found.variances, [20, 200, 5000], 60, axis="n", methods=["local", "collab"],
        seed=5,
    )  # fmt: skip
    assert curve.compare("collab", "local", 20) == 1
    assert curve.compare("collab", "local", 5000) == -1
    again = cc.different.curve(
        found.problem, found.variances, [20, 200, 5000], 60, axis="n", methods=["local", "collab"],
        seed=5,
    )  # fmt: skip
    assert curve.frame.equals(again.frame)
