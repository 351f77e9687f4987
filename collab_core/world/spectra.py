"""Spectra: from a few numbers to a feature covariance.

Functions that need a basis take a ``rng`` and draw a uniformly random orthogonal one; without a
``rng`` the covariance is diagonal, in the order of its eigenvalues. A spectrum that can be chosen
by name is a class, registered in `SPECTRA`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import (
    Array,
    covariance_matrix,
    finite_array,
    fraction,
    positive,
    vector,
    whole,
)
from ..core.sigma import nearest_positive_definite
from .fields import LARGEST, MOST_FEATURES, SMALLEST, WORLD, Field, WorldPart, WorldParts

#: Largest over smallest eigenvalue of a covariance that people type in: beyond, rounding rules.
WORST_CONDITION = 1e7


def random_rotation(d: int, rng: np.random.Generator) -> Array:
    """Draw a uniformly random orthogonal matrix, shape (d, d)."""
    q, r = np.linalg.qr(rng.standard_normal((whole("d", d, low=1), d)))
    # QR alone is not uniform: its signs are a convention. Fix them by the diagonal of R.
    return q * np.sign(np.diagonal(r))


def from_eigenvalues(eigenvalues: ArrayLike, rng: np.random.Generator | None = None) -> Array:
    """Covariance with the given eigenvalues, in a random basis or (without ``rng``) diagonal."""
    values = finite_array("eigenvalues", eigenvalues, ndim=1)
    if values.size == 0:
        raise ValueError("eigenvalues must hold at least one number, got none")
    if (values <= 0).any():
        raise ValueError(f"eigenvalues must be above 0, got {values.min():g}")
    if rng is None:
        return np.diag(values)
    basis = random_rotation(values.size, rng)
    result = (basis * values) @ basis.T
    return (result + result.T) / 2


def isotropic(d: int, scale: float = 1.0) -> Array:
    """Uncorrelated features of equal variance ``scale``."""
    return positive("scale", scale) * np.eye(whole("d", d, low=1))


def spiked(d: int, rng: np.random.Generator, spikes: int = 3, factor: float = 10.0) -> Array:
    """Eigenvalues uniform on [0, 1], ``spikes`` of them multiplied by ``factor``, random basis.

    The paper's synthetic covariance (d = 30, 3 spikes, factor 10).
    """
    d = whole("d", d, low=1)
    spikes = whole("spikes", spikes, low=0, high=d)
    values = rng.uniform(size=d)
    values[rng.permutation(d)[:spikes]] *= positive("factor", factor)
    return from_eigenvalues(values, rng)


def geometric(d: int, condition: float, rng: np.random.Generator | None = None) -> Array:
    """Eigenvalues falling geometrically from 1 to ``1 / condition``."""
    d = whole("d", d, low=1)
    condition = positive("condition", condition)
    if condition < 1:
        raise ValueError(f"condition must be at least 1, got {condition:g}")
    return from_eigenvalues(np.geomspace(1, 1 / condition, d), rng)


def power_law(d: int, exponent: float, rng: np.random.Generator | None = None) -> Array:
    """Eigenvalues ``1 / j ** exponent`` for j = 1..d."""
    exponent = finite_array("exponent", exponent, ndim=0).item()
    return from_eigenvalues(np.arange(1.0, whole("d", d, low=1) + 1) ** -exponent, rng)


def ar1(d: int, correlation: float) -> Array:
    """Unit variances, correlation ``correlation ** |j - k|``: features along a line or in time."""
    correlation = finite_array("correlation", correlation, ndim=0).item()
    if not -1 < correlation < 1:
        raise ValueError(f"correlation must be in (-1, 1), got {correlation:g}")
    index = np.arange(whole("d", d, low=1))
    return correlation ** np.abs(index[:, None] - index)


def equicorrelated(d: int, correlation: float) -> Array:
    """Unit variances, every pair of features correlated equally."""
    d = whole("d", d, low=1)
    correlation = finite_array("correlation", correlation, ndim=0).item()
    lowest = -1 / (d - 1) if d > 1 else -1.0
    if not lowest < correlation < 1:
        raise ValueError(
            f"correlation must be in ({lowest:.4g}, 1) for {d} features, got {correlation:g}"
        )
    return np.full((d, d), correlation) + (1 - correlation) * np.eye(d)


def factor_model(d: int, factors: int, share: float, rng: np.random.Generator) -> Array:
    """Unit variances; ``share`` of each feature's variance comes from ``factors`` common causes."""
    d = whole("d", d, low=1)
    factors = whole("factors", factors, low=1, high=d)
    share = fraction("share", share)
    loadings = rng.standard_normal((d, factors))
    loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
    return share * loadings @ loadings.T + (1 - share) * np.eye(d)


