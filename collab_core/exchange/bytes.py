"""What every method sends and receives (the paper's Table 1, counted exactly)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import methods
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
    rows = {}
    for method in methods.every():
        traffic = method.sent(problem, n)
        rows[method.key] = np.concatenate([traffic.up, traffic.down])
    factor = BYTES_PER_NUMBER if unit == "bytes" else 1
    columns = pd.MultiIndex.from_product([["up", "down"], range(problem.agents)])
    return pd.DataFrame(
        [factor * numbers for numbers in rows.values()],
        index=pd.Index(list(rows), name="method"),
        columns=columns,
    )
