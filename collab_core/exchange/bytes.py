"""What every method sends and receives (the paper's Table 1, counted exactly)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .._base.checks import choice
from ..core.problem import Problem

#: A float64.
BYTES_PER_NUMBER = 8


def communication(problem: Problem, n: int, *, unit: str = "numbers") -> pd.DataFrame:
    """Real numbers (or bytes) that every agent sends up and gets down, a row a method.

    Parameters
    ----------
    problem : Problem
    n : int
        Labelled samples per agent (times its share).
    unit : {"numbers", "bytes"}

    Returns
    -------
    DataFrame
        Index ``method``; columns ``("up", i)`` and ``("down", i)`` for every agent i, so that
        ``frame.loc["collab", "up"]`` is a series over agents.
    """
    choice("unit", unit, ("numbers", "bytes"))
    d_i, d = problem.sizes, problem.dimension
    samples = problem.sample_sizes(n)
    nothing = np.zeros_like(d_i)
    # A model, the upper triangle of its covariance, one residual; a symmetric Sigma comes down.
    # (An agent that sees nothing has only its labels' variance to send, of use to COLLAB+.)
    residual = np.ones_like(d_i)
    message = np.where(d_i > 0, d_i + d_i * (d_i + 1) // 2 + 1, 0)
    sigma = np.full_like(d_i, d * (d + 1) // 2)
    data = np.where(d_i > 0, samples * (d_i + 1), 0)
    rows = {
        "local": (nothing, nothing),
        "collab": (message, d_i),
        "collab_plus": (np.maximum(message, residual), d_i),
        "local_imputation": (message, d_i + sigma),
        "imputation": (data, d_i),
        "rw_imputation": (data, d_i),
        "naive_collab": (d_i, d_i),
        "optimized_naive_collab": (d_i, d_i),
        # x_j y sums and the sample size; the server divides and solves.
        "pooled_moments": (np.where(d_i > 0, d_i + 1, 0), d_i),
    }
    factor = BYTES_PER_NUMBER if unit == "bytes" else 1
    columns = pd.MultiIndex.from_product([["up", "down"], range(problem.agents)])
    return pd.DataFrame(
        [factor * np.concatenate(pair) for pair in rows.values()],
        index=pd.Index(list(rows), name="method"),
        columns=columns,
    )