def block(d: int, groups: int, within: float, between: float = 0.0) -> Array:
    """Unit variances; ``groups`` of features correlated ``within``, and ``between`` each other."""
    d = whole("d", d, low=1)
    groups = whole("groups", groups, low=1, high=d)
    group = np.arange(d) * groups // d
    within = finite_array("within", within, ndim=0).item()
    between = finite_array("between", between, ndim=0).item()
    matrix = np.where(group[:, None] == group, within, between)
    np.fill_diagonal(matrix, 1.0)
    return covariance_matrix(matrix, name=f"block(within={within:g}, between={between:g})")


def condition_number(covariance: ArrayLike) -> float:
    """Ratio of the largest to the smallest eigenvalue: the corollary's kappa."""
    eigenvalues = np.linalg.eigvalsh(covariance_matrix(covariance))
    return float(eigenvalues[-1] / eigenvalues[0])


# Spectra by name ---------------------------------------------------------------------------------


class Spectrum(WorldPart):
    """A way to make a covariance that can be chosen by name."""

    @abstractmethod
    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """Feature covariance, shape (d, d)."""


SPECTRA: WorldParts[Spectrum] = WorldParts("spectrum", WORLD)

SPIKES = Field(
    "spikes", "whole", "Spikes", "Eigenvalues that are multiplied.",
    low=0, high=MOST_FEATURES, default=3, limited_by="d",
)  # fmt: skip
SPIKE_FACTOR = Field(
    "spike_factor", "number", "Spike factor", "By what.", low=1, high=1000, default=10.0,
    scale=(1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0),
)  # fmt: skip
CONDITION = Field(
    "condition", "number", "Condition number", "Largest over smallest.",
    low=1, high=1e6, default=10.0,
    scale=(*(10.0**e * k for e in range(6) for k in (1, 2, 5)), 1e6),
)  # fmt: skip
EXPONENT = Field(
    "exponent", "number", "Exponent", "Eigenvalue j is 1 / j^exponent.",
    low=0, high=4, default=1.0, step=0.1,
)  # fmt: skip
CORRELATION = Field(
    "correlation", "number", "Correlation", "0 to 0.99.", low=0, high=0.99, default=0.5, step=0.01
)
GROUPS = Field(
    "groups", "whole", "Groups", "Groups or common causes.",
    low=1, high=MOST_FEATURES, default=3, limited_by="d",
)  # fmt: skip
EIGENVALUES = Field(
    "eigenvalues", "numbers", "Eigenvalues", "Above 0, one a feature.",
    low=SMALLEST, high=LARGEST, default=(), decides="d",
)  # fmt: skip
MATRIX = Field(
    "matrix", "matrix", "Covariance matrix", "Symmetric, positive definite, up to 20 rows.",
    default=(), decides="d",
)  # fmt: skip


@SPECTRA.register
@dataclass(frozen=True)
class Spiked(Spectrum):
    """The paper's: eigenvalues uniform on [0, 1], a few multiplied, in a random basis."""

    key = "spiked"
    label = "Spiked (the paper's)"
    help = "A few directions vary much more than the others."

    spikes: int = SPIKES.parameter()
    spike_factor: float = SPIKE_FACTOR.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `spiked`."""
        return spiked(d, rng, self.spikes, self.spike_factor)


@SPECTRA.register
@dataclass(frozen=True)
class Isotropic(Spectrum):
    """Uncorrelated features of variance 1."""

    key = "isotropic"
    label = "Isotropic"
    help = "Features do not vary together."

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `isotropic`."""
        return isotropic(d)


@SPECTRA.register
@dataclass(frozen=True)
class Geometric(Spectrum):
    """Eigenvalues falling geometrically, in a random basis."""

    key = "geometric"
    label = "Geometric decay"
    help = "Each eigenvalue is the same part of the one before."

    condition: float = CONDITION.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `geometric`."""
        return geometric(d, self.condition, rng)


@SPECTRA.register
@dataclass(frozen=True)
class PowerLaw(Spectrum):
    """Eigenvalues falling by a power, in a random basis."""

    key = "power_law"
    label = "Power law"
    help = "Eigenvalues fall fast at first, then slowly."

    exponent: float = EXPONENT.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `power_law`."""
        return power_law(d, self.exponent, rng)


