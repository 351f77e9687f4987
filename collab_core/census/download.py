"""Person files from the Census Bureau, into folktables' cache layout.

folktables' own download has no time-out, no retry and no check: a refused answer is kept as if it
were the file. Here every answer is checked, a broken one is said to be broken, and nothing but a
whole file is ever left behind. `folktables.ACSDataSource(..., root_dir=...)` reads the same files.
"""

from __future__ import annotations

import errno
import http.client
import shutil
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from .questions import STATES
from .records import layout_of
from .sums import CensusSums

#: Where the Census Bureau keeps them; folktables fetches from the same place.
CENSUS = "https://www2.census.gov/programs-surveys/acs/data/pums"

YEARS = tuple(year for year in range(2017, 2025) if year != 2020)
HORIZONS = ("1-Year", "5-Year")

#: Seconds without an answer before giving up, tries in all, and bytes read at a time.
TIMEOUT, TRIES, PIECE = 30.0, 3, 1 << 18

#: Bytes a second that a download may well reach; only for announcing how long it takes.
BYTES_PER_SECOND = 5e6

#: Zipped size of a state's file in a year, roughly, in MB: the country's 1-Year files are about
#: 600 MB for 3.2 million records. Only for announcing a download.
MB_PER_PERSON = 600 / 3_200_000

_CODES = {name: code for code, name in STATES.items()}


class DownloadError(ValueError):
    """A file could not be had; the sentence says why."""


@dataclass(frozen=True)
class CensusSurvey:
    """A survey of the cache.

    Attributes
    ----------
    root : Path
        Folder of the cache; files lie in ``root/<year>/<horizon>``.
    year : int
    horizon : str
        "1-Year" or "5-Year".
    base : str
        Where files come from.
    """

    root: Path
    year: int = 2018
    horizon: str = "1-Year"
    base: str = CENSUS

    def __post_init__(self) -> None:
        if self.year not in YEARS:
            raise ValueError(f"year must be one of {', '.join(map(str, YEARS))}, got {self.year}")
        if self.horizon not in HORIZONS:
            raise ValueError(f"horizon must be one of {', '.join(HORIZONS)}, got {self.horizon!r}")

    @property
    def folder(self) -> Path:
        """Where the files of this survey lie."""
        return self.root / str(self.year) / self.horizon

    def path(self, state: str) -> Path:
        """Person file of a state, whether it is there or not."""
        return self.folder / self.member(state)

    @staticmethod
    def member(state: str) -> str:
        """Name of a state's person file, in the zip and in the cache."""
        if state not in _CODES:
            raise ValueError(f"state {state!r} is unknown")
        return f"psam_p{_CODES[state]:02d}.csv"

    def url(self, state: str) -> str:
        """Where a state's zip is."""
        return f"{self.base}/{self.year}/{self.horizon}/csv_p{state.lower()}.zip"

    @property
    def cached(self) -> list[str]:
        """States whose files are here already."""
        return [state for state in _CODES if self.path(state).is_file()]

    def fetch(
        self,
        states: Sequence[str],
        *,
        progress: Callable[[float, str], None] | None = None,
        cancel: Event | None = None,
        timeout: float = TIMEOUT,
        tries: int = TRIES,
    ) -> list[Path]:
        """Download what is not here yet, one state after the other.

        Parameters
        ----------
        progress : callable, optional
            Told the share done and a sentence.
        cancel : Event, optional
            When set, the download ends, leaving no half file.

        Raises
        ------
        DownloadError
            With a sentence that says which state, and what went wrong.
        """
        missing = [state for state in states if not self.path(state).is_file()]
        for number, state in enumerate(missing):

            def told(share: float, state: str = state, number: int = number) -> None:
                if progress is not None:
                    progress((number + share) / len(missing), f"{state}: {share:.0%}")

            self._fetch_one(state, told, cancel, timeout, tries)
            if cancel is not None and cancel.is_set():
                break
        return [self.path(state) for state in states if self.path(state).is_file()]

    def _fetch_one(
        self,
        state: str,
        told: Callable[[float], None],
        cancel: Event | None,
        timeout: float,
        tries: int,
    ) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        # A place of its own: two people may fetch the same state at once.
        place = Path(tempfile.mkdtemp(prefix=".fetching-", dir=self.folder))
        archive, part = place / "archive.zip", place / self.member(state)
        try:
            for attempt in range(1, tries + 1):
                try:
                    if not self._download(state, archive, told, cancel, timeout):
                        return
                    break
                except DownloadError:
                    raise
                except (OSError, http.client.HTTPException) as problem:
                    if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
                        raise DownloadError(f"{state}: the disk is full") from None
                    if attempt == tries:
                        raise DownloadError(
                            f"{state}: no answer from the Census after {tries} tries ({problem})"
                        ) from None
                    time.sleep(min(2.0 ** (attempt - 1), 8.0) * min(timeout / TIMEOUT, 1.0))
            self._extract(state, archive, part)
            try:
                layout_of(part)
            except ValueError as problem:
                raise DownloadError(f"{state}: what came is no person file ({problem})") from None
            part.replace(self.path(state))
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _download(
        self,
        state: str,
        archive: Path,
        told: Callable[[float], None],
        cancel: Event | None,
        timeout: float,
    ) -> bool:
        """Read the zip to a file; False if cancelled."""
        try:
            answer = urllib.request.urlopen(self.url(state), timeout=timeout)
        except urllib.error.HTTPError as problem:
            if problem.code >= 500:
                # Busy or broken for a moment: worth another try.
                raise OSError(f"answer {problem.code}") from None
            raise DownloadError(
                f"{state}: the Census refused the file of {self.year} {self.horizon} (answer"
                f" {problem.code})"
            ) from None
        with answer, archive.open("wb") as handle:
            length = int(answer.headers.get("Content-Length") or 0)
            done = 0
            # read1 gives what is there: a trickle neither outlasts the time-out nor Stop.
            while piece := answer.read1(PIECE):
                if cancel is not None and cancel.is_set():
                    return False
                handle.write(piece)
                done += len(piece)
                if length:
                    told(min(done / length, 1.0))
        if length and done < length:
            raise OSError(f"only {done:,} of {length:,} bytes came")
        return True

    def _extract(self, state: str, archive: Path, part: Path) -> None:
        """Take the person file out of the zip, and check it on the way."""
        try:
            with zipfile.ZipFile(archive) as content:
                if self.member(state) not in content.namelist():
                    raise DownloadError(f"{state}: the zip holds no {self.member(state)}")
                with content.open(self.member(state)) as source, part.open("wb") as target:
                    while piece := source.read(PIECE):
                        target.write(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as problem:
            raise DownloadError(
                f"{state}: what came is not a whole zip file ({problem}); nothing was kept"
            ) from None


def megabytes(states: Sequence[str], horizon: str, known: CensusSums) -> float:
    """Zipped size of some states' files, roughly, in MB: by the people that are ``known`` of each.

    One in three of a file's people counts in a study; a state that is not known is taken to be of
    middling size.
    """
    people = sum(
        float(known.n[known.index(state)].sum()) * 3 if state in known.states else 150_000
        for state in states
    )
    return people * MB_PER_PERSON * (5 if horizon == "5-Year" else 1)
