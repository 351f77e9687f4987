"""A method that is registered once is simulated and drawn; see also `test_one_registration`."""

import pytest

import collab_core as cc
from collab_core.methods import Formulas, Style, Traffic, registered
from collab_core.methods.imputation import Imputation
from pages.shared.script import Script

from .apps import figures_of, finished, open_page

WORLD = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1)


class Mine(Imputation):
    """Imputation by another name."""

    key = "mine"
    label = "My method"
    summary = "As imputation."
    style = Style("#123456", "dash", "square")
    formulas = Formulas("$C$", "$C_i$", "$1$")

    def sent(self, problem, n):
        return Traffic(problem.sizes, problem.sizes)


@pytest.fixture
def mine():
    with registered(Mine):
        yield


@pytest.mark.usefixtures("mine")
def test_clouds():
    query = WORLD.to_query() | {"part": "cloud"}
    app = finished(open_page("pages/error_vs_n.py", query), "cloud")
    assert not app.exception
    assert Mine.label in str(figures_of(app)[0]["layout"]["annotations"])


@pytest.mark.usefixtures("mine")
def test_playground_simulates_what_it_compares():
    app = open_page("pages/playground.py", WORLD.to_query())
    app.button(key="start-playground").click().run()
    finished(app, "playground")
    assert not app.exception
    theory, simulated = figures_of(app)[-1]["data"][:2]
    assert Mine.label in theory["y"]
    assert Mine.label in simulated["y"]


def test_values_of_before_are_not_taken_for_those_with_a_new_method():
    def methods() -> list[str]:
        script = Script.of(WORLD)
        problem = script.run("problem", WORLD.problem)
        return script.run("frame", cc.whatif.comparison, problem, 100)["method"].tolist()

    before = methods()
    with registered(Mine):
        assert set(methods()) - set(before) == {"mine"}
    assert methods() == before
