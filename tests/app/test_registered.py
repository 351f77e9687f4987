"""A method that is registered once is found on the pages, with nothing else touched."""

import pytest
import streamlit as st

import collab_core as cc
from collab_core.methods import Formulas, Style, Traffic, registered
from collab_core.methods.imputation import Imputation

from .apps import figures_of, finished, open_page

SMALL = cc.Scenario(d=4, m=3, rich=1, rich_size=4, size=2, spikes=1).to_query()


class Mine(Imputation):
    """Imputation by another name."""

    key = "mine"
    label = "My method"
    summary = "As imputation."
    style = Style("#123456", "dash", "square")
    formulas = Formulas("$C$", "$C_i$", "$1$")

    def sent(self, problem, n):
        return Traffic(problem.sizes, problem.sizes)


@pytest.fixture(autouse=True)
def mine():
    # Values are kept by their lines, which do not say what was registered when they ran.
    st.cache_resource.clear()
    with registered(Mine):
        yield
    st.cache_resource.clear()


def test_error_vs_n():
    app = finished(open_page("pages/error_vs_n.py", SMALL | {"trials": "1"}), "error-vs-n")
    assert not app.exception
    assert Mine.label in app.multiselect[0].options
    assert all(Mine.label in str(spec["data"]) for spec in figures_of(app))


def test_clouds():
    app = finished(open_page("pages/error_vs_n.py", SMALL | {"part": "cloud"}), "cloud")
    assert not app.exception
    assert Mine.label in str(figures_of(app)[0]["layout"]["annotations"])


def test_playground():
    app = open_page("pages/playground.py", SMALL)
    assert any(Mine.label in str(spec["data"]) for spec in figures_of(app))
    app.button(key="start-playground").click().run()
    finished(app, "playground")
    assert not app.exception
    theory, simulated = figures_of(app)[-1]["data"][:2]
    assert Mine.label in theory["y"]
    assert Mine.label in simulated["y"]
