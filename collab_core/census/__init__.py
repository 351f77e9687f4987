"""The census as agents: person records or sums of them, one agent a state."""

from . import download
from .answers import Changes, by_state, changes, correlations, named_coefficients
from .changes import doubling, joining, leaving, question_table, world_of
from .curves import most_people, published_curve
from .download import CensusSurvey, DownloadError
from .patterns import asked_by, grid_of_text, grid_text, is_as_published
from .people import People
from .questions import (
    PAPER_MISSING,
    PAPER_STATES,
    QUESTIONS,
    STATE_NAMES,
    Question,
    features_of,
    question_of,
    text_of,
)
from .records import files_in
from .source import GIVEN
from .study import Study, StudyChoice, paper_views, with_choice
from .sums import CensusSums, sums_of_files

__all__ = [
    "GIVEN",
    "PAPER_MISSING",
    "PAPER_STATES",
    "QUESTIONS",
    "STATE_NAMES",
    "CensusSums",
    "CensusSurvey",
    "Changes",
    "DownloadError",
    "People",
    "Question",
    "Study",
    "StudyChoice",
    "asked_by",
    "by_state",
    "changes",
    "correlations",
    "doubling",
    "download",
    "features_of",
    "files_in",
    "grid_of_text",
    "grid_text",
    "is_as_published",
    "joining",
    "leaving",
    "most_people",
    "named_coefficients",
    "paper_views",
    "published_curve",
    "question_of",
    "question_table",
    "sums_of_files",
    "text_of",
    "with_choice",
    "world_of",
]
