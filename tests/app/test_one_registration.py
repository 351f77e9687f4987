"""Proof of one registration: a method defined here is found on every page, nothing else touched.

A spectrum, a pattern, a coefficient rule and a law of a test's own are in `test_newcomers`.
"""

import json

import pytest

import collab_core as cc
from collab_core import figures
from collab_core.methods import Formulas, Style
from collab_core.methods.collab import Collab, collab
from pages.shared.script import Script

from .apps import assert_put_right, assert_sound, figures_of, finished, open_page, param, said

SMALL = {"d": "4", "m": "3", "rich": "1", "rich_size": "4", "size": "3", "n": "60", "spikes": "1"}


class Corrected(Collab):
    """COLLAB with the unbiased residual, whatever the page has chosen."""

    key = "corrected"
    label = "Corrected twin"
    summary = "COLLAB with residuals over what is left of n."
    style = Style("#123456", "dashdot", "hourglass")
    formulas = Formulas("$C^g$ by the twin", "$T_i C^g T_i'$", "$\\Theta(d_i^2)$")

    def estimate(self, agents):
        return collab(agents.data, agents.views, agents.geometry, correction=True)


@pytest.fixture(autouse=True)
def method():
    with cc.methods.registered(Corrected) as found:
        yield found


def charts(app) -> str:
    return json.dumps(assert_sound(app))


def test_it_passes_the_common_checks():
    assert "error_at_theory" in cc.methods.check_method("corrected").passed


def test_it_has_its_looks_and_its_name():
    assert figures.PALETTE["corrected"].colour == "#123456"
    assert figures.label("corrected") == "Corrected twin"


def test_simulation_runs_it_and_knows_its_theory():
    problem = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=3, spikes=1).problem()
    frame = cc.simulate.error_curve(problem, [50, 500], 5).frame
    mine = frame[frame["method"] == "corrected"]
    assert mine["mean"].notna().all()
    assert mine["theory"].notna().all()
    assert "corrected" in set(cc.whatif.method_table(problem, 50, 0)["method"])
    assert "corrected" in cc.bounds.communication(problem, 50).index


def test_error_vs_n_draws_it_and_a_link_picks_it():
    app = finished(open_page("pages/error_vs_n.py", {**SMALL, "trials": "5"}), "error-vs-n")
    assert "Corrected twin" in charts(app)
    assert "#123456" in charts(app)
    query = {**SMALL, "trials": "5", "methods": "corrected,local"}
    picked = finished(open_page("pages/error_vs_n.py", query), "error-vs-n")
    assert param(picked, "methods") == "corrected,local"
    drawn = charts(picked)
    assert "Corrected twin" in drawn
    assert "Naive-Collab" not in drawn


def test_a_link_with_a_typo_is_adjusted_and_said():
    query = {**SMALL, "trials": "5", "methods": "a_typo"}
    assert_put_right(open_page("pages/error_vs_n.py", query), "is not one of the choices")


@pytest.mark.parametrize(
    ("page", "query", "job"),
    [
        ("playground", SMALL, None),
        ("ellipses", {**SMALL, "show": "corrected,collab", "trials": "0"}, None),
        ("what_if", {**SMALL, "part": "robust", "trials": "20"}, "robust"),
        ("beyond_gaussian", {**SMALL, "trials": "10", "samples": "200"}, "law-curves"),
        ("error_vs_n", {**SMALL, "part": "cloud"}, "cloud"),
        ("census", {"part": "n", "trials": "5"}, "census-n"),
        ("your_data", {"table": "diabetes", "part": "verdict"}, None),
    ],
)
def test_pages_list_it(page, query, job):
    app = open_page(f"pages/{page}.py", query)
    if job is not None:
        finished(app, job)
    assert "Corrected twin" in charts(app)


def test_table_1_has_its_row():
    app = open_page("pages/methods.py", SMALL)
    assert not app.exception
    assert "Corrected twin | $C^g$ by the twin" in said(app)


def test_the_playground_simulates_what_it_compares():
    app = open_page("pages/playground.py", SMALL)
    app.button(key="start-playground").click().run()
    finished(app, "playground")
    theory, simulated = figures_of(app)[-1]["data"][:2]
    assert "Corrected twin" in theory["y"]
    assert "Corrected twin" in simulated["y"]


def test_values_of_before_are_not_taken_for_those_with_a_new_method():
    world = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1)

    def compared() -> set[str]:
        script = Script.of(world)
        problem = script.run("problem", world.problem)
        return set(script.run("frame", cc.whatif.comparison, problem, 100)["method"])

    with_it = compared()
    cc.methods.unregister("corrected")
    try:
        without = compared()
    finally:
        cc.methods.register(Corrected)
    assert with_it - without == {"corrected"}
