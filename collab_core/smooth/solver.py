"""One solver for all fits: many independent problems at once, by Newton's method with damping.

The objective of one problem (one trial) is

    ``sum_i w_i sum_s l(t_is, x_is' b_i(theta)) / sum_i w_i n_i  +  sum_j penalty_j theta_j^2 / 2``

with ``b_i(theta) = T_i theta``, in which it is convex and the steps are Newton's; or, where a
`Block` has a spread, ``T_i theta / sqrt(1 + c theta'G_i theta)``, and the steps are Gauss-Newton's.
A local fit is one block without transform, the paper's aggregation one block an agent.

What the batch does not bring to its end is handed to `scipy.optimize.minimize` with the gradient,
one problem at a time; what that cannot end either is said to be not converged. `settle` gives a
ridge's answer where there is no end: where a linear programme finds labels separated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from threading import Event

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.optimize import minimize as scipy_minimize

from .._base.checks import Array
from .._base.linalg import RANK_TOLERANCE, matvec, solve, transpose
from .losses import Loss

#: ``E s(eta + v z) ~ s(eta / sqrt(1 + c v^2))``, s the logistic function and z standard normal:
#: logistic and normal curves of one slope at 0 (the probit approximation).
ATTENUATION = np.pi / 8

#: A problem is solved when ``g' H^-1 g``, twice the gap that is left, is below this share of the
#: objective at the start.
TOLERANCE = 1e-18

#: Newton steps. A logistic fit that exists mostly takes about ten. One that runs away gains 1 in
#: its largest linear predictor each step, and would take 35 or more until its gap is below the
#: tolerance: below RUNAWAY it never looks as if it had converged.
STEPS = 18

#: Newton steps for a fit that is known to have an end.
MORE_STEPS = 200

#: Steps of SciPy's trust region, and the gap at which its answer counts as one.
SCIPY_STEPS, SCIPY_TOLERANCE = 500, 1e-14

#: Linear predictors this large are certainty: whether the fit has an end must be asked.
RUNAWAY = 30.0

#: Margins of a separating direction, its largest being 1, may be this far below 0 by rounding.
MARGIN = 1e-6


class CancelledError(Exception):
    """The work was cancelled while it ran."""


_cancel: ContextVar[Event | None] = ContextVar("cancel", default=None)


@contextmanager
def cancelled_by(event: Event | None) -> Iterator[None]:
    """Within it, solvers of this thread raise `CancelledError` soon after the event is set."""
    token = _cancel.set(event)
    try:
        yield
    finally:
        _cancel.reset(token)


def check_cancelled() -> None:
    """Raise `CancelledError` if the event of `cancelled_by` is set."""
    event = _cancel.get()
    if event is not None and event.is_set():
        raise CancelledError


@dataclass(frozen=True, eq=False)
class Block:
    """Samples of one agent, for B problems at once.

    Attributes
    ----------
    x : array, shape (B, n, k) or (1, n, k)
        Design; with a first axis of 1 the same for all problems.
    target : array, shape (B, n)
        Labels, or another model's predictions.
    weight : array, shape (B,)
        Of one sample.
    transform : array, shape (k, p), optional
        ``T_i`` from theta to this agent's coefficients; the identity by default.
    spread : array, shape (p, p), optional
        ``G_i`` with ``theta'G_i theta`` the variance of what the agent cannot see; attenuates its
        coefficients where given.
    """

    x: Array
    target: Array
    weight: Array
    transform: Array | None = None
    spread: Array | None = None

    def of(self, rows: NDArray[np.intp]) -> Block:
        """The same for some of the problems."""
        if rows.size == len(self.target):
            return self
        x = self.x if self.x.shape[0] == 1 else self.x[rows]
        return replace(self, x=x, target=self.target[rows], weight=self.weight[rows])

    def coefficients(self, theta: Array) -> Array:
        """The agent's coefficients, shape (B, k)."""
        return local_coefficients(theta, self.transform, self.spread)

    def jacobian(self, theta: Array) -> Array:
        """Derivative of `coefficients`, shape (k, p) or (B, k, p)."""
        if self.transform is None:
            return np.eye(theta.shape[-1])
        if self.spread is None:
            return self.transform
        pulled, plain = theta @ self.spread, theta @ self.transform.T
        shrink = _shrinkage(theta, self.spread)
        outer = plain[:, :, None] * pulled[:, None, :]
        return (
            shrink[:, None, None] * self.transform
            - (ATTENUATION * shrink**3)[:, None, None] * outer
        )

    def predictor(self, theta: Array) -> Array:
        """Linear predictors, shape (B, n)."""
        return (self.x @ self.coefficients(theta)[..., None])[..., 0]


