"""How conservative Corollary 4.4's condition is, over condition numbers and signal to noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event

import numpy as np
import pandas as pd

from .._base.checks import positive
from ..world.scenario import Scenario
from .limits import PatternSums


def world_at(scenario: Scenario, kappa: float, snr: float) -> Scenario:
    """The scenario with a geometric spectrum of condition kappa and noise that makes this SNR.

    Theta stays; the noise is ``sqrt(theta' Sigma theta / snr)``.
    """
    bent = scenario.replace(spectrum="geometric", condition=float(positive("kappa", kappa)))
    signal = float(bent.coefficients @ bent.covariance @ bent.coefficients)
    if signal <= 0:
        raise ValueError("theta must not be 0: without a signal there is no ratio to the noise")
    return bent.replace(sigma=float(np.sqrt(signal / positive("snr", snr))))


def threshold_map(
    scenario: Scenario,
    kappas: Sequence[float],
    snrs: Sequence[float],
    *,
    progress: Callable[[float, pd.DataFrame], None] | None = None,
    cancel: Event | None = None,
) -> pd.DataFrame:
    """Where the condition ends and where the factor 4 is really reached, a row a world.

    Parameters
    ----------
    scenario : Scenario
        Its d, theta and seed; spectrum and noise as in `world_at`.
    kappas, snrs : lists of float
    progress : callable, optional
        Told the fraction done and the rows so far.
    cancel : Event, optional
        When set, the rows so far are returned.

    Returns
    -------
    DataFrame
        ``kappa``, ``snr``, ``p_star``, ``threshold`` (NaN where 4 is never reached), ``ratio`` of
        the two.
    """
    rows: list[dict[str, float]] = []
    cells = [(kappa, snr) for kappa in kappas for snr in snrs]
    for kappa, snr in cells:
        if cancel is not None and cancel.is_set():
            break
        world = world_at(scenario, kappa, snr)
        # Where not all patterns can be summed: a map needs many worlds, each only roughly.
        sums = PatternSums(
            world.covariance, world.coefficients, world.sigma, patterns_per_size=100, batches=1
        )
        found = sums.threshold(4.0)
        reached = float("nan") if found is None else found
        rows.append(
            {
                "kappa": kappa,
                "snr": snr,
                "p_star": sums.p_star,
                "threshold": reached,
                "ratio": reached / sums.p_star,
            }
        )
        if progress is not None:
            progress(len(rows) / len(cells), pd.DataFrame(rows))
    return pd.DataFrame(rows, columns=["kappa", "snr", "p_star", "threshold", "ratio"])
