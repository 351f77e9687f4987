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
from .directions import DIRECTIONS, chain, direction_rows, gap, quadratic_form
from .finite import finite_draws, finite_ratios
from .limits import Corollary, PatternSums, RatioCurve, corollary, missingness_grid

__all__ = [
    "DIRECTIONS",
    "Corollary",
    "NaiveLimit",
    "PatternSums",
    "RatioCurve",
    "chain",
    "chain_ratios",
    "communication",
    "corollary",
    "direction_rows",
    "error",
    "exact",
    "finite_draws",
    "finite_ratios",
    "gap",
    "gauss",
    "imputation",
    "local",
    "local_errors",
    "local_ols",
    "local_ols_error",
    "missingness_grid",
    "naive_collab",
    "optimal",
    "optimized_naive_collab",
    "pooled_moments",
    "quadratic_form",
    "strong",
    "weighted",
]


def communication(problem: Problem, n: int, *, unit: str = "numbers") -> pd.DataFrame:
    """What every method sends: see `collab_core.exchange.bytes.communication`."""
    # Asked for late: the methods themselves know what they send, and they read these bounds.
    from ..exchange.bytes import communication as counted

    return counted(problem, n, unit=unit)
