"""The row of a table that a sentence is about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def largest(frame: pd.DataFrame, column: str) -> dict[str, Any]:
    """The row with the largest number of a column, the first of equals; not a missing one."""
    return _row(frame, int(np.nanargmax(_numbers(frame, column))))


def smallest(frame: pd.DataFrame, column: str) -> dict[str, Any]:
    """The row with the smallest number of a column, the first of equals; not a missing one."""
    return _row(frame, int(np.nanargmin(_numbers(frame, column))))


def by_method(frame: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """All rows, by their method."""
    rows = (_row(frame, place) for place in range(len(frame)))
    return {str(row["method"]): row for row in rows}


def _row(frame: pd.DataFrame, place: int) -> dict[str, Any]:
    return {str(name): frame[name].iloc[place] for name in frame.columns}


def _numbers(frame: pd.DataFrame, column: str) -> np.ndarray:
    return frame[column].to_numpy(dtype=float, na_value=np.nan)
