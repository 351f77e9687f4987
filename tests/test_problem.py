import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

import collab_core as cc

from .worlds import problems, random_problem


def paper_quantities(problem, i):
    """T_i, Gamma_i and s_i exactly as the paper writes them, block by block."""
    seen = problem.views[i]
    unseen = np.setdiff1d(np.arange(problem.dimension), seen)
    sigma = problem.covariance
    regression = np.linalg.solve(sigma[np.ix_(seen, seen)], sigma[np.ix_(seen, unseen)])
    transform = np.zeros((seen.size, problem.dimension))
    transform[:, seen] = np.eye(seen.size)
    transform[:, unseen] = regression
    gamma = sigma[np.ix_(unseen, unseen)] - sigma[np.ix_(unseen, seen)] @ regression
    return (
        transform,
        gamma,
        problem.noise**2 + problem.theta[unseen] @ gamma @ problem.theta[unseen],
    )


@given(problems())
def test_dual_form_is_the_papers(problem):
    information = np.zeros_like(problem.covariance)
    for i in range(problem.agents):
        transform, gamma, unexplained = paper_quantities(problem, i)
        assert_allclose(problem.transform(i), transform, rtol=1e-7, atol=1e-9)
        scale = np.abs(problem.covariance).max()
        assert_allclose(problem.schur(i), gamma, rtol=1e-7, atol=1e-12 * scale)
        assert_allclose(problem.unexplained[i], unexplained, rtol=1e-7)
        assert_allclose(problem.local_theta(i), transform @ problem.theta, rtol=1e-7, atol=1e-9)
        block = problem.geometry.block(i)
        information += problem.shares[i] * transform.T @ block @ transform / unexplained
    direct = problem.covariance @ problem.information @ problem.covariance
    assert_allclose(direct, information, rtol=1e-6, atol=1e-9 * np.abs(information).max())


def test_small_noise_keeps_its_digits():
    problem = cc.Problem(cc.covariance.ar1(4, 0.5), [1e4] * 4, 1e-6, [[0, 1, 2, 3], [0]])
    assert_allclose(problem.unexplained[0], 1e-12, rtol=1e-12)


def test_leverage_is_half_the_gradient_of_unexplained():
    problem = random_problem(np.random.default_rng(0))
    step = 1e-6
    for i in range(problem.agents):
        numeric = [
            (
                cc.Problem(
                    problem.covariance, problem.theta + step * e, problem.noise, problem.views
                ).unexplained[i]
                - cc.Problem(
                    problem.covariance, problem.theta - step * e, problem.noise, problem.views
                ).unexplained[i]
            )
            / (4 * step)
            for e in np.eye(problem.dimension)
        ]
        assert_allclose(problem.leverage[i], numeric, rtol=1e-5, atol=1e-8)


def test_dropping_unseen_features_changes_nothing_an_agent_can_learn():
    rng = np.random.default_rng(1)
    whole = random_problem(rng, d=6, m=4)
    views = [np.setdiff1d(view, [2, 4]) for view in whole.views]
    part, seen = cc.Problem.of_seen(whole.covariance, whole.theta, whole.noise, views)
    assert seen.tolist() == [0, 1, 3, 5]
    # The same agents in a world where somebody else sees everything.
    everything = cc.Problem(whole.covariance, whole.theta, whole.noise, [*views, np.arange(6)])
    assert_allclose(part.unexplained, everything.unexplained[:-1], rtol=1e-9)
    for i in range(4):
        assert_allclose(part.local_theta(i), everything.local_theta(i), rtol=1e-9, atol=1e-12)


def test_an_agent_that_sees_nothing_is_legal():
    covariance, theta = cc.covariance.ar1(3, 0.6), np.array([1.0, -1.0, 2.0])
    alone = cc.Problem(covariance, theta, 1.0, [[0, 1, 2]])
    both = cc.Problem(covariance, theta, 1.0, [[0, 1, 2], []])
    assert_allclose(both.information, alone.information)
    assert_allclose(both.unexplained[1], both.label_variance)
    assert both.local_theta(1).shape == (0,)
    assert np.trace(cc.bounds.strong(both)) < np.trace(cc.bounds.strong(alone))
    assert np.trace(cc.bounds.exact(both)) < np.trace(cc.bounds.exact(alone))


GOOD = {"covariance": np.eye(3), "theta": [1, 2, 3], "noise": 1.0, "views": [[0, 1], [2]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"covariance": [[1, 2], [0, 1]]}, "covariance must be symmetric"),
        ({"covariance": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "smallest eigenvalue is -1"),
        ({"covariance": np.zeros((3, 3))}, "smallest eigenvalue is 0"),
        ({"covariance": np.ones((3, 2))}, "covariance must be a square matrix"),
        ({"covariance": np.full((3, 3), np.nan)}, "covariance must be finite, got nan"),
        ({"covariance": "big"}, "covariance must be an array of numbers"),
        ({"theta": [1, 2]}, "theta must have 3 entries, got 2"),
        ({"theta": [1, np.inf, 3]}, "theta must be finite, got inf"),
        ({"noise": 0}, "noise must be above 0, got 0"),
        ({"noise": -1}, "noise must be above 0"),
        ({"noise": np.nan}, "noise must be finite"),
        ({"views": [[0, 1]]}, "feature 2 is seen by no agent"),
        ({"views": [[0]]}, "features 1, 2 are seen by no agent"),
        ({"views": [[0, 1], [3]]}, r"views\[1\] must hold whole numbers from 0 to 2, got 3"),
        ({"views": [[0, 1], [-1]]}, r"views\[1\] must hold whole numbers from 0 to 2, got -1"),
        ({"views": [[0, 1, 1], [2]]}, r"views\[0\] must not repeat an index, got 1 twice"),
        ({"views": [[0.5, 1], [2]]}, "whole numbers"),
        ({"views": [["a"], [2]]}, r"views\[0\] must be a list of feature indices"),
        ({"views": []}, "views must hold at least one agent"),
        ({"views": None}, "views must be a list of index arrays or an"),
        ({"views": np.eye(3, dtype=int)}, "must hold True and False"),
        ({"views": np.ones((2, 4), dtype=bool)}, r"mask must have shape \(m, 3\)"),
        ({"shares": [1.0]}, "shares must have 2 entries"),
        ({"shares": [1.0, 0.0]}, "shares must be above 0"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        cc.Problem(**(GOOD | change))


def test_units_do_not_make_a_covariance_singular():
    problem = cc.Problem(np.diag([1e-6, 1e9]), [1, 1e-5], 1.0, [[0], [1]])
    assert np.isfinite(cc.bounds.gauss(problem)).all()


def test_mask_and_lists_are_the_same():
    mask = np.array([[True, True, False], [False, False, True]])
    a, b = cc.Problem(**GOOD), cc.Problem(**(GOOD | {"views": mask}))
    assert_allclose(a.information, b.information)
    assert (a.mask == mask).all()


def test_inputs_are_not_changed():
    covariance, theta = np.eye(3), np.arange(3.0)
    problem = cc.Problem(covariance, theta, 1.0, GOOD["views"])
    cc.bounds.gauss(problem)
    covariance[0, 0] = theta[0] = 9
    assert problem.covariance[0, 0] == 1
    assert problem.theta[0] == 0
