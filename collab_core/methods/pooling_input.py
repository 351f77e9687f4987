"""Agents' sums as a pool for partial pooling: standard units, roots of their information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._base.checks import Array
from .._base.linalg import RANK_TOLERANCE, cholesky, matvec, transpose
from ..core.estimate import LeftOut, NotEstimableError
from ..core.geometry import Geometry
from ..core.moderated import Moderated, has_residual, moderated_variances
from ..core.moments import Moments
from .aggregate import participants, with_xx
from .partial_pooling import Pool


@dataclass(frozen=True, eq=False)
class Units:
    """From standard units and one axis of trials back to the caller's.

    Attributes
    ----------
    leading : tuple of int
        Leading axes of the data.
    features : array, shape (d,) or (t, d)
        Standard deviations of the features.
    label : array, shape (t,)
        Standard deviation of the labels.
    """

    leading: tuple[int, ...]
    features: Array
    label: Array

    def coefficients(self, standard: Array) -> Array:
        """Coefficients of all features, (t, d) -> (..., d)."""
        return self.trials(standard * self.label[:, None] / self.features)

    def trials(self, array: Array) -> Array:
        """The caller's leading axes again."""
        return array.reshape(*self.leading, *array.shape[1:])


@dataclass(frozen=True, eq=False)
class Input:
    """Everything that partial pooling reads.

    Attributes
    ----------
    pool : Pool
        Of the agents that see something, in their order.
    agents : tuple of int
        Whose data these are.
    residual : Moderated
        Their residual variances, in standard units, shapes (t, m).
    rss, freedom : arrays, shape (t, m)
        Residual sums of squares in standard units, and their degrees of freedom.
    squares, samples : arrays, shape (t, m)
        Sums of squared labels in standard units, and the samples (after the mean) they are over.
    transforms : list of arrays, shape (d_i, d) or (t, d_i, d)
        ``T_i`` in standard units.
    roots : list of arrays, shape (t, d_i, d_i)
        ``R_i`` of ``xx_i`` in standard units.
    models : list of arrays, shape (t, d_i)
        Least squares in standard units.
    """

    pool: Pool
    agents: tuple[int, ...]
    residual: Moderated
    rss: Array
    freedom: Array
    squares: Array
    samples: Array
    transforms: Sequence[Array]
    roots: Sequence[Array]
    models: Sequence[Array]
    units: Units
    left_out: tuple[LeftOut, ...]


def pooled_input(moments: Sequence[Moments], geometry: Geometry) -> Input:
    """Bring agents' sums into the form that partial pooling reads."""
    agents, left_out = participants(moments, geometry, by_residual=False, any_size=True)
    data = {i: with_xx(moments[i]) for i in agents}
    leading = np.broadcast_shapes(
        *(data[i].yy.shape for i in agents), geometry.covariance.shape[:-2]
    )
    t, d = int(np.prod(leading)), geometry.dimension
    flat = geometry.trials(leading)
    scale = np.sqrt(np.diagonal(flat.covariance, axis1=-2, axis2=-1))

    def spread_out(array: Array, axes: int) -> Array:
        own = array.shape[array.ndim - axes :]
        return np.broadcast_to(array, (*leading, *own)).reshape(t, *own)

    n = np.stack([spread_out(data[i].degrees_of_freedom, 0) for i in agents], axis=1)
    yy = np.stack([spread_out(data[i].yy, 0) for i in agents], axis=1)
    label = yy.sum(axis=1) / np.maximum(n.sum(axis=1), 1.0)
    if not (label > 0).all():
        raise NotEstimableError("moments: no agent's labels vary, so there is nothing to estimate")
    p = max(geometry.views[i].size for i in agents)
    designs, values = np.zeros((t, len(agents), p, d)), np.zeros((t, len(agents), p))
    transforms, roots, models = [], [], []
    for place, i in enumerate(agents):
        view = geometry.views[i]
        own = scale[..., view]
        T = own[..., :, None] * flat.transform(i) / scale[..., None, :]
        xx = spread_out(data[i].xx, 2) / (own[..., :, None] * own[..., None, :])
        R = root(xx)
        model = spread_out(data[i].fit.theta, 1) * own / np.sqrt(label)[:, None]
        designs[:, place, : view.size] = transpose(R) @ T
        values[:, place, : view.size] = matvec(transpose(R), model)
        transforms.append(T)
        roots.append(R)
        models.append(model)
    rank = np.stack([spread_out(np.asarray(data[i].fit.rank, float), 0) for i in agents], axis=1)
    rss = np.stack([spread_out(data[i].fit.rss, 0) for i in agents], axis=1) / label[:, None]
    residual = residual_variances(rss, n - rank)
    units = Units(leading, scale, np.sqrt(label))
    pool = Pool(designs, values, residual.variances)
    return Input(
        pool,
        tuple(agents),
        residual,
        rss,
        n - rank,
        yy / label[:, None],
        n,
        transforms,
        roots,
        models,
        units,
        left_out,
    )


def residual_variances(rss: Array, freedom: Array) -> Moderated:
    """Moderated residual variances; the labels' own where nobody has a residual, shapes (t, m)."""
    otherwise = None
    if not has_residual(rss, freedom).all():
        # In standard units the labels' variance is 1: cautious, and nobody's weight is infinite.
        otherwise = np.ones(rss.shape[:-1])
    return moderated_variances(rss, freedom, otherwise)


def root(xx: Array) -> Array:
    """``R`` with ``R R' = xx``; directions that the sample did not vary in give columns of 0."""
    factor = cholesky(xx)
    if factor is not None:
        return factor
    diagonal = np.diagonal(xx, axis1=-2, axis2=-1)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    unit = xx / (scale[..., :, None] * scale[..., None, :])
    eigenvalues, vectors = np.linalg.eigh(unit)
    kept = eigenvalues > RANK_TOLERANCE * xx.shape[-1]
    return scale[..., :, None] * vectors * np.sqrt(np.where(kept, eigenvalues, 0.0))[..., None, :]
