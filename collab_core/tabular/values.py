"""A column's cells as numbers or as names: gaps, what commas and points mean, what is too large."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._base.checks import Array

#: How people write that there is nothing, whatever the column.
GAPS = ("", "NaN", "nan", "-nan", "<NA>", "#N/A", "#NA", "NULL", "Null", "null",
        "?", ".", "-", "--")  # fmt: skip

#: Words that mean a gap among numbers; among names they may be one: no smoker, North America.
WORDS = ("NA", "N/A", "n/a", "na", "None", "none")

MISSING = (*GAPS, *WORDS)

#: Beyond this a number is no measurement, and its square no number.
LARGEST = 1e100

#: What a comma in a number means: a decimal comma, thousands, or a decimal comma in a column whose
#: points mark thousands, so that 1.244 is 1244.
DECIMAL, THOUSANDS, POINTS = "decimal", "thousands", "decimal, points mark thousands"

# 1,244 alone could mean two things; 0,125 and 1,5 have a decimal comma; 1,000,000 and 1,244.5 have
# thousands; so have 1.244,5 and 1.000.000, marked by points, and 1.244 in a column with such.
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_COMMAS = re.compile(r"[+-]?\d{1,3}(,\d{3}){2,}(\.\d*)?|[+-]?\d{1,3}(,\d{3})+\.\d*")
_POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d{1,3}(\.\d{3}){2,}")
_GROUP = r"[+-]?[1-9]\d{0,2}\.\d{3}"
_GROUPED = re.compile(_GROUP)
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")

# Amounts that people read and computers do not: 5%, $75.96, 12 EUR, 1 244 and 1'244.
_CODES = (
    "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|KRW|TRY|RUB"
)
_SIGN = rf"%|\u2030|[$\u00a2-\u00a5\u20a0-\u20cf\ufdfc]|{_CODES}"
_MARK = "'\u2019 \u00a0\u2009\u202f"
_SIGNED = re.compile(
    rf"[+-]?\(?(?P<before>{_SIGN})?\s*[+-]?"
    rf"(?P<amount>[1-9]\d{{0,2}}(?:[{_MARK}]\d{{3}})+(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)"
    rf"\s*(?P<after>{_SIGN})?\)?"
)


def sign_of(text: str) -> str:
    """The sign by which a text is an amount and yet no number to a computer, or nothing."""
    found = _SIGNED.fullmatch(text.strip().replace("\u2212", "-"))
    if found is None:
        return ""
    if sign := found["before"] or found["after"]:
        return str(sign)
    if "'" in found["amount"] or "\u2019" in found["amount"]:
        return "apostrophes"
    return "spaces" if any(mark in found["amount"] for mark in _MARK) else ""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column as numbers.

    Attributes
    ----------
    values : array, shape (n,)
        NaN where there is none, infinite where it is beyond `LARGEST`.
    wrong : boolean array, shape (n,)
        Where there is text that is no number.
    plain : bool
        Whether every cell is empty or a number as computers write it.
    decimal, thousands, either, points : int
        Numbers with a comma that must be decimal, that must mark thousands, that could be either,
        and numbers with a point that a computer would read as decimal.
    groups, grouped : int
        Numbers with points that must mark thousands, and those of `points` that could, such as
        1.244.
    marks : tuple of str
        Of `MISSING`, those that stand for gaps here, the empty cell aside.
    """

    values: Array
    wrong: np.ndarray
    plain: bool = True
    decimal: int = 0
    thousands: int = 0
    either: int = 0
    points: int = 0
    groups: int = 0
    grouped: int = 0
    marks: tuple[str, ...] = ()


