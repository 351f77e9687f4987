"""Who has how much data: sample sizes of agents relative to their average.

An allocation that can be chosen by name is a class, registered in `ALLOCATIONS`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from .._base.checks import Array, positive
from ..core.views import Views
from .fields import WORLD, Field, WorldPart, WorldParts


def spread(rank: Array, ratio: float) -> Array:
    """Shares with mean 1 that grow geometrically with a rank.

    Parameters
    ----------
    rank : array, shape (m,)
        Of each agent; equal ranks have equal shares.
    ratio : float
        Largest over smallest.
    """
    span = np.ptp(rank)
    place = (rank - rank.min()) / span if span else np.zeros(rank.size)
    sizes = ratio**place
    return np.asarray(sizes / sizes.mean())


class Allocation(WorldPart):
    """A way to give agents samples that can be chosen by name."""

    @abstractmethod
    def shares(self, views: Views, rng: np.random.Generator) -> Array:
        """Sample sizes relative to their mean, by what the agents see, shape (m,)."""


ALLOCATIONS: WorldParts[Allocation] = WorldParts("allocation", WORLD)

RATIO = Field(
    "ratio", "number", "Most over least", "Largest n_i over smallest, 1 to 100.",
    low=1, high=100, default=10.0, scale=(1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
)  # fmt: skip


@ALLOCATIONS.register
@dataclass(frozen=True)
class Equal(Allocation):
    """Every agent has n samples."""

    key = "equal"
    label = "The same for all"
    help = "Every agent has n samples."

    def shares(self, views: Views, rng: np.random.Generator) -> Array:
        """Ones."""
        return np.ones(len(views))


@dataclass(frozen=True)
class _Unequal(Allocation):
    """Allocations in which the largest is so many times the smallest."""

    ratio: float = RATIO.parameter()

    def __post_init__(self) -> None:
        if not 1 <= positive("ratio", self.ratio) <= 1e6:
            raise ValueError(f"ratio must be from 1 to 1e6, got {self.ratio:g}")


@ALLOCATIONS.register
@dataclass(frozen=True)
class Rising(_Unequal):
    """More from agent to agent."""

    key = "rising"
    label = "More from agent to agent"
    help = "The last agent has the most samples."

    def shares(self, views: Views, rng: np.random.Generator) -> Array:
        """By the agent's number."""
        return spread(np.arange(len(views), dtype=float), self.ratio)


@ALLOCATIONS.register
@dataclass(frozen=True)
class Wide(_Unequal):
    """More for agents who see more."""

    key = "wide"
    label = "More for those who see more"
    help = "Who sees the most features has the most samples."

    def shares(self, views: Views, rng: np.random.Generator) -> Array:
        """By the size of the view."""
        return spread(np.array([view.size for view in views], dtype=float), self.ratio)


@ALLOCATIONS.register
@dataclass(frozen=True)
class Narrow(_Unequal):
    """More for agents who see less."""

    key = "narrow"
    label = "More for those who see less"
    help = "Who sees the fewest features has the most samples."

    def shares(self, views: Views, rng: np.random.Generator) -> Array:
        """By the size of the view, the other way round."""
        return spread(-np.array([view.size for view in views], dtype=float), self.ratio)
