"""Sums over people: all that any linear method reads of a state, and nothing about a person.

By state and by part (train, test) the number of people, and the sums and sums of products of all
features and of the target in minutes and as a logarithm. Sums add, so files of any size become
them chunk by chunk, and every linear method and its test error can be had exactly from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event

import numpy as np

from .._base.checks import Array
from ..core.held_out import about_mean
from .questions import QUESTIONS, TARGET, question_of, text_of
from .records import CHUNK_ROWS, RecordLayout, Records, layout_of, read, state_name

#: Targets that every file of sums holds after its features.
TARGETS = (TARGET, f"log_{TARGET}")

#: Every so many people of a state, in file order, one is for testing: the first, the sixth, ...
TEST_EVERY = 5

TRAIN, TEST = 0, 1


@dataclass(frozen=True, eq=False)
class CensusSums:
    """Sums by state and part.

    Attributes
    ----------
    states : tuple of str
        Postal abbreviations, S of them.
    features : tuple of str
        Columns, such as "AGEP" or "MAR_2".
    n : integer array, shape (S, 2)
        People for training and for testing.
    total : array, shape (S, 2, c)
        Sums of features, minutes and log minutes; c is the number of features + 2.
    cross : array, shape (S, 2, c, c)
        Sums of products.
    source : str
        Where they come from, for people.
    older : bool
        Whether levels have the codes of files before 2019.
    """

    states: tuple[str, ...]
    features: tuple[str, ...]
    n: np.ndarray
    total: Array
    cross: Array
    source: str
    older: bool = False

    def __post_init__(self) -> None:
        count, width = len(self.states), len(self.features) + len(TARGETS)
        shapes = {"n": (count, 2), "total": (count, 2, width), "cross": (count, 2, width, width)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {getattr(self, name).shape}")
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} must be finite")

    @classmethod
    def load(cls, path: str | Path, source: str = "") -> CensusSums:
        """Read a file of sums (.npz); nothing in it is ever unpickled."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                content = {name: archive[name] for name in archive.files}
        except (OSError, ValueError) as problem:
            raise ValueError(f"{Path(path).name} is not a file of sums: {problem}") from None
        missing = {"states", "columns", "n", "total", "cross"} - set(content)
        if missing:
            raise ValueError(f"{Path(path).name} lacks {', '.join(sorted(missing))}")
        columns = [_this_name(str(name)) for name in content["columns"]]
        if tuple(columns[-2:]) != TARGETS:
            raise ValueError(f"{Path(path).name}: its last columns must be {', '.join(TARGETS)}")
        return cls(
            tuple(str(state) for state in content["states"]),
            tuple(columns[:-2]),
            content["n"].astype(np.int64),
            content["total"].astype(float),
            content["cross"].astype(float),
            source or Path(path).stem,
            bool(content.get("older", False)),
        )

    def save(self, path: str | Path) -> None:
        """Write the sums, as `load` reads them."""
        np.savez_compressed(
            path,
            states=np.array(self.states),
            split=np.array(["train", "test"]),
            columns=np.array([*self.features, *TARGETS]),
            n=self.n,
            total=self.total,
            cross=self.cross,
            older=np.array(self.older),
        )

    def text_of(self, feature: str) -> str:
        """A feature in words."""
        return text_of(feature, older=self.older)

    @cached_property
    def digest(self) -> str:
        """A short text that is the same for the same numbers, whatever they are called."""
        found = hashlib.blake2b(digest_size=12)
        for part in (self.states, self.features, self.older):
            found.update(repr(part).encode())
        for array in (self.n, self.total, self.cross):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    @cached_property
    def questions(self) -> tuple[str, ...]:
        """Questions that the features answer, in their order."""
        return tuple(dict.fromkeys(question_of(feature).key for feature in self.features))

    @property
    def absent(self) -> tuple[str, ...]:
        """Names of the questions that this data lacks."""
        return tuple(q.name for key, q in QUESTIONS.items() if key not in self.questions)

    @property
    def people(self) -> int:
        """Everybody who counts."""
        return int(self.n.sum())

    def index(self, state: str) -> int:
        """Place of a state."""
        if state not in self.states:
            raise ValueError(f"state {state!r} is not in the data; it has {', '.join(self.states)}")
        return self.states.index(state)

    @cached_property
    def about_mean(self) -> tuple[Array, Array]:
        """Means (S, 2, c), and sums of products about them (S, 2, c, c); 0 where nobody is."""
        raw = np.diagonal(self.cross, axis1=-2, axis2=-1)
        least = 1e-10 * np.maximum(raw, 1e-300)
        return about_mean(np.maximum(self.n, 1.0), self.total, self.cross, least)


