"""States as sources of agents: people drawn from a Gaussian law, or the records themselves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._base.checks import Array, choice, whole
from ..core.agents import Agents, Options, Oracle
from ..core.moments import Moments
from ..core.target import Models, Target
from ..runs.draws import wishart_root
from ..runs.source import Chunk, Source, Wanted

if TYPE_CHECKING:
    from .people import People
    from .study import Study

#: What a study has at hand for methods.
GIVEN = frozenset({"fit", "xx", "covariance", "all_pairs", "fresh"})

#: A place on the grid of n that means: as many people as every state has.
EVERYBODY = 0

#: Trials drawn at a time, between looks at whether to stop.
BATCH = 20

#: Numbers of records that are held at a time.
RECORDS = 8_000_000

#: Of a state's people, one in so many is for validation in the authors' recipe.
VALIDATION_EVERY = 5

RECIPES = ("ours", "authors")


class StateAgents(Agents):
    """States as agents, and the means that predictions for the target start from.

    Attributes
    ----------
    centre : array, shape (..., k + 1)
        Of the target's features and label.
    """

    centre: Array

    @classmethod
    def of(
        cls,
        study: Study,
        moments: Sequence[Moments],
        fresh: Moments,
        centre: Array,
        *,
        residuals: Array | None = None,
    ) -> StateAgents:
        """Everybody's sums with what a study knows besides.

        Parameters
        ----------
        residuals : array, shape (..., m), optional
            ``R_i`` as measured on validation people: COLLAB's weights are then the population's.
        """
        agents = cls(
            moments,
            study.views,
            study.geometry,
            len(study.features),
            fresh=fresh,
            residuals=residuals,
            oracle=None if residuals is None else Oracle(residuals, list),
            options=Options(weights=study.choice.weights if residuals is None else "population"),
        )
        agents.centre = centre
        return agents


class States(Source):
    """The states of a study, judged on the target's test people."""

    def __init__(self, study: Study) -> None:
        self.study = study

    def weights_of(self) -> str:
        """COLLAB's weights."""
        return self.study.choice.weights

    def offers(self, method: str, target: Target) -> bool:
        """Every method: the target has fresh people whatever it asks."""
        return True

    def chunk_size(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Trials of a chunk."""
        return BATCH

    def steps(self, grid: Sequence[float], chunk: Chunk) -> Iterator[tuple[float, StateAgents]]:
        """Other people at every n, drawn from a stream of its own."""
        for place, n in enumerate(grid):
            if chunk.stop():
                return
            yield n, self.people(int(n), chunk.trials, chunk.streams(place))

    @abstractmethod
    def people(self, n: int, trials: int, rng: np.random.Generator) -> StateAgents:
        """A stack of trials with n people of every state."""

    def errors(self, agents: Agents, estimate: Models, target: Target) -> Array:
        """Error on the target's test people over that of predicting the mean, shape (trials,)."""
        assert isinstance(agents, StateAgents)
        error = self.study.test_error(target.model(estimate), agents.centre)
        return error / self.study.baseline


class GaussianPeople(States):
    """People drawn from a Gaussian law with each state's own moments.

    Exact sums, at a cost that does not depend on n.
    """

    def people(self, n: int, trials: int, rng: np.random.Generator) -> StateAgents:
        """A stack of trials; `EVERYBODY` draws as many as every state has."""
        study = self.study
        everything = np.arange(len(study.features))
        moments: list[Moments] = []
        fresh, target_size = None, n
        for i, (view, count) in enumerate(zip(study.views, study.counts.tolist(), strict=True)):
            size = count if n == EVERYBODY else n
            if i != study.target:
                moments.append(_centred(self._wishart(rng, i, view, size, trials), size))
                continue
            # The target's people are the same, whether it asks everything or only its questions.
            joint = self._wishart(rng, i, everything, size, trials)
            fresh, target_size = _centred(joint, size), size
            own = np.append(view, len(everything))
            moments.append(_centred(joint[..., own[:, None], own], size))
        assert fresh is not None
        # Predictions start from the means of the n people, which vary too.
        spread = study.joint(study.target, study.target_columns)
        root = _root(spread / (study.counts[study.target] - 1))
        noise = rng.standard_normal((trials, len(study.target_columns) + 1)) @ root
        centre = study.train_mean + noise / np.sqrt(target_size)
        return StateAgents.of(study, moments, fresh, centre)

    def _wishart(
        self, rng: np.random.Generator, agent: int, view: np.ndarray, n: int, trials: int
    ) -> Array:
        joint = self.study.joint(agent, view) / (self.study.counts[agent] - 1)
        coloured = wishart_root(rng, trials, max(n - 1, 1), len(view) + 1) @ _root(joint)
        # A level that the state never had stays exactly 0: rounding would be a feature of its own.
        coloured = coloured * (np.diagonal(joint) > 0)
        return np.swapaxes(coloured, -1, -2) @ coloured


class RecordedPeople(States):
    """People drawn from the records themselves, without replacement within a trial.

    Parameters
    ----------
    study : Study
    people : People
        Of the same data.
    recipe : {"ours", "authors"}
        Ours centres within the sample and scales by pooled deviations. The authors' centres and
        scales every state by its own training people, and measures R_i on validation people: a
        level that is absent from the sample then becomes a hidden intercept.
    """

    def __init__(self, study: Study, people: People, recipe: str = "ours") -> None:
        super().__init__(study)
        self.records, self.recipe = people, choice("recipe", recipe, RECIPES)

    def chunk_size(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Trials of a chunk, within bounded memory."""
        numbers = max(int(max(grid)) * len(self.study.features), 1)
        return int(np.clip(RECORDS // numbers, 1, BATCH))

    def people(self, n: int, trials: int, rng: np.random.Generator) -> StateAgents:
        """A stack of trials with n people of every state."""
        draw = self._ours if self.recipe == "ours" else self._authors
        return draw(whole("n", n, low=2), trials, rng)

    def _rows(
        self, state: str, among: np.ndarray, n: int, trials: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Numbers of n people of a state for every trial, shape (trials, n)."""
        if n > len(among):
            kept = "" if self.recipe == "ours" else ", the authors' recipe keeping a fifth"
            raise ValueError(f"n must be at most {len(among):,}, the people of {state}{kept}")
        return np.stack([rng.choice(among, n, replace=False) for _ in range(trials)])

    def _ours(self, n: int, trials: int, rng: np.random.Generator) -> StateAgents:
        study = self.study
        moments: list[Moments] = []
        fresh, centre = None, None
        for i, state in enumerate(study.choice.states):
            x, y = self.records.of_study(study, state)
            rows = self._rows(state, np.arange(len(y)), n, trials, rng)
            features, labels = x[rows] / study.scale, y[rows] / study.label_scale
            moments.append(Moments.from_arrays(features[..., study.views[i]], labels).centred())
            if i == study.target:
                fresh = Moments.from_arrays(features, labels).centred()
                means = features[..., study.target_columns].mean(axis=-2)
                centre = np.concatenate([means, labels.mean(axis=-1)[..., None]], axis=-1)
        assert fresh is not None
        assert centre is not None
        return StateAgents.of(study, moments, fresh, centre)

    def _authors(self, n: int, trials: int, rng: np.random.Generator) -> StateAgents:
        """Own centring and scale per state; R_i from validation people; population weights."""
        study = self.study
        moments: list[Moments] = []
        residuals: list[Array] = []
        fresh = None
        for i, state in enumerate(study.choice.states):
            x, y = self.records.of_study(study, state)
            held = np.arange(len(y)) % VALIDATION_EVERY == 0
            mean, deviation, shift, spread = self._own_scale(x, y, held)
            z, label = (x - mean) / deviation, (y - shift) / spread
            rows = self._rows(state, np.flatnonzero(~held), n, trials, rng)
            view = study.views[i]
            moments.append(Moments.from_arrays(z[rows][..., view], label[rows]))
            gap = label[held] - moments[-1].fit.theta @ z[held][:, view].T
            residuals.append((gap**2).mean(axis=-1))
            if i == study.target:
                fresh = Moments.from_arrays(z[rows], label[rows])
        assert fresh is not None
        measured = np.stack(residuals, axis=-1)
        nothing = np.zeros((trials, len(study.target_columns) + 1))
        return StateAgents.of(study, moments, fresh, nothing, residuals=measured)

    def errors(self, agents: Agents, estimate: Models, target: Target) -> Array:
        """As everywhere, a model in the authors' units being brought into ours first."""
        if self.recipe == "ours":
            return super().errors(agents, estimate, target)
        study = self.study
        x, y = self.records.of_study(study, study.choice.target)
        held = np.arange(len(y)) % VALIDATION_EVERY == 0
        mean, deviation, shift, spread = self._own_scale(x, y, held)
        columns = study.target_columns
        unit = spread / deviation[columns] * study.scale[columns] / study.label_scale
        centre = np.append(mean[columns] / study.scale[columns], shift / study.label_scale)
        return study.test_error(target.model(estimate) * unit, centre) / study.baseline

    @staticmethod
    def _own_scale(x: Array, y: Array, held: np.ndarray) -> tuple[Array, Array, float, float]:
        """Means and deviations of a state's own training people."""
        deviation = x[~held].std(axis=0)
        deviation[deviation == 0] = 1.0
        return x[~held].mean(axis=0), deviation, float(y[~held].mean()), float(y[~held].std())


def _centred(joint: Array, n: int) -> Moments:
    """Moments from sums about the mean of features and label, (..., k + 1, k + 1)."""
    return Moments(
        n, joint[..., :-1, :-1], joint[..., :-1, -1], joint[..., -1, -1], is_centred=True
    )


def _root(matrix: Array) -> Array:
    """``R`` with ``R'R = matrix`` for a p.s.d. matrix, also a singular one."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)
