"""Whose model: of all features, or an agent's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from .._base.checks import Array, Indices, whole
from .problem import Problem


class Models(Protocol):
    """What every method gives back: a model of all features, and one for every agent."""

    @property
    def theta(self) -> Array:
        """Coefficients on all features, shape (..., d)."""

    def local(self, agent: int) -> Array:
        """Coefficients of agent i's own model, shape (..., d_i)."""


@dataclass(frozen=True)
class Target:
    """What is estimated and judged: theta itself, or the best model of one agent.

    Attributes
    ----------
    agent : int or None
        Counted from 0; None for a model of all features.
    everybody : bool
        The mean over every agent's own model instead.
    """

    agent: int | None = None
    everybody: bool = False

    @classmethod
    def of(cls, given: TargetLike, agents: int, *, whole_model: str = "full") -> Target:
        """Read an agent's number, or the one word that is allowed besides.

        Parameters
        ----------
        whole_model : {"full", "everybody"}
            A model of all features, or the mean over every agent's own.
        """
        if isinstance(given, Target):
            return given
        if isinstance(given, str):
            if given != whole_model:
                raise ValueError(
                    f"target must be {whole_model!r} or an agent's number, got {given!r}"
                )
            return cls(everybody=given == "everybody")
        return cls(whole("target", given, low=0, high=agents - 1))

    @property
    def key(self) -> TargetKey:
        """As it is given: ``"full"`` or the agent's number."""
        if self.everybody:
            return "everybody"
        return "full" if self.agent is None else self.agent

    @property
    def is_full(self) -> bool:
        """Whether it is a model of all features."""
        return self.agent is None and not self.everybody

    def view(self, problem: Problem) -> Indices:
        """Features of the model, shape (k,)."""
        if self.agent is None:
            return np.arange(problem.dimension)
        return problem.views[self.agent]

    def model(self, estimate: Models) -> Array:
        """The wanted coefficients of an estimate, shape (..., k)."""
        return estimate.theta if self.agent is None else estimate.local(self.agent)

    def truth(self, problem: Problem) -> Array:
        """What is estimated: theta, or agent i's own ``T_i theta_i``, shape (k,)."""
        return problem.theta if self.agent is None else problem.local_theta(self.agent)

    def block(self, problem: Problem) -> Array:
        """Covariance of the features, in whose norm errors are measured, shape (k, k)."""
        if self.agent is None:
            return problem.covariance
        return problem.geometry.block(self.agent)

    def irreducible(self, problem: Problem) -> float:
        """What unseen features cost forever; not part of any excess error."""
        return 0.0 if self.agent is None else float(problem.irreducible[self.agent])

    def error(self, problem: Problem, covariance: Array) -> float:
        """``tr(S C)`` of a covariance (k, k) of the coefficients."""
        return float((self.block(problem) * covariance).sum())


#: A target as results are keyed by it: ``"full"`` or an agent's number.
TargetKey: TypeAlias = str | int

#: How callers name a target.
TargetLike: TypeAlias = Target | TargetKey
