"""COLLAB's weights that no agent with few residuals can hijack: moderated, and plug-in."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

import collab_core as cc
from collab_core import tabular
from collab_core.core.estimate import NotEstimableError
from collab_core.core.moderated import moderated, moderated_variances, trigamma_inverse
from collab_core.core.moments import LocalSummary
from collab_core.methods import estimators as est
from collab_core.methods.steady import unseen_signal

from .tabular.tables import csv
from .worlds import random_problem, raw_data, raw_moments

SEEDS = st.integers(0, 2**32 - 1)
STEADY = ("moderated", "plug_in")


# Moderated variances -----------------------------------------------------------------------------


@given(st.floats(1e-8, 1e8))
def test_the_inverse_of_trigamma(value):
    assert_allclose(polygamma(1, trigamma_inverse(np.array(value))), value, rtol=1e-10)


def by_hand(rss, freedom):
    """Smyth's moments (2004, section 6.2), one data set, by a root finder."""
    z = np.log(rss / freedom)
    e = z - digamma(freedom / 2) + np.log(freedom / 2)
    excess = e.var(ddof=1) - polygamma(1, freedom / 2).mean()
    if excess <= 0:
        return rss.sum() / freedom.sum(), np.inf
    v_0 = brentq(lambda v: polygamma(1, v / 2) - excess, 1e-6, 1e9, xtol=1e-14, rtol=1e-14)
    return np.exp(e.mean() + digamma(v_0 / 2) - np.log(v_0 / 2)), v_0


@given(SEEDS)
def test_the_prior_is_smyths_moments(seed):
    rng = np.random.default_rng(seed)
    freedom = rng.integers(1, 9, size=12).astype(float)
    rss = rng.uniform(0.2, 5, 12) * rng.chisquare(freedom)
    found = moderated_variances(rss, freedom)
    s_0, v_0 = by_hand(rss, freedom)
    assert_allclose(found.prior_variance, s_0, rtol=1e-7)
    assert_allclose(found.prior_freedom, v_0, rtol=1e-7)
    own = rss / freedom
    if np.isfinite(v_0):
        assert_allclose(found.variances, (v_0 * s_0 + rss) / (v_0 + freedom), rtol=1e-7)
        # Every variance lies between the agent's own and what is typical.
        low, high = np.minimum(own, s_0), np.maximum(own, s_0)
        assert (found.variances >= low * (1 - 1e-9)).all()
        assert (found.variances <= high * (1 + 1e-9)).all()
    else:
        assert_allclose(found.variances, s_0)
    assert_allclose(found.freedom, v_0 + freedom, rtol=1e-7)


def test_the_law_of_the_variances_is_found_again():
    rng = np.random.default_rng(0)
    freedom = rng.integers(4, 12, size=(40, 500)).astype(float)
    s = 3.0 * 8 / rng.chisquare(8, freedom.shape)
    rss = s * rng.chisquare(freedom)
    found = moderated_variances(rss, freedom)
    for name, truth in (("prior_variance", 3.0), ("prior_freedom", 8.0)):
        values = getattr(found, name)
        # Four standard errors of the median of 40, plus the bias of moments, of order 1/500.
        slack = 4 * 1.25 * values.std() / np.sqrt(len(values)) + 0.03 * truth
        assert abs(np.median(values) - truth) < slack
    better, own = (np.log(v / s) ** 2 for v in (found.variances, rss / freedom))
    assert better.mean() < 0.6 * own.mean()


@given(SEEDS, st.floats(1e-6, 1e6))
def test_units_and_order_of_agents_do_not_matter_and_stacks_are_loops(seed, unit):
    rng = np.random.default_rng(seed)
    freedom = rng.integers(0, 6, size=(4, 7)).astype(float)
    freedom[:, 0] = 3
    rss = np.where(freedom > 0, rng.uniform(0.5, 2, (4, 7)) * rng.chisquare(3, (4, 7)), 0.0)
    found = moderated_variances(rss, freedom)
    assert_allclose(moderated_variances(unit * rss, freedom).variances, unit * found.variances)
    order = rng.permutation(7)
    turned = moderated_variances(rss[:, order], freedom[:, order])
    assert_allclose(turned.variances, found.variances[:, order])
    for t in range(4):
        one = moderated_variances(rss[t], freedom[t])
        assert_allclose(one.variances, found.variances[t])


def test_who_has_no_residual_gets_what_is_typical_and_one_agent_keeps_its_own():
    found = moderated_variances(np.array([4.0, 0.0, 0.0]), np.array([2.0, 0.0, -3.0]))
    assert found.prior_freedom == 0
    assert_allclose(found.variances, 2.0)
    equal = moderated_variances(np.array([10.0, 10.0, 0.0]), np.array([10.0, 10.0, 0.0]))
    assert equal.prior_freedom == np.inf
    assert_allclose(equal.variances, 1.0)
    # A perfect fit counts as very small, not as the whole law.
    perfect = moderated_variances(np.array([10.0, 12.0, 9.0, 0.0]), np.full(4, 10.0))
    assert (perfect.variances > 0).all()
    assert np.isfinite(perfect.prior_variance)


