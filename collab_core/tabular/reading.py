"""Anybody's file to batches of columns: checked first, read in pieces, never evaluated.

A file is judged by its content, not by its name. CSV text of any usual delimiter and encoding and
Parquet are read by Arrow in pieces of bounded size; everything else is refused by a sentence that
says what it is. Nothing is unpickled, unzipped or evaluated.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from .._checks import Array

#: What one upload may hold.
MOST_BYTES = 200 * 2**20
MOST_ROWS = 5_000_000
MOST_COLUMNS = 400

#: Bytes of text, and rows of Parquet, that are read at a time.
BLOCK_BYTES = 8 * 2**20
BATCH_ROWS = 65_536

#: How people write that there is nothing.
MISSING = ("", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "NaN", "nan", "-nan", "NULL", "Null",
           "null", "None", "none", "<NA>", "?", ".", "-", "--")  # fmt: skip

#: The name of the column that says which file a row is from.
FILE = "file"

# What a file begins with if it is no table, and what to do about it.
_FOREIGN = {
    b"PK\x03\x04": "is a zip archive or an Excel workbook: unpack it, or save the sheet as CSV",
    b"PK\x05\x06": "is an empty zip archive",
    b"\x1f\x8b": "is gzip-compressed: unpack it first",
    b"BZh": "is bzip2-compressed: unpack it first",
    b"\xfd7zXZ": "is xz-compressed: unpack it first",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook: save the sheet as CSV",
    b"\x80\x02": "is a Python pickle, which is never opened",
    b"\x80\x03": "is a Python pickle, which is never opened",
    b"\x80\x04": "is a Python pickle, which is never opened",
    b"\x80\x05": "is a Python pickle, which is never opened",
    b"%PDF": "is a PDF document",
    b"\x89HDF": "is an HDF5 file: save it as CSV or Parquet",
    b"\x89PNG": "is a picture",
    b"\xff\xd8\xff": "is a picture",
    b"GIF8": "is a picture",
    b"SQLite": "is a database: save the table as CSV or Parquet",
    b"ARROW1": "is an Arrow file: save it as Parquet",
    b"<!DOCTYPE": "is a web page",
    b"<html": "is a web page",
    b"{": "is JSON: save it as CSV or Parquet",
}

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Source:
    """A file, on disk or in memory.

    Attributes
    ----------
    name : str
        For people.
    content : bytes-like or Path
    """

    name: str
    content: Any

    @classmethod
    def of(cls, given: Source | str | Path) -> Source:
        """A source from a path."""
        return given if isinstance(given, Source) else cls(Path(given).name, Path(given))

    @property
    def size(self) -> int:
        """Bytes."""
        if isinstance(self.content, Path):
            return self.content.stat().st_size
        return memoryview(self.content).nbytes

    def open(self) -> Any:
        """An Arrow input over it; nothing is copied."""
        import pyarrow as pa

        if isinstance(self.content, Path):
            return pa.OSFile(str(self.content), "rb")
        return pa.BufferReader(pa.py_buffer(self.content))


@dataclass(frozen=True)
class Layout:
    """How a file is to be read.

    Attributes
    ----------
    source : Source
    names : tuple of str
        Its columns, without blanks around them, each once.
    delimiter : str
        Of text; nothing for Parquet.
    encoding : str
    rows : int or None
        Known beforehand for Parquet.
    notes : tuple of str
        What a person should know about how it was read.
    """

    source: Source
    names: tuple[str, ...]
    delimiter: str
    encoding: str
    rows: int | None
    notes: tuple[str, ...]


def examine(source: Source) -> Layout:
    """Find out what a file is, or say why it cannot be read."""
    name = source.name
    try:
        size = source.size
    except OSError:
        raise ValueError(f"{name} cannot be opened") from None
    if size == 0:
        raise ValueError(f"{name} is empty")
    if size > MOST_BYTES:
        raise ValueError(
            f"{name} has {size / 2**20:,.0f} MB, and at most {MOST_BYTES // 2**20} MB are read"
        )
    with source.open() as stream:
        head = stream.read(64)
        if head.startswith(b"PAR1"):
            return _parquet_layout(source)
        for mark, reason in _FOREIGN.items():
            if head.startswith(mark):
                raise ValueError(f"{name} {reason}; a .csv or .parquet file is needed")
    return _text_layout(source)


def _parquet_layout(source: Source) -> Layout:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with source.open() as stream:
            file = pyarrow.parquet.ParquetFile(stream)
            given, rows = list(file.schema_arrow.names), int(file.metadata.num_rows)
            nested = [
                str(field.name) for field in file.schema_arrow if pa.types.is_nested(field.type)
            ]
    except (OSError, ValueError):
        raise ValueError(f"{source.name} begins like Parquet but is broken") from None
    if rows == 0:
        raise ValueError(f"{source.name} has columns but no row")
    notes = []
    if nested:
        notes.append(f"Columns that hold lists or structures are passed over: {listed(nested)}.")
    return Layout(source, _checked_names(source.name, given, notes), "", "", rows, tuple(notes))


def _text_layout(source: Source) -> Layout:
    notes: list[str] = []
    encoding = _encoding_of(source, notes)
    with source.open() as stream:
        start = stream.read(2**20)
    text = start.decode(encoding, errors="ignore")
    if "\n" not in text and "\r" not in text:
        if len(start) == 2**20:
            raise ValueError(
                f"{source.name}: the first line is longer than a million characters;"
                f" at most {MOST_COLUMNS} columns are read"
            )
        raise ValueError(f"{source.name} has a single line: column names and rows are needed")
    delimiter = _delimiter_of(text)
    try:
        # Strictly: a quote that never closes would swallow the file.
        header = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except (csv.Error, StopIteration):
        raise ValueError(
            f"{source.name} cannot be read as a table: its first line is odd"
        ) from None
    if len(header) < 2:
        raise ValueError(
            f"{source.name} has one column only: columns must be separated by comma, semicolon,"
            " tab or |"
        )
    if sum(_is_number(cell) for cell in header) > len(header) / 2:
        raise ValueError(f"{source.name}: the first line holds numbers, not the columns' names")
    names = _checked_names(source.name, header, notes)
    return Layout(source, names, delimiter, encoding, None, tuple(notes))


def _encoding_of(source: Source, notes: list[str]) -> str:
    """UTF-8 where it is, UTF-16 by its mark, Windows-1252 otherwise, which is said."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, nothing, begins = True, False, b""
    with source.open() as stream:
        while piece := stream.read(2**22):
            begins = begins or piece[:4]
            nothing = nothing or b"\0" in piece
            if valid:
                try:
                    decoder.decode(piece)
                except UnicodeDecodeError:
                    valid = False
    if begins.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if nothing:
        raise ValueError(f"{source.name} is not text but binary; a .csv or .parquet file is needed")
    if valid:
        return "utf-8-sig" if begins.startswith(codecs.BOM_UTF8) else "utf-8"
    with source.open() as stream:
        start = stream.read(2**16)
    odd = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in start)
    if odd > len(start) / 200:
        raise ValueError(f"{source.name} is not text but binary; a .csv or .parquet file is needed")
    notes.append(
        f"{source.name} is not UTF-8 and was read as Western European text (Windows-1252). If names"
        " look wrong, save it as UTF-8."
    )
    return "cp1252"


