"""Running text of a page, and errors as sentences."""

from __future__ import annotations

import streamlit as st

from . import state


def words(text: str) -> None:
    """Say something, unless a link asks for one figure only."""
    if text and not state.lesson().figure:
        st.markdown(text)


def error_box(sentence: str) -> None:
    """Say what is wrong and what to change. Never a traceback."""
    st.error(sentence)
