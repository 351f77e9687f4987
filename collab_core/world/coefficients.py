"""True coefficients: kinds of theta.

A rule that can be chosen by name is a class, registered in `RULES`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, covariance_matrix, finite_array, vector, whole
from .fields import MOST_FEATURES, WORLD, Field, WorldPart, WorldParts


def standard_normal(d: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
    """Independent normal coefficients of standard deviation ``scale``, shape (d,)."""
    scale = finite_array("scale", scale, ndim=0).item()
    return scale * rng.standard_normal(whole("d", d, low=1))


def unit(d: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
    """Uniformly random direction of length ``scale``, shape (d,)."""
    direction = standard_normal(d, rng)
    return scale * direction / np.linalg.norm(direction)


def sparse(d: int, nonzero: int, rng: np.random.Generator, scale: float = 1.0) -> Array:
    """Normal coefficients on ``nonzero`` random features and 0 elsewhere, shape (d,)."""
    nonzero = whole("nonzero", nonzero, low=0, high=whole("d", d, low=1))
    theta = np.zeros(d)
    theta[rng.permutation(d)[:nonzero]] = standard_normal(max(nonzero, 1), rng, scale)[:nonzero]
    return theta


def principal(covariance: ArrayLike, which: str, scale: float = 1.0) -> Array:
    """Eigenvector of the covariance of length ``scale``: ``"strongest"`` or ``"weakest"``."""
    choice("which", which, ("strongest", "weakest"))
    _, vectors = np.linalg.eigh(covariance_matrix(covariance))
    direction = vectors[:, -1 if which == "strongest" else 0]
    # An eigenvector's sign is arbitrary; fix it so that machines agree.
    return scale * direction * np.sign(direction[np.argmax(np.abs(direction))])


# Rules by name -----------------------------------------------------------------------------------


class Rule(WorldPart):
    """A rule for the true coefficients that can be chosen by name."""

    @abstractmethod
    def theta(self, covariance: Array, rng: np.random.Generator) -> Array:
        """True coefficients in a world of this covariance, shape (d,)."""


RULES: WorldParts[Rule] = WorldParts("theta", WORLD)

THETA_SCALE = Field(
    "theta_scale", "number", "Size of theta", "Length or spread.", low=0.0, high=100, default=1.0,
    scale=(0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
)  # fmt: skip
NONZERO = Field(
    "nonzero", "whole", "Nonzero coefficients",
    low=0, high=MOST_FEATURES, default=5, limited_by="d",
)  # fmt: skip
VALUES = Field("values", "numbers", "Coefficients", "One a feature.", default=())


@RULES.register
@dataclass(frozen=True)
class Normal(Rule):
    """Independent normal coefficients."""

    key = "normal"
    label = "Standard normal"
    help = "Every coefficient drawn by itself."

    theta_scale: float = THETA_SCALE.parameter()

    def theta(self, covariance: Array, rng: np.random.Generator) -> Array:
        """As `standard_normal`."""
        return standard_normal(len(covariance), rng, self.theta_scale)


@RULES.register
@dataclass(frozen=True)
class Unit(Rule):
    """A uniformly random direction."""

    key = "unit"
    label = "Unit length, random direction"
    help = "Any direction is as likely as any other."

    theta_scale: float = THETA_SCALE.parameter()

    def theta(self, covariance: Array, rng: np.random.Generator) -> Array:
        """As `unit`."""
        return unit(len(covariance), rng, self.theta_scale)


@RULES.register
@dataclass(frozen=True)
class Sparse(Rule):
    """Normal coefficients on a few features, 0 elsewhere."""

    key = "sparse"
    label = "Sparse"
    help = "Only a few features matter."

    theta_scale: float = THETA_SCALE.parameter()
    nonzero: int = NONZERO.parameter()

    def theta(self, covariance: Array, rng: np.random.Generator) -> Array:
        """As `sparse`."""
        return sparse(len(covariance), self.nonzero, rng, self.theta_scale)


@RULES.register
@dataclass(frozen=True)
class Strongest(Rule):
    """Along the direction in which features vary most."""

    key = "strongest"
    label = "Along the strongest direction"
    help = "What matters is what varies most."

    theta_scale: float = THETA_SCALE.parameter()

    def theta(self, covariance: Array, rng: np.random.Generator) -> Array:
        """As `principal`."""
        return principal(covariance, "strongest", self.theta_scale)


@RULES.register
@dataclass(frozen=True)
class Weakest(Rule):
    """Along the direction in which features vary least."""

    key = "weakest"
    label = "Along the weakest direction"
    help = "What matters is what varies least."

    theta_scale: float = THETA_SCALE.parameter()

    def theta(self, covariance: Array, rng: np.random.Generator) -> Array:
        """As `principal`."""
        return principal(covariance, "weakest", self.theta_scale)


@RULES.register
@dataclass(frozen=True)
class Values(Rule):
    """One's own coefficients."""

    key = "values"
    label = "My numbers"
    help = "Typed in, one a feature."

    values: tuple[float, ...] = VALUES.parameter()

    def theta(self, covariance: Array, rng: np.random.Generator) -> Array:
        """The numbers, checked."""
        return vector("values", self.values, len(covariance))

    @classmethod
    def mend(cls, values: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
        """As many as there are features: cut, or filled up with zeros."""
        own, d = tuple(values["values"]), values["d"]
        if len(own) == d:
            return {}
        missing = max(d - len(own), 0)
        said = f"{d} are needed, so {missing} zeros were added"
        if not missing:
            said = f"only the first {d} are used"
        return {"values": (own[:d] + (0.0,) * missing, said)}
