"""The census as agents: person records or sums of them, one agent a state."""

from . import download
from .download import DownloadError, Survey
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
from .study import (
    Choice,
    Study,
    doubling,
    joining,
    leaving,
    paper_views,
    question_table,
    with_choice,
    world_of,
)
from .sums import CensusSums, sums_of_files

__all__ = [
    "PAPER_MISSING",
    "PAPER_STATES",
    "QUESTIONS",
    "STATE_NAMES",
    "CensusSums",
    "Choice",
    "DownloadError",
    "People",
    "Question",
    "Study",
    "Survey",
    "doubling",
    "download",
    "features_of",
    "files_in",
    "joining",
    "leaving",
    "paper_views",
    "question_of",
    "question_table",
    "sums_of_files",
    "text_of",
    "with_choice",
    "world_of",
]
