"""Plans in closed form: who helps whom, fair shares, what to measure next, where to spend samples.

Everything is about agents' own models: agent i's error at sample size n is
``tr(Sigma_i+ T_i C_gauss T_i') / n`` plus what it can never explain. In the dual form that is
``tr(S_i inv(K)[o_i, o_i]) / n`` with ``S_i = inv(Sigma_i+)``, so every change of the consortium is
a change of K by one small matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import factorial
from threading import Event

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._base.checks import Array, agent_index, positive, whole
from .._base.linalg import transpose
from ..core.problem import Problem

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
        d = self.problem.dimension
        stack = information.reshape(-1, d, d)
        found = np.empty((len(stack), self.problem.agents))
        for start in range(0, len(stack), STACK):
            spread, _ = _inverted(stack[start : start + STACK])
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

    def finite_errors(self, sizes: Array) -> Array:
        """As the function of that name."""
        problem = self.problem
        counts = sizes[:, None] * problem.shares
        freedom = counts - problem.sizes
        kept = np.where(freedom > 4, (freedom - 4) / np.maximum(freedom - 2, 1.0), 0.0)
        rates = kept * counts / problem.unexplained
        inverted, unknown = _inverted(self.weighed(rates))
        first = self.traces(inverted)
        middle = np.zeros_like(inverted)
        locals_ = problem.geometry.inverses
        for k, (view, local) in enumerate(zip(problem.views, locals_, strict=True)):
            weight = (rates[:, k] ** 2 / counts[:, k])[:, None, None]
            block = local @ inverted[:, view[:, None], view] @ local
            middle[:, view[:, None], view] += weight * (block + first[:, k, None, None] * local)
        errors = self.traces(inverted + inverted @ middle @ transpose(inverted))
        errors[unknown.astype(float) @ problem.mask.T > 0] = np.inf
        return errors


def _inverted(information: Array) -> tuple[Array, np.ndarray]:
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
    spread, unseen = _inverted(world.information_of(members))
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
    now = world.together + problem.irreducible
    after = np.empty((agents.size, problem.agents))
    for start in range(0, agents.size, STACK):
        rows = slice(start, start + STACK)
        after[rows] = _after(world, agents[rows], [parts[j] for j in features[rows]])
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


def _after(world: Consortium, agents: np.ndarray, parts: Sequence[np.ndarray]) -> Array:
    """All agents' errors, one row for every agent that sees some features more, shape (q, m)."""
    problem = world.problem
    information = np.repeat(problem.information[None], len(parts), axis=0)
    wider: list[tuple[np.ndarray, Array, float]] = []
    for row, (i, part) in enumerate(zip(agents.tolist(), parts, strict=True)):
        view = np.union1d(problem.views[i], part)
        local = np.linalg.inv(problem.covariance[np.ix_(view, view)])
        unseen = problem.theta.copy()
        unseen[view] -= local @ problem.phi[view]
        # theta_i-' Gamma_i theta_i- of the wider view, without a difference of large numbers.
        irreducible = max(float(unseen @ problem.covariance @ unseen), 0.0)
        information[row] -= world.rates[i] * world.inverses[i]
        rate = problem.shares[i] / (problem.noise**2 + irreducible)
        information[row][np.ix_(view, view)] += rate * local
        wider.append((view, local, irreducible))
    spread = np.linalg.inv(information)
    after = world.traces(spread) / world.n + problem.irreducible
    # The agent itself is judged on its wider model.
    for row, (view, local, irreducible) in enumerate(wider):
        block = spread[row][np.ix_(view, view)]
        after[row, agents[row]] = float((local * block).sum()) / world.n + irreducible
    return after


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
    *,
    progress: Callable[[float, pd.DataFrame], None] | None = None,
    cancel: Event | None = None,
) -> pd.DataFrame:
    """Greedy plan: one feature of one agent after the other, each time the most useful.

    Parameters
    ----------
    groups : list of index lists, optional
        Features that come together, as in `next_features`.
    goal : str or int
        ``"everybody"`` for the sum of all agents' errors, or an agent counted from 0: then only
        its own additions count.
    progress : callable, optional
        Told the share done and the plan so far.
    cancel : Event, optional
        When set, the plan ends with the additions found so far.

    Returns
    -------
    DataFrame
        ``step`` (0 is now), ``agent``, ``feature`` (counted from 1; 0 at step 0) and ``error``.
    """
    current, parts = problem, feature_groups(problem.dimension, groups)
    rows = [{"step": 0, "agent": 0, "feature": 0, "error": _goal_error(problem, n, goal)}]
    count = whole("additions", additions, low=0)
    for step in range(1, count + 1):
        if cancel is not None and cancel.is_set():
            break
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
        if progress is not None:
            progress(step / count, pd.DataFrame(rows))
    return pd.DataFrame(rows)


