"""What was found out about a table as tables of their own, for people."""

from __future__ import annotations

import pandas as pd

from .study import TableStudy
from .table import Table


def columns_of(table: Table) -> pd.DataFrame:
    """What each column was taken for.

    Returns
    -------
    DataFrame
        ``column``, ``taken for``, ``missing`` (share of the rows), ``values`` (how many different
        ones), ``example`` and ``note``.
    """
    columns = table.columns
    return pd.DataFrame(
        {
            "column": [column.name for column in columns],
            "taken for": [column.kind for column in columns],
            "missing": [column.missing / table.rows for column in columns],
            "values": [
                "many" if column.distinct is None else str(column.distinct) for column in columns
            ],
            "example": [column.example for column in columns],
            "note": [column.note for column in columns],
        }
    )


def who_sees_what(study: TableStudy) -> pd.DataFrame:
    """A row per agent: its name, called as in the table, and whether it has each column."""
    return study.seen.reset_index(names=study.choice.agent)
