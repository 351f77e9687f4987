"""Laws of the features: Gaussian and others, all of mean 0 and unit covariance.

A draw is coloured to a covariance by its symmetric square root, ``x = Sigma^(1/2) z``.

What least squares loses or gains by a law, to leading order in 1/n, is in its fourth moments alone
(`collab_core.weights.scores_of_law`). `Law.excess` says by how much they differ from a Gaussian's,
``E[(b'z)^2 z z'] - |b|^2 I - 2 b b'``:

- independent coordinates of excess kurtosis k: ``k diag(b^2)``;
- one scale common to all coordinates, ``z = r g``: ``(E[r^4] - 1) (|b|^2 I + 2 b b')``, and every
  coordinate then has excess kurtosis ``3 (E[r^4] - 1)``;
- one direction u alone that is not Gaussian: ``k (b'u)^2 u u'``.

A law that can be chosen by name is a class, registered in `LAWS`.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, finite_array, fraction
from .fields import Field, Names, WorldPart, WorldParts

#: Share of the samples that are outliers.
OUTLIERS = 0.05

#: Samples of an empirical law that are multiplied out at a time.
_CHUNK = 20_000


class Law(Protocol):
    """A law of features with mean 0 and identity covariance."""

    @property
    def is_gaussian(self) -> bool:
        """Whether exact Gaussian draws of moments apply."""

    @property
    def tails(self) -> Tails | None:
        """How heavy its tails are; None where no two numbers say it."""

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


# Laws by name ------------------------------------------------------------------------------------


class NamedLaw(WorldPart):
    """A law that can be chosen by name: a `Law` with a key, a label and parameters."""

    is_gaussian: ClassVar[bool] = False

    @abstractmethod
    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """As `Law.white`."""

    @property
    def tails(self) -> Tails | None:
        """As `Law.tails`."""
        return None

    def excess(self, directions: ArrayLike) -> Array:
        """As `Law.excess`; from the tails, where they say all."""
        if self.tails is None:
            raise NotImplementedError(f"{type(self).__name__} must define tails or excess")
        return self.tails.excess(directions)

    @property
    def text(self) -> str:
        """What `of` reads: its key, with its parameters in brackets."""
        values = ",".join(f"{getattr(self, field.name):.15g}" for field in self.parameters())
        return f"{self.key}({values})" if values else self.key

    @property
    def said(self) -> str:
        """Its name for people, with its parameters: "Student t, 6 degrees"."""
        words = [field.said(getattr(self, field.name)) for field in self.parameters()]
        return ", ".join([self.label, *words])


_NAMES = Names()
LAWS: WorldParts[NamedLaw] = WorldParts("features", _NAMES)
_NAMES.reserve(name for owner in NamedLaw.__mro__ for name in vars(owner))

DEGREES_OF_FREEDOM = Field(
    "degrees_of_freedom", "number", "Degrees of freedom", "Above 4: fourth moments must exist.",
    low=4.01, high=1e6, default=6.0, scale=(4.2, 4.5, 5.0, 6.0, 8.0, 12.0, 30.0),
    words="{:g} degrees",
)  # fmt: skip
SEPARATION = Field(
    "separation", "number", "How far apart", "0 is one Gaussian.",
    low=0, high=0.999, default=0.9, scale=(0.5, 0.7, 0.9, 0.99), words="{:g} apart",
)  # fmt: skip
RATE = Field(
    "rate", "number", "How often yes", "Between 0 and 1.",
    low=1e-6, high=0.999, default=0.02, scale=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    words="rate {:g}",
)  # fmt: skip
WIDER = Field(
    "ratio", "number", "Outliers' spread over the others'", "At least 1.",
    low=1, high=1000, default=4.0, scale=(1.5, 2.0, 3.0, 4.0, 5.0, 8.0), words="{:g} times wider",
)  # fmt: skip


@LAWS.register
@dataclass(frozen=True)
class Gaussian(NamedLaw):
    """Independent standard normal coordinates."""

    key = "gaussian"
    label = "Gaussian"
    help = "The case that COLLAB's weights are made for."
    is_gaussian = True

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw normals."""
        return rng.standard_normal(shape)

    @property
    def tails(self) -> Tails:
        """None to speak of."""
        return Tails("independent", 0.0)


