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
from scipy.optimize import brentq

from .. import methods
from .._base.blas import single_threaded_blas
from .._base.checks import Array, choice, fraction, whole
from ..bounds import covariances as bounds
from ..bounds.weights import gaussian_weights, scores_of_law
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from ..methods.base import Told
from ..world import views
from ..world.laws import Law, Tails
from ..world.laws import of as law_of
from ..world.scenario import Scenario
from .ellipses import order

#: A loss below this is rounding.
NOTHING = 1e-9

#: A loss that is not worth a word.
LITTLE = 5e-4


def covariances(
    problem: Problem, features: str | Law | Tails, target: TargetLike = "full"
) -> dict[str, Array]:
    """``C(W)`` of every weighting under a law of features, by key of the method.

    Returns
    -------
    dict of arrays, shape (d, d) for the full target, (d_i, d_i) for agent i
        ``collab`` has Gaussian weights, ``collab_oracle`` W*, ``imputation`` equal weights of
        Sigma_i+, ``identity`` none. ``local`` is the agent's least squares on its own data; for
        the full target that of a newcomer who sees all features, with n samples.
    """
    whose = Target.of(target, problem.agents)
    told = Told(scores=scores_of_law(problem, features))
    found: dict[str, Array] = {}
    for method in map(methods.get, compared()):
        if whose.agent is not None:
            C = method.own_covariance(problem, whose.agent, told)
        elif method.key == "local":
            # A newcomer has no unseen signal: Q is noise^2 Sigma under any law.
            C = problem.noise**2 * problem.geometry.precision
        else:
            C = method.covariance(problem, told)
        if C is not None:
            found[method.key] = C
    return found


def compared() -> tuple[str, ...]:
    """Methods whose covariance may be known for any law, worst to best where theory orders them.

    Not COLLAB with estimated optimal weights: it has the oracle's, as n grows.
    """
    plain = methods.usual(("fit", "xx", "covariance"), consistent=True)
    weightings = [key for key in methods.keys(weightings=True) if key != "collab_optimal"]
    last = ("collab", "collab_oracle")
    others = [key for key in (*weightings, *plain) if key not in ("local", *last)]
    return ("local", *others, *last)


def errors(
    found: Mapping[str, Array], problem: Problem, target: TargetLike = "full"
) -> pd.DataFrame:
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
    block = Target.of(target, problem.agents).block(problem)
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


def loss(problem: Problem, features: str | Law | Tails, target: TargetLike = "full") -> float:
    """The cost of pretending: by how much Gaussian weights' error exceeds that of W*.

    ``tr(Sigma C(W^g)) / tr(Sigma C(W*)) - 1``; never below 0, and 0 if features are Gaussian.
    """
    scores = scores_of_law(problem, features)
    gaussian = bounds.weighted(problem, gaussian_weights(problem), scores)
    optimal = bounds.optimal(problem, scores)
    agent = Target.of(target, problem.agents).agent
    least = bounds.error(problem, optimal, agent)
    if least <= 0:
        # An agent that sees nothing has nothing to estimate.
        return 0.0
    ratio = bounds.error(problem, gaussian, agent) / least - 1
    return ratio if ratio > NOTHING else 0.0


def saving(loss: float) -> float:
    """What optimal weights would save of the Gaussian ones' error, where these cost ``loss``.

    Of errors G and O the loss is ``G / O - 1``, the saving ``1 - O / G``.
    """
    return loss / (1 + loss)