def _goal_error(problem: Problem, n: float, goal: str | int) -> float:
    errors = Consortium(problem, n).together + problem.irreducible
    return float(errors.sum() if goal == "everybody" else errors[int(goal)])


def finite_errors(problem: Problem, sizes: ArrayLike) -> Array:
    """COLLAB's expected error for every agent at sizes that are not large, shape (q,) -> (q, m).

    Leading order ``tr(S_i inv(K))`` with two corrections. Agents are weighted by 1/R_i, and R_i
    varies: for ``nu = n_i - d_i`` degrees of freedom, weights in ``1/chi2(nu)`` leave an agent the
    share ``E[w]^2 / E[w^2] = (nu - 4) / (nu - 2)`` of its rate (nothing from ``nu = 4`` down). And
    the features vary: with ``A = inv(K)`` the mean of the inverse of the K that was drawn is, to
    second order,

        A + A sum_k (r_k^2 / n_k) [S_k A S_k + tr(S_k A) S_k] A,

    for one agent that sees everything ``1 + (d + 1)/n``, as it should be. Infinite where a feature
    is seen by nobody who takes part.

    Parameters
    ----------
    sizes : array, shape (q,)
        Labelled samples per agent, times its share.
    """
    return Consortium(problem, 1.0).finite_errors(np.atleast_1d(np.asarray(sizes, dtype=float)))


#: Sizes tried for a wanted error, and how often the gap around the first that suffices is halved.
GRID, HALVINGS = 24, 11


def samples_needed(problem: Problem, error: float) -> pd.DataFrame:
    """Labelled samples every agent needs for an expected error beyond what it can never explain.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``alone`` (exact for Gaussian features: ``d_i + 1 + s_i d_i /
        error``), ``together`` (its own samples, when all agents' grow in proportion; by
        `finite_errors`, never more than alone) and ``saved`` (their ratio).
    """
    wanted = positive("error", error)
    sizes = problem.sizes
    alone = np.where(sizes > 0, sizes + 1 + problem.unexplained * sizes / wanted, 0.0)
    seeing = np.flatnonzero(sizes > 0)
    # No size below the leading order's suffices; some way above it, and above all views, one does.
    world = Consortium(problem, 1.0)
    leading = world.together / wanted
    lowest = leading[seeing].min(initial=1.0)
    highest = max(2 * leading.max(), float(((4 * sizes + 20) / problem.shares).max()), 2 * lowest)
    while (world.finite_errors(np.array([highest]))[0, seeing] > wanted).any():
        highest *= 2
    grid = np.geomspace(lowest, highest, GRID)
    errors = world.finite_errors(grid)
    place = np.argmax(errors[:, seeing] <= wanted, axis=0)
    low, high = grid[np.maximum(place - 1, 0)], grid[place]
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        short = world.finite_errors(middle)[np.arange(seeing.size), seeing] > wanted
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    together = np.zeros(problem.agents)
    together[seeing] = np.minimum(high * problem.shares[seeing], alone[seeing])
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


def equal_shares(problem: Problem) -> Problem:
    """The same world in which all agents have the same number of samples."""
    return Problem(problem.covariance, problem.theta, problem.noise, problem.views)


def usual_error(problem: Problem, n: float) -> float:
    """Expected error of a usual agent alone: the median over agents that see something."""
    return float(np.median(Consortium(problem, n).alone[problem.sizes > 0]))


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
    """A table of this module with the names of its agents and features beside their numbers.

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
