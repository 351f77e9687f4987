"""What every agent has of a table, and the columns of the design that follow from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event

import numpy as np

from .._base.checks import Array, Indices
from .choice import TableChoice
from .column import MOST_AGENTS, natural
from .pieces import Piece, pieces
from .sentences import counted, listed
from .table import Table
from .values import WORDS, Texts

#: A feature that an agent has in less than this share of its labelled rows is not seen by it.
SPARSE = 0.05

#: A category's levels beyond these, by frequency, are one level called other.
MOST_ONE_HOT = 30
OTHER = "other"

#: Columns of the design that are taken.
MOST_FEATURES = 200


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


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """What every agent has.

    Attributes
    ----------
    choice : TableChoice
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

    choice: TableChoice
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


def survey(
    table: Table,
    chosen: TableChoice,
    *,
    progress: Callable[[float], None] | None = None,
    cancel: Event | None = None,
) -> TableSurvey:
    """Count what every agent has, and fix the columns of the design."""
    count = _Count(chosen)
    for piece in pieces(table, chosen, progress, cancel):
        count.add(piece)
    wrong = table.column(chosen.target).texts
    notes = []
    if wrong:
        notes.append(f"{counted(wrong, 'cell')} of {chosen.target} hold text, no number: gaps.")
    return _surveyed(chosen, count, notes + count.left_out())


@dataclass
class _Agent:
    """What is counted of an agent, over its labelled rows."""

    rows: int = 0
    unlabelled: int = 0
    present: Counter[str] = field(default_factory=Counter)
    total: dict[str, float] = field(default_factory=dict)
    levels: dict[str, Counter[str]] = field(default_factory=dict)
    target: float = 0.0

    def mean(self, feature: Feature, levels: Mapping[str, Mapping[str, str]]) -> float:
        """Of a column of the design, over rows that have it; 0 where none has."""
        there = self.present[feature.source]
        if not there:
            return 0.0
        if feature.level is None:
            return self.total[feature.source] / there
        of, counts = levels[feature.source], self.levels[feature.source]
        return sum(n for value, n in counts.items() if of[value] == feature.level) / there


class _Count:
    """What is counted of a table, piece by piece."""

    def __init__(self, chosen: TableChoice) -> None:
        self._chosen = chosen
        self._amounts = [name for name in chosen.features if name not in chosen.categories]
        #: By name.
        self.agents: dict[str, _Agent] = {}
        self._nobodys = self._not_positive = 0

    def add(self, piece: Piece) -> None:
        """Count a piece."""
        chosen, unwanted = self._chosen, set(self._chosen.without)
        self._not_positive += piece.not_positive
        self._nobodys += int((piece.agents.codes < 0).sum())
        labelled = ~np.isnan(piece.target)
        numbers = {name: piece.numbers(name) for name in self._amounts}
        texts = {name: piece.texts(name) for name in chosen.categories}
        for code, agent in enumerate(piece.agents.levels):
            if agent in unwanted:
                continue
            mine = piece.agents.codes == code
            entry = self.agents.setdefault(agent, _Agent())
            entry.unlabelled += int((mine & ~labelled).sum())
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
        if len(self.agents) > MOST_AGENTS:
            raise ValueError(
                f"{chosen.agent} names more than {MOST_AGENTS} agents; choose another column"
            )

    def left_out(self) -> list[str]:
        """Which rows are left out and why, in sentences."""
        chosen, notes = self._chosen, []
        if chosen.without:
            notes.append(f"Left out as asked: {listed(chosen.without)}.")
        if self._nobodys:
            notes.append(f"{counted(self._nobodys, 'row')} without {chosen.agent}: left out.")
        if self._not_positive:
            notes.append(
                f"{counted(self._not_positive, 'row')} whose {chosen.target} is not above 0 and"
                " has no logarithm: left out."
            )
        lost = sum(entry.unlabelled for entry in self.agents.values()) - self._not_positive
        if lost > 0:
            use = "used for covariances only" if chosen.sigma == "unlabelled" else "left out"
            notes.append(f"{counted(lost, 'row')} without {chosen.target}: {use}.")
        return notes


def _surveyed(chosen: TableChoice, count: _Count, notes: list[str]) -> TableSurvey:
    """The survey of what was counted."""
    bare = sorted(name for name, entry in count.agents.items() if not entry.rows)
    if bare:
        notes.append(f"No row of {listed(bare)} has {chosen.target}: no agent of its own.")
    names = sorted((name for name, entry in count.agents.items() if entry.rows), key=natural)
    if not names:
        raise ValueError(f"no row has both {chosen.agent} and {chosen.target}")
    if len(names) == 1:
        raise ValueError(
            f"{chosen.agent} has one value only ({names[0]}): at least two agents are needed to"
            " learn together"
        )
    entries = [count.agents[name] for name in names]
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
    features = _seen_by_some(chosen, features, seen, notes)
    return TableSurvey(
        chosen,
        tuple(names),
        tuple(bare),
        rows,
        np.array([entry.unlabelled for entry in entries]),
        present,
        seen,
        features,
        np.array([[entry.mean(feature, levels) for feature in features] for entry in entries]),
        np.array([entry.target for entry in entries]) / rows,
        levels,
        tuple(notes),
    )


def _seen_by_some(
    chosen: TableChoice, features: Sequence[Feature], seen: np.ndarray, notes: list[str]
) -> tuple[Feature, ...]:
    """Columns of the design that somebody sees, if they are not too many; others are noted."""
    never = [name for j, name in enumerate(chosen.features) if not seen[:, j].any()]
    if never:
        notes.append(f"Nobody with a target has {listed(never)}: left out.")
    left = tuple(feature for feature in features if feature.source not in never)
    if not left:
        raise ValueError("no chosen feature varies: choose others")
    if len(left) > MOST_FEATURES:
        raise ValueError(
            f"the chosen columns make {len(left)} features, and at most {MOST_FEATURES} are"
            " taken: choose fewer, or group rare levels"
        )
    return left


def _only_words(chosen: TableChoice, names: Sequence[str], entries: Sequence[_Agent]) -> list[str]:
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
    chosen: TableChoice, entries: Sequence[_Agent]
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


def encoded(piece: Piece, found: TableSurvey) -> Array:
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
