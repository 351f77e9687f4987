"""Words that sentences about tables share."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, what: str) -> str:
    """A number and a word, such as "1 row" or "2,000 rows"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Some names in a row, and how many more."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