@dataclass(frozen=True)
class _WithFreedom(NamedLaw):
    """Laws made of Student's t, whose fourth moments must exist."""

    degrees_of_freedom: float = DEGREES_OF_FREEDOM.parameter()

    def __post_init__(self) -> None:
        freedom = finite_array("degrees_of_freedom", self.degrees_of_freedom, ndim=0).item()
        if freedom <= 4:
            raise ValueError(
                f"degrees_of_freedom must be above 4, got {freedom:g}: fourth moments must exist"
            )


@LAWS.register
@dataclass(frozen=True)
class StudentT(_WithFreedom):
    """Independent coordinates with heavy tails."""

    key = "student_t"
    label = "Student t"
    help = (
        "Heavy tails, independent from feature to feature. Near 4 degrees averages of fourth "
        "powers settle slowly."
    )

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw normals over roots of gammas."""
        # Normals first: with one seed, other degrees of freedom (and none) share them.
        freedom = self.degrees_of_freedom
        normals = rng.standard_normal(shape)
        return normals * np.sqrt((freedom - 2) / 2 / rng.standard_gamma(freedom / 2, shape))

    @property
    def tails(self) -> Tails:
        """Of Student's t."""
        return Tails("independent", 6 / (self.degrees_of_freedom - 4))


@LAWS.register
@dataclass(frozen=True)
class Uniform(NamedLaw):
    """Independent coordinates with light tails."""

    key = "uniform"
    label = "Uniform"
    help = "Light tails, independent from feature to feature."

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw from an interval about 0."""
        return rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape)

    @property
    def tails(self) -> Tails:
        """Lighter than a Gaussian's."""
        return Tails("independent", -1.2)


@LAWS.register
@dataclass(frozen=True)
class Rademacher(NamedLaw):
    """Independent signs."""

    key = "rademacher"
    label = "Signs (Rademacher)"
    help = "Plus or minus one, independently."

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw signs."""
        return 2.0 * rng.integers(0, 2, size=shape) - 1

    @property
    def tails(self) -> Tails:
        """The lightest there are."""
        return Tails("independent", -2.0)


@LAWS.register
@dataclass(frozen=True)
class Exponential(NamedLaw):
    """Independent skewed coordinates, their mean removed."""

    key = "exponential"
    label = "Exponential"
    help = "Skewed, independent from feature to feature."

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw waiting times less their mean."""
        return rng.standard_exponential(size=shape) - 1

    @property
    def tails(self) -> Tails:
        """Heavy on one side."""
        return Tails("independent", 6.0)


@LAWS.register
@dataclass(frozen=True)
class Mixture(NamedLaw):
    """Two Gaussian clusters on either side of 0, along the diagonal.

    Its tails differ by direction, so that no two numbers say them.
    """

    key = "mixture"
    label = "Two clusters"
    help = "Two Gaussian clusters on either side of 0."

    separation: float = SEPARATION.parameter()

    def __post_init__(self) -> None:
        fraction("separation", self.separation)

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw a cluster for every sample, and the sample in it."""
        # x = g - (1 - sqrt(1 - a^2)) u u'g + a sign u, u the unit diagonal: covariance
        # I - a^2 u u' within a cluster, a^2 u u' between the two.
        a, u = self.separation, np.full(shape[-1], 1 / np.sqrt(shape[-1]))
        g = rng.standard_normal(shape)
        sign = 2.0 * rng.integers(0, 2, size=shape[:-1]) - 1
        along = a * sign - (1 - np.sqrt(1 - a**2)) * (g @ u)
        return g + along[..., None] * u

    def excess(self, directions: ArrayLike) -> Array:
        """As `Law.excess`, in closed form."""
        # Along the diagonal u: a sign of size a plus a Gaussian of variance 1 - a^2.
        b = finite_array("directions", directions)
        u = np.full(b.shape[-1], 1 / np.sqrt(b.shape[-1]))
        return -2 * self.separation**4 * (b @ u)[..., None, None] ** 2 * np.outer(u, u)


@LAWS.register
@dataclass(frozen=True)
class Rare(NamedLaw):
    """Independent yes or no, yes being rare, their mean removed."""

    key = "rare"
    label = "Rare yes or no"
    help = "Every feature is yes or no, seldom yes, independently of the others."

    rate: float = RATE.parameter()

    def __post_init__(self) -> None:
        if fraction("rate", self.rate) == 0:
            raise ValueError("rate must be above 0, got 0")

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw yes (1) and no (0), centred and scaled."""
        p = self.rate
        return ((rng.random(shape) < p) - p) / np.sqrt(p * (1 - p))

    @property
    def tails(self) -> Tails:
        """The heavier the rarer."""
        return Tails("independent", 1 / (self.rate * (1 - self.rate)) - 6)