def test_nobody_with_a_residual_is_said():
    with pytest.raises(NotEstimableError, match="more samples than features"):
        moderated_variances(np.zeros(3), np.array([0.0, -1.0, 4.0]))
    found = moderated_variances(np.zeros((2, 3)), np.zeros((2, 3)), np.array([2.0, 3.0]))
    assert_allclose(found.variances, np.repeat([[2.0], [3.0]], 3, axis=1))


# COLLAB with them --------------------------------------------------------------------------------


@given(SEEDS)
def test_moderated_weights_by_brute_force_on_raw_rows(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, shares=True)
    # The first agents have no more samples than features.
    data = [(x[:3], y[:3]) if i < 2 else (x, y) for i, (x, y) in
            enumerate(raw_data(problem, 30, rng))]  # fmt: skip
    moments = [cc.Moments.from_arrays(x, y) for x, y in data]
    rows, labels, rss, freedom = [], [], [], []
    for i, (x, y) in enumerate(data):
        model, _, rank, _ = np.linalg.lstsq(x, y, rcond=None)
        left = len(y) - rank
        rss.append(((y - x @ model) ** 2).sum() if left else 0.0)
        freedom.append(float(left))
        rows.append(x @ problem.transform(i))
        labels.append(y)
    s = moderated_variances(np.array(rss), np.array(freedom)).variances
    scale = np.concatenate(
        [np.full(len(y), 1 / np.sqrt(v)) for y, v in zip(labels, s, strict=True)]
    )
    expected = np.linalg.lstsq(
        np.concatenate(rows) * scale[:, None], np.concatenate(labels) * scale, rcond=None
    )[0]
    found = est.collab(moments, problem.views, problem.covariance, "moderated")
    assert found.left_out == ()
    assert_allclose(found.theta, expected, rtol=1e-6, atol=1e-8)
    assert_allclose(found.local(1), problem.transform(1) @ expected, rtol=1e-6, atol=1e-8)


