"""Pages that have not moved yet: a figure with its code as a string. See `figure`."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from collab_core.world.scenario import Scenario

from .figure import as_part, columns, draw, ink, shown, wanted

__all__ = ["FIGURES", "as_part", "columns", "ink", "scenario_code", "show", "shown", "wanted"]

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


def show(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    frame: pd.DataFrame,
    formula: str,
    code: str,
    clickable: str | None = None,
) -> list[dict[str, Any]]:
    """Draw a figure, and under it its data, formula and code."""
    return draw(figure, key, FIGURES.get(key, "All"), alt, frame, formula, code, clickable)


def scenario_code(scenario: Scenario) -> str:
    """Python that makes this world, its defaults left out."""
    given = [f"{name}={value!r}" for name, value in scenario.choices.items()]
    return f"import collab_core as cc\n\nscenario = cc.Scenario({', '.join(given)})\n"
