"""A table as agents: every method on rows that were held out, verdicts, models, checks.

Everything is a function of sums over agents and folds. Features are centred within each agent's
own rows and scaled by deviations pooled over agents. Held-out errors are over repeated five-fold
cross-validation; intervals of coefficients are by the delete-a-fold jackknife, which makes no
assumption on the law of features or noise and knows that the covariance was estimated too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from .. import methods
from .._base.blas import single_threaded_blas
from .._base.checks import Array, Indices, agent_index
from .._base.intervals import holm, jackknife_error, split_interval, student_chance, student_reach
from ..bounds.weights import noise_variance
from ..core import sigma as known_by
from ..core.estimate import Estimate
from ..core.geometry import Geometry
from ..core.held_out import HeldOut
from ..core.moderated import moderated
from ..core.moments import Moments
from ..core.problem import Problem
from ..runs.chunks import HasSubmit, run_chunks
from .choice import TableChoice
from .design import Feature, TableSurvey, survey
from .fits import Fits
from .folds import FOLDS
from .gaps import Filled
from .independent import independent
from .sentences import listed
from .sums import FIT_STACKS, TableSums, add_up
from .table import Table

#: What a table has at hand for methods.
GIVEN = frozenset({"fit", "xx", "covariance", "all_pairs"})

#: Times that the rows are dealt into five parts, each held out once.
REPEATS = 4
PARTS = 5

#: An agent of fewer rows gets no interval: its held-out parts are a row or two.
FEW_ROWS = 10

#: Bytes of the stacks of one group of fits; as many groups are worked on as there are processors.
STACK_BYTES = 100 * 2**20

#: Groups at the least, so that progress is seen and threads have work.
LEAST_GROUPS = 4


#: Excess kurtosis above which tails are called heavy; a t with 6 degrees of freedom has 3.
HEAVY = 3.0


def compared() -> tuple[str, ...]:
    """Methods in the order of tables and legends."""
    return methods.usual(GIVEN, full=False)


class TableStudy:
    """Sums of a table: views, held-out errors, models with intervals, checks.

    Parameters
    ----------
    sums : TableSums

    Attributes
    ----------
    choice : TableChoice
    agents : tuple of str
    features : tuple of Feature
        Columns of the models; duplicates and what others determine are left out.
    views : list of m index arrays
        Into the features.
    rows : integer array, shape (m,)
        Labelled rows that are used.
    notes : tuple of str
        What was found and done on the way, in sentences.
    """

    def __init__(self, sums: TableSums) -> None:
        found = sums.survey
        self._survey = found
        self.choice: TableChoice = found.choice
        self.agents = found.agents
        self._kept = sums.kept
        self.rows = np.array([int(fold[:, 0, 0].sum()) for fold in sums.folds])
        chosen, told = independent(found, [fold.sum(axis=0) for fold in sums.folds])
        self.notes = (*sums.notes, *told)
        self._columns = chosen
        self.features: tuple[Feature, ...] = tuple(found.features[j] for j in chosen)
        place = {j: k for k, j in enumerate(chosen)}
        self.views: list[Indices] = []
        self.folds: list[Array] = []
        for view, folds in zip(found.views, sums.folds, strict=True):
            mine = [k for k, j in enumerate(view) if j in place]
            self.views.append(np.array([place[view[k]] for k in mine], dtype=np.intp))
            index = np.array([0, *(k + 1 for k in mine), view.size + 1])
            self.folds.append(folds[:, index[:, None], index])
        self._kept_columns = [
            np.array([k for k, j in enumerate(view) if j in place], dtype=int)
            for view in found.views
        ]
        self.scale, self.label_scale = self._scales(sums.filled)
        self._filled: list[Filled | None] = []
        for i, view in enumerate(self.views):
            unit = np.concatenate([[1.0], self.scale[view], [self.label_scale]])
            self.folds[i] = self.folds[i] / np.outer(unit, unit)
            gapped = sums.filled[i]
            self._filled.append(
                None if gapped is None else gapped.some(self._kept_columns[i], self.scale[view])
            )
        index = np.array([0, *(j + 1 for j in chosen)])
        self._unlabelled = sums.unlabelled[:, index[:, None], index]

    @classmethod
    def of(
        cls,
        table: Table,
        chosen: TableChoice,
        *,
        progress: Callable[[float], None] | None = None,
        cancel: Event | None = None,
    ) -> TableStudy:
        """Read a table twice more, in pieces: what agents have, then their sums."""

        def half(which: int) -> Callable[[float], None] | None:
            return None if progress is None else lambda share: progress((which + share) / 2)

        found = survey(table, chosen, progress=half(0), cancel=cancel)
        return cls(add_up(table, found, progress=half(1), cancel=cancel))

    # Who sees what -------------------------------------------------------------------------------

    @property
    def survey(self) -> TableSurvey:
        """What every agent has, column by column."""
        return self._survey

    @property
    def sources(self) -> list[str]:
        """The table's columns that are used."""
        return list(dict.fromkeys(feature.source for feature in self.features))

    @cached_property
    def seen(self) -> pd.DataFrame:
        """Who sees what: index agents, columns the table's, boolean."""
        kept = self.sources
        table = pd.DataFrame(
            self._survey.seen, index=list(self.agents), columns=list(self.choice.features)
        )
        return table[kept]

    @cached_property
    def unseen_pairs(self) -> list[tuple[str, str]]:
        """Columns of the table that no agent has together."""
        together = self.seen.to_numpy().astype(int)
        never = together.T @ together == 0
        names = self.sources
        return [
            (names[j], names[k]) for j, k in np.argwhere(never) if j < k
        ]  # each column alone is seen by somebody

    @property
    def has_full_model(self) -> bool:
        """Whether covariances of all pairs can be had, and with them a model of all features."""
        return self.choice.sigma == "unlabelled" or not self.unseen_pairs

    def middle(self, agent: int) -> Array:
        """An agent's means, about which its sums are taken, in the table's units, shape (k,)."""
        return self._survey.means[agent][self._columns[self.views[agent]]]

    def _scales(self, filled: Sequence[Filled | None]) -> tuple[Array, float]:
        """Deviations within agents, pooled: of the features (d,) and of the target."""
        squares, freedom = np.zeros(len(self.features)), np.zeros(len(self.features))
        label, rest = 0.0, 0.0
        for i, (view, folds) in enumerate(zip(self.views, self.folds, strict=True)):
            total = folds.sum(axis=0)
            spread = np.diagonal(total)[1:] - total[0, 1:] ** 2 / total[0, 0]
            squares[view] += spread[:-1]
            told = filled[i]
            if told is not None:
                lost = np.diagonal(told.lost.sum(axis=0))
                squares[view] += lost[self._kept_columns[i]]
            freedom[view] += total[0, 0] - 1
            label += spread[-1]
            rest += total[0, 0] - 1
        if label <= 1e-24 * max(abs(float(np.mean(self._survey.target_means))), 1) ** 2 * rest:
            raise ValueError(
                f"{self.choice.target} does not vary within any agent: there is nothing to predict"
            )
        return np.sqrt(squares / freedom), float(np.sqrt(label / rest))

    @property
    def filled(self) -> list[str]:
        """Agents of which gaps were filled in."""
        return [
            agent for agent, told in zip(self.agents, self._filled, strict=True) if told is not None
        ]

    # Fits ----------------------------------------------------------------------------------------

    def fit(self, keep: Array) -> Fits:
        """Every method on some of the folds.

        Parameters
        ----------
        keep : array of 0 and 1, shape (R, F)
        """
        totals = [np.tensordot(keep, folds, axes=1) for folds in self.folds]
        filled = [None if told is None else told.over(keep) for told in self._filled]
        return Fits(self, totals, filled)

    def _groups(self, count: int) -> list[slice]:
        """So many fits at a time that their stacks fit into memory, and progress shows."""
        size = sum(FIT_STACKS * (view.size + 2) ** 2 * 8 for view in self.views)
        step = min(max(STACK_BYTES // size, 1), -(-count // LEAST_GROUPS))
        return [slice(start, min(start + step, count)) for start in range(0, count, step)]

    def covariance(
        self, moments: Sequence[Moments], filled: Sequence[Filled | None] | None = None
    ) -> Array:
        """Correlation of the scaled features, as these rows or the unlabelled ones tell it.

        Parameters
        ----------
        filled : list of Filled, or None
            Of agents whose gaps were filled, what that takes from their sums.
        """
        d = len(self.features)
        if self.choice.sigma == "unlabelled":
            return self._unlabelled_covariance
        leading = moments[0].yy.shape
        total, freedom = np.zeros((*leading, d, d)), np.zeros((*leading, d, d))
        for i, (moment, view) in enumerate(zip(moments, self.views, strict=True)):
            index = (..., view[:, None], view)
            told = None if filled is None else filled[i]
            total[index] += moment.xx if told is None else moment.xx + told.lost
            freedom[index] += np.maximum(moment.n - 1, 0)[..., None, None]
        raw = total / np.maximum(freedom, 1)
        # A level that nobody's training rows have: any variance will do, its weight is nil.
        flat = np.diagonal(raw, axis1=-2, axis2=-1) <= 0
        raw[..., np.arange(d), np.arange(d)] += flat
        known = freedom.reshape(-1, d, d).max(axis=0) > 0
        if known.all():
            return known_by.steadied(raw)
        return known_by.completed(raw, known)

    @cached_property
    def _unlabelled_covariance(self) -> Array:
        """Within agents, over complete rows without a target, shape (d, d)."""
        n = self._unlabelled[:, 0, 0]
        used = n > 1
        d = len(self.features)
        freedom = float((n[used] - 1).sum())
        if freedom <= d:
            raise ValueError(
                f"{int(n.sum())} complete rows without {self.choice.target} are too few to tell"
                f" the covariance of {d} features: more than {d + 1} are needed"
            )
        sums = self._unlabelled[used, 0, 1:]
        spread = self._unlabelled[used, 1:, 1:].sum(axis=0)
        spread -= (sums[:, :, None] * sums[:, None, :] / n[used, None, None]).sum(axis=0)
        matrix = spread / freedom / np.outer(self.scale, self.scale)
        matrix[np.arange(d), np.arange(d)] += np.diagonal(matrix) <= 0
        return known_by.steadied((matrix + matrix.T) / 2)

    # Held-out errors -----------------------------------------------------------------------------

    def errors(
        self,
        held_out: Sequence[Sequence[int]],
        *,
        progress: Callable[[float], None] | None = None,
        executor: HasSubmit | None = None,
        cancel: Event | None = None,
    ) -> tuple[dict[str, Array], dict[str, str]]:
        """Error of every agent's own model on its held-out rows, over that of its mean.

        Parameters
        ----------
        held_out : list of lists of int
            Folds that a split holds out, R splits.
        progress, executor, cancel
            As in `simulate.error_curve`; a run that is stopped is a ValueError.

        Returns
        -------
        errors : dict
            By method, shape (R, m), over the error of predicting the mean, averaged over splits;
            NaN where an agent has no held-out row, or no model.
        notes : dict
            By method, why it is missing or who was left out of it.
        """
        keep = np.ones((len(held_out), FOLDS))
        for split, folds in enumerate(held_out):
            keep[split, list(folds)] = 0
        plan = Splits(self, keep, self._groups(len(keep)))
        parts = dict(_done(plan, _errors_of_group, progress, executor, cancel))
        found = {
            method: np.concatenate([parts[k][0][method] for k in range(plan.chunks)])
            for method in compared()
        }
        base = np.concatenate([parts[k][1] for k in range(plan.chunks)])
        notes: dict[str, str] = {}
        for k in range(plan.chunks):
            notes |= parts[k][2]
        # Over all splits: a few rows' own base would add noise.
        count = (~np.isnan(base)).sum(axis=0)
        typical = np.nansum(base, axis=0) / np.maximum(count, 1)
        typical[typical <= 0] = np.nan
        return {method: values / typical for method, values in found.items()}, notes

    def errors_of(self, fits: Fits, method: str | None, tests: Sequence[Array]) -> Array:
        """Mean squared errors on held-out rows, shape (R, m); of the mean where no method."""
        result = np.full((tests[0].shape[0], len(self.agents)), np.nan)
        for i, test in enumerate(tests):
            nothing = np.zeros((len(test), self.views[i].size))
            model = nothing if method is None else fits.model(method, i)
            if model is None:
                continue
            some = test[:, 0, 0] > 0
            centre = np.concatenate([fits.x_means[i], fits.y_means[i][:, None]], axis=1)
            error = HeldOut.of_products(test).error(model, centre)
            result[some, i] = error[some]
        return result

    def _splits(self, repeats: int) -> list[list[int]]:
        rng = np.random.default_rng(np.random.SeedSequence(self.choice.seed))
        splits = []
        for _ in range(repeats):
            dealt = rng.permutation(FOLDS).reshape(PARTS, -1)
            splits += [part.tolist() for part in dealt]
        return splits

    @cached_property
    def _held_out(self) -> tuple[dict[str, Array], dict[str, str]]:
        return self.errors(self._splits(REPEATS))

    def work(
        self,
        *,
        progress: Callable[[float], None] | None = None,
        executor: HasSubmit | None = None,
        cancel: Event | None = None,
    ) -> None:
        """Do now what takes time and would otherwise be done when it is first asked for."""

        def half(which: int) -> Callable[[float], None] | None:
            return None if progress is None else lambda share: progress((which + share) / 2)

        self._held_out = self.errors(
            self._splits(REPEATS), progress=half(0), executor=executor, cancel=cancel
        )
        self._jackknife = self._replicas(half(1), executor, cancel)

    @cached_property
    def results(self) -> pd.DataFrame:
        """Every method for every agent, on held-out rows.

        Returns
        -------
        DataFrame
            ``agent``, ``rows``, ``features``, ``method``, ``relative`` (error over that of
            predicting the agent's mean), ``low`` and ``high`` (95%, `corrected_interval`),
            ``note``.
        """
        errors, notes = self._held_out
        records = []
        for i, agent in enumerate(self.agents):
            for method in errors:
                values = errors[method][:, i]
                mean, low, high = self._interval(values[~np.isnan(values)], i)
                records.append(
                    {
                        "agent": agent,
                        "rows": int(self.rows[i]),
                        "features": int(self.views[i].size),
                        "method": method,
                        "relative": mean,
                        "low": low,
                        "high": high,
                        "note": self._why_missing(method, i, notes) if mean is pd.NA else "",
                    }
                )
        return _typed(records, ("relative", "low", "high"))

    def _interval(self, values: Array, agent: int) -> tuple[Any, Any, Any]:
        """Mean and interval; no interval of an agent whose held-out parts are a row or two."""
        mean, low, high = split_interval(values, 1 / (PARTS - 1))
        few = self.rows[agent] < FEW_ROWS
        return (mean, pd.NA, pd.NA) if few else (mean, low, high)

    def _why_missing(self, method: str, agent: int, notes: Mapping[str, str]) -> str:
        if method == "local" or method not in notes:
            return f"{self.rows[agent]:,} rows are too few for {self.views[agent].size} features"
        return notes[method]

    @property
    def left_out(self) -> str:
        """Agents whose rows are too few to take part in COLLAB, in a sentence, or nothing."""
        return self._held_out[1].get("collab", "")

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Whether an agent gains by working together (COLLAB against its own least squares).

        Returns
        -------
        DataFrame
            ``agent``, ``rows``, ``alone``, ``together`` (held-out error over that of the mean),
            ``change``, ``low``, ``high`` (together less alone, 95%; rather too wide than
            too narrow, for splits share rows), ``verdict``: gains, no
            difference, loses, too few rows (below `FEW_ROWS`, where intervals cover far less than
            they say), alone impossible, not measurable.
        """
        errors, _ = self._held_out
        records = []
        for i, agent in enumerate(self.agents):
            alone, together = errors["local"][:, i], errors["collab"][:, i]
            mean, low, high = self._interval((together - alone)[~np.isnan(together - alone)], i)
            verdict = "no difference"
            if mean is pd.NA:
                some = (~np.isnan(together)).any()
                verdict = "alone impossible" if some else "not measurable"
            elif self.rows[i] < FEW_ROWS:
                verdict = "too few rows"
            elif low is not pd.NA and high < 0:
                verdict = "gains"
            elif low is not pd.NA and low > 0:
                verdict = "loses"
            records.append(
                {
                    "agent": agent,
                    "rows": int(self.rows[i]),
                    "alone": _mean(alone),
                    "together": _mean(together),
                    "change": mean,
                    "low": low,
                    "high": high,
                    "verdict": verdict,
                }
            )
        return _typed(records, ("alone", "together", "change", "low", "high"))

    @cached_property
    def overall(self) -> tuple[Any, Any, Any]:
        """Together less alone, averaged over the agents that have both, with its 95% interval.

        Agents of fewer than `FEW_ROWS` rows do not count: theirs is noise.
        """
        errors, _ = self._held_out
        gaps = errors["collab"] - errors["local"]
        known = ~np.isnan(gaps).any(axis=0) & (self.rows >= FEW_ROWS)
        return split_interval(
            gaps[:, known].mean(axis=1) if known.any() else np.empty(0), 1 / (PARTS - 1)
        )

    # Models --------------------------------------------------------------------------------------

    @cached_property
    def _whole(self) -> Fits:
        """The fit on all rows, a stack of one."""
        with single_threaded_blas():
            return self.fit(np.ones((1, FOLDS)))

    @cached_property
    def _jackknife(self) -> _Replicas:
        """All rows first, then all but one fold at a time: F + 1 fits, in groups."""
        return self._replicas()

    def _replicas(
        self,
        progress: Callable[[float], None] | None = None,
        executor: HasSubmit | None = None,
        cancel: Event | None = None,
    ) -> _Replicas:
        keep = np.vstack([np.ones(FOLDS), 1 - np.eye(FOLDS)])
        for groups in (self._groups(len(keep)), [slice(0, len(keep))]):
            plan = Splits(self, keep, groups)
            parts = dict(_done(plan, _replicas_of_group, progress, executor, cancel))
            found = [parts[k] for k in range(plan.chunks)]
            # Who can take part must be the same throughout; otherwise all in one group.
            if len({part.participants for part in found}) == 1:
                break
        return _Replicas.joined(found)

    def natural(self, fits: Fits, method: str, agent: int) -> Array | None:
        """Intercept and coefficients in the table's units, shape (R, k + 1)."""
        model = fits.model(method, agent)
        if model is None:
            return None
        view = self.views[agent]
        slopes = model * self.label_scale / self.scale[view]
        x_mean = fits.x_means[agent] * self.scale[view] + self.middle(agent)
        y_mean = fits.y_means[agent] * self.label_scale + self._survey.target_means[agent]
        intercept = y_mean - (x_mean * slopes).sum(axis=-1)
        return np.concatenate([intercept[:, None], slopes], axis=1)

    def coefficients(self, agent: int | str, level: float = 0.95) -> pd.DataFrame:
        """An agent's model, together and alone, in the table's units.

        Intervals are by the delete-a-fold jackknife with Student's t.

        Returns
        -------
        DataFrame
            ``feature`` (the intercept first), ``step`` (by which features can be compared: a
            number's standard deviation, 1 for a level), ``together``, ``low``, ``high``, ``alone``,
            ``alone_low``, ``alone_high``. Alone is <NA> for what does not vary in its rows.
        """
        i = self.index(agent)
        view = self.views[i]
        names = ["(intercept)", *(self.features[j].name for j in view)]
        steps = [1.0 if self.features[j].level is not None else self.scale[j] for j in view]
        columns: dict[str, Any] = {"feature": names, "step": [1.0, *steps]}
        for method, (point, low, high) in {
            "collab": ("together", "low", "high"),
            "local": ("alone", "alone_low", "alone_high"),
        }.items():
            values = self._jackknife.models[method, i]
            if values is None:
                columns |= {name: [pd.NA] * len(names) for name in (point, low, high)}
                continue
            half = jackknife_error(values) * student_reach(FOLDS - 1, level)
            columns |= {point: values[0], low: values[0] - half, high: values[0] + half}
        frame = pd.DataFrame(columns).astype(dict.fromkeys(list(columns)[1:], "Float64"))
        # Least squares gives 0 to what never varied; that is no finding.
        flat = np.diagonal(self._whole.moments[i].xx[0]) <= 0
        frame.loc[np.append(False, flat), ["alone", "alone_low", "alone_high"]] = pd.NA
        return frame

    def index(self, agent: int | str) -> int:
        """An agent's number, given that or its name."""
        if isinstance(agent, str):
            if agent not in self.agents:
                raise ValueError(f"there is no agent {agent!r}; there are {listed(self.agents)}")
            return self.agents.index(agent)
        return agent_index(agent, len(self.agents))

    def full_model(self) -> tuple[float, Array] | None:
        """Intercept and coefficients (d,) of a model of all features, or None if there is none.

        For an agent that is not in the table. Its intercept starts from the means over all rows
        that have a feature.
        """
        estimate = self._whole.estimate("collab")
        if not self.has_full_model or not isinstance(estimate, Estimate):
            return None
        slopes = estimate.theta[0] * self.label_scale / self.scale
        label = float(np.average(self._survey.target_means, weights=self.rows))
        return label - float(self.middles() @ slopes), slopes

    def feature_covariance(self) -> Array:
        """Covariance of the features within agents, in the table's units, shape (d, d)."""
        return self._whole.geometry.covariance[0] * np.outer(self.scale, self.scale)

    def middles(self) -> Array:
        """Means of the features over all rows that have them, in the table's units, shape (d,)."""
        weights = np.zeros((len(self.agents), len(self.features)))
        for i, view in enumerate(self.views):
            weights[i, view] = self.rows[i]
        means = self._survey.means[:, self._columns]
        return (weights * means).sum(axis=0) / weights.sum(axis=0)

    def problem(self) -> Problem:
        """The world in which COLLAB's model is the truth, for closed-form answers.

        Raises
        ------
        ValueError
            If some pair of features is seen together by nobody.
        """
        if not self.has_full_model:
            first, second = self.unseen_pairs[0]
            raise ValueError(
                f"no agent has both {first} and {second}, so this table alone makes no world"
            )
        fits = self._whole
        estimate = fits.estimate("collab")
        if not isinstance(estimate, Estimate):
            raise ValueError(fits.notes.get("collab", "COLLAB has no estimate"))
        one = [_first(moment) for moment in fits.moments]
        geometry = Geometry(fits.geometry.covariance[0], self.views)
        phi = estimate.phi[0]
        able = {
            i: moment.fit
            for i, moment in enumerate(one)
            if moment.features and moment.degrees_of_freedom > moment.features
        }
        leaning = moderated(list(able.values())).variances
        known = {i: leaning[..., j] for j, i in enumerate(able)}
        noise = float(np.sqrt(noise_variance(able, geometry, phi, known)))
        shares = self.rows / self.rows.mean()
        return Problem(geometry.covariance, geometry.theta(phi), noise, self.views, shares)

    # Checks --------------------------------------------------------------------------------------

    @cached_property
    def shift(self) -> pd.DataFrame:
        """Whether an agent's own relation is what the others' imply.

        On the features that it shares with others, its least squares is compared with what COLLAB
        of all others says of them, coefficient by coefficient, with jackknife errors.

        Returns
        -------
        DataFrame
            ``agent``, ``shared`` (features), ``feature`` (the one that differs most),
            ``difference`` (own less the others', in the table's units), ``low``, ``high`` (95%),
            ``p`` (Bonferroni over its features), ``adjusted`` (Holm over agents), ``note``.
        """
        records = [self._shift_of(i) for i in range(len(self.agents))]
        adjusted = holm([record["p"] for record in records])
        for record, value in zip(records, adjusted, strict=True):
            record["adjusted"] = value
        return _typed(records, ("difference", "low", "high", "p", "adjusted"))

    def _shift_of(self, agent: int) -> dict[str, Any]:
        record: dict[str, Any] = {"agent": self.agents[agent], "shared": 0, "feature": ""}
        record |= dict.fromkeys(("difference", "low", "high", "p"), pd.NA) | {"note": ""}
        shared = self._jackknife.shared[agent]
        record["shared"] = int(shared.size)
        gap = self._jackknife.gaps[agent]
        if isinstance(gap, str):
            return record | {"note": gap}
        error = jackknife_error(gap)
        sure = error > 1e-12 * np.abs(gap[0]).max(initial=1e-300)
        ratio = np.where(sure, np.abs(gap[0]) / np.where(sure, error, 1.0), 0.0)
        worst = int(ratio.argmax())
        half = error[worst] * student_reach(FOLDS - 1)
        chance = student_chance(float(ratio[worst]), FOLDS - 1) * shared.size
        return record | {
            "feature": self.features[self.views[agent][shared[worst]]].name,
            "difference": float(gap[0, worst]),
            "low": float(gap[0, worst] - half),
            "high": float(gap[0, worst] + half),
            "p": min(1.0, chance),
        }

    def gap(self, fits: Fits, agent: int) -> Array | str:
        """Own least squares less what COLLAB of all others says, (R, shared), or why not."""
        shared = fits.shared(agent)
        if not shared.size:
            return "shares no feature with others"
        own = fits.moments[agent].select(shared)
        if (own.degrees_of_freedom <= shared.size).any():
            return f"{self.rows[agent]:,} rows are too few"
        implied = fits.implied_by_others(agent, self.views[agent][shared])
        if implied is None:
            return "the others have too few rows"
        unit = self.label_scale / self.scale[self.views[agent][shared]]
        return (own.fit.theta - implied) * unit

    def residuals(self, agent: int | str) -> pd.DataFrame:
        """Some rows of an agent under its collaborative model: ``fitted`` and ``residual``."""
        i = self.index(agent)
        x, y = self._kept[i]
        model = self.natural(self._whole, "collab", i)
        if model is None:
            model = self.natural(self._whole, "local", i)
        if model is None:
            return pd.DataFrame({"fitted": [], "residual": []})
        fitted = model[0, 0] + x[:, self._kept_columns[i]] @ model[0, 1:]
        return pd.DataFrame({"fitted": fitted, "residual": y - fitted})

    @cached_property
    def tails(self) -> pd.DataFrame:
        """How heavy the residuals' tails are, agent by agent.

        Returns
        -------
        DataFrame
            ``agent``, ``rows`` (looked at), ``kurtosis`` (excess; 0 is Gaussian), ``largest``
            (residual, in standard deviations), ``heavy``.
        """
        records = []
        for i, agent in enumerate(self.agents):
            left = self.residuals(i)["residual"].to_numpy(dtype=float)
            spread = left.std() if left.size else 0.0
            if left.size < 20 or spread <= 0:
                records.append({"agent": agent, "rows": left.size, "kurtosis": pd.NA,
                                "largest": pd.NA, "heavy": False})  # fmt: skip
                continue
            unit = (left - left.mean()) / spread
            kurtosis = float((unit**4).mean() - 3)
            records.append(
                {"agent": agent, "rows": left.size, "kurtosis": kurtosis,
                 "largest": float(np.abs(unit).max()), "heavy": kurtosis > HEAVY}
            )  # fmt: skip
        return _typed(records, ("kurtosis", "largest"))


@dataclass(frozen=True, eq=False)
class Splits:
    """A table's fits on parts of its folds, in groups: a plan as `run_chunks` takes it.

    Attributes
    ----------
    study : TableStudy
    keep : array of 0 and 1, shape (R, F)
        Folds that each fit trains on.
    groups : list of slices
        Of the fits.
    """

    study: TableStudy
    keep: Array
    groups: Sequence[slice]

    @property
    def chunks(self) -> int:
        """Number of groups."""
        return len(self.groups)


T = TypeVar("T")


def _done(
    plan: Splits,
    work: Callable[[Splits, int, Event | None], T],
    progress: Callable[[float], None] | None,
    executor: HasSubmit | None,
    cancel: Event | None,
) -> Iterator[tuple[int, T]]:
    """The groups of a plan as they finish, on threads or on any executor."""
    count = 0
    for index, found in run_chunks(plan, work, executor, cancel):
        if cancel is not None and cancel.is_set():
            raise ValueError("the study was stopped")
        count += 1
        if progress is not None:
            progress(count / plan.chunks)
        yield index, found
    if count < plan.chunks:
        raise ValueError("the study was stopped")


def _errors_of_group(
    plan: Splits, index: int, cancel: Event | None
) -> tuple[dict[str, Array], Array, dict[str, str]]:
    """Squared errors of every method on held-out rows, those of the mean, and notes."""
    study, keep = plan.study, plan.keep[plan.groups[index]]
    with single_threaded_blas():
        fits = study.fit(keep)
        tests = [np.tensordot(1 - keep, folds, axes=1) for folds in study.folds]
        found = {method: study.errors_of(fits, method, tests) for method in compared()}
        return found, study.errors_of(fits, None, tests), fits.notes


def _replicas_of_group(plan: Splits, index: int, cancel: Event | None) -> _Replicas:
    """What is asked of some of the jackknife's fits."""
    study, keep = plan.study, plan.keep[plan.groups[index]]
    agents = range(len(study.agents))
    with single_threaded_blas():
        fits = study.fit(keep)
        return _Replicas(
            {(m, i): study.natural(fits, m, i) for m in ("collab", "local") for i in agents},
            {i: study.gap(fits, i) for i in agents},
            {i: fits.shared(i) for i in agents},
            fits.participants,
        )


@dataclass(frozen=True, eq=False)
class _Replicas:
    """The jackknife: all rows first, then all but one fold at a time.

    Attributes
    ----------
    models : dict
        By method and agent, intercept and coefficients (F + 1, k + 1), None if there is no model.
    gaps : dict
        By agent, own least squares less what the others imply (F + 1, shared), or why there is
        none.
    shared : dict
        By agent, places in its view of what others see too.
    participants : tuple of int
        Agents that take part.
    """

    models: dict[tuple[str, int], Array | None]
    gaps: dict[int, Array | str]
    shared: dict[int, Indices]
    participants: tuple[int, ...]

    @classmethod
    def joined(cls, parts: Sequence[_Replicas]) -> _Replicas:
        """Groups of fits one after the other."""
        first = parts[0]
        gaps: dict[int, Array | str] = {}
        for i in first.gaps:
            found = [part.gaps[i] for part in parts]
            why = [text for text in found if isinstance(text, str)]
            numbers = [values for values in found if not isinstance(values, str)]
            gaps[i] = why[0] if why else np.concatenate(numbers)
        models = {key: _joined([part.models[key] for part in parts]) for key in first.models}
        return cls(models, gaps, first.shared, first.participants)


def _joined(parts: Sequence[Array | None]) -> Array | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if len(known) == len(parts) else None


def _first(moment: Moments) -> Moments:
    return Moments(
        moment.n[0], moment.xx[0], moment.xy[0], moment.yy[0], is_centred=moment.is_centred
    )


def _mean(values: Array) -> Any:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else pd.NA


def _typed(records: Sequence[Mapping[str, Any]], numbers: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(records).astype(dict.fromkeys(numbers, "Float64"))


def analyse(
    table: Table,
    chosen: TableChoice,
    *,
    progress: Callable[[float], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> TableStudy:
    """Everything about a table that takes time, done at once: sums, errors, models, checks."""

    def part(begins: float, ends: float) -> Callable[[float], None] | None:
        if progress is None:
            return None
        return lambda share: progress(begins + share * (ends - begins))

    study = TableStudy.of(table, chosen, cancel=cancel, progress=part(0.0, 0.8))
    study.work(progress=part(0.8, 1.0), executor=executor, cancel=cancel)
    return study
