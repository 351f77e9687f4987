"""What a column is: numbers, names, or of no use, found out piece by piece and said in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .sentences import counted, listed
from .values import DECIMAL, LARGEST, POINTS, THOUSANDS, WORDS, sign_of, to_numbers, to_texts

#: A column with more different texts than this is no category.
MOST_LEVELS = 100

#: A column with at most so many different values can name agents.
MOST_AGENTS = 200

#: In fewer rows than this, numbers that count up may do so by chance.
FEW_ROWS = 20

KINDS = ("number", "category", "identifier", "date", "constant", "empty", "text", "mixed")

#: What a person may turn a column into, whatever it was taken for.
USABLE = ("number", "category")

_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|(19|20)\d\d[-/](0?[1-9]|1[0-2])"
    rf"|{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}}\.?[- ]{_MONTH}[- ](\d{{4}}|\d{{2}}))([T ].*)?",
    re.I,
)
# Names of identifiers, and names that are often one: a body mass index is not.
_ID_NAME = re.compile(
    r"(^|[ _\-.])(?i:id|ids|uuid|guid|pid|uid|serialno)$|[a-z0-9](ID|Id|UUID|Uuid)$"
)
_LIKE_ID = re.compile(r"(^|[ _\-.])(key|index|serial|nr|no|row)$", re.I)
_DATES = "Dates are not used; a year, a month or an age as a number would be."

#: Values of a column that are looked at for whether they repeat, and texts for what they are.
LOOKED_AT = 2000


@dataclass(frozen=True)
class Column:
    """What was found out about a column.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    present, missing : int
        Rows with and without a value.
    distinct : int or None
        Different values, None for more than were counted.
    example : str
        A value.
    note : str
        Why it is of no use, or what to know about it; nothing if there is nothing.
    values : tuple of str
        All different values, of a column that could name agents.
    texts : int
        Cells that hold text, among numbers.
    plain : bool
        Whether all of its numbers are written as computers write them.
    comma : {"decimal", "thousands", "decimal, points mark thousands"}
        What a comma in its numbers means, and a point.
    words : tuple of str
        Of `values.WORDS`, those that mean a gap here if its values are names.
    """

    name: str
    kind: str
    present: int
    missing: int
    distinct: int | None
    example: str
    note: str
    values: tuple[str, ...] = ()
    texts: int = 0
    plain: bool = True
    comma: str = DECIMAL
    words: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether it can be a feature as it is."""
        return self.kind in USABLE


