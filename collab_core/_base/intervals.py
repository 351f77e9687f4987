"""Intervals: the only place that knows a quantile.

What does not exist (an interval of a single number, say) is ``<NA>``, never NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from scipy.stats import t as student

from .checks import Array, fraction

#: Level of every interval whose level nobody chose.
LEVEL = 0.95


def normal_reach(level: float = LEVEL) -> float:
    """Half width of a normal interval, in standard deviations."""
    return float(norm.ppf((1 + fraction("level", level)) / 2))


def student_reach(freedom: float, level: float = LEVEL) -> float:
    """The same for Student's t with these degrees of freedom."""
    return float(student.ppf((1 + fraction("level", level)) / 2, freedom))


def student_chance(ratio: float, freedom: float) -> float:
    """Chance that Student's t is this far from 0 or farther, on either side."""
    return 2 * float(student.sf(abs(ratio), freedom))


def half_width(values: Array, level: float = LEVEL) -> Array:
    """Half of the interval of a mean over the first axis by Student's t, shape (...)."""
    count = values.shape[0]
    return np.asarray(student_reach(count - 1, level) * values.std(axis=0, ddof=1) / np.sqrt(count))


def mean_interval(values: Array) -> tuple[float, Any, Any]:
    """Mean of numbers that cannot be negative, and its 95% interval; one number has none."""
    mean = float(values.mean())
    if values.size < 2:
        return mean, pd.NA, pd.NA
    half = float(half_width(values))
    return mean, max(mean - half, 0.0), mean + half


def gap_interval(mine: Array, theirs: Array) -> tuple[float, float, float]:
    """Mean of ``mine - theirs`` over paired trials with its 95% interval.

    With one trial the interval is all numbers.
    """
    gap = mine - theirs
    mean = float(gap.mean())
    half = float(half_width(gap)) if gap.size > 1 else np.inf
    return mean, mean - half, mean + half


def ratio_interval(mine: Array, theirs: Array) -> tuple[Any, Any, Any]:
    """Ratio of two means over paired trials and its 95% interval, by the delta method.

    Paired, a ratio is known far better than either mean.
    """
    if mine.shape != theirs.shape or not mine.size or not theirs.mean() > 0:
        return pd.NA, pd.NA, pd.NA
    ratio = float(mine.mean() / theirs.mean())
    if mine.size < 2:
        return ratio, pd.NA, pd.NA
    half = float(half_width(mine - ratio * theirs)) / float(theirs.mean())
    return ratio, max(ratio - half, 0.0), ratio + half


def split_interval(values: Array, ratio: float) -> tuple[Any, Any, Any]:
    """Mean over splits of the same rows and its 95% interval (Nadeau and Bengio 2003).

    Splits share rows, so their mean varies more than independent ones would: the variance is
    multiplied by ``1/R + held-out / trained-on`` instead of ``1/R``.

    Parameters
    ----------
    values : array, shape (R,)
    ratio : float
        Rows held out over rows trained on.
    """
    if values.size == 0:
        return pd.NA, pd.NA, pd.NA
    mean = float(values.mean())
    if values.size < 2:
        return mean, pd.NA, pd.NA
    spread = float(np.sqrt((1 / values.size + ratio) * values.var(ddof=1)))
    half = student_reach(values.size - 1) * spread
    return mean, mean - half, mean + half


def basic_interval(point: float, resamples: Array) -> tuple[float, float]:
    """95% interval by the basic bootstrap: resamples reflected at the point."""
    low, high = np.quantile(resamples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return 2 * point - float(high), 2 * point - float(low)


def jackknife_error(values: Array) -> Array:
    """Standard errors from fits on all rows and on all but one fold, shape (F + 1, k) -> (k,)."""
    replicas = values[1:]
    count = len(replicas)
    spread = ((replicas - replicas.mean(axis=0)) ** 2).sum(axis=0)
    return np.sqrt((count - 1) / count * spread)


def holm(chances: list[Any]) -> list[Any]:
    """P-values adjusted for asking several at once (Holm 1979); <NA> stays."""
    known = sorted((p, place) for place, p in enumerate(chances) if p is not pd.NA)
    result: list[Any] = [pd.NA] * len(chances)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        result[place] = largest
    return result
