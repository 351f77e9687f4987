"""One solver for all fits: many independent problems at once, by Newton's method with damping.

The objective of one problem (one trial) is

    ``sum_i w_i sum_s l(t_is, x_is' b_i(theta)) / sum_i w_i n_i  +  sum_j penalty_j theta_j^2 / 2``

with ``b_i(theta) = T_i theta``, in which it is convex and the steps are Newton's; or, where a
`Block` has a spread, ``T_i theta / sqrt(1 + c theta'G_i theta)``, and the steps are Gauss-Newton's.
A local fit is one block without transform, the paper's aggregation one block an agent.

What the batch does not bring to its end is handed to `scipy.optimize.minimize` with the gradient,
one problem at a time; what that cannot end either is said to be not converged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as scipy_minimize

from .._checks import Array
from .._linalg import solve, transpose
from .losses import Loss

#: ``E s(eta + v z) ~ s(eta / sqrt(1 + c v^2))``, s the logistic function and z standard normal:
#: logistic and normal curves of one slope at 0 (the probit approximation).
ATTENUATION = np.pi / 8

#: A problem is solved when ``g' H^-1 g``, twice the gap that is left, is below this share of the
#: objective at the start.
TOLERANCE = 1e-18

#: Newton steps. A logistic fit that exists takes about ten. One that runs away gains 1 in its
#: largest linear predictor each step, and would take 35 or more until its gap is below the
#: tolerance: it never looks as if it had converged.
STEPS = 18

#: Steps of SciPy's trust region, and the gap at which its answer counts as one.
SCIPY_STEPS, SCIPY_TOLERANCE = 500, 1e-14

#: Linear predictors this large mean that labels are separated and coefficients run away.
RUNAWAY = 30.0


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
    """

    theta: Array
    value: Array
    converged: NDArray[np.bool_]


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


def minimise(
    blocks: Sequence[Block],
    start: Array,
    loss: Loss,
    penalty: Array | float = 0.0,
    *,
    steps: int = STEPS,
    by_scipy: bool = True,
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
    """
    theta = np.array(start)
    count = len(theta)
    penalty = np.broadcast_to(np.asarray(penalty, dtype=float), theta.shape)
    free = not penalty.any()
    value = np.empty(count)
    converged = np.zeros(count, dtype=bool)
    active = np.arange(count)
    part, current = list(blocks), theta
    scale = _scale(part)
    worth, etas = _value(part, current, loss, penalty, scale)
    unit = np.maximum(worth, np.finfo(float).tiny)
    for _ in range(steps):
        gradient = _gradient(part, current, etas, loss, penalty[active], scale)
        step, _ = solve(_hessian(part, current, etas, loss, penalty[active], scale), -gradient)
        gap = -(gradient * step).sum(axis=-1)
        moved, after, new_etas, fell = _search(
            part, current, step, gap, worth, etas, loss, penalty[active], scale
        )
        # Rounding may forbid a last step that would be smaller than it.
        share = gap / unit[active]
        done = (share <= TOLERANCE) | (~fell & (share <= SCIPY_TOLERANCE))
        away = _runs_away(part, new_etas) if loss.classes and free else np.zeros_like(done)
        done &= ~away
        ended = done | away | ~fell
        theta[active], value[active], converged[active] = moved, after, done
        if ended.all():
            break
        current, worth, etas = moved, after, new_etas
        if ended.any():
            keep = np.flatnonzero(~ended)
            part = [block.of(keep) for block in part]
            active, current, worth, scale = active[keep], moved[keep], after[keep], scale[keep]
            etas = [eta[keep] for eta in new_etas]
    if by_scipy:
        for row in np.flatnonzero(~converged):
            found = _by_scipy([b.of(np.array([row])) for b in blocks], theta[row], loss,
                              penalty[[row]])  # fmt: skip
            theta[row], value[row], converged[row] = found
    return Solution(theta, value, converged)


def _runs_away(blocks: Sequence[Block], etas: Sequence[Array]) -> NDArray[np.bool_]:
    """Whether some agent's linear predictors mean certainty beyond reason, shape (B,)."""
    away = np.zeros(len(etas[0]), dtype=bool)
    for block, eta in zip(blocks, etas, strict=True):
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
    blocks: Sequence[Block], start: Array, loss: Loss, penalty: Array
) -> tuple[Array, float, bool]:
    """One problem by SciPy's trust region, with gradient and (Gauss-Newton) second derivative."""
    scale = _scale(blocks)

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
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
    step, _ = solve(hessian(theta), -gradient)
    return theta, value, bool(-(gradient @ step) <= SCIPY_TOLERANCE)
