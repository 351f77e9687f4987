"""Person records to features: one pipeline for every file, year and way in.

Read in chunks of bounded size; only the columns that are needed; one chunk's rows become numbers
at once. What a file lacks or has wrong is said by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd

from .._base.checks import Array
from .questions import QUESTIONS, STATES, TARGET

#: Rows read at a time: some 30 MB of the columns that are kept.
CHUNK_ROWS = 200_000

#: People over 16, in work, with a positive travel time, who count.
_NEEDED = ("AGEP", "ESR", TARGET)
_STATE = ("ST", "STATE")
_WEIGHT = "PWGTP"
_MOVED = "MIGSP"


@dataclass(frozen=True)
class RecordLayout:
    """Which column of a file answers which question.

    Attributes
    ----------
    state : str
        Column of the state's code.
    columns : dict
        By question, its column in this file.
    missing : tuple of str
        Questions that the file does not have.
    """

    state: str
    columns: dict[str, str]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str], file: str = "the file") -> RecordLayout:
        """Find the columns of a file by their names; other years' names count too."""
        present = set(names)
        lacking = [name for name in _NEEDED if name not in present]
        state = next((name for name in _STATE if name in present), None)
        if state is None:
            lacking.append("ST or STATE")
        if lacking:
            raise ValueError(
                f"{file} lacks {', '.join(lacking)}: person records of the American Community"
                " Survey (PUMS) have them"
            )
        columns, missing = {}, []
        for key, question in QUESTIONS.items():
            found = next((name for name in question.columns if name in present), None)
            if found is None and key == "MIG" and _MOVED in present:
                found = _MOVED
            if found is None:
                missing.append(key)
            else:
                columns[key] = found
        assert state is not None
        return cls(state, columns, tuple(missing))

    @property
    def wanted(self) -> list[str]:
        """Columns to read."""
        return list(dict.fromkeys([self.state, *_NEEDED, *self.columns.values()]))

    @property
    def features(self) -> list[str]:
        """Columns of the design, of the questions that the file has."""
        return [name for key in self.columns for name in QUESTIONS[key].features]


@dataclass(frozen=True, eq=False)
class Records:
    """People who count, as numbers.

    Attributes
    ----------
    states : integer array, shape (n,)
        FIPS codes.
    x : array, shape (n, d)
        Features.
    minutes : array, shape (n,)
        Travel time.
    """

    states: np.ndarray
    x: Array
    minutes: Array


def design(frame: pd.DataFrame, layout: RecordLayout, file: str = "the file") -> Records:
    """Keep who counts, and turn answers into features.

    Missing answers become 0, as in folktables; levels become columns by fixed lists, so that
    every state and every chunk has the same ones.
    """
    age, works, minutes = (_numbers(frame[name], name, file) for name in _NEEDED)
    with np.errstate(invalid="ignore"):
        kept = (age > 16) & (works == 1) & (minutes > 0)
    if _WEIGHT in frame:
        kept &= np.nan_to_num(_numbers(frame[_WEIGHT], _WEIGHT, file)) >= 1
    # Two of three records are of people who do not count: they are not read any further.
    frame = frame[kept]
    states = _numbers(frame[layout.state], layout.state, file)
    if np.isnan(states).any():
        raise ValueError(f"{file}: a record has no state in {layout.state}")
    columns: list[Array] = []
    for key, name in layout.columns.items():
        values = _numbers(frame[name], name, file)
        if name == _MOVED:
            # Blank: the same house; codes above 72 are abroad.
            values = np.where(np.isnan(values), 1.0, np.where(values > 72, 2.0, 3.0))
        values = np.nan_to_num(values)
        levels = QUESTIONS[key].levels
        columns += [(values == level).astype(float) for level in levels[1:]] if levels else [values]
    x = np.stack(columns, axis=1) if columns else np.empty((len(frame), 0))
    return Records(states.astype(int), x, minutes[kept])


