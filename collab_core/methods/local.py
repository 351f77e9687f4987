"""Local least squares: every agent on its own (the paper's Naive-Local)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.checks import Array
from ..bounds import covariances as bounds
from ..core.agents import Agents, LocalModels
from ..core.moments import LocalFit, Moments
from ..core.problem import Problem
from ..core.target import Target
from .base import PLAIN, Formulas, Method, Style, Told, Traffic


def local_ols(moments: Moments) -> LocalFit:
    """Ordinary least squares of one agent on its own data (Naive-Local).

    Returns
    -------
    LocalFit
        ``.theta`` (..., d_i) and ``.residual``, the paper's ``R_i = RSS / n`` (...).
    """
    return moments.fit


class Local(Method):
    """Every agent fits its own samples; for all features, a newcomer who sees them all does."""

    key = "local"
    label = "Local OLS"
    summary = "Every agent on its own data and features."
    style = Style("#CC79A7", "longdash", "triangle-up")
    needs = frozenset({"fit"})
    formulas = Formulas("–", "$(W_i^g)^{-1}$", "0")

    def estimate(self, agents: Agents) -> LocalModels:
        return LocalModels(agents.data, agents.fresh)

    def reads(self, *, full: bool, weights: str) -> frozenset[str]:
        return self.needs | {"fresh"} if full else self.needs

    def own_covariance(self, problem: Problem, agent: int, told: Told = PLAIN) -> Array | None:
        return bounds.local_ols(problem, agent, told.scores)

    def expected_errors(
        self,
        problem: Problem,
        sample_sizes: Sequence[int],
        target: Target,
        told: Told = PLAIN,
    ) -> list[float | None]:
        if target.agent is not None:
            if told.scores is not None:
                return super().expected_errors(problem, sample_sizes, target, told)
            s, k = float(problem.unexplained[target.agent]), int(problem.sizes[target.agent])
            counts = [int(problem.sample_sizes(n)[target.agent]) for n in sample_sizes]
            return [least_squares_error(s, k, count) for count in counts]
        noise, d = problem.noise**2, problem.dimension
        if told.scores is not None:
            # A newcomer who sees everything has no unseen signal: its Q is noise^2 Sigma for any
            # law.
            return [noise * d / n for n in sample_sizes]
        return [least_squares_error(noise, d, n) for n in sample_sizes]

    def floor(self, problem: Problem, target: Target) -> float | None:
        # For all features it is a newcomer's, not an agent's: the paper's table has a dash.
        return None if target.agent is None else 0.0

    def sent(self, problem: Problem, n: int) -> Traffic:
        nothing = np.zeros_like(problem.sizes)
        return Traffic(nothing, nothing)


def least_squares_error(unexplained: float, features: int, n: int) -> float | None:
    """``s k / (n - k - 1)``: exact for Gaussian features; infinite, so None, for n <= k + 1."""
    if features == 0:
        return 0.0
    return unexplained * features / (n - features - 1) if n > features + 1 else None
