"""Everything a person can pick of a world, in the order of the sidebar and of links.

A group of the sidebar is what belongs to one registry: its choice, the parameters of its classes,
and a few numbers of the world beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from .allocations import ALLOCATIONS
from .coefficients import RULES
from .deviations import SPREADS
from .fields import MOST_AGENTS, MOST_FEATURES, MOST_SAMPLES, WORLD, Field, WorldParts
from .spectra import SPECTRA
from .views import PATTERNS

SPECTRUM = WORLD.own(
    Field("spectrum", "choice", "Spectrum", "How features vary together.",
          default="spiked", registry=SPECTRA)
)  # fmt: skip
MISSING = WORLD.own(
    Field("missing", "choice", "Missingness", "Who sees what.",
          default="subsets", registry=PATTERNS)
)  # fmt: skip
ALLOCATION = WORLD.own(
    Field("allocation", "choice", "Who has how much data", "Around n.",
          default="equal", registry=ALLOCATIONS)
)  # fmt: skip
THETA = WORLD.own(
    Field("theta", "choice", "Coefficients theta", "The truth.", default="normal", registry=RULES)
)
DIFFER = WORLD.own(
    Field("differ", "choice", "How agents differ", "Relations of their own.",
          default="none", registry=SPREADS, quiet=True)
)  # fmt: skip

D = WORLD.own(
    Field("d", "whole", "Features d", f"1 to {MOST_FEATURES}.",
          low=1, high=MOST_FEATURES, default=30)
)  # fmt: skip
M = WORLD.own(
    Field("m", "whole", "Agents m", f"1 to {MOST_AGENTS}.", low=1, high=MOST_AGENTS, default=30)
)
N = WORLD.own(
    Field("n", "whole", "Samples per agent n", "Labelled. Up to ten million.",
          low=1, high=MOST_SAMPLES, default=100,
          scale=(*(10**e * k for e in range(7) for k in (1, 2, 5)), 10**7))
)  # fmt: skip
SIGMA = WORLD.own(
    Field("sigma", "number", "Noise sigma", "Standard deviation, 0.01 to 100.",
          low=0.01, high=100, default=1.0,
          scale=(*(round(10.0**e * k, 2) for e in (-2, -1, 0, 1) for k in (1, 2, 5)), 100.0))
)  # fmt: skip
SEED = WORLD.own(
    Field("seed", "whole", "Seed", "Of everything drawn.", low=0, high=2**31 - 1, default=0)
)

#: Numbers that every world has: written first.
NUMBERS = (D, M, N, SIGMA, SEED)


@dataclass(frozen=True)
class Group:
    """Fields that belong together.

    Attributes
    ----------
    title : str
        For people.
    registry : WorldParts
        What is chosen in it.
    picker : Field
        The choice.
    before, after : tuple of Field
        Fields of the world, before and after the parameters of the registered classes.
    """

    title: str
    registry: WorldParts[Any]
    picker: Field
    before: tuple[Field, ...]
    after: tuple[Field, ...] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        """All its fields, in order."""
        return (*self.before, *self.registry.fields(), *self.after)


GROUPS = (
    Group("Features", SPECTRA, SPECTRUM, (SPECTRUM, D)),
    Group("Agents", PATTERNS, MISSING, (MISSING, M)),
    Group("Data", ALLOCATIONS, ALLOCATION, (N, ALLOCATION), (SIGMA,)),
    Group("Truth", RULES, THETA, (THETA,)),
    Group("Agents that differ", SPREADS, DIFFER, (DIFFER,)),
)


def fields() -> Mapping[str, Field]:
    """All fields by name, those of classes registered by now included."""
    return _fields(tuple(tuple(group.registry) for group in GROUPS))


@lru_cache(maxsize=8)
def _fields(registered: tuple[tuple[type, ...], ...]) -> Mapping[str, Field]:
    """What `fields` says while these classes are registered: it is asked for very often."""
    listed = [field for group in GROUPS for field in group.fields]
    return MappingProxyType({field.name: field for field in [*listed, SEED]})
