"""Closed-form answers: what working together is worth, and to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import bounds
from .. import methods as registry
from .._base.checks import Indices, agent_index, positive, whole
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from . import theory


def worth(problem: Problem, n: int, features: Indices | None = None) -> pd.DataFrame:
    """Every agent's error alone and together, a row an agent.

    Parameters
    ----------
    problem : Problem
    n : int
    features : integer array, shape (d,), optional
        Which features of a larger world the problem's are (`Problem.of_seen`), counted from 0:
        names are then those of the larger world.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``features`` (how many it sees), ``sees`` (their names),
        ``alone`` and ``together`` (expected error at n, leading order in 1/n, without the
        irreducible part), ``irreducible``, and ``worth``: by what an agent would have to multiply
        its own labelled data to do as well alone. 1 for an agent that sees nothing.
    """
    n = whole("n", n, low=1)
    together = bounds.local_errors(problem, bounds.gauss(problem)) / n
    alone = problem.unexplained * problem.sizes / problem.shares / n
    called = np.arange(problem.dimension) if features is None else features
    sees = [" ".join(f"x{j + 1}" for j in np.sort(called[view])) for view in problem.views]
    return pd.DataFrame(
        {
            "agent": np.arange(1, problem.agents + 1),
            "features": problem.sizes,
            "sees": sees,
            "alone": alone,
            "together": together,
            "irreducible": problem.irreducible,
            "worth": np.divide(alone, together, out=np.ones_like(alone), where=together > 0),
        }
    )


#: What agents can do with what they send each other.
SENT = frozenset({"fit", "xx", "covariance", "all_pairs"})


def compared() -> tuple[str, ...]:
    """Methods of `comparison`: biased ones first, those that theory puts in order last.

    Pooled moments are left out: their error grows with the signal, and where it is strong theirs
    would leave the others no room in a figure.
    """
    worst_to_best = ("imputation", "collab", "collab_plus")
    found = [key for key in registry.usual(SENT) if key != "pooled_moments"]
    others = [key for key in found if key not in worst_to_best]
    # In a fixed order: rows of a figure do not change places while a world is changed.
    others.sort(key=lambda key: registry.get(key).is_consistent)
    return (*others, *(key for key in worst_to_best if key in found))


def comparison(problem: Problem, n: int) -> pd.DataFrame:
    """Expected full-feature error at n of methods and bounds, a row each.

    Returns
    -------
    DataFrame
        ``method``, ``error`` and ``floor`` (what no data remove: the bias of naive averaging).
        Methods as in `compared`, then the bounds.
        ``collab_plus`` does not know the noise; ``exact`` is the bound of those who do.
    """
    n = whole("n", n, low=1)
    full = Target()
    rows: list[tuple[str, float, float]] = []
    for method in map(registry.get, compared()):
        C, floor = method.covariance(problem), method.floor(problem, full)
        if C is not None and floor is not None:
            rows.append((method.key, floor + full.error(problem, C) / n, floor))
    for key, C in (("exact", bounds.exact(problem)), ("strong", bounds.strong(problem))):
        rows.append((key, full.error(problem, C) / n, 0.0))
    return pd.DataFrame(rows, columns=["method", "error", "floor"])


@dataclass(frozen=True)
class Findings:
    """Numbers that sentences about a world are made of; agents and features counted from 1.

    Attributes
    ----------
    gains_most, gains_least : tuple of (int, float)
        Agent and worth, among those who see something.
    scarcest : tuple of (int, int)
        Feature seen by fewest agents, and by how many.
    naive_floor : float
        Error of the naive average that no data remove.
    naive_crossing : float
        By the formulas for large n, COLLAB beats the naive average from this n on; 0 where it
        always does.
    smallest_n : int
        Below this n some agent has too few samples for its features, and errors have no mean.
    to_optimum : float
        COLLAB's error over the exact bound's.
    """

    gains_most: tuple[int, float]
    gains_least: tuple[int, float]
    scarcest: tuple[int, int]
    naive_floor: float
    naive_crossing: float
    smallest_n: int
    to_optimum: float


def findings(problem: Problem, n: int) -> Findings:
    """Who gains most and least, which feature is scarcest, what the naive average gets wrong."""
    frame = worth(problem, n)
    seeing = frame[frame["features"] > 0].sort_values("worth", kind="stable")
    least, most = seeing.iloc[0], seeing.iloc[-1]
    seen_by = problem.mask.sum(axis=0)
    naive = bounds.naive_collab(problem)
    together = bounds.error(problem, bounds.gauss(problem))
    # floor + naive / n = together / n
    ahead = together - bounds.error(problem, naive.covariance)
    crossing = ahead / naive.floor if naive.floor > 0 else np.inf
    return Findings(
        gains_most=(int(most["agent"]), float(most["worth"])),
        gains_least=(int(least["agent"]), float(least["worth"])),
        scarcest=(int(seen_by.argmin()) + 1, int(seen_by.min())),
        naive_floor=naive.floor,
        naive_crossing=float(max(crossing, 0.0)),
        smallest_n=int(np.ceil(((problem.sizes + 2) / problem.shares).max())),
        to_optimum=together / bounds.error(problem, bounds.exact(problem)),
    )


def error_lines(
    problem: Problem,
    methods: Sequence[str],
    sample_sizes: Sequence[int],
    target: TargetLike = "full",
    *,
    total: bool = False,
) -> pd.DataFrame:
    """Expected error of methods against n, a row where a formula is: n, method, error.

    Parameters
    ----------
    total : bool
        Whether an agent's error has the irreducible part in it, which no n removes.
    """
    whose = Target.of(target, problem.agents)
    floor = whose.irreducible(problem) if total else 0.0
    rows = [
        {"n": n, "method": method, "error": error + floor}
        for method in methods
        for n, error in zip(
            sample_sizes,
            theory.expected_errors(problem, method, sample_sizes, target),
            strict=True,
        )
        if error is not None
    ]
    return pd.DataFrame(rows, columns=["n", "method", "error"])


def local_limits(problem: Problem) -> pd.DataFrame:
    """What every agent would find with endless data, a row per agent and feature it sees.

    Returns
    -------
    DataFrame
        ``agent`` and ``feature`` (counted from 1), ``alone`` (its entry of ``T_i theta``) and
        ``truth`` (that of theta).
    """
    agents, features = np.nonzero(problem.mask)
    return pd.DataFrame(
        {
            "agent": agents + 1,
            "feature": features + 1,
            "alone": problem.embedded[agents, features],
            "truth": problem.theta[features],
        }
    )


def weight_shares(problem: Problem) -> pd.DataFrame:
    """How much every agent counts: ``agent``, ``unexplained`` (s_i) and ``share`` (of 1/s_i)."""
    rates = problem.shares / problem.unexplained
    return pd.DataFrame(
        {
            "agent": np.arange(1, problem.agents + 1),
            "unexplained": problem.unexplained,
            "share": rates / rates.sum(),
        }
    )


def bytes_sent(
    problem: Problem, methods: Sequence[str], sample_sizes: Sequence[int]
) -> pd.DataFrame:
    """Bytes that all agents send together: ``n``, ``method``, ``bytes``."""
    frames = {n: bounds.communication(problem, n, unit="bytes") for n in sample_sizes}
    return pd.DataFrame(
        [
            {"n": n, "method": method, "bytes": int(np.asarray(frames[n].loc[method, "up"]).sum())}
            for method in methods
            for n in sample_sizes
        ]
    )


def samples_alone(problem: Problem, agent: int, error: float) -> float:
    """Labelled samples with which agent i alone has this expected error, for Gaussian features.

    Inverts the exact ``s_i d_i / (N - d_i - 1)``; 0 for an agent that sees nothing.
    """
    agent = agent_index(agent, problem.agents)
    k = int(problem.sizes[agent])
    return k + 1 + problem.unexplained[agent] * k / positive("error", error) if k else 0.0


def without(problem: Problem, leaving: int, n: int) -> pd.DataFrame:
    """Everybody's expected error with and without one agent, a row an agent.

    Features that nobody else sees go with it: nobody else needs them for its own model.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``before`` and ``after`` (leading order in 1/n, own features,
        no irreducible part; the agent that leaves is alone after), ``rise`` (after / before - 1).
    """
    n = whole("n", n, low=1)
    leaving = agent_index(leaving, problem.agents)
    before = bounds.local_errors(problem, bounds.gauss(problem)) / n
    after = before.copy()
    alone = problem.unexplained * problem.sizes / problem.shares / n
    after[leaving] = alone[leaving]
    others = np.delete(np.arange(problem.agents), leaving)
    if others.size and problem.sizes[others].any():
        rest, _ = Problem.of_seen(
            problem.covariance,
            problem.theta,
            problem.noise,
            [problem.views[i] for i in others],
            problem.shares[others],
        )
        after[others] = bounds.local_errors(rest, bounds.gauss(rest)) / n
    return pd.DataFrame(
        {
            "agent": np.arange(1, problem.agents + 1),
            "before": before,
            "after": after,
            # Never below 0 (C_gauss falls in the p.s.d. order); rounding would say -1e-16.
            "rise": np.maximum(
                np.divide(after, before, out=np.ones_like(after), where=before > 0) - 1, 0.0
            ),
        }
    )


_KINDS = ("trace", "floor", "error")


def method_table(problem: Problem, n: int, agent: int) -> pd.DataFrame:
    """The paper's Table 1 with numbers in it: how good every method is, and what it costs to send.

    Returns
    -------
    DataFrame
        A row a method: ``method``; ``full_trace`` = tr(Sigma C) and ``own_trace`` =
        tr(Sigma_i+ C_i), C the asymptotic covariances for all features and for agent i's own;
        ``full_floor`` and ``own_floor``, what bias leaves however large n is; ``full_error`` and
        ``own_error`` at n (exact where a formula is, see `theory.expected_error`); ``up`` and
        ``down``, numbers that agent i sends and gets; ``bytes``, both ways, of all agents.
        <NA> where nothing is known or the method has no such model.
    """
    n = whole("n", n, low=1)
    agent = agent_index(agent, problem.agents)
    numbers = bounds.communication(problem, n)
    total = bounds.communication(problem, n, unit="bytes").sum(axis=1)
    rows = []
    for method in tabled():
        own, full = Target(agent), Target()
        floors = [registry.get(method).floor(problem, target) for target in (full, own)]
        traces = [_trace(problem, method, target) for target in (full, own)]
        errors = [theory.expected_error(problem, method, n, target) for target in (full, own)]
        rows.append(
            {
                "method": method,
                "full_trace": traces[0],
                "full_floor": floors[0],
                # A method without a model of all features has a dash, as in the paper's table.
                "full_error": None if floors[0] is None else errors[0],
                "own_trace": traces[1],
                "own_floor": floors[1],
                "own_error": errors[1],
                "up": int(np.asarray(numbers.loc[method, "up"])[agent]),
                "down": int(np.asarray(numbers.loc[method, "down"])[agent]),
                "bytes": int(total[method]),
            }
        )
    frame = pd.DataFrame(rows)
    kinds = (f"{target}_{what}" for target in ("full", "own") for what in _KINDS)
    return frame.astype(dict.fromkeys(kinds, "Float64"))


def tabled() -> tuple[str, ...]:
    """Rows of `method_table`: the paper's Table 1 in its order, then what we add to it."""
    paper = ("local", "local_imputation", "rw_imputation", "collab")
    ours = [one.key for one in registry.every() if one.in_table_1 and one.key not in paper]
    return (*paper, *ours)


def _trace(problem: Problem, method: str, target: Target) -> float | None:
    covariance = theory.asymptotic_covariance(problem, method, target)
    return None if covariance is None else target.error(problem, covariance)


def covariance_table(problem: Problem, method: str, target: TargetLike = "full") -> pd.DataFrame:
    """A method's whole asymptotic covariance, with the features' names on its sides.

    Returns
    -------
    DataFrame, shape (d, d) for the full target, (d_i, d_i) for agent i
    """
    covariance = theory.asymptotic_covariance(problem, method, target)
    if covariance is None:
        raise ValueError(f"method: no covariance of {method!r} is known for {target!r}")
    names = [f"x{j + 1}" for j in Target.of(target, problem.agents).view(problem)]
    return pd.DataFrame(covariance, index=names, columns=names)


def seen_only_by(problem: Problem, agent: int) -> Indices:
    """Features (counted from 0) that an agent sees and nobody else does, shape (k,)."""
    agent = agent_index(agent, problem.agents)
    others = np.delete(problem.mask, agent, axis=0).any(axis=0)
    return np.flatnonzero(problem.mask[agent] & ~others)
