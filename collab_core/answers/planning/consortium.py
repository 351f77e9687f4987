"""A problem prepared for asking what changes, and who would miss whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..._base.checks import Array, positive
from ...core.problem import Problem

#: Matrices inverted at a time.
STACK = 512


class Consortium:
    """A problem prepared for asking what changes: K and its parts, padded to all features.

    Parameters
    ----------
    problem : Problem
    n : float
        Labelled samples per agent (times its share).
    """

    def __init__(self, problem: Problem, n: float) -> None:
        self.problem, self.n = problem, positive("n", n)
        m, d = problem.agents, problem.dimension
        #: S_i = inv(Sigma_i+), padded, shape (m, d, d).
        self.inverses = np.zeros((m, d, d))
        for i, (view, local) in enumerate(
            zip(problem.views, problem.geometry.inverses, strict=True)
        ):
            self.inverses[i][np.ix_(view, view)] = local
        self.rates = problem.shares / problem.unexplained

    def errors(self, information: Array) -> Array:
        """Every agent's expected error for stacks of K, without the irreducible part, (q, m).

        A feature that nobody in the stack's K has seen is no part of anybody's model there.
        """
        d = self.problem.dimension
        stack = information.reshape(-1, d, d)
        found = np.empty((len(stack), self.problem.agents))
        for start in range(0, len(stack), STACK):
            spread, _ = inverted(stack[start : start + STACK])
            found[start : start + STACK] = self.traces(spread)
        return found / self.n

    def traces(self, spread: Array) -> Array:
        """``tr(S_i spread)`` for every agent, shape (q, d, d) -> (q, m)."""
        m, d = self.problem.agents, self.problem.dimension
        return spread.reshape(-1, d * d) @ self.inverses.reshape(m, d * d).T

    @property
    def alone(self) -> Array:
        """Every agent's expected error alone, shape (m,)."""
        return self.problem.sizes / self.rates / self.n

    @property
    def together(self) -> Array:
        """Every agent's expected error with all others, shape (m,)."""
        return self.errors(self.problem.information)[0]

    def information_of(self, members: np.ndarray) -> Array:
        """K of coalitions, a stack of membership rows (q, m) of bool; shape (q, d, d)."""
        return self.weighed(members * self.rates)

    def weighed(self, rates: Array) -> Array:
        """K of agents with these rates, shape (q, m) -> (q, d, d)."""
        d = self.problem.dimension
        return (rates @ self.inverses.reshape(self.problem.agents, d * d)).reshape(-1, d, d)


def inverted(information: Array) -> tuple[Array, np.ndarray]:
    """Inverses of a stack of K, and which features nobody in it sees: (q, d, d) and (q, d).

    Such a feature stands by itself, with 1 on the diagonal.
    """
    part = information.copy()
    diagonal = np.arange(part.shape[-1])
    unseen = part[:, diagonal, diagonal] <= 0
    part[:, diagonal, diagonal] += unseen
    return np.linalg.inv(part), unseen


def who_helps_whom(problem: Problem, n: float) -> Array:
    """By how much agent i's error rises when agent j leaves, shape (m, m).

    Entry (i, j) is ``after / before - 1``; on the diagonal agent i itself leaves and is alone. 0
    for agents that see nothing.
    """
    world = Consortium(problem, n)
    m = problem.agents
    before = world.together
    after = world.errors(world.information_of(~np.eye(m, dtype=bool))).T
    after[np.diag_indices(m)] = world.alone
    ratio = np.divide(after, before[:, None], out=np.ones((m, m)), where=before[:, None] > 0)
    return np.maximum(ratio - 1, 0.0)


def rises_by_agent(rises: ArrayLike, agents: Sequence[str] | None = None) -> pd.DataFrame:
    """`who_helps_whom` as a table: whose error rises down the rows, who leaves along the columns.

    Parameters
    ----------
    rises : array, shape (m, m)
    agents : list of str, optional
        Their names; "agent 1", "agent 2" and so on by default.

    Returns
    -------
    DataFrame
        ``agent``, and a column ``without <name>`` for every agent.
    """
    matrix = np.asarray(rises, dtype=float)
    names = [f"agent {i + 1}" for i in range(len(matrix))] if agents is None else list(agents)
    without = [f"without {name}" for name in names]
    return pd.DataFrame(matrix, index=names, columns=without).reset_index(names="agent")


def with_names(
    frame: pd.DataFrame, agents: Sequence[str] | None = None, features: Sequence[str] | None = None
) -> pd.DataFrame:
    """A table of plans with the names of its agents and features beside their numbers.

    Parameters
    ----------
    frame : DataFrame
        With ``agent`` and perhaps ``feature``, counted from 1; 0 is nobody, or none.
    agents, features : list of str, optional
        Their names; "agent 1" and "x1" and so on by default.

    Returns
    -------
    DataFrame
        With ``agent_name``, and ``feature_name`` where there are features.
    """

    def named(column: str, names: Sequence[str] | None, usual: str) -> list[str]:
        places = [int(place) for place in frame[column]]
        if names is None:
            return [f"{usual}{place}" if place else "" for place in places]
        return [names[place - 1] if place else "" for place in places]

    more = {"agent_name": named("agent", agents, "agent ")}
    if "feature" in frame:
        more["feature_name"] = named("feature", features, "x")
    return frame.assign(**more)
