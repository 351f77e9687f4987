"""Records themselves, for drawing n people at a time as the paper does.

Held in memory only as numbers of those who count; sums (`study`) need none of this. Test people
are held too, for what cannot be measured by sums (`collab_core.smooth.travel`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import numpy as np

from .._base.checks import Array, whole
from ..core.estimate import NotEstimableError
from ..core.moments import Moments
from ..methods import estimators
from ..world.laws import EmpiricalLaw
from .records import layout_of, read, state_name
from .study import Study
from .sums import TEST_EVERY, CensusSums, Collector

#: Of the training people, one in so many is kept for validation by the authors' recipe.
VALIDATION_EVERY = 5

#: Training people held at most: some 400 MB with those for testing.
MOST_PEOPLE = 1_000_000

#: People whose answers make an empirical law, at most: some 90 MB.
MOST_ROWS = 300_000


def _joined(parts: dict[int, list[tuple[Array, Array]]]) -> dict[str, tuple[Array, Array]]:
    """Pieces by state code to whole arrays by state."""
    return {
        state_name(code): (
            np.concatenate([x for x, _ in pieces]),
            np.concatenate([y for _, y in pieces]),
        )
        for code, pieces in parts.items()
    }


class People:
    """Training people of every state, as numbers, and the sums of everybody.

    Attributes
    ----------
    features : tuple of str
    by_state : dict
        By state, features (n, d) and minutes (n,).
    sums : CensusSums
        Of the same files, test people included.
    tests : dict
        By state, the same of the test people, who take part in no fit.
    """

    def __init__(
        self,
        features: tuple[str, ...],
        by_state: dict[str, tuple[Array, Array]],
        sums: CensusSums,
        tests: dict[str, tuple[Array, Array]] | None = None,
    ) -> None:
        self.features, self.by_state, self.sums = features, by_state, sums
        self.tests = tests or {}
        self._own_scales: dict[tuple[str, bool], tuple[Array, Array, float, float]] = {}

    @classmethod
    def from_files(
        cls,
        paths: Sequence[str | Path],
        source: str,
        *,
        most: int | None = None,
        progress: Callable[[float], None] | None = None,
        cancel: Event | None = None,
    ) -> People:
        """Read files of person records; what any of them lacks is left out of all.

        With more than ``most`` training people (a million) only their sums are kept, within the
        memory of one chunk; `holds_records` says so.
        """
        files = [Path(path) for path in paths]
        collector = Collector([layout_of(path) for path in files])
        features = collector.features
        parts: dict[int, list[tuple[Array, Array]]] = {}
        kept: dict[int, list[tuple[Array, Array]]] = {}
        seen: dict[int, int] = {}
        held = 0
        limit = MOST_PEOPLE if most is None else most
        for path, layout, people in read(files, progress=progress, cancel=cancel):
            collector.add(people, layout.features, path.name)
            columns = [layout.features.index(name) for name in features]
            for code in np.unique(people.states):
                rows = np.flatnonzero(people.states == code)
                first = seen.get(int(code), 0)
                seen[int(code)] = first + rows.size
                training = (first + np.arange(rows.size)) % TEST_EVERY != 0
                held += int(training.sum())
                if held > limit:
                    # Too many to hold: the sums go on, and records are not kept at all.
                    parts.clear()
                    kept.clear()
                    continue
                for where, some in ((parts, rows[training]), (kept, rows[~training])):
                    where.setdefault(int(code), []).append(
                        (people.x[some][:, columns], people.minutes[some])
                    )
        if held > limit:
            return cls(features, {}, collector.sums(source))
        return cls(features, _joined(parts), collector.sums(source), _joined(kept))

    @property
    def holds_records(self) -> bool:
        """Whether people can be drawn, or only their sums are here."""
        return bool(self.by_state)

    def feature_law(self, study: Study, most: int = MOST_ROWS, seed: int = 0) -> EmpiricalLaw:
        """The law of these people's answers: a draw is a person picked at random.

        Answers are in the study's units and about their state's mean, as everywhere in a study;
        states are put together, since the method's theory has one law for all agents.

        Parameters
        ----------
        study : Study
            Of the same data.
        most : int
            People used at most, picked at random.
        """
        if not self.holds_records:
            raise ValueError("people: only sums were kept of these files, not the records")
        columns = [self.features.index(name) for name in study.features]
        parts = [
            x - x.mean(axis=0)
            for x in (self.by_state[state][0][:, columns] for state in study.choice.states)
        ]
        rows = np.concatenate(parts) / study.scale
        if len(rows) > whole("most", most, low=1):
            rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0)))
            rows = rows[np.sort(rng.choice(len(rows), most, replace=False))]
        return EmpiricalLaw(rows)

    def draw_errors(
        self, study: Study, n: int, trials: int, methods: Sequence[str], seed: int = 0,
        *, recipe: str = "ours",
    ) -> tuple[dict[str, Array], dict[str, str]]:  # fmt: skip
        """Test errors when every state has n of its own people, drawn without replacement.

        Parameters
        ----------
        study : Study
            Of the same data.
        recipe : {"ours", "authors"}
            Ours centres within the sample and scales by pooled deviations. The authors' centres
            and scales every state by its own training people, and measures R_i on validation
            people: a level that is absent from the sample then becomes a hidden intercept.
        """
        smallest = min(len(self.by_state[state][1]) for state in study.choice.states)
        if whole("n", n, low=2) > smallest:
            raise ValueError(f"n must be at most {smallest:,}, the people of the smallest state")
        rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0)))
        errors: dict[str, list[float]] = {}
        notes: dict[str, str] = {}
        work = self._trial if recipe == "ours" else self._authors_trial
        for _ in range(trials):
            found, said = work(study, n, methods, rng)
            notes |= said
            for method, error in found.items():
                errors.setdefault(method, []).append(error)
        return {method: np.array(values) for method, values in errors.items()}, notes

    def _sample(
        self, study: Study, state: str, n: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Scaled features (n, d) and targets (n,) of some of a state's people."""
        x, minutes = self.by_state[state]
        rows = rng.choice(len(minutes), n, replace=False)
        columns = [self.features.index(name) for name in study.features]
        label = np.log(minutes[rows]) if study.choice.log else minutes[rows]
        return x[rows][:, columns] / study.scale, label / study.label_scale

    def _trial(
        self, study: Study, n: int, methods: Sequence[str], rng: np.random.Generator
    ) -> tuple[dict[str, float], dict[str, str]]:
        moments: list[Moments] = []
        everything = fresh = None
        for i, state in enumerate(study.choice.states):
            x, y = self._sample(study, state, n, rng)
            moments.append(Moments.from_arrays(x[:, study.views[i]], y).centred())
            if i == study.target:
                everything = (x, y)
                fresh = Moments.from_arrays(x, y).centred()
        assert everything is not None
        assert fresh is not None
        x, y = everything
        centre = np.append(x[:, study.target_columns].mean(axis=0), y.mean())
        found, notes = study.models(moments, fresh, methods)
        return {key: float(study.test_error(m, centre)) for key, m in found.items()}, notes

    def _authors_trial(
        self, study: Study, n: int, methods: Sequence[str], rng: np.random.Generator
    ) -> tuple[dict[str, float], dict[str, str]]:
        """Own centring and scale per state; R_i from validation people; population weights."""
        moments: list[Moments] = []
        residuals, fresh, target = [], None, None
        for i, state in enumerate(study.choice.states):
            x, minutes = self.by_state[state]
            columns = [self.features.index(name) for name in study.features]
            table = x[:, columns]
            label = np.log(minutes) if study.choice.log else minutes
            held = np.arange(len(label)) % VALIDATION_EVERY == 0
            if n > (~held).sum():
                raise ValueError(
                    f"n must be at most {(~held).sum():,}: the authors' recipe keeps a fifth of"
                    f" {state}'s people for validation"
                )
            every, every_deviation, shift, spread = self._own_scale(state, study.choice.log)
            mean, deviation = every[columns], every_deviation[columns]
            rows = rng.choice(np.flatnonzero(~held), n, replace=False)
            z, y = (table[rows] - mean) / deviation, (label[rows] - shift) / spread
            view = study.views[i]
            moments.append(Moments.from_arrays(z[:, view], y))
            check = (table[held] - mean) / deviation, (label[held] - shift) / spread
            gap = check[1] - check[0][:, view] @ moments[-1].fit.theta
            residuals.append(float((gap**2).mean()))
            if i == study.target:
                fresh = Moments.from_arrays(z, y)
                target = (mean, deviation, shift, spread)
        assert fresh is not None
        assert target is not None
        found: dict[str, float] = {}
        notes: dict[str, str] = {}
        weights = [study.geometry.block(i) / residual for i, residual in enumerate(residuals)]
        for method in methods:
            try:
                if method == "collab":
                    estimate = estimators.aggregate(moments, study.views, study.geometry, weights)
                    model = estimate.local(study.target) if study.choice.own else estimate.theta
                elif method == "rw_imputation":
                    alphas = 1 / np.array(residuals)
                    estimate = estimators.global_imputation(
                        moments, study.views, study.geometry, alphas
                    )
                    model = estimate.local(study.target) if study.choice.own else estimate.theta
                else:
                    found_models, said = study.models(moments, fresh, [method])
                    if said:
                        raise NotEstimableError(said[method])
                    model = found_models[method]
            except NotEstimableError as reason:
                notes[method] = str(reason)
                continue
            found[method] = self._authors_error(study, model, *target)
        return found, notes

    def _own_scale(self, state: str, log: bool) -> tuple[Array, Array, float, float]:
        """Means and deviations of a state's own training people, worked out once."""
        key = (state, log)
        if key not in self._own_scales:
            x, minutes = self.by_state[state]
            label = np.log(minutes) if log else minutes
            used = np.arange(len(label)) % VALIDATION_EVERY != 0
            deviation = x[used].std(axis=0)
            deviation[deviation == 0] = 1.0
            self._own_scales[key] = (
                x[used].mean(axis=0), deviation, float(label[used].mean()),
                float(label[used].std()),
            )  # fmt: skip
        return self._own_scales[key]

    @staticmethod
    def _authors_error(
        study: Study, model: Array, mean: Array, deviation: Array, shift: float, spread: float
    ) -> float:
        """A model in the authors' units, on the test people in ours."""
        columns = study.target_columns
        theta = model * (spread / deviation[columns]) * study.scale[columns] / study.label_scale
        centre = np.append(mean[columns] / study.scale[columns], shift / study.label_scale)
        return float(study.test_error(theta, centre))
