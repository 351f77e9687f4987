"""A study: some states as agents, what each asks, and whose commute is to be predicted.

Everything is computed from sums: features centred within each state's own sample (a rare level
that is absent from it becomes exactly 0, not a hidden intercept), scaled by the standard deviation
pooled over states, the covariance pooled over the training people of all states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import bounds, estimators, theory
from .._blas import single_threaded_blas
from .._checks import Array, whole
from ..draws import wishart_root
from ..estimate import Estimate, NotEstimableError
from ..geometry import Geometry
from ..moments import LocalFit, Moments
from ..problem import Problem
from ..simulate import mean_interval
from .questions import PAPER_MISSING, QUESTIONS, question_of
from .sums import TEST, TRAIN, CensusSums

#: Methods in the order of tables and legends.
METHODS = ("collab", "collab_plus", "imputation", "local", "naive_collab",
           "optimized_naive_collab")  # fmt: skip

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
class Choice:
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
    weights : {"empirical", "population"}
        COLLAB's. With population weights a coefficient that a sample could not tell enters with
        full confidence.
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
    choice : Choice
    """

    def __init__(self, sums: CensusSums, choice: Choice) -> None:
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
        return [self._moments(self._joint(i, view), n) for i, view, n in self._agents()]

    def _agents(self) -> list[tuple[int, np.ndarray, int]]:
        counts = self.counts.tolist()
        return [(i, view, counts[i]) for i, view in enumerate(self.views)]

    def _joint(self, agent: int, view: np.ndarray) -> Array:
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
        return self._moments(self._joint(self.target, view), int(self.counts[self.target]))

    # Errors --------------------------------------------------------------------------------------

    @cached_property
    def _test(self) -> tuple[int, Array, Array]:
        """Test people of the target: how many, mean (k + 1,) and spread, scaled."""
        place = self._places[self.target]
        columns = np.append(self._columns[self.target_columns], self._label)
        scale = np.append(self.scale[self.target_columns], self.label_scale)
        mean, spread = self.sums.about_mean
        count = int(self.sums.n[place, TEST])
        if count < 2:
            raise ValueError(
                f"{self.choice.target} has {count} test people, and at least 2 are needed to"
                " measure an error; pick another target"
            )
        block = spread[place, TEST][np.ix_(columns, columns)] / np.outer(scale, scale)
        return count, mean[place, TEST][columns] / scale, block

    @cached_property
    def _train_mean(self) -> Array:
        """Mean of the target's training people, scaled, shape (k + 1,)."""
        columns = np.append(self._columns[self.target_columns], self._label)
        scale = np.append(self.scale[self.target_columns], self.label_scale)
        return self.sums.about_mean[0][self._places[self.target], TRAIN][columns] / scale

    def test_error(self, theta: Array, centre: Array | None = None) -> Array:
        """Mean squared error on the target's test people, in pooled standard deviations, (...).

        Parameters
        ----------
        theta : array, shape (..., k)
            A model of the target's columns.
        centre : array, shape (..., k + 1), optional
            Means of features and target that predictions start from; the training people's.
        """
        count, mean, spread = self._test
        gap = mean - (self._train_mean if centre is None else centre)
        weights = np.concatenate([-theta, np.ones((*theta.shape[:-1], 1))], axis=-1)
        quadratic = ((weights @ spread) * weights).sum(axis=-1) / count
        return quadratic + ((weights * gap).sum(axis=-1)) ** 2

    @cached_property
    def baseline(self) -> float:
        """Error of predicting the training mean for everybody."""
        return float(self.test_error(np.zeros(len(self.target_columns))))

    def models(
        self, moments: Sequence[Moments], fresh: Moments, methods: Sequence[str]
    ) -> tuple[dict[str, Array], dict[str, str]]:
        """Every method's model of the target's columns, and why one is missing."""
        found: dict[str, Array] = {}
        notes: dict[str, str] = {}
        for method in methods:
            try:
                found[method] = self._model(method, moments, fresh)
            except NotEstimableError as reason:
                notes[method] = str(reason)
        return found, notes

    def _model(self, method: str, moments: Sequence[Moments], fresh: Moments) -> Array:
        d = len(self.features)
        match method:
            case "local":
                fit: LocalFit = moments[self.target].fit if self.choice.own else fresh.fit
                if (fit.degrees_of_freedom <= fit.theta.shape[-1]).any():
                    raise NotEstimableError("too few people for that many features")
                return fit.theta
            case "naive_collab":
                return estimators.naive_collab(moments, self.views, d).theta[
                    ..., self.target_columns
                ]
            case "optimized_naive_collab":
                estimate = estimators.optimized_naive_collab(moments, self.views, fresh)
                return estimate.theta[..., self.target_columns]
            case "imputation":
                aggregate: Estimate = estimators.global_imputation(
                    moments, self.views, self.geometry
                )
            case "collab_plus":
                aggregate = estimators.collab_plus(moments, self.views, self.geometry)
            case _:
                aggregate = estimators.collab(
                    moments, self.views, self.geometry, self.choice.weights
                )
        return aggregate.local(self.target) if self.choice.own else aggregate.theta

    def results(self, resamples: int = 40, seed: int = 0) -> pd.DataFrame:
        """Every method at full size: its error on the target's test people.

        Intervals are over resamples: the training people of every state drawn anew from a Gaussian
        law with the state's own moments. The test people stay.

        Returns
        -------
        DataFrame
            ``method``, ``error`` (in pooled standard deviations squared), ``relative`` (to
            predicting the mean), ``r2``, ``low`` and ``high`` (2.5% and 97.5% of ``relative`` over
            resamples), ``note``.
        """
        with single_threaded_blas():
            found, notes = self.models(self.moments, self.fresh, METHODS)
            drawn = self.draw_errors(None, resamples, METHODS, seed)[0] if resamples else {}
        rows = []
        for method in METHODS:
            error = float(self.test_error(found[method])) if method in found else None
            relative = None if error is None else error / self.baseline
            spread = drawn.get(method)
            low, high = (
                (None, None)
                if spread is None
                else np.quantile(spread / self.baseline, [0.025, 0.975]).tolist()
            )
            rows.append(
                {
                    "method": method,
                    "error": error,
                    "relative": relative,
                    "r2": None if relative is None else 1 - relative,
                    "low": low,
                    "high": high,
                    "note": notes.get(method, ""),
                }
            )
        kinds = dict.fromkeys(("error", "relative", "r2", "low", "high"), "Float64")
        return pd.DataFrame(rows).astype(kinds)

    # Draws ---------------------------------------------------------------------------------------

    def draw_errors(
        self, n: int | None, trials: int, methods: Sequence[str], seed: int = 0
    ) -> tuple[dict[str, Array], dict[str, str]]:
        """Test errors when every state has n people (or as many as it has), Gaussian draws.

        Exact sums of Gaussian people with the state's own moments, at a cost that does not depend
        on n. Returned are errors of shape (trials,) by method, and why one is missing.
        """
        rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0)))
        moments = []
        for i, view, count in self._agents():
            size = count if n is None else n
            moments.append(self._moments(self._wishart(rng, i, view, size, trials), size))
        size = int(self.counts[self.target]) if n is None else n
        everything = np.arange(len(self.features))
        fresh = self._moments(self._wishart(rng, self.target, everything, size, trials), size)
        found, notes = self.models(moments, fresh, methods)
        # Predictions start from the means of the n people, which vary too.
        columns = self.target_columns
        joint = self._joint(self.target, columns) / (self.counts[self.target] - 1)
        noise = rng.standard_normal((trials, len(columns) + 1)) @ _root(joint) / np.sqrt(size)
        centre = self._train_mean + noise
        return {method: self.test_error(theta, centre) for method, theta in found.items()}, notes

    def _wishart(
        self, rng: np.random.Generator, agent: int, view: np.ndarray, n: int, trials: int
    ) -> Array:
        joint = self._joint(agent, view) / (self.counts[agent] - 1)
        white = wishart_root(rng, trials, max(n - 1, 1), len(view) + 1)
        coloured = white @ _root(joint)
        # A level that the state never had stays exactly 0: rounding would be a feature of its own.
        coloured = coloured * (np.diagonal(joint) > 0)
        return np.swapaxes(coloured, -1, -2) @ coloured

    def error_curve(
        self,
        sample_sizes: Sequence[int],
        trials: int,
        methods: Sequence[str] = METHODS,
        *,
        seed: int = 0,
        draw: Callable[..., tuple[dict[str, Array], dict[str, str]]] | None = None,
        progress: Callable[[float, pd.DataFrame], None] | None = None,
        cancel: Event | None = None,
    ) -> pd.DataFrame:
        """Error against n: ``n``, ``method``, ``mean``, ``low``, ``high``, ``trials``, ``note``.

        Errors are relative to predicting the mean.

        Parameters
        ----------
        draw : callable, optional
            As `draw_errors`, which it is by default; `people.People.draw_errors` draws records.
        """
        draw = draw or self.draw_errors
        rows: list[dict[str, Any]] = []
        for done, n in enumerate(sample_sizes, start=1):
            if cancel is not None and cancel.is_set():
                break
            with single_threaded_blas():
                found, notes = draw(whole("sample_sizes", n, low=2), trials, methods, seed + done)
            for method in methods:
                mean, low, high = (
                    mean_interval(found[method] / self.baseline)
                    if method in found
                    else (pd.NA, pd.NA, pd.NA)
                )
                rows.append(
                    {"n": n, "method": method, "mean": mean, "low": low, "high": high,
                     "theory": pd.NA, "trials": trials if method in found else 0,
                     "note": notes.get(method, "")}
                )  # fmt: skip
            if progress is not None:
                progress(done / len(sample_sizes), _typed(rows))
        return _typed(rows)

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
            ``alone_high`` (<NA> for what the target never asked).
        """
        estimate = estimators.collab(self.moments, self.views, self.geometry)
        agent = self.target if self.choice.own else None
        centre = estimate.local(self.target) if self.choice.own else estimate.theta
        low, high = estimate.interval(level, agent=agent)
        unit = self.label_scale / self.scale[self.target_columns]
        names = [self.features[j] for j in self.target_columns]
        fit = self.moments[self.target].fit
        half = theory.normal_quantile(level) * np.sqrt(np.maximum(np.diagonal(fit.covariance), 0.0))
        alone = {
            self.features[j]: (fit.theta[k], half[k]) for k, j in enumerate(self.views[self.target])
        }
        rows = []
        for k, name in enumerate(names):
            own = alone.get(name)
            rows.append(
                {
                    "feature": name,
                    "asked": own is not None,
                    "together": centre[k] * unit[k],
                    "low": low[k] * unit[k],
                    "high": high[k] * unit[k],
                    "alone": None if own is None else own[0] * unit[k],
                    "alone_low": None if own is None else (own[0] - own[1]) * unit[k],
                    "alone_high": None if own is None else (own[0] + own[1]) * unit[k],
                }
            )
        kinds = dict.fromkeys(("alone", "alone_low", "alone_high"), "Float64")
        return pd.DataFrame(rows).astype(kinds)

    def error_now(self) -> float:
        """COLLAB's error on the target's test people, relative to predicting the mean."""
        return (
            float(self.test_error(self._model("collab", self.moments, self.fresh))) / self.baseline
        )

    def asking_more(self, progress: Callable[[float], None] | None = None) -> pd.DataFrame:
        """Expected error of the target's own model if a state asked one more question.

        Returns
        -------
        DataFrame
            ``state``, ``question``, ``before``, ``after``: expected prediction error of the
            target beyond the noise, what it never asks included; ``fall`` (1 - after / before).
            A row for every question that a state does not ask and that somebody does.
        """
        base = self.problem
        n = float(self.counts.mean())
        before = _own_error(base, self.target, n)
        keys = [question_of(name).key for name in self.features]
        rows = []
        for i, state in enumerate(self.choice.states):
            for question in dict.fromkeys(keys):
                if question in self.choice.asked[i]:
                    continue
                extra = [j for j, key in enumerate(keys) if key == question]
                views = list(self.views)
                views[i] = np.sort(np.append(views[i], extra)).astype(np.intp)
                changed = Problem(base.covariance, base.theta, base.noise, views, base.shares)
                after = _own_error(changed, self.target, n)
                rows.append(
                    {"state": state, "question": question, "before": before, "after": after,
                     "fall": 1 - after / before if before > 0 else 0.0}
                )  # fmt: skip
        names = ["state", "question", "before", "after", "fall"]
        return pd.DataFrame(rows, columns=names)


def with_choice(study: Study, **changes: Any) -> Study:
    """The same data with another choice."""
    given = {name: getattr(study.choice, name) for name in study.choice.__dataclass_fields__}
    return Study(study.sums, Choice(**(given | changes)))


def joining(study: Study, asked: Sequence[str] | None = None) -> pd.DataFrame:
    """COLLAB's measured error on the target's test people when each state not yet in it joins.

    Parameters
    ----------
    asked : list of str, optional
        Questions that a newcomer asks; all by default.

    Returns
    -------
    DataFrame
        ``state``, ``before``, ``after`` (relative to predicting the mean).
    """
    before = study.error_now()
    questions = tuple(study.sums.questions if asked is None else asked)
    rows = []
    for state in study.sums.states:
        if state in study.choice.states:
            continue
        with single_threaded_blas():
            more = with_choice(
                study,
                states=(*study.choice.states, state),
                asked=(*study.choice.asked, questions),
            )
            rows.append({"state": state, "before": before, "after": more.error_now()})
    return pd.DataFrame(rows, columns=["state", "before", "after"])


def doubling(study: Study) -> pd.DataFrame:
    """Expected excess error of the target's own model if a state had twice its labelled people.

    By the formulas: ``state``, ``before``, ``after``.
    """
    base, n = study.problem, float(study.counts.mean())
    before = _own_error(base, study.target, n)
    rows = []
    for i, state in enumerate(study.choice.states):
        shares = base.shares.copy()
        shares[i] *= 2
        more = Problem(base.covariance, base.theta, base.noise, base.views, shares)
        rows.append({"state": state, "before": before, "after": _own_error(more, study.target, n)})
    return pd.DataFrame(rows, columns=["state", "before", "after"])


def leaving(study: Study) -> pd.DataFrame:
    """COLLAB's measured error on the target's test people when each other state leaves.

    Returns
    -------
    DataFrame
        ``state``, ``before``, ``after`` (relative to predicting the mean).
    """
    before = study.error_now()
    rows = []
    for state in study.choice.states:
        if state == study.choice.target:
            continue
        keep = [i for i, name in enumerate(study.choice.states) if name != state]
        rest = with_choice(
            study,
            states=tuple(study.choice.states[i] for i in keep),
            asked=tuple(study.choice.asked[i] for i in keep),
        )
        with single_threaded_blas():
            rows.append({"state": state, "before": before, "after": rest.error_now()})
    return pd.DataFrame(rows, columns=["state", "before", "after"])


def question_table(falls: pd.DataFrame, states: Sequence[str]) -> pd.DataFrame:
    """`Study.asking_more` as a table: a row a state, a column a question, how far errors fall."""
    table = falls.pivot(index="state", columns="question", values="fall")
    order = [key for key in QUESTIONS if key in table.columns]
    return table.reindex(index=list(states), columns=order)


def _own_error(problem: Problem, agent: int, n: float) -> float:
    """Expected error of an agent's own model beyond the noise, at average size n."""
    together = bounds.error(problem, bounds.gauss(problem), agent) / n
    return together + float(problem.irreducible[agent])


def _root(matrix: Array) -> Array:
    """``R`` with ``R'R = matrix`` for a p.s.d. matrix, also a singular one."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return (vectors * np.sqrt(np.maximum(values, 0.0))).T


def _typed(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    names = ["n", "method", "mean", "low", "high", "theory", "trials", "note"]
    numbers = dict.fromkeys(("mean", "low", "high", "theory"), "Float64")
    return pd.DataFrame(list(rows), columns=names).astype(numbers)
