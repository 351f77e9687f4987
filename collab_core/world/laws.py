"""Laws of the features: Gaussian and others, all of mean 0 and unit covariance.

A draw is coloured to a covariance by its symmetric square root, ``x = Sigma^(1/2) z``.

What least squares loses or gains by a law, to leading order in 1/n, is in its fourth moments alone
(`collab_core.weights.scores_of_law`). `Law.excess` says by how much they differ from a Gaussian's,
``E[(b'z)^2 z z'] - |b|^2 I - 2 b b'``:

- independent coordinates of excess kurtosis k: ``k diag(b^2)``;
- one scale common to all coordinates, ``z = r g``: ``(E[r^4] - 1) (|b|^2 I + 2 b b')``, and every
  coordinate then has excess kurtosis ``3 (E[r^4] - 1)``;
- one direction u alone that is not Gaussian: ``k (b'u)^2 u u'``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, finite_array, fraction

LAWS = (
    "gaussian",
    "student_t",
    "uniform",
    "rademacher",
    "exponential",
    "mixture",
    "rare",
    "elliptical_t",
    "outliers",
)

#: Of a law's parameter, by law: the field it sets.
PARAMETERS = {
    "student_t": "degrees_of_freedom",
    "elliptical_t": "degrees_of_freedom",
    "mixture": "separation",
    "rare": "rate",
    "outliers": "ratio",
}

#: Share of the samples that are outliers.
OUTLIERS = 0.05

#: Samples of an empirical law that are multiplied out at a time.
_CHUNK = 20_000


class Law(Protocol):
    """A law of features with mean 0 and identity covariance."""

    @property
    def is_gaussian(self) -> bool:
        """Whether exact Gaussian draws of moments apply."""

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw samples of unit covariance; the last axis of ``shape`` is the features."""

    def excess(self, directions: ArrayLike) -> Array:
        """``E[(b'z)^2 z z'] - |b|^2 I - 2 b b'``: 0 for a Gaussian.

        Parameters
        ----------
        directions : array, shape (..., d)
            The vectors b.

        Returns
        -------
        array, shape (..., d, d)
        """


@dataclass(frozen=True)
class Tails:
    """Fourth moments without a law: how heavy tails are, and whether coordinates share them.

    Parameters
    ----------
    kind : {"independent", "common"}
        Independent coordinates, or one scale common to all of them.
    kurtosis : float
        Excess kurtosis of a coordinate: at least -2, and at least 0 with a common scale.
    """

    kind: str
    kurtosis: float

    def __post_init__(self) -> None:
        choice("kind", self.kind, ("independent", "common"))
        lowest = -2.0 if self.kind == "independent" else 0.0
        value = finite_array("kurtosis", self.kurtosis, ndim=0).item()
        if value < lowest:
            raise ValueError(f"kurtosis must be at least {lowest:g} here, got {value:g}")

    def excess(self, directions: ArrayLike) -> Array:
        """As `Law.excess`."""
        b = finite_array("directions", directions)
        eye = np.eye(b.shape[-1])
        if self.kind == "independent":
            return self.kurtosis * b[..., None] ** 2 * eye
        length = (b**2).sum(axis=-1)[..., None, None]
        return self.kurtosis / 3 * (length * eye + 2 * b[..., :, None] * b[..., None, :])


