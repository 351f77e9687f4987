"""Tables for the tests."""

import io
from pathlib import Path

import numpy as np
import pandas as pd

from collab_core import tabular
from collab_core.tabular import (
    Table,
    TableFile,
    TableStudy,
)

DATA = Path(__file__).parents[2] / "data"


def csv(frame: pd.DataFrame, name: str = "table.csv") -> TableFile:
    return TableFile(name, frame.to_csv(index=False).encode())


def parquet(frame: pd.DataFrame, name: str = "table.parquet") -> TableFile:
    held = io.BytesIO()
    frame.to_parquet(held, index=False)
    return TableFile(name, held.getvalue())


def world(seed: int = 0, sizes=(60, 90, 150, 400), shift: float = 0.0, noise: float = 1.0):
    """A table from a known world, and the truth: theta, covariance, what every agent sees."""
    rng = np.random.default_rng(seed)
    d = 5
    spread = 0.4 * np.eye(d) + 0.6
    theta = np.array([1.0, -0.5, 0.8, 0.0, 0.6])
    views = [[0, 1, 2], [1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 2, 3, 4]]
    parts = []
    for i, n in enumerate(sizes):
        x = rng.multivariate_normal(np.arange(d), spread, n)
        slope = theta + (shift if i == len(sizes) - 1 else 0.0) * np.eye(d)[0]
        y = 3.0 + x @ slope + noise * rng.standard_normal(n)
        part = pd.DataFrame(x, columns=[f"x{j}" for j in range(d)])
        for j in set(range(d)) - set(views[i]):
            part[f"x{j}"] = np.nan
        parts.append(part.assign(site=f"s{i}", y=y))
    frame = pd.concat(parts, ignore_index=True)
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True), theta, spread, views


def study_of(frame: pd.DataFrame, **given) -> TableStudy:
    table = Table.open([csv(frame)])
    return TableStudy.of(table, tabular.usual_choice(table, **given))


GOOD = world()[0]

TEXT = GOOD.to_csv(index=False)
