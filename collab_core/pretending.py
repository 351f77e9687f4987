"""What it costs to pretend that features are Gaussian (beyond the paper's Section 4).

COLLAB weighs agents by ``W_i^g = Sigma_i+ / s_i``, which is optimal for Gaussian features. For any
other law it still converges to the truth, but ``W_i* = Sigma_i+ Q_i^-1 Sigma_i+`` would converge
faster. All of it is in the covariances C(W), and those in the law's fourth moments; nothing here is
simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Event

import numpy as np
import pandas as pd

from . import bounds, views
from ._checks import Array, fraction, whole
from .ellipses import order
from .laws import FeatureLaw, Law, Tails
from .problem import Problem
from .scenario import Scenario
from .theory import Target
from .weights import gaussian_weights, scores_of_law

#: What is compared, worst to best where theory orders them.
COMPARED = ("local", "identity", "imputation", "collab", "collab_oracle")

#: A loss below this is rounding.
NOTHING = 1e-9


def covariances(
    problem: Problem, features: str | Law | Tails, target: Target = "full"
) -> dict[str, Array]:
    """``C(W)`` of every weighting under a law of features, by key of `COMPARED`.

    Returns
    -------
    dict of arrays, shape (d, d) for the full target, (d_i, d_i) for agent i
        ``collab`` has Gaussian weights, ``collab_oracle`` W*, ``imputation`` equal weights of
        Sigma_i+, ``identity`` none. ``local`` (least squares alone) only for an agent.
    """
    scores = scores_of_law(problem, features)
    full = {
        "identity": bounds.weighted(problem, [np.eye(size) for size in problem.sizes], scores),
        "imputation": bounds.imputation(problem, score_covariances=scores),
        "collab": bounds.weighted(problem, gaussian_weights(problem), scores),
        "collab_oracle": bounds.optimal(problem, scores),
    }
    if target == "full":
        return full
    agent = int(target)
    local = {"local": bounds.local_ols(problem, agent, scores)}
    return local | {key: bounds.local(problem, C, agent) for key, C in full.items()}


def errors(found: Mapping[str, Array], problem: Problem, target: Target = "full") -> pd.DataFrame:
    """Expected error of every covariance, times n, and how far above the optimum it is.

    Parameters
    ----------
    found : mapping of arrays
        As `covariances` gives them for this target.

    Returns
    -------
    DataFrame
        ``method``, ``error`` (``tr(Sigma C)``), ``loss`` (over the error of W*, less 1),
        ``worst`` (the same in the direction where it is largest) and ``wasted`` (the share of the
        labelled samples without which W* would do as well).
    """
    block = problem.covariance if target == "full" else problem.geometry.block(int(target))
    best = found["collab_oracle"]
    rows = []
    for key, C in found.items():
        error, least = float((block * C).sum()), float((block * best).sum())
        rows.append(
            {
                "method": key,
                "error": error,
                "loss": error / least - 1 if least > 0 else 0.0,
                "worst": order(C, best).high - 1 if len(C) else 0.0,
                # Errors go as 1/n.
                "wasted": 1 - least / error if error > 0 else 0.0,
            }
        )
    return pd.DataFrame(rows)


def loss(problem: Problem, features: str | Law | Tails, target: Target = "full") -> float:
    """The cost of pretending: by how much Gaussian weights' error exceeds that of W*.

    ``tr(Sigma C(W^g)) / tr(Sigma C(W*)) - 1``; never below 0, and 0 if features are Gaussian.
    """
    scores = scores_of_law(problem, features)
    gaussian = bounds.weighted(problem, gaussian_weights(problem), scores)
    optimal = bounds.optimal(problem, scores)
    agent = None if target == "full" else int(target)
    least = bounds.error(problem, optimal, agent)
    if least <= 0:
        # An agent that sees nothing has nothing to estimate.
        return 0.0
    ratio = bounds.error(problem, gaussian, agent) / least - 1
    return ratio if ratio > NOTHING else 0.0


def by_law(
    problem: Problem, laws: Mapping[str, str | Law], target: Target = "full"
) -> pd.DataFrame:
    """The cost of pretending under several laws, a row a law, dearest first.

    Parameters
    ----------
    laws : mapping
        Laws by what people call them.

    Returns
    -------
    DataFrame
        ``law``, ``kurtosis`` (excess, of a coordinate; ``<NA>`` where they differ) and ``loss``.
    """
    rows = []
    for name, features in laws.items():
        law = FeatureLaw.of(features)
        tails = law.tails if isinstance(law, FeatureLaw) else None
        rows.append(
            {
                "law": name,
                "kurtosis": pd.NA if tails is None else tails.kurtosis,
                "loss": loss(problem, law, target),
            }
        )
    frame = pd.DataFrame(rows, columns=["law", "kurtosis", "loss"]).astype({"kurtosis": "Float64"})
    return frame.sort_values("loss", ascending=False, kind="stable", ignore_index=True)


def by_agent(problem: Problem, features: str | Law | Tails) -> pd.DataFrame:
    """The cost of pretending to every agent's own model, a row an agent who sees something.

    Returns
    -------
    DataFrame
        ``agent`` (counted from 1), ``features`` it sees, ``gaussian`` and ``optimal`` (n times the
        error), ``loss``.
    """
    scores = scores_of_law(problem, features)
    gaussian = bounds.local_errors(
        problem, bounds.weighted(problem, gaussian_weights(problem), scores)
    )
    optimal = bounds.local_errors(problem, bounds.optimal(problem, scores))
    seeing = problem.sizes > 0
    return pd.DataFrame(
        {
            "agent": np.flatnonzero(seeing) + 1,
            "features": problem.sizes[seeing],
            "gaussian": gaussian[seeing],
            "optimal": optimal[seeing],
            "loss": gaussian[seeing] / optimal[seeing] - 1,
        }
    )


def loss_map(
    scenario: Scenario,
    kurtoses: Sequence[float],
    missing: Sequence[float],
    *,
    kinds: Sequence[str] = ("independent", "common"),
    draws: int = 4,
    progress: Callable[[float, pd.DataFrame], None] | None = None,
    cancel: Event | None = None,
) -> pd.DataFrame:
    """Where pretending matters: its cost over tail weight and share of features missing.

    Every feature of every agent is missing independently with the same probability; one that
    nobody would see is given to an agent at random. Agents have equally many samples.

    Parameters
    ----------
    scenario : Scenario
        Its covariance, theta, noise, m and seed.
    kurtoses : list of float
        Excess kurtosis of a coordinate; those below 0 only with independent coordinates.
    missing : list of float
        Shares missing, each in [0, 1).
    kinds : list of {"independent", "common"}
        See `collab_core.laws.Tails`.
    draws : int
        Patterns of missing features that are averaged over.
    progress : callable, optional
        Told the fraction done and the rows so far.
    cancel : Event, optional
        When set, the rows so far are returned.

    Returns
    -------
    DataFrame
        ``kind``, ``kurtosis``, ``missing``, ``loss`` (for a model of all features, mean over the
        draws) and ``spread`` (its standard deviation over them).
    """
    draws = whole("draws", draws, low=1)
    rows: list[dict[str, object]] = []
    for number, share in enumerate(missing):
        p = fraction("missing", share)
        problems = [
            Problem(
                scenario.covariance,
                scenario.coefficients,
                scenario.sigma,
                _seen_views(scenario, p, (number, draw)),
            )
            for draw in range(draws)
        ]
        for kind in kinds:
            for kurtosis in kurtoses:
                if kind == "common" and kurtosis < 0:
                    continue
                if cancel is not None and cancel.is_set():
                    return _map_frame(rows)
                found = np.array([loss(one, Tails(kind, kurtosis)) for one in problems])
                rows.append(
                    {
                        "kind": kind,
                        "kurtosis": float(kurtosis),
                        "missing": float(p),
                        "loss": float(found.mean()),
                        "spread": float(found.std()),
                    }
                )
        if progress is not None:
            progress((number + 1) / len(missing), _map_frame(rows))
    return _map_frame(rows)


def _map_frame(rows: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["kind", "kurtosis", "missing", "loss", "spread"])


def _seen_views(scenario: Scenario, p: float, place: tuple[int, int]) -> views.Views:
    """Independent missingness in which every feature is seen by somebody."""
    rng = np.random.default_rng(np.random.SeedSequence(scenario.seed, spawn_key=(7, *place)))
    mask = views.as_mask(views.independent(scenario.m, scenario.d, p, rng), scenario.d)
    unseen = np.flatnonzero(~mask.any(axis=0))
    mask[rng.integers(scenario.m, size=unseen.size), unseen] = True
    return views.as_views(mask, scenario.d)
