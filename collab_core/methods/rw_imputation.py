"""RW-Imputation: all data imputed and pooled, weighted as an oracle would."""

from __future__ import annotations

from .._base.checks import Array
from ..bounds import covariances as bounds
from ..bounds.weights import (
    gaussian_weights,
)
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.problem import Problem
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, data_numbers
from .imputation import global_imputation


class RWImputation(Method):
    """Global imputation with weights by the true unexplained variances."""

    key = "rw_imputation"
    label = "RW-Imputation"
    summary = "All data imputed, pooled, weighted optimally."
    style = Style("#33BBEE", "dash", "square")
    needs = frozenset({"fit", "xx", "covariance", "truth"})
    formulas = Formulas("$C^g$", "$T_i C^g T_i'$", "$\\Theta(n d_i)$")
    gives_intervals = True

    def estimate(self, agents: Agents) -> Estimate:
        assert agents.oracle is not None
        # The paper's: weights by the true s_i, known to an oracle.
        alphas = 1 / agents.oracle.unexplained
        return global_imputation(agents.moments, agents.views, agents.geometry, alphas)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        if told.scores is None:
            return bounds.gauss(problem)
        return bounds.weighted(problem, gaussian_weights(problem), told.scores)

    def sent(self, problem: Problem, n: int) -> Traffic:
        return Traffic(data_numbers(problem, n), problem.sizes)
