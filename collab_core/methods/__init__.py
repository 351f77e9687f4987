"""The methods: one file each, registered once. See `base` for how to add one."""

from ..core.agents import WEIGHTS
from . import estimators
from .base import (
    Formulas,
    Method,
    Style,
    Traffic,
    chosen,
    every,
    get,
    keys,
    register,
    registered,
    unregister,
    usual,
)
from .check import Report, check_method
from .collab import Collab
from .collab_optimal import CollabOptimal
from .collab_oracle import CollabOracle
from .collab_plus import CollabPlus
from .identity import Identity
from .imputation import Imputation
from .local import Local
from .local_imputation import LocalImputation
from .naive_collab import NaiveCollab
from .optimized_naive_collab import OptimizedNaiveCollab
from .pooled_moments import PooledMoments
from .rw_imputation import RWImputation

__all__ = [
    "WEIGHTS",
    "Formulas",
    "Method",
    "Report",
    "Style",
    "Traffic",
    "check_method",
    "chosen",
    "estimators",
    "every",
    "get",
    "keys",
    "register",
    "registered",
    "unregister",
    "usual",
]

# In the order of tables and legends.
for _method in (
    Collab,
    CollabPlus,
    RWImputation,
    Imputation,
    LocalImputation,
    Local,
    PooledMoments,
    NaiveCollab,
    OptimizedNaiveCollab,
    CollabOptimal,
    CollabOracle,
    Identity,
):
    register(_method)
