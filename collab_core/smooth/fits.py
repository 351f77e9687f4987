"""An agent's own model: a loss minimised over its labelled samples, and what went wrong in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from .._base.checks import Array, finite_array, positive
from .losses import LOGISTIC, Loss
from .objective import AgentBlock
from .solver import settle

#: Strength of the ridge where a fit has no end: every coefficient, at unit variance of its
#: feature, as if drawn from a standard normal law.
RIDGE = 1.0

#: A training loss this small, next to that of knowing nothing, is rounding.
NO_LOSS = 1e-12


@dataclass(frozen=True, eq=False)
class Fit:
    """An agent's own model, for one data set or a stack of them.

    Attributes
    ----------
    theta : array, shape (..., k)
        Coefficients of the design's columns.
    loss : array, shape (...)
        Mean training loss, without any penalty.
    regularised : boolean array, shape (...)
        Where no finite model is best (separated classes, or columns that are a class's alone), or
        none was found, and a ridge answers instead.
    one_class : boolean array, shape (...)
        Where all labels are equal: the answer is the intercept alone.
    exact : boolean array, shape (...)
        Where the training loss is 0 but for rounding, so that a weight of 1 over it is infinite.
    converged : boolean array, shape (...)
    n : int
    """

    theta: Array
    loss: Array
    regularised: NDArray[np.bool_]
    one_class: NDArray[np.bool_]
    exact: NDArray[np.bool_]
    converged: NDArray[np.bool_]
    n: int

    def of(self, place: int) -> Fit:
        """One of a stack, along the first axis."""
        return Fit(
            self.theta[place],
            self.loss[place],
            self.regularised[place],
            self.one_class[place],
            self.exact[place],
            self.converged[place],
            self.n,
        )

    @property
    def corrected_loss(self) -> Array:
        """Training loss plus k/n, what it promises too much of log-loss on average (Akaike)."""
        return self.loss + self.theta.shape[-1] / self.n


def with_constant(x: ArrayLike) -> Array:
    """A design with a first column of ones, shape (..., n, k) -> (..., n, 1 + k)."""
    array = finite_array("x", x, copy=None)
    return np.concatenate([np.ones((*array.shape[:-1], 1)), array], axis=-1)


def fit(
    x: ArrayLike,
    y: ArrayLike,
    loss: Loss = LOGISTIC,
    *,
    intercept: bool = True,
    ridge: float = RIDGE,
    start: ArrayLike | None = None,
) -> Fit:
    """Minimise the mean loss over one agent's labelled samples.

    Parameters
    ----------
    x : array, shape (..., n, k)
        Design. Leading axes are independent data sets.
    y : array, shape (..., n)
        Labels; 0 or 1 for a loss of classes.
    intercept : bool
        Whether the first column is the constant, which a ridge leaves alone.
    ridge : float
        Used only where no finite model is best.
    start : array, shape (..., k), optional
        Where to start, such as the fit to fewer samples.
    """
    design, labels = _checked(x, y, loss)
    leading, (n, k) = labels.shape[:-1], design.shape[-2:]
    positive("ridge", ridge)
    count = int(np.prod(leading))
    flat, target = design.reshape(count, n, k), labels.reshape(count, n)
    begin = np.zeros((count, k)) if start is None else np.array(start).reshape(count, k)
    one_class = np.zeros(count, dtype=bool)
    if loss.classes:
        one_class = np.asarray(target.min(axis=-1) == target.max(axis=-1))
    theta, regularised = np.zeros((count, k)), np.zeros(count, dtype=bool)
    converged = np.ones(count, dtype=bool)
    rows = np.flatnonzero(~one_class)
    if rows.size and k:
        block = AgentBlock(flat, target, np.ones(count)).of(rows)
        size = flat.var(axis=-2) if intercept else (flat**2).mean(axis=-2)
        found = settle([block], begin[rows], loss, (ridge * size / n)[rows])
        theta[rows], regularised[rows] = found.theta, found.regularised
        converged[rows] = found.converged
    if intercept:
        theta[one_class, 0] = half_a_sample(target[one_class])
    eta = (flat @ theta[..., None])[..., 0]
    trained = loss.value(target, eta).mean(axis=-1)
    ignorant = loss.value(target, np.zeros_like(eta)).mean(axis=-1)
    return Fit(
        theta.reshape(*leading, k),
        trained.reshape(leading),
        regularised.reshape(leading),
        one_class.reshape(leading),
        np.asarray(trained <= NO_LOSS * ignorant).reshape(leading),
        converged.reshape(leading),
        n,
    )


def half_a_sample(labels: Array) -> Array:
    """Log-odds as if half a sample of each class had been added: 0 or 1 would be certainty."""
    return np.asarray(logit((labels.sum(axis=-1) + 0.5) / (labels.shape[-1] + 1)))


def _checked(x: ArrayLike, y: ArrayLike, loss: Loss) -> tuple[Array, Array]:
    design = finite_array("x", x, copy=None)
    labels = finite_array("y", y, copy=None)
    if design.ndim < 2 or design.shape[:-1] != labels.shape:
        raise ValueError(
            f"x must have shape (..., n, k) and y (..., n); got {design.shape} and {labels.shape}"
        )
    if labels.shape[-1] == 0:
        raise ValueError("y must hold at least one label, got none")
    if loss.classes and not np.isin(labels, (0.0, 1.0)).all():
        wrong = labels[~np.isin(labels, (0.0, 1.0))][0]
        raise ValueError(f"y must hold labels 0 and 1 for {loss.name} loss, got {wrong:g}")
    return design, labels
