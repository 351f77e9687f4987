"""Anybody's file to batches of columns: checked first, read in pieces, never evaluated.

A file is judged by its content, not by its name. CSV text of any usual delimiter and encoding and
Parquet are read by Arrow in pieces of bounded size; everything else is refused by a sentence that
says what it is. Nothing is unpickled, unzipped or evaluated.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from .quotes import stray

#: What one upload may hold.
MOST_BYTES = 200 * 2**20
MOST_ROWS = 5_000_000
MOST_COLUMNS = 400

#: Bytes of text, and rows of Parquet, that are read at a time.
BLOCK_BYTES = 8 * 2**20
BATCH_ROWS = 65_536

#: What one Parquet file may unpack to: one column of one row group, and one cell.
MOST_UNPACKED = 512 * 2**20
MOST_CELL = 32_767

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

    @property
    def digest(self) -> str:
        """Of what is in it: the same content has the same."""
        if isinstance(self.content, Path):
            with self.content.open("rb") as file:
                return hashlib.file_digest(file, "blake2b").hexdigest()
        return hashlib.blake2b(self.content).hexdigest()

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
    places : tuple of int
        Of a Parquet file's columns, those that are read.
    lines : int
        Of text, as far as line ends tell; 0 where no quote is in it.
    head : int
        Rows of text up to and with the columns' names.
    """

    source: Source
    names: tuple[str, ...]
    delimiter: str
    encoding: str
    rows: int | None
    notes: tuple[str, ...]
    places: tuple[int, ...] = ()
    lines: int = 0
    head: int = 1


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

    name = source.name
    try:
        with source.open() as stream:
            file = pyarrow.parquet.ParquetFile(stream)
            schema, rows = file.schema_arrow, int(file.metadata.num_rows)
            given = [str(field.name) for field in schema]
            nested = [field for field in schema if pa.types.is_nested(field.type)]
            foreign = [field for field in schema if _foreign(field.type)]
            places = [j for j, field in enumerate(schema)
                      if field not in nested and field not in foreign]  # fmt: skip
            too_large = _too_large(file.metadata, {given[j] for j in places})
    except (OSError, ValueError):
        raise ValueError(f"{name} begins like Parquet but is broken") from None
    if rows == 0:
        raise ValueError(f"{name} has columns but no row")
    if rows > MOST_ROWS:
        raise ValueError(f"{name} has {rows:,} rows, and at most {MOST_ROWS:,} are read")
    if too_large:
        raise ValueError(f"{name}: {too_large}")
    notes: list[str] = []
    for fields, what in ((nested, "lists or structures"), (foreign, "bytes and no text")):
        if fields:
            names = listed([str(field.name) for field in fields])
            notes.append(f"{name}: columns that hold {what} are passed over: {names}.")
    if not places:
        raise ValueError(f"{name} holds lists, structures or bytes only: no column of numbers or"
                         " names")  # fmt: skip
    names_read = _checked_names(name, [given[j] for j in places], notes)
    return Layout(source, names_read, "", "", rows, tuple(notes), tuple(places))


def _foreign(kind: Any) -> bool:
    """Whether a Parquet column holds bytes, or a type of somebody's own, such as UUID."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        isinstance(kind, pa.BaseExtensionType)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def _too_large(metadata: Any, names: set[str]) -> str:
    """Which column would unpack to more than is safe, as the end of a sentence."""
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            large = chunk.total_uncompressed_size > MOST_UNPACKED
            if large and chunk.path_in_schema in names:
                return (
                    f"{chunk.path_in_schema} unpacks to"
                    f" {chunk.total_uncompressed_size / 2**20:,.0f} MB in one piece, and at most"
                    f" {MOST_UNPACKED // 2**20} MB are taken: write it in smaller row groups, or"
                    " without that column"
                )
    return ""


def _text_layout(source: Source) -> Layout:
    notes: list[str] = []
    encoding, lines = _encoding_of(source, notes)
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
    # Excel can be told the delimiter by a first line such as sep=;
    told = re.match(r"\ufeff?sep=(.)\r?\n", text)
    delimiter = told[1] if told else _delimiter_of(text)
    header: list[str] = []
    skipped = 0
    with contextlib.suppress(csv.Error, StopIteration):
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        while not header or (told and skipped == 1):
            header, skipped = next(rows), skipped + 1
    if not header or max(len(cell) for cell in header) > 10_000:
        # A quote that never closes swallows the file.
        why = stray(_lines(source, encoding), delimiter, text.split("\n")[0].count(delimiter) + 1)
        raise ValueError(
            f"{source.name} cannot be read as a table: {why or 'its first line is odd'}"
        )
    if len(header) < 2:
        raise ValueError(
            f"{source.name} has one column only: columns must be separated by comma, semicolon,"
            " tab or |"
        )
    if sum(_is_number(cell) for cell in header) > len(header) / 2:
        raise ValueError(f"{source.name}: the first line holds numbers, not the columns' names")
    names = _checked_names(source.name, header, notes)
    return Layout(source, names, delimiter, encoding, None, tuple(notes), (), lines, skipped)


def _lines(source: Source, encoding: str) -> Iterator[str]:
    """A file's lines without their ends, one at a time."""
    with source.open() as stream:
        yield from (
            line.rstrip("\n")
            for line in io.TextIOWrapper(stream, encoding=encoding, errors="replace")
        )


