"""What every page does first, and how every page shows a figure."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager


def enter() -> None:
    """Begin a page: make sure that app.py, not Streamlit's old page mode, is in charge.

    A folder named ``pages`` puts Streamlit into its old mode until app.py has run once in the
    process, and a deep link as the first request then skips app.py. Private API, used only here
    and guarded by a browser test.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def chart(figure: go.Figure, *, key: str, alt: str) -> None:
    """Show a figure with a quiet toolbar that saves an SVG, and a text for screen readers."""
    st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        config={
            "displaylogo": False,
            "toImageButtonOptions": {"format": "svg", "filename": f"collab-{key}"},
        },
    )
