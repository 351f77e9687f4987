"""Error against n on records, and the curve that the authors published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pandas as pd

from .._base.checks import Array, choice
from .people import VALIDATION_EVERY, People
from .study import METHODS, Study

RECIPES = ("ours", "authors")

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


def people_curve(
    people: People,
    study: Study,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None = None,
    *,
    recipe: str = "ours",
    seed: int = 0,
    progress: Callable[[float, pd.DataFrame], None] | None = None,
    cancel: Event | None = None,
) -> pd.DataFrame:
    """Error against n when every state has n of its own people, drawn without replacement.

    Parameters
    ----------
    people : People
        With records.
    study : Study
        Of the same data.
    methods : list of str, optional
        Those of a study. By the authors' recipe also RW-Imputation: with R_i inside the sample,
        as in ours, that is COLLAB.
    recipe : {"ours", "authors"}
        As in `People.draw_errors`.

    Returns
    -------
    DataFrame
        As `Study.error_curve`.
    """
    choice("recipe", recipe, RECIPES)
    if methods is None:
        methods = (*METHODS, "rw_imputation") if recipe == "authors" else METHODS

    def draw(
        n: int, count: int, methods: Sequence[str], seed: int
    ) -> tuple[dict[str, Array], dict[str, str]]:
        return people.draw_errors(study, n, count, methods, seed, recipe=recipe)

    return study.error_curve(
        sample_sizes, trials, methods, seed=seed, draw=draw, progress=progress, cancel=cancel
    )


def published_curve(path: str | Path) -> pd.DataFrame:
    """The authors' published run, in the names of our methods: ``n``, ``method``, ``mean``."""
    frame = pd.read_csv(path)
    frame["method"] = frame["method"].map(PUBLISHED_METHODS)
    return frame.dropna(subset="method").rename(columns={"mse": "mean"})
