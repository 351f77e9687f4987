"""Parquet: what unpacks to too much, or holds no text, is refused by a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .sentences import listed
from .source import MOST_ROWS, FileLayout, TableFile, checked_names, first_line

#: Rows that are read at a time, and bytes that they unpack to.
BATCH_ROWS = 65_536
BATCH_BYTES = 64 * 2**20

#: What one file may unpack to: one column of one row group, and one cell.
MOST_UNPACKED = 512 * 2**20
MOST_CELL = 32_767


def layout_of(source: TableFile) -> FileLayout:
    """How a Parquet file is to be read, or why it cannot be."""
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
    names_read = checked_names(name, [given[j] for j in places], notes)
    return FileLayout(source, names_read, "", "", rows, tuple(notes), tuple(places))


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


def batches(layout: FileLayout, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], float]]:
    """Columns piece by piece, as Arrow arrays by name, with the share read so far."""
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
            f"{layout.source.name} cannot be read further: {first_line(problem)}"
        ) from None


def _texts(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _rows_at_a_time(metadata: Any, names: set[str]) -> int:
    """So many rows that they unpack to no more than `BATCH_BYTES`, about."""
    most = BATCH_ROWS
    for group in range(metadata.num_row_groups):
        part = metadata.row_group(group)
        chunks = [part.column(place) for place in range(part.num_columns)]
        chunks = [chunk for chunk in chunks if chunk.path_in_schema in names]
        size = sum(chunk.total_uncompressed_size for chunk in chunks) / max(part.num_rows, 1)
        most = min(most, int(BATCH_BYTES / max(size, 1.0)) + 1)
        # Texts that are written as what differs from the last one unpack to anything.
        if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks):
            most = min(most, 1024)
    return max(most, 1)


def _safe_cells(layout: FileLayout, name: str, column: Any) -> Any:
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
