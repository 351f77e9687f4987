"""COLLAB with the optimal weights themselves, which need the truth."""

from __future__ import annotations

from .._base.checks import Array
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.problem import Problem
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, message_numbers
from .collab_optimal import collab_scored


class CollabOracle(Method):
    """Theorem 3.1's weights, known."""

    key = "collab_oracle"
    label = "COLLAB, oracle W*"
    summary = "The optimal weights themselves, which need the truth."
    style = Style("#8C8C00", "dash", "diamond-open")
    needs = frozenset({"fit", "xx", "covariance", "truth"})
    formulas = Formulas("$C(W^*)$", "$T_i C(W^*) T_i'$", "$\\Theta(d_i^2)$")
    usual = False
    in_table_1 = False
    is_weighting = True

    def estimate(self, agents: Agents) -> Estimate:
        assert agents.oracle is not None
        return collab_scored(
            agents.moments,
            agents.views,
            agents.geometry,
            agents.oracle.scores(),
            agents.options.form,
        )

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return (
            bounds.gauss(problem) if told.scores is None else bounds.optimal(problem, told.scores)
        )

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(message_numbers(problem), problem.sizes)
