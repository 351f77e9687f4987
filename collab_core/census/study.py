"""A study: some states as agents, what each asks, and whose commute is to be predicted.

Everything is computed from sums: features centred within each state's own sample (a rare level
that is absent from it becomes exactly 0, not a hidden intercept), scaled by the standard deviation
pooled over states, the covariance pooled over the training people of all states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import methods as registry
from .._base.blas import single_threaded_blas
from .._base.checks import Array, whole
from .._base.intervals import basic_interval, normal_reach
from ..bounds import covariances as bounds
from ..core.estimate import Estimate, NotEstimableError
from ..core.geometry import Geometry
from ..core.held_out import HeldOut
from ..core.moments import Moments
from ..core.problem import Problem
from ..core.target import Target
from ..runs.chunks import HasSubmit
from ..runs.curve import Curve
from .curves import error_curve
from .questions import PAPER_MISSING, question_of
from .source import EVERYBODY, GIVEN, GaussianPeople, RecordedPeople, StateAgents
from .sums import TEST, TRAIN, CensusSums

if TYPE_CHECKING:
    from .people import People

#: Eigenvalues of the pooled correlation below this are rounding: the columns are collinear.
SINGULAR = 1e-9


def paper_views(states: Sequence[str], questions: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The paper's pattern for any states in order: the first asks everything, the last least."""
    asked = {}
    for place, state in enumerate(states):
        step = min(place * len(PAPER_MISSING) // max(len(states), 1), len(PAPER_MISSING) - 1)
        step = min(place, len(PAPER_MISSING) - 1) if len(states) <= len(PAPER_MISSING) else step
        asked[state] = tuple(key for key in questions if key not in PAPER_MISSING[step])
    return asked


@dataclass(frozen=True)
class StudyChoice:
    """What a study is about.

    Attributes
    ----------
    states : tuple of str
        The agents.
    asked : tuple of tuples of str
        Questions that each of them asks.
    target : str
        Whose people are to be predicted; one of the states.
    own : bool
        With the target's own questions only, rather than with all that anybody asks.
    log : bool
        The logarithm of the minutes, as the authors do, rather than minutes.
    weights : {"empirical", "population", "moderated", "plug_in"}
        COLLAB's (`collab_core.estimators.collab`). With population weights a coefficient that a
        sample could not tell enters with full confidence.
    """

    states: tuple[str, ...]
    asked: tuple[tuple[str, ...], ...]
    target: str
    own: bool = False
    log: bool = True
    weights: str = "empirical"


class Study:
    """Sums and a choice: agents, and every method's error on the target's test people.

    Parameters
    ----------
    sums : CensusSums
    choice : StudyChoice
    """

    def __init__(self, sums: CensusSums, choice: StudyChoice) -> None:
        if not choice.states:
            raise ValueError("states must name at least one state, got none")
        if choice.target not in choice.states:
            raise ValueError(f"target {choice.target!r} must be one of the states")
        self.sums, self.choice = sums, choice
        self._places = [sums.index(state) for state in choice.states]
        self.target = choice.states.index(choice.target)
        few = [s for s, i in zip(choice.states, self._places, strict=True) if sums.n[i, TRAIN] < 2]
        if few:
            raise ValueError(f"{', '.join(few)}: fewer than two training people; leave it out")
        everybody = [key for key in sums.questions if any(key in asks for asks in choice.asked)]
        wanted = [j for j, name in enumerate(sums.features) if question_of(name).key in everybody]
        spread = self._spread.sum(axis=0)
        varies = [j for j in wanted if spread[j, j] > 0]
        if not varies:
            raise ValueError("no question is asked whose answers vary: switch one on")
        #: Features that never vary among these states' people.
        self.flat = tuple(sums.features[j] for j in wanted if spread[j, j] <= 0)
        self._columns = np.array(varies)
        self.features = tuple(sums.features[j] for j in varies)
        self._label = len(sums.features) + int(choice.log)
        if self._spread[:, self._label, self._label].sum() <= 0:
            raise ValueError("everybody travels for the same time: there is nothing to predict")

    @cached_property
    def _spread(self) -> Array:
        """Training sums about the mean, shape (m, c, c)."""
        return self.sums.about_mean[1][self._places, TRAIN]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Training people of every agent, shape (m,)."""
        return self.sums.n[self._places, TRAIN]

    @cached_property
    def scale(self) -> Array:
        """Pooled standard deviations of the features, shape (d,)."""
        return self._pooled_deviation(self._columns)

    @cached_property
    def label_scale(self) -> float:
        """Pooled standard deviation of the target."""
        return float(self._pooled_deviation(np.array([self._label]))[0])

    def _pooled_deviation(self, columns: np.ndarray) -> Array:
        squares = self._spread[:, columns, columns].sum(axis=0)
        return np.sqrt(squares / (self.counts - 1).sum())

    @cached_property
    def covariance(self) -> Array:
        """Pooled within-state covariance of the scaled features, shape (d, d)."""
        block = self._spread[:, self._columns[:, None], self._columns].sum(axis=0)
        matrix = block / (self.counts - 1).sum() / np.outer(self.scale, self.scale)
        values = np.linalg.eigvalsh(matrix)
        if values[0] < SINGULAR:
            # Nobody who could tell two columns apart was asked: a little of the identity does.
            matrix = matrix + (SINGULAR - min(values[0], 0.0)) * np.eye(len(matrix))
        return (matrix + matrix.T) / 2

    @cached_property
    def views(self) -> list[np.ndarray]:
        """Columns that every agent sees, m index arrays."""
        keys = [question_of(name).key for name in self.features]
        return [
            np.array([j for j, key in enumerate(keys) if key in asks], dtype=np.intp)
            for asks in self.choice.asked
        ]

    @cached_property
    def geometry(self) -> Geometry:
        """Covariance and views, for all estimators."""
        return Geometry(self.covariance, self.views)

    @property
    def target_columns(self) -> np.ndarray:
        """Features of the model that is wanted, into `features`."""
        return self.views[self.target] if self.choice.own else np.arange(len(self.features))

    @cached_property
    def moments(self) -> list[Moments]:
        """Every agent's training people, centred within the state, on what it asks."""
        return [
            self._moments(self.joint(i, view), int(n))
            for i, (view, n) in enumerate(zip(self.views, self.counts, strict=True))
        ]

    def joint(self, agent: int, view: np.ndarray) -> Array:
        """Sums of products about the mean of scaled features and target, shape (k + 1, k + 1)."""
        columns = np.append(self._columns[view], self._label)
        scale = np.append(self.scale[view], self.label_scale)
        return self._spread[agent][np.ix_(columns, columns)] / np.outer(scale, scale)

    @staticmethod
    def _moments(joint: Array, n: int) -> Moments:
        return Moments(
            n, joint[..., :-1, :-1], joint[..., :-1, -1], joint[..., -1, -1], is_centred=True
        )

    @cached_property
    def fresh(self) -> Moments:
        """The target's training people with all features, as if it asked everything."""
        view = np.arange(len(self.features))
        return self._moments(self.joint(self.target, view), int(self.counts[self.target]))

    @cached_property
    def agents(self) -> StateAgents:
        """Everybody at full size, as methods read them."""
        return StateAgents.of(self, self.moments, self.fresh, self.train_mean)

    @property
    def whose(self) -> Target:
        """The model that is wanted: of all features, or of the target's own."""
        return Target(self.target if self.choice.own else None)

    # Errors --------------------------------------------------------------------------------------

    def _test_people(self, agent: int, view: np.ndarray) -> tuple[HeldOut, Array]:
        """Test people of a state, and the mean (k + 1,) of its training people, scaled."""
        place = self._places[agent]
        columns = np.append(self._columns[view], self._label)
        scale = np.append(self.scale[view], self.label_scale)
        mean, spread = self.sums.about_mean
        count = int(self.sums.n[place, TEST])
        if count < 2:
            raise ValueError(
                f"{self.choice.states[agent]} has {count} test people, and at least 2 are needed"
                " to measure an error; pick another target"
            )
        block = spread[place, TEST][np.ix_(columns, columns)] / np.outer(scale, scale)
        held_out = HeldOut(np.array(float(count)), mean[place, TEST][columns] / scale, block)
        return held_out, mean[place, TRAIN][columns] / scale

    @cached_property
    def _test(self) -> tuple[HeldOut, Array]:
        return self._test_people(self.target, self.target_columns)

    @property
    def train_mean(self) -> Array:
        """Mean of the target's training people, scaled, shape (k + 1,)."""
        return self._test[1]

    def measured(self) -> pd.DataFrame:
        """Every state's own model, alone and together, on its own test people.

        Returns
        -------
        DataFrame
            ``state``, ``alone`` and ``together``: error over that of predicting the mean; <NA> for
            a state that asks nothing, has too few people, or no test people.
        """
        rows = []
        for i, (state, view) in enumerate(zip(self.choice.states, self.views, strict=True)):
            row: dict[str, Any] = {"state": state, "alone": None, "together": None}
            if view.size and self.sums.n[self._places[i], TEST] >= 2:
                held_out, centre = self._test_people(i, view)
                base = float(held_out.error(np.zeros(view.size), centre))
                for column, method in (("alone", "local"), ("together", "collab")):
                    model = self.model(method, Target(i))
                    if model is not None and base > 0:
                        row[column] = float(held_out.error(model, centre)) / base
            rows.append(row)
        return pd.DataFrame(rows).astype({"alone": "Float64", "together": "Float64"})

    def test_error(self, theta: Array, centre: Array | None = None) -> Array:
        """Mean squared error on the target's test people, in pooled standard deviations, (...).

        Parameters
        ----------
        theta : array, shape (..., k)
            A model of the target's columns.
        centre : array, shape (..., k + 1), optional
            Means of features and target that predictions start from; the training people's.
        """
        return self._test[0].error(theta, self.train_mean if centre is None else centre)

    @cached_property
    def baseline(self) -> float:
        """Error of predicting the training mean for everybody."""
        error = float(self.test_error(np.zeros(len(self.target_columns))))
        if error <= 0:
            raise ValueError(f"all test people of {self.choice.target} travel for the same time")
        return error

    def model(self, method: str, target: Target | None = None) -> Array | None:
        """A method's model at full size, (k,), of the wanted target; None where there is none."""
        try:
            with single_threaded_blas():
                return (target or self.whose).model(registry.get(method).of(self.agents))
        except NotEstimableError:
            return None

    def results(self, resamples: int = 40, seed: int = 0) -> pd.DataFrame:
        """Every method at full size: its error on the target's test people.

        Intervals are over resamples: the training people of every state drawn anew from a Gaussian
        law with the state's own moments. The test people stay.

        Returns
        -------
        DataFrame
            ``method``, ``error`` (in pooled standard deviations squared), ``relative`` (to
            predicting the mean), ``r2``, ``low`` and ``high`` (95% interval of ``relative``, by the
            basic bootstrap: resamples scatter about the fit as the fit about the truth),
            ``gap_low`` and ``gap_high`` (that of ``relative`` less local least squares', on the
            same resamples), ``note``.
        """
        chosen = registry.usual(GIVEN)
        found = {method: self.model(method) for method in chosen}
        curve = error_curve(GaussianPeople(self), [EVERYBODY], max(resamples, 1), chosen, seed=seed)
        drawn = {m: curve.at(m, EVERYBODY) for m in chosen if resamples and found[m] is not None}
        base = self.baseline
        points = {
            method: float(self.test_error(model)) / base
            for method, model in found.items()
            if model is not None
        }
        rows = []
        for method in chosen:
            point = points.get(method)
            row: dict[str, Any] = {"method": method, "error": None, "relative": point, "r2": None}
            row |= dict.fromkeys(("low", "high", "gap_low", "gap_high"))
            row["note"] = "" if point is not None else curve.notes.get((method, EVERYBODY), "")
            if point is not None:
                row["error"], row["r2"] = point * base, 1 - point
                if method in drawn:
                    row["low"], row["high"] = basic_interval(point, drawn[method])
                if method in drawn and "local" in drawn:
                    gap = drawn[method] - drawn["local"]
                    row["gap_low"], row["gap_high"] = basic_interval(point - points["local"], gap)
            rows.append(row)
        numbers = ("error", "relative", "r2", "low", "high", "gap_low", "gap_high")
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "Float64"))

    def error_curve(
        self,
        sample_sizes: Sequence[int],
        trials: int,
        methods: Sequence[str] | None = None,
        *,
        seed: int = 0,
        people: People | None = None,
        recipe: str = "ours",
        progress: Callable[[float, Curve], None] | None = None,
        executor: HasSubmit | None = None,
        cancel: Event | None = None,
    ) -> Curve:
        """Error on the target's test people against n, over that of predicting the mean.

        Parameters
        ----------
        sample_sizes : list of int
            People of every state.
        methods : list of str, optional
            Keys of `collab_core.methods`; the usual ones by default. By the authors' recipe also
            RW-Imputation: with R_i inside the sample, as in ours, that is COLLAB.
        people : People, optional
            Records to draw from; people of a Gaussian law with each state's moments by default.
        recipe : {"ours", "authors"}
            How records are centred, scaled and weighted (`source.RecordedPeople`).
        progress, executor, cancel
            As in `simulate.error_curve`.
        """
        source = GaussianPeople(self) if people is None else RecordedPeople(self, people, recipe)
        sizes = [whole("sample_sizes", n, low=2) for n in sample_sizes]
        if methods is None and recipe == "authors":
            methods = registry.usual(GIVEN | {"truth"})
        return error_curve(
            source, sizes, trials, methods, seed=seed, progress=progress, executor=executor,
            cancel=cancel,
        )  # fmt: skip

    # Gains, what-ifs, coefficients ---------------------------------------------------------------

    @cached_property
    def problem(self) -> Problem:
        """The world in which these states' pooled relation is the truth, for closed-form answers.

        Theta is least squares on everybody's training people, within states; noise what it leaves.
        """
        columns = np.append(self._columns, self._label)
        scale = np.append(self.scale, self.label_scale)
        pooled = self._spread[:, columns[:, None], columns].sum(axis=0) / np.outer(scale, scale)
        freedom = (self.counts - 1).sum()
        theta = np.linalg.solve(self.covariance, pooled[:-1, -1] / freedom)
        left = float(pooled[-1, -1] / freedom - theta @ pooled[:-1, -1] / freedom)
        shares = self.counts / self.counts.mean()
        return Problem(self.covariance, theta, np.sqrt(max(left, 1e-12)), self.views, shares)

    def gains(self) -> pd.DataFrame:
        """Every state alone and together, by the formulas for its own number of people.

        Returns
        -------
        DataFrame
            ``state``, ``people``, ``features``, ``alone`` and ``together`` (expected excess error
            of its own model, in standard deviations squared), ``worth`` (by what its data would
            have to be multiplied), ``irreducible`` (what it never asks costs it).
        """
        problem, n = self.problem, float(self.counts.mean())
        together = bounds.local_errors(problem, bounds.gauss(problem)) / n
        alone = problem.unexplained * problem.sizes / self.counts
        return pd.DataFrame(
            {
                "state": self.choice.states,
                "people": self.counts,
                "features": problem.sizes,
                "alone": alone,
                "together": together,
                "worth": np.divide(alone, together, out=np.ones_like(alone), where=together > 0),
                "irreducible": problem.irreducible,
            }
        )

    def coefficients(self, level: float = 0.95) -> pd.DataFrame:
        """What the collaborative model says, beside the target's own, in natural units.

        Returns
        -------
        DataFrame
            A row a feature of the wanted model: ``feature``, ``asked`` (by the target),
            ``together``, ``low``, ``high`` (interval), ``alone`` with ``alone_low`` and
            ``alone_high`` (<NA> for what the target never asked, and for levels that none of its
            people had).
        """
        estimate = registry.get("collab").of(self.agents)
        assert isinstance(estimate, Estimate)
        centre = self.whose.model(estimate)
        low, high = estimate.interval(level, agent=self.whose.agent)
        unit = self.label_scale / self.scale[self.target_columns]
        names = [self.features[j] for j in self.target_columns]
        fit = self.moments[self.target].fit
        half = normal_reach(level) * np.sqrt(np.maximum(np.diagonal(fit.covariance), 0.0))
        alone = {
            self.features[j]: (fit.theta[k], half[k])
            for k, j in enumerate(self.views[self.target])
            if self.moments[self.target].xx[k, k] > 0
        }
        asked = {self.features[j] for j in self.views[self.target]}
        rows = []
        for k, name in enumerate(names):
            own = alone.get(name)
            rows.append(
                {
                    "feature": name,
                    "asked": name in asked,
                    "together": centre[k] * unit[k],
                    "low": low[k] * unit[k],
                    "high": high[k] * unit[k],
                    "alone": None if own is None else own[0] * unit[k],
                    "alone_low": None if own is None else (own[0] - own[1]) * unit[k],
                    "alone_high": None if own is None else (own[0] + own[1]) * unit[k],
                }
            )
        numbers = ("together", "low", "high", "alone", "alone_low", "alone_high")
        columns = ["feature", "asked", *numbers]
        kinds = dict.fromkeys(numbers, "Float64")
        return pd.DataFrame(rows, columns=columns).astype(kinds)

    def error_now(self) -> float:
        """COLLAB's error on the target's test people, relative to predicting the mean."""
        with single_threaded_blas():
            model = self.whose.model(registry.get("collab").of(self.agents))
        return float(self.test_error(model)) / self.baseline

    def asking_more(
        self,
        progress: Callable[[float], None] | None = None,
        cancel: Event | None = None,
    ) -> pd.DataFrame:
        """COLLAB's measured error on the target's test people if a state asked one more question.

        Sums hold every state's answers to every question, so the change is measured, not supposed.

        Returns
        -------
        DataFrame
            ``state``, ``question``, ``before``, ``after`` (over predicting the mean; NaN where it
            cannot be fitted) and ``fall`` (1 - after / before). A row for every question of the
            data that a state does not ask.
        """
        before = self.error_now()
        missing = [
            (i, question)
            for i, asks in enumerate(self.choice.asked)
            for question in self.sums.questions
            if question not in asks
        ]
        rows = []
        for done, (i, question) in enumerate(missing, start=1):
            if cancel is not None and cancel.is_set():
                break
            asked = list(self.choice.asked)
            asked[i] = tuple(key for key in self.sums.questions if key in (*asked[i], question))
            after = measured_after(self, asked=tuple(asked))
            rows.append(
                {"state": self.choice.states[i], "question": question, "before": before,
                 "after": after, "fall": 1 - after / before}
            )  # fmt: skip
            if progress is not None:
                progress(done / len(missing))
        return pd.DataFrame(rows, columns=["state", "question", "before", "after", "fall"])


def measured_after(study: Study, **changes: Any) -> float:
    """COLLAB's error after a change of the choice; NaN where it cannot be fitted."""
    with single_threaded_blas():
        try:
            return with_choice(study, **changes).error_now()
        except ValueError:
            return float("nan")


def with_choice(study: Study, **changes: Any) -> Study:
    """The same data with another choice."""
    given = {name: getattr(study.choice, name) for name in study.choice.__dataclass_fields__}
    return Study(study.sums, StudyChoice(**(given | changes)))
