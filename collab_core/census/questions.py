"""The questions of the census that the paper uses, and how their answers become features.

Fourteen variables of the American Community Survey's person records. Those with levels become one
column per level, the first level dropped: 4+1+1+2+8+4+10 = 30 columns, which with the 7 numeric
ones are the paper's 37.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """One variable of a person's record.

    Attributes
    ----------
    key : str
        Its name in the 2018 files, used for features in every year.
    name : str
        For people.
    columns : tuple of str
        What the column is called in files of different years.
    levels : tuple of int
        Codes of a variable with levels, the first of which is the baseline; empty for a number.
    texts : tuple of str
        What the levels mean.
    unit : str
        Of one step of a number.
    """

    key: str
    name: str
    columns: tuple[str, ...]
    levels: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    unit: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of its columns in a design."""
        if not self.levels:
            return (self.key,)
        return tuple(f"{self.key}_{level}" for level in self.levels[1:])


QUESTIONS: dict[str, Question] = {
    question.key: question
    for question in (
        Question("AGEP", "Age", ("AGEP",), unit="per year"),
        Question("SCHL", "Schooling", ("SCHL",), unit="per step of attainment"),
        Question(
            "MAR", "Marital status", ("MAR",), (1, 2, 3, 4, 5),
            ("married", "widowed", "divorced", "separated", "never married"),
        ),
        Question("SEX", "Sex", ("SEX",), (1, 2), ("male", "female")),
        Question("DIS", "Disability", ("DIS",), (1, 2), ("with a disability", "without one")),
        # Later files code the place of a year ago instead (MIGSP); see `records`.
        Question(
            "MIG", "Moved last year", ("MIG",), (1, 2, 3),
            ("same house", "came from abroad", "moved within the country"),
        ),
        Question("RELP", "Place in the household", ("RELP", "RELSHIPP"), unit="per code"),
        Question(
            "RAC1P", "Race", ("RAC1P",), tuple(range(1, 10)),
            ("White", "Black", "American Indian", "Alaska Native", "other native", "Asian",
             "Pacific Islander", "other race", "two or more races"),
        ),
        Question("PUMA", "Area of residence", ("PUMA",), unit="per code"),
        Question(
            "CIT", "Citizenship", ("CIT",), (1, 2, 3, 4, 5),
            ("born in the US", "born in its territories", "born abroad to American parents",
             "naturalised", "not a citizen"),
        ),
        Question("OCCP", "Occupation", ("OCCP",), unit="per code"),
        # Who works at home (11) has no travel time, so eleven levels are left.
        Question(
            "JWTR", "Means of transport", ("JWTR", "JWTRNS"), (*range(1, 11), 12),
            ("car", "bus", "subway", "long-distance train", "light rail", "ferry", "taxi",
             "motorcycle", "bicycle", "on foot", "other means"),
        ),
        Question("POWPUMA", "Area of work", ("POWPUMA",), unit="per code"),
        Question("POVPIP", "Income to poverty line", ("POVPIP",), unit="per percent"),
    )
}  # fmt: skip

#: Minutes to work, the target.
TARGET = "JWMNP"

#: What each of five states does not ask in the paper: California, New York, Texas, Florida,
#: Illinois. 37, 36, 35, 30 and 27 features remain.
PAPER_STATES = ("CA", "NY", "TX", "FL", "IL")
PAPER_MISSING: tuple[tuple[str, ...], ...] = (
    (),
    ("AGEP",),
    ("AGEP", "SCHL"),
    ("AGEP", "SCHL", "MAR", "SEX"),
    ("AGEP", "SCHL", "MAR", "SEX", "DIS", "MIG"),
)

#: Postal abbreviations by the FIPS codes of the files.
STATES: dict[int, str] = {
    1: "AL", 2: "AK", 4: "AZ", 5: "AR", 6: "CA", 8: "CO", 9: "CT", 10: "DE", 11: "DC", 12: "FL",
    13: "GA", 15: "HI", 16: "ID", 17: "IL", 18: "IN", 19: "IA", 20: "KS", 21: "KY", 22: "LA",
    23: "ME", 24: "MD", 25: "MA", 26: "MI", 27: "MN", 28: "MS", 29: "MO", 30: "MT", 31: "NE",
    32: "NV", 33: "NH", 34: "NJ", 35: "NM", 36: "NY", 37: "NC", 38: "ND", 39: "OH", 40: "OK",
    41: "OR", 42: "PA", 44: "RI", 45: "SC", 46: "SD", 47: "TN", 48: "TX", 49: "UT", 50: "VT",
    51: "VA", 53: "WA", 54: "WV", 55: "WI", 56: "WY", 72: "PR",
}  # fmt: skip


#: What the abbreviations stand for.
STATE_NAMES: dict[str, str] = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "DC": "District of Columbia",
    "FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois",
    "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana",
    "ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota",
    "MS": "Mississippi", "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada",
    "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York",
    "NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon",
    "PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota",
    "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia",
    "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
    "PR": "Puerto Rico",
}  # fmt: skip


def question_of(feature: str) -> Question:
    """The question that a column of a design belongs to."""
    key = feature.partition("_")[0]
    if key not in QUESTIONS:
        raise ValueError(
            f"feature {feature!r} belongs to no question; allowed are {list(QUESTIONS)}"
        )
    return QUESTIONS[key]


#: Files before 2019 count the means of transport differently.
OLDER_TRANSPORT = {3: "streetcar", 4: "subway", 5: "railroad"}


def text_of(feature: str, *, older: bool = False) -> str:
    """A column of a design in words: "Age", "Means of transport: bus".

    Parameters
    ----------
    older : bool
        In the codes of files before 2019.
    """
    question, level = question_of(feature), feature.partition("_")[2]
    if not level:
        return question.name
    text = question.texts[question.levels.index(int(level))]
    if older and question.key == "JWTR":
        text = OLDER_TRANSPORT.get(int(level), text)
    return f"{question.name}: {text}"


def features_of(keys: Iterable[str]) -> list[str]:
    """Columns of some questions, in the order given."""
    return [feature for key in keys for feature in QUESTIONS[key].features]
