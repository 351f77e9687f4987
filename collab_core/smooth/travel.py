"""More than twenty minutes to work: states as agents, on person records, by logistic regression.

The label is folktables' own for its ACSTravelTime task, on another population: folktables keeps
people without a travel time (who work at home) and labels them 0, here they are left out. Sums
cannot give a logistic fit, so this needs records (`collab_core.census.People`). Features are
centred within each state's own sample and scaled by pooled deviations, as in `census.study`; the
covariance behind ``T_i`` is that of all training records, whatever n. Every state keeps an
intercept of its own, and only slopes are learnt together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd

from .._base.checks import Array, Indices, choice, whole
from ..census.people import People
from ..census.study import Study
from ..core.target import Target
from ..runs.chunks import HasSubmit
from .curve import Measured
from .fits import Fit, with_constant
from .layout import FeatureLayout
from .measures import measure_of
from .methods import chosen
from .models import Aggregate, pooled
from .running import checked_sizes, run
from .step import LogisticStep

#: Minutes above which the label is 1.
MINUTES = 20

#: Whose questions a model answers: all that anybody asks, or the target's own.
MODELS = ("all", "own")


@dataclass(frozen=True, eq=False)
class TravelPlan:
    """A run on records."""

    people: People
    study: Study
    layout: FeatureLayout
    sample_sizes: tuple[int, ...]
    trials: int
    methods: tuple[str, ...]
    seed: int

    @property
    def targets(self) -> tuple[Target, ...]:
        """A model of all questions, or of the state's own whose people are predicted."""
        return (Target(self.study.target) if self.study.choice.own else Target(),)

    @property
    def chunks(self) -> int:
        """A trial is a chunk."""
        return self.trials

    def table(
        self, source: Mapping[str, tuple[Array, Array]], state: str, rows: Indices | slice
    ) -> tuple[Array, Array]:
        """Scaled features (n, d) and labels (n,) of some people."""
        x, minutes = source[state]
        columns = [self.people.features.index(name) for name in self.study.features]
        return x[rows][:, columns] / self.study.scale, label(minutes[rows])

    def steps(self, index: int) -> Iterator[TravelStep]:
        """Draw people of every state; along the grid the same ones and more."""
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index,)))
        drawn = []
        for state in self.study.choice.states:
            count = len(self.people.by_state[state][1])
            rows = rng.choice(count, self.sample_sizes[-1], replace=False)
            drawn.append(self.table(self.people.by_state, state, rows))
        tests = self.table(self.people.tests, self.study.choice.target, slice(None))
        starts: dict[object, Array] = {}
        for n in self.sample_sizes:
            yield TravelStep(self, [(x[:n], y[:n]) for x, y in drawn], tests, starts)


def label(minutes: Array) -> Array:
    """1 for more than twenty minutes, else 0."""
    return (minutes > MINUTES).astype(float)


def travel_curve(
    people: People,
    study: Study,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None = None,
    *,
    seed: int = 0,
    progress: Callable[[float, Measured], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> Measured:
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
        As in `simulated.curves`. "local" is the target's own people, with all questions where the
        model of all is wanted; "full_data" everybody's people asked the same.
    """
    plan = _planned(people, study, sample_sizes, trials, methods, seed)
    (target,) = plan.targets

    def report(fraction: float, found: dict[Target, Measured]) -> None:
        if progress is not None:
            progress(fraction, found[target])

    return run(plan, {target: {}}, report, executor, cancel)[target]


def stored_travel(path: str | Path, measure: str = "log_loss", model: str = "all") -> pd.DataFrame:
    """A stored run: rows of a table that ``python -m collab_core.smooth`` wrote.

    Parameters
    ----------
    path : path
        The .csv file.
    measure : str
        One of `MEASURES`.
    model : {"all", "own"}
        Of all questions, or of the target's own.

    Returns
    -------
    DataFrame
        As `MeasureCurve.frame`, with columns ``measure`` and ``model``.
    """
    table = pd.read_csv(path)
    mine = table["measure"] == measure_of(measure).key
    return table[mine & (table["model"] == choice("model", model, MODELS))]


def _planned(
    people: People,
    study: Study,
    sample_sizes: Sequence[int],
    trials: int,
    methods: Sequence[str] | None,
    seed: int,
) -> TravelPlan:
    if not people.holds_records:
        raise ValueError("people must hold records, not only their sums: give fewer files")
    smallest = min(len(people.by_state[state][1]) for state in study.choice.states)
    sizes = checked_sizes(sample_sizes, 2, smallest)
    if len(people.tests.get(study.choice.target, ((), ()))[1]) < 1:
        raise ValueError(f"{study.choice.target} has no test people; pick another target")
    return TravelPlan(
        people,
        study,
        FeatureLayout(study.geometry, study.views, "own"),
        sizes,
        whole("trials", trials, low=1),
        chosen(methods),
        whole("seed", seed, low=0),
    )


class TravelStep(LogisticStep):
    """Every method's model of the target when every state has n people."""

    def __init__(
        self,
        plan: TravelPlan,
        people: Sequence[tuple[Array, Array]],
        tests: tuple[Array, Array],
        starts: dict[object, Array],
    ) -> None:
        self.study, self.test_people = plan.study, tests
        self.means = [x.mean(axis=0) for x, _ in people]
        # A column that is constant in the sample becomes exactly 0, not a hidden intercept.
        self.full = [
            with_constant(np.where(np.ptp(x, axis=0) > 0, x - mean, 0.0))
            for (x, _), mean in zip(people, self.means, strict=True)
        ]
        super().__init__(
            len(people[0][1]),
            plan.layout,
            [
                x[:, np.append(0, 1 + view)]
                for x, view in zip(self.full, plan.study.views, strict=True)
            ],
            [y for _, y in people],
            starts,
        )

    def alone(self, target: Target) -> Fit:
        """The target's own people, asked all questions where the model of all is wanted."""
        i = self.study.target
        if self.study.choice.own:
            return self.fits[i]
        return self.fitted(["newcomer"], self.full[i][None], self.labels[i][None]).of(0)

    def everybody(self, target: Target) -> Fit:
        """Everybody's people asked the same, with an intercept a state."""
        asked = np.append(0, 1 + self.study.target_columns)
        designs = [x[:, asked] for x in self.full]
        start = self.starts.get("full_data")
        found = pooled(designs, self.labels, own_intercepts=True, start=start)
        self.keep_start("full_data", found)
        own = np.append(found.theta[self.study.target], found.theta[len(designs) :])
        return replace(found, theta=own)

    def returned(self, found: Aggregate, target: Target) -> Array:
        """The model of the target's own questions, or of all, with its intercept."""
        i = self.study.target
        return found.local(i) if self.study.choice.own else found.full(i)

    def tests(self, target: Target) -> tuple[Array, Array]:
        """The target's test people, centred as its sample is."""
        x, truth = self.test_people
        return (x - self.means[self.study.target])[:, self.study.target_columns], truth
