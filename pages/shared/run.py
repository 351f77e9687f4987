"""The run panel: long work on a thread, with progress, a live partial figure, and Stop.

What was computed is kept until the world changes; a change cancels what runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any, Generic, TypeVar

import streamlit as st

from . import state
from .say import error_box
from .script import Call, as_part

T = TypeVar("T")

#: Seconds that a page waits for a run's first report before it draws nothing in its place.
FIRST_REPORT = 0.4

#: Seconds without anybody looking after which a run ends: its tab was closed. A tab in the
#: background looks once a minute.
PATIENCE = 180.0

Report = Callable[[float, Any], None]


class Job(Generic[T]):
    """One run: started at once, cancelled by an event, reporting fraction and partial result."""

    def __init__(self, signature: object, work: Callable[[Report, Event], T]) -> None:
        self.signature = signature
        self.cancel = Event()
        self.fraction = 0.0
        self.partial: T | None = None
        self.reported = Event()
        self.seen = time.monotonic()
        self.future: Future[T] = _executor().submit(work, self._report, self.cancel)

    def _report(self, fraction: float, partial: T | None) -> None:
        self.fraction = fraction
        if partial is not None:
            self.partial = partial
        self.reported.set()
        if time.monotonic() - self.seen > PATIENCE:
            self.cancel.set()

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return not self.future.done()

    @property
    def stopped(self) -> bool:
        """Whether it ended, or is about to, before all was done."""
        return self.cancel.is_set() or (not self.running and self.future.exception() is not None)

    @property
    def result(self) -> T | None:
        """Of a run that is over: its result, or what there was of it before it failed."""
        if self.future.exception() is not None:
            return self.partial
        return self.future.result()


@st.cache_resource
def _executor() -> ThreadPoolExecutor:
    # Threads, not processes: those would run the app's script again in every child.
    return ThreadPoolExecutor(4, thread_name_prefix="collab-run")


def begin() -> None:
    """Begin a run of a page: none of its panels is drawn yet."""
    st.session_state["panels"] = set()


def cancel_others() -> None:
    """Cancel the work of panels that this page does not have: nobody looks at it any more."""
    drawn: set[str] = st.session_state.get("panels", set())
    for slot in [name for name in st.session_state if str(name).startswith("job-")]:
        job = st.session_state[slot]
        if slot not in drawn and job is not None:
            job.cancel.set()
            st.session_state[slot] = None


def of_call(
    key: str,
    call: Call[T],
    draw: Callable[[T, bool], None],
    *,
    label: str,
    help: str,
    auto: bool = False,
    below: bool = False,
) -> None:
    """Draw the panel of a planned call (see `script`): its key says when it is out of date.

    Parameters as in `panel`.
    """

    def work(report: Report, cancel: Event) -> T:
        return call(progress=report, cancel=cancel)

    panel(key, call.key, work, draw, label=label, help=help, auto=auto, below=below)


def panel(
    key: str,
    signature: object,
    work: Callable[[Report, Event], T],
    draw: Callable[[T, bool], None],
    *,
    label: str,
    help: str,
    auto: bool = False,
    below: bool = False,
) -> None:
    """Draw the panel of one kind of run.

    Parameters
    ----------
    key : str
    signature : hashable
        What the result depends on. When it changes, a run is cancelled and its result dropped.
    work : callable
        Given a report function and a cancel event; its value is the result.
    draw : callable
        Draws a result; told whether it is final.
    label, help : str
        Of the button that starts it.
    auto : bool
        Start at once, and again whenever the signature changes.
    below : bool
        Buttons and progress under what is drawn, where figures matter more than the run.
    """
    slot = f"job-{key}"
    st.session_state.setdefault("panels", set()).add(slot)
    job: Job[T] | None = st.session_state.get(slot)
    if job is not None and job.signature != signature:
        job.cancel.set()
        st.session_state[slot] = job = None
    if job is None and auto:
        st.session_state[slot] = job = Job(signature, work)
        # Its first report comes at once; figures that are there in the first answer do not blink.
        job.reported.wait(FIRST_REPORT)

    def start() -> None:
        st.session_state[slot] = Job(signature, work)

    was_running = job is not None and job.running

    # While it runs, only this fragment is drawn again, three times a second.
    @st.fragment(run_every=0.3 if was_running else None)
    def body() -> None:
        current: Job[T] | None = st.session_state.get(slot)
        # Asked once: what is drawn and what is said of it belong to the same moment.
        running = current is not None and current.running
        if current is not None and running != was_running:
            # Started or finished just now: the whole page sets the clock going, or stops it. A
            # fragment may know the URL of a run ago, so its word on it is not taken.
            state.touch()
            st.rerun()
        if current is None:
            st.button(label, key=f"start-{key}", on_click=start, help=help)
            return
        current.seen = time.monotonic()
        if not below:
            status(current, running)
        found = current.partial if running else current.result
        if found is not None:
            try:
                with as_part(running or current.stopped):
                    draw(found, not running)
            except (ValueError, ArithmeticError) as reason:
                error_box(f"This cannot be drawn: {reason}.")
        if below:
            status(current, running)

    def status(current: Job[T], running: bool) -> None:
        if running:
            with st.container(horizontal=True, vertical_alignment="center"):
                stopping = current.cancel.is_set()
                st.button("Stop", key=f"stop-{key}", on_click=current.cancel.set, disabled=stopping)
                told = "Stopping" if stopping else f"{current.fraction:.0%} done"
                st.progress(current.fraction, told)
            return
        st.button("Run again", key=f"again-{key}", on_click=start, help=help, type="tertiary")
        failure = current.future.exception()
        if isinstance(failure, ValueError):
            error_box(f"{failure}.")
        elif failure is not None:
            error_box("The run failed. Please change a setting or run it again.")
        elif current.cancel.is_set():
            st.caption(f"Stopped at {current.fraction:.0%}. What was computed is kept.")

    body()
