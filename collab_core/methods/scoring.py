"""Scoring to the best spread of a pool of agents: cautious, trial by trial, in chunks."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from .._base.checks import Array, Indices
from .partial_pooling import (
    CHUNK_NUMBERS,
    GAIN,
    PREFERENCE,
    STEPS,
    Pool,
    Posterior,
    SpreadFit,
    posterior,
    scoring_step,
)

#: How cautious scoring becomes after a step that lost, and how it forgets.
CAUTION, FORGET = 10.0, 0.1

#: Chunks are copied without their finished trials once these are this share.
FINISHED = 0.25


def best_spread(pool: Pool, *, steps: int = STEPS, gain: float = GAIN) -> SpreadFit:
    """The spread of the largest marginal likelihood, for every trial of a pool.

    Parameters
    ----------
    steps : int
        Most steps of scoring.
    gain : float
        What a further step may gain at most, in log-likelihood, at the end.
    """
    t, m, _, d = pool.designs.shape
    begin = SpreadFit.start(t, m, d)
    size = chunk_size(pool)
    chunks = [slice(low, low + size) for low in range(0, t, size)]
    parts = [_best(pool.part(here), begin.part(here), steps, gain) for here in chunks]
    return SpreadFit(
        np.concatenate([part.log_d for part in parts]),
        np.concatenate([part.log_c for part in parts]),
        np.concatenate([part.log_w for part in parts]),
    )


def values(pool: Pool, spread: SpreadFit) -> Array:
    """Logarithm of the marginal likelihood times the laws of ``w`` and ``D``, shape (t,)."""
    size = chunk_size(pool)
    parts = []
    for low in range(0, pool.trials, size):
        here = slice(low, low + size)
        found = posterior(*pool.part(here).scaled(), spread.part(here))
        parts.append(found.log_likelihood + spread.part(here).log_prior)
    return np.concatenate(parts)


def preferred(pool: Pool, spread: SpreadFit) -> tuple[SpreadFit, Array]:
    """The smaller spread where the evidence is as good as equal, and what differing gains, (t,)."""
    none = SpreadFit.none(spread)
    gain = values(pool, spread) - values(pool, none)
    return spread.chosen(gain < PREFERENCE, none), gain


def chunk_size(pool: Pool) -> int:
    """Trials of a chunk."""
    _, m, p, d = pool.designs.shape
    return max(1, CHUNK_NUMBERS // max(m * max(p, d) * d, 1))


@dataclass
class _Climb:
    """Trials on their way up: where each is, and how cautious."""

    index: Indices
    Y: Array
    z: Array
    weak: Array
    spread: SpreadFit
    found: Posterior
    value: Array
    ridge: Array
    finished: np.ndarray

    def kept(self, keep: np.ndarray) -> _Climb:
        """Some of the trials."""
        found = _taken(self.found, keep)
        return _Climb(
            self.index[keep], self.Y[keep], self.z[keep], self.weak[keep],
            self.spread.part(keep), found, self.value[keep], self.ridge[keep], self.finished[keep],
        )  # fmt: skip


def _taken(found: Posterior, keep: np.ndarray) -> Posterior:
    return Posterior(*(getattr(found, part.name)[keep] for part in fields(Posterior)))


def _best(pool: Pool, start: SpreadFit, steps: int, enough: float) -> SpreadFit:
    """`best_spread` of one chunk: every trial stops by itself, so that chunks change nothing."""
    Y, z, weak = pool.scaled()
    t = pool.trials
    found = posterior(Y, z, weak, start)
    climb = _Climb(
        np.arange(t), Y, z, weak, start, found, found.log_likelihood + start.log_prior,
        np.zeros(t), np.zeros(t, dtype=bool),
    )  # fmt: skip
    log_d, log_c, log_w = start.log_d.copy(), start.log_c.copy(), start.log_w.copy()
    for _ in range(steps):
        _climb_once(climb, enough)
        done = climb.finished
        log_d[climb.index] = climb.spread.log_d
        log_c[climb.index] = climb.spread.log_c
        log_w[climb.index] = climb.spread.log_w
        if done.all():
            break
        if done.mean() >= FINISHED:
            climb = climb.kept(~done)
    return SpreadFit(log_d, log_c, log_w)


def _climb_once(climb: _Climb, enough: float) -> None:
    """One step where it gains; more caution where it does not."""
    step, gain = scoring_step(climb.Y, climb.found, climb.spread, climb.ridge)
    # A finished trial stays where it is, whoever else is still on the way.
    step = step.times(np.where(climb.finished, 0.0, 1.0))
    ahead = climb.spread.moved(step)
    found = posterior(climb.Y, climb.z, climb.weak, ahead)
    value = found.log_likelihood + ahead.log_prior
    # Rounding is forgiven once, and the trial is then finished.
    better = value >= climb.value
    if better.all():
        climb.found, climb.spread = found, ahead
    else:
        climb.found = _mixed(better, climb.found, found)
        climb.spread = climb.spread.chosen(better, ahead)
    reached = value - climb.value
    climb.value = np.where(better, value, climb.value)
    small = np.maximum(gain, reached) < enough
    stuck = ~better & (gain < 1e-7)
    climb.finished = climb.finished | small | stuck | (climb.ridge > 1e8)
    eased = np.where(climb.ridge * FORGET < 1e-3, 0.0, climb.ridge * FORGET)
    climb.ridge = np.where(better, eased, np.maximum(climb.ridge, 0.05) * CAUTION)


def _mixed(better: np.ndarray, old: Posterior, new: Posterior) -> Posterior:
    def mixed(name: str) -> Array:
        one, other = getattr(new, name), getattr(old, name)
        return np.where(better.reshape(-1, *([1] * (one.ndim - 1))), one, other)

    return Posterior(*(mixed(part.name) for part in fields(Posterior)))
