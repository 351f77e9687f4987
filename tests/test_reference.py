"""Against the values of an independent implementation, to 1e-8 (see tests/reference)."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import collab_core as cc

CASES = json.loads((Path(__file__).parent / "reference" / "cases.json").read_text())["cases"]


@pytest.fixture(params=CASES, ids=lambda case: case["name"])
def case(request):
    return request.param


@pytest.fixture
def problem(case):
    return cc.Problem(case["covariance"], case["theta"], case["noise"], case["views"])


@pytest.fixture
def moments(case):
    return [cc.Moments(s["n"], s["xx"], s["xy"], s["yy"]) for s in case["moments"]]


def close(actual, expected):
    assert_allclose(actual, expected, rtol=1e-8, atol=1e-8)


def test_covariances(case, problem):
    close(problem.unexplained, case["unexplained"])
    close(cc.bounds.gauss(problem), case["C_gauss"])
    close(cc.bounds.strong(problem), case["C_strong"])
    close(cc.bounds.exact(problem), case["C_exact"])
    close(cc.bounds.exact(problem, noise_known=False), case["C_exact_noise_unknown"])
    identity = [np.eye(len(view)) for view in case["views"]]
    close(cc.bounds.weighted(problem, identity), case["C_identity_weights"])
    close(cc.bounds.local(problem, case["C_gauss"], 0), case["local_C_agent0"])
    close(cc.bounds.local_ols(problem, 0), case["local_ols_C_agent0"])


def test_local_fits(case, moments):
    for i, moment in enumerate(moments):
        fit = cc.estimators.local_ols(moment)
        close(fit.theta, case["local_ols"][i])
        close(fit.residual, case["residual"][i])


def test_estimates(case, problem, moments):
    views, covariance = case["views"], case["covariance"]
    collab = cc.estimators.collab
    close(collab(moments, views, covariance).theta, case["collab_empirical"])
    population = collab(moments, views, covariance, weights="population")
    close(population.theta, case["collab_population"])
    impute = cc.estimators.global_imputation
    close(impute(moments, views, covariance).theta, case["imputation"])
    reweighted = impute(moments, views, covariance, 1 / problem.unexplained)
    close(reweighted.theta, case["rw_imputation"])
    naive = cc.estimators.naive_collab(moments, views, problem.dimension)
    close(naive.theta, case["naive_collab"])


@pytest.mark.parametrize("p", [0.05, 0.3])
def test_limits_of_the_corollary(case, p):
    limit = cc.bounds.corollary(case["covariance"], case["theta"], case["noise"], p)
    assert limit.exact_sum
    close(limit.gauss, case[f"limit_p{p}"]["C_gauss"])
    close(limit.strong, case[f"limit_p{p}"]["C_strong"])
