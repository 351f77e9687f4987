"""Methods of logistic models: each registered once, with what it is called and how it answers.

A method that is one of the linear registry's too has its name and style from there, so that it
looks the same on every page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import methods as linear
from .._base.checks import Array
from .._base.registry import Registry
from .fits import Fit
from .models import Aggregate, collab, imputation, naive

if TYPE_CHECKING:
    from ..core.target import Target
    from .step import LogisticStep


@dataclass(frozen=True, eq=False)
class Answer:
    """A method's model for a target.

    Attributes
    ----------
    theta : array, shape (..., 1 + k)
        Intercept and coefficients of what the target sees.
    ridge : boolean array, shape (...)
        Where it is a ridge's, or an intercept alone for labels of one class.
    converged : boolean array, shape (...)
    """

    theta: Array
    ridge: NDArray[np.bool_]
    converged: NDArray[np.bool_]

    @classmethod
    def of_fit(cls, one: Fit) -> Answer:
        """A fit as it is."""
        return cls(one.theta, one.regularised | one.one_class, one.converged)


class LogisticMethod(ABC):
    """A method of logistic models. Subclass it, and `register` an instance.

    Attributes
    ----------
    key : str
        In code, frames and URLs.
    label : str
        For people.
    style : Style
    in_one_place : bool
        Whether it needs everybody's samples in one place, so that nothing comes back to an agent.
    is_aggregate : bool
        Whether its model for an agent is that for all, seen through the agent's ``T``.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    style: ClassVar[linear.Style]
    in_one_place: ClassVar[bool] = False
    is_aggregate: ClassVar[bool] = False

    @abstractmethod
    def answer(self, step: LogisticStep, target: Target) -> Answer:
        """Its model for a target, when agents have the samples of a step."""


class Aggregated(LogisticMethod):
    """A method with one model for everybody."""

    is_aggregate = True

    @abstractmethod
    def aggregate(self, step: LogisticStep) -> Aggregate:
        """The model for everybody."""

    def answer(self, step: LogisticStep, target: Target) -> Answer:
        """What the target gets of the model for everybody."""
        found = step.aggregate(self)
        return Answer(step.returned(found, target), found.regularised, found.converged)


class LogisticCollab(Aggregated):
    """The paper's last proposal: least disagreement with every agent, over its training loss."""

    key = "collab"
    label, style = linear.get(key).label, linear.get(key).style

    def aggregate(self, step: LogisticStep) -> Aggregate:
        """Of the agents' own fits alone."""
        return collab(
            step.unlabelled, step.fits, step.layout, correction=step.correction,
            start=step.starts.get(self.key),
        )  # fmt: skip


class Attenuated(Aggregated):
    """COLLAB with ``T_i theta`` shrunk for what agent i does not see (beyond the paper)."""

    key, label = "collab_attenuated", "Attenuated T"
    style = linear.Style("#EE7733", "longdashdot", "diamond-open")

    def aggregate(self, step: LogisticStep) -> Aggregate:
        """From COLLAB's answer, because the attenuated objective is not convex."""
        start = step.starts.get(self.key)
        if start is None:
            start = step.aggregate(COLLAB).theta
        return collab(
            step.unlabelled, step.fits, step.layout, attenuated=True, correction=step.correction,
            start=start,
        )  # fmt: skip


class LogisticImputation(Aggregated):
    """Everybody's features imputed, all data pooled, one fit."""

    key, in_one_place = "imputation", True
    label, style = linear.get(key).label, linear.get(key).style

    def aggregate(self, step: LogisticStep) -> Aggregate:
        """Of everybody's samples."""
        start = step.starts.get(self.key)
        return imputation(step.designs, step.labels, step.layout, start=start)


class LogisticLocal(LogisticMethod):
    """The target's own samples, fitted alone."""

    # The linear registry's name says least squares.
    key, label = "local", "Local"
    style = linear.get(key).style

    def answer(self, step: LogisticStep, target: Target) -> Answer:
        """The fit itself."""
        return Answer.of_fit(step.alone(target))


class LogisticNaiveCollab(Aggregated):
    """The local models averaged as they are."""

    key = "naive_collab"
    label, style = linear.get(key).label, linear.get(key).style

    def aggregate(self, step: LogisticStep) -> Aggregate:
        """Of the agents' own fits alone."""
        return naive(step.fits, step.layout)


class FullData(LogisticMethod):
    """Everybody's samples of the target's features, as if nobody missed any of them."""

    key, label, in_one_place = "full_data", "Full data", True
    style = linear.Style("#708090", "solid", "pentagon")

    def answer(self, step: LogisticStep, target: Target) -> Answer:
        """The fit itself."""
        return Answer.of_fit(step.everybody(target))


COLLAB = LogisticCollab()

_REGISTRY: Registry[LogisticMethod] = Registry("method")
register, registered = _REGISTRY.register, _REGISTRY.registered
keys, get = _REGISTRY.keys, _REGISTRY.get

# In the order of tables and legends.
for _method in (
    COLLAB,
    Attenuated(),
    LogisticImputation(),
    LogisticLocal(),
    LogisticNaiveCollab(),
    FullData(),
):
    register(_method)


def chosen(methods: Sequence[str] | None) -> tuple[str, ...]:
    """Check a caller's choice: known keys, at least one; all if None."""
    if methods is None:
        return keys()
    found = tuple(get(key).key for key in methods)
    if not found:
        raise ValueError("methods must name at least one method, got none")
    return found
