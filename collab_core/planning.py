"""Plans in closed form: who helps whom, fair shares, what to measure next, where to spend samples.

Everything is about agents' own models: agent i's error at sample size n is
``tr(Sigma_i+ T_i C_gauss T_i') / n`` plus what it can never explain. In the dual form that is
``tr(S_i inv(K)[o_i, o_i]) / n`` with ``S_i = inv(Sigma_i+)``, so every change of the consortium is
a change of K by one small matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
import pandas as pd

from ._checks import Array, agent_index, positive, whole
from .problem import Problem

#: Up to this many agents all coalitions are valued; above it, orders of arrival are sampled.
LARGEST_EXACT = 12

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
        d, m = self.problem.dimension, self.problem.agents
        flat = self.inverses.reshape(m, d * d).T
        stack = information.reshape(-1, d, d)
        found = np.empty((len(stack), m))
        for start in range(0, len(stack), STACK):
            part = stack[start : start + STACK].copy()
            diagonal = np.arange(d)
            empty = part[:, diagonal, diagonal] <= 0
            part[:, diagonal, diagonal] += empty
            found[start : start + STACK] = np.linalg.inv(part).reshape(len(part), d * d) @ flat
        return found / self.n

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
        d = self.problem.dimension
        weights = members * self.rates
        flat = self.inverses.reshape(self.problem.agents, d * d)
        return (weights @ flat).reshape(-1, d, d)


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


@dataclass(frozen=True, eq=False)
class Shares:
    """What each agent brings, as a fair share of what working together gains in all.

    Attributes
    ----------
    values : array, shape (m,)
        Shapley values: they add up to ``total``.
    errors : array, shape (m,)
        Their Monte-Carlo standard errors; 0 where all coalitions were valued.
    total : float
        Sum over agents of the error that working together saves.
    exact : bool
    """

    values: Array
    errors: Array
    total: float
    exact: bool


def shapley(problem: Problem, n: float, *, orders: int = 200, seed: int = 0) -> Shares:
    """Fair shares by Shapley value.

    A coalition is worth what its members save together: the sum over them of their error alone
    less their error in the coalition. An agent's share is what it adds, averaged over all orders
    in which agents could arrive.

    Parameters
    ----------
    orders : int
        With more than 12 agents, how many random orders (half of them reversals of the others).
    """
    world = Consortium(problem, n)
    m = problem.agents
    total = float((world.alone - world.together).sum())
    if m <= LARGEST_EXACT:
        return Shares(_all_coalitions(world), np.zeros(m), total, True)
    rng = np.random.default_rng(whole("seed", seed, low=0))
    pairs = max(whole("orders", orders, low=4) // 2, 2)
    added = np.empty((pairs, m))
    for row in range(pairs):
        order = rng.permutation(m)
        added[row] = (_along(world, order) + _along(world, order[::-1])) / 2
    spread = added.std(axis=0, ddof=1) / np.sqrt(pairs)
    return Shares(added.mean(axis=0), spread, total, False)


def _worth(world: Consortium, members: np.ndarray) -> Array:
    """What coalitions save, shape (q,), for membership rows (q, m)."""
    saved = world.alone - world.errors(world.information_of(members))
    return np.where(members, saved, 0.0).sum(axis=1)


def _all_coalitions(world: Consortium) -> Array:
    m = world.problem.agents
    members = (np.arange(2**m)[:, None] >> np.arange(m)) & 1 == 1
    worth = _worth(world, members)
    size = members.sum(axis=1)
    values = np.empty(m)
    weight = np.array([factorial(k) * factorial(m - 1 - k) / factorial(m) for k in range(m)])
    for i in range(m):
        without = np.flatnonzero(~members[:, i])
        gains = worth[without | (1 << i)] - worth[without]
        values[i] = weight[size[without]] @ gains
    return values


def _along(world: Consortium, order: np.ndarray) -> Array:
    """What each agent adds when they arrive in this order, shape (m,)."""
    m = world.problem.agents
    arrived = np.zeros((m + 1, m), dtype=bool)
    for step, agent in enumerate(order):
        arrived[step + 1] = arrived[step]
        arrived[step + 1, agent] = True
    worth = _worth(world, arrived)
    added = np.empty(m)
    added[order] = np.diff(worth)
    return added


#: Columns that belong together, such as the levels of one question: index lists.
Groups = Sequence[Sequence[int]]


def feature_groups(d: int, groups: Groups | None) -> list[np.ndarray]:
    """Groups of columns as index arrays; every feature by itself where none are given."""
    if groups is None:
        return list(np.arange(d)[:, None])
    checked = [
        np.array([whole("groups", j, low=0, high=d - 1) for j in part], dtype=np.intp)
        for part in groups
    ]
    counts = np.bincount([j for part in checked for j in part], minlength=d)
    if (counts != 1).any():
        wrong = int(np.flatnonzero(counts != 1)[0])
        raise ValueError(
            f"groups must hold every feature once, but {wrong} is in {counts[wrong]:g}"
        )
    return checked


def next_features(problem: Problem, n: float, groups: Groups | None = None) -> pd.DataFrame:
    """What is gained if an agent started to see one more feature, a row for each that it does not.

    Parameters
    ----------
    groups : list of index lists, optional
        Features that come together, such as the levels of one question, each in one group: an
        agent then gets all of a group, and groups are what is counted.

    Returns
    -------
    DataFrame
        ``agent`` and ``feature`` (or group; counted from 1), ``own`` (fall of the agent's own
        expected error, what it could never explain included) and ``everybody`` (fall of the sum of
        all agents' errors), both in error units, and ``own_share``, ``everybody_share`` of what
        these errors are now.
    """
    world = Consortium(problem, n)
    parts = feature_groups(problem.dimension, groups)
    unseen_parts = np.array([(~problem.mask[:, part]).any(axis=1) for part in parts]).T
    agents, features = np.nonzero(unseen_parts)
    if agents.size == 0:
        names = ["agent", "feature", "own", "everybody", "own_share", "everybody_share"]
        return pd.DataFrame(columns=names)
    d = problem.dimension
    now = world.together + problem.irreducible
    information = np.broadcast_to(problem.information, (agents.size, d, d)).copy()
    wider_inverses, irreducible = [], np.empty(agents.size)
    for row, (i, j) in enumerate(zip(agents.tolist(), features.tolist(), strict=True)):
        view = np.union1d(problem.views[i], parts[j])
        local = np.linalg.inv(problem.covariance[np.ix_(view, view)])
        best = local @ problem.phi[view]
        unseen = problem.theta.copy()
        unseen[view] -= best
        # theta_i-' Gamma_i theta_i- of the wider view, without a difference of large numbers.
        irreducible[row] = max(float(unseen @ problem.covariance @ unseen), 0.0)
        rate = problem.shares[i] / (problem.noise**2 + irreducible[row])
        information[row] -= world.rates[i] * world.inverses[i]
        information[row][np.ix_(view, view)] += rate * local
        wider_inverses.append((view, local))
    after = world.errors(information) + problem.irreducible
    # The agent itself is judged on its wider model.
    for row, (view, local) in enumerate(wider_inverses):
        block = np.linalg.inv(information[row])[np.ix_(view, view)]
        after[row, agents[row]] = float((local * block).sum()) / world.n + irreducible[row]
    own = now[agents] - after[np.arange(agents.size), agents]
    everybody = now.sum() - after.sum(axis=1)
    return pd.DataFrame(
        {
            "agent": agents + 1,
            "feature": features + 1,
            "own": own,
            "everybody": everybody,
            "own_share": np.divide(own, now[agents], out=np.zeros_like(own), where=now[agents] > 0),
            "everybody_share": everybody / now.sum() if now.sum() > 0 else np.zeros_like(own),
        }
    )


def with_feature(problem: Problem, agent: int, feature: int | Sequence[int]) -> Problem:
    """The same world in which an agent sees one more feature, or several (counted from 0)."""
    agent = agent_index(agent, problem.agents)
    more = [
        whole("feature", int(j), low=0, high=problem.dimension - 1) for j in np.atleast_1d(feature)
    ]
    views = [np.asarray(view) for view in problem.views]
    views[agent] = np.union1d(views[agent], more)
    return Problem(problem.covariance, problem.theta, problem.noise, views, problem.shares)


def plan_features(
    problem: Problem,
    n: float,
    additions: int,
    goal: str | int = "everybody",
    groups: Groups | None = None,
) -> pd.DataFrame:
    """Greedy plan: one feature of one agent after the other, each time the most useful.

    Parameters
    ----------
    groups : list of index lists, optional
        Features that come together, as in `next_features`.
    goal : str or int
        ``"everybody"`` for the sum of all agents' errors, or an agent counted from 0.

    Returns
    -------
    DataFrame
        ``step`` (0 is now), ``agent``, ``feature`` (counted from 1; 0 at step 0) and ``error``.
    """
    current, parts = problem, feature_groups(problem.dimension, groups)
    rows = [{"step": 0, "agent": 0, "feature": 0, "error": _goal_error(problem, n, goal)}]
    for step in range(1, whole("additions", additions, low=0) + 1):
        options = next_features(current, n, groups)
        if options.empty:
            break
        column = "everybody"
        if goal != "everybody":
            options = options[options["agent"] == int(goal) + 1]
            column = "own"
            if options.empty:
                break
        best = options.iloc[int(options[column].to_numpy().argmax())]
        agent, feature = int(best["agent"]), int(best["feature"])
        current = with_feature(current, agent - 1, parts[feature - 1].tolist())
        rows.append(
            {"step": step, "agent": agent, "feature": feature,
             "error": _goal_error(current, n, goal)}
        )  # fmt: skip
    return pd.DataFrame(rows)


def _goal_error(problem: Problem, n: float, goal: str | int) -> float:
    errors = Consortium(problem, n).together + problem.irreducible
    return float(errors.sum() if goal == "everybody" else errors[int(goal)])


def samples_needed(problem: Problem, error: float) -> pd.DataFrame:
    """Labelled samples every agent needs for an expected error beyond what it can never explain.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``alone`` (exact for Gaussian features: ``d_i + 1 + s_i d_i /
        error``), ``together`` (its own samples, when all agents' grow in proportion; leading
        order) and ``saved`` (their ratio).
    """
    wanted = positive("error", error)
    together = Consortium(problem, 1.0).together / wanted * problem.shares
    sizes = problem.sizes
    alone = np.where(sizes > 0, sizes + 1 + problem.unexplained * sizes / wanted, 0.0)
    return pd.DataFrame(
        {
            "agent": np.arange(1, problem.agents + 1),
            "alone": alone,
            "together": together,
            "saved": np.divide(alone, together, out=np.ones_like(alone), where=together > 0),
        }
    )


def spend_samples(problem: Problem, n: float, extra: float, steps: int = 1) -> pd.DataFrame:
    """Where extra labelled samples are best spent: the fall of the sum of all agents' errors.

    Parameters
    ----------
    extra : float
        Labelled samples to give.
    steps : int
        In how many equal portions; each goes where it helps most then.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``fall`` (of the sum of errors if all of ``extra`` went there)
        and ``given`` (samples of the plan that go there).
    """
    world = Consortium(problem, n)
    m = problem.agents
    positive("extra", extra)
    portions = whole("steps", steps, low=1)
    share = extra / world.n
    each = world.inverses / problem.unexplained[:, None, None]
    before = world.together.sum()
    fall = before - world.errors(problem.information + share * each).sum(axis=1)
    given = np.zeros(m)
    current = problem.information.copy()
    for _ in range(portions):
        options = world.errors(current + share / portions * each).sum(axis=1)
        best = int(options.argmin())
        given[best] += extra / portions
        current = current + share / portions * each[best]
    return pd.DataFrame({"agent": np.arange(1, m + 1), "fall": fall, "given": given})
