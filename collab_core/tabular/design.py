"""A table and a few choices to sums: one agent a group, folds for holding rows out.

Three passes over the files, each in pieces: what the columns are (`profile`), what every agent has
(`survey`), and the sums (`add_up`). Only sums are kept, and a few hundred rows for residual plots:
every method, its held-out error and its intervals are functions of sums over folds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from .._base.checks import Array, Indices, choice, fraction, whole
from ..core.sigma import completed, steadied
from .profile import MOST_AGENTS, Table, file_names, natural, part
from .reading import FILE, counted, listed
from .values import WORDS, Texts, to_numbers, to_texts

#: Groups into which every agent's rows are dealt; splits hold out some of them.
FOLDS = 20

#: A feature that an agent has in less than this share of its labelled rows is not seen by it.
SPARSE = 0.05

#: A category's levels beyond these, by frequency, are one level called other.
MOST_ONE_HOT = 30
OTHER = "other"

#: Columns of the design, and bytes of all sums, that are taken.
MOST_FEATURES = 200
MOST_SUMS = 400 * 2**20

#: Matrices of an agent's size that one fit of all methods holds at a time.
FIT_STACKS = 12

#: Rows kept for residual plots, over all agents.
KEPT_ROWS = 6000


@dataclass(frozen=True)
class Choice:
    """What a table is asked.

    Attributes
    ----------
    target : str
        Column to predict.
    agent : str
        Column that says whose row it is.
    features : tuple of str
        Columns to predict from.
    categories : tuple of str
        Those of them whose values are names, not amounts.
    log : bool
        Predict the target's logarithm; rows whose target is not above 0 are left out.
    gaps : {"drop", "mean"}
        What becomes of a row in which a feature is missing that its agent usually has: it is left
        out, or its mean given what the row does have is put in, as features go together in all
        agents' rows. (The plain mean would bend everybody's relation; this one does not, if gaps
        come by chance.)
    without : tuple of str
        Agents whose rows are left out.
    rare : float
        Levels of a category in less than this share of all rows are one, `OTHER`; 0 keeps all.
    sigma : {"agents", "unlabelled"}
        Whether covariances come from the agents' labelled rows, entry by entry, or from complete
        rows without a target.
    shuffle : bool
        Deal rows into folds by chance, rather than in turn.
    seed : int
        Of that chance.
    """

    target: str
    agent: str
    features: tuple[str, ...]
    categories: tuple[str, ...] = ()
    log: bool = False
    gaps: str = "drop"
    without: tuple[str, ...] = ()
    rare: float = 0.01
    sigma: str = "agents"
    shuffle: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        choice("gaps", self.gaps, ("drop", "mean"))
        choice("sigma", self.sigma, ("agents", "unlabelled"))
        fraction("rare", self.rare)
        whole("seed", self.seed, low=0)
        if not self.features:
            raise ValueError("features must name at least one column, got none")
        if self.target == self.agent:
            raise ValueError(f"{self.target!r} cannot be both the target and the agents")
        for name in (self.target, self.agent):
            if name in self.features:
                raise ValueError(f"{name!r} is the target or names the agents: it is no feature")
        stray = [name for name in self.categories if name not in self.features]
        if stray:
            raise ValueError(f"categories must be among the features, {stray[0]!r} is not")


def usual_choice(table: Table, **given: Any) -> Choice:
    """The choice that a person most likely means; what is given is kept.

    Features are all usable columns but the target and the agents'.
    """
    target = given.pop("target", None) or table.usual_target()
    agent = given.pop("agent", None) or table.usual_agent()
    if agent is None:
        raise ValueError(
            f"no column can name the agents: one with 2 to {MOST_AGENTS} different values is"
            " needed, or several files, one an agent"
        )
    if target is None:
        raise ValueError("no column can be the target: one of numbers that vary is needed")
    features = given.pop("features", None) or tuple(
        column.name
        for column in table.columns
        if column.usable and column.name not in (target, agent)
    )
    if not features:
        raise ValueError(
            f"no column is left to predict {target!r} from: one that varies is needed besides"
            f" {agent!r}"
        )
    categories = given.pop("categories", None)
    if categories is None:
        categories = tuple(name for name in features if table.column(name).kind != "number")
    return Choice(target, agent, tuple(features), tuple(categories), **given)


@dataclass(frozen=True)
class Feature:
    """A column of the design.

    Attributes
    ----------
    source : str
        Column of the table.
    level : str or None
        The level it stands for; None for a number.
    """

    source: str
    level: str | None = None

    @property
    def name(self) -> str:
        """For people."""
        return self.source if self.level is None else f"{self.source} = {self.level}"


@dataclass
class _Agent:
    """What the survey counts of an agent, over its labelled rows."""

    rows: int = 0
    unlabelled: int = 0
    present: Counter[str] = field(default_factory=Counter)
    total: dict[str, float] = field(default_factory=dict)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    target: float = 0.0


@dataclass(frozen=True, eq=False)
class Survey:
    """What every agent has.

    Attributes
    ----------
    choice : Choice
    agents : tuple of str
        Those with labelled rows.
    bare : tuple of str
        Those without; their rows can still tell covariances.
    rows, unlabelled : integer arrays, shape (m,)
        Rows with and without a target.
    present : integer array, shape (m, q)
        Labelled rows in which an agent has a source column.
    seen : boolean array, shape (m, q)
        Whether it counts as seen.
    features : tuple of Feature
        Columns of the design.
    means : array, shape (m, d)
        Of what an agent has, 0 where it has nothing.
    target_means : array, shape (m,)
    levels : dict
        Of every category, its level for every value: itself, `OTHER`, or the left-out first one.
    notes : tuple of str
    """

    choice: Choice
    agents: tuple[str, ...]
    bare: tuple[str, ...]
    rows: np.ndarray
    unlabelled: np.ndarray
    present: np.ndarray
    seen: np.ndarray
    features: tuple[Feature, ...]
    means: Array
    target_means: Array
    levels: dict[str, dict[str, str]]
    notes: tuple[str, ...]

    @property
    def views(self) -> list[Indices]:
        """Columns of the design that every agent sees, m index arrays."""
        sources = list(self.choice.features)
        place = np.array([sources.index(feature.source) for feature in self.features], dtype=int)
        return [np.flatnonzero(row[place]) for row in self.seen]


class _Batch:
    """A piece of the table: agents, target, and features on demand."""

    def __init__(
        self, table: Table, chosen: Choice, number: int, columns: dict[str, Any], files: list[str]
    ) -> None:
        self._columns, self._table = columns, table
        self.length = len(next(iter(columns.values())))
        if chosen.agent == FILE and len(table.layouts) > 1:
            self.agents = Texts(np.zeros(self.length, dtype=int), [files[number]])
        else:
            self.agents = self.texts(chosen.agent)
        self.target = self.numbers(chosen.target)
        self.not_positive = 0
        if chosen.log:
            with np.errstate(invalid="ignore"):
                wrong = self.target <= 0
            self.not_positive = int(wrong.sum())
            self.target = np.log(np.where(wrong, np.nan, self.target))

    def numbers(self, name: str) -> Array:
        """A column of amounts, NaN for gaps, infinite values and texts."""
        if name not in self._columns:
            return np.full(self.length, np.nan)
        values = to_numbers(self._columns[name], self._table.column(name).comma).values
        return np.where(np.isfinite(values), values, np.nan)

    def texts(self, name: str) -> Texts:
        """A column of names."""
        if name not in self._columns:
            return Texts(np.full(self.length, -1), [])
        return to_texts(self._columns[name], self._table.column(name).words)


def _pieces(
    table: Table,
    chosen: Choice,
    progress: Callable[[float], None] | None,
    cancel: Event | None,
) -> Iterator[_Batch]:
    wanted = list(dict.fromkeys([chosen.agent, chosen.target, *chosen.features]))
    for name in wanted:
        table.column(name)
    amounts = [name for name in (chosen.target, *chosen.features) if name not in chosen.categories]
    # Numbers without exception are read as numbers at once.
    quick = [
        name for name in amounts if table.column(name).kind == "number" and table.column(name).plain
    ]
    files = file_names(table.layouts)
    for number, columns in table.batches(wanted, numbers=quick, progress=progress, cancel=cancel):
        yield _Batch(table, chosen, number, columns, files)


def survey(
    table: Table,
    chosen: Choice,
    *,
    progress: Callable[[float], None] | None = None,
    cancel: Event | None = None,
) -> Survey:
    """Count what every agent has, and fix the columns of the design."""
    found: dict[str, _Agent] = {}
    nobody = lost = not_positive = 0
    unwanted = set(chosen.without)
    amounts = [name for name in chosen.features if name not in chosen.categories]
    for piece in _pieces(table, chosen, progress, cancel):
        not_positive += piece.not_positive
        labelled = ~np.isnan(piece.target)
        owned = piece.agents.codes >= 0
        nobody += int((~owned).sum())
        numbers = {name: piece.numbers(name) for name in amounts}
        texts = {name: piece.texts(name) for name in chosen.categories}
        for code, agent in enumerate(piece.agents.levels):
            if agent in unwanted:
                continue
            mine = piece.agents.codes == code
            entry = found.setdefault(agent, _Agent())
            entry.unlabelled += int((mine & ~labelled).sum())
            lost += int((mine & ~labelled).sum())
            mine &= labelled
            entry.rows += int(mine.sum())
            entry.target += float(piece.target[mine].sum())
            for name, values in numbers.items():
                there = values[mine]
                there = there[~np.isnan(there)]
                entry.present[name] += there.size
                entry.total[name] = entry.total.get(name, 0.0) + float(there.sum())
            for name, names in texts.items():
                counts = names.counts(mine)
                entry.present[name] += sum(counts.values())
                entry.levels.setdefault(name, Counter()).update(counts)
        if len(found) > MOST_AGENTS:
            raise ValueError(
                f"{chosen.agent} names more than {MOST_AGENTS} agents; choose another column"
            )
    wrong = table.column(chosen.target).texts
    notes = []
    if wrong:
        notes.append(f"{counted(wrong, 'cell')} of {chosen.target} hold text, no number: gaps.")
    return _surveyed(chosen, found, nobody, lost, not_positive, notes)


def _surveyed(
    chosen: Choice,
    found: dict[str, _Agent],
    nobody: int,
    lost: int,
    not_positive: int,
    notes: list[str],
) -> Survey:
    if chosen.without:
        notes.append(f"Left out as asked: {listed(chosen.without)}.")
    if nobody:
        notes.append(f"{counted(nobody, 'row')} without {chosen.agent}: left out.")
    if not_positive:
        notes.append(
            f"{counted(not_positive, 'row')} whose {chosen.target} is not above 0 and has no"
            " logarithm: left out."
        )
    lost -= not_positive
    if lost > 0:
        use = "used for covariances only" if chosen.sigma == "unlabelled" else "left out"
        notes.append(f"{counted(lost, 'row')} without {chosen.target}: {use}.")
    bare = sorted(name for name, entry in found.items() if not entry.rows)
    if bare:
        notes.append(f"No row of {listed(bare)} has {chosen.target}: no agent of its own.")
    names = sorted((name for name in found if found[name].rows), key=natural)
    if not names:
        raise ValueError(f"no row has both {chosen.agent} and {chosen.target}")
    if len(names) == 1:
        raise ValueError(
            f"{chosen.agent} has one value only ({names[0]}): at least two agents are needed to"
            " learn together"
        )
    entries = [found[name] for name in names]
    notes += _only_words(chosen, names, entries)
    rows = np.array([entry.rows for entry in entries])
    present = np.array(
        [[entry.present[name] for name in chosen.features] for entry in entries], dtype=int
    )
    seen = present >= np.maximum(SPARSE * rows, 1)[:, None]
    for i, j in np.argwhere((present > 0) & ~seen):
        notes.append(
            f"{names[i]} has {chosen.features[j]} in {present[i, j]} of {rows[i]:,} rows: too few,"
            " so it counts as not seen there."
        )
    features, levels, told = _columns_of(chosen, entries)
    notes += told
    never = [name for j, name in enumerate(chosen.features) if not seen[:, j].any()]
    if never:
        notes.append(f"Nobody with a target has {listed(never)}: left out.")
    features = tuple(feature for feature in features if feature.source not in never)
    if not features:
        raise ValueError("no chosen feature varies: choose others")
    if len(features) > MOST_FEATURES:
        raise ValueError(
            f"the chosen columns make {len(features)} features, and at most {MOST_FEATURES} are"
            " taken: choose fewer, or group rare levels"
        )
    means = np.zeros((len(names), len(features)))
    for i, entry in enumerate(entries):
        for j, feature in enumerate(features):
            there = entry.present[feature.source]
            if there and feature.level is None:
                means[i, j] = entry.total[feature.source] / there
            elif there:
                of = levels[feature.source]
                count = sum(
                    n for value, n in entry.levels[feature.source].items()
                    if of[value] == feature.level
                )  # fmt: skip
                means[i, j] = count / there
    return Survey(
        chosen,
        tuple(names),
        tuple(bare),
        rows,
        np.array([entry.unlabelled for entry in entries]),
        present,
        seen,
        features,
        means,
        np.array([entry.target for entry in entries]) / rows,
        levels,
        tuple(notes),
    )


def _only_words(chosen: Choice, names: Sequence[str], entries: Sequence[_Agent]) -> list[str]:
    """Forget categories of which an agent has nothing but NA, none and the like; say so."""
    notes = []
    for name in chosen.categories:
        everybody = {level for entry in entries for level in entry.levels.get(name, ())}
        for agent, entry in zip(names, entries, strict=True):
            own = set(entry.levels.get(name, ()))
            if own and own <= set(WORDS) and everybody - set(WORDS):
                entry.present[name], entry.levels[name] = 0, Counter()
                word = listed(sorted(own))
                notes.append(f"{name} is {word!r} in every row of {agent}: not seen there.")
    return notes


def _columns_of(
    chosen: Choice, entries: Sequence[_Agent]
) -> tuple[tuple[Feature, ...], dict[str, dict[str, str]], list[str]]:
    """Design columns, the level that stands for every value, and what to tell."""
    features: list[Feature] = []
    levels: dict[str, dict[str, str]] = {}
    notes: list[str] = []
    total = sum(entry.rows for entry in entries)
    for name in chosen.features:
        if name not in chosen.categories:
            features.append(Feature(name))
            continue
        counts: Counter[str] = Counter()
        for entry in entries:
            counts.update(entry.levels.get(name, Counter()))
        ordered = [value for value, _ in counts.most_common()]
        kept = [value for value in ordered if counts[value] >= chosen.rare * total]
        kept = (kept or ordered[:1])[:MOST_ONE_HOT]
        grouped = [value for value in ordered if value not in kept]
        if len(grouped) == 1 and chosen.rare * total <= 1:
            kept, grouped = [*kept, *grouped], []
        levels[name] = {value: value for value in kept} | dict.fromkeys(grouped, OTHER)
        columns = [*kept[1:], *([OTHER] if grouped else [])]
        if not columns:
            notes.append(f"{name} has one level only: left out.")
        if grouped:
            notes.append(
                f"{name}: {counted(len(grouped), 'rare level')} ({listed(grouped, 3)}) grouped as"
                f" {OTHER!r}."
            )
        # The most common level is the one that others are compared with.
        features += [Feature(name, level) for level in dict.fromkeys(columns)]
    return tuple(features), levels, notes


@dataclass(frozen=True, eq=False)
class Filled:
    """What is to be known of an agent whose gaps were filled.

    Attributes
    ----------
    lost : array, shape (R, k, k)
        Sums of the covariance that what was filled in, being a mean, does not have.
    own : array, shape (R, 3, k)
        Of what was there: how many, their sums and sums of squares.
    """

    lost: Array
    own: Array

    @classmethod
    def nothing(cls, k: int) -> Filled:
        """Zeros for every fold."""
        return cls(np.zeros((FOLDS, k, k)), np.zeros((FOLDS, 3, k)))

    def some(self, columns: np.ndarray, unit: Array) -> Filled:
        """Some columns, in other units."""
        powers = np.stack([np.ones(len(columns)), unit, unit**2])
        lost = self.lost[:, columns[:, None], columns] / np.outer(unit, unit)
        return Filled(lost, self.own[:, :, columns] / powers)

    def over(self, keep: Array) -> Filled:
        """Sums over folds, given by 0 and 1, shape (R, F)."""
        return Filled(np.tensordot(keep, self.lost, axes=1), np.tensordot(keep, self.own, axes=1))

    @property
    def varies(self) -> np.ndarray:
        """Whether a column varied before anything was filled in, shape (R, k)."""
        count, total, squares = np.moveaxis(self.own, 1, 0)
        return squares - total**2 / np.maximum(count, 1) > 1e-12 * squares


@dataclass(frozen=True, eq=False)
class TableSums:
    """Sums by agent and fold: all that fits, errors and intervals read.

    Attributes
    ----------
    survey : Survey
    folds : list of m arrays, shape (F, k + 2, k + 2)
        Sums of products of (1, x, y) about an agent's means, of the k features it sees.
    unlabelled : array, shape (m + b, d + 1, d + 1)
        Sums of products of (1, x) about a mean, over complete rows without a target, of the m
        agents and of the b that have no other rows.
    filled : list of m Filled, or None
        Of agents whose gaps were filled.
    kept : dict
        By agent, some rows: features (r, k) and target (r,), for residual plots.
    notes : tuple of str
    """

    survey: Survey
    folds: Sequence[Array]
    unlabelled: Array
    filled: Sequence[Filled | None]
    kept: dict[int, tuple[Array, Array]]
    notes: tuple[str, ...]


def add_up(
    table: Table,
    found: Survey,
    *,
    progress: Callable[[float], None] | None = None,
    cancel: Event | None = None,
) -> TableSums:
    """Add up the table by agent and fold, within the memory of one piece and of the sums."""
    chosen, views = found.choice, found.views
    filled = [_room_of(found, i) for i in range(len(views))]
    # The sums themselves, and what one fit of all agents takes beside them.
    stacks = [FOLDS * (1 if room is None else 2) + FIT_STACKS for room in filled]
    size = sum(stack * (view.size + 2) ** 2 * 8 for stack, view in zip(stacks, views, strict=True))
    if size > MOST_SUMS:
        raise ValueError(
            f"{len(views)} agents with up to {max(v.size for v in views)} features are too many"
            " for the memory at hand: choose fewer features, or agents that are fewer"
        )
    covariance: Array = np.empty((0, 0))
    if any(room is not None for room in filled):
        covariance = _pairwise(table, found, part(progress, 0, 2), cancel)
        progress = part(progress, 1, 2)
    d = len(found.features)
    sums = [np.zeros((FOLDS, view.size + 2, view.size + 2)) for view in views]
    everybody = (*found.agents, *found.bare)
    unlabelled = np.zeros((len(everybody), d + 1, d + 1))
    centre = np.vstack([found.means, *[found.means.mean(axis=0)] * len(found.bare)])
    kept: dict[int, list[tuple[Array, Array]]] = {i: [] for i in range(len(views))}
    each = max(KEPT_ROWS // len(views), 20)
    stride = np.maximum(found.rows // each, 1)
    position = np.zeros(len(views), dtype=int)
    gaps = np.zeros(len(views), dtype=int)
    places = {name: i for i, name in enumerate(everybody)}
    for piece in _pieces(table, chosen, progress, cancel):
        # One more place for rows of nobody.
        known = np.array([*(places.get(agent, -1) for agent in piece.agents.levels), -1])
        owner = known[piece.agents.codes]
        x = _encoded(piece, found)
        labelled = ~np.isnan(piece.target)
        for i in np.unique(owner[owner >= 0]):
            mine = owner == i
            if chosen.sigma == "unlabelled":
                complete = x[mine & ~labelled]
                complete = complete[~np.isnan(complete).any(axis=1)] - centre[i]
                unlabelled[i] += _products(complete)
            if i >= len(views):
                continue
            rows, view = np.flatnonzero(mine & labelled), views[i]
            values = x[rows][:, view] - found.means[i, view]
            y = piece.target[rows] - found.target_means[i]
            holes = np.isnan(values)
            holed = holes.any(axis=1)
            gaps[i] += int(holed.sum())
            if chosen.gaps == "drop":
                values, y = values[~holed], y[~holed]
            some = ~holed[~holed] if chosen.gaps == "drop" else ~holed
            number = np.arange(position[i], position[i] + y.size)
            position[i] += y.size
            fold = _dealt(number, i, chosen)
            order = np.argsort(fold, kind="stable")
            ends = np.searchsorted(fold[order], np.arange(FOLDS + 1))
            gapped = filled[i]
            if gapped is not None:
                values = _fill(values, covariance[view[:, None], view], fold, gapped)
            joint = np.concatenate([values, y[:, None]], axis=1)[order]
            for f in range(FOLDS):
                sums[i][f] += _products(joint[ends[f] : ends[f + 1]])
            # A residual of a filled row tells of the gap, not of the relation.
            some &= number % stride[i] == 0
            kept[i].append((values[some] + found.means[i, view], y[some] + found.target_means[i]))
    notes = list(found.notes)
    if gaps.any():
        done = (
            "left out" if chosen.gaps == "drop" else "filled with what the rest of the row suggests"
        )
        worst = int((gaps / found.rows).argmax())
        notes.append(
            f"{counted(int(gaps.sum()), 'row')} with a gap in a feature that their agent has:"
            f" {done} (most in {found.agents[worst]}, {gaps[worst]:,} of {found.rows[worst]:,})."
        )
    empty = [found.agents[i] for i in range(len(views)) if position[i] < 2]
    if empty:
        raise ValueError(
            f"{listed(empty)}: fewer than two complete rows are left; fill gaps with the mean,"
            " choose fewer features, or leave the agent out"
        )
    return TableSums(
        found,
        sums,
        unlabelled,
        filled,
        {
            i: (np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))
            for i, parts in kept.items()
        },
        tuple(notes),
    )


def _room_of(found: Survey, agent: int) -> Filled | None:
    """Room for what is to be known of filling an agent's gaps, if there is any to be done."""
    gap = found.seen[agent] & (found.present[agent] < found.rows[agent])
    if found.choice.gaps == "drop" or not gap.any():
        return None
    return Filled.nothing(found.views[agent].size)


