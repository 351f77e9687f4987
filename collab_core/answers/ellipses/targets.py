"""Every covariance that there is for a target, and where estimates gather."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ... import methods
from ..._base.checks import Array, choice
from ...bounds import covariances as bounds
from ...core.problem import Problem
from ...core.target import TargetKey as Target

#: Methods that theory orders, worst to best; others follow as they were registered.
WORST_FIRST = ("local", "pooled_moments", "identity", "imputation", "collab", "collab_plus")


def covariances(problem: Problem, target: Target = "full") -> dict[str, Array]:
    """Every covariance there is for a target: of the methods, and the bounds.

    Returns
    -------
    dict of arrays, shape (d, d) for the full target, (d_i, d_i) for agent i
        By key, worst to best where theory orders them. Of every registered method that knows its
        own and aims at the truth: ``collab`` has C_gauss, ``collab_plus`` C_exact with unknown
        noise, ``identity`` C(I, .., I), ``imputation`` that of equal weights, ``local`` (least
        squares alone) only for an agent. Then the bounds: ``exact``, C_exact with known noise, and
        ``strong``, the paper's C_strong.
    """
    agent = None if target == "full" else int(target)
    found = {}
    for key in _worst_first(methods.keys()):
        method = methods.get(key)
        # Estimates of a biased method gather elsewhere: an ellipse around the truth is not theirs.
        if not method.is_consistent:
            continue
        C = method.covariance(problem) if agent is None else method.own_covariance(problem, agent)
        if C is not None:
            found[key] = C
    for key, bound in (("exact", bounds.exact(problem)), ("strong", bounds.strong(problem))):
        found[key] = bound if agent is None else bounds.local(problem, bound, agent)
    return found


def _worst_first(keys: Sequence[str]) -> list[str]:
    places = {key: place for place, key in enumerate(WORST_FIRST)}
    return sorted(keys, key=lambda key: places.get(key, len(places)))


def only(found: Mapping[str, Array], keys: Sequence[str]) -> dict[str, Array]:
    """Some of the covariances, in their own order."""
    for key in keys:
        choice("key", key, tuple(found))
    return {key: C for key, C in found.items() if key in keys}


def truth(problem: Problem, target: Target = "full") -> Array:
    """What an estimate for this target aims at, shape (d,) or (d_i,)."""
    return problem.theta if target == "full" else problem.local_theta(int(target))


def naive_centre(problem: Problem, target: Target = "full") -> Array:
    """Where the naive average gathers instead of the truth, shape (d,) or (d_i,)."""
    limit = bounds.naive_collab(problem).theta
    return limit if target == "full" else limit[problem.views[int(target)]]


def most_biased(problem: Problem, target: Target = "full") -> tuple[int, int]:
    """The two coefficients that naive averaging gets most wrong, where its cloud is seen aside.

    The same one twice where there is only one.
    """
    gap = np.abs(naive_centre(problem, target) - truth(problem, target))
    order_of = np.argsort(-gap, kind="stable")
    return int(order_of[0]), int(order_of[min(1, order_of.size - 1)])
