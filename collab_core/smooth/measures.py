"""How good probabilities are: log-loss, accuracy and calibration.

Everything is computed from linear predictors, so that no probability of exactly 0 or 1 is ever
taken the logarithm of. Labels may be true probabilities where those are known: the average is then
over labels too, without their noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from .._base.checks import Array, choice
from .losses import LOGISTIC

#: Equally wide bins of the predicted probability.
BINS = 10


@dataclass(frozen=True)
class Measure:
    """A measure of predictions.

    Attributes
    ----------
    key, label : str
    better : {-1, 1}
        Whether less or more is better.
    """

    key: str
    label: str
    better: int


MEASURES: dict[str, Measure] = {
    measure.key: measure
    for measure in (
        Measure("log_loss", "log-loss", -1),
        Measure("accuracy", "accuracy", 1),
        Measure("calibration", "calibration error", -1),
    )
}


def measure_of(key: str) -> Measure:
    """A measure by its key; an unknown one is refused with the known ones."""
    return MEASURES[choice("measure", key, tuple(MEASURES))]


def log_loss(eta: Array, label: Array) -> Array:
    """Mean log-loss over test samples, shapes (..., N) -> (...)."""
    return LOGISTIC.value(label, eta).mean(axis=-1)


def accuracy(eta: Array, label: Array) -> Array:
    """Share of test samples (..., N) whose more probable class is theirs, (...)."""
    right: Array = np.where(eta > 0, label, 1 - label)
    return right.mean(axis=-1)


def reliability(eta: Array, label: Array, bins: int = BINS) -> Array:
    """Samples, predicted ones and real ones in equally wide bins of probability.

    Parameters
    ----------
    eta, label : array, shape (..., N)

    Returns
    -------
    array, shape (..., 3, bins)
        Sums over the test samples in a bin: of 1, of the probability, of the label.
    """
    leading, n = eta.shape[:-1], eta.shape[-1]
    p = np.asarray(expit(eta)).reshape(-1, n)
    known = np.broadcast_to(label, eta.shape).reshape(-1, n)
    place = np.minimum((p * bins).astype(np.intp), bins - 1)
    place += bins * np.arange(len(p))[:, None]
    sums = [
        np.bincount(place.ravel(), weights=weight.ravel(), minlength=bins * len(p))
        for weight in (np.ones_like(p), p, known)
    ]
    stacked = np.stack([one.reshape(-1, bins) for one in sums], axis=1)
    return stacked.reshape(*leading, 3, bins).astype(np.float64)


def calibration_error(sums: Array) -> Array:
    """Expected calibration error of `reliability`'s sums, shape (...).

    The gap between predicted and real share of ones in a bin, averaged over samples.
    """
    return np.abs(sums[..., 1, :] - sums[..., 2, :]).sum(axis=-1) / sums[..., 0, :].sum(axis=-1)


def overconfidence(sums: Array) -> float:
    """How much surer predictions are than they may be, on average, of `reliability`'s sums.

    Mean over samples of how far the predicted probability lies beyond the real share of ones of
    its bin, away from 1/2. Negative where predictions are too timid.
    """
    away = np.sign(np.arange(sums.shape[-1]) + 0.5 - sums.shape[-1] / 2)
    return float(((sums[1] - sums[2]) * away).sum() / sums[0].sum())


def measured(eta: Array, label: Array) -> tuple[dict[str, Array], Array]:
    """Every measure (...), and `reliability`'s sums (..., 3, bins)."""
    sums = reliability(eta, label)
    found = {
        "log_loss": log_loss(eta, label),
        "accuracy": accuracy(eta, label),
        "calibration": calibration_error(sums),
    }
    return found, sums
