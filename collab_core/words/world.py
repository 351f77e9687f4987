"""Words about a world that several pages use."""

from __future__ import annotations

from collections.abc import Sequence

from .._base.checks import Indices

#: Said on pages whose formulas are the paper's, in a world whose agents differ.
DIFFER = (
    "**Agents follow relations of their own in this world.** Simulations judge each agent by its "
    "own. The paper's formulas assume one relation for all: bounds and covariances here leave out "
    "how far agents pull each other away from it. The page *Agents that differ* has formulas that "
    "do not."
)

#: Said where a page knows one relation only.
ONE_RELATION = (
    "**Agents follow relations of their own in this world.** This page shows it as if all followed "
    "the shared one."
)


def features(indices: Sequence[int] | Indices, most: int = 6) -> str:
    """Features by name, counted from 1: "x1, x4", or the first few "and 3 more"."""
    names = ", ".join(f"x{j + 1}" for j in indices[:most])
    return names + (f" and {len(indices) - most} more" if len(indices) > most else "")