def _pairwise(
    table: Table,
    found: Survey,
    progress: Callable[[float], None] | None,
    cancel: Event | None,
) -> Array:
    """Covariance within agents, every entry over the rows that have both, shape (d, d).

    Over all rows with a target, held-out ones too: of their features only, and for gaps only.
    """
    d, views = len(found.features), found.views
    total, count = np.zeros((d, d)), np.zeros((d, d))
    places = {name: i for i, name in enumerate(found.agents)}
    for piece in _pieces(table, found.choice, progress, cancel):
        known = np.array([*(places.get(agent, -1) for agent in piece.agents.levels), -1])
        owner = np.where(np.isnan(piece.target), -1, known[piece.agents.codes])
        x = _encoded(piece, found)
        for i in np.unique(owner[owner >= 0]):
            view = views[i]
            values = x[owner == i][:, view] - found.means[i, view]
            there = ~np.isnan(values)
            values = np.where(there, values, 0.0)
            total[view[:, None], view] += values.T @ values
            count[view[:, None], view] += there.astype(float).T @ there
    _refuse_apart(found, count)
    matrix = total / np.maximum(count, 1)
    flat = np.diagonal(matrix) <= 0
    matrix[flat, flat] = 1.0
    known_pairs = count > 1
    if known_pairs.all():
        return steadied(matrix)
    return completed(matrix, known_pairs | np.eye(d, dtype=bool))


