"""Fair shares of what working together gains: who brings it, and who gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from threading import Event

import numpy as np
import pandas as pd

from ..._base.checks import Array, whole
from ...core.problem import Problem
from .consortium import Consortium, inverted

#: Up to this many agents all coalitions are valued; above it, orders of arrival are sampled.
LARGEST_EXACT = 12


@dataclass(frozen=True, eq=False)
class Shares:
    """Fair shares of what working together gains in all: who brings it, and who gets it.

    Attributes
    ----------
    brings : array, shape (m,)
        What an agent brings to the others: of what each of them saves, its Shapley value among
        that one's partners. They add up to ``total``.
    gets : array, shape (m,)
        What it saves itself. They add up to ``total`` too.
    values : array, shape (m,)
        Shapley values of the consortium as one game, in which a coalition is worth what its members
        save: what an agent brings and what it gets, in one number. They add up to ``total``.
    brings_errors, errors : array, shape (m,)
        Monte-Carlo standard errors of ``brings`` and ``values``; 0 where all coalitions were
        valued.
    total : float
        Sum over agents of the error that working together saves.
    orders : int
        Random orders of arrival behind them; 0 where all coalitions were valued.
    """

    brings: Array
    gets: Array
    values: Array
    brings_errors: Array
    errors: Array
    total: float
    orders: int

    @property
    def exact(self) -> bool:
        """Whether all coalitions were valued."""
        return self.orders == 0

    @property
    def frame(self) -> pd.DataFrame:
        """A row per ``agent`` (counted from 1): ``brings``, ``gets``, ``share``, and errors."""
        return pd.DataFrame(
            {
                "agent": np.arange(1, self.values.size + 1),
                "brings": self.brings,
                "gets": self.gets,
                "share": self.values,
                "brings_error": self.brings_errors,
                "share_error": self.errors,
            }
        )


def shapley(
    problem: Problem,
    n: float,
    *,
    orders: int = 200,
    seed: int = 0,
    progress: Callable[[float, Shares], None] | None = None,
    cancel: Event | None = None,
) -> Shares:
    """Fair shares by Shapley value: what an agent adds, averaged over all orders of arrival.

    Two games are valued. In one a coalition is worth what its members save, the sum over them of
    their error alone less their error in the coalition; who learns most then has a large share
    without bringing much to anybody. So the other gives every agent's saving to its partners: to
    agent i a coalition of others is worth what i saves when it joins them.

    Parameters
    ----------
    orders : int
        With more than 12 agents, how many random orders, in tens (see `_ten_orders`), at least 20.
    progress : callable, optional
        Told the share done and the result so far, where orders are sampled.
    cancel : Event, optional
        When set, the orders done so far are what is used, at least 20.
    """
    world = Consortium(problem, n)
    m = problem.agents
    gets = world.alone - world.together
    total = float(gets.sum())
    if m <= LARGEST_EXACT:
        brings, values = _all_coalitions(world)
        return Shares(brings, gets, values, np.zeros(m), np.zeros(m), total, 0)
    rng = np.random.default_rng(whole("seed", seed, low=0))
    blocks = max(whole("orders", orders, low=1) // 10, 2)
    found = np.empty((blocks, 2, m))

    def result(done: int) -> Shares:
        mean, spread = found[:done].mean(axis=0), found[:done].std(axis=0, ddof=1) / np.sqrt(done)
        return Shares(mean[0], gets, mean[1], spread[0], spread[1], total, 10 * done)

    for row in range(blocks):
        found[row] = np.mean([_along(world, order) for order in _ten_orders(rng, m)], axis=0)
        if row and progress is not None:
            progress((row + 1) / blocks, result(row + 1))
        if row and cancel is not None and cancel.is_set():
            return result(row + 1)
    return result(blocks)


def _ten_orders(rng: np.random.Generator, m: int) -> list[np.ndarray]:
    """A random order, turned by fifths, and their reversals.

    Who comes first brings most, so most of the variance is in the place: here every agent is ten
    times in places spread over the whole order.
    """
    order = rng.permutation(m)
    turned = [np.roll(order, round(fifth * m / 5)) for fifth in range(5)]
    return turned + [order[::-1] for order in turned]


def _joining(world: Consortium, members: np.ndarray) -> Array:
    """Error of every agent when it joins coalitions that it may be in already, shape (q, m).

    With ``A = inv(K)[o_i, o_i]`` of the coalition, an agent of rate r that joins it has the error
    ``tr(S_i inv(inv(A) + r S_i)) = (d_i - tr(inv(A + Sigma_i+ / r) Sigma_i+ / r)) / r``.
    """
    problem = world.problem
    spread, unseen = inverted(world.information_of(members))
    errors = world.traces(spread)
    diagonal = np.arange(problem.dimension)
    # Of a feature that nobody there sees nothing is known: its variance is beyond all others.
    spread[:, diagonal, diagonal] += unseen * (
        1e9 * np.diagonal(problem.covariance) / world.rates.min()
    )
    for i, view in enumerate(problem.views):
        outside = ~members[:, i]
        own = problem.geometry.block(i) / world.rates[i]
        block = spread[outside][:, view[:, None], view]
        kept = (np.linalg.inv(block + own) * own).sum(axis=(-1, -2))
        errors[outside, i] = (view.size - kept) / world.rates[i]
    return errors / world.n


def _worths(world: Consortium, members: np.ndarray, joining: Array) -> Array:
    """Worths of coalitions in both games, summed over agents, shape (q, 2)."""
    saved = world.alone - joining
    return np.stack([saved.sum(axis=1), np.where(members, saved, 0.0).sum(axis=1)], axis=1)


def _all_coalitions(world: Consortium) -> Array:
    """Both Shapley values, shape (2, m)."""
    m = world.problem.agents
    index = np.arange(2**m)
    members = (index[:, None] >> np.arange(m)) & 1 == 1
    errors = world.errors(world.information_of(members))
    joining = np.stack([errors[index | (1 << i), i] for i in range(m)], axis=1)
    worth = _worths(world, members, joining)
    size = members.sum(axis=1)
    weight = np.array([factorial(k) * factorial(m - 1 - k) / factorial(m) for k in range(m)])
    values = np.empty((2, m))
    for j in range(m):
        without = np.flatnonzero(~members[:, j])
        values[:, j] = weight[size[without]] @ (worth[without | (1 << j)] - worth[without])
    return values


def _along(world: Consortium, order: np.ndarray) -> Array:
    """What each agent adds in both games when they arrive in this order, shape (2, m)."""
    m = world.problem.agents
    arrived = np.zeros((m + 1, m), dtype=bool)
    for step, agent in enumerate(order):
        arrived[step + 1] = arrived[step]
        arrived[step + 1, agent] = True
    added = np.empty((2, m))
    added[:, order] = np.diff(_worths(world, arrived, _joining(world, arrived)), axis=0).T
    return added
