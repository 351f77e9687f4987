"""Lower bounds: odd worlds, every part, and numbers that agree with the library's."""

import numpy as np
import pytest

import collab_core as cc
from collab_core.bounds import PatternSums
from pages import lower_bounds as the_page
from pages.parts.lower_bounds import direction

from .apps import (
    ODD_WORLDS,
    assert_sound,
    compare,
    csv_frames,
    finished,
    open_page,
    run_snippet,
    said,
    scenario_of,
)

PAGE = "pages/lower_bounds.py"
SMALL = cc.Scenario(d=5, m=6, missing="independent", p=0.2, spikes=1, seed=2)
RUNS = {"ratio": "finite", "map": "map", "gap": "gap"}


def opened(query):
    app = open_page(PAGE, query)
    part = query.get("part", "ratio")
    if part in RUNS and not app.error:
        finished(app, RUNS[part])
    return app


@pytest.mark.parametrize("part", ["ratio", "map", "gap", "chain"])
@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds(name, part):
    if part == "map" and name == "wide":
        pytest.skip("forty features take the map long; the other parts have them")
    app = opened(ODD_WORLDS[name] | {"part": part, "trials": "100"})
    silent = part == "map" and name == "theta is zero"
    assert_sound(app, least=0 if silent else 1)
    assert bool(app.error) == silent
    if silent:
        assert "there is no signal" in app.error[0].value


@pytest.mark.parametrize(
    "world",
    [
        {"d": "1", "m": "5", "missing": "independent", "p": "0"},
        {"d": "14", "m": "30", "missing": "independent", "p": "0.9"},
        {"d": "15", "m": "30", "missing": "independent", "p": "0.3"},
        {"d": "40", "m": "30", "missing": "independent", "p": "0.95"},
        {"d": "8", "m": "30", "spectrum": "geometric", "condition": "1", "missing": "hub"},
        {"d": "8", "m": "30", "spectrum": "geometric", "condition": "1000000", "missing": "hub"},
        {"d": "8", "m": "9", "spectrum": "equicorrelated", "correlation": "0.99", "size": "5"},
    ],
    ids=str,
)
def test_extreme_worlds(world):
    for part in ("ratio", "gap", "chain"):
        app = opened(world | {"part": part, "trials": "0", "agents": "100"})
        unidentifiable = any("Nobody sees" in error.value for error in app.error)
        assert_sound(app, least=0 if unidentifiable else 1)
        assert unidentifiable == (part != "ratio" and scenario_of(app).unseen.size > 0)


@pytest.mark.parametrize("part", ["ratio", "map", "gap", "chain"])
@pytest.mark.parametrize("of", ["all", "coefficient", "principal", "agent"])
def test_snippets_print_the_figures_numbers(monkeypatch, part, of):
    if part in ("map", "chain") and of != "all":
        pytest.skip("these are of every direction")
    frames = csv_frames(monkeypatch)
    app = opened(SMALL.to_query() | {"part": part, "of": of, "direction": "1", "agent": "2"})
    assert_sound(app)
    assert set(frames) == {part}
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


def test_the_statement_has_todays_numbers():
    app = opened(SMALL.to_query())
    sums = PatternSums(SMALL.covariance, SMALL.coefficients, SMALL.sigma)
    text = said(app)
    assert "Corollary 4.4" in text
    assert f"κ = {sums.condition_number:.3g}" in text
    assert f"SNR = {sums.signal_to_noise:.3g}" in text
    assert f"p\\* = {sums.p_star:.2g}" in text
    assert f"p = {sums.threshold(4.0):.2g}" in text
    assert "the condition does not hold" in text
    tiny = opened(SMALL.to_query() | {"p": "0"})
    assert "the condition holds" in said(tiny)


def test_the_gap_adds_up():
    app = opened(SMALL.to_query() | {"part": "gap", "trials": "400", "n": "1000"})
    problem = SMALL.problem()
    gauss, exact, strong = (
        np.trace(problem.covariance @ C)
        for C in (cc.bounds.gauss(problem), cc.bounds.exact(problem), cc.bounds.strong(problem))
    )
    relaxed, gain = (exact - strong) / (gauss - strong), (gauss - exact) / (gauss - strong)
    assert f"{relaxed:.1%} is the paper's relaxation and {gain:.1%} is there to gain" in said(app)
    assert relaxed + gain == pytest.approx(1)


def test_collab_plus_gains_what_is_there_to_gain():
    """Simulated points lie on their theory, at large n, within Monte-Carlo error."""
    problem = SMALL.problem()
    sample = cc.simulate.sample_estimates(problem, 10**6, 2000, ["collab", "collab_plus"], seed=1)
    frame = cc.simulate.quadratic_errors(sample, problem.covariance, 10**6).set_index("method")
    for key, C in (
        ("collab", cc.bounds.gauss(problem)),
        ("collab_plus", cc.bounds.exact(problem, noise_known=False)),
    ):
        expected = np.trace(problem.covariance @ C)
        half = frame.loc[key, "high"] - frame.loc[key, "mean"]
        assert abs(frame.loc[key, "mean"] - expected) < 2 * half


def test_an_agent_that_sees_nothing_gets_a_sentence():
    app = open_page(PAGE, ODD_WORLDS["some see nothing"] | {"of": "agent", "agent": "2"})
    assert any("agent 3 sees nothing" in error.value for error in app.error)
    assert not app.exception


def test_the_page_and_its_parts_can_be_imported():
    assert set(the_page.SHOW) == set(the_page.PARTS)
    assert set(direction.DIRECTIONS) == set(cc.bounds.DIRECTIONS)


def test_the_corollary_does_not_see_who_sees_what():
    """A slider of the views leaves the corollary's sums as they are, and kept."""
    for change in ({"p": 0.6}, {"m": 20}, {"n": 7}, {"missing": "hub"}):
        other = SMALL.nearest(**change)[0]
        assert direction.without_agents(other) == direction.without_agents(SMALL)
