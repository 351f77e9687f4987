"""Closed-form answers, against the formulas they stand for."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

import collab_core as cc

from .worlds import problems, random_problem


@given(problems())
def test_worth_is_at_least_one_and_the_ratio_of_errors(problem):
    frame = cc.whatif.worth(problem, 100)
    C = cc.bounds.gauss(problem)
    for i, row in frame.iterrows():
        if not problem.sizes[i]:
            assert row["worth"] == 1
            continue
        alone = np.trace(problem.geometry.block(i) @ cc.bounds.local_ols(problem, i)) / 100
        together = cc.bounds.error(problem, C, i) / 100
        assert_allclose([row["alone"], row["together"]], [alone, together], rtol=1e-6)
        assert row["worth"] >= 1 - 1e-6
        assert_allclose(row["worth"], alone / together, rtol=1e-6)


def test_everything_seen_is_worth_the_number_of_agents():
    problem = cc.Problem(cc.covariance.ar1(3, 0.5), [1, 2, 3], 1.0, np.ones((7, 3), bool))
    assert_allclose(cc.whatif.worth(problem, 10)["worth"], 7)


@given(problems())
def test_comparison_is_in_order(problem):
    frame = cc.whatif.comparison(problem, 50).set_index("method")["error"]
    order = ["imputation", "collab", "collab_plus", "exact", "strong"]
    for worse, better in pairwise(order):
        assert frame[worse] >= frame[better] * (1 - 1e-7)


def test_findings():
    problem = random_problem(np.random.default_rng(0))
    found, frame = cc.whatif.findings(problem, 100), cc.whatif.worth(problem, 100)
    assert found.gains_most[1] == frame["worth"].max()
    assert found.gains_least[1] == frame["worth"].min()
    seen_by = problem.mask.sum(axis=0)
    assert seen_by[found.scarcest[0] - 1] == found.scarcest[1] == seen_by.min()
    # At the crossing the two errors are equal.
    n = found.naive_crossing
    limit = cc.bounds.naive_collab(problem)
    naive = limit.floor + cc.bounds.error(problem, limit.covariance) / n
    assert_allclose(naive, cc.bounds.error(problem, cc.bounds.gauss(problem)) / n, rtol=1e-9)


def test_lines_and_bytes():
    problem = random_problem(np.random.default_rng(0))
    lines = cc.whatif.error_lines(problem, ("local", "collab"), [3, 50], target=0)
    # Where least squares has no finite mean there is no row.
    few = int(problem.sizes[0]) + 1
    assert ((lines["method"] == "local") & (lines["n"] <= few)).sum() == 0
    assert (lines["error"] > 0).all()
    sent = cc.whatif.bytes_sent(problem, ["collab", "imputation"], [10, 20])
    collab = sent[sent["method"] == "collab"]["bytes"]
    assert collab.nunique() == 1
    assert collab.iloc[0] == 8 * sum(k + k * (k + 1) // 2 + 1 for k in problem.sizes if k)


def test_local_limits_and_shares():
    problem = random_problem(np.random.default_rng(0))
    frame = cc.whatif.local_limits(problem)
    row = frame[frame["agent"] == 2].sort_values("feature")
    order = np.argsort(problem.views[1])
    assert_allclose(row["alone"], problem.local_theta(1)[order])
    assert_allclose(cc.whatif.weight_shares(problem)["share"].sum(), 1)


# Table 1 -----------------------------------------------------------------------------------------


@given(problems())
def test_table_1_says_what_the_paper_says(problem):
    """Its claims, read off the very numbers that the page shows."""
    agent = int(problem.sizes.argmax())
    n = 1000
    table = cc.whatif.method_table(problem, n, agent).set_index("method")
    # Local imputation, global imputation (optimally weighted) and COLLAB have one covariance.
    for name in ("full_trace", "own_trace"):
        values = table.loc[["local_imputation", "rw_imputation", "collab"], name].astype(float)
        assert_allclose(values, values["collab"], rtol=1e-9)
    by_hand = np.trace(problem.covariance @ cc.bounds.gauss(problem))
    assert_allclose(float(table.loc["collab", "full_trace"]), by_hand, rtol=1e-8)
    # (W_i^g)^-1 >= T_i C_gauss T_i': nobody does worse together.
    assert table.loc["local", "own_trace"] >= table.loc["collab", "own_trace"] * (1 - 1e-9)
    assert_allclose(
        float(table.loc["local", "own_trace"]),
        problem.unexplained[agent] * problem.sizes[agent] / problem.shares[agent],
        rtol=1e-7,
    )
    # Other alphas are never better, COLLAB+ never worse.
    assert table.loc["imputation", "full_trace"] >= by_hand * (1 - 1e-9)
    assert table.loc["collab_plus", "full_trace"] <= by_hand * (1 + 1e-9)
    # Communication: 0, Theta(d^2), Theta(n d_i), Theta(d_i^2).
    k, d = int(problem.sizes[agent]), problem.dimension
    samples = int(problem.sample_sizes(n)[agent])
    sent = table["up"] + table["down"]
    assert sent["local"] == 0
    assert sent["collab"] == k + k * (k + 1) // 2 + 1 + k
    assert sent["local_imputation"] == sent["collab"] + d * (d + 1) // 2
    assert sent["rw_imputation"] == samples * (k + 1) + k
    assert table.loc["local", ["full_trace", "full_error"]].isna().all()


@given(problems())
def test_n_moves_what_imputation_sends_and_nothing_else(problem):
    few, many = (cc.whatif.method_table(problem, n, 0).set_index("method") for n in (50, 5000))
    moved = set(few.index[few["bytes"] != many["bytes"]])
    assert moved == {"imputation", "rw_imputation"}
    consistent = few.index[(few["full_floor"] == 0).fillna(False)]
    assert (few["full_trace"].dropna() == many["full_trace"].dropna()).all()
    assert "collab" in consistent
    assert "local" not in consistent


def test_the_naive_floor_of_an_agent_is_its_error_at_endless_data():
    problem = random_problem(np.random.default_rng(4))
    table = cc.whatif.method_table(problem, 10**9, 1).set_index("method")
    assert_allclose(
        float(table.loc["naive_collab", "own_error"]),
        float(table.loc["naive_collab", "own_floor"]),
        rtol=1e-5,
    )


@given(problems())
def test_leaving_is_recomputation_without_the_agent(problem):
    n, leaving = 100, problem.agents - 1
    frame = cc.whatif.without(problem, leaving, n)
    assert (frame["rise"] >= 0).all()
    alone = cc.whatif.worth(problem, n)["alone"][leaving]
    assert_allclose(frame["after"][leaving], alone, rtol=1e-9)
    keep = list(range(problem.agents - 1))
    seen = np.flatnonzero(problem.mask[keep].any(axis=0)) if keep else []
    if len(seen) < problem.dimension:
        return
    rest = cc.Problem(
        problem.covariance,
        problem.theta,
        problem.noise,
        [problem.views[i] for i in keep],
        problem.shares[keep],
    )
    again = cc.whatif.worth(rest, n)["together"]
    assert_allclose(frame["after"][keep], again, rtol=1e-6)


def test_leaving_with_the_only_view_of_a_feature_keeps_the_others_models():
    covariance = cc.covariance.ar1(3, 0.6)
    problem = cc.Problem(covariance, [1.0, -1.0, 2.0], 0.5, [[0, 1], [1], [2]])
    frame = cc.whatif.without(problem, 2, 50)
    # Agent 3 saw what nobody else sees: the others' models, their s_i included, are as they were.
    assert (frame["after"][:2] >= frame["before"][:2] * (1 - 1e-12)).all()
    K = problem.information.copy()
    K[2, 2] -= problem.geometry.inverses[2][0, 0] / problem.unexplained[2]
    assert abs(K[2]).max() < 1e-12
    left = np.linalg.inv(K[:2, :2])
    for i in (0, 1):
        view = problem.views[i]
        expected = np.trace(problem.geometry.inverses[i] @ left[np.ix_(view, view)]) / 50
        assert_allclose(frame["after"][i], expected, rtol=1e-9)


def test_samples_alone_inverts_the_exact_error():
    problem = random_problem(np.random.default_rng(5))
    for n in (20, 500):
        error = cc.theory.expected_error(problem, "local", n, 2)
        assert_allclose(cc.whatif.samples_alone(problem, 2, error), n)


def test_a_covariance_has_its_features_names():
    problem = random_problem(np.random.default_rng(3))
    C = cc.bounds.gauss(problem)
    full = cc.whatif.covariance_table(problem, "collab")
    assert full.columns.tolist() == [f"x{j + 1}" for j in range(problem.dimension)]
    assert_allclose(full, C)
    own = cc.whatif.covariance_table(problem, "collab", 1)
    assert own.index.tolist() == [f"x{j + 1}" for j in problem.views[1]]
    assert_allclose(own, cc.bounds.local(problem, C, 1))
    with pytest.raises(ValueError, match="no covariance of 'local' is known for 'full'"):
        cc.whatif.covariance_table(problem, "local")


@given(problems())
def test_features_that_only_one_agent_sees(problem):
    for agent in range(problem.agents):
        only = cc.whatif.seen_only_by(problem, agent)
        assert set(only) == {j for j in problem.views[agent] if problem.mask[:, j].sum() == 1}
