"""Everybody's sums in the dual: ``sum_i a_i P_i' S_i xx_i S_i P_i``, for stacks of trials.

This is where estimators spend their time. A stack is worked through in blocks of trials that stay
near the processor, trials along the last axis: an agent's two products are then wide ones, and to
add its block to the features it sees is to add rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from .._base.blas import single_threaded_blas
from .._base.checks import Array
from .._base.linalg import congruence, matvec
from .geometry import Geometry
from .moments import Moments

#: Trials of a block: a few matrices of all of them fit into a processor's own memory.
BLOCK = 128


def lifted(moment: Moments, inverse: Array) -> Array:
    """``S xx S`` of one agent, shape (..., k, k)."""
    return congruence(inverse, moment.xx)


def information(
    moments: Mapping[int, Moments], geometry: Geometry, rates: Mapping[int, Array]
) -> Array:
    """``sum_i a_i P_i' S_i xx_i S_i P_i``, shape (..., d, d).

    Parameters
    ----------
    moments : dict of Moments
        By agent.
    rates : dict of arrays, shape () or (...)
        ``a_i``, of the same agents.
    """
    agents = list(moments)
    leading = _leading(moments, rates)
    if not leading or geometry.covariance.ndim > 2:
        blocks = [
            rates[i][..., None, None] * lifted(moments[i], geometry.inverses[i]) for i in agents
        ]
        return geometry.scatter_matrices(blocks, agents)
    flat = {i: _flat(moments[i].xx, leading, 2) for i in agents}
    scale = {i: _flat(rates[i], leading, 0) for i in agents}
    # Many small products: threads would wait for one another longer than they work.
    with single_threaded_blas():
        total = _summed(flat, scale, geometry)
    return total.reshape(*leading, geometry.dimension, geometry.dimension)


def _summed(flat: Mapping[int, Array], scale: Mapping[int, Array], geometry: Geometry) -> Array:
    """The same for matrices (t, k, k) and rates (t,) of t trials, shape (t, d, d)."""
    d, trials = geometry.dimension, len(next(iter(flat.values())))
    total = np.empty((trials, d, d))
    for start in range(0, trials, BLOCK):
        part = slice(start, min(start + BLOCK, trials))
        count = part.stop - start
        summed = np.zeros((d, d, count))
        for i, matrices in flat.items():
            view, inverse = geometry.views[i], geometry.inverses[i]
            k = view.size
            # Trials last, (k, k, count): S times all columns at once, then times every row.
            xx = matrices[part].transpose(1, 2, 0) * scale[i][part]
            half = (inverse @ xx.reshape(k, k * count)).reshape(k, k, count)
            summed[view[:, None], view] += inverse @ half
        total[part] = summed.transpose(2, 0, 1)
    return total


def right_side(
    moments: Mapping[int, Moments], geometry: Geometry, rates: Mapping[int, Array]
) -> Array:
    """``sum_i a_i P_i' S_i xy_i``, shape (..., d)."""
    parts = [
        rates[i][..., None] * matvec(geometry.inverses[i], moment.xy)
        for i, moment in moments.items()
    ]
    return geometry.scatter_vectors(parts, moments)


def _leading(moments: Mapping[int, Moments], rates: Mapping[int, Array]) -> tuple[int, ...]:
    shapes = [moment.yy.shape for moment in moments.values()]
    return np.broadcast_shapes(*shapes, *(rate.shape for rate in rates.values()))


def _flat(array: Array, leading: tuple[int, ...], axes: int) -> Array:
    """The trials of a stack along one axis, shape (t, ...)."""
    shape = array.shape[array.ndim - axes :]
    return np.broadcast_to(array, (*leading, *shape)).reshape(math.prod(leading), *shape)