class Finding:
    """A column as far as it was read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.present = self.numbers = self.texts = self.infinite = 0
        self.decimal = self.thousands = self.either = self.points = 0
        self.groups = self.grouped = 0
        self.dates = self.fractional = 0
        #: Texts that are amounts but for a sign, by the sign, of those that were looked at.
        self.signs: Counter[str] = Counter()
        self.looked_for_signs = 0
        self.plain = True
        #: What stands for a gap, if this is a column of numbers.
        self.marks: set[str] = set()
        self.like_days = True
        self.looked_at: list[float] = []
        self.levels: Counter[str] | None = Counter()
        self.example = self.wrong_example = ""
        self.low, self.high = np.inf, -np.inf
        self.counts_up = True
        self._last: float | None = None

    def add(self, column: Any) -> None:
        """Take a piece of the column, an Arrow array, into account."""
        import pyarrow as pa

        is_date = pa.types.is_temporal(column.type)
        found = to_numbers(column)
        values = found.values
        there = ~np.isnan(values)
        self.numbers += int(there.sum())
        self.texts += int(found.wrong.sum())
        self.present += int((there | found.wrong).sum())
        self.infinite += int(np.isinf(values).sum())
        self.decimal += found.decimal
        self.thousands += found.thousands
        self.either += found.either
        self.points += found.points
        self.groups += found.groups
        self.grouped += found.grouped
        self.plain = self.plain and found.plain
        self.marks.update(found.marks)
        finite = values[np.isfinite(values)]
        if finite.size:
            self.low, self.high = min(self.low, finite.min()), max(self.high, finite.max())
            self.fractional += int((finite != np.trunc(finite)).sum())
            self._count_up(finite)
            self.like_days = self.like_days and _like_days(finite)
            self.looked_at += finite[: max(LOOKED_AT - len(self.looked_at), 0)].tolist()
        if is_date:
            self.dates += int(found.wrong.sum())
        self._take_signs(column, found.wrong)
        self._take_levels(column, found.wrong, there)

    def _take_signs(self, column: Any, wrong: np.ndarray) -> None:
        """Look at the first texts for numbers with a sign."""
        places = np.flatnonzero(wrong)[: max(LOOKED_AT - self.looked_for_signs, 0)]
        if places.size:
            texts = to_texts(column.take(places))
            self.looked_for_signs += len(places)
            for text, count in texts.counts().items():
                self.signs.update({sign: count} if (sign := sign_of(text)) else {})

    def _count_up(self, values: np.ndarray) -> None:
        """Whether every value is one more than the last: a row number."""
        steps = np.diff(values)
        first = self._last is None or values[0] == self._last + 1
        self.counts_up = bool(self.counts_up and first and (steps == 1).all())
        self._last = float(values[-1])

    def _take_levels(self, column: Any, wrong: np.ndarray, there: np.ndarray) -> None:
        known = self.example and self.levels is None and (self.wrong_example or not wrong.any())
        if known:
            return
        places = np.flatnonzero(wrong | there)
        if places.size and not self.example:
            self.example = _example(column, int(places[0]))
        if wrong.any() and not self.wrong_example:
            self.wrong_example = _example(column, int(np.flatnonzero(wrong)[0]))
        if self.levels is None:
            return
        # A look at the start first: columns of measurements have too many values at once.
        for piece in (column[:2000], column[2000:]):
            counts = to_texts(piece).counts()
            self.levels.update(counts)
            self.dates += sum(count for text, count in counts.items() if _DATE.fullmatch(text))
            if len(self.levels) > max(MOST_AGENTS, MOST_LEVELS):
                self.levels = None
                return

    @property
    def amounts(self) -> bool:
        """Whether it holds numbers and nothing else."""
        return self.numbers > 0 and self.texts == 0

    @property
    def decimal_points(self) -> int:
        """Numbers with a point that cannot mark thousands."""
        return self.points - self.grouped

    def column(self, total: int, marks: set[str], commas: str, points: bool) -> Column:
        """What the column is, after all rows.

        Parameters
        ----------
        marks : set of str
            Words by which this table marks gaps among numbers.
        commas : {"decimal", "thousands", ""}
            What commas mean elsewhere in the table, where this column does not say.
        points : bool
            Whether points mark thousands elsewhere in the table.
        """
        # As names, words are values unless the table uses them for gaps elsewhere.
        words = tuple(word for word in WORDS if word in marks)
        comma, said = self._comma(commas, points)
        levels, present = self.levels, self.present
        names = self.texts > 0 and not self.numbers
        kept, gone = [], []
        if names and levels is not None:
            kept = [word for word in WORDS if levels[word] and word not in words]
            gone = [word for word in WORDS if levels[word] and word in words]
            # Among numbers they were counted as gaps; among names they are values.
            present += sum(levels[word] for word in kept)
            self.texts += sum(levels[word] for word in kept)
        if levels is not None:
            dropped = gone if names else [word for word in WORDS if levels[word]]
            levels = Counter({name: n for name, n in levels.items() if name not in dropped})
        self.levels, self.present = levels, present
        kind, note = self._judge(total)
        if kind in ("category", "constant", "text") and names:
            notes = [note] if note else []
            if kept:
                notes.append(f"{_quoted(kept)} is read as a value of its own.")
            if gone:
                notes.append(f"{_quoted(gone)} is read as missing, as among this table's numbers.")
            if signs := sorted(self.marks - set(WORDS)):
                notes.append(f"{_quoted(signs)} is read as missing.")
            note = " ".join(notes)
        elif kind == "mixed" and self.texts and comma == POINTS:
            note = f"{note} {said}"
        elif kind == "number":
            marked = f"{_quoted(sorted(self.marks))} is read as missing." if self.marks else ""
            note = " ".join(text for text in (note, said, marked) if text)
        distinct = None if levels is None else len(levels)
        values = () if levels is None else tuple(sorted(levels, key=natural))
        return Column(
            self.name, kind, present, total - present, distinct, self.example, note, values,
            self.texts, self.plain and comma != POINTS, comma,
            words if names or kind == "mixed" else WORDS,
        )  # fmt: skip

    def _comma(self, usual: str, points: bool) -> tuple[str, str]:
        """What a comma in this column's numbers means, and a point, and a sentence about it."""
        if self.groups:
            written = "Written with decimal commas. " if self.decimal else ""
            return POINTS, f"{written}Points mark thousands."
        alone = self.grouped and not (self.decimal_points or self.decimal or self.thousands)
        if alone and points and not self.either:
            return POINTS, (
                "Points are read as marking thousands (1.244 as 1244), as other columns are"
                " written."
            )
        if self.decimal:
            return DECIMAL, "Written with decimal commas."
        if self.thousands or (self.either and self.points):
            return THOUSANDS, "Commas mark thousands."
        if not self.either:
            return DECIMAL, ""
        if usual:
            return usual, {
                DECIMAL: "Commas are read as decimal, as in other columns.",
                THOUSANDS: "Commas mark thousands.",
            }[usual]
        return DECIMAL, (
            "Commas are read as decimal (1,244 as 1.244), though every one is followed by three"
            " digits and could mark thousands. Write the numbers without them to be sure."
        )

    def _judge(self, total: int) -> tuple[str, str]:
        distinct = None if self.levels is None else len(self.levels)
        if self.present == 0:
            return "empty", "No row has a value."
        if self.texts == 0 and self.infinite == self.present:
            return "empty", f"Every value is infinite or beyond {LARGEST:.0e}."
        if distinct == 1:
            return (
                "constant",
                f"Every value is {self.example!r}: nothing to learn from.",
            )
        if self.texts and self.dates >= min(0.9 * self.present, 1800):
            return "date", _DATES
        # A few such texts among numbers are gaps; more of them are a way to write amounts.
        signed = self.signs.total() >= max(0.9 * self.looked_for_signs, 1)
        if signed and self.texts >= 0.05 * self.present:
            signs = listed([sign for sign, _ in self.signs.most_common()])
            return "text", (
                f"Looks like numbers with {signs}: write them without to use them as amounts."
            )
        if self.groups and (self.decimal_points or self.thousands):
            # With texts, mixed would offer its numbers, and 1.234 is not known.
            return "text" if self.texts else "mixed", (
                f"In {counted(self.groups, 'number')} points mark thousands, as in 1.234.567, and"
                f" {self.decimal_points + self.thousands:,} are written otherwise, so 1.234 could"
                " mean two things. Write them one way."
            )
        if self.texts == 0:
            return self._judge_numbers(total)
        if self.numbers and self.texts < 0.5 * self.present:
            many = counted(self.texts, "text")
            told = f"Holds {self.numbers:,} numbers and {many} such as {self.wrong_example!r}."
            return "mixed", (
                told + " As a number, the texts count as gaps; as a category, each value is one."
            )
        if distinct is not None and distinct <= MOST_LEVELS and distinct <= 0.5 * self.present:
            return "category", ""
        named = _ID_NAME.search(self.name) or _LIKE_ID.search(self.name)
        if distinct is None or distinct > 0.9 * self.present or named:
            return "identifier", "Nearly every row has its own text: an identifier or free text."
        return "text", f"{distinct} different texts are too many for a category here."

    def _judge_numbers(self, total: int) -> tuple[str, str]:
        if self.decimal and (self.thousands or (self.points and not self.groups)):
            return "mixed", (
                f"{self.decimal:,} numbers are written with a decimal comma and"
                f" {self.points + self.thousands:,} otherwise, so 1,234 could mean two things."
                " Write them one way."
            )
        whole = self.fractional == 0 and not self.infinite
        if whole and self.counts_up and self.present >= FEW_ROWS:
            return "identifier", "Counts the rows: a row number says nothing about a new row."
        distinct = None if self.levels is None else len(self.levels)
        if whole and self.like_days and self.present >= 5:
            return "date", f"Days written as numbers, such as {self.example}. {_DATES}"
        if whole and self._is_identifier(distinct):
            return "identifier", "Whole numbers under a name like an identifier's."
        notes = []
        if self.infinite:
            notes.append(
                f"{counted(self.infinite, 'value')} infinite or beyond {LARGEST:.0e}, treated as a"
                " gap."
            )
        return "number", " ".join(notes)

    def _is_identifier(self, distinct: int | None) -> bool:
        """Whether whole numbers under such a name only tell rows, or people, apart."""
        many = distinct is None or (self.present >= FEW_ROWS and distinct == self.present)
        if _ID_NAME.search(self.name):
            return many
        alone = len(set(self.looked_at)) >= 0.99 * len(self.looked_at)
        return bool(_LIKE_ID.search(self.name)) and many and alone