class Collector:
    """Adds up people, chunk by chunk, and remembers whose turn it is to be for testing."""

    def __init__(self, layouts: Sequence[RecordLayout]) -> None:
        shared = [key for key in QUESTIONS if all(key in layout.columns for layout in layouts)]
        #: Features that every file has.
        self.features = tuple(name for key in shared for name in QUESTIONS[key].features)
        codes = {layout.columns.get("JWTR") for layout in layouts} - {None}
        if len(codes) > 1:
            raise ValueError(
                "files of before and after 2019 code means of transport differently and cannot be"
                " mixed; pick files of one kind"
            )
        self._older = codes == {"JWTR"}
        self._file_of: dict[int, str] = {}
        self._width = len(self.features) + len(TARGETS)
        self._seen: dict[int, int] = {}
        self._sums: dict[int, tuple[np.ndarray, Array, Array]] = {}

    def add(self, people: Records, features: Sequence[str], file: str = "") -> None:
        """Add a chunk, whose columns are ``features``; those that are not wanted are left out.

        A state whose people come from more than one file is refused: a copy would put the same
        people into training and testing.
        """
        keep = [list(features).index(name) for name in self.features]
        table = np.column_stack([people.x[:, keep], people.minutes, np.log(people.minutes)])
        for code in np.unique(people.states):
            other = self._file_of.setdefault(int(code), file)
            if other != file:
                raise ValueError(
                    f"people of {state_name(int(code))} are in two files, {other} and {file}; keep"
                    " one of them"
                )
            rows = table[people.states == code]
            first = self._seen.get(int(code), 0)
            self._seen[int(code)] = first + len(rows)
            testing = (first + np.arange(len(rows))) % TEST_EVERY == 0
            n, total, cross = self._sums.setdefault(
                int(code),
                (
                    np.zeros(2, dtype=np.int64),
                    np.zeros((2, self._width)),
                    np.zeros((2, self._width, self._width)),
                ),
            )
            for part, mask in ((TRAIN, ~testing), (TEST, testing)):
                chosen = rows[mask]
                n[part] += len(chosen)
                total[part] += chosen.sum(axis=0)
                cross[part] += chosen.T @ chosen

    def sums(self, source: str) -> CensusSums:
        """What was added up, states in the order of their codes."""
        if not self._sums:
            raise ValueError(
                "nobody counts: no record is of a person over 16, in work, with a travel time"
            )
        codes = sorted(self._sums)
        parts = [self._sums[code] for code in codes]
        return CensusSums(
            tuple(state_name(code) for code in codes),
            self.features,
            np.stack([part[0] for part in parts]),
            np.stack([part[1] for part in parts]),
            np.stack([part[2] for part in parts]),
            source,
            self._older,
        )


def sums_of_files(
    paths: Sequence[str | Path],
    source: str,
    *,
    rows: int = CHUNK_ROWS,
    progress: Callable[[float], None] | None = None,
    cancel: Event | None = None,
) -> CensusSums:
    """Add up files of person records, within the memory of one chunk.

    Questions that any of the files lacks are left out of all (see `CensusSums.absent`).
    """
    files = [Path(path) for path in paths]
    collector = Collector([layout_of(path) for path in files])
    for path, layout, people in read(files, rows=rows, progress=progress, cancel=cancel):
        collector.add(people, layout.features, path.name)
    return collector.sums(source)


def _this_name(column: str) -> str:
    """Later years' names of a column in those of 2018."""
    key, mark, level = column.partition("_")
    for question in QUESTIONS.values():
        if key in question.columns:
            return f"{question.key}{mark}{level}"
    return column
