"""Timing two ways of doing the same work, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Best of several runs: what the work costs when the machine is left alone."""
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def duel(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int = 5
) -> tuple[float, float]:
    """Time two ways in turn, so that a busy neighbour slows both alike."""
    ours()
    theirs()
    best_ours = best_theirs = float("inf")
    for _ in range(repeats):
        best_ours = min(best_ours, seconds_once(ours))
        best_theirs = min(best_theirs, seconds_once(theirs))
    return best_ours, best_theirs


def seconds_once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table(title: str, headers: list[str], rows: list[list[str]]) -> None:
    """Print rows in aligned columns."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    print(f"\n{title}")
    for row in (headers, ["-" * width for width in widths], *rows):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))


def milliseconds(value: float) -> str:
    return f"{1e3 * value:.3g} ms"
