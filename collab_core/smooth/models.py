"""Models of agents and of the server, for any smooth loss: the paper's last proposal.

``theta = argmin sum_i n_i E l(f_i(x+; theta_i), f(x+; T_i theta)) / E l(f_i(x+; theta_i), y)``
(Discussion; the factor n_i, 1 in the paper where all agents have the same n, is ours).

What is exact, for any data:

- with squared loss this is COLLAB, with Algorithm 1's weights if the expectation is over the
  agents' own features;
- with log-loss over the agents' own features, where every agent's own fit is finite (no ridge, no
  agent left out), it is logistic regression on everybody's imputed data, agent i's samples weighted
  by 1 over its training loss: such a fit satisfies ``X_i'(y_i - p_i) = 0``, so the server's
  gradient is the same with its probabilities p_i as with its labels. (For squared loss this is
  RW-Imputation.) A ridge's answer does not satisfy it, and the two part.

What is heuristic: the linear ``T_i`` for a model that is not linear. Who does not see a feature
averages over it, and averaging flattens a logistic curve; `collab` with ``attenuated=True``
(beyond the paper) shrinks ``T_i theta`` accordingly, by the probit approximation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.checks import Array, agent_index, finite_array
from ..core.estimate import NotEstimableError
from ..world.views import unseen_features
from .fits import RIDGE, Fit, fit, half_a_sample
from .layout import FeatureLayout, NaiveLayout
from .losses import LOGISTIC, Loss
from .objective import AgentBlock, local_coefficients
from .solver import STEPS, minimise, settle


@dataclass(frozen=True, eq=False)
class Aggregate:
    """The server's parameters, and with them a model for every agent.

    Attributes
    ----------
    theta : array, shape (..., p)
        Intercepts (see `FeatureLayout`), then coefficients of all features.
    layout : FeatureLayout
    attenuated : bool
        Whether an agent's model is shrunk for what it does not see.
    converged : boolean array, shape (...)
    left_out : boolean array, shape (..., m)
        Agents that took no part.
    regularised : boolean array, shape (...)
        Where no finite theta is best, or none was found, and a ridge on all slopes answers instead.
    """

    theta: Array
    layout: FeatureLayout = field(repr=False)
    attenuated: bool
    converged: NDArray[np.bool_]
    left_out: NDArray[np.bool_]
    regularised: NDArray[np.bool_]

    def local(self, agent: int) -> Array:
        """Agent i's model of its own design, shape (..., k_i)."""
        i = agent_index(agent, self.layout.agents)
        spread = self.layout.spreads[i] if self.attenuated else None
        return local_coefficients(self.theta, self.layout.transforms[i], spread)

    def full(self, agent: int = 0) -> Array:
        """The model of all features, with agent i's intercept, shape (..., 1 + d)."""
        return self.theta @ self.layout.everything(agent_index(agent, self.layout.agents)).T


def collab(
    designs: Sequence[ArrayLike],
    fits: Sequence[Fit],
    layout: FeatureLayout,
    loss: Loss = LOGISTIC,
    *,
    attenuated: bool = False,
    correction: bool = False,
    start: ArrayLike | None = None,
) -> Aggregate:
    """The paper's aggregation: least disagreement with every agent, over its training loss.

    Parameters
    ----------
    designs : list of arrays, shape (..., N_i, k_i) or (N_i, k_i)
        Unlabelled features over which agent i and the server should agree: its own, or a common
        pool seen through its view. Only the mean over them counts, times the agent's n.
    fits : list of Fit
        The agents' models; all that the server reads of any label.
    layout : FeatureLayout
    attenuated : bool
        Shrink ``T_i theta`` for what agent i does not see (beyond the paper, for log-loss).
    correction : bool
        Divide by the training loss plus k/n instead of the training loss.
    start : array, shape (..., p), optional

    Returns
    -------
    Aggregate
        Agents with labels of one class, or without any training loss (their weight would be
        infinite), take no part.

    Raises
    ------
    NotEstimableError
        If some feature is seen by no agent that takes part, as in `estimators.collab`.
    """
    losses = [one.corrected_loss if correction else one.loss for one in fits]
    takes_part = [~one.one_class & ~one.exact for one in fits]
    targets = [
        loss.predict((x @ one.theta[..., None])[..., 0])
        for x, one in zip(_designs(designs, layout), fits, strict=True)
    ]
    weights = [
        np.where(part, one.n / np.where(part, level, 1.0), 0.0) / x.shape[-2]
        for part, one, level, x in zip(
            takes_part, fits, losses, _designs(designs, layout), strict=True
        )
    ]
    found = _aggregate(designs, targets, weights, layout, loss, attenuated, start)
    if layout.intercept == "own":
        # Nobody else knows the intercept of who took no part.
        for i, one in enumerate(fits):
            found.theta[..., i] = np.where(
                found.left_out[..., i], one.theta[..., 0], found.theta[..., i]
            )
    return found