@dataclass(frozen=True, eq=False)
class Solution:
    """What the solver found.

    Attributes
    ----------
    theta : array, shape (B, p)
    value : array, shape (B,)
        The objective.
    converged : boolean array, shape (B,)
    separated : boolean array, shape (B,)
        Where all labels are on their right side, so that there is no end to run to. Without it
        they may still be separated in part: see `separated`.
    """

    theta: Array
    value: Array
    converged: NDArray[np.bool_]
    separated: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Settled:
    """What `settle` found.

    Attributes
    ----------
    theta : array, shape (B, p)
    converged : boolean array, shape (B,)
    regularised : boolean array, shape (B,)
        Where the answer is a ridge's.
    """

    theta: Array
    converged: NDArray[np.bool_]
    regularised: NDArray[np.bool_]


def local_coefficients(theta: Array, transform: Array | None, spread: Array | None) -> Array:
    """``T_i theta``, attenuated by what agent i does not see if there is a spread, (..., k)."""
    plain = theta if transform is None else theta @ transform.T
    return plain if spread is None else _shrinkage(theta, spread)[..., None] * plain


def _shrinkage(theta: Array, spread: Array) -> Array:
    unseen = ((theta @ spread) * theta).sum(axis=-1)
    return np.asarray(1 / np.sqrt(1 + ATTENUATION * np.maximum(unseen, 0.0)))


def objective(
    blocks: Sequence[Block], theta: Array, loss: Loss, penalty: Array | float = 0.0
) -> tuple[Array, Array]:
    """Value (B,) and gradient (B, p) of the objective at theta, shape (B, p)."""
    scale = _scale(blocks)
    value, etas = _value(blocks, theta, loss, penalty, scale)
    return value, _gradient(blocks, theta, etas, loss, penalty, scale)


def settle(
    blocks: Sequence[Block],
    start: Array,
    loss: Loss,
    ridge: Array,
    *,
    steps: int = STEPS,
    unit: Array | None = None,
    spread: Array | None = None,
) -> Settled:
    """Minimise without a penalty where that has an end, and with a ridge where it has none.

    Parameters
    ----------
    blocks : list of Block
    start : array, shape (B, p)
    ridge : array, shape (p,) or (B, p)
        The penalty where it is needed.
    steps : int
        Newton steps before anything is asked.
    unit : array, shape (p,), optional
        As in `minimise`.
    spread : array, shape (p, p), optional
        Where ``theta'spread theta`` is beyond ``RUNAWAY^2`` theta has run away, even if what agents
        predict stays finite.
    """
    found = minimise(blocks, start, loss, steps=steps, by_scipy=False, unit=unit)
    theta, converged = found.theta.copy(), found.converged.copy()
    endless = found.separated | _beyond(theta, spread)
    doubtful = ~converged
    if loss.classes and _hard(blocks):
        doubtful |= _runs_away(blocks, theta)
        for row in np.flatnonzero(doubtful & ~endless):
            check_cancelled()
            endless[row] = separated([b.of(np.array([row])) for b in blocks], unit)
    rows = np.flatnonzero(~converged & ~endless)
    if rows.size:
        some = [block.of(rows) for block in blocks]
        more = minimise(some, theta[rows], loss, steps=MORE_STEPS, unit=unit)
        theta[rows], converged[rows] = more.theta, more.converged
        endless[rows] = _beyond(more.theta, spread)
    regularised = endless | ~converged
    rows = np.flatnonzero(regularised)
    if rows.size:
        some = [block.of(rows) for block in blocks]
        penalty = np.broadcast_to(ridge, theta.shape)[rows]
        again = minimise(some, np.zeros_like(theta[rows]), loss, penalty, unit=unit)
        theta[rows], converged[rows] = again.theta, again.converged
    return Settled(theta, converged, regularised)