def _refuse_apart(found: Survey, count: Array) -> None:
    """Refuse to fill gaps between columns that agents see both, but never in the same row."""
    for view in found.views:
        block = count[view[:, None], view]
        have = np.diagonal(block) > 1
        apart = np.argwhere((block <= 1) & have[:, None] & have)
        if apart.size:
            first, second = (found.features[view[place]].source for place in apart[0])
            raise ValueError(
                f"no two rows have both {first} and {second}, so gaps in one cannot be filled in"
                " from the other: take one of them out of the features"
            )


def _fill(values: Array, covariance: Array, fold: np.ndarray, told: Filled) -> Array:
    """Rows about their agent's means, gaps filled with the mean given what a row has, (n, k).

    Parameters
    ----------
    covariance : array, shape (k, k)
    fold : integer array, shape (n,)
    told : Filled
        Gets what was there, and the covariance of what rows lack given what they have, by fold.
    """
    there = np.where(np.isnan(values), 0.0, values)
    for place, what in enumerate((~np.isnan(values), there, there**2)):
        np.add.at(told.own[:, place], fold, what)
    kinds, kind = np.unique(np.isnan(values), axis=0, return_inverse=True)
    filled = values.copy()
    for number, lacks in enumerate(kinds):
        if not lacks.any():
            continue
        has, gap = np.flatnonzero(~lacks), np.flatnonzero(lacks)
        rows = np.flatnonzero(kind.reshape(-1) == number)
        slopes = conditional_slopes(covariance, has, gap)
        filled[rows[:, None], gap] = values[rows[:, None], has] @ slopes
        often = np.bincount(fold[rows], minlength=FOLDS)
        left = covariance[gap[:, None], gap] - covariance[gap[:, None], has] @ slopes
        told.lost[:, gap[:, None], gap] += often[:, None, None] * left
    return filled


