"""Laws of the features: Gaussian and others, all of mean 0 and unit covariance.

A draw is coloured to a covariance by its symmetric square root, ``x = Sigma^(1/2) z``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ._checks import Array, choice, finite_array, fraction

LAWS = ("gaussian", "student_t", "uniform", "rademacher", "exponential", "mixture")


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
        - ``"mixture"``: two Gaussian clusters on either side of 0.
    degrees_of_freedom : float
        Of Student's t, above 4 so that fourth moments exist.
    separation : float
        Of the mixture, in [0, 1): distance of the clusters from 0 along the diagonal, 0 being
        Gaussian.
    """

    name: str = "gaussian"
    degrees_of_freedom: float = 6.0
    separation: float = 0.9

    def __post_init__(self) -> None:
        choice("features", self.name, LAWS)
        freedom = finite_array("degrees_of_freedom", self.degrees_of_freedom, ndim=0).item()
        if freedom <= 4:
            raise ValueError(
                f"degrees_of_freedom must be above 4, got {freedom:g}: fourth moments must exist"
            )
        fraction("separation", self.separation)

    @classmethod
    def of(cls, features: str | FeatureLaw) -> FeatureLaw:
        """Read a law from its name, with a parameter in brackets: ``"student_t(5)"``."""
        if isinstance(features, FeatureLaw):
            return features
        match = re.fullmatch(r"(student_t|mixture)\(([-+.\deE]+)\)", features)
        if match is None:
            return cls(choice("features", features, LAWS))
        try:
            value = float(match[2])
        except ValueError:
            raise ValueError(f"features: {match[2]!r} in {features!r} is not a number") from None
        if match[1] == "student_t":
            return cls("student_t", degrees_of_freedom=value)
        return cls("mixture", separation=value)

    @property
    def is_gaussian(self) -> bool:
        """Whether exact Gaussian draws of moments apply."""
        return self.name == "gaussian"

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


def square_root(covariance: Array) -> Array:
    """Symmetric square root of a positive definite matrix, shape (d, d)."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    return (vectors * np.sqrt(eigenvalues)) @ vectors.T