def imputation(
    designs: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    layout: FeatureLayout,
    loss: Loss = LOGISTIC,
    weights: Sequence[ArrayLike] | None = None,
    *,
    start: ArrayLike | None = None,
) -> Aggregate:
    """Impute every agent's features by their conditional mean, pool all data, fit once.

    ``x'T_i theta`` is the linear predictor of the imputed features ``T_i'x``, so nothing need be
    imputed. It needs all data in one place.

    An agent with labels of one class and an intercept of its own says nothing of the slopes (its
    intercept alone would explain it all): it is left out, and gets the intercept of `fit`.

    Parameters
    ----------
    designs : list of arrays, shape (..., n_i, k_i)
    labels : list of arrays, shape (..., n_i)
    weights : list of arrays, shape (...), optional
        Of a sample of each agent; all 1 by default.
    """
    targets = [finite_array("labels", y, copy=None) for y in labels]
    given = (
        [np.ones(y.shape[:-1]) for y in targets]
        if weights is None
        else [np.broadcast_to(finite_array("weights", w), y.shape[:-1])
              for w, y in zip(weights, targets, strict=True)]
    )  # fmt: skip
    if not (loss.classes and layout.intercept == "own"):
        return _aggregate(designs, targets, given, layout, loss, False, start)
    single = [y.min(axis=-1) == y.max(axis=-1) for y in targets]
    given = [np.where(one, 0.0, weight) for one, weight in zip(single, given, strict=True)]
    found = _aggregate(designs, targets, given, layout, loss, False, start)
    for i, (one, y) in enumerate(zip(single, targets, strict=True)):
        found.theta[..., i] = np.where(one, half_a_sample(y), found.theta[..., i])
    return found


def naive(fits: Sequence[Fit], layout: FeatureLayout) -> Aggregate:
    """Average the local models, 0 for what an agent does not see, as Naive-Collab does.

    Divided by the number of agents; own intercepts stay their agents' own.
    """
    part = np.stack([~one.one_class for one in fits], axis=-1)
    counts = np.maximum(part.sum(axis=-1), 1)
    total = np.zeros((*part.shape[:-1], layout.parameters))
    first = int(layout.constants > 0)
    for i, (one, view) in enumerate(zip(fits, layout.geometry.views, strict=True)):
        share = (part[..., i] / counts)[..., None]
        total[..., layout.constants + view] += share * one.theta[..., first:]
        if layout.intercept == "own":
            total[..., i] = one.theta[..., 0]
        elif layout.intercept == "shared":
            total[..., 0] += share[..., 0] * one.theta[..., 0]
    yes = np.ones(counts.shape, dtype=bool)
    return Aggregate(total, NaiveLayout(layout), False, yes, ~part, ~yes)


def pooled(
    designs: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    loss: Loss = LOGISTIC,
    *,
    own_intercepts: bool = False,
    start: ArrayLike | None = None,
) -> Fit:
    """Fit everybody's samples of the same features together: with all features, the ceiling.

    With those of one agent it is no ceiling: the others' features tell of its own.

    Parameters
    ----------
    designs : list of arrays, shape (..., n_i, 1 + k)
        With a constant column each.
    labels : list of arrays, shape (..., n_i)
    own_intercepts : bool
        One for every agent, instead of one for all.

    Returns
    -------
    Fit
        Of 1 + k coefficients, or of m + k with own intercepts.
    """
    if not own_intercepts:
        x = np.concatenate([finite_array("designs", part, copy=None) for part in designs], axis=-2)
        y = np.concatenate([finite_array("labels", part, copy=None) for part in labels], axis=-1)
        return fit(x, y, loss, start=start)
    k = np.shape(designs[0])[-1] - 1
    layout = FeatureLayout(np.eye(k), [np.arange(k)] * len(designs), "own")
    found = imputation(designs, labels, layout, loss, start=start)
    parts = [
        loss.value(np.asarray(y), (x @ found.local(i)[..., None])[..., 0])
        for i, (x, y) in enumerate(zip(_designs(designs, layout), labels, strict=True))
    ]
    trained = np.concatenate(parts, axis=-1)
    return Fit(
        found.theta,
        trained.mean(axis=-1),
        found.regularised,
        np.zeros_like(found.regularised),
        np.zeros_like(found.regularised),
        found.converged,
        trained.shape[-1],
    )


