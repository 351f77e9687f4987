"""Covariances, views, coefficients and scenarios."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.world import coefficients, views
from collab_core.world import spectra as covariance
from collab_core.world.catalogue import PATTERNS, RULES, SPECTRA


def rng():
    return np.random.default_rng(0)


def eigenvalues(matrix):
    return np.linalg.eigvalsh(matrix)


def test_spectra_have_the_eigenvalues_they_promise():
    assert_allclose(eigenvalues(covariance.isotropic(3, 2.0)), [2, 2, 2])
    assert_allclose(covariance.condition_number(covariance.geometric(5, 100, rng())), 100)
    assert_allclose(eigenvalues(covariance.power_law(3, 2, rng())), [1 / 9, 1 / 4, 1])
    assert_allclose(eigenvalues(covariance.from_eigenvalues([3, 1, 2], rng())), [1, 2, 3])
    assert_allclose(covariance.from_eigenvalues([3, 1, 2]), np.diag([3, 1, 2]))
    assert_allclose(eigenvalues(covariance.equicorrelated(4, 0.5)), [0.5, 0.5, 0.5, 2.5])
    assert covariance.ar1(4, 0.5)[0, 3] == 0.125


def test_spiked_is_the_papers():
    values = eigenvalues(covariance.spiked(2000, rng(), spikes=3, factor=1000))
    assert (values > 1).sum() == 3
    assert 0.4 < values[:-3].mean() < 0.6


def test_factor_and_block_have_unit_variances():
    for matrix in (covariance.factor_model(6, 2, 0.8, rng()), covariance.block(6, 2, 0.9, 0.1)):
        assert_allclose(np.diagonal(matrix), 1)
    assert covariance.block(6, 2, 0.9, 0.1)[0, 1] == 0.9
    assert covariance.block(6, 2, 0.9, 0.1)[0, 5] == 0.1


def test_random_rotation_is_orthogonal_and_uniform_in_sign():
    q = covariance.random_rotation(4, rng())
    assert_allclose(q @ q.T, np.eye(4), atol=1e-12)
    draws = np.random.default_rng(1)
    corners = [covariance.random_rotation(3, draws)[0, 0] for _ in range(400)]
    # Mean 0, standard deviation 1/sqrt(3): four standard errors.
    assert abs(np.mean(corners)) < 4 / np.sqrt(3 * 400)


def test_views():
    assert [v.size for v in views.random_subsets(30, [20] * 10 + [15] * 20, rng())] == [20] * 10 + [
        15
    ] * 20
    nested = views.tiers(6, [1, 2], [6, 2])
    assert [v.tolist() for v in nested] == [[0, 1, 2, 3, 4, 5], [0, 1], [0, 1]]
    around = views.blocks(3, 6, 3)
    assert [v.tolist() for v in around] == [[0, 1, 2], [2, 3, 4], [0, 4, 5]]
    assert [v.size for v in views.hub(4, 5, 2, rng())] == [5, 2, 2, 2]
    seen = views.as_mask(views.independent(4000, 5, 0.3, rng()), 5).mean()
    assert abs(seen - 0.7) < 4 * np.sqrt(0.21 / 20000)
    assert views.unseen_features([[0], [2]], 4).tolist() == [1, 3]


def test_coefficients():
    assert_allclose(np.linalg.norm(coefficients.unit(9, rng(), 3.0)), 3)
    assert np.count_nonzero(coefficients.sparse(9, 4, rng())) == 4
    assert not coefficients.sparse(9, 0, rng()).any()
    matrix = np.diag([1.0, 5.0, 0.1])
    assert_allclose(coefficients.principal(matrix, "strongest"), [0, 1, 0])
    assert_allclose(coefficients.principal(matrix, "weakest", 2.0), [0, 0, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: covariance.geometric(3, 0.5), "condition must be at least 1"),
        (lambda: covariance.ar1(3, 1.0), r"correlation must be in \(-1, 1\)"),
        (lambda: covariance.equicorrelated(3, -0.6), r"correlation must be in \(-0.5, 1\)"),
        (lambda: covariance.from_eigenvalues([1, 0]), "eigenvalues must be above 0"),
        (lambda: covariance.from_eigenvalues([]), "at least one"),
        (
            lambda: covariance.spiked(3, rng(), spikes=4),
            "spikes must be a whole number from 0 to 3",
        ),
        (lambda: covariance.block(4, 2, 0.1, 0.9), "positive definite"),
        (lambda: covariance.isotropic(0), "d must be a whole number at least 1"),
        (lambda: views.random_subsets(3, [4], rng()), r"sizes\[0\]"),
        (lambda: views.independent(3, 3, 1.5, rng()), r"p must be in \[0, 1\]"),
        (lambda: views.tiers(3, [1], [1, 2]), "one length"),
        (lambda: views.blocks(3, 3, 0), "width"),
        (lambda: coefficients.sparse(3, 4, rng()), "nonzero"),
        (lambda: coefficients.principal(np.eye(2), "best"), "which must be one of"),
        (lambda: cc.Scenario(spectrum="flat"), "spectrum must be one of"),
        (lambda: cc.Scenario(sigma=0), "sigma must be above 0"),
        (lambda: cc.Scenario(rich=31).problem(), "rich must be a whole number from 0 to 30"),
        (lambda: cc.Scenario(d=2, m=2, spikes=0, missing="mask", mask=("10",)).problem(), "2 rows"),
        (
            lambda: cc.Scenario(d=2, m=1, spikes=0, missing="mask", mask=("1x",)).problem(),
            r"mask\[0\]",
        ),
        (
            lambda: cc.Scenario(d=2, m=1, spikes=0, missing="mask", mask=("10",)).problem(),
            "feature 1 is seen",
        ),
        (lambda: cc.Scenario(spectrum="eigenvalues").problem(), "eigenvalues must have 30"),
        (lambda: cc.Scenario(spectrum="matrix").problem(), "matrix must"),
    ],
)
def test_bad_choices_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def scenario(**changes):
    own = {
        "eigenvalues": (1.0, 2.0, 3.0, 0.5),
        "matrix": tuple(map(tuple, covariance.ar1(4, 0.3))),
        "mask": ("1100", "0111", "1001"),
        "values": (1.0, 0.0, -2.0, 0.5),
    }
    small = {"d": 4, "m": 3, "rich": 1, "rich_size": 4, "size": 3, "p": 0.1, "nonzero": 2}
    return cc.Scenario(**(own | small | changes))


@pytest.mark.parametrize("spectrum", SPECTRA.keys())
@pytest.mark.parametrize("missing", PATTERNS.keys())
@pytest.mark.parametrize("theta", RULES.keys())
def test_every_choice_builds_a_world_from_its_seed(spectrum, missing, theta):
    build = scenario(spectrum=spectrum, missing=missing, theta=theta, seed=3).problem
    problem, again = build(), build()
    assert problem.agents == 3
    assert (problem.theta == again.theta).all()
    assert (problem.covariance == again.covariance).all()


def test_streams_of_the_seed_are_independent():
    one, other = scenario(missing="tiers", seed=5), scenario(missing="hub", theta="unit", seed=5)
    assert (one.covariance == other.covariance).all()
    assert (scenario(seed=5).coefficients == one.coefficients).all()
    assert (scenario(seed=6).covariance != one.covariance).any()


def test_default_scenario_is_the_papers():
    problem = cc.Scenario().problem()
    assert problem.sizes.tolist() == [20] * 10 + [15] * 20
    assert problem.dimension == 30


@pytest.mark.parametrize("allocation", ["equal", "rising", "wide", "narrow"])
def test_allocations_keep_the_average_and_the_ratio(allocation):
    scenario = cc.Scenario(allocation=allocation, ratio=5.0)
    shares = scenario.shares
    assert shares.mean() == pytest.approx(1)
    assert shares.max() / shares.min() == pytest.approx(1 if allocation == "equal" else 5)
    sizes = np.array([view.size for view in scenario.views])
    if allocation in ("wide", "narrow"):
        order = np.corrcoef(sizes, shares)[0, 1]
        assert (order > 0) == (allocation == "wide")
    assert (scenario.problem().shares == shares).all()
    alike = cc.Scenario(allocation=allocation, rich=0, ratio=5.0)
    assert allocation == "rising" or (alike.shares == 1).all()
