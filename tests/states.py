"""The 49 states of the census sums as agents that differ: every state has its own relation.

Samples of n people are drawn from the normal law with a state's own moments, exactly (METHOD,
section 6), so that any n can be had from sums. The covariance that methods are told is pooled over
the states.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import collab_core as cc
from collab_core.core.agents import Agents
from collab_core.methods.adaptive import Adaptive
from collab_core.methods.guarded import Guarded

DATA = Path(__file__).parent.parent / "data"


def method(key: str) -> cc.methods.Method:
    """A method by its key, the two of agents that differ included."""
    ours = {"adaptive": Adaptive, "guarded": Guarded}
    return ours[key]() if key in ours else cc.methods.get(key)


@dataclass(frozen=True)
class States:
    """Some states: everybody's own law, and the covariance of all.

    Attributes
    ----------
    people : array, shape (m,)
    laws : array, shape (m, d + 1, d + 1)
        Covariance of features and label.
    covariance : array, shape (d, d)
    """

    people: np.ndarray
    laws: np.ndarray
    covariance: np.ndarray


@cache
def states(name: str, target: str, count: int) -> States:
    """The states of a file of sums, all or `count` of them, evenly through the alphabet."""
    with np.load(DATA / f"acs2024_{name}.npz") as file:
        columns = [str(column) for column in file["columns"]]
        targets = [str(column) for column in file["targets"]]
        n, total, packed = file["n"].sum(1), file["total"].sum(1), file["cross"].sum(1)
    wide = len(columns)
    cross = np.zeros((len(n), wide, wide))
    rows, cols = np.triu_indices(wide)
    cross[:, rows, cols] = cross[:, cols, rows] = packed
    features = [j for j, column in enumerate(columns) if column not in targets]
    index = np.array([*features, columns.index(target)])
    mean = total / n[:, None]
    laws = (cross / n[:, None, None] - mean[:, :, None] * mean[:, None, :])[
        :, index[:, None], index
    ]
    chosen = np.linspace(0, len(n) - 1, count).round().astype(int)
    pooled = np.einsum("s,sij->ij", n[chosen] / n[chosen].sum(), laws[chosen])
    # In the labels' own units, so that errors are shares of their variance.
    laws = laws[chosen] / np.append(np.ones(len(features)), np.sqrt(pooled[-1, -1]))[:, None]
    laws = laws / np.append(np.ones(len(features)), np.sqrt(pooled[-1, -1]))
    return States(n[chosen], laws, pooled[:-1, :-1])


def random_views(d: int, m: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """So many features for everyone, each feature seen by somebody."""
    while True:
        views = [np.sort(rng.choice(d, size, replace=False)) for _ in range(m)]
        if len(np.unique(np.concatenate(views))) == d:
            return views


def drawn(law: np.ndarray, view: np.ndarray, n: int, rng: np.random.Generator):
    """Centred sums of n people who see some features; the best model and its covariance."""
    p = view.size
    xx, xy = law[np.ix_(view, view)], law[view, -1]
    best = np.linalg.pinv(xx, rcond=1e-12, hermitian=True) @ xy
    unexplained = law[-1, -1] - xy @ best
    eigenvalues, vectors = np.linalg.eigh(xx)
    root = vectors * np.sqrt(np.clip(eigenvalues, 0, None))
    bartlett = np.tril(rng.standard_normal((p, p)), -1)
    bartlett += np.diag(np.sqrt(rng.chisquare(n - 1 - np.arange(p))))
    half = root @ bartlett
    noise = np.sqrt(unexplained) * rng.standard_normal(p)
    sums = half @ half.T
    whitened = half.T @ best + noise
    yy = unexplained * rng.chisquare(n - 1 - p) + whitened @ whitened
    moments = cc.Moments(n, (sums + sums.T) / 2, half @ whitened, yy, is_centred=True)
    return moments, best, xx


def excess_errors(name: str, target: str, count: int, n: int | None, methods, *, draws: int,
                  share: float = 0.75, seed: int = 0) -> dict[str, np.ndarray]:  # fmt: skip
    """Excess error over the best own model by method, shape (draws, m), in label variances."""
    data = states(name, target, count)
    d = data.covariance.shape[0]
    rng = np.random.default_rng(seed)
    found = {key: np.empty((draws, count)) for key in methods}
    for k in range(draws):
        views = random_views(d, count, round(share * d), rng)
        sizes = data.people * 4 // 5 if n is None else np.minimum(n, data.people * 4 // 5)
        parts = [drawn(data.laws[i], views[i], int(sizes[i]), rng) for i in range(count)]
        agents = Agents([part[0] for part in parts], views, data.covariance, d)
        for key in methods:
            estimate = method(key).of(agents)
            for i, (_, best, block) in enumerate(parts):
                gap = estimate.local(i) - best
                found[key][k, i] = gap @ block @ gap
    return found
