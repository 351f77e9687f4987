"""Beyond linear models: the paper's aggregation for any smooth loss, and logistic regression.

`models` holds the estimators, `methods` what can be chosen, `simulated` runs them in simulated
`worlds`, `travel` on census records.
"""

from . import (
    curve,
    fits,
    layout,
    losses,
    measures,
    methods,
    models,
    objective,
    simulated,
    solver,
    travel,
    trouble,
    worlds,
)
from .curve import MeasureCurve, Measured
from .fits import Fit, fit, with_constant
from .layout import FeatureLayout
from .losses import LOGISTIC, SQUARED, Loss
from .measures import MEASURES
from .models import Aggregate, collab, imputation, naive, pooled
from .simulated import AgentModels, curves, models_of_agent
from .travel import stored_travel, travel_curve
from .trouble import Trouble, trouble_of
from .worlds import LogisticSettings, LogisticWorld

__all__ = [
    "LOGISTIC",
    "MEASURES",
    "SQUARED",
    "AgentModels",
    "Aggregate",
    "FeatureLayout",
    "Fit",
    "LogisticSettings",
    "LogisticWorld",
    "Loss",
    "MeasureCurve",
    "Measured",
    "Trouble",
    "collab",
    "curve",
    "curves",
    "fit",
    "fits",
    "imputation",
    "layout",
    "losses",
    "measures",
    "methods",
    "models",
    "models_of_agent",
    "naive",
    "objective",
    "pooled",
    "simulated",
    "solver",
    "stored_travel",
    "travel",
    "travel_curve",
    "trouble",
    "trouble_of",
    "with_constant",
    "worlds",
]
