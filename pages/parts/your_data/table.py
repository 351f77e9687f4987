"""The table of this session: a sample, or files that a person has uploaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from collab_core import tabular
from collab_core.tabular import Table
from collab_core.tabular.samples import SAMPLES
from collab_core.words.your_data import LIMITS
from pages.shared import options, run, state
from pages.shared.say import literal, words
from pages.shared.script import Script

DATA = Path(__file__).parents[3] / "data"

#: Choices that mean something for one column of agents only, and those for one table.
OF_AGENTS = ("without", "of", "check")
OF_TABLE = ("target", "agent", "features", "categories", "gaps", "log", "rare", "sigma", *OF_AGENTS)


@dataclass(frozen=True, eq=False)
class Opened:
    """A table, and what it was opened from.

    Attributes
    ----------
    table : Table
    files : tuple of str
        As a person would name them.
    digest : str
        Of somebody's own files; nothing for a sample, which everybody has.
    """

    table: Table
    files: tuple[str, ...]
    digest: str = ""

    def script(self) -> Script:
        """The line that opens it."""
        script = Script(self.digest)
        files = list(self.files)
        script.given("table", self.table, f"table = cc.tabular.Table.open({files!r})")
        return script


def pick_table() -> Opened | None:
    """Let a person pick a sample or upload files; None while there is no table."""
    opened = _picked()
    if opened is not None:
        forget("table-of", opened.table, OF_TABLE)
    return opened


def _picked() -> Opened | None:
    labels = {key: found.label for key, found in SAMPLES.items()} | {"own": "My own table"}
    left, right = st.columns([1, 1.5], vertical_alignment="center")
    with left:
        which = options.segments("table", "Table", labels, "clinics", label_visibility="collapsed")
    if which in SAMPLES:
        with right:
            words(literal(SAMPLES[which].summary))
        return Opened(sample(which), (f"data/{SAMPLES[which].file}",))
    with right:
        files = st.file_uploader(
            "A table, or several files, one an agent", accept_multiple_files=True,
            help=LIMITS, key="table-upload",
        )  # fmt: skip
        st.caption(LIMITS)
    if files:
        read_own(files)
    held: Opened | None = st.session_state.get("table-own")
    if held is None and not files:
        words("Upload a table to begin, or look at a sample first.")
    return held


@st.cache_resource(max_entries=4, show_spinner=False)
def sample(key: str) -> Table:
    """A table that comes with the dashboard."""
    return Table.open([DATA / SAMPLES[key].file])


def read_own(files: Sequence[UploadedFile]) -> None:
    """Read uploaded files once, with progress; then they are the session's table."""
    signature = tuple(file.file_id for file in files)
    if st.session_state.get("table-own-files") == signature:
        return
    given = sources(files)

    def work(report: run.Report, cancel: Event) -> Opened:
        table = Table.open(given, progress=lambda share: report(share, None), cancel=cancel)
        names = tuple(source.name for source in given)
        return Opened(table, names, " ".join(source.digest for source in given))

    def took(found: Opened | None, final: bool) -> None:
        if final and found is not None:
            st.session_state["table-own"] = found
            st.session_state["table-own-files"] = signature
            state.touch()
            st.rerun()

    # What was read before is not this table.
    st.session_state["table-own"] = None
    run.panel("table-read", signature, work, took, label="Read", help="Reads the files.", auto=True)


def sources(files: Sequence[UploadedFile]) -> list[tabular.TableFile]:
    """Uploaded files for the library, which does not copy them."""
    return [tabular.TableFile(file.name, file.getbuffer()) for file in files]


def forget(slot: str, what: object, names: tuple[str, ...]) -> None:
    """Forget choices that were made for another table, or for other agents.

    A link brings choices of its own, which are for what it shows: they stay.
    """
    given = state.options()
    before = st.session_state.get(slot)
    if before is not None and before[0] is given and before[1] != what:
        for name in names:
            given.pop(name, None)
    st.session_state[slot] = (given, what)
