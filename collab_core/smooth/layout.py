"""How the server's parameters become every agent's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice
from ..core.geometry import Geometry
from ..world.views import ViewsLike

INTERCEPTS = ("shared", "own", "none")


class FeatureLayout:
    """How the server's parameters become every agent's: ``T_i``, with intercepts.

    The parameters are the intercepts, then theta on all d features. Features are taken to have
    mean 0 (centre them within each agent's sample), so that an intercept passes through ``T_i``
    as it is.

    Parameters
    ----------
    covariance : array, shape (d, d)
    views : list of index arrays, or (m, d) boolean mask
    intercept : {"shared", "own", "none"}
        One for all; one for every agent, where only slopes are learnt together; or none, and then
        designs have no constant column.
    """

    def __init__(
        self, covariance: ArrayLike | Geometry, views: ViewsLike, intercept: str = "shared"
    ) -> None:
        self.geometry = Geometry.of(covariance, views)
        self.intercept = choice("intercept", intercept, INTERCEPTS)
        self.constants = {"none": 0, "shared": 1, "own": self.agents}[intercept]
        self.transforms = tuple(self._transform(i) for i in range(self.agents))
        self.spreads = tuple(self._spread(i) for i in range(self.agents))

    @property
    def agents(self) -> int:
        """Number of agents m."""
        return self.geometry.agents

    @property
    def parameters(self) -> int:
        """Number of parameters p, intercepts included."""
        return self.constants + self.geometry.dimension

    def _transform(self, agent: int) -> Array:
        linear = self.geometry.transform(agent)
        if not self.constants:
            return linear
        whole = np.zeros((1 + linear.shape[0], self.parameters))
        whole[0, agent if self.intercept == "own" else 0] = 1.0
        whole[1:, self.constants :] = linear
        return whole

    def _spread(self, agent: int) -> Array:
        """``G_i = Sigma - Sigma P_i' S_i P_i Sigma``, with 0 for intercepts, shape (p, p)."""
        sigma, view = self.geometry.covariance, self.geometry.views[agent]
        rest = sigma - sigma[:, view] @ self.geometry.inverses[agent] @ sigma[view]
        whole = np.zeros((self.parameters, self.parameters))
        whole[self.constants :, self.constants :] = rest
        return whole

    def everything(self, agent: int) -> Array:
        """Transform of somebody who sees all features, with agent i's intercept, (1 + d, p)."""
        d = self.geometry.dimension
        whole = np.zeros((bool(self.constants) + d, self.parameters))
        if self.constants:
            whole[0, agent if self.intercept == "own" else 0] = 1.0
        whole[-d:, self.constants :] = np.eye(d)
        return whole


class NaiveLayout(FeatureLayout):
    """A layout whose agents take their entries of theta as they are."""

    def __init__(self, layout: FeatureLayout) -> None:
        self.geometry, self.intercept = layout.geometry, layout.intercept
        self.constants, self.spreads = layout.constants, layout.spreads
        first = int(layout.constants > 0)
        self.transforms = tuple(
            self.everything(i)[[*range(first), *(first + layout.geometry.views[i])]]
            for i in range(layout.agents)
        )
