"""Scenario: a world as a few plain choices, all drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import coefficients, covariance, views
from ._checks import Array, choice, covariance_matrix, finite_array, positive, vector, whole
from .problem import Problem
from .views import Views

SPECTRA = (
    "spiked",
    "isotropic",
    "geometric",
    "power_law",
    "ar1",
    "equicorrelated",
    "factor",
    "block",
    "eigenvalues",
    "matrix",
)
MISSINGNESS = ("subsets", "independent", "tiers", "blocks", "hub", "mask")
THETAS = ("normal", "unit", "sparse", "strongest", "weakest", "values")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Everything a person picks; the defaults are the paper's synthetic set-up.

    Covariance, views and theta are drawn from independent streams of one seed: changing how
    features go missing does not change the covariance, and so on.

    Parameters
    ----------
    d, m, n : int
        Features, agents, labelled samples per agent.
    sigma : float
        Standard deviation of the label noise.
    seed : int
        Of everything that is drawn.
    spectrum : str
        One of ``SPECTRA``.
    spikes, spike_factor : int, float
        For "spiked": how many eigenvalues are multiplied, by what.
    condition : float
        For "geometric": largest over smallest eigenvalue.
    exponent : float
        For "power_law".
    correlation : float
        For "ar1" and "equicorrelated"; within groups for "block"; share of variance for "factor".
    groups : int
        Groups of "block", common causes of "factor".
    eigenvalues : tuple of float
        For "eigenvalues"; as many as d.
    matrix : tuple of tuples of float
        For "matrix"; d x d.
    missing : str
        One of ``MISSINGNESS``.
    rich, rich_size, size : int
        For "subsets": how many agents see ``rich_size`` random features, and what the others see.
        ``size`` is also the width for "blocks" and what poor agents see for "hub".
    p : float
        For "independent": probability that a feature is missing.
    tiers : int
        For "tiers": number of nested tiers; the richest sees everything.
    mask : tuple of strings
        For "mask": a row of 0s and 1s per agent.
    theta : str
        One of ``THETAS``.
    theta_scale : float
        Length (or standard deviation) of theta.
    nonzero : int
        For "sparse".
    values : tuple of float
        For "values"; as many as d.
    """

    d: int = 30
    m: int = 30
    n: int = 100
    sigma: float = 1.0
    seed: int = 0
    spectrum: str = "spiked"
    spikes: int = 3
    spike_factor: float = 10.0
    condition: float = 10.0
    exponent: float = 1.0
    correlation: float = 0.5
    groups: int = 3
    eigenvalues: tuple[float, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()
    missing: str = "subsets"
    rich: int = 10
    rich_size: int = 20
    size: int = 15
    p: float = 0.3
    tiers: int = 3
    mask: tuple[str, ...] = ()
    theta: str = "normal"
    theta_scale: float = 1.0
    nonzero: int = 5
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("d", "m", "n"):
            whole(name, getattr(self, name), low=1)
        whole("seed", self.seed, low=0)
        positive("sigma", self.sigma)
        choice("spectrum", self.spectrum, SPECTRA)
        choice("missing", self.missing, MISSINGNESS)
        choice("theta", self.theta, THETAS)

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(stream,)))

    @cached_property
    def covariance(self) -> Array:
        """Feature covariance, shape (d, d)."""
        d, rng = self.d, self._rng(0)
        match self.spectrum:
            case "isotropic":
                return covariance.isotropic(d)
            case "geometric":
                return covariance.geometric(d, self.condition, rng)
            case "power_law":
                return covariance.power_law(d, self.exponent, rng)
            case "ar1":
                return covariance.ar1(d, self.correlation)
            case "equicorrelated":
                return covariance.equicorrelated(d, self.correlation)
            case "factor":
                return covariance.factor_model(d, self.groups, self.correlation, rng)
            case "block":
                return covariance.block(d, self.groups, self.correlation)
            case "eigenvalues":
                own = vector("eigenvalues", self.eigenvalues, d)
                return covariance.from_eigenvalues(own, rng)
            case "matrix":
                own = finite_array("matrix", self.matrix, ndim=2)
                if own.shape != (d, d):
                    raise ValueError(f"matrix must have shape ({d}, {d}), got {own.shape}")
                return covariance_matrix(own, name="matrix")
            case _:
                return covariance.spiked(d, rng, self.spikes, self.spike_factor)

    @cached_property
    def views(self) -> Views:
        """What every agent sees."""
        d, m, rng = self.d, self.m, self._rng(1)
        match self.missing:
            case "independent":
                return views.independent(m, d, self.p, rng)
            case "tiers":
                whole("tiers", self.tiers, low=1, high=m)
                counts = np.bincount(np.arange(m) * self.tiers // m, minlength=self.tiers)
                sizes = [-(-d * tier // self.tiers) for tier in range(self.tiers, 0, -1)]
                return views.tiers(d, counts.tolist(), sizes)
            case "blocks":
                return views.blocks(m, d, self.size)
            case "hub":
                return views.hub(m, d, self.size, rng)
            case "mask":
                return _views_of_mask(self.mask, m, d)
            case _:
                rich = whole("rich", self.rich, low=0, high=m)
                sizes = [self.rich_size] * rich + [self.size] * (m - rich)
                return views.random_subsets(d, sizes, rng)

    @cached_property
    def coefficients(self) -> Array:
        """True theta, shape (d,)."""
        d, rng, scale = self.d, self._rng(2), self.theta_scale
        match self.theta:
            case "unit":
                return coefficients.unit(d, rng, scale)
            case "sparse":
                return coefficients.sparse(d, self.nonzero, rng, scale)
            case "strongest" | "weakest":
                return coefficients.principal(self.covariance, self.theta, scale)
            case "values":
                return vector("values", self.values, d)
            case _:
                return coefficients.standard_normal(d, rng, scale)

    def problem(self) -> Problem:
        """Build the world.

        Raises
        ------
        ValueError
            If a choice is out of range, or a feature is seen by nobody.
        """
        return Problem(self.covariance, self.coefficients, self.sigma, self.views)


def _views_of_mask(rows: tuple[str, ...], m: int, d: int) -> Views:
    if len(rows) != m:
        raise ValueError(f"mask must have {m} rows, one an agent, got {len(rows)}")
    for i, row in enumerate(rows):
        if len(row) != d or set(row) - {"0", "1"}:
            raise ValueError(f"mask[{i}] must be {d} characters 0 or 1, got {row!r}")
    return views.as_views(np.array([[letter == "1" for letter in row] for row in rows]), d)
