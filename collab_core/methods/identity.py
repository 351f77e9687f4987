"""COLLAB with identity weights: every local coefficient counts the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from .._base.checks import Array
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.problem import Problem
from .aggregate import (
    aggregate,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, message_numbers


class Identity(Method):
    """Consistent, as any weights are, and seldom good."""

    key = "identity"
    label = "Identity weights"
    summary = "Every local coefficient counts the same."
    style = Style("#AA4499", "dash", "hexagon-open")
    needs = frozenset({"fit", "xx", "covariance"})
    formulas = Formulas("$C(I, .., I)$", "$T_i C T_i'$", "$\\Theta(d_i^2)$")
    usual = False
    in_table_1 = False
    is_weighting = True
    exempt: ClassVar[Mapping[str, str]] = {
        "rescaled_features": "every coefficient counts the same in its own unit, so units count",
    }

    def estimate(self, agents: Agents) -> Estimate:
        eyes = [np.eye(view.size) for view in agents.views]
        return aggregate(agents.moments, agents.views, agents.geometry, eyes)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return bounds.weighted(problem, [np.eye(size) for size in problem.sizes], told.scores)

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(message_numbers(problem), problem.sizes)
