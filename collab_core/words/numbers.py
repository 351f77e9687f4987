"""Numbers as people write them, with no more digits than are known."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd


def two_digits(number: float) -> str:
    """A number of samples that is known roughly: 358 is 360, 8,872 is 8,900."""
    digits = int(np.floor(np.log10(number))) if number > 0 else 0
    return f"{round(number, 1 - digits):,.0f}"


def times(factor: float) -> str:
    """A factor as people write it: 3.4, 860, 87,000."""
    return f"{factor:.2g}" if factor < 10 else two_digits(factor)


def percent(value: float, error: float | None = None) -> str:
    """A share as people write it, with no more decimals than its standard error allows."""
    return f"{value:.{_decimals(value, error)}%}"


def plus_minus(value: float, error: float | None = None) -> str:
    """The same with its standard error where there is one (not None or <NA>): ``16% ± 7%``."""
    text, decimals = percent(value, error), _decimals(value, error)
    if error is None or pd.isna(error) or error <= 0:
        return text
    return f"{text} ± {max(error, 0.1**decimals / 100):.{decimals}%}"


def _decimals(value: float, error: float | None) -> int:
    rough = error is not None and not pd.isna(error) and error >= 0.005
    return 0 if rough or value >= 0.0995 else 1


def counted_trials(counts: Iterable[int]) -> str:
    """Trials behind a figure: "20 trials", or "70 to 84 trials" where a stop left some short."""
    done = sorted({int(count) for count in counts if count})
    if not done:
        return "no trials"
    most = f"{done[-1]} trial{'' if done[-1] == 1 else 's'}"
    return most if len(done) == 1 else f"{done[0]} to {most}"
