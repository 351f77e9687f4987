"""What methods are given at one n of a run, and what they answered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._base.checks import Array
from ..core.target import Target
from . import methods
from .fits import Fit, fit
from .layout import FeatureLayout
from .methods import Aggregated
from .models import Aggregate
from .trouble import Trouble


class LogisticStep(ABC):
    """Every method's models when agents have n samples, worked out as they are asked for.

    Parameters
    ----------
    n : int
    layout : FeatureLayout
    designs : list of arrays, shape (..., n_i, 1 + d_i)
        With a constant column each. Leading axes are trials.
    labels : list of arrays, shape (..., n_i)
    starts : dict
        Where solvers start: what they found at the n before. Written to.
    correction : bool
        Training losses corrected by k/n.
    """

    def __init__(
        self,
        n: int,
        layout: FeatureLayout,
        designs: Sequence[Array],
        labels: Sequence[Array],
        starts: dict[object, Array],
        *,
        correction: bool = False,
    ) -> None:
        self.n, self.layout, self.starts = n, layout, starts
        self.designs, self.labels, self.correction = designs, labels, correction
        self._aggregates: dict[str, Aggregate] = {}
        self._answers: dict[tuple[str, Target], tuple[int, int]] = {}

    @property
    def unlabelled(self) -> Sequence[Array]:
        """Features over which agents and server should agree: the agents' own."""
        return self.designs

    @abstractmethod
    def alone(self, target: Target) -> Fit:
        """The target's own samples, fitted alone."""

    @abstractmethod
    def everybody(self, target: Target) -> Fit:
        """Everybody's samples of the target's features, fitted together."""

    @abstractmethod
    def returned(self, found: Aggregate, target: Target) -> Array:
        """What the target gets of a model for everybody, shape (..., 1 + k)."""

    @abstractmethod
    def tests(self, target: Target) -> tuple[Array, Array]:
        """Test samples of the target's features (N, k), and their labels (N,)."""

    @cached_property
    def fits(self) -> list[Fit]:
        """Every agent's own model."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, x in enumerate(self.designs):
            groups.setdefault(x.shape, []).append(i)
        found: dict[int, Fit] = {}
        # Agents of one shape are fitted in one call: at small n the calls cost more than the work.
        for members in groups.values():
            together = self.fitted(
                [("agent", i) for i in members],
                np.stack([self.designs[i] for i in members]),
                np.stack([self.labels[i] for i in members]),
            )
            found |= {i: together.of(place) for place, i in enumerate(members)}
        return [found[i] for i in range(len(self.designs))]

    def fitted(self, keys: Sequence[object], x: Array, y: Array) -> Fit:
        """Fits of some agents, x of shape (agents, ..., n, k); starts are kept by key."""
        start = None
        if keys[0] in self.starts:
            start = np.stack([self.starts[key] for key in keys])
        found = fit(x, y, start=start)
        for place, key in enumerate(keys):
            self.keep_start(key, found.of(place))
        return found

    def keep_start(self, key: object, one: Fit) -> None:
        """A fit as the start at the next n; a ridge's answer is none for the fit without it."""
        self._keep(key, one.theta, ~(one.regularised | one.one_class))

    def _keep(self, key: object, theta: Array, calm: NDArray[np.bool_]) -> None:
        self.starts[key] = np.where(np.asarray(calm)[..., None], theta, 0.0)

    def aggregate(self, method: Aggregated) -> Aggregate:
        """A method's model for everybody, made once."""
        if method.key not in self._aggregates:
            found = method.aggregate(self)
            self._keep(method.key, found.theta, found.converged & ~found.regularised)
            self._aggregates[method.key] = found
        return self._aggregates[method.key]

    def model(self, method: str, target: Target) -> Array:
        """Intercept and coefficients for what the target sees, shape (..., 1 + k)."""
        found = methods.get(method).answer(self, target)
        self._answers[method, target] = int(found.ridge.sum()), int((~found.converged).sum())
        return found.theta

    def trouble(self, target: Target) -> Trouble:
        """What the agents' fits, and the answers for a target so far, ran into."""
        mine = {method: found for (method, t), found in self._answers.items() if t == target}
        return Trouble(
            sum(one.loss.size for one in self.fits),
            sum(int((one.regularised & ~one.one_class).sum()) for one in self.fits),
            sum(int(one.one_class.sum()) for one in self.fits),
            sum(int((~one.converged).sum()) for one in self.fits),
            {method: ridge for method, (ridge, _) in mine.items()},
            {method: stuck for method, (_, stuck) in mine.items()},
        )