def _beyond(theta: Array, spread: Array | None) -> NDArray[np.bool_]:
    if spread is None:
        return np.zeros(len(theta), dtype=bool)
    return np.asarray(((theta @ spread) * theta).sum(axis=-1) > RUNAWAY**2)


def _hard(blocks: Sequence[Block]) -> bool:
    """Whether all targets are labels, not probabilities."""
    return all(((b.target == 0) | (b.target == 1)).all() for b in blocks)


def separated(blocks: Sequence[Block], unit: Array | None = None) -> bool:
    """Whether a direction has all labels of one problem on their right side or on the border.

    Then the log-loss has no minimum: along that direction it falls for ever (Albert and Anderson
    1984). By the linear programme of Konis (2007): the largest sum of margins within a box.

    Parameters
    ----------
    blocks : list of Block
        Of one problem, targets 0 or 1.
    unit : array, shape (p,), optional
        Columns are scaled by it; by their own largest entry by default.
    """
    parts = []
    for block in blocks:
        if block.weight[0] > 0:
            design = block.x[0] if block.transform is None else block.x[0] @ block.transform
            parts.append((2 * block.target[0] - 1)[:, None] * design)
    margins = np.concatenate(parts)
    scale = np.abs(margins).max(axis=0) if unit is None else unit
    margins = margins / np.where(scale > 0, scale, 1.0)
    found = linprog(
        -margins.sum(axis=0),
        A_ub=-margins,
        b_ub=np.zeros(len(margins)),
        bounds=(-1, 1),
        method="highs",
    )
    if found.x is None:
        return False
    reached = margins @ found.x
    most = float(reached.max(initial=0.0))
    return most > MARGIN and float(reached.min(initial=0.0)) >= -MARGIN * most


def minimise(
    blocks: Sequence[Block],
    start: Array,
    loss: Loss,
    penalty: Array | float = 0.0,
    *,
    steps: int = STEPS,
    by_scipy: bool = True,
    unit: Array | None = None,
) -> Solution:
    """Minimise the objective of every problem of a batch.

    Parameters
    ----------
    blocks : list of Block
        The agents, all of B problems.
    start : array, shape (B, p)
    penalty : array, shape (p,) or (B, p), or float
        Of ``theta_j^2 / 2``.
    steps : int
        Largest number of Newton steps.
    by_scipy : bool
        Whether SciPy may finish what is not done after them.
    unit : array, shape (p,), optional
        Size of a parameter's features. In directions of which the samples say nothing, measured by
        it, no step is made. By default samples say nothing only where a feature is exactly 0;
        behind transforms that is never so, because they round.
    """
    theta = np.array(start)
    count = len(theta)
    penalty = np.broadcast_to(np.asarray(penalty, dtype=float), theta.shape)
    labels = loss.classes and not penalty.any() and _hard(blocks)
    value = np.empty(count)
    converged, separate = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    active = np.arange(count)
    part, current = list(blocks), theta
    scale = _scale(part)
    worth, etas = _value(part, current, loss, penalty, scale)
    unity = np.maximum(worth, np.finfo(float).tiny)
    for _ in range(steps):
        check_cancelled()
        gradient = _gradient(part, current, etas, loss, penalty[active], scale)
        step = _step(_hessian(part, current, etas, loss, penalty[active], scale), gradient, unit)
        gap = -(gradient * step).sum(axis=-1)
        moved, after, new_etas, fell = _search(
            part, current, step, gap, worth, etas, loss, penalty[active], scale
        )
        # Rounding may forbid a last step that would be smaller than it.
        share = gap / unity[active]
        done = (share <= TOLERANCE) | (~fell & (share <= SCIPY_TOLERANCE))
        apart = _all_right(part, new_etas) if labels else np.zeros_like(done)
        done &= ~apart
        ended = done | apart | ~fell
        theta[active], value[active] = moved, after
        converged[active], separate[active] = done, apart
        if ended.all():
            break
        current, worth, etas = moved, after, new_etas
        if ended.any():
            keep = np.flatnonzero(~ended)
            part = [block.of(keep) for block in part]
            active, current, worth, scale = active[keep], moved[keep], after[keep], scale[keep]
            etas = [eta[keep] for eta in new_etas]
    if by_scipy:
        for row in np.flatnonzero(~converged & ~separate):
            found = _by_scipy([b.of(np.array([row])) for b in blocks], theta[row], loss,
                              penalty[[row]], unit)  # fmt: skip
            theta[row], value[row], converged[row] = found
    return Solution(theta, value, converged, separate)


