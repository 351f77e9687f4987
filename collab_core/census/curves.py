"""Error against n on records, and the curve that the authors published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pandas as pd

from .. import methods as registry
from .._base.checks import choice
from ..core.target import Target
from ..runs.chunks import HasSubmit
from ..runs.curve import Curve
from ..runs.source import Found, Plan, Progress, curves
from .source import GIVEN, RECIPES, VALIDATION_EVERY, States

if TYPE_CHECKING:
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


def error_curve(
    source: States,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None = None,
    *,
    seed: int = 0,
    progress: Callable[[float, Curve], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> Curve:
    """Errors of methods on the people that a source draws: see `Study.error_curve`."""
    whose = source.study.whose
    # A state with no test people is refused here, not in every chunk.
    _ = source.study.baseline
    plan = Plan.of(source, sample_sizes, trials, [whose], registry.chosen(methods, GIVEN), seed)

    def make(target: Target, found: Found, partial: bool) -> Curve:
        return Curve(
            "n", plan.grid, found.methods, found.errors, found.notes, plan.trials, partial, target
        )

    relay: Progress | None = None
    if progress is not None:
        report = progress

        def relay(fraction: float, found: dict[Target, Curve]) -> None:
            report(fraction, found[whose])

    return curves(plan, make, progress=relay, executor=executor, cancel=cancel)[whose]
