"""Who sees what: patterns of structured missingness.

Functions return a tuple of views, one per agent (see `collab_core.core.views`). A pattern that can
be chosen by name is a class, registered in `PATTERNS`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import Indices, fraction, whole
from ..core.views import Views, ViewsLike, as_mask, as_views, require_seen, unseen_features
from .fields import MOST_AGENTS, MOST_FEATURES, WORLD, Field, WorldPart, WorldParts

__all__ = [
    "PATTERNS",
    "Blocks",
    "Hub",
    "Independent",
    "Mask",
    "Pattern",
    "Subsets",
    "Tiers",
    "Views",
    "ViewsLike",
    "as_mask",
    "as_views",
    "blocks",
    "hub",
    "independent",
    "random_subsets",
    "require_seen",
    "rows_of_mask",
    "tiers",
    "unseen_features",
]


def random_subsets(d: int, sizes: Sequence[int], rng: np.random.Generator) -> Views:
    """Give agent i a uniformly random set of ``sizes[i]`` features (the paper's synthetic set-up).

    The paper's own: ``random_subsets(30, [20] * 10 + [15] * 20, rng)``.
    """
    d = whole("d", d, low=1)
    sizes = [whole(f"sizes[{i}]", size, low=0, high=d) for i, size in enumerate(sizes)]
    return tuple(np.sort(rng.permutation(d)[:size]) for size in sizes)


def independent(m: int, d: int, p: float, rng: np.random.Generator) -> Views:
    """Make every feature of every agent missing independently with probability ``p``.

    The missingness of Corollary 4.4. Agents may see nothing, and features may be seen by nobody.
    """
    m, d = whole("m", m, low=1), whole("d", d, low=1)
    return as_views(rng.random((m, d)) >= fraction("p", p, closed=True), d)


def tiers(d: int, agents: Sequence[int], sizes: Sequence[int]) -> Views:
    """Nested tiers of sensors: tier t has ``agents[t]`` agents that see the first ``sizes[t]``."""
    d = whole("d", d, low=1)
    if len(agents) != len(sizes):
        raise ValueError(f"agents and sizes must be of one length, got {len(agents)}, {len(sizes)}")
    views: list[Indices] = []
    for t, (count, size) in enumerate(zip(agents, sizes, strict=True)):
        size = whole(f"sizes[{t}]", size, low=0, high=d)
        views += [np.arange(size)] * whole(f"agents[{t}]", count, low=0)
    return as_views(views, d)


def blocks(m: int, d: int, width: int) -> Views:
    """Overlapping blocks: agent i sees ``width`` neighbouring features, starts spread evenly.

    Features are thought of as a circle. Neighbours overlap when ``width > d / m``, and every
    feature is seen when ``width >= d / m``.
    """
    m, d = whole("m", m, low=1), whole("d", d, low=1)
    width = whole("width", width, low=1, high=d)
    starts = (np.arange(m) * d) // m
    return tuple(np.sort((start + np.arange(width)) % d) for start in starts)


def hub(m: int, d: int, few: int, rng: np.random.Generator) -> Views:
    """One agent that sees everything, and ``m - 1`` that see ``few`` random features each."""
    m, d = whole("m", m, low=1), whole("d", d, low=1)
    few = whole("few", few, low=0, high=d)
    return (np.arange(d), *random_subsets(d, [few] * (m - 1), rng))


def rows_of_mask(mask: NDArray[np.bool_]) -> tuple[str, ...]:
    """Write a mask of shape (m, d) as a row of 0s and 1s per agent."""
    return tuple("".join("1" if seen else "0" for seen in row) for row in mask)


# Patterns by name --------------------------------------------------------------------------------


class Pattern(WorldPart):
    """A pattern of missing features that can be chosen by name."""

    @abstractmethod
    def views(self, m: int, d: int, rng: np.random.Generator) -> Views:
        """What each of m agents sees of d features."""


PATTERNS: WorldParts[Pattern] = WorldParts("missing", WORLD)

RICH = Field(
    "rich", "whole", "Rich agents", "How many see more than the others.",
    low=0, high=MOST_AGENTS, default=10, limited_by="m",
)  # fmt: skip
RICH_SIZE = Field(
    "rich_size", "whole", "Features of the rich",
    low=0, high=MOST_FEATURES, default=20, limited_by="d",
)  # fmt: skip
SIZE = Field(
    "size", "whole", "Features of the others",
    low=0, high=MOST_FEATURES, default=15, limited_by="d",
)  # fmt: skip
P = Field(
    "p", "number", "Missing with probability p", "0 to 0.95, each apart.",
    low=0, high=0.95, default=0.3, step=0.01,
)  # fmt: skip
TIERS = Field(
    "tiers", "whole", "Tiers", "Nested; the richest sees everything.",
    low=1, high=20, default=3, limited_by="m",
)  # fmt: skip
MASK = Field("mask", "mask", "Views", "A row an agent, a column a feature.", default=())


@PATTERNS.register
@dataclass(frozen=True)
class Subsets(Pattern):
    """The paper's: some agents see ``rich_size`` random features, the others ``size``."""

    key = "subsets"
    label = "Random subsets (the paper's)"
    help = "Every agent sees so many features, drawn at random."

    rich: int = RICH.parameter()
    rich_size: int = RICH_SIZE.parameter()
    size: int = SIZE.parameter()

    def views(self, m: int, d: int, rng: np.random.Generator) -> Views:
        """As `random_subsets`."""
        rich = whole("rich", self.rich, low=0, high=m)
        return random_subsets(d, [self.rich_size] * rich + [self.size] * (m - rich), rng)


@PATTERNS.register
@dataclass(frozen=True)
class Independent(Pattern):
    """Every feature of every agent is missing with probability p."""

    key = "independent"
    label = "Each with probability p"
    help = "Every feature of every agent by itself, as in Corollary 4.4."

    p: float = P.parameter()

    def views(self, m: int, d: int, rng: np.random.Generator) -> Views:
        """As `independent`."""
        return independent(m, d, self.p, rng)


@PATTERNS.register
@dataclass(frozen=True)
class Tiers(Pattern):
    """Nested tiers of nearly equal numbers of agents; the richest sees everything."""

    key = "tiers"
    label = "Nested tiers"
    help = "Each tier sees what the next one sees, and more."

    tiers: int = TIERS.parameter()

    def views(self, m: int, d: int, rng: np.random.Generator) -> Views:
        """As `tiers`, the agents split evenly and the sizes falling evenly."""
        count = whole("tiers", self.tiers, low=1, high=m)
        agents = np.bincount(np.arange(m) * count // m, minlength=count)
        sizes = [-(-d * tier // count) for tier in range(count, 0, -1)]
        return tiers(d, agents.tolist(), sizes)


@PATTERNS.register
@dataclass(frozen=True)
class Blocks(Pattern):
    """Neighbouring features, the agents spread evenly around a circle of them."""

    key = "blocks"
    label = "Overlapping blocks"
    help = "Every agent sees features that are neighbours."

    size: int = SIZE.parameter()

    def views(self, m: int, d: int, rng: np.random.Generator) -> Views:
        """As `blocks`."""
        return blocks(m, d, self.size)

    @classmethod
    def mend(cls, values: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
        """A block is not empty."""
        if values["size"] >= 1:
            return {}
        return {"size": (1, "a block has at least 1, so 1 is used")}


@PATTERNS.register
@dataclass(frozen=True)
class Hub(Pattern):
    """One agent sees everything, the others ``size`` random features each."""

    key = "hub"
    label = "One sees all, others little"
    help = "The first agent sees every feature, the others a few at random."

    size: int = SIZE.parameter()

    def views(self, m: int, d: int, rng: np.random.Generator) -> Views:
        """As `hub`."""
        return hub(m, d, self.size, rng)


@PATTERNS.register
@dataclass(frozen=True)
class Mask(Pattern):
    """A row of 0s and 1s per agent."""

    key = "mask"
    label = "Drawn by hand"
    help = "Agent by agent, feature by feature."

    mask: tuple[str, ...] = MASK.parameter()

    def views(self, m: int, d: int, rng: np.random.Generator) -> Views:
        """What the rows say."""
        if len(self.mask) != m:
            raise ValueError(f"mask must have {m} rows, one an agent, got {len(self.mask)}")
        for i, row in enumerate(self.mask):
            if len(row) != d or set(row) - {"0", "1"}:
                raise ValueError(f"mask[{i}] must be {d} characters 0 or 1, got {row!r}")
        return as_views(np.array([[letter == "1" for letter in row] for row in self.mask]), d)

    @classmethod
    def mend(cls, values: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
        """Cut rows and columns that are too many; those that are new see everything."""
        rows, m, d = values["mask"], values["m"], values["d"]
        if len(rows) == m and all(len(row) == d for row in rows):
            return {}
        kept = [row[:d].ljust(d, "1") for row in rows[:m]]
        said = f"fitted to {m} agents and {d} features, new cells seen" if rows else ""
        return {"mask": (tuple(kept + ["1" * d] * (m - len(kept))), said)}
