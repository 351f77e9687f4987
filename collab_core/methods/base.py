"""What a method is: one class in one file, registered once, found everywhere.

To add a method, copy the file of one that is like it, fill in the few attributes and methods, and
name the class in `collab_core/methods/__init__.py` (or `register` it from anywhere). Simulation,
census, tables, tables of bytes, ellipses, legends, palettes, menus, links and the common checks
(`collab_core.methods.check`) read everything from the class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from .._base.checks import Array, Indices, choice
from .._base.registry import Registry
from ..bounds import covariances as bounds
from ..core.agents import NEEDS, Agents
from ..core.estimate import NotEstimableError
from ..core.problem import Problem
from ..core.target import Models, Target


@dataclass(frozen=True)
class Style:
    """How a method looks, on every page: colour-blind safe, and said again by dash and marker."""

    colour: str
    dash: str
    marker: str


@dataclass(frozen=True)
class Formulas:
    """A method's row of the paper's Table 1, as Markdown.

    Attributes
    ----------
    full, own : str
        Asymptotic covariance for all features, and for an agent's own.
    sent : str
        Order of the numbers that an agent sends.
    """

    full: str
    own: str
    sent: str


@dataclass(frozen=True)
class Traffic:
    """Real numbers that every agent sends up and gets down, shapes (m,)."""

    up: Indices
    down: Indices


@dataclass(frozen=True, eq=False)
class Told:
    """What a formula takes as known beside the world.

    Attributes
    ----------
    noise_known : bool
        Whether the method is told the noise.
    scores : list of arrays (d_i, d_i), optional
        ``Q_i`` of features that are not Gaussian.
    """

    noise_known: bool = False
    scores: Sequence[Array] | None = None


#: Gaussian features, unknown noise.
PLAIN = Told()


class Method(ABC):
    """A way to make models from the agents' data.

    Attributes
    ----------
    key : str
        In code, frames and links.
    label, summary : str
        For people: a name, and a sentence on what it does.
    style : Style
    needs : frozenset of str
        What it reads, of `collab_core.core.agents.NEEDS`.
    formulas : Formulas
    usual : bool
        Whether it is shown where nobody chose.
    in_table_1 : bool
        Whether it has a row in the paper's Table 1 and what we add to it.
    is_weighting : bool
        COLLAB with other weights than the paper's, for features that are not Gaussian: offered
        there and not among the methods.
    is_consistent : bool
        Whether its error goes to 0 as n grows.
    full_only : bool
        Whether it has no model of an agent's own features that is worth the name.
    gives_intervals : bool
        Whether its estimates have intervals.
    exempt : dict
        Common checks that it cannot satisfy, by name, with the reason.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    summary: ClassVar[str]
    style: ClassVar[Style]
    needs: ClassVar[frozenset[str]]
    formulas: ClassVar[Formulas]
    usual: ClassVar[bool] = True
    in_table_1: ClassVar[bool] = True
    is_weighting: ClassVar[bool] = False
    is_consistent: ClassVar[bool] = True
    full_only: ClassVar[bool] = False
    gives_intervals: ClassVar[bool] = False
    exempt: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def estimate(self, agents: Agents) -> Models:
        """Make models for everyone; `NotEstimableError` where the data do not allow it."""

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        """Covariance of ``sqrt(n) (estimate - its limit)``, (d, d), or None where none is known."""
        return None

    def own_covariance(self, problem: Problem, agent: int, told: Told = PLAIN) -> Array | None:
        """The same for agent i's own model, ``T_i C T_i'``, shape (d_i, d_i)."""
        C = self.covariance(problem, told)
        return None if C is None else bounds.local(problem, C, agent)

    def floor(self, problem: Problem, target: Target) -> float | None:
        """What bias leaves of the error however large n is; None where there is no such model."""
        return 0.0

    def expected_errors(
        self,
        problem: Problem,
        sample_sizes: Sequence[int],
        target: Target,
        told: Told = PLAIN,
    ) -> list[float | None]:
        """Mean excess error at many n, or None where no formula is known.

        Leading order in 1/n, unless a method knows better. A covariance alone is the error where
        all agents follow one relation; where they differ, what they pull a method to stays.
        """
        if problem.differs:
            return [None] * len(sample_sizes)
        if target.agent is None:
            C = self.covariance(problem, told)
        else:
            C = self.own_covariance(problem, target.agent, told)
        if C is None:
            return [None] * len(sample_sizes)
        scaled = target.error(problem, C)
        return [scaled / n for n in sample_sizes]

    @abstractmethod
    def sent(self, problem: Problem, n: int) -> Traffic:
        """Numbers that agents send and get, for n labelled samples each (times their shares)."""

    def reads(self, *, full: bool, weights: str) -> frozenset[str]:
        """What it needs for a target and with these weights."""
        return self.needs

    def of(self, agents: Agents) -> Models:
        """Its estimate on these agents, made once; what is missing for it is said."""
        lacking = sorted(self.reads(full=False, weights=agents.options.weights) - agents.given)
        if lacking:
            why = agents.lacking.get(lacking[0])
            raise NotEstimableError(
                f"{self.label} needs {NEEDS[lacking[0]]}" + (f", and {why}" if why else "")
            )
        return agents.once(self.key, lambda: self.estimate(agents))


