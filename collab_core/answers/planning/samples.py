"""How many labelled samples a wanted error needs, and where more of them help most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..._base.checks import Array, positive, whole
from ...bounds.covariances import gauss, local_errors
from ...core.problem import Problem
from .consortium import Consortium
from .finite import finite_errors

#: Sizes tried for a wanted error, and how narrow the gap around the first that suffices is made:
#: in between, errors are interpolated on log scales.
GRID, NARROW = 24, 1.05


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
    together = np.zeros(problem.agents)
    if problem.agents == 1:
        together = alone.copy()
    else:
        seeing = np.flatnonzero(sizes > 0)
        own = _sizes_for(problem, wanted)[seeing] * problem.shares[seeing]
        together[seeing] = np.minimum(own, alone[seeing])
    return pd.DataFrame(
        {
            "agent": np.arange(1, problem.agents + 1),
            "alone": alone,
            "together": together,
            "saved": np.divide(alone, together, out=np.ones_like(alone), where=together > 0),
        }
    )


def _sizes_for(problem: Problem, wanted: float) -> Array:
    """The size from which on each agent's `finite_errors` is at most as wanted, shape (m,)."""
    seeing = problem.sizes > 0
    # No size below the leading order's suffices; some way above it, and above all views, one does.
    leading = local_errors(problem, gauss(problem)) / wanted
    lowest = leading[seeing].min()
    highest = max(2 * leading.max(), float(((4 * problem.sizes + 20) / problem.shares).max()))
    while (finite_errors(problem, highest)[0, seeing] > wanted).any():
        highest *= 2
    grid = np.geomspace(lowest, max(highest, 2 * lowest), GRID)
    errors = finite_errors(problem, grid)
    agents = np.arange(problem.agents)
    while True:
        # The last that does not suffice: with an agent of a single degree of freedom more, whose
        # weight is wild, errors can rise for a while.
        place = np.maximum(len(grid) - np.argmax((errors > wanted)[::-1], axis=0), 1)
        place[~(errors > wanted).any(axis=0)] = 1
        low, high = grid[place - 1], grid[place]
        open_ended = np.isinf(errors[place - 1, agents])
        wide = seeing & (high / low > np.where(open_ended, 1 + (NARROW - 1) / 10, NARROW))
        if not wide.any():
            break
        more = np.unique(np.sqrt(low * high)[wide])
        order = np.argsort(np.concatenate([grid, more]))
        errors = np.concatenate([errors, finite_errors(problem, more)])[order]
        grid = np.concatenate([grid, more])[order]
    before, after = errors[place - 1, agents], errors[place, agents]
    falls = seeing & ~open_ended & (after < before) & (before > wanted)
    gone = np.ones(problem.agents)
    gone[falls] = np.log(before[falls] / wanted) / np.log(before[falls] / after[falls])
    return np.asarray(low * (high / low) ** gone)


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
