"""COLLAB's weights that no agent with few residuals can hijack (beyond the paper).

The paper weighs an agent by the inverse of its own residual, and one or two residual degrees of
freedom make that nearly infinite by luck. Two cures, both in the information form ``sum_i T_i'
xx_i T_i / s_i``, which inverts nobody's ``xx``, so that agents with ``n <= d_i`` take part:

- *moderated*: residual variances that lean on everybody's (`collab_core.core.moderated`);
- *plug-in*: ``s_i = noise^2 + theta' G_i theta`` at an estimate. It believes the model, that all
  agents share one theta and one noise, and is then nearly as good as knowing every s_i.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.checks import Array
from ..bounds.weights import noise_variance
from ..core.estimate import Estimate, NotEstimableError
from ..core.geometry import Geometry
from ..core.moderated import Moderated, has_residual, moderated_variances, residual_sums
from ..core.moments import AgentData
from .aggregate import imputed, participants, with_xx

#: Times that the plug-in is made anew from the estimate before; more change nothing that counts.
PASSES = 2


def collab_moderated(moments: Sequence[AgentData], geometry: Geometry) -> Estimate:
    """COLLAB with moderated residual variances."""
    agents, _ = participants(moments, geometry, by_residual=False, any_size=True)
    return _weighted(moments, geometry, agents, moderated_of(moments, geometry, agents).variances)


def collab_plug_in(moments: Sequence[AgentData], geometry: Geometry) -> Estimate:
    """COLLAB with ``s_i`` by the model, at the estimate of the pass before."""
    agents, _ = participants(moments, geometry, by_residual=False, any_size=True)
    variances = moderated_of(moments, geometry, agents).variances
    estimate = _weighted(moments, geometry, agents, variances)
    for _ in range(PASSES):
        variances = plug_in_variances(moments, geometry, agents, variances, estimate.phi)
        estimate = _weighted(moments, geometry, agents, variances)
    return estimate


def moderated_of(
    moments: Sequence[AgentData], geometry: Geometry, agents: Sequence[int]
) -> Moderated:
    """Moderated residual variances of the agents that take part.

    Where nobody's own least squares leaves a residual, agents get one variance for all: that of
    the labels about the model that everybody's samples give together.
    """
    rss, freedom = residual_sums([moments[i].fit for i in agents])
    joint = None
    if not has_residual(rss, freedom).all():
        joint = _joint_variance(moments, geometry, agents)
    return moderated_variances(rss, freedom, joint)


def plug_in_variances(
    moments: Sequence[AgentData],
    geometry: Geometry,
    agents: Sequence[int],
    variances: Array,
    phi: Array,
) -> Array:
    """``s_i = noise^2 + theta' G_i theta`` of the agents that take part, shape (..., a).

    Parameters
    ----------
    variances : array, shape (..., a)
        As known so far: residuals tell the noise with weights by these.
    phi : array, shape (..., d)
        Where theta is taken.
    """
    known = {i: variances[..., j] for j, i in enumerate(agents)}
    noise = noise_variance({i: moments[i].fit for i in agents}, geometry, phi, known)
    return noise[..., None] + unseen_signal(geometry, phi, agents)


def unseen_signal(geometry: Geometry, phi: Array, agents: Sequence[int]) -> Array:
    """``theta' G_i theta``, the signal that an agent does not see, shape (..., a)."""
    signal = (geometry.theta(phi) * phi).sum(axis=-1)
    seen = [(phi[..., geometry.views[i]] * geometry.local(phi, i)).sum(axis=-1) for i in agents]
    # An agent that sees everything leaves nothing of the signal, whatever rounding says.
    return np.maximum(signal[..., None] - np.stack(seen, axis=-1), 0.0)


def _weighted(
    moments: Sequence[AgentData], geometry: Geometry, agents: Sequence[int], variances: Array
) -> Estimate:
    known = {i: variances[..., j] for j, i in enumerate(agents)}
    return imputed(moments, geometry, {i: 1 / s for i, s in known.items()}, (), known)


def _joint_variance(
    moments: Sequence[AgentData], geometry: Geometry, agents: Sequence[int]
) -> Array:
    """Variance of all labels about the models of imputation with equal weights, shape (...)."""
    data = [with_xx(moments[i]) for i in agents]
    equal = imputed(moments, geometry, {i: np.asarray(1.0) for i in agents}, ())
    squares, freedom = np.zeros(()), np.asarray(-float(geometry.dimension))
    for i, moment in zip(agents, data, strict=True):
        squares = squares + moment.squared_error(equal.local(i))
        freedom = freedom + moment.degrees_of_freedom
    if (freedom <= 0).any():
        raise NotEstimableError(
            f"all agents together have too few samples for {geometry.dimension} features, so how"
            " far labels vary about the models is not known"
        )
    return squares / freedom


#: Weights that lean on more than an agent's own residual.
STEADY = {"moderated": collab_moderated, "plug_in": collab_plug_in}
