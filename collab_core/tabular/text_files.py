"""Text of any usual delimiter and encoding, read by Arrow; rows that do not fit are counted."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .quotes import stray
from .sentences import counted
from .source import MOST_COLUMNS, FileLayout, TableFile, checked_names, first_line

#: Bytes that are read at a time.
BLOCK_BYTES = 8 * 2**20


def layout_of(source: TableFile) -> FileLayout:
    """How a file of text is to be read, or why it cannot be."""
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
    header, skipped = _header_of(text, delimiter, 2 if told else 1)
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
    names = checked_names(source.name, header, notes)
    return FileLayout(source, names, delimiter, encoding, None, tuple(notes), (), lines, skipped)


def _header_of(text: str, delimiter: str, least: int) -> tuple[list[str], int]:
    """The first row that is not blank, after ``least`` - 1 others, and how many rows that is."""
    header: list[str] = []
    skipped = 0
    with contextlib.suppress(csv.Error, StopIteration):
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        while not header or skipped < least:
            header, skipped = next(rows), skipped + 1
    return header, skipped


def _lines(source: TableFile, encoding: str) -> Iterator[str]:
    """A file's lines without their ends, one at a time."""
    with source.open() as stream:
        yield from (
            line.rstrip("\n")
            for line in io.TextIOWrapper(stream, encoding=encoding, errors="replace")
        )


def _encoding_of(source: TableFile, notes: list[str]) -> tuple[str, int]:
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


def _is_number(text: str) -> bool:
    try:
        float(text.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def batches(
    layout: FileLayout, names: Sequence[str], numbers: Sequence[str], ragged: list[str] | None
) -> Iterator[tuple[dict[str, Any], float]]:
    """Columns piece by piece, as Arrow arrays by name, with the share read so far.

    Parameters
    ----------
    numbers : list of str
        Columns that hold numbers only.
    ragged : list, optional
        Gets a sentence for rows that had another number of fields and were left out.
    """
    import pyarrow as pa

    left_out: list[tuple[int, int]] = []

    def odd(row: Any) -> str:
        left_out.append((row.expected_columns, row.actual_columns))
        return "skip"

    rows = 0
    try:
        with layout.source.open() as stream:
            size = max(layout.source.size, 1)
            for batch in _reader(stream, layout, names, numbers, odd):
                rows += batch.num_rows
                share = min(stream.tell() / size, 1.0) if not stream.closed else 1.0
                yield {name: batch.column(name) for name in names}, share
    except (OSError, pa.ArrowException, UnicodeDecodeError) as problem:
        why = first_line(problem)
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


def _reader(
    stream: Any,
    layout: FileLayout,
    names: Sequence[str],
    numbers: Sequence[str],
    odd: Callable[[Any], str],
) -> Any:
    """Arrow's reader; ``odd`` is told of rows that do not fit."""
    import pyarrow as pa
    import pyarrow.csv

    quick = set(numbers)
    return pyarrow.csv.open_csv(
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
            include_columns=list(names),
            column_types={name: pa.float64() if name in quick else pa.string() for name in names},
            # Marks and words for gaps are judged column by column, and said.
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )


def _check_quotes(layout: FileLayout) -> None:
    """Refuse a file in which a stray quote has swallowed rows."""
    why = stray(_lines(layout.source, layout.encoding), layout.delimiter, len(layout.names))
    if why:
        raise ValueError(
            f"{layout.source.name} cannot be read as a table: {why}, so rows would be lost"
        )
