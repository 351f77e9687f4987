"""Agents: all that a method may read, whatever it was made from.

A simulated world, sums over census people, their records, an uploaded table and message files all
become this one thing, for one data set or for a stack of trials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice
from ..world.views import Views, ViewsLike, as_views
from .estimate import NotEstimableError
from .geometry import Geometry
from .moments import AgentData, LocalFit, Moments
from .target import Models

#: What a method can need, in words for people.
NEEDS = {
    "fit": "every agent's least squares and residual",
    "xx": "every agent's own covariance",
    "covariance": "the covariance of the features that each agent sees",
    "all_pairs": "the covariance of every pair of features",
    "unlabelled": "unlabelled samples of all features",
    "fresh": "fresh labelled samples of all features",
    "truth": "the truth, which only a simulation knows",
}


#: COLLAB's weights, in words for people.
WEIGHTS = {
    "empirical": "The paper's (Algorithm 1)",
    "population": "The paper's, population covariance",
    "moderated": "Moderated residuals",
    "plug_in": "Plug-in residuals",
}


@dataclass(frozen=True, eq=False)
class Oracle:
    """What only a simulation knows.

    Attributes
    ----------
    unexplained : array, shape (m,) or (..., m)
        ``s_i``.
    scores : callable
        Gives every agent's ``Q_i``, (d_i, d_i); called when a method asks.
    """

    unexplained: Array
    scores: Callable[[], Sequence[Array]]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How methods are to work, where that is a choice.

    Parameters
    ----------
    weights : {"empirical", "population", "moderated", "plug_in"}
        COLLAB's weights (`collab_core.estimators.collab`).
    correction : bool
        Small-sample correction of the residuals, ``RSS / (n - d_i)``; moderated and plug-in
        weights have it already.
    noise : float, optional
        Standard deviation of the label noise where methods are told it.
    """

    weights: str = "empirical"
    correction: bool = False
    noise: float | None = None

    def __post_init__(self) -> None:
        choice("weights", self.weights, tuple(WEIGHTS))

    @property
    def form(self) -> str:
        """Whether weights stretch as the samples do or as the law: empirical or population."""
        return "population" if self.weights == "population" else "empirical"


class Agents:
    """Everybody's data as methods read them.

    Parameters
    ----------
    data : list of Moments or LocalSummary
        One per agent, of the features it sees in the order of its view.
    views : list of index arrays, or (m, d) boolean mask
    covariance : array (..., d, d), Geometry, or callable
        As methods know it; a callable is asked when a method needs it.
    dimension : int
        Number of features d.
    fresh : Moments, optional
        Labelled samples of all features that no agent has used.
    unlabelled : array, shape (..., N, d), optional
    oracle : Oracle, optional
    residuals : array, shape (..., m), optional
        ``R_i`` where it was measured on other samples than the fit's.
    options : Options, optional
    lacking : dict, optional
        By what is not there (a key of `NEEDS`), why, in words that finish "..., and".
    """

    def __init__(
        self,
        data: Sequence[AgentData],
        views: ViewsLike,
        covariance: ArrayLike | Geometry | Callable[[], Geometry],
        dimension: int,
        *,
        fresh: Moments | None = None,
        unlabelled: Array | None = None,
        oracle: Oracle | None = None,
        residuals: Array | None = None,
        options: Options | None = None,
        lacking: Mapping[str, str] | None = None,
    ) -> None:
        self.data = tuple(data)
        self.dimension = dimension
        self.views: Views = as_views(views, dimension)
        self._covariance = covariance
        self.fresh, self.unlabelled, self.oracle = fresh, unlabelled, oracle
        self.residuals = residuals
        self.options = options or Options()
        self.lacking = dict(lacking or {})
        self._kept: dict[str, Models | NotEstimableError] = {}

    @cached_property
    def geometry(self) -> Geometry:
        """Covariance and views, for all methods."""
        given = self._covariance
        return given() if callable(given) else Geometry.of(given, self.views)

    @property
    def moments(self) -> list[Moments]:
        """Everybody's sums, where all of them are known."""
        return [data for data in self.data if isinstance(data, Moments)]

    @property
    def given(self) -> frozenset[str]:
        """What is at hand, as keys of `NEEDS`."""
        found = {"fit", "covariance", "all_pairs"}
        if len(self.moments) == len(self.data):
            found.add("xx")
        for need, value in (
            ("unlabelled", self.unlabelled), ("fresh", self.fresh), ("truth", self.oracle)
        ):  # fmt: skip
            if value is not None:
                found.add(need)
        return frozenset(found - set(self.lacking))

    def once(self, key: str, make: Callable[[], Models]) -> Models:
        """A method's estimate, made at the first call; what cannot be estimated stays so."""
        if key not in self._kept:
            try:
                self._kept[key] = make()
            except NotEstimableError as reason:
                self._kept[key] = reason
        found = self._kept[key]
        if isinstance(found, NotEstimableError):
            raise found
        return found

    def holds(self, key: str) -> bool:
        """Whether a method's estimate has been made already."""
        return key in self._kept and not isinstance(self._kept[key], NotEstimableError)

    def without(self, *agents: int) -> Agents:
        """The same data with some agents gone; features that only they saw go with them."""
        kept = [i for i in range(len(self.data)) if i not in agents]
        seen = np.unique(np.concatenate([*(self.views[i] for i in kept), np.empty(0, np.intp)]))
        place = {int(j): k for k, j in enumerate(seen)}
        views = [np.array([place[int(j)] for j in self.views[i]], dtype=np.intp) for i in kept]
        block = self.geometry.covariance[..., seen[:, None], seen]
        return Agents(
            [self.data[i] for i in kept], views, Geometry(block, views), len(seen),
            options=self.options, lacking=self.lacking,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LocalModels:
    """Everybody's own least squares; for all features, a newcomer's who has samples of them all.

    Attributes
    ----------
    data : tuple of Moments or LocalSummary
    fresh : Moments or None
    """

    data: tuple[AgentData, ...]
    fresh: Moments | None = None
    left_out: tuple[()] = field(default=(), init=False)

    @property
    def theta(self) -> Array:
        """Least squares of the newcomer, shape (..., d)."""
        if self.fresh is None:
            raise NotEstimableError("nobody has samples of all features, so nobody fits them alone")
        return self._fit(self.fresh).theta

    def local(self, agent: int) -> Array:
        """Least squares of agent i, shape (..., d_i)."""
        return self._fit(self.data[agent]).theta

    @staticmethod
    def _fit(data: AgentData) -> LocalFit:
        if data.features and (data.degrees_of_freedom <= data.features).any():
            mean = " and the mean" if data.is_centred else ""
            raise NotEstimableError(
                f"n = {data.n.min():g} is not above {data.features} features{mean}, so least"
                " squares interpolates"
            )
        return data.fit
