"""CSV that a spreadsheet shows and never runs."""

from __future__ import annotations

from typing import Any

import pandas as pd

#: What makes a spreadsheet take a text for a formula or a command.
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "|")


def safe_csv(frame: pd.DataFrame) -> str:
    """A table as CSV text; texts that a spreadsheet would run get an apostrophe before them.

    Numbers stay numbers, negative ones too.
    """
    columns = [
        column if pd.api.types.is_numeric_dtype(column.dtype) else column.map(_harmless)
        for _, column in frame.items()
    ]
    safe = pd.concat(columns, axis=1) if columns else frame
    return safe.to_csv(index=False, header=[str(_harmless(name)) for name in frame.columns])


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_DANGEROUS):
        return f"'{value}"
    return value