@SPECTRA.register
@dataclass(frozen=True)
class Ar1(Spectrum):
    """Features along a line or in time."""

    key = "ar1"
    label = "Neighbours alike (AR 1)"
    help = "Correlation falls with the distance between features."

    correlation: float = CORRELATION.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `ar1`."""
        return ar1(d, self.correlation)


@SPECTRA.register
@dataclass(frozen=True)
class Equicorrelated(Spectrum):
    """Every pair of features correlated equally."""

    key = "equicorrelated"
    label = "All alike (equicorrelated)"
    help = "Every pair of features has the same correlation."

    correlation: float = CORRELATION.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `equicorrelated`."""
        return equicorrelated(d, self.correlation)


@SPECTRA.register
@dataclass(frozen=True)
class Factor(Spectrum):
    """A share of every feature's variance comes from common causes."""

    key = "factor"
    label = "Common causes (factors)"
    help = "A few hidden causes move all features."

    groups: int = GROUPS.parameter()
    correlation: float = CORRELATION.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `factor_model`."""
        return factor_model(d, self.groups, self.correlation, rng)


@SPECTRA.register
@dataclass(frozen=True)
class Block(Spectrum):
    """Groups of features that are correlated among themselves only."""

    key = "block"
    label = "Groups (blocks)"
    help = "Features are correlated within their group, and not between groups."

    groups: int = GROUPS.parameter()
    correlation: float = CORRELATION.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `block`."""
        return block(d, self.groups, self.correlation)


@SPECTRA.register
@dataclass(frozen=True)
class Eigenvalues(Spectrum):
    """One's own eigenvalues, in a random basis."""

    key = "eigenvalues"
    label = "My eigenvalues"
    help = "Typed in, one a feature; their directions are random."

    eigenvalues: tuple[float, ...] = EIGENVALUES.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """As `from_eigenvalues`."""
        return from_eigenvalues(vector("eigenvalues", self.eigenvalues, d), rng)

    @classmethod
    def mend(cls, values: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
        """Ones where there are none, and none so small that rounding rules."""
        own, d = values["eigenvalues"], values["d"]
        if len(own) != d:
            return {"eigenvalues": ((1.0,) * d, "none were given, so all are 1")}
        floor = max(own) / WORST_CONDITION
        if min(own) >= floor:
            return {}
        said = f"at most {WORST_CONDITION:g} apart, so the least are raised"
        return {"eigenvalues": (tuple(max(value, floor) for value in own), said)}


@SPECTRA.register
@dataclass(frozen=True)
class Matrix(Spectrum):
    """One's own covariance matrix."""

    key = "matrix"
    label = "My matrix"
    help = "Typed in, a row a line."

    matrix: tuple[tuple[float, ...], ...] = MATRIX.parameter()

    def covariance(self, d: int, rng: np.random.Generator) -> Array:
        """The matrix, checked."""
        own = finite_array("matrix", self.matrix, ndim=2)
        if own.shape != (d, d):
            raise ValueError(f"matrix must have shape ({d}, {d}), got {own.shape}")
        return covariance_matrix(own, name="matrix")

    @classmethod
    def mend(cls, values: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
        """A legal covariance near what was typed: the identity if it is not even square."""
        rows, d = values["matrix"], values["d"]
        if len(rows) != d or any(len(row) != d for row in rows):
            said = "not a square of numbers, so the identity is used" if rows else ""
            return {"matrix": (_rows(np.eye(d)), said)}
        matrix, said = _nearest_covariance(np.array(rows))
        return {"matrix": (_rows(matrix), said)}


def _nearest_covariance(matrix: Array) -> tuple[Array, str]:
    """A symmetric, safely positive definite matrix near a square one, and what was changed."""
    symmetric: Array = (matrix + matrix.T) / 2
    said = "" if np.allclose(matrix, symmetric) else "not symmetric, so its symmetric part is used"
    try:
        covariance_matrix(symmetric)
        unit = 1 / np.sqrt(np.diagonal(symmetric))
        if np.linalg.cond(symmetric * np.outer(unit, unit)) > WORST_CONDITION:
            raise ValueError("nearly singular")
    except ValueError:
        diagonal = np.maximum(np.abs(np.diagonal(symmetric)), 1e-6)
        np.fill_diagonal(symmetric, diagonal)
        symmetric, _ = nearest_positive_definite(symmetric, floor=1e-3)
        said = "not (safely) positive definite, so the nearest that is one is used"
    return symmetric, said


def _rows(matrix: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())
