"""The exchange, step by step: what the server adds up, message by message.

Algorithm 1 in the dual form: every message adds one small matrix to K and one short vector to the
right-hand side; phi solves ``K phi = rhs`` and ``theta = inv(Sigma) phi`` (METHOD, dual form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._base.checks import Array, agent_index, covariance_matrix, finite_array
from .._base.linalg import solve
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from .messages import Message, gather


@dataclass(frozen=True)
class ServerSums:
    """What the server holds after each message.

    Attributes
    ----------
    information : array, shape (m + 1, d, d)
        ``K`` after 0, 1, .., m messages.
    rhs : array, shape (m + 1, d)
        The right-hand side after as many.
    used : tuple of bool
        Which messages counted: one of no more samples than features has nothing to weigh it by.
    geometry : Geometry
        The covariance and the views.
    """

    information: Array
    rhs: Array
    used: tuple[bool, ...]
    geometry: Geometry

    def determined(self, heard: int) -> np.ndarray:
        """Features known after ``heard`` messages, shape (d,) of bool."""
        return np.diagonal(self.information[heard]) > 0

    def phi(self, heard: int) -> Array:
        """Solution after ``heard`` messages, 0 for features nobody has told about yet, (d,)."""
        known = np.flatnonzero(self.determined(heard))
        result = np.zeros(self.rhs.shape[1])
        if known.size:
            matrix = self.information[heard][np.ix_(known, known)]
            result[known], _ = solve(matrix, self.rhs[heard][known])
        return result

    def returned(self, agent: int, heard: int | None = None) -> Array | None:
        """The model that goes back to an agent, ``inv(Sigma_i+) phi[o_i]``, shape (d_i,).

        None while some feature of the agent has not been told about.
        """
        heard = len(self.used) if heard is None else heard
        if not self.determined(heard)[self.geometry.views[agent]].all():
            return None
        return self.geometry.local(self.phi(heard), agent)

    def theta(self, heard: int | None = None) -> Array | None:
        """The full-feature model, or None while some feature has not been told about, (d,)."""
        heard = len(self.used) if heard is None else heard
        if not self.determined(heard).all():
            return None
        return self.geometry.theta(self.phi(heard))

    def frame(self, heard: int) -> pd.DataFrame:
        """``rhs`` and the columns of K (``x1``, ``x2``, ..) after ``heard`` messages."""
        names = [f"x{j + 1}" for j in range(self.rhs.shape[1])]
        numbers = np.column_stack([self.rhs[heard], self.information[heard]])
        return pd.DataFrame(numbers, columns=["rhs", *names])

    @property
    def skipped(self) -> list[int]:
        """Agents (counted from 0) who see something and whose message does not count."""
        views = self.geometry.views
        return [i for i, used in enumerate(self.used) if views[i].size and not used]


def server_sums(messages: Sequence[Message], covariance: ArrayLike) -> ServerSums:
    """Add up messages one after the other, as the server does.

    The last state's solution is `estimators.collab` with Algorithm 1's (empirical) weights.

    Parameters
    ----------
    messages : list of Message
        In the order in which they come in.
    covariance : array, shape (d, d)
    """
    sigma = covariance_matrix(finite_array("covariance", covariance, ndim=2))
    d = sigma.shape[0]
    moments, views = gather(messages, d)
    geometry = Geometry(sigma, views)
    information, rhs = np.zeros((len(messages) + 1, d, d)), np.zeros((len(messages) + 1, d))
    used = []
    for i, (message, data, view) in enumerate(zip(messages, moments, views, strict=True)):
        information[i + 1], rhs[i + 1] = information[i], rhs[i]
        used.append(bool(view.size and message.n > view.size and message.residual > 0))
        if used[-1]:
            local, weight = geometry.inverses[i], 1 / message.residual
            information[i + 1][np.ix_(view, view)] += weight * local @ data.xx @ local
            rhs[i + 1][view] += weight * local @ data.xy
    return ServerSums(information, rhs, tuple(used), geometry)


def messages_of(problem: Problem, moments: Sequence[Moments]) -> list[Message]:
    """What the agents of a problem send when these are their data."""
    return [
        Message.of(f"agent {i + 1}", view, data)
        for i, (view, data) in enumerate(zip(problem.views, moments, strict=True))
    ]


def sent_and_returned(
    problem: Problem, messages: Sequence[Message], sums: ServerSums, agent: int
) -> pd.DataFrame:
    """The model that an agent sends, the one it gets back, and the best there is.

    Returns
    -------
    DataFrame
        A row a feature of the agent's: ``feature`` (its name), ``sent``, ``returned``, ``best``
        (``T_i theta``).
    """
    agent = agent_index(agent, problem.agents)
    returned = sums.returned(agent)
    if returned is None:
        raise ValueError(f"messages: too few count to solve for every feature of agent {agent}")
    return pd.DataFrame(
        {
            "feature": [f"x{j + 1}" for j in problem.views[agent]],
            "sent": messages[agent].theta,
            "returned": returned,
            "best": problem.local_theta(agent),
        }
    )


def own_error(problem: Problem, agent: int, model: ArrayLike) -> float:
    """Error of a model (d_i,) for agent i's features: ``|model - T_i theta|^2`` in Sigma_i+."""
    agent = agent_index(agent, problem.agents)
    gap = finite_array("model", model, ndim=1) - problem.local_theta(agent)
    return float(gap @ problem.geometry.block(agent) @ gap)
