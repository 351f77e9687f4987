"""Smooth losses of a linear predictor: squared loss and log-loss, and room for others.

A model is ``f(x; theta) = predict(x'theta)``. Everything else in this package reads of a loss only
its value and two derivatives with respect to the linear predictor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from .._base.checks import Array


@dataclass(frozen=True)
class Loss:
    """A loss ``l(target, predict(eta))``, convex and smooth in the linear predictor eta.

    All functions work entry by entry on arrays of one shape.

    Attributes
    ----------
    name : str
    predict : callable
        From eta to a prediction: a number, or a probability.
    value, slope, curvature : callable
        Of ``(target, eta)``: the loss and its first two derivatives with respect to eta. The
        target is a label, or another model's prediction.
    classes : bool
        Whether labels are 0 or 1, so that there is such a thing as separation.
    """

    name: str
    predict: Callable[[Array], Array]
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]
    classes: bool = False


def _same(eta: Array) -> Array:
    return eta


def _squared(target: Array, eta: Array) -> Array:
    return (eta - target) ** 2


def _squared_slope(target: Array, eta: Array) -> Array:
    return 2 * (eta - target)


def _squared_curvature(target: Array, eta: Array) -> Array:
    return np.full_like(eta, 2.0)


def _probability(eta: Array) -> Array:
    return np.asarray(expit(eta))


def _cross_entropy(target: Array, eta: Array) -> Array:
    # -t log p - (1 - t) log(1 - p), written so that no p of 0 or 1 is ever taken the log of.
    return np.log1p(np.exp(-np.abs(eta))) + np.maximum(eta, 0.0) - target * eta


def _cross_entropy_slope(target: Array, eta: Array) -> Array:
    return np.asarray(expit(eta) - target)


def _cross_entropy_curvature(target: Array, eta: Array) -> Array:
    p = np.asarray(expit(eta))
    return p * (1 - p)


#: ``(y - x'theta)^2``: with it, everything here is COLLAB.
SQUARED = Loss("squared", _same, _squared, _squared_slope, _squared_curvature)

#: Cross-entropy of a label (or of another model's probability) against ``1/(1 + exp(-x'theta))``.
LOGISTIC = Loss(
    "logistic",
    _probability,
    _cross_entropy,
    _cross_entropy_slope,
    _cross_entropy_curvature,
    classes=True,
)