def _delimiter_of(text: str) -> str:
    """The delimiter that the first lines agree on, outside of quotes."""
    lines = [re.sub(r'"[^"]*"', "", line) for line in text.splitlines()[:20]]
    lines = [line for line in lines if line.strip()]
    header = lines[0] if lines else ""

    def regular(mark: str) -> tuple[float, int]:
        wanted = header.count(mark)
        agree = sum(line.count(mark) == wanted for line in lines) / max(len(lines), 1)
        return (agree if wanted else -1.0, wanted)

    return max((";", "\t", "|", ","), key=regular)


def _checked_names(file: str, given: Sequence[object], notes: list[str]) -> tuple[str, ...]:
    if len(given) > MOST_COLUMNS:
        raise ValueError(
            f"{file} has {len(given):,} columns, and at most {MOST_COLUMNS} are read: leave out"
            " those that are not needed"
        )
    names: list[str] = []
    again: list[str] = []
    for place, raw in enumerate(given, start=1):
        name = " ".join(str(raw).split())[:80] or f"column {place}"
        if name in names:
            again.append(name)
            copy = 2
            while f"{name} ({copy})" in names:
                copy += 1
            name = f"{name} ({copy})"
        names.append(name)
    if again:
        notes.append(f"{file}: columns of the same name were numbered: {listed(again)}.")
    return tuple(names)