@dataclass(frozen=True)
class FeatureLaw:
    """A law of features with mean 0 and identity covariance.

    Parameters
    ----------
    name : str
        - ``"gaussian"``;
        - ``"student_t"``: independent coordinates, heavy tails;
        - ``"uniform"``: independent coordinates, light tails;
        - ``"rademacher"``: independent signs;
        - ``"exponential"``: independent coordinates, skewed, mean removed;
        - ``"mixture"``: two Gaussian clusters on either side of 0;
        - ``"rare"``: independent yes or no, yes being rare, mean removed;
        - ``"elliptical_t"``: heavy tails in all coordinates at once, by one chi-square a sample;
        - ``"outliers"``: Gaussian, but one sample in twenty is spread wider in all coordinates.
    degrees_of_freedom : float
        Of Student's t, above 4 so that fourth moments exist.
    separation : float
        Of the mixture, in [0, 1): distance of the clusters from 0 along the diagonal, 0 being
        Gaussian.
    rate : float
        Of yes in ``"rare"``, in (0, 1).
    ratio : float
        Of an outlier's standard deviation to that of the others, at least 1.
    """

    name: str = "gaussian"
    degrees_of_freedom: float = 6.0
    separation: float = 0.9
    rate: float = 0.02
    ratio: float = 4.0

    def __post_init__(self) -> None:
        choice("features", self.name, LAWS)
        freedom = finite_array("degrees_of_freedom", self.degrees_of_freedom, ndim=0).item()
        if freedom <= 4:
            raise ValueError(
                f"degrees_of_freedom must be above 4, got {freedom:g}: fourth moments must exist"
            )
        fraction("separation", self.separation)
        if fraction("rate", self.rate) == 0:
            raise ValueError("rate must be above 0, got 0")
        ratio = finite_array("ratio", self.ratio, ndim=0).item()
        if ratio < 1:
            raise ValueError(f"ratio must be at least 1, got {ratio:g}")

    @classmethod
    def of(cls, features: str | Law) -> Law:
        """Read a law from its name, with a parameter in brackets: ``"student_t(5)"``."""
        if not isinstance(features, str):
            return features
        match = re.fullmatch(rf"({'|'.join(PARAMETERS)})\(([-+.\deE]+)\)", features)
        if match is None:
            return cls(choice("features", features, LAWS))
        try:
            value = float(match[2])
        except ValueError:
            raise ValueError(f"features: {match[2]!r} in {features!r} is not a number") from None
        given = {PARAMETERS[match[1]]: value}
        return cls(match[1], **given)

    @property
    def is_gaussian(self) -> bool:
        """Whether exact Gaussian draws of moments apply."""
        return self.name == "gaussian"

    @property
    def tails(self) -> Tails | None:
        """How heavy its tails are; None for the mixture, whose tails differ by direction."""
        match self.name:
            case "student_t":
                return Tails("independent", 6 / (self.degrees_of_freedom - 4))
            case "elliptical_t":
                return Tails("common", 6 / (self.degrees_of_freedom - 4))
            case "uniform":
                return Tails("independent", -1.2)
            case "rademacher":
                return Tails("independent", -2.0)
            case "exponential":
                return Tails("independent", 6.0)
            case "rare":
                spread = self.rate * (1 - self.rate)
                return Tails("independent", 1 / spread - 6)
            case "outliers":
                plain, wide = self._outlier_variances
                return Tails("common", 3 * ((1 - OUTLIERS) * plain**2 + OUTLIERS * wide**2 - 1))
            case "mixture":
                return None
            case _:
                return Tails("independent", 0.0)

    @property
    def _outlier_variances(self) -> tuple[float, float]:
        """Of plain samples and of outliers, so that the mean is 1."""
        plain = 1 / (1 - OUTLIERS + OUTLIERS * self.ratio**2)
        return plain, plain * self.ratio**2

    def excess(self, directions: ArrayLike) -> Array:
        """As `Law.excess`, in closed form."""
        if self.tails is not None:
            return self.tails.excess(directions)
        # Along the diagonal u: a sign of size a plus a Gaussian of variance 1 - a^2.
        b = finite_array("directions", directions)
        u = np.full(b.shape[-1], 1 / np.sqrt(b.shape[-1]))
        return -2 * self.separation**4 * (b @ u)[..., None, None] ** 2 * np.outer(u, u)

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw samples of unit covariance; the last axis of ``shape`` is the features."""
        match self.name:
            case "student_t":
                # Normals first: with one seed, other degrees of freedom (and none) share them.
                freedom = self.degrees_of_freedom
                normals = rng.standard_normal(shape)
                return normals * np.sqrt((freedom - 2) / 2 / rng.standard_gamma(freedom / 2, shape))
            case "uniform":
                return rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape)
            case "rademacher":
                return 2.0 * rng.integers(0, 2, size=shape) - 1
            case "exponential":
                return rng.standard_exponential(size=shape) - 1
            case "rare":
                p = self.rate
                return ((rng.random(shape) < p) - p) / np.sqrt(p * (1 - p))
            case "elliptical_t":
                freedom = self.degrees_of_freedom
                scale = np.sqrt((freedom - 2) / rng.chisquare(freedom, size=shape[:-1]))
                return rng.standard_normal(shape) * scale[..., None]
            case "outliers":
                plain, wide = self._outlier_variances
                scale = np.sqrt(np.where(rng.random(shape[:-1]) < OUTLIERS, wide, plain))
                return rng.standard_normal(shape) * scale[..., None]
            case "mixture":
                # x = g - (1 - sqrt(1 - a^2)) u u'g + a sign u, u the unit diagonal: covariance
                # I - a^2 u u' within a cluster, a^2 u u' between the two.
                a, u = self.separation, np.full(shape[-1], 1 / np.sqrt(shape[-1]))
                g = rng.standard_normal(shape)
                sign = 2.0 * rng.integers(0, 2, size=shape[:-1]) - 1
                along = a * sign - (1 - np.sqrt(1 - a**2)) * (g @ u)
                return g + along[..., None] * u
            case _:
                return rng.standard_normal(shape)


class EmpiricalLaw:
    """The law of a table's own rows: a draw is a row picked at random, with replacement.

    The rows are centred and whitened by their own covariance, so that colouring by that covariance
    gives the rows themselves back.

    Parameters
    ----------
    rows : array, shape (N, d)
        More rows than columns; no column is constant or a combination of others.

    Attributes
    ----------
    covariance : array, shape (d, d)
        Of the rows.
    rows : array, shape (N, d)
        Whitened.
    """

    is_gaussian = False

    def __init__(self, rows: ArrayLike) -> None:
        table = finite_array("rows", rows, ndim=2)
        count, d = table.shape
        if count <= d:
            raise ValueError(f"rows must number more than their {d} columns, got {count}")
        table -= table.mean(axis=0)
        self.covariance = table.T @ table / count
        scale = np.sqrt(np.diagonal(self.covariance))
        if not scale.all():
            raise ValueError(f"rows: column {int(np.flatnonzero(scale == 0)[0])} does not vary")
        smallest = np.linalg.eigvalsh(self.covariance / np.outer(scale, scale))[0]
        if smallest < 1e-10:
            raise ValueError("rows: one column is a combination of others; leave it out")
        self.rows = table @ np.linalg.inv(square_root(self.covariance))

    def __repr__(self) -> str:
        return f"EmpiricalLaw({self.rows.shape[0]:,} rows of {self.rows.shape[1]})"

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw rows; the last axis of ``shape`` must be their number of columns."""
        count, d = self.rows.shape
        if shape[-1] != d:
            raise ValueError(f"this law has {d} features, {shape[-1]} were asked for")
        return self.rows[rng.integers(count, size=shape[:-1])]

    def excess(self, directions: ArrayLike) -> Array:
        """As `Law.excess`, averaged over all rows."""
        b = finite_array("directions", directions)
        flat = b.reshape(-1, b.shape[-1])
        count, d = self.rows.shape
        total = np.zeros((len(flat), d, d))
        for start in range(0, count, _CHUNK):
            chunk = self.rows[start : start + _CHUNK]
            for k, along in enumerate((flat @ chunk.T) ** 2):
                total[k] += (chunk * along[:, None]).T @ chunk
        gaussian = (flat**2).sum(axis=1)[:, None, None] * np.eye(d)
        gaussian = gaussian + 2 * flat[:, :, None] * flat[:, None, :]
        return (total / count - gaussian).reshape(*b.shape, d)


def square_root(covariance: Array) -> Array:
    """Symmetric square root of a positive definite matrix, shape (d, d)."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(eigenvalues)) @ vectors.T
