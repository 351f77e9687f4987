"""Work that can be cancelled from another thread, without handing an event to every function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event


class CancelledError(Exception):
    """The work was cancelled while it ran."""


_cancel: ContextVar[Event | None] = ContextVar("cancel", default=None)


@contextmanager
def cancelled_by(event: Event | None) -> Iterator[None]:
    """Within it, solvers of this thread raise `CancelledError` soon after the event is set."""
    token = _cancel.set(event)
    try:
        yield
    finally:
        _cancel.reset(token)


def check_cancelled() -> None:
    """Raise `CancelledError` if the event of `cancelled_by` is set."""
    event = _cancel.get()
    if event is not None and event.is_set():
        raise CancelledError
