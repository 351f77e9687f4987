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

from . import bounds, census, exchange, methods, smooth, tabular
from .answers import ellipses, gaussian_cost, planning, theory, weight_tilt, whatif
from .bounds import threshold_map, weights
from .core import geometry, sigma
from .core.moments import Moments
from .core.problem import Problem
from .exchange import messages
from .methods import estimators
from .runs import different, disturbed, simulate, unlabelled
from .world import coefficients, describe, laws, presets, views
from .world import spectra as covariance
from .world.scenario import Scenario

__version__ = "0.1.0"

__all__ = [
    "Moments",
    "Problem",
    "Scenario",
    "bounds",
    "census",
    "coefficients",
    "covariance",
    "describe",
    "different",
    "disturbed",
    "ellipses",
    "estimators",
    "exchange",
    "gaussian_cost",
    "geometry",
    "laws",
    "messages",
    "methods",
    "planning",
    "presets",
    "sigma",
    "simulate",
    "smooth",
    "tabular",
    "theory",
    "threshold_map",
    "unlabelled",
    "views",
    "weight_tilt",
    "weights",
    "whatif",
]