def to_numbers(column: Any, comma: str = DECIMAL) -> Numbers:
    """An Arrow column as floats; text that is no number is marked, not guessed at.

    Parameters
    ----------
    comma : {"decimal", "thousands", "decimal, points mark thousands"}
        What a comma means where it could mean both, and whether 1.244 is 1244.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        # Every different value once.
        found = to_numbers(column.dictionary, comma)
        codes = _codes(column.indices, len(found.values))
        return replace(
            found,
            values=np.append(found.values, np.nan)[codes],
            wrong=np.append(found.wrong, False)[codes],
        )
    fine = np.zeros(len(column), dtype=bool)
    if pa.types.is_boolean(kind):
        column, kind = pc.cast(column, pa.int8()), pa.int8()
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return Numbers(_floats(pc.cast(column, pa.float64(), safe=False)), fine)
    if not _is_text(kind):
        # Dates and times: there, but no numbers.
        present = np.asarray(pc.is_valid(column))
        return Numbers(np.full(len(column), np.nan), present, not present.any())
    marks: tuple[str, ...] = ()
    for place in range(2):
        try:
            values = _floats(pc.cast(column, pa.float64()))
            if comma == POINTS:
                # The numbers of a computer are others here.
                break
            return Numbers(
                values,
                fine,
                place == 0,
                points=_count(pc.match_substring(column, ".")),
                grouped=_count(pc.match_substring_regex(column, rf"^\s*{_GROUP}\s*$")),
                marks=marks,
            )
        except pa.ArrowInvalid:
            pass
        if place == 0:
            known = pc.is_in(column, value_set=pa.array(MISSING, kind))
            marks = tuple(mark for mark in pc.unique(column.filter(known)).to_pylist() if mark)
            column = pc.if_else(known, pa.scalar(None, kind), column)
    return _parsed(column.to_pylist(), comma, marks)


def _parsed(texts: list[str | None], comma: str, marks: tuple[str, ...]) -> Numbers:
    """Cell by cell, for columns that hold anything but plain numbers."""
    result = np.full(len(texts), np.nan)
    wrong = np.zeros(len(texts), dtype=bool)
    decimal = thousands = either = points = groups = grouped = 0
    seen = dict.fromkeys(marks)
    for place, given in enumerate(texts):
        if given is None:
            continue
        text = given.strip().replace("\u2212", "-")
        if text in MISSING:
            seen |= dict.fromkeys([text] if text else [])
            continue
        try:
            # Python reads 1_000 as a number; people do not.
            result[place] = float("x" if "_" in text else text)
            points += "." in text
            if _GROUPED.fullmatch(text):
                grouped += 1
                if comma == POINTS:
                    result[place] = float(text.replace(".", ""))
        except ValueError:
            if _EITHER.fullmatch(text):
                either += 1
                result[place] = float(text.replace(",", "" if comma == THOUSANDS else "."))
            elif _COMMAS.fullmatch(text):
                thousands += 1
                result[place] = float(text.replace(",", ""))
            elif _POINTS.fullmatch(text):
                groups += 1
                decimal += "," in text
                result[place] = float(text.replace(".", "").replace(",", "."))
            elif _COMMA.fullmatch(text):
                decimal += 1
                result[place] = float(text.replace(",", "."))
            else:
                wrong[place] = True
    return Numbers(
        _sane(result), wrong, False, decimal, thousands, either, points, groups, grouped,
        tuple(seen),
    )  # fmt: skip


def _floats(column: Any) -> Array:
    return _sane(np.array(column.to_numpy(zero_copy_only=False), dtype=float))


def _sane(values: Array) -> Array:
    """What is beyond `LARGEST` as infinite."""
    with np.errstate(invalid="ignore"):
        beyond = np.abs(values) > LARGEST
    if beyond.any():
        values[beyond] = np.copysign(np.inf, values[beyond])
    return values


def _count(found: Any) -> int:
    """How many of an Arrow array of truths are true."""
    import pyarrow.compute as pc

    return int(pc.sum(found).as_py() or 0)


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


def to_texts(column: Any, words: Collection[str] = ()) -> Texts:
    """An Arrow column as names; what says that there is nothing is none.

    Parameters
    ----------
    words : collection of str
        Of `WORDS`, those that mean a gap here.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = column if pa.types.is_dictionary(column.type) else None
    kind = column.type if encoded is None else column.type.value_type
    if encoded is None:
        if pa.types.is_floating(kind):
            column = pc.if_else(pc.is_nan(column), None, column)
        encoded = pc.dictionary_encode(column)
    written = encoded.dictionary
    if pa.types.is_floating(kind):
        # 3.0 and 3 are the same code.
        names = ["" if value is None or np.isnan(value) else f"{value:.10g}"
                 for value in written.to_pylist()]  # fmt: skip
    elif _is_text(kind):
        names = [_name(text) for text in written.to_pylist()]
    else:
        names = [name or "" for name in pc.cast(written, pa.string()).to_pylist()]
    gaps = {*GAPS, *words}
    levels = [name for name in dict.fromkeys(names) if name not in gaps]
    place = {name: code for code, name in enumerate(levels)}
    # One more for rows without a value.
    codes = np.array([*(place.get(name, -1) for name in names), -1])
    return Texts(codes[_codes(encoded.indices, len(names))], levels)


def _name(text: str | None) -> str:
    """Blanks put right, cut; a code that went through floats is the code: 3.0 is 3."""
    name = " ".join((text or "")[:400].split())[:80]
    return name[:-2] if name.endswith(".0") and name[:-2].lstrip("-").isdigit() else name


def _codes(indices: Any, nothing: int) -> np.ndarray:
    """Places in a dictionary, of rows without a value a place of their own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.cast(indices, pa.int64()), nothing))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
