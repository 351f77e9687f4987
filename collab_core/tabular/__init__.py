"""Anybody's table: files to agents, one a group, and what working together is worth to each.

`Table.open` reads files and finds out what their columns are, `usual_choice` guesses what is meant,
`analyse` makes a `TableStudy` of both. Files are read in pieces and only sums are kept.
"""

from . import report
from .choice import TableChoice, usual_choice
from .column import Column
from .design import SPARSE, Feature, TableSurvey, survey
from .folds import FOLDS
from .frames import columns_of, who_sees_what
from .model import TableModel
from .source import MOST_BYTES, MOST_COLUMNS, MOST_ROWS, TableFile
from .study import TableStudy, analyse, compared
from .sums import TableSums, add_up, effort
from .table import Table

__all__ = [
    "FOLDS",
    "MOST_BYTES",
    "MOST_COLUMNS",
    "MOST_ROWS",
    "SPARSE",
    "Column",
    "Feature",
    "Table",
    "TableChoice",
    "TableFile",
    "TableModel",
    "TableStudy",
    "TableSums",
    "TableSurvey",
    "add_up",
    "analyse",
    "columns_of",
    "compared",
    "effort",
    "report",
    "survey",
    "usual_choice",
    "who_sees_what",
]