def conditional_slopes(covariance: Array, has: np.ndarray, gap: np.ndarray) -> Array:
    """Of the mean of some features given others, shape (len(has), len(gap))."""
    across = covariance[has[:, None], gap]
    return np.linalg.lstsq(covariance[has[:, None], has], across, rcond=None)[0]


def effort(table: Table, chosen: Choice) -> int:
    """About how large the sums of all agents are, before anything is read: m d^2."""
    d = sum(
        min(table.column(name).distinct or MOST_ONE_HOT, MOST_ONE_HOT)
        if name in chosen.categories
        else 1
        for name in chosen.features
    )
    return (table.column(chosen.agent).distinct or 1) * d * d


def _products(rows: Array) -> Array:
    """Sums of products of (1, rows), shape (k + 1, k + 1)."""
    joint = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
    return joint.T @ joint


def _encoded(piece: _Batch, found: Survey) -> Array:
    """The design of a piece, NaN for gaps, shape (n, d)."""
    x = np.empty((piece.length, len(found.features)))
    names: dict[str, Texts] = {}
    for j, feature in enumerate(found.features):
        if feature.level is None:
            x[:, j] = piece.numbers(feature.source)
            continue
        if feature.source not in names:
            names[feature.source] = piece.texts(feature.source)
        texts, of = names[feature.source], found.levels[feature.source]
        # A level that no labelled row has is a gap, and so is none.
        value = [
            float(of[level] == feature.level) if level in of else np.nan for level in texts.levels
        ]
        x[:, j] = np.array([*value, np.nan])[texts.codes]
    return x


def _dealt(number: np.ndarray, agent: int, chosen: Choice) -> np.ndarray:
    """The fold of an agent's rows, given how many came before each; any pieces give the same.

    In turn, or every twenty rows dealt by a shuffle of their own.
    """
    turn = number % FOLDS
    if not chosen.shuffle or not number.size:
        return turn
    first, last = number[0] // FOLDS, number[-1] // FOLDS
    keys = np.arange(first * FOLDS, (last + 1) * FOLDS, dtype=np.uint64)
    mixed = _mixed(keys + np.uint64((chosen.seed * 1_000_003 + int(agent)) * 2**32 % 2**63))
    shuffles = np.argsort(mixed.reshape(-1, FOLDS), axis=1, kind="stable")
    return shuffles[number // FOLDS - first, turn]


def _mixed(keys: np.ndarray) -> np.ndarray:
    """Scramble 64-bit numbers (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
