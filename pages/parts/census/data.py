"""Data: what is in use, person files from the Census Bureau, files of one's own."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import streamlit as st

from collab_core import census
from collab_core.census import CensusSurvey, People
from collab_core.census.download import CENSUS, HORIZONS, YEARS, megabytes
from collab_core.words import census as say
from pages.shared import records, run
from pages.shared.say import error_box, words
from pages.shared.subject import DATA, built_in

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

#: Share of the work that downloading is; reading is the rest.
FETCHING = 0.7


def show() -> None:
    """Draw the part."""
    words(say.data(records.sums()))
    if records.people() is not None:
        st.button("Back to the built-in data", on_click=records.forget)
    left, right = st.columns(2)
    with left:
        st.subheader("From the Census")
        _from_census()
    with right:
        st.subheader("Files of your own")
        _own_files()


def _from_census() -> None:
    year = st.selectbox("Year", YEARS[::-1], index=YEARS[::-1].index(2018))
    horizon = st.selectbox("Horizon", HORIZONS, help="The paper's is 2018, 1-Year.")
    root = Path(os.environ.get("COLLAB_CENSUS_CACHE", DATA))
    survey = CensusSurvey(root, int(year), horizon, os.environ.get("COLLAB_CENSUS_URL", CENSUS))
    names = sorted(census.STATE_NAMES)
    chosen = st.multiselect("States", names, list(census.PAPER_STATES))
    missing = [s for s in chosen if s not in survey.cached]
    st.caption(say.download(len(chosen), len(missing), megabytes(missing, horizon, built_in())))
    if not chosen:
        error_box("Pick at least one state.")
        return

    def work(report: run.Report, cancel: Event) -> People | None:
        paths = survey.fetch(
            chosen, progress=lambda share, text: report(FETCHING * share, None), cancel=cancel
        )
        if cancel.is_set():
            return None
        return People.from_files(
            paths,
            f"ACS {year} {horizon}, {', '.join(chosen)}",
            cancel=cancel,
            progress=lambda share: report(FETCHING + (1 - FETCHING) * share, None),
        )

    run.panel(
        "census-fetch",
        (year, horizon, tuple(chosen)),
        work,
        lambda found, final: _take_over(found, final, [str(survey.path(s)) for s in chosen]),
        label="Download and read" if missing else "Read",
        help="Fetches person files from the Census Bureau, then works offline.",
    )


def _own_files() -> None:
    folder = st.text_input(
        "Folder on this computer", help="With PUMS person files, .csv or .parquet."
    )
    uploaded = st.file_uploader(
        "Or upload them", type=["csv", "parquet"], accept_multiple_files=True
    )

    def work(report: run.Report, cancel: Event) -> People:
        with contextlib.ExitStack() as stack:
            if uploaded:
                # To a folder that ends with the reading: files are read in pieces, not at once.
                place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                paths = _written(uploaded, place)
            else:
                paths = census.files_in(Path(folder).expanduser())
            return People.from_files(
                paths,
                f"my {len(paths)} file{'s' if len(paths) > 1 else ''}",
                cancel=cancel,
                progress=lambda share: report(share, None),
            )

    if folder or uploaded:
        paths = None if uploaded else [str(path) for path in _files_of(folder)]
        run.panel(
            "census-own",
            (folder, tuple(file.file_id for file in uploaded)),
            work,
            lambda found, final: _take_over(found, final, paths),
            label="Read",
            help="Reads them in pieces; nothing leaves this computer.",
        )


def _written(uploaded: Sequence[UploadedFile], place: Path) -> list[Path]:
    """Uploads as files of a folder, none over another of the same name."""
    paths = []
    for number, file in enumerate(uploaded):
        path = place / f"{number}-{Path(file.name).name}"
        path.write_bytes(file.getbuffer())
        paths.append(path)
    return paths


def _files_of(folder: str) -> list[Path]:
    """Files of a folder for the snippet; what is wrong with it is said when it is read."""
    try:
        return census.files_in(Path(folder).expanduser())
    except ValueError:
        return []


def _take_over(found: People | None, final: bool, paths: list[str] | None) -> None:
    """Use what was read from now on, and say so."""
    if final and found is not None:
        st.success(say.read_in(found))
        records.use(found, paths)
