"""Agents that differ: adaptive COLLAB and the Stein guard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import collab_core as cc
from collab_core.core.agents import Agents
from collab_core.methods.guarded import others, stein
from collab_core.methods.partial_pooling import SpreadFit, posterior, scoring_step
from collab_core.methods.pooling_input import pooled_input

from .states import excess_errors, method

#: METHOD, section 13: adaptive's mean excess error on wages, 49 states.
METHODS_OWN = {100: 0.019, 400: 0.0103, 1000: 0.0068, 4000: 0.0032, None: 0.0021}


def world(m: int, sizes: list[int], d: int, seed: int):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, 2 * d))
    covariance = root @ root.T / (2 * d)
    views = [np.sort(rng.choice(d, sizes[i % len(sizes)], replace=False)) for i in range(m)]
    views[0] = np.arange(d)
    return rng, covariance, views, rng.standard_normal(d)


def sampled(rng, covariance, view, theta, n, noise=1.0):
    X = rng.multivariate_normal(np.zeros(len(covariance)), covariance, size=n)
    return cc.Moments.from_arrays(X[:, view], X @ theta + noise * rng.standard_normal(n))


def marginal_by_brute_force(given, spread: SpreadFit) -> float:
    """Restricted likelihood from the joint covariance of all agents' estimates, in full."""
    Y, z, weak = given.pool.scaled()
    m, p, d = Y.shape[1:]
    rows, whole = Y[0].reshape(m * p, d), np.eye(m * p)
    for i in range(m):
        here = slice(i * p, (i + 1) * p)
        whole[here, here] += Y[0, i] * spread.units[0, i] @ Y[0, i].T
    # Theta with a prior of variance 1/weak: N(0, whole + rows rows' / weak).
    total = whole + rows @ rows.T / weak[0]
    flat = z[0].ravel()
    return float(
        -0.5 * (np.linalg.slogdet(total)[1] + flat @ np.linalg.solve(total, flat))
        - 0.5 * d * np.log(weak[0])
    )


def test_marginal_likelihood_and_slope_are_brute_force_ones():
    rng, covariance, views, theta = world(4, [3, 2], 3, 0)
    moments = [sampled(rng, covariance, view, theta, 25) for view in views]
    given = pooled_input(moments, cc.core.geometry.Geometry(covariance, views))
    # Brute force divides by the weak prior: a less weak one keeps its digits.
    spread = SpreadFit(
        np.log(rng.uniform(0.05, 0.5, (1, 3))), np.log([0.1]), 0.3 * rng.standard_normal((1, 4))
    )

    def value(one: SpreadFit) -> float:
        return float(posterior(*given.pool.scaled(), one).log_likelihood[0])

    other = replace(spread, log_d=spread.log_d + 0.7)
    gap = marginal_by_brute_force(given, other) - marginal_by_brute_force(given, spread)
    assert value(other) - value(spread) == pytest.approx(gap, rel=1e-4)
    Y, z, weak = given.pool.scaled()
    step, gain = scoring_step(Y, posterior(Y, z, weak, spread), spread, np.zeros(1))
    h = 1e-5

    def objective(t: float) -> float:
        ahead = spread.moved(step.times(np.array([t])))
        return value(ahead) + float(ahead.log_prior[0])

    assert (objective(h) - objective(-h)) / (2 * h) == pytest.approx(float(gain[0]), rel=1e-4)


def test_small_agents_and_constant_columns_take_part():
    rng, covariance, views, theta = world(6, [4, 3], 5, 1)
    moments = [sampled(rng, covariance, view, theta, 3 if i == 1 else 40) for i, view in
               enumerate(views)]  # fmt: skip
    xx, xy = moments[2].xx.copy(), moments[2].xy.copy()
    xx[1], xx[:, 1], xy[1] = 0, 0, 0
    moments[2] = cc.Moments(40, xx, xy, moments[2].yy)
    found = cc.estimators.adaptive(moments, views, covariance)
    guard = cc.estimators.guarded(moments, views, covariance)
    assert found.left_out == ()
    assert guard.shrunk[1] == 1
    for i, view in enumerate(views):
        assert found.local(i).shape == view.shape
        assert found.full(i).shape == (5,)
        assert np.isfinite(found.full(i)).all()
        assert np.isfinite(guard.local(i)).all()
        low, high = found.interval(0.9, agent=i)
        assert (low < high).all()


