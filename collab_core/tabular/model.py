"""A study's models as a file, and predictions for rows of another table.

A model file is plain JSON: every agent's coefficients with the table's own names and units, and
what is needed to read a row. It holds no row of the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
import pandas as pd

from .._base.checks import Array
from .design import OTHER, Feature
from .gaps import conditional_slopes
from .source import FILE
from .study import TableStudy
from .table import Table, file_names
from .values import WORDS, Texts, to_numbers, to_texts

FORMAT = "collab-table-model"


@dataclass(frozen=True, eq=False)
class AgentModel:
    """A model of some features.

    Attributes
    ----------
    features : tuple of Feature
    intercept : float
    coefficients : array, shape (k,)
    means : array, shape (k,)
        Of the rows it was learnt from, for gaps.
    """

    features: tuple[Feature, ...]
    intercept: float
    coefficients: Array
    means: Array


@dataclass(frozen=True, eq=False)
class TableModel:
    """Models of all agents of a table.

    Attributes
    ----------
    target, agent : str
        Columns.
    log : bool
        Whether the logarithm of the target is predicted.
    levels : dict
        Of every category, the level that every value stands for.
    agents : dict
        By agent, its collaborative model.
    everybody : AgentModel or None
        A model of all features, for agents that are not in it.
    features : tuple of Feature
        All of them.
    covariance : array, shape (d, d), or None
        Of the features within agents, for gaps; None in files of old.
    """

    target: str
    agent: str
    log: bool
    levels: dict[str, dict[str, str]]
    agents: dict[str, AgentModel]
    everybody: AgentModel | None
    features: tuple[Feature, ...] = ()
    covariance: Array | None = None

    @classmethod
    def of(cls, study: TableStudy) -> TableModel:
        """What a study has learnt."""
        agents = {}
        for i, name in enumerate(study.agents):
            frame = study.coefficients(i)
            column = "together" if frame["together"].notna().all() else "alone"
            if frame[column].isna().all():
                continue
            # What never varied in an agent's rows has no say in its model.
            values = frame[column].fillna(0.0).to_numpy(dtype=float)
            features = tuple(study.features[j] for j in study.views[i])
            agents[name] = AgentModel(features, float(values[0]), values[1:], study.middle(i))
        whole = study.full_model()
        everybody = None
        if whole is not None:
            everybody = AgentModel(study.features, whole[0], whole[1], study.middles())
        return cls(
            study.choice.target, study.choice.agent, study.choice.log, study.survey.levels,
            agents, everybody, study.features, study.feature_covariance(),
        )  # fmt: skip

    def to_json(self) -> str:
        """The file's text."""

        def written(model: AgentModel) -> dict[str, Any]:
            return {
                "intercept": model.intercept,
                "terms": [
                    {"column": feature.source, "level": feature.level, "coefficient": float(c),
                     "mean": float(mean)}
                    for feature, c, mean in zip(
                        model.features, model.coefficients, model.means, strict=True
                    )
                ],
            }  # fmt: skip

        return json.dumps(
            {
                "format": FORMAT,
                "version": 2,
                "target": self.target,
                "agent": self.agent,
                "log": self.log,
                "levels": self.levels,
                "agents": {name: written(model) for name, model in self.agents.items()},
                "everybody": None if self.everybody is None else written(self.everybody),
                "features": [[feature.source, feature.level] for feature in self.features],
                "covariance": None if self.covariance is None else self.covariance.tolist(),
            },
            indent=1,
            ensure_ascii=False,
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str) -> TableModel:
        """Read a file; one that is none gets a sentence."""

        def read(given: dict[str, Any]) -> AgentModel:
            terms = given["terms"]
            return AgentModel(
                tuple(
                    Feature(str(t["column"]), None if t["level"] is None else str(t["level"]))
                    for t in terms
                ),
                float(given["intercept"]),
                np.array([float(term["coefficient"]) for term in terms]),
                np.array([float(term["mean"]) for term in terms]),
            )

        try:
            given = json.loads(text)
            if given["format"] != FORMAT or given["version"] not in (1, 2):
                raise ValueError
            whole = given["everybody"]
            features = tuple(
                Feature(str(source), None if level is None else str(level))
                for source, level in given.get("features", [])
            )
            covariance = given.get("covariance")
            if covariance is not None:
                covariance = np.array(covariance, dtype=float)
                if covariance.shape != (len(features), len(features)):
                    raise ValueError
            return cls(
                str(given["target"]),
                str(given["agent"]),
                bool(given["log"]),
                {
                    str(name): {str(value): str(level) for value, level in of.items()}
                    for name, of in given["levels"].items()
                },
                {str(name): read(model) for name, model in given["agents"].items()},
                None if whole is None else read(whole),
                features,
                covariance,
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError("this is not a model file of Collab Explorer") from None

    def predict(
        self,
        table: Table,
        *,
        progress: Callable[[float], None] | None = None,
        cancel: Event | None = None,
    ) -> pd.DataFrame:
        """A row a row of the table: ``row``, its agent, ``prediction`` and ``note``.

        Gaps are filled with what the rest of a row suggests, and said. An agent
        that the model does not know gets the model of all features, if there is one. With ``log``
        the prediction is of the logarithm, with its exponential (the median if errors are
        symmetric) beside it.
        """
        pieces = list(self._pieces(table, progress, cancel))
        frame = pd.concat(pieces, ignore_index=True)
        frame.insert(0, "row", np.arange(1, len(frame) + 1))
        return frame

    def _pieces(
        self,
        table: Table,
        progress: Callable[[float], None] | None,
        cancel: Event | None,
    ) -> Iterator[pd.DataFrame]:
        models = [*self.agents.values(), *([self.everybody] if self.everybody else [])]
        wanted = {feature.source for model in models for feature in model.features}
        # Where files were the agents, a file's name says whose it is, of a single one too.
        by_file = self.agent == FILE and (len(table.layouts) > 1 or FILE not in table.names)
        names = [name for name in (self.agent, *sorted(wanted)) if name in table.names]
        if not wanted & set(names):
            raise ValueError(
                "the table has none of the columns that the model reads:"
                f" {', '.join(sorted(wanted)[:6])}"
            )
        files = file_names(table.layouts)
        for number, batch in table.batches(names, progress=progress, cancel=cancel):
            length = len(next(iter(batch.values())))
            if by_file:
                owners = Texts(np.zeros(length, dtype=int), [files[number]])
            elif self.agent in batch:
                owners = to_texts(batch[self.agent], _gaps(self.agents))
            else:
                owners = Texts(np.full(length, -1), [])
            yield self._predicted(_Design(batch, self.levels, table, length), owners, length)

    def _predicted(self, design: _Design, owners: Texts, length: int) -> pd.DataFrame:
        values = np.full(length, np.nan)
        notes = np.full(length, "", dtype=object)
        for code in [*range(len(owners.levels)), -1]:
            rows = np.flatnonzero(owners.codes == code)
            name = owners.levels[code] if code >= 0 else ""
            if not rows.size:
                continue
            model = self.agents.get(name)
            unknown = model is None
            model = model or self.everybody
            if model is None:
                notes[rows] = "no model for this agent, and none for everybody"
                continue
            x = design.of(model.features)[rows]
            holes = np.isnan(x)
            count = holes.sum(axis=1)
            values[rows] = model.intercept + self._filled(x, model) @ model.coefficients
            said = _gaps_said(holes, model.features)
            if unknown:
                who = "agent not known" if name else "no agent given"
                said = np.array([f"{who}: everybody's model" + (f"; {t}" if t else "")
                                 for t in said], dtype=object)  # fmt: skip
                # Nothing at all is known of such a row.
                blank = count == x.shape[1]
                values[rows[blank]] = np.nan
                said[blank] = f"{who}, and none of the features"
            notes[rows] = said
        labels = np.array([*owners.levels, ""], dtype=object)[owners.codes]
        found = {self.agent: labels, "prediction": pd.array(values, dtype="Float64")}
        if self.log:
            found["exponential"] = pd.array(np.exp(np.minimum(values, 700)), dtype="Float64")
        frame = pd.DataFrame(found | {"note": notes})
        numbers = ["prediction", *(["exponential"] if self.log else [])]
        return frame.assign(**{name: frame[name].mask(np.isnan(values)) for name in numbers})

    def _filled(self, x: Array, model: AgentModel) -> Array:
        """Rows with gaps filled with their mean given what a row has, shape (n, k)."""
        holes = np.isnan(x)
        about = np.where(holes, 0.0, x - model.means)
        if self.covariance is None:
            return model.means + about
        places = [self.features.index(feature) for feature in model.features]
        block = self.covariance[np.ix_(places, places)]
        kinds, kind = np.unique(holes, axis=0, return_inverse=True)
        for number, lacks in enumerate(kinds):
            has, gap = np.flatnonzero(~lacks), np.flatnonzero(lacks)
            if has.size and gap.size:
                rows = np.flatnonzero(kind.reshape(-1) == number)
                slopes = conditional_slopes(block, has, gap)
                about[rows[:, None], gap] = about[rows[:, None], has] @ slopes
        return model.means + about


def _gaps_said(holes: np.ndarray, features: Sequence[Feature]) -> np.ndarray:
    """How many columns of the table each row lacks, in words, shape (n,)."""
    sources = list(dict.fromkeys(feature.source for feature in features))
    of = np.array([sources.index(feature.source) for feature in features], dtype=int)
    lacks = np.zeros((len(holes), len(sources)), dtype=bool)
    for j, source in enumerate(of):
        lacks[:, source] |= holes[:, j]
    return np.array(
        [
            f"{count} of {len(sources)} columns missing, filled with what the others suggest"
            if count
            else ""
            for count in lacks.sum(axis=1)
        ],
        dtype=object,
    )


class _Design:
    """Columns of a piece as a model's features, each read once."""

    def __init__(
        self,
        batch: dict[str, Any],
        levels: dict[str, dict[str, str]],
        table: Table,
        length: int,
    ) -> None:
        self._batch, self._levels, self._length = batch, levels, length
        self._table = table
        self._read: dict[str, Any] = {}

    def of(self, features: tuple[Feature, ...]) -> Array:
        """Shape (n, k), NaN for gaps."""
        x = np.full((self._length, len(features)), np.nan)
        for j, feature in enumerate(features):
            name = feature.source
            if name not in self._batch:
                continue
            if feature.level is None:
                if name not in self._read:
                    comma = self._table.column(name).comma
                    values = to_numbers(self._batch[name], comma).values
                    self._read[name] = np.where(np.isfinite(values), values, np.nan)
                x[:, j] = self._read[name]
                continue
            of = self._levels.get(name, {})
            if name not in self._read:
                self._read[name] = to_texts(self._batch[name], _gaps(of))
            texts = self._read[name]
            grouped = OTHER in of.values()
            value = [
                float(of[level] == feature.level)
                if level in of
                # A level that was not there before: with the rare ones, where there were any.
                else (float(feature.level == OTHER) if grouped else np.nan)
                for level in texts.levels
            ]
            x[:, j] = np.array([*value, np.nan])[texts.codes]
        return x


def _gaps(known: Collection[str]) -> list[str]:
    """Words that mean a gap to a model: those that it does not know as names."""
    return [word for word in WORDS if word not in known]
