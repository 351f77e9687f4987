"""One data set of agents that differ: who is pulled where, what is shared, who does not belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .. import methods as registry
from .._base.checks import Array, whole
from .._base.intervals import normal_reach, student_reach
from ..core.agents import Agents
from ..core.estimate import Estimate, NotEstimableError
from ..core.moments import Moments
from ..core.problem import Problem
from ..methods.collab import collab
from .simulate import draw_moments

#: Models of one agent, in the order in which they are drawn: its own least squares, what the others
#: imply for it, what all share (COLLAB), and partial pooling.
MODELS = ("local", "others", "collab", "adaptive")


@dataclass(frozen=True, eq=False)
class DataSet:
    """Everybody's data of one draw, and the models that follow from them.

    Attributes
    ----------
    problem : Problem
    moments : tuple of Moments
    """

    problem: Problem
    moments: tuple[Moments, ...]

    @cached_property
    def agents(self) -> Agents:
        """As methods read them."""
        problem = self.problem
        return Agents(self.moments, problem.views, problem.geometry, problem.dimension)

    @cached_property
    def shared(self) -> Estimate | None:
        """COLLAB on everybody's data; None where it cannot be had."""
        return self._collab(range(self.problem.agents))

    @cached_property
    def adaptive(self) -> Any:
        """Partial pooling; None where the method is not registered or cannot be had."""
        if "adaptive" not in registry.keys():  # noqa: SIM118 - a function, no dictionary
            return None
        try:
            return registry.get("adaptive").of(self.agents)
        except NotEstimableError:
            return None

    def _collab(self, agents: Sequence[int]) -> Estimate | None:
        views = [self.problem.views[i] for i in agents]
        try:
            found = collab([self.moments[i] for i in agents], views, self.problem.covariance)
        except ValueError:
            return None
        return found if found.determined else None

    def own(self, agent: int) -> tuple[Array, Array, int] | None:
        """Least squares of an agent, its covariance and degrees of freedom; None for n <= d_i."""
        one = self.moments[agent]
        freedom = int(one.degrees_of_freedom) - one.features
        if freedom < 1 or not one.features:
            return None
        return one.fit.theta, one.fit.covariance, freedom

    def implied(self, agent: int) -> tuple[Array, Array] | None:
        """Agent i's model by COLLAB on the others' data alone, and its covariance, or None."""
        others = [k for k in range(self.problem.agents) if k != agent]
        found = self._collab(others) if others else None
        if found is None:
            return None
        view, inverted = self.problem.views[agent], self.problem.geometry.inverses[agent]
        spread = found.phi_covariance[np.ix_(view, view)]
        return inverted @ found.phi[view], inverted @ spread @ inverted


def data_set(problem: Problem, n: int, seed: int = 0) -> DataSet:
    """Draw everybody's n samples once."""
    return DataSet(problem, tuple(draw_moments(problem, n, seed)))


def one_coefficient(data: DataSet, feature: int) -> pd.DataFrame:
    """One feature's coefficient in every model of every agent that sees it.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``model`` (of `MODELS`), ``value``, its 95% interval ``low`` and
        ``high``, and ``truth``. Models that do not exist have no row.
    """
    problem = data.problem
    feature = whole("feature", feature, low=0, high=problem.dimension - 1)
    rows = []
    for i, view in enumerate(problem.views):
        places = np.flatnonzero(view == feature)
        if places.size:
            j = int(places[0])
            truth = float(problem.local_theta(i)[j])
            for model, (value, low, high) in _models(data, i, j).items():
                rows.append(
                    {"agent": i + 1, "model": model, "value": value, "low": low, "high": high,
                     "truth": truth}
                )  # fmt: skip
    return pd.DataFrame(rows, columns=["agent", "model", "value", "low", "high", "truth"])


def _models(data: DataSet, agent: int, j: int) -> dict[str, tuple[float, float, float]]:
    """Coefficient j of an agent's models, with its interval."""
    found = {}
    own, implied, shared = data.own(agent), data.implied(agent), data.shared
    if own is not None:
        half = student_reach(own[2]) * np.sqrt(own[1][j, j])
        found["local"] = (own[0][j], own[0][j] - half, own[0][j] + half)
    if implied is not None:
        half = normal_reach() * np.sqrt(implied[1][j, j])
        found["others"] = (implied[0][j], implied[0][j] - half, implied[0][j] + half)
    if shared is not None:
        low, high = shared.interval(agent=agent)
        found["collab"] = (shared.local(agent)[j], low[j], high[j])
    if data.adaptive is not None:
        low, high = data.adaptive.interval(0.95, agent=agent)
        found["adaptive"] = (data.adaptive.local(agent)[j], low[j], high[j])
    return {key: (float(a), float(b), float(c)) for key, (a, b, c) in found.items()}


def coefficients(data: DataSet, variances: Array) -> pd.DataFrame:
    """How far agents differ in every coefficient: in truth, and as their data tell.

    Standard deviations, each times that of its feature: what it moves a prediction by.

    Parameters
    ----------
    variances : array, shape (m, d)
        Of the deviations in truth.

    Returns
    -------
    DataFrame
        ``feature`` (counted from 1), ``truth``, ``scatter`` (of the agents' own models about what
        all share, beyond chance) and ``adaptive`` (its ``heterogeneity``). What does not exist is
        ``<NA>``.
    """
    problem = data.problem
    scale = np.sqrt(np.diagonal(problem.covariance))
    excess, seen = np.zeros(problem.dimension), np.zeros(problem.dimension)
    for i, view in enumerate(problem.views):
        own, implied = data.own(i), data.implied(i)
        if own is not None and implied is not None:
            chance = np.diagonal(own[1]) + np.diagonal(implied[1])
            excess[view] += (own[0] - implied[0]) ** 2 - chance
            seen[view] += 1
    rows = []
    heterogeneity = None if data.adaptive is None else data.adaptive.heterogeneity
    truth = np.sqrt(variances.mean(axis=0))
    for j in range(problem.dimension):
        scatter = np.sqrt(max(excess[j] / seen[j], 0.0)) * scale[j] if seen[j] else pd.NA
        pooled = pd.NA if heterogeneity is None else np.sqrt(heterogeneity[j]) * scale[j]
        rows.append(
            {"feature": j + 1, "truth": truth[j] * scale[j], "scatter": scatter, "adaptive": pooled}
        )
    return pd.DataFrame(rows).astype({"scatter": "Float64", "adaptive": "Float64"})


def belonging(data: DataSet) -> pd.DataFrame:
    """How far every agent's model is from what the others imply for it.

    ``e' (V_own + V_implied)^-1 e / d_i`` is about 1 by chance alone, whoever agrees.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``apart`` (that ratio), ``trust`` (of partial pooling) and
        ``truth`` (the size of its deviation, in standard deviations of the label). What does not
        exist is ``<NA>``.
    """
    problem = data.problem
    deviations = problem.thetas - problem.theta
    sizes = ((deviations @ problem.covariance) * deviations).sum(axis=1)
    rows = []
    for i, view in enumerate(problem.views):
        own, implied = data.own(i), data.implied(i)
        apart: Any = pd.NA
        if own is not None and implied is not None:
            gap = own[0] - implied[0]
            apart = float(gap @ np.linalg.solve(own[1] + implied[1], gap)) / view.size
        trust = pd.NA if data.adaptive is None else float(data.adaptive.trust[i])
        truth = float(np.sqrt(sizes[i] / problem.label_variance))
        rows.append({"agent": i + 1, "apart": apart, "trust": trust, "truth": truth})
    return pd.DataFrame(rows).astype({"apart": "Float64", "trust": "Float64"})
