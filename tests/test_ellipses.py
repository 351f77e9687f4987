"""Ellipses: their equation, their order, and how many estimates they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chi2

import collab_core as cc
from collab_core.answers import ellipses
from collab_core.methods.base import PLAIN
from collab_core.methods.collab import Collab

from .worlds import problems, random_problem, smallest_eigenvalue


def targets(problem):
    return ["full", *(i for i in range(problem.agents) if problem.sizes[i] > 0)]


@given(problems(), st.sampled_from([0.5, 0.9, 0.99]))
def test_outlines_satisfy_their_equation(problem, level):
    found = ellipses.covariances(problem)
    if problem.dimension < 2:
        return
    plane = ellipses.coordinates(problem.dimension, 1, 0)
    frame = ellipses.picture(found, plane, problem.theta, 50, level)
    centre = problem.theta[[1, 0]]
    for key, C in found.items():
        points = frame[(frame["what"] == "outline") & (frame["method"] == key)][["x", "y"]]
        gap = points.to_numpy() - centre
        seen = C[np.ix_([1, 0], [1, 0])] / 50
        distance = np.einsum("ij,jk,ik->i", gap, np.linalg.inv(seen), gap)
        assert_allclose(distance, chi2.ppf(level, 2), rtol=1e-5)


@given(problems())
def test_order_is_that_of_eigenvalues_and_theory(problem):
    for target in targets(problem):
        found = ellipses.covariances(problem, target)
        for upper, lower in (
            ("imputation", "collab"),
            ("identity", "collab"),
            ("pooled_moments", "collab"),
            ("collab", "collab_plus"),
            ("collab_plus", "exact"),
            ("exact", "strong"),
            *([("local", "collab")] if target != "full" else []),
        ):
            A, B = found[upper], found[lower]
            scale = np.outer(*[1 / np.sqrt(np.diagonal(B))] * 2)
            assert smallest_eigenvalue((A - B) * scale) > -1e-5
            compared = ellipses.order(A, B)
            if np.linalg.cond(B * scale) < 1e8:
                assert compared.low >= 1 - 1e-5
            ratios = np.linalg.eigvals(np.linalg.solve(B * scale, A * scale)).real
            assert_allclose([compared.low, compared.high], [ratios.min(), ratios.max()], rtol=1e-3)


class Careless(Collab):
    """Throws half of the samples away."""

    key = "careless"
    label = "Careless"

    def covariance(self, problem, told=PLAIN):
        return 2 * cc.bounds.gauss(problem)


def test_covariances_are_those_of_the_registered_methods_and_the_bounds():
    problem = random_problem(np.random.default_rng(1))
    with cc.methods.registered(Careless):
        for target in targets(problem):
            found = ellipses.covariances(problem, target)
            known = [key for key in ellipses.WORST_FIRST if key in found]
            assert list(found)[: len(known)] == known
            assert list(found)[-3:] == ["careless", "exact", "strong"]
            assert ("local" in found) == (target != "full")
            assert_allclose(found["careless"], 2 * found["collab"])
            # Biased methods gather elsewhere.
            assert all(cc.methods.get(key).is_consistent for key in list(found)[:-2])
    assert "careless" not in ellipses.covariances(problem)


def test_relation_is_named():
    base = np.diag([1.0, 2.0])
    assert ellipses.order(base, base).relation == "equal"
    assert ellipses.order(2 * base, base).relation == "contains"
    assert ellipses.order(base, 2 * base).relation == "inside"
    assert ellipses.order(np.diag([2.0, 1.0]), base).relation == "neither"


def test_a_plane_can_hide_that_two_are_not_ordered():
    A, B = np.diag([2.0, 2.0, 1.0]), np.diag([1.0, 1.0, 3.0])
    frame = ellipses.comparisons({"a": A, "b": B}, ellipses.coordinates(3, 0, 1))
    row = frame.iloc[0]
    assert (row["relation"], row["seen"]) == ("neither", "contains")
    crossing = ellipses.comparisons({"a": A, "b": B}, ellipses.coordinates(3, 0, 2)).iloc[0]
    assert crossing["seen"] == "neither"


@given(problems())
def test_containment_in_every_plane_where_the_order_holds(problem):
    if problem.dimension < 2:
        return
    found = ellipses.covariances(problem)
    rng = np.random.default_rng(0)
    for _ in range(5):
        plane = ellipses.own_directions(*rng.standard_normal((2, problem.dimension)), problem.dimension)  # fmt: skip  # noqa: E501
        seen = ellipses.order(plane.of(found["collab"]), plane.of(found["strong"]))
        assert seen.low >= 1 - 1e-6
        whole = ellipses.order(found["collab"], found["strong"])
        assert whole.low * (1 - 1e-6) <= seen.low <= seen.high <= whole.high * (1 + 1e-6)


def test_most_different_directions_attain_the_extremes():
    problem = random_problem(np.random.default_rng(1), d=5)
    found = ellipses.covariances(problem)
    plane = ellipses.most_different(found["imputation"], found["collab"])
    compared = ellipses.order(found["imputation"], found["collab"])
    u = plane.directions[0]
    ratio = (u @ found["imputation"] @ u) / (u @ found["collab"] @ u)
    assert ratio == pytest.approx(compared.high)
    assert_allclose(np.linalg.norm(plane.directions, axis=1), 1)


def test_principal_directions_are_eigenvectors():
    sigma = cc.covariance.ar1(4, 0.7)
    plane = ellipses.principal(sigma, 0, 3)
    values = np.linalg.eigvalsh(sigma)
    assert_allclose(plane.of(sigma), np.diag([values[3], values[0]]), atol=1e-12)


def test_measures_are_areas_axes_and_volumes():
    found = {"collab": np.diag([4.0, 1.0, 9.0]), "strong": np.diag([1.0, 1.0, 9.0])}
    frame = ellipses.measures(found, ellipses.coordinates(3, 0, 1), 25, 0.95).set_index("method")
    reach = np.sqrt(chi2.ppf(0.95, 2))
    assert frame.loc["collab", "long"] == pytest.approx(reach * 2 / 5)
    assert frame.loc["collab", "short"] == pytest.approx(reach / 5)
    assert frame.loc["collab", "area"] == pytest.approx(np.pi * reach**2 * 2 / 25)
    assert frame.loc["strong", "area_ratio"] == pytest.approx(0.5)
    assert frame.loc["strong", "volume_ratio"] == pytest.approx(0.5)
    assert frame.loc["strong", "per_axis"] == pytest.approx(0.5 ** (1 / 3))


@pytest.mark.parametrize("target", ["full", 0])
def test_estimates_fall_inside_with_the_levels_probability(target):
    problem, n, trials = random_problem(np.random.default_rng(3)), 4000, 3000
    methods = ["collab", "collab_plus", "imputation", "naive_collab"]
    methods += ["local"] if target != "full" else []
    sample = cc.simulate.sample_estimates(problem, n, trials, methods, target, seed=1)
    found = ellipses.covariances(problem, target)
    k = len(sample.truth)
    plane = ellipses.coordinates(k, 0, k - 1)
    for level in (0.5, 0.95):
        frame = ellipses.coverage_in_plane(
            sample.estimates, found, plane, sample.truth, n, level
        ).set_index("method")
        for key in methods:
            if key != "naive_collab":
                assert abs(frame.loc[key, "inside"] - level) < 4 * frame.loc[key, "error"]
        assert frame.loc["naive_collab", "inside"] < 0.05


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ellipses.coordinates(3, 1, 1), "must differ"),
        (lambda: ellipses.coordinates(3, 0, 3), "coordinate"),
        (lambda: ellipses.own_directions([1, 0], [0, 1, 0], 3), "must have 3 numbers, got 2"),
        (lambda: ellipses.own_directions([0, 0], [0, 1], 2), "must not be all zeros"),
        (lambda: ellipses.own_directions([1, 2], [-2, -4], 2), "multiple of the first"),
        (lambda: ellipses.own_directions([1, np.nan], [0, 1], 2), "first direction"),
        (lambda: ellipses.own_directions([1e200, 0], [0, 1], 2), "must have entries of size"),
        (lambda: ellipses.most_different([[1.0]], [[2.0]]), "at least two"),
        (lambda: ellipses.radius(1.5), "level"),
    ],
)
def test_wrong_planes_are_refused_with_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# Tilted weights ----------------------------------------------------------------------------------


@given(problems())
def test_tilted_covariance_is_that_of_the_weights(problem):
    lab = cc.weight_tilt.Tilts(problem)
    tilts = np.random.default_rng(0).uniform(-1, 1, problem.agents)
    weights = [
        np.exp(tilts[i]) * problem.geometry.block(i) / problem.unexplained[i]
        for i in range(problem.agents)
    ]
    expected = cc.bounds.weighted(problem, weights)
    scale = np.abs(expected).max()
    assert_allclose(lab.covariance(tilts) / scale, expected / scale, atol=1e-6)
    assert lab.loss(tilts) >= 1 - 1e-9
    assert lab.loss(np.full(problem.agents, 0.7)) == pytest.approx(1)
    assert ellipses.order(lab.covariance(tilts), cc.bounds.gauss(problem)).low >= 1 - 1e-5


def test_steepest_is_the_gradient_and_at_the_optimum_the_curvature():
    problem = random_problem(np.random.default_rng(5), m=6)
    lab = cc.weight_tilt.Tilts(problem)
    rng = np.random.default_rng(0)
    here = rng.uniform(-1, 1, 6)
    step = 1e-5
    numeric = np.array(
        [(lab.loss(here + step * e) - lab.loss(here - step * e)) / (2 * step) for e in np.eye(6)]
    )
    assert_allclose(lab.steepest(here), numeric / np.linalg.norm(numeric), atol=1e-6)
    best = lab.steepest(np.zeros(6))
    assert np.linalg.norm(best) == pytest.approx(1)
    # No other direction of the same length loses more, to second order.
    others = rng.standard_normal((200, 6))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    losses = [lab.loss(1e-3 * other) for other in others]
    assert lab.loss(1e-3 * best) >= max(losses)


def test_the_steepest_direction_does_not_change_with_units():
    covariance, views = cc.covariance.ar1(4, 0.5), [[0, 1, 2], [1, 2, 3], [0, 3]]
    directions = []
    for unit in (1e-7, 1.0, 1e6):
        problem = cc.Problem(covariance, unit * np.arange(1, 5), unit, views)
        lab = cc.weight_tilt.Tilts(problem)
        directions.append((lab.steepest(np.zeros(3)), lab.steepest([1.0, 0.0, 0.0])))
    for best, gradient in directions:
        assert_allclose(best, directions[1][0], atol=1e-6)
        assert_allclose(gradient, directions[1][1], atol=1e-6)


def test_an_agent_that_sees_nothing_has_nothing_to_tilt():
    lab = cc.weight_tilt.Tilts(cc.Problem(np.eye(3), [1, 2, 3], 1.0, [[0, 1, 2], []]))
    assert (lab.steepest([1.0, 0.0]) == 0).all()


def test_a_single_agent_has_nothing_to_tilt():
    problem = cc.Problem(np.eye(2), [1, 2], 1.0, [[0, 1]])
    lab = cc.weight_tilt.Tilts(problem)
    assert lab.loss([2.0]) == pytest.approx(1)
    assert (lab.steepest([0.0]) == 0).all()


def test_the_loss_along_a_tilt_and_beside_the_optimum():
    problem = random_problem(np.random.default_rng(5), m=3)
    lab = cc.weight_tilt.Tilts(problem)
    tilts = cc.weight_tilt.powers_of_two([1.0, -1.0, 0.0])
    assert_allclose(np.exp(tilts), [2, 0.5, 1])
    frame = lab.along(tilts, reach=1.0, points=3)
    assert_allclose(frame["step"], [-1, 0, 1])
    assert_allclose(frame["loss"], [lab.loss(-tilts), 1, lab.loss(tilts)])
    both = lab.beside_optimal(tilts)
    assert_allclose(both["collab"], cc.bounds.gauss(problem))
    assert_allclose(both["tilted"], lab.covariance(tilts))


WORLD = cc.Scenario(d=5, m=4, rich=2, rich_size=4, size=3, spikes=1, seed=2)


def test_some_covariances_keep_their_order_and_unknown_ones_are_refused():
    found = ellipses.covariances(WORLD.problem())
    assert list(ellipses.only(found, ["strong", "imputation"])) == ["imputation", "strong"]
    with pytest.raises(ValueError, match=r"must be one of .*collab.*got 'colab'"):
        ellipses.only(found, ["colab"])


def test_pictures_of_pairs_are_the_pictures_of_their_planes():
    problem = WORLD.problem()
    found = ellipses.covariances(problem)
    frame = ellipses.pair_pictures(found, problem.theta, [4, 0, 2], ["e", "a", "c"], 100, 0.9)
    pairs = frame.groupby(["across", "up"], sort=False)
    assert list(pairs.groups) == [("e", "a"), ("e", "c"), ("a", "c")]
    plane = ellipses.coordinates(5, 4, 2)
    alone = ellipses.picture(found, plane, problem.theta, 100, 0.9)
    assert_allclose(pairs.get_group(("e", "c"))[["x", "y"]], alone[["x", "y"]])
    with pytest.raises(ValueError, match="at least two"):
        ellipses.pair_pictures(found, problem.theta, [1], ["b"], 100, 0.9)


def test_half_widths_are_those_of_a_normal_law():
    frame = ellipses.half_widths({"collab": np.array([[4.0]])}, 100, 0.95)
    assert frame.to_dict("list") == {"method": ["collab"], "half_width": [pytest.approx(0.391993)]}


def test_neighbours_change_one_thing():
    assert [world.n for world in ellipses.neighbours(WORLD, "n").values()] == [
        int(100 * 2.0**e) for e in range(-3, 5)
    ]
    assert {world.missing for world in ellipses.neighbours(WORLD, "p").values()} == {"independent"}
    bent = ellipses.neighbours(WORLD, "correlation")
    assert {world.spectrum for world in bent.values()} == {"equicorrelated"}
    own = ellipses.neighbours(cc.Scenario(d=5, spectrum="ar1"), "correlation")
    assert {world.spectrum for world in own.values()} == {"ar1"}
    with pytest.raises(ValueError, match="over must be one of n, p, correlation"):
        ellipses.neighbours(WORLD, "sigma")


def test_played_worlds_are_pictures_one_below_the_other():
    problem, plane = WORLD.problem(), ellipses.coordinates(5, 0, 1)
    frame = ellipses.played(WORLD, "n", "full", ["collab"], plane, 0.9)
    found = ellipses.only(ellipses.covariances(problem), ["collab"])
    here = ellipses.picture(found, plane, problem.theta, 100, 0.9)
    assert_allclose(frame.loc[frame["step"] == "100", ["x", "y"]], here[["x", "y"]])
    # Four times the samples, a quarter of the area.
    areas = {step: ellipses.areas(part)["collab"] for step, part in frame.groupby("step")}
    assert areas["100"] / areas["400"] == pytest.approx(4)
    measured = ellipses.measures(found, plane, 100, 0.9).set_index("method")
    # A polygon of 96 sides is a little smaller than its ellipse.
    assert areas["100"] == pytest.approx(measured.loc["collab", "area"], rel=1e-3)


def test_worlds_that_have_no_picture_are_left_out_but_a_wrong_name_is_an_error():
    lonely = cc.Scenario(d=6, m=1, rich=1, rich_size=6, seed=1)
    plane = ellipses.coordinates(6, 0, 1)
    around = ellipses.neighbours(lonely, "p")
    whole = [step for step, world in around.items() if not world.unseen.size]
    frame = ellipses.played(lonely, "p", "full", ["collab"], plane, 0.9)
    assert list(frame["step"].unique()) == whole
    assert 0 < len(whole) < len(around)
    other_size = ellipses.coordinates(4, 0, 1)
    assert ellipses.played(lonely, "n", "full", ["collab"], other_size, 0.9).empty
    with pytest.raises(ValueError, match="got 'colab'"):
        ellipses.played(lonely, "n", "full", ["colab"], plane, 0.9)
