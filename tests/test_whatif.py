"""Closed-form answers, against the formulas they stand for."""

from itertools import pairwise

import numpy as np
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
