"""Covariances of the methods, and the bounds that nobody can beat."""

import pandas as pd

from ..core.problem import Problem
from .covariances import (
    NaiveLimit,
    chain_ratios,
    error,
    exact,
    gauss,
    imputation,
    local,
    local_errors,
    local_ols,
    local_ols_error,
    naive_collab,
    optimal,
    optimized_naive_collab,
    pooled_moments,
    strong,
    weighted,
)
from .limits import Corollary, PatternSums, RatioCurve, corollary, finite_ratios

__all__ = [
    "Corollary",
    "NaiveLimit",
    "PatternSums",
    "RatioCurve",
    "chain_ratios",
    "communication",
    "corollary",
    "error",
    "exact",
    "finite_ratios",
    "gauss",
    "imputation",
    "local",
    "local_errors",
    "local_ols",
    "local_ols_error",
    "naive_collab",
    "optimal",
    "optimized_naive_collab",
    "pooled_moments",
    "strong",
    "weighted",
]


def communication(problem: Problem, n: int, *, unit: str = "numbers") -> pd.DataFrame:
    """What every method sends: see `collab_core.exchange.bytes.communication`."""
    # Asked for late: the methods themselves know what they send, and they read these bounds.
    from ..exchange.bytes import communication as counted

    return counted(problem, n, unit=unit)
