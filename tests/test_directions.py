"""Bounds in one direction, and draws of finitely many agents beside their limit."""

from threading import Event

import numpy as np
import pytest
from numpy.testing import assert_allclose

import collab_core as cc
from collab_core.bounds import PatternSums

WORLD = cc.Scenario(d=5, m=6, missing="independent", p=0.2, spikes=1, seed=2)


def sums_of(world):
    return PatternSums(world.covariance, world.coefficients, world.sigma)


def test_rows_of_every_kind():
    problem = WORLD.problem()
    covariance = problem.covariance
    assert cc.bounds.direction_rows(covariance, "all") is None
    assert_allclose(cc.bounds.direction_rows(covariance, "coefficient", 3), [[0, 0, 0, 1, 0]])
    strongest = cc.bounds.direction_rows(covariance, "principal")
    assert_allclose(covariance @ strongest[0], np.linalg.eigvalsh(covariance)[-1] * strongest[0])
    view = problem.views[2]
    assert_allclose(cc.bounds.direction_rows(covariance, "agent", view=view), problem.transform(2))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kind": "sideways"}, "kind must be one of all, coefficient, principal, agent"),
        ({"kind": "coefficient", "number": 5}, "number must be a whole number from 0 to 4"),
        ({"kind": "agent"}, "an agent that sees nothing has no model"),
    ],
)
def test_rows_that_there_are_not(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        cc.bounds.direction_rows(WORLD.covariance, **given)


@pytest.mark.parametrize(
    ("kind", "number"), [("all", 0), ("coefficient", 3), ("principal", 1), ("agent", 2)]
)
def test_the_gap_is_of_what_is_compared(kind, number):
    problem = WORLD.problem()
    frame = cc.bounds.gap(problem, kind, number).set_index("method")["error"]
    assert list(frame.index) == ["collab", "collab_plus", "exact", "strong"]
    assert frame.is_monotonic_decreasing
    gauss = cc.bounds.gauss(problem)
    rows = cc.bounds.direction_rows(problem.covariance, kind, number, problem.views[number])
    expected = {
        "all": lambda: cc.bounds.error(problem, gauss),
        "agent": lambda: np.trace(problem.geometry.block(2) @ rows @ gauss @ rows.T),
    }.get(kind, lambda: (rows @ gauss @ rows.T).item())()
    assert frame["collab"] == pytest.approx(expected)


def test_the_chain_is_a_table():
    problem = WORLD.problem()
    frame = cc.bounds.chain(problem)
    assert list(frame) == ["gauss", "middle", "strong"]
    assert_allclose(frame.T, cc.bounds.chain_ratios(problem))


def test_the_grid_reaches_from_below_the_condition_to_almost_all_missing():
    sums = sums_of(WORLD)
    grid = cc.bounds.missingness_grid(sums)
    assert grid.size == 60
    assert grid[0] <= min(sums.p_star, 0.01)
    assert grid[-1] == pytest.approx(0.95)
    assert (np.diff(grid) > 0).all()


def test_finite_draws_are_finite_ratios_at_some_places():
    sums = sums_of(WORLD)
    ps = [0.01, 0.1, 0.2, 0.3, 0.5]
    told = []
    frame = cc.bounds.finite_draws(
        sums, ps, 20, places=3, draws=4, seed=1, progress=lambda *report: told.append(report)
    )
    assert list(frame["p"].unique()) == [0.01, 0.2, 0.5]
    alone = cc.bounds.finite_ratios(sums.covariance, sums.theta, sums.noise, 0.2, 20, 4, 1)
    assert_allclose(frame.loc[frame["p"] == 0.2, ["low", "high"]], alone)
    assert [fraction for fraction, _ in told] == [0, 1 / 3, 2 / 3, 1]
    assert told[0][1].empty


def test_finite_draws_can_be_stopped_and_left_out():
    sums, stop = sums_of(WORLD), Event()
    assert cc.bounds.finite_draws(sums, [0.1, 0.2], 0).empty
    frame = cc.bounds.finite_draws(
        sums, [0.1, 0.2, 0.3], 20, places=3, progress=lambda *_: stop.set(), cancel=stop
    )
    assert frame.empty
