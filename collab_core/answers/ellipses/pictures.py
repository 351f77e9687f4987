"""All that pictures of ellipses draw, as tables: one plane, pairs, worlds one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..._base.checks import Array, choice, positive
from ...core.target import TargetKey as Target
from ...world.scenario import Scenario
from .planes import Plane, coordinates
from .sizes import outline
from .targets import covariances, only, truth


def picture(
    found: Mapping[str, Array],
    plane: Plane,
    centre: ArrayLike,
    n: float,
    level: float,
    estimates: Mapping[str, ArrayLike] | None = None,
) -> pd.DataFrame:
    """Everything that a picture of ellipses draws, as a table.

    Parameters
    ----------
    found : mapping of arrays, shape (k, k)
        Covariances of ``sqrt(n) (estimate - truth)``.
    centre : array, shape (k,)
        The truth.
    estimates : mapping of arrays, shape (trials, k), optional
        Simulated estimates.

    Returns
    -------
    DataFrame
        ``what`` ("outline", "estimate" or "truth"), ``method``, ``x`` and ``y``.
    """
    middle = plane.points(centre)
    parts = [("truth", "", middle[None])]
    parts += [
        ("outline", key, outline(plane.of(C) / positive("n", n), middle, level))
        for key, C in found.items()
    ]
    parts += [("estimate", key, plane.points(values)) for key, values in (estimates or {}).items()]
    return pd.concat(
        [
            pd.DataFrame({"what": what, "method": key, "x": points[:, 0], "y": points[:, 1]})
            for what, key, points in parts
        ],
        ignore_index=True,
    )


def pair_pictures(
    found: Mapping[str, Array],
    centre: ArrayLike,
    chosen: Sequence[int],
    names: Sequence[str],
    n: float,
    level: float,
) -> pd.DataFrame:
    """`picture` of every pair of a few coordinates, one below the other.

    Parameters
    ----------
    found : mapping of arrays, shape (k, k)
    centre : array, shape (k,)
    chosen : list of int
        Two or more coordinates.
    names : list of str
        Of the chosen ones.

    Returns
    -------
    DataFrame
        As `picture`, and ``across`` and ``up``: the names of the pair.
    """
    middle = np.asarray(centre, dtype=float)
    if len(chosen) < 2:
        raise ValueError(f"chosen must have at least two coordinates, got {len(chosen)}")
    parts = [
        picture(
            found, coordinates(middle.size, chosen[column], chosen[row]), middle, n, level
        ).assign(across=names[column], up=names[row])
        for row in range(len(chosen))
        for column in range(row)
    ]
    return pd.concat(parts, ignore_index=True)


#: What `neighbours` go over.
OVER = ("n", "p", "correlation")


def neighbours(scenario: Scenario, over: str) -> dict[str, Scenario]:
    """Worlds around this one, by the value (as text) of what changes.

    Parameters
    ----------
    over : str
        ``"n"``; ``"p"``, with features missing independently; or ``"correlation"``, of the world's
        own kind, or of all features equally where it has none to vary.
    """
    choice("over", over, OVER)
    if over == "n":
        wanted = {max(1, int(scenario.n * 2.0**e)) for e in range(-3, 5)}
        sizes = sorted({scenario.nearest(n=n)[0].n for n in wanted})
        return {f"{n:,}": scenario.nearest(n=n)[0] for n in sizes}
    if over == "p":
        return {
            f"{p:g}": scenario.nearest(missing="independent", p=float(p))[0]
            for p in np.arange(0, 0.71, 0.1).round(2)
        }
    kind = scenario.spectrum if "correlation" in scenario.active else "equicorrelated"
    return {
        f"{rho:g}": scenario.nearest(spectrum=kind, correlation=rho)[0]
        for rho in (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
    }


def played(
    scenario: Scenario,
    over: str,
    target: Target,
    keys: Sequence[str],
    plane: Plane,
    level: float,
) -> pd.DataFrame:
    """`picture` in one plane of every world in `neighbours`, one below the other.

    Worlds that have no such picture are left out: somebody must see every feature, and an agent
    must see as many features as the plane has coordinates.

    Parameters
    ----------
    keys : list of str
        Covariances to draw.

    Returns
    -------
    DataFrame
        As `picture`, and ``step``: the world, by the text of `neighbours`.
    """
    parts = [pd.DataFrame({"what": [], "method": [], "x": [], "y": [], "step": []})]
    for step, world in neighbours(scenario, over).items():
        try:
            problem = world.problem()
            centre = truth(problem, target)
            if centre.size != plane.directions.shape[1]:
                continue
            found = covariances(problem, target)
        except (ValueError, ArithmeticError):
            continue
        drawn = picture(only(found, keys), plane, centre, world.n, level)
        parts.append(drawn.assign(step=step))
    return pd.concat(parts[1:] or parts, ignore_index=True)
