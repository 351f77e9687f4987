"""A world as tables: who sees what, how features vary together, along how many directions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .scenario import Scenario
from .views import as_mask


def who_sees_what(scenario: Scenario) -> pd.DataFrame:
    """A row per agent and feature (both counted from 1), agent by agent.

    Returns
    -------
    DataFrame
        ``agent``, ``feature`` and ``sees`` (bool); m times d rows.
    """
    m, d = scenario.m, scenario.d
    return pd.DataFrame(
        {
            "agent": np.repeat(np.arange(1, m + 1), d),
            "feature": np.tile(np.arange(1, d + 1), m),
            "sees": as_mask(scenario.views, d).ravel(),
        }
    )


def covariance(scenario: Scenario) -> pd.DataFrame:
    """Covariance of the features, a row and a column each, shape (d, d)."""
    names = [f"x{j + 1}" for j in range(scenario.d)]
    return pd.DataFrame(scenario.covariance, columns=names)


def eigenvalues(scenario: Scenario) -> pd.DataFrame:
    """Eigenvalues of the covariance from the largest to the smallest, d rows of ``eigenvalue``."""
    return pd.DataFrame({"eigenvalue": np.linalg.eigvalsh(scenario.covariance)[::-1]})
