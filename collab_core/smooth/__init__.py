"""Beyond linear models: the paper's aggregation for any smooth loss, and logistic regression.

`models` holds the estimators, `worlds` simulates them, `travel` runs them on census records.
"""

from . import losses, measures, models, solver, travel, worlds
from .losses import LOGISTIC, SQUARED, Loss
from .measures import MEASURES, Curve
from .models import Aggregate, Fit, Layout, collab, fit, imputation, naive, pooled, with_constant
from .travel import travel_curve
from .worlds import METHODS, NAMES, Settings, World, curves, models_of_agent

__all__ = [
    "LOGISTIC",
    "MEASURES",
    "METHODS",
    "NAMES",
    "SQUARED",
    "Aggregate",
    "Curve",
    "Fit",
    "Layout",
    "Loss",
    "Settings",
    "World",
    "collab",
    "curves",
    "fit",
    "imputation",
    "losses",
    "measures",
    "models",
    "models_of_agent",
    "naive",
    "pooled",
    "solver",
    "travel",
    "travel_curve",
    "with_constant",
    "worlds",
]
