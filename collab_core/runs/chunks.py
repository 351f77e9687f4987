"""Work in chunks: on threads or on any executor, yielded as it is done, stopped by an event.

Chunks are cut by the plan alone, so the numbers are the same bits however the work is spread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any, Protocol


class HasSubmit(Protocol):
    """Any executor: threads here, ``Client.get_executor()`` of dask.distributed on a cluster."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call."""


class Chunked(Protocol):
    """A run that is cut into chunks."""

    @property
    def chunks(self) -> int:
        """Number of chunks."""


def run_chunks(
    plan: Chunked,
    work: Callable[..., Any],
    executor: HasSubmit | None,
    cancel: Event | None,
) -> Iterator[tuple[int, Any]]:
    """Yield ``(index, result)`` of the chunks as they finish.

    ``work`` is called with the plan, the chunk's index and the event that cancels.
    """
    if executor is None and plan.chunks == 1:
        yield 0, work(plan, 0, cancel)
        return
    own = None
    if executor is None:
        own = executor = ThreadPoolExecutor(min(os.cpu_count() or 1, plan.chunks))
    # An event can be shared with threads; other executors are stopped between chunks.
    shared = cancel if isinstance(executor, ThreadPoolExecutor) else None
    pending: dict[Future[Any], int] = {}
    try:
        pending = {
            executor.submit(work, plan, index, shared): index for index in range(plan.chunks)
        }
        while pending:
            finished, _ = wait(list(pending), timeout=0.1, return_when=FIRST_COMPLETED)
            for future in finished:
                index = pending.pop(future)
                if not future.cancelled():
                    yield index, future.result()
            if cancel is not None and cancel.is_set():
                for future in [future for future in pending if future.cancel()]:
                    del pending[future]
                if shared is None:
                    return
    finally:
        for future in pending:
            future.cancel()
        if isinstance(own, Executor):
            own.shutdown(wait=True)
