"""Scenario: a world as a few plain choices, all drawn from one seed.

What can be chosen is in `collab_core.world.catalogue`; links are in `collab_core.world.link`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._base.checks import Array, positive, whole
from ..core.problem import Problem
from . import link
from .allocations import Allocation
from .catalogue import ALLOCATION, DIFFER, GROUPS, MISSING, NUMBERS, SPECTRUM, THETA, fields
from .coefficients import Rule
from .deviations import Spread, draw
from .fields import WORLD, WorldPart
from .spectra import Spectrum
from .views import Pattern, Views, rows_of_mask, unseen_features


class Scenario:
    """Everything a person picks; the defaults are the paper's synthetic set-up.

    Covariance, views, theta and shares are drawn from independent streams of one seed: changing how
    features go missing does not change the covariance, and so on. Two scenarios are equal if all
    their choices are, also those that do not count at present.

    Parameters
    ----------
    d, m, n : int
        Features, agents, labelled samples per agent (on average).
    sigma : float
        Standard deviation of the label noise.
    seed : int
        Of everything that is drawn.
    spectrum : str
        A key of `spectra.SPECTRA`.
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
        A key of `views.PATTERNS`.
    rich, rich_size, size : int
        For "subsets": how many agents see ``rich_size`` random features, and what the others see.
        ``size`` is also the width for "blocks" and what poor agents see for "hub".
    p : float
        For "independent": probability that a feature is missing.
    tiers : int
        For "tiers": number of nested tiers; the richest sees everything.
    mask : tuple of strings
        For "mask": a row of 0s and 1s per agent.
    allocation : str
        A key of `allocations.ALLOCATIONS`: every agent has n samples, or they rise from agent to
        agent, or those who see more (wide) or less (narrow) have more.
    ratio : float
        Largest over smallest n_i where they differ.
    theta : str
        A key of `coefficients.RULES`.
    theta_scale : float
        Length (or standard deviation) of theta.
    nonzero : int
        For "sparse".
    values : tuple of float
        For "values"; as many as d.
    differ : str
        A key of `deviations.SPREADS`: whether agents have relations of their own.
    spread : float
        How far their relations are from the shared one, in standard deviations of the label.
    own_features : int
        For "per_feature": in how many coefficients.
    few : int
        For "few": how many agents.
    **choices
        Parameters of classes that were registered since, by name.

    Examples
    --------
    >>> import collab_core as cc
    >>> world = cc.Scenario(d=4, spectrum="ar1", rich_size=4, size=2)
    >>> world.correlation
    0.5
    >>> world.replace(correlation=0.9)
    Scenario(d=4, spectrum='ar1', correlation=0.9, rich_size=4, size=2)
    """

    d: int
    m: int
    n: int
    sigma: float
    seed: int
    spectrum: str
    spikes: int
    spike_factor: float
    condition: float
    exponent: float
    correlation: float
    groups: int
    eigenvalues: tuple[float, ...]
    matrix: tuple[tuple[float, ...], ...]
    missing: str
    rich: int
    rich_size: int
    size: int
    p: float
    tiers: int
    mask: tuple[str, ...]
    allocation: str
    ratio: float
    theta: str
    theta_scale: float
    nonzero: int
    values: tuple[float, ...]
    differ: str
    spread: float
    own_features: int
    few: int

    _given: Mapping[str, Any]
    _chosen: Mapping[str, Any]

    def __init__(self, **choices: Any) -> None:
        known = fields()
        unknown = [name for name in choices if name not in known]
        if unknown:
            raise TypeError(f"Scenario has no {unknown[0]!r}; it has {', '.join(known)}")
        # Only what is not at its default, so that scenarios made before and after a class was
        # registered are equal.
        order = dict.fromkeys([*(field.name for field in NUMBERS), *known])
        held = {name: _immutable(choices[name]) for name in order if name in choices}
        given = {name: value for name, value in held.items() if value != known[name].default}
        self.__dict__["_given"] = given
        for name in ("d", "m", "n"):
            whole(name, getattr(self, name), low=1)
        whole("seed", self.seed, low=0)
        positive("sigma", self.sigma)
        self.__dict__["_chosen"] = {
            group.picker.name: self._made(group.registry.get(getattr(self, group.picker.name)))
            for group in GROUPS
        }

    def _made(self, kind: type[WorldPart]) -> WorldPart:
        """A chosen class with its parameters."""
        return kind(**{field.name: getattr(self, field.name) for field in kind.parameters()})

    if not TYPE_CHECKING:
        # Hidden from the type checker, which then finds misspelt names of the fields above.
        def __getattr__(self, name: str) -> Any:
            given = self.__dict__.get("_given", {})
            if name in given:
                return given[name]
            known = fields()
            if name not in known:
                raise AttributeError(f"Scenario has no {name!r}; it has {', '.join(known)}")
            return known[name].default

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Scenario does not change; use replace({name}=...)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Scenario does not change")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *fields()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._given == other._given

    def __hash__(self) -> int:
        return hash(frozenset(self._given.items()))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._given.items())
        return f"Scenario({inside})"

    def __reduce__(self) -> tuple[partial[Scenario], tuple[()]]:
        # Copies and pickles hold the choices only, not the covariance that was made from them.
        return partial(Scenario, **self._given), ()

    def replace(self, **changes: Any) -> Scenario:
        """The same choices but for a few."""
        return Scenario(**{**self._given, **changes})

    @property
    def choices(self) -> dict[str, Any]:
        """What counts and is not at its default: ``Scenario(**scenario.choices)`` is this world."""
        active = set(self.active)
        return {name: value for name, value in self._given.items() if name in active}

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the fields that matter, given the choices made."""
        brought = {field.name for kind in self._chosen.values() for field in kind.parameters()}
        optional = {field.name for group in GROUPS for field in group.registry.fields()}
        return tuple(name for name in fields() if name not in optional or name in brought)

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(stream,)))

    @cached_property
    def covariance(self) -> Array:
        """Feature covariance, shape (d, d)."""
        spectrum: Spectrum = self._chosen[SPECTRUM.name]
        return spectrum.covariance(self.d, self._rng(0))

    @cached_property
    def views(self) -> Views:
        """What every agent sees."""
        pattern: Pattern = self._chosen[MISSING.name]
        return pattern.views(self.m, self.d, self._rng(1))

    @cached_property
    def coefficients(self) -> Array:
        """True theta, shape (d,)."""
        rule: Rule = self._chosen[THETA.name]
        return rule.theta(self.covariance, self._rng(2))

    @cached_property
    def shares(self) -> Array:
        """Relative sample sizes with mean 1: agent i has ``n * shares[i]`` samples, shape (m,)."""
        allocation: Allocation = self._chosen[ALLOCATION.name]
        return allocation.shares(self.views, self._rng(3))

    @property
    def _spread(self) -> Spread:
        """How agents differ, as it was chosen."""
        spread: Spread = self._chosen[DIFFER.name]
        return spread

    @cached_property
    def variances(self) -> Array:
        """``D``: variances of the agents' own deviations from theta, shape (m, d)."""
        theta = self.coefficients
        label_variance = float(self.sigma**2 + theta @ self.covariance @ theta)
        return self._spread.variances(self.covariance, label_variance, self.m, self._rng(4))

    @cached_property
    def deviations(self) -> Array:
        """``delta_i``: what agent i's relation has beyond theta, shape (m, d)."""
        # A stream of its own, so that more or less of it is the same people more or less apart.
        return draw(self.variances, self._rng(5))

    @property
    def unseen(self) -> NDArray[np.intp]:
        """Features that nobody sees; with any, the full-feature model cannot be had."""
        return unseen_features(self.views, self.d)

    def with_views(self, mask: NDArray[np.bool_]) -> Scenario:
        """The same world with other views, shape (m, d)."""
        rows = rows_of_mask(mask)
        return self.replace(m=len(rows), missing="mask", mask=rows)

    def problem(self) -> Problem:
        """Build the world.

        Raises
        ------
        ValueError
            If a choice is out of range, or a feature is seen by nobody.
        """
        return Problem(
            self.covariance, self.coefficients, self.sigma, self.views, self.shares,
            self.deviations if self.variances.any() else None,
        )  # fmt: skip

    def to_query(self) -> dict[str, str]:
        """As `link.to_query`."""
        return link.to_query(self)

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], base: Scenario | None = None
    ) -> tuple[Scenario, list[str]]:
        """As `link.from_query`; without a base, the defaults are what the URL does not say."""
        return link.from_query(query, base or cls())

    def nearest(self, **changes: Any) -> tuple[Scenario, list[str]]:
        """As `link.nearest`."""
        return link.nearest(self, changes)


# What is an attribute of every scenario cannot be the name of a parameter.
WORLD.reserve(vars(Scenario))


def _immutable(value: Any) -> Any:
    """Lists and arrays as tuples: scenarios are compared, hashed and kept."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(_immutable(part) for part in value) if isinstance(value, list | tuple) else value