def _like_days(values: np.ndarray) -> bool:
    """Whether all are days written as 20200131."""
    if values.min() < 19000101 or values.max() > 21001231:
        return False
    month, day = values // 100 % 100, values % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def usual_comma(findings: Iterable[Finding], delimiters: Sequence[str]) -> str:
    """What commas in numbers mean in most of a table: nothing if it does not say."""
    found = list(findings)
    decimal = sum(finding.decimal > 0 for finding in found)
    thousands = sum(
        finding.thousands > 0 or (finding.points > 0 and not finding.groups) for finding in found
    )
    if "," in delimiters or thousands > decimal:
        return THOUSANDS
    return DECIMAL if decimal else ""


def points_mark_thousands(findings: Iterable[Finding]) -> bool:
    """Whether a table has such points, or decimal commas, and no point that must be decimal."""
    found = list(findings)
    return any(finding.groups or finding.decimal for finding in found) and not any(
        finding.decimal_points for finding in found
    )


def _quoted(names: Sequence[str]) -> str:
    return listed([repr(name) for name in names])


def _example(column: Any, place: int) -> str:
    """A value as text."""
    return (to_texts(column[place : place + 1]).levels or [""])[0][:40]


def natural(name: str) -> tuple[int, float, str]:
    """Numbers by size, then texts."""
    try:
        return (0, float(name), "")
    except ValueError:
        return (1, 0.0, name)