M = TypeVar("M", bound=type[Method])

_METHODS: Registry[Method] = Registry("method")


def register(method: M) -> M:
    """Add a method by its class; usable as a decorator."""
    _METHODS.register(method())
    return method


def unregister(key: str) -> None:
    """Take a method away again."""
    _METHODS.unregister(key)


@contextmanager
def registered(method: type[Method]) -> Iterator[Method]:
    """A method that is there for a while, for tests."""
    with _METHODS.registered(method()) as found:
        yield found


def get(key: str) -> Method:
    """The method of this key, or a ValueError that lists the known ones."""
    return _METHODS.get(key)


def every() -> tuple[Method, ...]:
    """All methods, in the order of tables and legends."""
    return tuple(_METHODS)


def keys(
    given: Collection[str] | None = None, *, weightings: bool | None = None
) -> tuple[str, ...]:
    """Keys of the methods in the order of tables and legends.

    Parameters
    ----------
    given : collection of str, optional
        What is at hand (`NEEDS`); methods that need more are left out. Everything by default.
    weightings : bool, optional
        Only COLLAB with other weights, or only the others; both by default.
    """
    return tuple(
        method.key
        for method in _METHODS
        if (given is None or method.needs <= set(given))
        and (weightings is None or method.is_weighting == weightings)
    )


def usual(
    given: Collection[str] | None = None, *, full: bool = True, consistent: bool = False
) -> tuple[str, ...]:
    """Keys of the methods that are shown where nobody chose.

    Parameters
    ----------
    given : collection of str, optional
        What is at hand.
    full : bool
        Whether a model of all features is wanted; otherwise an agent's own.
    consistent : bool
        Only methods whose error goes to 0 as n grows.
    """
    return tuple(
        method.key
        for method in map(get, keys(given, weightings=False))
        if method.usual
        and (full or not method.full_only)
        and (method.is_consistent or not consistent)
    )


def chosen(
    methods: Sequence[str] | None, given: Collection[str] | None = None, *, full: bool = True
) -> tuple[str, ...]:
    """Check a caller's choice: known keys, at least one; the usual ones if None."""
    if methods is None:
        return usual(given, full=full)
    found = tuple(choice("methods", key, _METHODS.keys()) for key in methods)
    if not found:
        raise ValueError("methods must name at least one method, got none")
    if not full:
        for key in found:
            if get(key).full_only:
                allowed = [other for other in keys() if not get(other).full_only]
                choice("methods (for an agent's target)", key, allowed)
    return found


def message_numbers(problem: Problem) -> Indices:
    """A model, the upper triangle of its covariance and one residual: COLLAB's message, (m,)."""
    d_i = problem.sizes
    return np.where(d_i > 0, d_i + d_i * (d_i + 1) // 2 + 1, 0)


def data_numbers(problem: Problem, n: int) -> Indices:
    """All of an agent's samples with their labels, (m,)."""
    return np.where(problem.sizes > 0, problem.sample_sizes(n) * (problem.sizes + 1), 0)