def _encoding_of(source: Source, notes: list[str]) -> tuple[str, int]:
    """UTF-8 where it is, UTF-16 by its mark, Windows-1252 otherwise, which is said.

    And how many lines there are, if there is any quote among them.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, nothing, begins = True, False, b""
    quoted, feeds, returns, last = False, 0, 0, b""
    with source.open() as stream:
        while piece := stream.read(2**22):
            begins = begins or piece[:4]
            nothing = nothing or b"\0" in piece
            quoted = quoted or b'"' in piece
            feeds, returns, last = feeds + piece.count(b"\n"), returns + piece.count(b"\r"), piece
            if valid:
                try:
                    decoder.decode(piece)
                except UnicodeDecodeError:
                    valid = False
    # The last line may have no end.
    lines = (max(feeds, returns) + (last.rstrip(b"\0")[-1:] not in b"\r\n")) if quoted else 0
    if begins.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", lines
    if nothing:
        raise ValueError(f"{source.name} is not text but binary; a .csv or .parquet file is needed")
    if valid:
        return "utf-8-sig" if begins.startswith(codecs.BOM_UTF8) else "utf-8", lines
    with source.open() as stream:
        start = stream.read(2**16)
    odd = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in start)
    if odd > len(start) / 200:
        raise ValueError(f"{source.name} is not text but binary; a .csv or .parquet file is needed")
    notes.append(
        f"{source.name} is not UTF-8 and was read as Western European text (Windows-1252). If names"
        " look wrong, save it as UTF-8."
    )
    return "cp1252", lines


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
            given = pyarrow.parquet.read_schema(stream)
            stream.seek(0)
            chosen = {j: name for j, name in zip(layout.places, layout.names, strict=True)
                      if name in names}  # fmt: skip
            wanted = list(dict.fromkeys(given.names[j] for j in chosen))
            # A long text that is there many times is held once.
            texts = [given.names[j] for j in chosen if _texts(given.field(j).type)]
            file = pyarrow.parquet.ParquetFile(stream, read_dictionary=texts)
            size = _rows_at_a_time(file.metadata, set(wanted))
            total, done = max(layout.rows or 1, 1), 0
            for batch in file.iter_batches(batch_size=size, columns=wanted):
                done += batch.num_rows
                found: dict[str, Any] = {}
                # Columns come in the file's order, all of one name, and those below "a." with "a".
                place = -1
                for column, name in zip(batch.columns, batch.schema.names, strict=True):
                    place = given.names.index(name, place + 1)
                    if place in chosen:
                        found[chosen[place]] = _safe_cells(layout, chosen[place], column)
                yield {name: found[name] for name in names if name in found}, done / total
    except (OSError, pa.ArrowException) as problem:
        raise ValueError(
            f"{layout.source.name} cannot be read further: {_first_line(problem)}"
        ) from None


def _texts(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _rows_at_a_time(metadata: Any, names: set[str]) -> int:
    """So many rows of Parquet that they unpack to no more than a few blocks."""
    most = BATCH_ROWS
    for group in range(metadata.num_row_groups):
        part = metadata.row_group(group)
        chunks = [part.column(place) for place in range(part.num_columns)]
        chunks = [chunk for chunk in chunks if chunk.path_in_schema in names]
        size = sum(chunk.total_uncompressed_size for chunk in chunks) / max(part.num_rows, 1)
        most = min(most, int(8 * BLOCK_BYTES / max(size, 1.0)) + 1)
        # Texts that are written as what differs from the last one unpack to anything.
        if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks):
            most = min(most, 1024)
    return max(most, 1)


def _safe_cells(layout: Layout, name: str, column: Any) -> Any:
    """A Parquet column whose texts are text, and not too long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not _texts(kind):
        return column
    if pa.types.is_string_view(column.type):
        column = pc.cast(column, pa.string())
    written = column.dictionary if pa.types.is_dictionary(column.type) else column
    try:
        written.validate(full=True)
    except pa.ArrowInvalid:
        raise ValueError(
            f"{layout.source.name}: {name} holds bytes that are no text (not UTF-8); write it"
            " anew, or without that column"
        ) from None
    longest = pc.max(pc.binary_length(written)).as_py() or 0
    if longest > MOST_CELL:
        raise ValueError(
            f"{layout.source.name}: a cell of {name} has {longest:,} bytes, and at most"
            f" {MOST_CELL:,} are read: leave that column out"
        )
    return column


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
                    skip_rows_after_names=layout.head,
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
                    # Marks and words for gaps are judged column by column, and said.
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
            for batch in reader:
                rows += batch.num_rows
                share = min(stream.tell() / size, 1.0) if not stream.closed else 1.0
                yield {name: batch.column(name) for name in names}, share
    except (OSError, pa.ArrowException, UnicodeDecodeError) as problem:
        why = _first_line(problem)
        if "straddling" in why:
            _check_quotes(layout)
            why = f"a row is longer than {BLOCK_BYTES // 2**20} MB"
        raise ValueError(f"{layout.source.name} cannot be read as a table: {why}") from None
    # Lines that are no rows are inside of quotes, or blank.
    odd_lines = layout.lines - rows - len(left_out) - layout.head > 0 or left_out
    if ragged is not None and layout.lines and odd_lines:
        _check_quotes(layout)
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


def _check_quotes(layout: Layout) -> None:
    """Refuse a file in which a stray quote has swallowed rows."""
    why = stray(_lines(layout.source, layout.encoding), layout.delimiter, len(layout.names))
    if why:
        raise ValueError(
            f"{layout.source.name} cannot be read as a table: {why}, so rows would be lost"
        )


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