def test_one_agent_alone_has_the_textbook_interval():
    rng, covariance, _, theta = world(1, [3], 3, 2)
    view = np.arange(3)
    one = sampled(rng, covariance, view, theta, 12)
    low, high = cc.estimators.adaptive([one], [view], covariance).interval(0.95, agent=0)
    from scipy.stats import t

    reach = t.ppf(0.975, 9) * np.sqrt(np.diag(one.fit.covariance))
    np.testing.assert_allclose(high - low, 2 * reach, rtol=1e-5)
    np.testing.assert_allclose((high + low) / 2, one.fit.theta, rtol=1e-5)


def test_far_agents_lose_their_say_and_the_others_gain():
    trials, n = 4, 100
    alone, collab, adaptive, trust = far_off(trials, n)
    assert adaptive * 3 < alone
    assert adaptive * 3 < collab
    assert trust[:, :2].max() < 0.5 * trust[:, 2:].min(axis=1).max()


def far_off(trials: int, n: int):
    """2 of 30 agents far off: mean own error of alone, COLLAB, adaptive; trust."""
    problem = cc.Scenario(seed=1).problem()
    rng = np.random.default_rng(3)
    shift = 3 * rng.standard_normal((2, problem.dimension))
    agents = _draw(problem, n, trials)
    data = list(agents.moments)
    for i in range(2):
        # Labels of another relation on the same features: y + x' (T_i shift).
        own = problem.transform(i) @ shift[i]
        one = data[i]
        data[i] = cc.Moments(
            one.n, one.xx, one.xy + one.xx @ own,
            one.yy + 2 * one.xy @ own + ((one.xx @ own) * own).sum(-1),
        )  # fmt: skip
    shifted = Agents(data, problem.views, problem.geometry, problem.dimension)
    errors = []
    for key in ("local", "collab", "adaptive"):
        found = method(key).of(shifted)
        total = 0.0
        for i in range(problem.agents):
            truth = problem.local_theta(i) + (problem.transform(i) @ shift[i] if i < 2 else 0)
            gap = found.local(i) - truth
            total += ((gap @ problem.geometry.block(i)) * gap).sum(-1).mean()
        errors.append(total / problem.agents)
    return (*errors, method("adaptive").of(shifted).trust)


def _draw(problem, n, trials, seed=0):
    from collab_core.runs.world import World

    return World(problem).draw(n, trials, np.random.default_rng(seed))


def against_collab(n: int, trials: int) -> tuple[float, float]:
    """Adaptive's mean own error over COLLAB's where agents agree, and its standard error."""
    problem = cc.Scenario(seed=1).problem()
    agents = _draw(problem, n, trials)
    errors = {}
    for key in ("collab", "adaptive"):
        found = method(key).of(agents)
        gaps = [found.local(i) - problem.local_theta(i) for i in range(problem.agents)]
        errors[key] = sum(
            ((gap @ problem.geometry.block(i)) * gap).sum(-1) for i, gap in enumerate(gaps)
        )
    ratio = errors["adaptive"].mean() / errors["collab"].mean()
    rest = errors["adaptive"] - ratio * errors["collab"]
    return float(ratio), float(rest.std() / np.sqrt(trials) / errors["collab"].mean())


@pytest.mark.parametrize("n", [40, 1000])
def test_where_agents_agree_it_is_nearly_collab(n):
    ratio, error = against_collab(n, 12)
    assert ratio < 1.10 + 3 * error


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 100, 1000])
def test_where_agents_agree_it_is_within_five_per_cent_of_collab(n):
    ratio, error = against_collab(n, 300)
    print(f"n = {n}: {ratio:.3f} +- {error:.3f} of COLLAB's error")
    assert ratio < 1.05 + 3 * error


@pytest.mark.slow
def test_two_far_agents_of_thirty():
    alone, collab, adaptive, _ = far_off(200, 100)
    print(f"alone {alone:.3f}, COLLAB {collab:.3f}, adaptive {adaptive:.3f}")
    assert adaptive * 3 < min(alone, collab)


def judge_states(name, target, count, n, draws, methods=("local", "collab", "adaptive")):
    errors = excess_errors(name, target, count, n, methods, draws=draws)
    mean = {key: float(value.mean()) for key, value in errors.items()}
    print(name, count, n, {key: round(value, 5) for key, value in mean.items()})
    better = min(mean["local"], mean["collab"])
    if n == 80:
        assert mean["adaptive"] < 1.25 * better
    elif count == 49:
        assert mean["adaptive"] < better
    return errors, mean


