"""How many labelled samples a wanted error needs, and where more of them help most."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..._base.checks import Array, positive, whole
from ..._base.linalg import transpose
from ...core.problem import Problem
from .consortium import Consortium, inverted


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
    return _finite_errors(Consortium(problem, 1.0), np.atleast_1d(np.asarray(sizes, dtype=float)))


def _finite_errors(world: Consortium, sizes: Array) -> Array:
    """As `finite_errors`, of a world that is prepared already."""
    problem = world.problem
    counts = sizes[:, None] * problem.shares
    freedom = counts - problem.sizes
    kept = np.where(freedom > 4, (freedom - 4) / np.maximum(freedom - 2, 1.0), 0.0)
    rates = kept * counts / problem.unexplained
    spread, unknown = inverted(world.weighed(rates))
    first = world.traces(spread)
    middle = np.zeros_like(spread)
    locals_ = problem.geometry.inverses
    for k, (view, local) in enumerate(zip(problem.views, locals_, strict=True)):
        weight = (rates[:, k] ** 2 / counts[:, k])[:, None, None]
        block = local @ spread[:, view[:, None], view] @ local
        middle[:, view[:, None], view] += weight * (block + first[:, k, None, None] * local)
    errors = world.traces(spread + spread @ middle @ transpose(spread))
    errors[unknown.astype(float) @ problem.mask.T > 0] = np.inf
    return errors


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
    while (_finite_errors(world, np.array([highest]))[0, seeing] > wanted).any():
        highest *= 2
    grid = np.geomspace(lowest, highest, GRID)
    errors = _finite_errors(world, grid)
    place = np.argmax(errors[:, seeing] <= wanted, axis=0)
    low, high = grid[np.maximum(place - 1, 0)], grid[place]
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        short = _finite_errors(world, middle)[np.arange(seeing.size), seeing] > wanted
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
    return Problem(
        problem.covariance, problem.theta, problem.noise, problem.views,
        deviations=problem.deviations,
    )  # fmt: skip


def usual_error(problem: Problem, n: float) -> float:
    """Expected error of a usual agent alone: the median over agents that see something."""
    return float(np.median(Consortium(problem, n).alone[problem.sizes > 0]))
