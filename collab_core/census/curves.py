"""Error against n on records, and the curve that the authors published."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .._base.checks import choice
from .source import RECIPES, VALIDATION_EVERY
from .study import Study

#: How the authors' file calls its methods.
PUBLISHED_METHODS = {
    "Collab": "collab",
    "Imputation": "imputation",
    "Naive-Collab": "naive_collab",
    "Naive-Local": "local",
    "RW-Imputation": "rw_imputation",
    "Optimized-Naive-Collab": "optimized_naive_collab",
}


def most_people(study: Study, recipe: str = "ours") -> int:
    """The largest n that records of every state can give: the authors keep some for validation."""
    kept = 1 / VALIDATION_EVERY if choice("recipe", recipe, RECIPES) == "authors" else 0.0
    return int(study.counts.min() * (1 - kept))


def published_curve(path: str | Path) -> pd.DataFrame:
    """The authors' published run, in the names of our methods: ``n``, ``method``, ``mean``."""
    frame = pd.read_csv(path)
    frame["method"] = frame["method"].map(PUBLISHED_METHODS)
    return frame.dropna(subset="method").rename(columns={"mse": "mean"})
