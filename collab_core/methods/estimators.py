"""Estimators: moments in, models for everyone out. The pure functions behind the methods.

Everything works on one data set and on a stack of trials at once (leading axes of the moments).
``covariance`` may have leading axes too, one matrix per trial, or be a `Geometry` made before.
"""

from .adaptive import AdaptiveEstimate, adaptive
from .aggregate import CovarianceLike, aggregate
from .collab import collab
from .collab_optimal import collab_optimal, collab_scored
from .collab_plus import collab_plus
from .guarded import GuardedEstimate, guarded
from .imputation import global_imputation
from .local import local_ols
from .local_imputation import local_imputation
from .naive_collab import naive_collab
from .optimized_naive_collab import optimized_naive_collab
from .pooled_moments import pooled_moments

__all__ = [
    "AdaptiveEstimate",
    "CovarianceLike",
    "GuardedEstimate",
    "adaptive",
    "aggregate",
    "collab",
    "collab_optimal",
    "collab_plus",
    "collab_scored",
    "global_imputation",
    "guarded",
    "local_imputation",
    "local_ols",
    "naive_collab",
    "optimized_naive_collab",
    "pooled_moments",
]