@LAWS.register
@dataclass(frozen=True)
class EllipticalT(_WithFreedom):
    """Heavy tails in all coordinates at once, by one chi-square a sample."""

    key = "elliptical_t"
    label = "Student t, common scale"
    help = (
        "Heavy tails in all features at once: one chi-square a sample. Near 4 degrees averages of "
        "fourth powers settle slowly."
    )

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw a scale for every sample, and normals."""
        freedom = self.degrees_of_freedom
        scale = np.sqrt((freedom - 2) / rng.chisquare(freedom, size=shape[:-1]))
        return rng.standard_normal(shape) * scale[..., None]

    @property
    def tails(self) -> Tails:
        """Of Student's t, common to all coordinates."""
        return Tails("common", 6 / (self.degrees_of_freedom - 4))


@LAWS.register
@dataclass(frozen=True)
class Outliers(NamedLaw):
    """Gaussian, but one sample in twenty is spread wider in all coordinates."""

    key = "outliers"
    label = "Outliers"
    help = "One sample in twenty is spread wider, in all features at once."

    ratio: float = WIDER.parameter()

    def __post_init__(self) -> None:
        ratio = finite_array("ratio", self.ratio, ndim=0).item()
        if ratio < 1:
            raise ValueError(f"ratio must be at least 1, got {ratio:g}")

    @property
    def _variances(self) -> tuple[float, float]:
        """Of plain samples and of outliers, so that the mean is 1."""
        plain = 1 / (1 - OUTLIERS + OUTLIERS * self.ratio**2)
        return plain, plain * self.ratio**2

    def white(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw which samples are outliers, and normals."""
        plain, wide = self._variances
        scale = np.sqrt(np.where(rng.random(shape[:-1]) < OUTLIERS, wide, plain))
        return rng.standard_normal(shape) * scale[..., None]

    @property
    def tails(self) -> Tails:
        """Of a mixture of two scales."""
        plain, wide = self._variances
        return Tails("common", 3 * ((1 - OUTLIERS) * plain**2 + OUTLIERS * wide**2 - 1))


def keys() -> tuple[str, ...]:
    """Keys of all laws, in order."""
    return LAWS.keys()


def get(key: str) -> type[NamedLaw]:
    """The class of a law; an unknown key is a ValueError that lists those there are."""
    return LAWS.get(key)


def of(features: str | Law) -> Law:
    """Read a law from its key, with parameters in brackets: ``"student_t(5)"``.

    Raises
    ------
    ValueError
        If there is no such law, or a parameter is not one.
    """
    if not isinstance(features, str):
        return features
    match = re.fullmatch(r"(\w+)\((.*)\)", features)
    if match is None:
        return get(features)()
    kind, parts = get(match[1]), match[2].split(",")
    fields = kind.parameters()
    if len(parts) > len(fields):
        named = ", ".join(field.name for field in fields) or "none"
        raise ValueError(f"features: parameters of {match[1]} are {named}; got {features!r}")
    given: dict[str, float] = {}
    for field, part in zip(fields, parts, strict=False):
        try:
            given[field.name] = int(part) if field.kind == "whole" else float(part)
        except ValueError:
            raise ValueError(f"features: {part!r} in {features!r} is not a number") from None
    return kind(**given)


def choices() -> dict[str, str]:
    """Every law at its default parameters: the text that `of` reads, and a name for people."""
    laws = [kind() for kind in LAWS]
    return {law.text: law.said for law in laws}


def spelled(text: str) -> str:
    """The text of `choices` for any text of that law: "mixture" is "mixture(0.9)".

    Raises
    ------
    ValueError
        If it is the text of no law.
    """
    law = of(text)
    return law.text if isinstance(law, NamedLaw) else text


def FeatureLaw(name: str = "gaussian", **parameters: float) -> NamedLaw:  # noqa: N802
    """The law of a key with these parameters: ``FeatureLaw("mixture", separation=0.3)``.

    Notebooks call it so since laws were one class of this name.
    """
    return get(name)(**parameters)


# Laws of data ------------------------------------------------------------------------------------


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
    #: Rows have a law of their own, which no two numbers say.
    tails: Tails | None = None

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
