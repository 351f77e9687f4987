"""Running text of a page, and errors as sentences."""

from __future__ import annotations

import re

import streamlit as st

from collab_core.tabular.export import harmless

from . import state

#: Nothing to see, but it stops what is made of bare text: addresses, mail, :icons:.
JOINER = "\u2060"
_MADE_OF_TEXT = re.compile(r"(https?|ftp)(?=:)|www(?=\.)|\w(?=@)|:(?=[a-z+][\w+/-]*:)", re.I)


def words(text: str) -> None:
    """Say something, unless a link asks for one figure only."""
    if text and not state.lesson().figure:
        st.markdown(text)


def error_box(sentence: str) -> None:
    """Say what is wrong and what to change. Never a traceback."""
    st.error(literal(sentence))


def bare(name: str) -> str:
    """Somebody's name for something without signs that Markdown or Plotly could make more of."""
    plain = " ".join(re.sub(r"[\\`*_\[\]<>$~!&]", " ", name).split()) or "unnamed"
    # Tables on the screen can be saved, and opened by a spreadsheet.
    return str(harmless(plain))


def literal(text: str) -> str:
    """Somebody's text for Markdown: shown as it is, no link, picture, formula or colour made of it.

    A column can be called anything, and a picture in its name would be fetched.
    """
    escaped = re.sub(r"([\\`*_\[\]<>$~!])", r"\\\1", text)
    return _MADE_OF_TEXT.sub(f"\\g<0>{JOINER}", escaped)
