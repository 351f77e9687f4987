"""One BLAS thread while chunks run.

Chunks already fill the cores, and a product split over threads may add up in another order: with
one thread the same chunk gives the same bits in every process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import scipy.linalg  # noqa: F401  SciPy's own BLAS must be loaded before the controller looks
from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside = 0
_limit: Any = None


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread for as long as anybody is inside."""
    # The limit is the whole process's, so the first in sets it and the last out lifts it.
    global _inside, _limit
    with _lock:
        _inside += 1
        if _inside == 1:
            _limit = _controller().limit(limits=1, user_api="blas")
            _limit.__enter__()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.__exit__(None, None, None)
                _limit = None