@given(SEEDS)
def test_plug_in_weights_are_those_of_the_model_at_an_estimate(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    phi = problem.covariance @ rng.standard_normal(problem.dimension)
    theta = np.linalg.solve(problem.covariance, phi)
    found = unseen_signal(problem.geometry, phi, range(problem.agents))
    for i in range(problem.agents):
        unseen = theta[~problem.mask[i]]
        assert_allclose(found[i], unseen @ problem.schur(i) @ unseen, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weights", STEADY)
def test_stacks_are_loops_and_much_data_gives_the_papers_estimate(weights):
    rng = np.random.default_rng(3)
    problem = random_problem(rng)
    moments = raw_moments(problem, 9, rng, (5,))
    stacked = est.collab(moments, problem.views, problem.covariance, weights)
    for t in range(5):
        one = [cc.Moments(m.n, m.xx[t], m.xy[t], m.yy[t]) for m in moments]
        alone = est.collab(one, problem.views, problem.covariance, weights)
        assert_allclose(alone.theta, stacked.theta[t], rtol=1e-8)
        assert_allclose(alone.covariance, stacked.covariance[t], rtol=1e-7)
    many = raw_moments(problem, 20_000, rng)
    paper = est.collab(many, problem.views, problem.covariance)
    other = est.collab(many, problem.views, problem.covariance, weights)
    # The weights differ by 1/sqrt(n), the estimates by that of their own error.
    error = np.sqrt(np.diagonal(paper.covariance))
    assert (np.abs(other.theta - paper.theta) < 0.1 * error).all()
    assert_allclose(np.diagonal(other.covariance), error**2, rtol=0.05)


@pytest.mark.parametrize("weights", STEADY)
def test_nobody_needs_a_residual_as_long_as_all_together_leave_one(weights):
    rng = np.random.default_rng(0)
    problem = cc.Scenario(seed=1).problem()
    few = raw_moments(problem, 8, rng, (20,))
    found = est.collab(few, problem.views, problem.covariance, weights)
    equal = est.global_imputation(few, problem.views, problem.covariance)
    assert found.left_out == ()
    if weights == "moderated":
        assert_allclose(found.theta, equal.theta, rtol=1e-8)
    assert np.isfinite(found.covariance).all()
    views = [[0, 1, 2, 3], [2, 3, 4, 5]]
    none = raw_moments(cc.Problem(np.eye(6), np.ones(6), 1.0, views), 2, rng)
    with pytest.raises(NotEstimableError, match="too few samples for 6 features"):
        est.collab(none, views, np.eye(6), weights)


def test_what_cannot_be_asked_is_said():
    rng = np.random.default_rng(0)
    problem = random_problem(rng)
    moments = raw_moments(problem, 30, rng)
    with pytest.raises(ValueError, match="weights must be one of empirical, population, moderated"):
        est.collab(moments, problem.views, problem.covariance, "moderate")
    with pytest.raises(ValueError, match="residuals go with weights 'empirical'"):
        est.collab(
            moments, problem.views, problem.covariance, "plug_in",
            residuals=np.ones(problem.agents),
        )  # fmt: skip
    with pytest.raises(ValueError, match="weights must be one of"):
        cc.simulate.Settings(weights="modest")
    summaries = [LocalSummary(m.n, m.fit.theta, m.fit.rss) for m in moments]
    with pytest.raises(ValueError, match="need every agent's xx"):
        est.collab(summaries, problem.views, problem.covariance, "moderated")
    assert moderated([m.fit for m in moments]).variances.shape == (problem.agents,)


# The figures of the paper's world ----------------------------------------------------------------

#: Mean full-feature errors in the paper's world by n: the paper's weights, plug-in, oracle.
QUOTED = {22: (3.62, 0.76, None), 25: (1.20, 0.68, 0.67)}


def check_the_quoted_errors(trials: int) -> None:
    problem = cc.Scenario(seed=1).problem()
    curves = {
        weights: cc.simulate.error_curve(
            problem, [22, 25, 200], trials, ["collab", "rw_imputation"], weights=weights
        )
        for weights in ("empirical", *STEADY)
    }

    def near(errors: np.ndarray, quoted: float) -> bool:
        # Four standard errors of both runs: the quoted one had 1,000 trials or fewer.
        spread = errors.std() * np.sqrt(1 / errors.size + 1 / 1000)
        return bool(abs(errors.mean() - quoted) < 4 * spread + 0.005)

    for n, (paper, plug_in, oracle) in QUOTED.items():
        assert near(curves["empirical"].at("collab", n), paper)
        assert near(curves["plug_in"].at("collab", n), plug_in)
        if oracle is not None:
            assert near(curves["empirical"].at("rw_imputation", n), oracle)
        best = curves["empirical"].mean("rw_imputation", n)
        assert curves["plug_in"].mean("collab", n) < 1.03 * best
        assert curves["moderated"].mean("collab", n) < 1.2 * best
    alike = [curves[weights].mean("collab", 200) for weights in curves]
    assert max(alike) < 1.02 * min(alike)


def test_the_quoted_errors_of_the_papers_world():
    check_the_quoted_errors(200)


@pytest.mark.slow
def test_the_quoted_errors_of_the_papers_world_at_length():
    check_the_quoted_errors(4000)


# Tables ------------------------------------------------------------------------------------------


def table_of(agents: int, d: int, rows: int, hidden: int, seed: int, strength: float = 0.5):
    """Sites that each lack some columns; ``strength`` is the share of y that all columns tell."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal(d)
    noise = np.sqrt(theta @ theta * (1 - strength) / strength)
    parts = []
    for site in range(agents):
        x = rng.standard_normal((rows, d))
        part = pd.DataFrame(x, columns=[f"x{j}" for j in range(d)])
        part["y"] = x @ theta + noise * rng.standard_normal(rows)
        part.iloc[:, rng.permutation(d)[:hidden]] = np.nan
        parts.append(part.assign(site=f"s{site}"))
    return pd.concat(parts, ignore_index=True)


def relative_errors(frame: pd.DataFrame, **given) -> np.ndarray:
    table = tabular.Table.open([csv(frame)])
    study = tabular.TableStudy.of(
        table, tabular.usual_choice(table, target="y", agent="site", **given)
    )
    found = study.results.query("method == 'collab'")["relative"]
    return found.to_numpy(dtype=float, na_value=np.nan)


@pytest.mark.parametrize(("agents", "d", "hidden"), [(12, 6, 0), (30, 8, 3)])
def test_one_residual_degree_of_freedom_each_does_not_end_worse_than_the_mean(agents, d, hidden):
    for seed in range(3):
        # One left over on all rows; one left over on the four fifths that are trained on.
        for rows in (d - hidden + 2, int(np.ceil((d - hidden + 2) / 0.8))):
            errors = relative_errors(table_of(agents, d, rows, hidden, seed))
            assert np.isfinite(errors).all()
            assert errors.mean() < 1


def test_with_the_papers_weights_such_a_table_ended_worse():
    frames = [table_of(12, 6, 11, 0, seed) for seed in range(3)]
    paper = [np.nanmean(relative_errors(frame, weights="empirical")) for frame in frames]
    ours = [relative_errors(frame).mean() for frame in frames]
    assert np.mean(paper) > 1 > np.mean(ours)
