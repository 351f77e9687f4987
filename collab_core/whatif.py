"""Closed-form answers: what working together is worth, and to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from . import bounds, theory
from ._checks import whole
from .problem import Problem


def worth(problem: Problem, n: int) -> pd.DataFrame:
    """Every agent's error alone and together, a row an agent.

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
    sees = [" ".join(f"x{j + 1}" for j in np.sort(view)) for view in problem.views]
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


#: What `comparison` lists, worst to best where theory puts them in order.
COMPARED = ("naive_collab", "imputation", "collab", "collab_plus", "exact", "strong")


def comparison(problem: Problem, n: int) -> pd.DataFrame:
    """Expected full-feature error at n of methods and bounds, a row each.

    Returns
    -------
    DataFrame
        ``method``, ``error`` and ``floor`` (what no data remove: the bias of naive averaging).
        ``collab_plus`` does not know the noise; ``exact`` is the bound of those who do.
    """
    n = whole("n", n, low=1)
    naive = bounds.naive_collab(problem)
    errors = {
        "naive_collab": naive.floor + bounds.error(problem, naive.covariance) / n,
        "imputation": bounds.error(problem, bounds.imputation(problem)) / n,
        "collab": bounds.error(problem, bounds.gauss(problem)) / n,
        "collab_plus": bounds.error(problem, bounds.exact(problem, noise_known=False)) / n,
        "exact": bounds.error(problem, bounds.exact(problem)) / n,
        "strong": bounds.error(problem, bounds.strong(problem)) / n,
    }
    return pd.DataFrame(
        {
            "method": list(COMPARED),
            "error": [errors[key] for key in COMPARED],
            "floor": [naive.floor if key == "naive_collab" else 0.0 for key in COMPARED],
        }
    )


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
    target: theory.Target = "full",
) -> pd.DataFrame:
    """Expected error of methods against n, a row where a formula is: n, method, error."""
    rows = [
        {"n": n, "method": method, "error": error}
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
