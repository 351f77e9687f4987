"""What several parts of this page draw alike."""

from __future__ import annotations

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from collab_core.tabular import TableStudy
from pages.shared import options


def pick_agent(study: TableStudy, name: str) -> int:
    """An agent, by its number in the link: a name may hold anything."""
    place = options.pick(
        name, "Agent", [str(j) for j in range(len(study.agents))], "0",
        words=lambda j: study.agents[int(j)],
    )  # fmt: skip
    return int(place)


def table_height(rows: int, most: int = 420) -> int:
    """Pixels for a table on the screen."""
    return min(38 + 35 * rows, most)


def four_digits(*names: str) -> dict[str, ColumnConfig]:
    """Columns with four digits that count, for numbers of any size."""
    return {name: st.column_config.NumberColumn(format="%.4g") for name in names}
