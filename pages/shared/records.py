"""The census data of this session: the built-in sums, or the records that a person has loaded."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from collab_core.census import CensusSums, People

from . import state
from .script import Script
from .subject import built_in, built_in_script

_PEOPLE, _TAKEN, _PATHS = "census-people", "census-taken", "census-paths"


def people() -> People | None:
    """Whoever was loaded, if anybody; perhaps only their sums."""
    found: People | None = st.session_state.get(_PEOPLE)
    return found


def drawable() -> People | None:
    """Whoever was loaded and can be drawn one by one."""
    found = people()
    return found if found is not None and found.holds_records else None


def sums() -> CensusSums:
    """The data of this session."""
    found = people()
    return built_in() if found is None else found.sums


def script() -> tuple[Script, CensusSums]:
    """Lines that begin with the data of this session, as ``sums`` (and ``people``, if loaded)."""
    found = people()
    if found is None:
        return built_in_script()
    # Files are only named in the lines: two uploads have the same name.
    begun = Script(found.sums.digest)
    paths = st.session_state.get(_PATHS) or ["the files you uploaded"]
    begun.given("people", found, f"people = cc.census.People.from_files({paths}, 'mine')")
    read: CensusSums = begun.read("sums", found, "sums")
    return begun, read


def use(found: People, paths: Sequence[str] | None) -> None:
    """Go on with records just read; ``paths`` is None for files that were uploaded.

    Once only: who goes back to the built-in data has still read these.
    """
    if st.session_state.get(_TAKEN) != id(found):
        st.session_state[_PEOPLE], st.session_state[_TAKEN] = found, id(found)
        st.session_state[_PATHS] = paths
        state.touch()
        st.rerun()


def forget() -> None:
    """Go back to the built-in sums."""
    st.session_state.pop(_PEOPLE, None)