def _step(hessian: Array, gradient: Array, unit: Array | None) -> Array:
    """Newton's step ``-H^-1 gradient``, the shortest where H is singular, shape (B, p)."""
    if unit is None:
        return solve(hessian, -gradient)[0]
    scaled = hessian / (unit[:, None] * unit)
    right = -gradient / unit
    largest = np.diagonal(scaled, axis1=-2, axis2=-1).max(axis=-1, initial=0.0)
    try:
        pivots = np.diagonal(np.linalg.cholesky(scaled), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        pivots = np.zeros_like(right)
    # What is left of a feature after those before it, next to the best known: 0 but for rounding?
    if (pivots > RANK_TOLERANCE * largest[:, None]).all():
        return np.asarray(np.linalg.solve(scaled, right[..., None])[..., 0] / unit)
    values, vectors = np.linalg.eigh(scaled)
    kept = values > RANK_TOLERANCE * len(unit) * values.max(axis=-1, initial=0.0, keepdims=True)
    inverted = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    inner = inverted * matvec(transpose(vectors), right)
    return np.asarray(matvec(vectors, inner) / unit)


def _all_right(blocks: Sequence[Block], etas: Sequence[Array]) -> NDArray[np.bool_]:
    """Whether every label is on its right side, shape (B,)."""
    right = np.ones(len(etas[0]), dtype=bool)
    for block, eta in zip(blocks, etas, strict=True):
        right &= ((2 * block.target - 1) * eta > 0).all(axis=-1) | (block.weight == 0)
    return right


def _runs_away(blocks: Sequence[Block], theta: Array) -> NDArray[np.bool_]:
    """Whether some agent's linear predictors mean certainty beyond reason, shape (B,)."""
    away = np.zeros(len(theta), dtype=bool)
    for block in blocks:
        eta = block.predictor(theta)
        away |= (np.abs(eta).max(axis=-1, initial=0.0) > RUNAWAY) & (block.weight > 0)
    return away


def _scale(blocks: Sequence[Block]) -> Array:
    """``sum_i w_i n_i``, shape (B,)."""
    return np.sum([block.weight * block.target.shape[-1] for block in blocks], axis=0)


def _value(
    blocks: Sequence[Block], theta: Array, loss: Loss, penalty: Array | float, scale: Array
) -> tuple[Array, list[Array]]:
    """The objective (B,), and every block's linear predictors (B, n)."""
    etas = [block.predictor(theta) for block in blocks]
    total = np.zeros(len(theta))
    for block, eta in zip(blocks, etas, strict=True):
        total += block.weight * loss.value(block.target, eta).sum(axis=-1)
    return total / scale + (penalty * theta**2).sum(axis=-1) / 2, etas


def _gradient(
    blocks: Sequence[Block],
    theta: Array,
    etas: Sequence[Array],
    loss: Loss,
    penalty: Array | float,
    scale: Array,
) -> Array:
    total = np.zeros_like(theta)
    for block, eta in zip(blocks, etas, strict=True):
        pull = (loss.slope(block.target, eta)[:, None, :] @ block.x)[:, 0]
        inner = (pull[:, None, :] @ block.jacobian(theta))[:, 0]
        total += block.weight[:, None] * inner
    return total / scale[:, None] + penalty * theta


def _hessian(
    blocks: Sequence[Block],
    theta: Array,
    etas: Sequence[Array],
    loss: Loss,
    penalty: Array,
    scale: Array,
) -> Array:
    """Second derivative (without the curvature of an attenuated transform), shape (B, p, p)."""
    p = theta.shape[-1]
    total = np.zeros((len(theta), p, p))
    for block, eta in zip(blocks, etas, strict=True):
        bend = block.weight[:, None] * loss.curvature(block.target, eta)
        inner = transpose(block.x * bend[..., None]) @ block.x
        if block.transform is not None:
            jacobian = block.jacobian(theta)
            inner = transpose(jacobian) @ inner @ jacobian
        total += inner
    total /= scale[:, None, None]
    total[:, np.arange(p), np.arange(p)] += penalty
    return (total + transpose(total)) / 2


def _search(
    blocks: Sequence[Block],
    theta: Array,
    step: Array,
    gap: Array,
    value: Array,
    etas: list[Array],
    loss: Loss,
    penalty: Array,
    scale: Array,
) -> tuple[Array, Array, list[Array], NDArray[np.bool_]]:
    """Go along the step, halved until the objective falls; problem by problem.

    Returns
    -------
    theta, value, etas
        After the step; unchanged where no step falls.
    fell : boolean array, shape (B,)
    """
    length = np.ones(len(theta))
    moved = theta + step
    after, new_etas = _value(blocks, moved, loss, penalty, scale)
    rounding = 1e-15 * np.abs(value)

    def enough(worth: Array, rows: NDArray[np.intp] | slice) -> NDArray[np.bool_]:
        wanted = value[rows] - 1e-4 * length[rows] * gap[rows] + rounding[rows]
        return np.asarray(np.isfinite(worth) & (worth <= wanted))

    fell = enough(after, slice(None))
    for _ in range(30):
        check_cancelled()
        rows = np.flatnonzero(~fell)
        if rows.size == 0:
            break
        length[rows] /= 2
        some = [block.of(rows) for block in blocks]
        trial = theta[rows] + length[rows, None] * step[rows]
        worth, found = _value(some, trial, loss, penalty[rows], scale[rows])
        moved[rows], after[rows] = trial, worth
        for eta, new in zip(new_etas, found, strict=True):
            eta[rows] = new
        fell[rows] = enough(worth, rows)
    rows = np.flatnonzero(~fell)
    moved[rows], after[rows] = theta[rows], value[rows]
    for eta, old in zip(new_etas, etas, strict=True):
        eta[rows] = old[rows]
    return moved, after, new_etas, fell


def _by_scipy(
    blocks: Sequence[Block], start: Array, loss: Loss, penalty: Array, unit: Array | None
) -> tuple[Array, float, bool]:
    """One problem by SciPy's trust region, with gradient and (Gauss-Newton) second derivative."""
    scale = _scale(blocks)

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        check_cancelled()
        value, gradient = objective(blocks, theta[None], loss, penalty)
        return float(value[0]), gradient[0]

    def hessian(theta: Array) -> Array:
        _, etas = _value(blocks, theta[None], loss, penalty, scale)
        return _hessian(blocks, theta[None], etas, loss, penalty, scale)[0]

    found = scipy_minimize(
        value_and_gradient,
        start,
        jac=True,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-10, "maxiter": SCIPY_STEPS},
    )
    theta = np.asarray(found.x)
    value, gradient = value_and_gradient(theta)
    step = _step(hessian(theta)[None], gradient[None], unit)[0]
    return theta, value, bool(-(gradient @ step) <= SCIPY_TOLERANCE)
