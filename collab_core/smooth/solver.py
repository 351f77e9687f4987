"""One solver for all fits: many independent problems at once, by Newton's method with damping.

Steps for an `objective.Objective` are Newton's where it is convex, Gauss-Newton's where transforms
are attenuated. What the batch does not bring to its end is handed to `scipy.optimize.minimize` with
the gradient, one problem at a time; what that cannot end either is said to be not converged.
`settle` gives a ridge's answer where there is no end: where a linear programme finds labels
separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.optimize import minimize as scipy_minimize

from .._base.checks import Array
from .._base.linalg import RANK_TOLERANCE, matvec, solve, transpose
from .cancelling import check_cancelled
from .losses import Loss
from .objective import AgentBlock, Objective, have_labels

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


def settle(
    blocks: Sequence[AgentBlock],
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
    if loss.classes and have_labels(blocks):
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


def separated(blocks: Sequence[AgentBlock], unit: Array | None = None) -> bool:
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
    blocks: Sequence[AgentBlock],
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
    whole = Objective.over(blocks, loss, penalty, (len(start), start.shape[-1]))
    descent = _Descent(whole, start, unit)
    for _ in range(steps):
        check_cancelled()
        descent.step()
        if not descent.active.size:
            break
    theta, value, converged = descent.theta, descent.value, descent.converged
    if by_scipy:
        for row in np.flatnonzero(~converged & ~descent.separated):
            found = _by_scipy(whole.of(np.array([row])), theta[row], unit)
            theta[row], value[row], converged[row] = found
    return Solution(theta, value, converged, descent.separated)


class _Descent:
    """Newton's steps of a batch; a problem leaves it when it has ended.

    Attributes
    ----------
    theta, value, converged, separated
        As in `Solution`, so far.
    active : index array
        The problems that are left.
    """

    def __init__(self, whole: Objective, start: Array, unit: Array | None) -> None:
        count = len(start)
        self.unit = unit
        self.theta = np.array(start)
        self.value = np.empty(count)
        self.converged = np.zeros(count, dtype=bool)
        self.separated = np.zeros(count, dtype=bool)
        self.active = np.arange(count)
        # Only without a penalty is there no end to run to.
        self.may_separate = (
            whole.loss.classes and not whole.penalty.any() and have_labels(whole.blocks)
        )
        self.part, self.current = whole, np.array(start)
        self.worth, self.etas = whole.value(self.current)
        self.unity = np.maximum(self.worth, np.finfo(float).tiny)

    def step(self) -> None:
        """One step of every problem that is left."""
        part = self.part
        gradient = part.gradient(self.current, self.etas)
        step = _step(part.hessian(self.current, self.etas), gradient, self.unit)
        gap = -(gradient * step).sum(axis=-1)
        moved, after, etas, fell = _search(part, self.current, step, gap, self.worth, self.etas)
        # Rounding may forbid a last step that would be smaller than it.
        share = gap / self.unity[self.active]
        done = (share <= TOLERANCE) | (~fell & (share <= SCIPY_TOLERANCE))
        apart = np.zeros_like(done)
        if self.may_separate:
            apart = _all_right(part.blocks, etas)
        done &= ~apart
        self.theta[self.active], self.value[self.active] = moved, after
        self.converged[self.active], self.separated[self.active] = done, apart
        self.current, self.worth, self.etas = moved, after, etas
        ended = done | apart | ~fell
        if ended.any():
            self._keep(np.flatnonzero(~ended))

    def _keep(self, rows: NDArray[np.intp]) -> None:
        self.active, self.part = self.active[rows], self.part.of(rows)
        self.current, self.worth = self.current[rows], self.worth[rows]
        self.etas = [eta[rows] for eta in self.etas]


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


def _all_right(blocks: Sequence[AgentBlock], etas: Sequence[Array]) -> NDArray[np.bool_]:
    """Whether every label is on its right side, shape (B,)."""
    right = np.ones(len(etas[0]), dtype=bool)
    for block, eta in zip(blocks, etas, strict=True):
        right &= ((2 * block.target - 1) * eta > 0).all(axis=-1) | (block.weight == 0)
    return right


def _runs_away(blocks: Sequence[AgentBlock], theta: Array) -> NDArray[np.bool_]:
    """Whether some agent's linear predictors mean certainty beyond reason, shape (B,)."""
    away = np.zeros(len(theta), dtype=bool)
    for block in blocks:
        eta = block.predictor(theta)
        away |= (np.abs(eta).max(axis=-1, initial=0.0) > RUNAWAY) & (block.weight > 0)
    return away


def _search(
    part: Objective, theta: Array, step: Array, gap: Array, value: Array, etas: Sequence[Array]
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
    after, new_etas = part.value(moved)
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
        trial = theta[rows] + length[rows, None] * step[rows]
        worth, found = part.of(rows).value(trial)
        moved[rows], after[rows] = trial, worth
        for eta, new in zip(new_etas, found, strict=True):
            eta[rows] = new
        fell[rows] = enough(worth, rows)
    rows = np.flatnonzero(~fell)
    moved[rows], after[rows] = theta[rows], value[rows]
    for eta, old in zip(new_etas, etas, strict=True):
        eta[rows] = old[rows]
    return moved, after, new_etas, fell


def _by_scipy(one: Objective, start: Array, unit: Array | None) -> tuple[Array, float, bool]:
    """One problem by SciPy's trust region, with gradient and (Gauss-Newton) second derivative."""

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        check_cancelled()
        value, etas = one.value(theta[None])
        return float(value[0]), one.gradient(theta[None], etas)[0]

    def hessian(theta: Array) -> Array:
        _, etas = one.value(theta[None])
        return one.hessian(theta[None], etas)[0]

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
