"""What to measure next: one more feature of one agent, and plans of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event

import numpy as np
import pandas as pd

from ..._base.checks import Array, agent_index, whole
from ...core.problem import Problem
from .consortium import STACK, Consortium

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
        unseen = problem.thetas[i].copy()
        unseen[view] -= local @ problem.phis[i][view]
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
    return Problem(
        problem.covariance, problem.theta, problem.noise, views, problem.shares, problem.deviations
    )


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
