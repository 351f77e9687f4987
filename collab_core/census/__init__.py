"""The census as agents: person records or sums of them, one agent a state."""

from .questions import PAPER_MISSING, PAPER_STATES, QUESTIONS, Question, features_of, text_of
from .sums import CensusSums, sums_of_files

__all__ = [
    "PAPER_MISSING",
    "PAPER_STATES",
    "QUESTIONS",
    "CensusSums",
    "Question",
    "features_of",
    "sums_of_files",
    "text_of",
]