def losses(problem: Problem, kind: str, kurtoses: Sequence[float]) -> Array:
    """`loss` for a model of all features under many tail weights, for the price of about one.

    With Gaussian scores ``G_i = s_i Sigma_i+`` every ``Q_i = G_i + kurtosis E_i``, E_i being what
    tails of kurtosis 1 add. With ``A_i' G_i A_i = I`` and ``A_i' E_i A_i = diag(l_i)``, the columns
    f of all ``P_i' A_i`` side by side, and one l for each,

        K = sum f f',    tr(Sigma C(W^g)) = sum (1 + kurtosis l) f' K^-1 Sigma^-1 K^-1 f,
        K* = sum f f' / (1 + kurtosis l),    tr(Sigma C*) = tr(Sigma^-1 K*^-1).

    Parameters
    ----------
    kind : {"independent", "common"}
    kurtoses : list of float
        See `collab_core.laws.Tails`.

    Returns
    -------
    array, shape (len(kurtoses),)
    """
    weights = np.array([Tails(kind, kurtosis).kurtosis for kurtosis in kurtoses], dtype=float)
    heavy = scores_of_law(problem, Tails(kind, 1.0)) if kind == "independent" else None
    factors, added = [], []
    for i, (view, s) in enumerate(zip(problem.views, problem.unexplained, strict=True)):
        plain = s * problem.geometry.block(i)
        white = np.linalg.inv(np.linalg.cholesky(plain))
        if heavy is None:
            # One scale stretches all directions alike.
            values, axes = np.full(view.size, problem.irreducible[i] / (3 * s)), white.T
        else:
            values, vectors = np.linalg.eigh(white @ (heavy[i] - plain) @ white.T)
            axes = white.T @ vectors
        factor = np.zeros((problem.dimension, view.size))
        factor[view] = np.sqrt(problem.shares[i]) * axes
        factors.append(factor)
        added.append(values)
    factor = np.concatenate(factors, axis=1)
    growth = 1 + weights[:, None] * np.concatenate(added)
    spread = np.linalg.inv(factor @ factor.T)
    precision = problem.geometry.precision
    gaussian = growth @ (factor * (spread @ precision @ spread @ factor)).sum(axis=0)
    # (kurtoses, d, d)
    best = np.linalg.inv((factor / growth[:, None, :]) @ factor.T)
    found = gaussian / (precision * best).sum(axis=(1, 2)) - 1
    return np.where(found > NOTHING, found, 0.0)


