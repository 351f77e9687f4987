"""More than twenty minutes to work: states as agents, on person records, by logistic regression.

The label is folktables' own for its ACSTravelTime task, on another population: folktables keeps
people without a travel time (who work at home) and labels them 0, here they are left out. Sums
cannot give a logistic fit, so this needs records (`collab_core.census.People`). Features are
centred within each state's own sample and scaled by pooled deviations, as in `census.study`; the
covariance behind ``T_i`` is that of all training records, whatever n. Every state keeps an
intercept of its own, and only slopes are learnt together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event

import numpy as np

from .._base.blas import single_threaded_blas
from .._base.checks import Array, choice, whole
from ..census.people import People
from ..census.study import Study
from ..core.estimate import NotEstimableError
from ..runs.chunks import HasSubmit, run_chunks
from .measures import Curve, Part, Trouble, gathered
from .models import Aggregate, Fit, Layout, collab, fit, imputation, naive, pooled, with_constant
from .solver import CancelledError, cancelled_by, check_cancelled
from .worlds import METHODS

#: Minutes above which the label is 1.
MINUTES = 20


@dataclass(frozen=True, eq=False)
class _Plan:
    people: People
    study: Study
    layout: Layout
    sample_sizes: tuple[int, ...]
    trials: int
    methods: tuple[str, ...]
    seed: int

    @property
    def chunks(self) -> int:
        return self.trials


def label(minutes: Array) -> Array:
    """1 for more than twenty minutes, else 0."""
    return (minutes > MINUTES).astype(float)


def travel_curve(
    people: People,
    study: Study,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] = METHODS,
    *,
    seed: int = 0,
    progress: Callable[[float, Curve], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> Curve:
    """Measures on the target's test people when every state has n of its own people.

    Parameters
    ----------
    people : People
        With records.
    study : Study
        Of the same data: states, what each asks, whose people are predicted, and whether by the
        target's own questions or by all. Its label is not used.
    sample_sizes : list of int
        Drawn without replacement; along the grid the same people and more.
    methods : list of str
        As in `worlds.curves`. "local" is the target's own people, with all questions where the
        model of all is wanted; "full_data" everybody's people asked the same.
    """
    plan = _checked(people, study, sample_sizes, trials, methods, seed)

    def result(done: Mapping[int, Part], partial: bool) -> Curve:
        return gathered(
            done,
            target=study.choice.target,
            sample_sizes=plan.sample_sizes,
            methods=plan.methods,
            best={},
            trials=plan.trials,
            partial=partial,
        )

    done: dict[int, Part] = {}
    ended = 0
    if progress is not None:
        progress(0.0, result(done, partial=True))
    for index, part in run_chunks(plan, _trial, executor, cancel):
        done[index] = part
        ended = sum(one.finished for one in done.values())
        if progress is not None:
            through = sum(len(one.trouble) for one in done.values())
            progress(
                through / (plan.chunks * len(plan.sample_sizes)),
                result(done, partial=ended < plan.chunks),
            )
    return result(done, ended < plan.chunks)


def _checked(
    people: People,
    study: Study,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str],
    seed: int,
) -> _Plan:
    if not people.holds_records:
        raise ValueError("people must hold records, not only their sums: give fewer files")
    smallest = min(len(people.by_state[state][1]) for state in study.choice.states)
    given = np.atleast_1d(np.asarray(sample_sizes)).tolist()
    sizes = tuple(sorted({whole("sample_sizes", n, low=2, high=smallest) for n in given}))
    if not sizes:
        raise ValueError("sample_sizes must hold at least one n, got none")
    if len(people.tests.get(study.choice.target, ((), ()))[1]) < 1:
        raise ValueError(f"{study.choice.target} has no test people; pick another target")
    return _Plan(
        people,
        study,
        Layout(study.geometry, study.views, "own"),
        sizes,
        whole("trials", trials, low=1),
        tuple(choice("methods", method, METHODS) for method in methods),
        whole("seed", seed, low=0),
    )


def _table(plan: _Plan, source: Mapping[str, tuple[Array, Array]], state: str,
           rows: np.ndarray | slice) -> tuple[Array, Array]:  # fmt: skip
    """Scaled features (n, d) and labels (n,) of some people."""
    x, minutes = source[state]
    columns = [plan.people.features.index(name) for name in plan.study.features]
    return x[rows][:, columns] / plan.study.scale, label(minutes[rows])


def _trial(plan: _Plan, index: int, cancel: Event | None) -> Part:
    part = Part()
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(index,)))
    with single_threaded_blas(), cancelled_by(cancel):
        drawn = [
            _table(plan, plan.people.by_state, state, rng.choice(
                len(plan.people.by_state[state][1]), plan.sample_sizes[-1], replace=False))
            for state in plan.study.choice.states
        ]  # fmt: skip
        tests = _table(plan, plan.people.tests, plan.study.choice.target, slice(None))
        starts: dict[object, Array] = {}
        try:
            for n in plan.sample_sizes:
                step = _Step(plan, [(x[:n], y[:n]) for x, y in drawn], starts)
                # An n counts when all methods are through: comparisons are paired.
                part.take(_at(plan, step, n, *tests))
        except CancelledError:
            return part
    part.finished = True
    return part


def _at(plan: _Plan, step: _Step, n: int, test: Array, truth: Array) -> Part:
    """Measures of every method at one n."""
    part, study = Part(), plan.study
    for method in plan.methods:
        check_cancelled()
        try:
            model = step.model(method)
        except NotEstimableError as reason:
            part.notes[method, n] = str(reason)
            continue
        asked = (test - step.means[study.target])[:, study.target_columns]
        part.add(method, n, (model[0] + asked @ model[1:])[None], truth[None])
    part.trouble[n] = step.trouble()
    return part


class _Step:
    """Every method's model of the target when every state has n people."""

    def __init__(
        self, plan: _Plan, people: Sequence[tuple[Array, Array]], starts: dict[object, Array]
    ) -> None:
        self.plan, self.starts = plan, starts
        self.means = [x.mean(axis=0) for x, _ in people]
        # A column that is constant in the sample becomes exactly 0, not a hidden intercept.
        self.full = [
            with_constant(np.where(np.ptp(x, axis=0) > 0, x - mean, 0.0))
            for (x, _), mean in zip(people, self.means, strict=True)
        ]
        self.labels = [y for _, y in people]
        self.designs = [
            x[:, np.append(0, 1 + view)]
            for x, view in zip(self.full, plan.study.views, strict=True)
        ]
        self.fits = [
            self._local(i, x, y)
            for i, (x, y) in enumerate(zip(self.designs, self.labels, strict=True))
        ]
        self.ridge: dict[str, int] = {}
        self.stuck: dict[str, int] = {}

    def _local(self, key: object, x: Array, y: Array) -> Fit:
        return self._calm(key, fit(x, y, start=self.starts.get(key)))

    def _calm(self, key: object, one: Fit) -> Fit:
        """Keep a start for the next n: a ridge's answer is none for the fit without it."""
        plain = not (one.regularised or one.one_class)
        self.starts[key] = one.theta if plain else np.zeros_like(one.theta)
        return one

    def trouble(self) -> Trouble:
        """What the states' fits, and the methods asked for so far, ran into."""
        return Trouble(
            len(self.fits),
            sum(bool(one.regularised and not one.one_class) for one in self.fits),
            sum(bool(one.one_class) for one in self.fits),
            sum(not one.converged for one in self.fits),
            self.ridge,
            self.stuck,
        )

    def model(self, method: str) -> Array:
        """Intercept and coefficients of the target's columns, shape (1 + k,)."""
        study = self.plan.study
        target, columns = study.target, study.target_columns
        if method in ("local", "full_data"):
            one = self.fits[target]
            if method == "full_data":
                designs = [x[:, np.append(0, 1 + columns)] for x in self.full]
                start = self.starts.get(method)
                one = self._calm(
                    method, pooled(designs, self.labels, own_intercepts=True, start=start)
                )
            elif not study.choice.own:
                one = self._local("newcomer", self.full[target], self.labels[target])
            self.ridge[method] = int(one.regularised or one.one_class)
            self.stuck[method] = int(not one.converged)
            if method == "local":
                return one.theta
            return np.append(one.theta[target], one.theta[len(self.full) :])
        found = self._aggregate(method)
        calm = bool(found.converged and not found.regularised)
        self.starts[method] = found.theta if calm else np.zeros_like(found.theta)
        self.ridge[method] = int(found.regularised)
        self.stuck[method] = int(not found.converged)
        return found.local(target) if study.choice.own else found.full(target)

    def _aggregate(self, method: str) -> Aggregate:
        layout = self.plan.layout
        if method == "naive_collab":
            return naive(self.fits, layout)
        start = self.starts.get(method)
        if method == "imputation":
            return imputation(self.designs, self.labels, layout, start=start)
        return collab(
            self.designs, self.fits, layout, attenuated=method == "collab_attenuated", start=start
        )
