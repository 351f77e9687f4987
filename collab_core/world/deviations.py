"""How agents differ: deviations of their own relations from the one that all share.

Agent i's labels follow ``theta_i = theta + delta_i``. The deviations are drawn independently,
``delta_ij ~ N(0, D_ij)``; what can be chosen by name is the table ``D``, (m, d), of their
variances. Such a choice is a class, registered in `SPREADS`.

Sizes are in standard deviations of the label, as those of a shift (`collab_core.disturbed`): with
size r the predictions of an agent's own relation and of the shared one are r standard deviations of
the label apart in root mean square, ``E delta' Sigma delta = r^2 Var(y)``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from .._base.checks import Array, whole
from .fields import MOST_AGENTS, MOST_FEATURES, WORLD, Field, WorldPart, WorldParts


class Spread(WorldPart):
    """A way in which agents differ that can be chosen by name."""

    @abstractmethod
    def shares(self, d: int, m: int, rng: np.random.Generator) -> Array:
        """How much of an agent's deviation each feature carries, shape (m, d).

        Rows sum to 1 for agents that deviate, and are 0 for those that follow the shared relation.
        """

    @property
    def size(self) -> float:
        """Of a deviation, in standard deviations of the label."""
        return 0.0

    def variances(
        self, covariance: Array, label_variance: float, m: int, rng: np.random.Generator
    ) -> Array:
        """``D_ij = r^2 Var(y) share_ij / Sigma_jj``, shape (m, d)."""
        shares = self.shares(len(covariance), m, rng)
        return self.size**2 * label_variance * shares / np.diagonal(covariance)


def draw(variances: Array, rng: np.random.Generator) -> Array:
    """Independent normal deviations of these variances, shape (m, d)."""
    return np.sqrt(variances) * rng.standard_normal(variances.shape)


SPREADS: WorldParts[Spread] = WorldParts("differ", WORLD)

SPREAD = Field(
    "spread", "number", "How much they differ",
    "In standard deviations of the label, 0 to 5; 0 is not at all.",
    low=0.0, high=5.0, default=0.2,
    scale=(0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0),
)  # fmt: skip
OWN_FEATURES = Field(
    "own_features", "whole", "Coefficients that differ", "The others are shared by all.",
    low=1, high=MOST_FEATURES, default=3, limited_by="d",
)  # fmt: skip
FEW = Field(
    "few", "whole", "Agents that differ", "The others share one relation.",
    low=0, high=MOST_AGENTS, default=2, limited_by="m",
)  # fmt: skip


@SPREADS.register
@dataclass(frozen=True)
class Alike(Spread):
    """One relation for all, as the paper has it."""

    key = "none"
    label = "Not at all (the paper's)"
    help = "One relation for all agents."

    def shares(self, d: int, m: int, rng: np.random.Generator) -> Array:
        """Nobody deviates."""
        return np.zeros((m, d))


@dataclass(frozen=True)
class _Differing(Spread):
    """Worlds in which somebody deviates."""

    spread: float = SPREAD.parameter()

    def __post_init__(self) -> None:
        if not 0 <= self.spread < np.inf:
            raise ValueError(f"spread must be at least 0, got {self.spread:g}")

    @property
    def size(self) -> float:
        return self.spread


@SPREADS.register
@dataclass(frozen=True)
class Common(_Differing):
    """Every agent, in every coefficient alike."""

    key = "common"
    label = "In every coefficient"
    help = "Every agent has a relation of its own around the shared one."

    def shares(self, d: int, m: int, rng: np.random.Generator) -> Array:
        """Even shares."""
        return np.full((m, d), 1 / d)


@SPREADS.register
@dataclass(frozen=True)
class PerFeature(_Differing):
    """Every agent, in some coefficients only."""

    key = "per_feature"
    label = "In some coefficients"
    help = "A few coefficients are every agent's own, the others are shared."

    own_features: int = OWN_FEATURES.parameter()

    def shares(self, d: int, m: int, rng: np.random.Generator) -> Array:
        """Even shares on random features."""
        count = whole("own_features", self.own_features, low=1, high=d)
        shares = np.zeros((m, d))
        shares[:, rng.permutation(d)[:count]] = 1 / count
        return shares


@SPREADS.register
@dataclass(frozen=True)
class Few(_Differing):
    """A few agents that do not belong."""

    key = "few"
    label = "A few agents"
    help = "A few agents follow relations of their own, the others share one."

    few: int = FEW.parameter()

    def shares(self, d: int, m: int, rng: np.random.Generator) -> Array:
        """Even shares for random agents."""
        count = whole("few", self.few, low=0, high=m)
        shares = np.zeros((m, d))
        shares[rng.permutation(m)[:count]] = 1 / d
        return shares
