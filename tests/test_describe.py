"""A world as tables."""

import numpy as np

import collab_core as cc

WORLD = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1)


def test_who_sees_what_is_the_mask_row_by_row():
    frame = cc.describe.who_sees_what(WORLD)
    assert frame.columns.tolist() == ["agent", "feature", "sees"]
    assert frame["agent"].tolist() == [1] * 4 + [2] * 4 + [3] * 4
    assert frame["feature"].tolist() == [1, 2, 3, 4] * 3
    mask = cc.views.as_mask(WORLD.views, WORLD.d)
    np.testing.assert_array_equal(frame["sees"].to_numpy().reshape(3, 4), mask)


def test_the_covariance_and_its_eigenvalues():
    frame = cc.describe.covariance(WORLD)
    assert frame.columns.tolist() == ["x1", "x2", "x3", "x4"]
    np.testing.assert_array_equal(frame.to_numpy(), WORLD.covariance)
    values = cc.describe.eigenvalues(WORLD)["eigenvalue"].to_numpy()
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(values.sum(), np.trace(WORLD.covariance))


def test_worth_names_features_by_a_larger_world():
    problem, seen = cc.Problem.of_seen(
        np.eye(4), np.ones(4), 1.0, [np.array([1, 3]), np.array([3])]
    )
    assert cc.whatif.worth(problem, 10)["sees"].tolist() == ["x1 x2", "x2"]
    assert cc.whatif.worth(problem, 10, features=seen)["sees"].tolist() == ["x2 x4", "x4"]
