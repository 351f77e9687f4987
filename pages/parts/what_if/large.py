"""Worlds whose answers take longer than a blink, and so get a bar and a Stop."""

from __future__ import annotations

from pages.shared.subject import Subject

#: Numbers in all agents' covariances, from which on a world is large.
LARGE = 60_000


def is_large(asked: Subject) -> bool:
    """Whether a world is one of them."""
    return asked.problem.agents * asked.problem.dimension**2 > LARGE
