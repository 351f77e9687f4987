"""Views of a covariance: the small inverses and scatters that every formula is made of.

In the dual form (``phi = covariance @ theta``) an agent's data enter only through the rows it
sees, ``P_i``, and the inverse of its own block, ``S_i = inv(covariance[o_i, o_i])``:

- ``T_i = S_i P_i covariance``, so ``T_i theta = S_i phi[o_i]``;
- ``T_i' W T_i = covariance (P_i' S_i W S_i P_i) covariance``.

Sums over agents are therefore sums of small blocks scattered into a d x d matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, Indices, covariance_matrix
from .._base.linalg import inverse, matvec
from .views import ViewsLike, as_views


class Geometry:
    """A covariance seen through the agents' views.

    Parameters
    ----------
    covariance : array, shape (d, d) or (..., d, d)
        Positive definite. Leading axes hold one covariance per trial.
    views : list of index arrays, or (m, d) boolean mask
        What every agent sees. The order of an agent's indices is the order of its own columns.
    """

    def __init__(self, covariance: ArrayLike, views: ViewsLike) -> None:
        self.covariance: Array = covariance_matrix(covariance)
        self.views: tuple[Indices, ...] = as_views(views, self.dimension)

    @classmethod
    def of(cls, covariance: ArrayLike | Geometry, views: ViewsLike) -> Geometry:
        """Return ``covariance`` itself if it is a geometry already (no second check, no rework)."""
        return covariance if isinstance(covariance, Geometry) else cls(covariance, views)

    @property
    def dimension(self) -> int:
        """Number of features d."""
        return int(self.covariance.shape[-1])

    @property
    def agents(self) -> int:
        """Number of agents m."""
        return len(self.views)

    @cached_property
    def precision(self) -> Array:
        """Inverse of the whole covariance, shape (..., d, d)."""
        return inverse(self.covariance)

    @cached_property
    def inverses(self) -> tuple[Array, ...]:
        """``S_i = inv(covariance[o_i, o_i])``, shape (..., d_i, d_i), for every agent."""
        result: list[Array] = [np.empty(0)] * self.agents
        # Views of one size are inverted in one call: at small d the calls cost more than the work.
        for size in {view.size for view in self.views}:
            members = [i for i, view in enumerate(self.views) if view.size == size]
            stacked = np.stack([self.views[i] for i in members])
            # (..., agents of this size, d_i, d_i)
            blocks = self.covariance[..., stacked[:, :, None], stacked[:, None, :]]
            inverted = inverse(blocks)
            for position, i in enumerate(members):
                result[i] = inverted[..., position, :, :]
        return tuple(result)

    def trials(self, leading: tuple[int, ...], index: Indices | None = None) -> Geometry:
        """The same geometry for some trials of a stack, the trials along one flat axis.

        Parameters
        ----------
        leading : tuple of int
            Leading axes of the stack.
        index : integer array, optional
            Which trials, counted over the flattened stack; all by default.
        """
        if self.covariance.ndim == 2:
            return self
        d = self.dimension
        chosen = slice(None) if index is None else index
        result = object.__new__(Geometry)
        result.views = self.views
        result.covariance = np.broadcast_to(self.covariance, (*leading, d, d)).reshape(-1, d, d)[
            chosen
        ]
        return result

    def block(self, agent: int) -> Array:
        """``covariance[o_i, o_i]``, shape (..., d_i, d_i)."""
        view = self.views[agent]
        return self.covariance[..., view[:, None], view]

    def transform(self, agent: int) -> Array:
        """``T_i = S_i P_i covariance``, shape (..., d_i, d)."""
        return self.inverses[agent] @ self.covariance[..., self.views[agent], :]

    def local(self, phi: Array, agent: int) -> Array:
        """``T_i theta = S_i phi[o_i]``, shape (..., d_i)."""
        return matvec(self.inverses[agent], phi[..., self.views[agent]])

    def theta(self, phi: Array) -> Array:
        """Return to the primal: ``theta = inv(covariance) phi``, shape (..., d)."""
        return matvec(self.precision, phi)

    def scatter_matrices(
        self, blocks: Sequence[Array], agents: Iterable[int] | None = None
    ) -> Array:
        """Sum ``P_i' B_i P_i`` over agents.

        Parameters
        ----------
        blocks : list of arrays, shape (..., d_i, d_i)
            One per agent in ``agents``.
        agents : indices, optional
            Whose blocks they are; everybody's by default.

        Returns
        -------
        array, shape (..., d, d)
        """
        views = self._views_of(agents)
        leading = np.broadcast_shapes(*(block.shape[:-2] for block in blocks))
        d = self.dimension
        if not leading:
            positions = np.concatenate([(view[:, None] * d + view).ravel() for view in views])
            values = np.concatenate([block.ravel() for block in blocks])
            summed = np.bincount(positions, weights=values, minlength=d * d)
            return summed.astype(np.float64, copy=False).reshape(d, d)
        total = np.zeros((*leading, d, d))
        for view, block in zip(views, blocks, strict=True):
            total[..., view[:, None], view] += block
        return total

    def scatter_vectors(self, parts: Sequence[Array], agents: Iterable[int] | None = None) -> Array:
        """Sum ``P_i' b_i`` over agents: arrays (..., d_i) become one of shape (..., d)."""
        leading = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
        total = np.zeros((*leading, self.dimension))
        for view, part in zip(self._views_of(agents), parts, strict=True):
            total[..., view] += part
        return total

    def weighted_inverses(self, rates: Array, agents: Sequence[int]) -> Array:
        """``sum_i rate_i P_i' S_i P_i``: the information when agents weigh by scalars only.

        Parameters
        ----------
        rates : array, shape (..., len(agents))

        Returns
        -------
        array, shape (..., d, d)
        """
        if rates.ndim == 1 or self.covariance.ndim > 2:
            blocks = [rates[..., j, None, None] * self.inverses[i] for j, i in enumerate(agents)]
            return self.scatter_matrices(blocks, agents)
        # Over trials only the scalars change: all trials are one (trials x m) @ (m x d^2) product.
        d = self.dimension
        flat = self._padded_inverses[list(agents)].reshape(len(agents), d * d)
        return (rates @ flat).reshape(*rates.shape[:-1], d, d)

    @cached_property
    def _padded_inverses(self) -> Array:
        """``P_i' S_i P_i`` for every agent, shape (m, d, d)."""
        padded = np.zeros((self.agents, self.dimension, self.dimension))
        for i, view in enumerate(self.views):
            padded[i][np.ix_(view, view)] = self.inverses[i]
        return padded

    def _views_of(self, agents: Iterable[int] | None) -> Sequence[Indices]:
        return self.views if agents is None else [self.views[i] for i in agents]