def batches(
    layout: Layout,
    wanted: Sequence[str] | None = None,
    *,
    numbers: Sequence[str] = (),
    progress: Progress | None = None,
    cancel: Event | None = None,
    ragged: list[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """A file's columns piece by piece, as Arrow arrays by name.

    Parameters
    ----------
    wanted : list of str, optional
        Columns to read; all by default.
    numbers : list of str
        Columns of text that are known to hold numbers only: read as such, which is faster.
    progress : callable, optional
        Told the share read so far.
    cancel : Event, optional
        When set, reading ends with a ValueError: part of a table is not the table.
    ragged : list, optional
        Gets a sentence for rows that had another number of fields and were left out.
    """
    names = list(layout.names if wanted is None else wanted)
    reader = _parquet_batches if not layout.delimiter else _text_batches
    done = 0
    for found, share in reader(layout, names, numbers, ragged):
        if cancel is not None and cancel.is_set():
            raise ValueError("reading was stopped; nothing of it is used")
        count = len(next(iter(found.values()))) if found else 0
        done += count
        if done > MOST_ROWS:
            raise ValueError(
                f"{layout.source.name} has more than {MOST_ROWS:,} rows, which is as many as are"
                " read"
            )
        if count:
            yield found
        if progress is not None:
            progress(min(share, 1.0))


def _parquet_batches(
    layout: Layout, names: list[str], numbers: Sequence[str], ragged: list[str] | None
) -> Iterator[tuple[dict[str, Any], float]]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with layout.source.open() as stream:
            file = pyarrow.parquet.ParquetFile(stream)
            schema = file.schema_arrow
            flat = [not pa.types.is_nested(schema.field(j).type) for j in range(len(schema.names))]
            chosen = [j for j, name in enumerate(layout.names) if name in names and flat[j]]
            total, done = max(layout.rows or 1, 1), 0
            for batch in file.iter_batches(
                batch_size=BATCH_ROWS, columns=[schema.names[j] for j in chosen]
            ):
                done += batch.num_rows
                found = {layout.names[j]: batch.column(schema.names[j]) for j in chosen}
                yield found, done / total
    except (OSError, pa.ArrowException) as problem:
        raise ValueError(
            f"{layout.source.name} cannot be read further: {_first_line(problem)}"
        ) from None


def _text_batches(
    layout: Layout, names: list[str], numbers: Sequence[str], ragged: list[str] | None
) -> Iterator[tuple[dict[str, Any], float]]:
    import pyarrow as pa
    import pyarrow.csv

    left_out: list[tuple[int, int]] = []

    def odd(row: Any) -> str:
        left_out.append((row.expected_columns, row.actual_columns))
        return "skip"

    quick = set(numbers)
    rows = 0
    try:
        with layout.source.open() as stream:
            size = max(layout.source.size, 1)
            reader = pyarrow.csv.open_csv(
                stream,
                read_options=pyarrow.csv.ReadOptions(
                    column_names=list(layout.names),
                    skip_rows_after_names=1,
                    block_size=BLOCK_BYTES,
                    encoding={"utf-8-sig": "utf-8"}.get(layout.encoding, layout.encoding),
                ),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=layout.delimiter, newlines_in_values=True, invalid_row_handler=odd
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    include_columns=names,
                    column_types={
                        name: pa.float64() if name in quick else pa.string() for name in names
                    },
                    null_values=list(MISSING),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
            for batch in reader:
                rows += batch.num_rows
                share = min(stream.tell() / size, 1.0) if not stream.closed else 1.0
                yield {name: batch.column(name) for name in names}, share
    except (OSError, pa.ArrowException, UnicodeDecodeError) as problem:
        raise ValueError(
            f"{layout.source.name} cannot be read as a table: {_first_line(problem)}"
        ) from None
    if left_out:
        expected, actual = left_out[0]
        said = (
            f"{layout.source.name}: {counted(len(left_out), 'row')} with another number of fields"
            f" than the {expected} of the first line (one has {actual})"
        )
        if len(left_out) > rows:
            raise ValueError(f"{said}, so it is no table")
        if ragged is not None:
            ragged.append(f"{said}, left out.")


_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column as numbers.

    Attributes
    ----------
    values : array, shape (n,)
        NaN where there is none.
    wrong : boolean array, shape (n,)
        Where there is text that is no number.
    commas, points : int
        How many were written with a decimal comma, and how many with a point.
    """

    values: Array
    wrong: np.ndarray
    commas: int = 0
    points: int = 0


def to_numbers(column: Any) -> Numbers:
    """An Arrow column as floats; text that is no number is marked, not guessed at."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    fine = np.zeros(len(column), dtype=bool)
    if pa.types.is_boolean(kind):
        column, kind = pc.cast(column, pa.int8()), pa.int8()
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        values = pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return Numbers(np.asarray(values, dtype=float), fine)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        # Dates, times, binary: there, but no numbers.
        present = np.asarray(pc.is_valid(column))
        return Numbers(np.full(len(column), np.nan), present)
    try:
        plain = pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False)
        values = np.asarray(plain, dtype=float)
        return Numbers(values, fine, points=_fractional(values))
    except pa.ArrowInvalid:
        pass
    result = np.full(len(column), np.nan)
    wrong = fine.copy()
    commas = 0
    for place, text in enumerate(column.to_pylist()):
        if text is None or text.strip() in MISSING:
            continue
        text = text.strip().replace("\u2212", "-")
        try:
            # Python reads 1_000 as a number; people do not.
            result[place] = float("x" if "_" in text else text)
        except ValueError:
            if _DECIMAL_COMMA.fullmatch(text):
                result[place] = float(text.replace(",", "."))
                commas += 1
            else:
                wrong[place] = True
    return Numbers(result, wrong, commas, max(_fractional(result) - commas, 0))


def _fractional(values: Array) -> int:
    """How many are no whole numbers."""
    finite = values[np.isfinite(values)]
    return int((finite != np.trunc(finite)).sum())


@dataclass(frozen=True, eq=False)
class Texts:
    """A column as names.

    Attributes
    ----------
    codes : integer array, shape (n,)
        Into the levels, -1 where there is none.
    levels : list of str
        Every name once, without blanks around it.
    """

    codes: np.ndarray
    levels: list[str]

    def counts(self, rows: np.ndarray | None = None) -> dict[str, int]:
        """How often every name is there, among some of the rows."""
        codes = self.codes if rows is None else self.codes[rows]
        found = np.bincount(codes[codes >= 0], minlength=len(self.levels))
        return {level: int(count) for level, count in zip(self.levels, found, strict=True) if count}


def to_texts(column: Any) -> Texts:
    """An Arrow column as names; what says that there is nothing is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return Texts(np.full(len(column), -1), [])
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), None, column)
    encoded = pc.dictionary_encode(column)
    written = encoded.dictionary
    if pa.types.is_floating(kind):
        # 3.0 and 3 are the same code.
        names = [f"{value:.10g}" for value in written.to_pylist()]
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        names = [" ".join(text.split())[:80] for text in written.to_pylist()]
    else:
        names = pc.cast(written, pa.string()).to_pylist()
    levels = [name for name in dict.fromkeys(names) if name not in MISSING]
    place = {name: code for code, name in enumerate(levels)}
    # One more for rows without a value.
    codes = np.array([*(place.get(name, -1) for name in names), -1])
    return Texts(codes[np.asarray(pc.fill_null(encoded.indices, len(names)))], levels)


def _is_number(text: str) -> bool:
    try:
        float(text.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def _first_line(problem: Exception) -> str:
    text = (str(problem).splitlines() or ["unknown reason"])[0]
    return text[:160].rstrip(".")


def counted(count: int, what: str) -> str:
    """A number and a word, such as "1 row" or "2,000 rows"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names in a row, and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
