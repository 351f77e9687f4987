"""What COLLAB tends to where agents follow relations of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.checks import Array
from .._base.linalg import congruence
from ..core.problem import Problem


@dataclass(frozen=True, eq=False)
class Differing:
    """COLLAB's error in a world whose agents differ, every one judged by its own truth.

    Attributes
    ----------
    theta : array, shape (d,)
        What COLLAB's model of all features tends to.
    squared_bias : array, shape (m + 1,)
        What no data remove, by agent; the last is of a model of all features, against the shared
        relation.
    variance : array, shape (m + 1,)
        What falls as 1/n, times n.
    """

    theta: Array
    squared_bias: Array
    variance: Array


def collab(problem: Problem) -> Differing:
    """COLLAB's limit and its error about it, to leading order in 1/n, for Gaussian features.

    With ``r_i = share_i / s_i`` it solves ``K phi = sum_i r_i P_i' T_i theta_i``. Agent i's score
    about the limit is ``x (e + x'g)`` over its residual, ``g = T_i theta_i - S_i phi[o_i]``, so
    that beside noise there is what its features and its residual happen to be:
    ``share_i [S_i / s_i + (g' Sigma_i+ g S_i + 3 g g') / s_i^2]`` in the dual.
    """
    geometry, s = problem.geometry, problem.unexplained
    truths = [problem.local_theta(i) for i in range(problem.agents)]
    rates = problem.shares / s
    pull = geometry.scatter_vectors([r * t for r, t in zip(rates, truths, strict=True)])
    inverted = problem.information_inverse
    phi = inverted @ pull
    gaps = [truth - geometry.local(phi, i) for i, truth in enumerate(truths)]
    sizes = np.array([g @ geometry.block(i) @ g for i, g in enumerate(gaps)])
    meats = [
        rates[i] * ((1 + sizes[i] / s[i]) * geometry.inverses[i] + 3 / s[i] * np.outer(g, g))
        for i, g in enumerate(gaps)
    ]
    spread = congruence(inverted, geometry.scatter_matrices(meats))
    own = [
        (geometry.inverses[i] * spread[np.ix_(view, view)]).sum()
        for i, view in enumerate(problem.views)
    ]
    theta = geometry.precision @ phi
    gap = theta - problem.theta
    return Differing(
        theta,
        np.append(sizes, gap @ problem.covariance @ gap),
        np.append(own, (geometry.precision * spread).sum()),
    )