def _aggregate(
    designs: Sequence[ArrayLike],
    targets: Sequence[Array],
    weights: Sequence[Array],
    layout: FeatureLayout,
    loss: Loss,
    attenuated: bool,
    start: ArrayLike | None,
) -> Aggregate:
    if len(targets) != layout.agents:
        raise ValueError(f"there must be one entry per agent ({layout.agents}), got {len(targets)}")
    leading = np.broadcast_shapes(*(weight.shape for weight in weights))
    p, count = layout.parameters, int(np.prod(leading))
    used = np.stack([np.broadcast_to(w, leading).reshape(-1) for w in weights], axis=-1) > 0
    _require_coverage(used, layout)
    blocks = [
        _block(x, targets[i], weights[i], leading, layout, i, attenuated)
        for i, x in enumerate(_designs(designs, layout))
        if used[:, i].any()
    ]
    begin = np.zeros((count, p)) if start is None else np.array(start).reshape(count, p)
    if attenuated and start is None:
        # From the plain aggregate: the attenuated objective is not convex.
        plain = [AgentBlock(b.x, b.target, b.weight, b.transform) for b in blocks]
        begin = minimise(plain, begin, loss, by_scipy=False, unit=_unit(layout)).theta
    samples = sum(block.target.shape[-1] for block in blocks)
    # A direction of which the samples say next to nothing can run away while all agents'
    # predictors stay finite (attenuated they are bounded).
    spread = np.zeros((p, p))
    spread[layout.constants :, layout.constants :] = layout.geometry.covariance
    found = settle(
        blocks,
        begin,
        loss,
        RIDGE * np.diagonal(spread) / samples,
        # Gauss-Newton's last steps for attenuated transforms are not quadratic.
        steps=4 * STEPS if attenuated else STEPS,
        unit=_unit(layout),
        spread=spread if loss.classes else None,
    )
    return Aggregate(
        found.theta.reshape(*leading, p),
        layout,
        attenuated,
        found.converged.reshape(leading),
        ~used.reshape(*leading, layout.agents),
        found.regularised.reshape(leading),
    )


def _block(
    x: Array,
    target: Array,
    weight: Array,
    leading: tuple[int, ...],
    layout: FeatureLayout,
    agent: int,
    attenuated: bool,
) -> AgentBlock:
    """Agent i's samples for all problems; a design without leading axes is the same for all."""
    (n, k), count = x.shape[-2:], int(np.prod(leading))
    design = x[None]
    if x.ndim > 2:
        design = np.broadcast_to(x, (*leading, n, k)).reshape(count, n, k)
    return AgentBlock(
        design,
        np.broadcast_to(target, (*leading, n)).reshape(count, n),
        np.broadcast_to(weight, leading).reshape(-1),
        layout.transforms[agent],
        layout.spreads[agent] if attenuated else None,
    )


def _unit(layout: FeatureLayout) -> Array:
    """Size of what a parameter multiplies: 1 for intercepts, deviations of features, shape (p,)."""
    deviations = np.sqrt(np.diagonal(layout.geometry.covariance))
    return np.concatenate([np.ones(layout.constants), deviations])


def _require_coverage(used: NDArray[np.bool_], layout: FeatureLayout) -> None:
    """Refuse problems in which a feature is seen only by agents that take no part.

    ``used`` has shape (B, m). Where one problem of a stack is refused, all are.
    """
    if not used.any(axis=-1).all():
        raise NotEstimableError(
            "no agent can take part: all labels are of one class, or fitted without loss"
        )
    views, d = layout.geometry.views, layout.geometry.dimension
    for pattern in np.unique(used, axis=0):
        unseen = unseen_features([views[i] for i in np.flatnonzero(pattern)], d)
        if unseen.size:
            names = ", ".join(f"x{j + 1}" for j in unseen[:10]) + ", ..." * (unseen.size > 10)
            raise NotEstimableError(
                f"nobody who takes part sees {names}: others have labels of one class, or fit them"
                " without loss"
            )


def _designs(designs: Sequence[ArrayLike], layout: FeatureLayout) -> list[Array]:
    if len(designs) != layout.agents:
        raise ValueError(f"designs must hold one entry per agent ({layout.agents}),"
                         f" got {len(designs)}")  # fmt: skip
    checked = [finite_array(f"designs[{i}]", x, copy=None) for i, x in enumerate(designs)]
    for i, (x, transform) in enumerate(zip(checked, layout.transforms, strict=True)):
        if x.ndim < 2 or x.shape[-1] != transform.shape[0]:
            raise ValueError(
                f"designs[{i}] must have {transform.shape[0]} columns"
                f" ({'a constant and ' if layout.constants else ''}what agent {i} sees),"
                f" got shape {x.shape}"
            )
    return checked