@pytest.mark.parametrize(("name", "target"), [("wages", "log_WAGP"), ("commute", "log_JWMNP")])
def test_eight_states(name, target):
    for n in (80, 2000):
        errors, _ = judge_states(name, target, 8, n, 2, ("local", "collab", "adaptive", "guarded"))
        assert errors["guarded"].mean() < errors["local"].mean()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), [("wages", "log_WAGP"), ("commute", "log_JWMNP")])
@pytest.mark.parametrize("count", [8, 49])
@pytest.mark.parametrize("n", [80, 400, 2000, None])
def test_states(name, target, count, n):
    draws = 20 if count == 8 else 4
    errors, _ = judge_states(name, target, count, n, draws)
    keys = ("local", "adaptive", "guarded")
    draws = 20 if count == 8 else 3
    errors = excess_errors(name, target, count, n, keys, draws=draws, seed=1)
    gap = errors["guarded"] - errors["local"]
    # 98 comparisons at most: beyond 4 standard errors none is by chance.
    slack = 4 * gap.std(axis=0, ddof=1) / np.sqrt(draws)
    assert (gap.mean(axis=0) < slack).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", list(METHODS_OWN))
def test_states_are_no_worse_than_methods_own_figures(n):
    errors = excess_errors("wages", "log_WAGP", 49, n, ("local", "adaptive"), draws=6)
    print(n, {key: float(value.mean()) for key, value in errors.items()})
    assert errors["adaptive"].mean() < 1.1 * METHODS_OWN[n]


def test_what_shrinks_an_agent_knows_nothing_of_its_labels():
    rng, covariance, views, theta = world(5, [4, 3], 5, 4)
    moments = [sampled(rng, covariance, view, theta, 30) for view in views]
    one = moments[2]
    moved = cc.Moments(
        one.n, one.xx, one.xy + 50 * one.xx[0], one.yy + 100 * one.xy[0] + 2500 * one.xx[0, 0]
    )
    found = []
    for data in (moments, [*moments[:2], moved, *moments[3:]]):
        joint = cc.estimators.adaptive(data, views, covariance)
        label = joint.given.units.label[0]
        prediction, uncertainty, typical = others(joint, 2)
        found.append((prediction * label, uncertainty * label**2, typical * label**2))
    for before, after in zip(*found, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-8)


def risk_ratio(p: int, v: int, shift: float, draws: int, seed: int) -> tuple[float, float]:
    """In-sample risk of the guard over least squares', the prediction being off by `shift`."""
    rng = np.random.default_rng(seed)
    root = np.broadcast_to(np.linalg.cholesky(np.diag(np.linspace(1, 4, p)) + 0.3), (draws, p, p))
    spread = np.broadcast_to(np.diag(rng.uniform(0.05, 1.0, p)), (draws, p, p))
    mean = shift * np.ones(p) / np.sqrt(p)
    gap = mean + rng.standard_normal((draws, p))
    rss = rng.chisquare(v, draws)
    moved, _ = stein(gap, root, spread, np.ones(draws), rss, np.full(draws, float(v)))
    ours, theirs = ((moved - mean) ** 2).sum(-1), ((gap - mean) ** 2).sum(-1)
    ratio = ours.mean() / theirs.mean()
    return float(ratio), float((ours - ratio * theirs).std() / np.sqrt(draws) / theirs.mean())


@pytest.mark.parametrize("p", [3, 8])
@pytest.mark.parametrize("v", [2, 19])
def test_guard_dominates(p, v):
    for seed, shift in enumerate((0.0, 1.0, 3.0, 10.0)):
        ratio, error = risk_ratio(p, v, shift, 20_000, seed)
        assert ratio <= 1 + 3 * error


@pytest.mark.slow
def test_guard_dominates_on_the_grid():
    worst = 0.0
    for p in (3, 4, 5, 8):
        for v in (1, 2, 5, 19):
            for seed, shift in enumerate((0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)):
                ratio, error = risk_ratio(p, v, shift, 200_000, seed)
                worst = max(worst, ratio)
                assert ratio <= 1 + 3 * error
    print(f"largest ratio {worst:.4f}")


@pytest.mark.parametrize("key", ["adaptive", "guarded"])
def test_common_checks(key):
    print(cc.methods.check_method(method(key)))
