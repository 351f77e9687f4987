"""COLLAB+: the same messages as COLLAB, used to the last bit (beyond the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.checks import Array
from ..bounds import covariances as bounds
from ..core.agents import Agents
from ..core.estimate import Estimate
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from ..world.views import ViewsLike
from . import likelihood
from .aggregate import (
    CovarianceLike,
    participants,
)
from .base import PLAIN, Formulas, Method, Style, Told, Traffic, get, message_numbers
from .collab import collab


def collab_plus(
    moments: Sequence[Moments],
    views: ViewsLike,
    covariance: CovarianceLike,
    noise: float | None = None,
    *,
    steps: int = 100,
    start: Estimate | None = None,
) -> likelihood.PlusEstimate:
    """COLLAB+: the same messages as COLLAB, used to the last bit (beyond the paper).

    For Gaussian features an agent's residual tells about theta too, because
    ``s_i = noise^2 + theta' G_i theta``. The likelihood of all messages is maximised by Fisher
    scoring from COLLAB's estimate; its error reaches the exact strong-model bound
    `collab_core.bounds.exact`. It leans on the model: where agents differ in their truth, COLLAB
    is the safer choice.

    Parameters
    ----------
    noise : float, optional
        Standard deviation of the label noise if known; estimated otherwise.
    steps : int
        Largest number of scoring steps.
    start : Estimate, optional
        COLLAB's estimate, if it is at hand already.

    Returns
    -------
    PlusEstimate
        An `Estimate` with ``.noise_variance`` (...) and ``.converged`` (...).
    """
    geometry = Geometry.of(covariance, views)
    start = start or collab(moments, views, geometry)
    agents, left_out = participants(moments, geometry, by_residual=True)
    # An agent that sees nothing still knows how much its labels vary: s_i = Var(y) there.
    blind = [
        i
        for i, view in enumerate(geometry.views)
        if view.size == 0 and (moments[i].fit.rss > 0).all()
    ]
    fits = {i: moments[i].fit for i in (*agents, *blind)}
    return likelihood.maximise(fits, geometry, start.phi, noise, steps, left_out)


class CollabPlus(Method):
    """Maximum likelihood on COLLAB's own messages."""

    key = "collab_plus"
    label = "COLLAB+"
    summary = "Maximum likelihood on COLLAB's own messages."
    style = Style("#D55E00", "solid", "diamond")
    needs = frozenset({"fit", "xx", "covariance", "all_pairs"})
    formulas = Formulas(
        "$C_{exact}$, $\\sigma$ unknown", "$T_i C_{exact} T_i'$", "$\\Theta(d_i^2)$"
    )
    gives_intervals = True

    def estimate(self, agents: Agents) -> Estimate:
        told = agents.options
        plain = told.form == "empirical" and not told.correction and agents.residuals is None
        # COLLAB's estimate is where scoring begins, and often at hand already.
        start = get("collab").of(agents) if plain else None
        assert start is None or isinstance(start, Estimate)
        return collab_plus(agents.moments, agents.views, agents.geometry, told.noise, start=start)

    def covariance(self, problem: Problem, told: Told = PLAIN) -> Array | None:
        return bounds.exact(problem, told.noise_known) if told.scores is None else None

    def sent(self, problem: Problem, n: int) -> Traffic:
        # An agent that sees nothing has its labels' variance to send, which is of use here.
        return Traffic(np.maximum(message_numbers(problem), 1), problem.sizes)
