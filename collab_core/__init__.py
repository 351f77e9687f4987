"""Collaboratively learning linear models when every party sees only some of the features.

Two ways through the library:

- theory: `Scenario` -> `Problem` -> `bounds`, `whatif`;
- data: `Moments` (from arrays, chunks or draws) -> `estimators`; `simulate` runs many trials.

Examples
--------
>>> import collab_core as cc
>>> problem = cc.Scenario(seed=1).problem()
>>> cc.bounds.error(problem, cc.bounds.gauss(problem)) > 0
True
"""

from . import (
    bounds,
    census,
    coefficients,
    covariance,
    ellipses,
    estimators,
    exchange,
    geometry,
    landscape,
    laws,
    messages,
    methods,
    planning,
    presets,
    pretending,
    robustness,
    sigma,
    simulate,
    smooth,
    tabular,
    theory,
    tilt,
    unlabelled,
    views,
    weights,
    whatif,
)
from .moments import Moments
from .problem import Problem
from .scenario import Scenario

__version__ = "0.1.0"

__all__ = [
    "Moments",
    "Problem",
    "Scenario",
    "bounds",
    "census",
    "coefficients",
    "covariance",
    "ellipses",
    "estimators",
    "exchange",
    "geometry",
    "landscape",
    "laws",
    "messages",
    "methods",
    "planning",
    "presets",
    "pretending",
    "robustness",
    "sigma",
    "simulate",
    "smooth",
    "tabular",
    "theory",
    "tilt",
    "unlabelled",
    "views",
    "weights",
    "whatif",
]