def _numbers(column: pd.Series, name: str, file: str) -> Array:
    """A column as floats, blanks as NaN; text that is no number is refused by name."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _finite(column.to_numpy(dtype=float, na_value=np.nan), name, file)
    try:
        return _finite(pd.to_numeric(column).to_numpy(dtype=float, na_value=np.nan), name, file)
    except (ValueError, TypeError):
        pass
    blank = column.isna() | (column.astype(str).str.strip() == "")
    numbers = pd.to_numeric(column.where(~blank), errors="coerce")
    wrong = numbers.isna() & ~blank
    if wrong.any():
        example = str(column[wrong].iloc[0])[:20]
        raise ValueError(f"{file}: column {name} must hold numbers, but has {example!r}")
    return _finite(numbers.to_numpy(dtype=float, na_value=np.nan), name, file)


def _finite(values: Array, name: str, file: str) -> Array:
    if np.isinf(values).any():
        raise ValueError(f"{file}: column {name} must hold finite numbers, but has an infinite one")
    return values


def chunks(path: Path, rows: int = CHUNK_ROWS) -> Iterator[tuple[pd.DataFrame, float]]:
    """Read a CSV or Parquet file piece by piece: a frame, and the share of the file read so far."""
    if path.suffix.lower() == ".parquet":
        yield from _parquet_chunks(path, rows)
    elif path.suffix.lower() == ".csv":
        yield from _csv_chunks(path, rows)
    else:
        raise ValueError(f"{path.name} must be a .csv or .parquet file")


def layout_of(path: Path) -> RecordLayout:
    """Which questions a file has, from its first line alone."""
    try:
        if path.suffix.lower() == ".parquet":
            names = _parquet(path).schema_arrow.names
        else:
            names = list(pd.read_csv(path, nrows=0).columns)
    # What Arrow and pandas raise for broken files are ValueErrors, but say little to a person.
    except (ValueError, OSError):
        raise ValueError(f"{path.name} cannot be read as a table") from None
    stripped = [str(name).strip() for name in names]
    twice = sorted({name for name in stripped if stripped.count(name) > 1})
    if twice:
        raise ValueError(f"{path.name} has more than one column called {twice[0]}")
    return RecordLayout.of(stripped, path.name)


def _parquet_chunks(path: Path, rows: int) -> Iterator[tuple[pd.DataFrame, float]]:
    layout = layout_of(path)
    file = _parquet(path)
    # Names may have blanks around them.
    given = {str(name).strip(): name for name in file.schema_arrow.names}
    names = [given[name] for name in (*layout.wanted, _WEIGHT) if name in given]
    total, done = max(file.metadata.num_rows, 1), 0
    for batch in file.iter_batches(batch_size=rows, columns=names):
        done += batch.num_rows
        frame = batch.to_pandas()
        frame.columns = [str(name).strip() for name in frame.columns]
        yield frame, done / total


def _parquet(path: Path) -> Any:
    """An open Parquet file; only here is PyArrow needed."""
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(path)


def _csv_chunks(path: Path, rows: int) -> Iterator[tuple[pd.DataFrame, float]]:
    layout = layout_of(path)
    wanted = {*layout.wanted, _WEIGHT}
    size = max(path.stat().st_size, 1)
    with path.open("rb") as handle:
        try:
            reader = pd.read_csv(
                handle, chunksize=rows, usecols=lambda name: name.strip() in wanted, low_memory=True
            )
            for frame in reader:
                frame.columns = [name.strip() for name in frame.columns]
                yield frame, min(handle.tell() / size, 1.0)
        except (pd.errors.ParserError, UnicodeDecodeError) as problem:
            raise ValueError(f"{path.name} cannot be read as a table: {problem}") from None


def read(
    paths: Sequence[Path],
    *,
    rows: int = CHUNK_ROWS,
    progress: Callable[[float], None] | None = None,
    cancel: Event | None = None,
) -> Iterator[tuple[Path, RecordLayout, Records]]:
    """Every file's people, chunk by chunk, in file order, with the file they come from.

    Parameters
    ----------
    progress : callable, optional
        Told the share of all files read so far.
    cancel : Event, optional
        When set, reading ends with a ValueError: part of a file is not its people.
    """
    if not paths:
        raise ValueError("paths must name at least one file, got none")
    sizes = np.array([max(path.stat().st_size, 1) for path in paths], dtype=float)
    before = np.concatenate([[0.0], np.cumsum(sizes)]) / sizes.sum()
    for number, path in enumerate(paths):
        layout = layout_of(path)
        for frame, share in chunks(path, rows):
            if cancel is not None and cancel.is_set():
                raise ValueError("reading was stopped; nothing of it is used")
            yield path, layout, design(frame, layout, path.name)
            if progress is not None:
                progress(float(before[number] + share * (before[number + 1] - before[number])))


def files_in(folder: Path) -> list[Path]:
    """Person files of a folder: folktables' names first, or every CSV and Parquet in it."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    named = sorted(folder.glob("psam_p*.csv"))
    found = named or sorted([*folder.glob("*.csv"), *folder.glob("*.parquet")])
    if not found:
        raise ValueError(f"{folder} holds no .csv or .parquet file")
    return found


def state_name(code: int) -> str:
    """Postal abbreviation of a FIPS code."""
    if code not in STATES:
        raise ValueError(f"state code {code} is unknown")
    return STATES[code]
