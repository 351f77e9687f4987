"""CSV, and tables on the screen, that a spreadsheet shows and never runs."""

from __future__ import annotations

import csv
import re
from typing import Any

import pandas as pd

# What makes a spreadsheet take a text for a formula or a command, in ASCII or full width: at the
# start of a cell, and after what another country's spreadsheet takes for the end of one.
_SIGN = "[=+\\-@|\uff1d\uff0b\uff0d\uff20]"
_DANGEROUS = re.compile(rf"(^|[;,\t\r\n])(\s*)(?={_SIGN})|^(?=[\t\r\n])")


def safe_csv(frame: pd.DataFrame) -> str:
    """A table as CSV text; texts that a spreadsheet would run get an apostrophe before them.

    Texts are quoted, so that none falls apart into cells. Numbers stay numbers, negative ones too.
    """
    return safe_frame(frame).to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with texts and names of columns that a spreadsheet shows and never runs.

    For tables on the screen, which can be saved from there.
    """
    columns = [
        column if pd.api.types.is_numeric_dtype(column.dtype) else column.map(harmless)
        for _, column in frame.items()
    ]
    safe = pd.concat(columns, axis=1) if columns else frame.copy()
    safe.columns = pd.Index([harmless(str(name)) for name in frame.columns])
    return safe


def harmless(value: Any) -> Any:
    """A value as it is, a text with an apostrophe before what a spreadsheet would run."""
    if not isinstance(value, str):
        return value
    return _DANGEROUS.sub(lambda found: f"{found[1] or ''}'{found[2] or ''}", value)
