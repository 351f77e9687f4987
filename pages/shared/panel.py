"""A figure with all that belongs beside it: data, formula, code, a text for screen readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from collab_core.tabular.export import safe_csv
from collab_core.world.scenario import Scenario

from . import state

#: Figures that a link can show alone, by key.
FIGURES = {
    "worth": "What working together is worth",
    "methods": "Methods and bounds",
    "covariance": "Covariance",
    "spectrum": "Eigenvalues",
    "views": "Who sees what",
    "full": "Error vs n, all features",
    "agent": "Error vs n, one agent",
    "cloud": "Estimates gathering as n grows",
    "ellipses": "Confidence ellipses",
    "ellipse-matrix": "Ellipses, pair by pair",
    "lab": "Weights lab",
    "loss": "Error along a tilt of the weights",
    "played": "Ellipses, played",
    "ratio": "C_gauss against C_strong",
    "map": "Map over condition and signal to noise",
    "gap": "Bounds and methods on one axis",
    "chain": "The chain of bounds",
    "helps": "Who helps whom",
    "shares": "Fair shares",
    "measure": "What to measure next",
    "plan": "A plan of additions",
    "needed": "Samples for a wanted error",
    "budget": "Where extra samples help",
    "robust": "How fast the advantage goes",
    "gains": "What each state gains",
    "people": "Error on real people",
    "census-n": "Census: error against n",
    "questions": "What to ask next",
    "coefficients": "Coefficients in words",
    "census-covariance": "Covariance of the answers",
    "held-out": "Your data: held-out errors",
    "table-views": "Your data: who sees what",
    "table-coefficients": "Your data: coefficients",
    "residuals": "Your data: residuals",
    "quantiles": "Your data: residuals' law",
    "bytes": "Error against bytes",
    "matrix": "A method's whole covariance",
    "message": "What an agent sends",
    "server": "What the server adds up",
    "returned": "What comes back",
    "leaving": "Who is hurt when an agent leaves",
    "logistic-full": "Logistic: a model of all features",
    "logistic-agent": "Logistic: one agent's model",
    "reliability": "Logistic: are probabilities kept",
    "logistic-models": "Logistic: an agent's coefficients",
    "travel": "Census: more than 20 minutes",
    "travel-reliability": "Census: are probabilities kept",
    "law-curves": "Other laws: error against n",
    "law-gain": "Other laws: optimal over Gaussian weights",
    "law-ellipses": "Other laws: ellipses of the weights",
    "law-errors": "Other laws: n × error of every weighting",
    "law-costs": "What pretending costs, by law",
    "law-agents": "What pretending costs, by agent",
    "law-map": "Where pretending costs, independent features",
    "law-map-common": "Where pretending costs, one common scale",
    "unlabelled": "Unlabelled samples that optimal weights need",
}


#: Whether what is drawn just now is a part of what its code computes: a run under way or stopped.
_partial: ContextVar[bool] = ContextVar("partial", default=False)


@contextmanager
def as_part(partial: bool) -> Iterator[None]:
    """Draw figures of a result that is whole, or only a part of it."""
    token = _partial.set(partial)
    try:
        yield
    finally:
        _partial.reset(token)


def shown() -> list[str]:
    """Keys of the figures that the page has drawn in this run."""
    return st.session_state.setdefault("shown", [])


def wanted(key: str) -> bool:
    """Whether the link asks for this figure (or for all)."""
    return state.lesson().figure in ("", key)


def ink() -> str:
    """Colour of text in this person's theme; another theme is known from the next run on."""
    return "#FAFAFA" if st.context.theme.type == "dark" else "#262730"


def columns(*keys: str, sizes: list[float]) -> list:
    """Columns for figures, or the whole width where the link asks for one figure."""
    if state.lesson().figure in keys:
        return [st.container() for _ in keys]
    return st.columns(sizes)


def show(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    frame: pd.DataFrame,
    formula: str,
    code: str,
    clickable: str | None = None,
) -> list[dict]:
    """Draw a figure, and under it its data, formula and code.

    Parameters
    ----------
    clickable : str, optional
        Key of a chart whose points can be clicked; what was clicked is returned.
    """
    if not wanted(key):
        return []
    if key not in shown():
        shown().append(key)
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
        "toImageButtonOptions": {
            "format": st.session_state.get("image-format", "svg"),
            "filename": f"collab-{key}",
        },
    }
    if state.lesson().lecture:
        figure.update_layout(
            title={"font": {"size": 24}}, legend={"font": {"size": 18}}, height=440
        )
        for axes in (figure.update_xaxes, figure.update_yaxes):
            axes(tickfont={"size": 16}, title={"font": {"size": 18}})
    clicked = []
    if clickable is None:
        st.plotly_chart(figure, key=f"chart-{key}", alt=alt, config=config)
    else:
        event = st.plotly_chart(
            figure,
            key=clickable,
            alt=alt,
            config=config,
            on_select="rerun",
            selection_mode="points",
        )
        clicked = event["selection"]["points"]
    if not state.lesson().lecture:
        _beside(key, frame, formula, code)
    return clicked


def _beside(key: str, frame: pd.DataFrame, formula: str, code: str) -> None:
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Data",
            data=lambda: safe_csv(frame),
            file_name=f"collab-{key}.csv",
            mime="text/csv",
            key=f"data-{key}",
            on_click="ignore",
            type="tertiary",
            help="The numbers of this figure as CSV. The camera above it saves the picture.",
        )
        with st.popover("Formula and code", type="tertiary", key=f"formula-{key}"):
            whole = "These lines print the figure's numbers:"
            part = "These lines print the numbers of the whole run; the figure shows a part of it:"
            st.markdown(f"{formula}\n\n{part if _partial.get() else whole}")
            st.code(code, language="python")


def scenario_code(scenario: Scenario) -> str:
    """Python that makes this world, its defaults left out."""
    usual = Scenario()
    given = [
        f"{field.name}={getattr(scenario, field.name)!r}"
        for field in fields(scenario)
        if field.name in scenario.active
        and getattr(scenario, field.name) != getattr(usual, field.name)
    ]
    return f"import collab_core as cc\n\nscenario = cc.Scenario({', '.join(given)})\n"