def by_law(
    problem: Problem, laws: Mapping[str, str | Law], target: TargetLike = "full"
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
        law = law_of(features)
        rows.append(
            {
                "law": name,
                "kurtosis": pd.NA if law.tails is None else law.tails.kurtosis,
                "loss": loss(problem, law, target),
            }
        )
    frame = pd.DataFrame(rows, columns=["law", "kurtosis", "loss"]).astype({"kurtosis": "Float64"})
    return frame.sort_values("loss", ascending=False, kind="stable", ignore_index=True)


def by_agent(
    problem: Problem, features: str | Law | Tails, dearest: int | None = None
) -> pd.DataFrame:
    """The cost of pretending to every agent's own model, a row an agent who sees something.

    Parameters
    ----------
    dearest : int, optional
        Only so many agents, those whom it costs most, dearest first.

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
    frame = pd.DataFrame(
        {
            "agent": np.flatnonzero(seeing) + 1,
            "features": problem.sizes[seeing],
            "gaussian": gaussian[seeing],
            "optimal": optimal[seeing],
            "loss": gaussian[seeing] / optimal[seeing] - 1,
        }
    )
    if dearest is None:
        return frame
    frame = frame.sort_values("loss", ascending=False, kind="stable")
    return frame.head(whole("dearest", dearest, low=1))


def loss_map(
    scenario: Scenario,
    kurtoses: Sequence[float],
    missing: Sequence[float],
    *,
    kinds: Sequence[str] = ("independent", "common"),
    draws: int = 100,
    progress: Callable[[float, pd.DataFrame], None] | None = None,
    cancel: Event | None = None,
) -> pd.DataFrame:
    """Where pretending matters: its cost over tail weight and share of features missing.

    Every feature of every agent is missing independently with the same probability; one that
    nobody would see is given to an agent at random. The probability is such that after this the
    share missing is, on average, the one asked for. Agents have equally many samples.

    Parameters
    ----------
    scenario : Scenario
        Its covariance, theta, noise, m and seed.
    kurtoses : list of float
        Excess kurtosis of a coordinate; those below 0 only with independent coordinates.
    missing : list of float
        Shares missing, each below `most_missing`.
    kinds : list of {"independent", "common"}
        See `collab_core.laws.Tails`.
    draws : int
        Patterns of missing features that are averaged over.
    progress : callable, optional
        Told the fraction done and the map so far: all of it from the first pattern on, better
        known with every further one.
    cancel : Event, optional
        When set, the map so far is returned.

    Returns
    -------
    DataFrame
        ``kind``, ``kurtosis``, ``missing``, ``loss`` (for a model of all features, mean over the
        draws), ``error`` (standard error of that mean, ``<NA>`` of a single draw), ``spread``
        (standard deviation over the draws) and ``draws`` (how many there were).
    """
    draws = whole("draws", draws, low=1)
    chances = [_chance(fraction("missing", share), scenario.m) for share in missing]
    tails = {
        kind: [float(value) for value in kurtoses if kind != "common" or value >= 0]
        for kind in kinds
    }
    passes: list[list[Array]] = []
    with single_threaded_blas():
        for draw in range(draws):
            found = []
            for number, p in enumerate(chances):
                if cancel is not None and cancel.is_set():
                    return _map_frame(tails, missing, passes)
                seen = _seen_views(scenario, p, (number, draw))
                problem = Problem(scenario.covariance, scenario.coefficients, scenario.sigma, seen)
                found += [losses(problem, kind, values) for kind, values in tails.items()]
            passes.append(found)
            if progress is not None:
                progress((draw + 1) / draws, _map_frame(tails, missing, passes))
    return _map_frame(tails, missing, passes)


def most_missing(agents: int) -> float:
    """The share of features that can be missing at most, every feature being seen by somebody."""
    return 1 - 1 / agents


def _map_frame(
    tails: Mapping[str, list[float]], missing: Sequence[float], passes: Sequence[list[Array]]
) -> pd.DataFrame:
    """A row a square, of patterns that are done for all shares: columns, then kinds, in order."""
    rows: list[dict[str, object]] = []
    places = [(share, kind) for share in missing for kind in tails]
    for (share, kind), *values in zip(places, *passes, strict=True) if passes else ():
        for kurtosis, lost in zip(tails[kind], np.array(values).T, strict=True):
            error = lost.std(ddof=1) / np.sqrt(lost.size) if lost.size > 1 else pd.NA
            rows.append(
                {
                    "kind": kind,
                    "kurtosis": kurtosis,
                    "missing": float(share),
                    "loss": float(lost.mean()),
                    "error": error,
                    "spread": float(lost.std()),
                    "draws": lost.size,
                }
            )
    names = ["kind", "kurtosis", "missing", "loss", "error", "spread", "draws"]
    return pd.DataFrame(rows, columns=names).astype({"error": "Float64"})


def _chance(share: float, agents: int) -> float:
    """Probability of missing after which ``share`` is missing, unseen features being given back.

    All m agents miss a feature with probability p^m, and then one of them is given it: the share
    missing is ``p - p^m / m``, which grows with p.
    """
    if share == 0:
        return 0.0
    most = most_missing(agents)
    if share >= most:
        raise ValueError(
            f"missing must be below {most:g} with {agents} agents, since every feature is seen by"
            f" somebody, got {share:g}"
        )
    return float(brentq(lambda p: p - p**agents / agents - share, share, 1))


def _seen_views(scenario: Scenario, p: float, place: tuple[int, int]) -> views.Views:
    """Independent missingness in which every feature is seen by somebody."""
    rng = np.random.default_rng(np.random.SeedSequence(scenario.seed, spawn_key=(7, *place)))
    mask = views.as_mask(views.independent(scenario.m, scenario.d, p, rng), scenario.d)
    unseen = np.flatnonzero(~mask.any(axis=0))
    mask[rng.integers(scenario.m, size=unseen.size), unseen] = True
    return views.as_views(mask, scenario.d)


def ranked(table: pd.DataFrame) -> pd.DataFrame:
    """A table of `errors`, the largest first."""
    return table.sort_values("error", ascending=False, kind="stable", ignore_index=True)


def map_of_kind(losses: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The squares of one kind of tails, of a `loss_map`."""
    rows = losses[losses["kind"] == choice("kind", kind, ("independent", "common"))]
    return rows.reset_index(drop=True)


def simulated() -> tuple[str, ...]:
    """Methods that are run under other laws: COLLAB by every weighting, and plain rivals.

    Not rivals whose theory is for Gaussian features alone: nothing would be beside their errors.
    """
    plain = methods.usual(("fit", "xx", "covariance"), consistent=True)
    rivals = [key for key in plain if key != "collab" and not _gaussian_only(methods.get(key))]
    return ("collab", *methods.keys(weightings=True), *rivals)


def _gaussian_only(method: methods.Method) -> bool:
    """Whether a method has a covariance for Gaussian features and for no others.

    The smallest world tells: that is how its formula is written, not where it is used.
    """
    world = Problem(np.eye(2), np.ones(2), 1.0, [[0, 1], [0]])
    told = Told(scores=scores_of_law(world, "gaussian"))
    return method.covariance(world) is not None and method.covariance(world, told) is None
