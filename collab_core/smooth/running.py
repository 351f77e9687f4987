"""Runs of logistic models: steps of n, chunk by chunk of trials, gathered into curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Protocol

import numpy as np

from .._base.blas import single_threaded_blas
from .._base.checks import Array, whole
from ..core.estimate import NotEstimableError
from ..core.target import Target
from ..runs.chunks import HasSubmit, run_chunks
from .cancelling import CancelledError, cancelled_by, check_cancelled
from .curve import MeasureCurve, Measured
from .measures import MEASURES, measure_of, measured
from .step import LogisticStep
from .trouble import Trouble

Progress = Callable[[float, dict[Target, Measured]], None]


class LogisticPlan(Protocol):
    """A run: what is measured, and how its trials are made."""

    @property
    def sample_sizes(self) -> tuple[int, ...]:
        """The grid of n."""

    @property
    def trials(self) -> int:
        """How many there are to be."""

    @property
    def targets(self) -> tuple[Target, ...]:
        """Whose models are measured."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Keys."""

    @property
    def chunks(self) -> int:
        """Number of chunks that trials are cut into."""

    def steps(self, index: int) -> Iterator[LogisticStep]:
        """Draw the trials of a chunk, and give a step for each n of the grid."""


@dataclass
class Part:
    """What one chunk of trials found, of one target."""

    values: dict[tuple[str, str, int], Array] = field(default_factory=dict)
    bins: dict[tuple[str, int], Array] = field(default_factory=dict)
    trouble: dict[int, Trouble] = field(default_factory=dict)
    notes: dict[tuple[str, float], str] = field(default_factory=dict)
    finished: bool = False

    def add(self, method: str, n: int, eta: Array, label: Array) -> None:
        """Measure predictors (trials, N) of a method at n."""
        found, sums = measured(eta, label)
        for measure, values in found.items():
            self.values[measure, method, n] = values
        self.bins[method, n] = sums.sum(axis=0)

    def take(self, other: Part) -> None:
        """Add what another part found, at other n."""
        self.values |= other.values
        self.bins |= other.bins
        self.trouble |= other.trouble
        self.notes |= other.notes


def run(
    plan: LogisticPlan,
    best: Mapping[Target, Mapping[str, float]],
    progress: Progress | None,
    executor: HasSubmit | None,
    cancel: Event | None,
) -> dict[Target, Measured]:
    """Run all chunks; report the fraction done and the curves so far."""
    done: dict[int, dict[Target, Part]] = {}

    def result() -> dict[Target, Measured]:
        ended = sum(all(part.finished for part in parts.values()) for parts in done.values())
        return {
            target: gathered(
                plan,
                target,
                {index: parts[target] for index, parts in done.items()},
                best[target],
                ended < plan.chunks,
            )
            for target in plan.targets
        }

    if progress is not None:
        progress(0.0, result())
    for index, parts in run_chunks(plan, chunk, executor, cancel):
        done[index] = parts
        if progress is not None:
            through = sum(len(found[plan.targets[0]].trouble) for found in done.values())
            progress(through / (plan.chunks * len(plan.sample_sizes)), result())
    return result()


def chunk(plan: LogisticPlan, index: int, cancel: Event | None) -> dict[Target, Part]:
    """Every target's measures in the trials of one chunk; cut short where it is cancelled."""
    parts = {target: Part() for target in plan.targets}
    with single_threaded_blas(), cancelled_by(cancel):
        try:
            for step in plan.steps(index):
                # An n counts when all methods are through: comparisons are paired.
                for target, found in measured_at(step, plan.methods, plan.targets).items():
                    parts[target].take(found)
        except CancelledError:
            return parts
    for part in parts.values():
        part.finished = True
    return parts


def measured_at(
    step: LogisticStep, methods: Sequence[str], targets: Sequence[Target]
) -> dict[Target, Part]:
    """Measures of every method at one n."""
    parts = {target: Part() for target in targets}
    for method in methods:
        for target, part in parts.items():
            check_cancelled()
            try:
                model = step.model(method, target)
            except NotEstimableError as reason:
                part.notes[method, step.n] = str(reason)
                continue
            x, truth = step.tests(target)
            eta = model[..., :1] + model[..., 1:] @ x.T
            part.add(method, step.n, np.atleast_2d(eta), truth)
    for target, part in parts.items():
        part.trouble[step.n] = step.trouble(target)
    return parts


def checked_sizes(given: Sequence[int], low: int, high: int) -> tuple[int, ...]:
    """A grid of n, each once and in order."""
    numbers = np.atleast_1d(np.asarray(given)).tolist()
    sizes = tuple(sorted({whole("sample_sizes", n, low=low, high=high) for n in numbers}))
    if not sizes:
        raise ValueError("sample_sizes must hold at least one n, got none")
    return sizes


def gathered(
    plan: LogisticPlan,
    target: Target,
    parts: Mapping[int, Part],
    best: Mapping[str, float],
    partial: bool,
) -> Measured:
    """Put chunks together, in their order whatever order they finished in.

    What could not be had in some trials is left out of all: an average over the rest would be one
    over chosen trials.
    """
    values: dict[tuple[str, str, int], list[Array]] = {}
    bins: dict[tuple[str, int], Array] = {}
    trouble: dict[int, Trouble] = {}
    notes: dict[tuple[str, float], str] = {}
    for index in sorted(parts):
        part = parts[index]
        for key, found in part.values.items():
            values.setdefault(key, []).append(found)
        for where, sums in part.bins.items():
            bins[where] = bins[where] + sums if where in bins else sums
        for n, said in part.trouble.items():
            trouble[n] = trouble.get(n, Trouble()) + said
        notes |= part.notes
    errors: dict[str, dict[str, dict[float, Array]]] = {}
    for (measure, method, n), chunks in values.items():
        if (method, n) not in notes:
            errors.setdefault(measure, {}).setdefault(method, {})[n] = np.concatenate(chunks)
    kept = {where: sums for where, sums in bins.items() if where not in notes}
    return Measured(
        {
            measure: MeasureCurve(
                axis="n",
                grid=plan.sample_sizes,
                methods=plan.methods,
                errors=errors.get(measure, {}),
                notes=notes,
                trials=plan.trials,
                partial=partial,
                target=target,
                better=measure_of(measure).better,
                measure=measure,
                best=best.get(measure),
                trouble=trouble,
                bins=kept,
            )
            for measure in MEASURES
        }
    )
