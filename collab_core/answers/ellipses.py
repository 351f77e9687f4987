"""Confidence ellipses: covariances seen in a plane, and how they are ordered.

A plane is a pair of directions u, v: what is drawn are ``(u'theta_hat, v'theta_hat)``, whose
covariance at sample size n is ``B C B' / n`` with rows u and v in B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.stats import chi2

from .. import methods
from .._base.checks import Array, choice, finite_array, fraction, positive, whole
from ..bounds import covariances as bounds
from ..core.problem import Problem
from ..core.target import TargetKey as Target
from ..world.scenario import Scenario

#: Methods that theory orders, worst to best; others follow as they were registered.
WORST_FIRST = ("local", "pooled_moments", "identity", "imputation", "collab", "collab_plus")

#: Generalised eigenvalues this near to 1 are rounding, or nearer than their condition can tell.
TOLERANCE, ROUNDING = 1e-7, 1e-14

#: Largest over smallest entry of a direction of one's own.
LONGEST, SHORTEST = 1e6, 1e-6


def covariances(problem: Problem, target: Target = "full") -> dict[str, Array]:
    """Every covariance there is for a target: of the methods, and the bounds.

    Returns
    -------
    dict of arrays, shape (d, d) for the full target, (d_i, d_i) for agent i
        By key, worst to best where theory orders them. Of every registered method that knows its
        own and aims at the truth: ``collab`` has C_gauss, ``collab_plus`` C_exact with unknown
        noise, ``identity`` C(I, .., I), ``imputation`` that of equal weights, ``local`` (least
        squares alone) only for an agent. Then the bounds: ``exact``, C_exact with known noise, and
        ``strong``, the paper's C_strong.
    """
    agent = None if target == "full" else int(target)
    found = {}
    for key in _worst_first(methods.keys()):
        method = methods.get(key)
        # Estimates of a biased method gather elsewhere: an ellipse around the truth is not theirs.
        if not method.is_consistent:
            continue
        C = method.covariance(problem) if agent is None else method.own_covariance(problem, agent)
        if C is not None:
            found[key] = C
    for key, bound in (("exact", bounds.exact(problem)), ("strong", bounds.strong(problem))):
        found[key] = bound if agent is None else bounds.local(problem, bound, agent)
    return found


def _worst_first(keys: Sequence[str]) -> list[str]:
    places = {key: place for place, key in enumerate(WORST_FIRST)}
    return sorted(keys, key=lambda key: places.get(key, len(places)))


def only(found: Mapping[str, Array], keys: Sequence[str]) -> dict[str, Array]:
    """Some of the covariances, in their own order."""
    for key in keys:
        choice("key", key, tuple(found))
    return {key: C for key, C in found.items() if key in keys}


def truth(problem: Problem, target: Target = "full") -> Array:
    """What an estimate for this target aims at, shape (d,) or (d_i,)."""
    return problem.theta if target == "full" else problem.local_theta(int(target))


@dataclass(frozen=True)
class Plane:
    """Two directions in the space of coefficients.

    Attributes
    ----------
    directions : array, shape (2, k)
    names : (str, str)
        What the axes are called.
    """

    directions: Array
    names: tuple[str, str]

    def of(self, C: ArrayLike) -> Array:
        """A covariance (k, k) as seen in the plane, shape (2, 2)."""
        seen = self.directions @ np.asarray(C, dtype=float) @ self.directions.T
        return (seen + seen.T) / 2

    def points(self, estimates: ArrayLike) -> Array:
        """Coefficients (.., k) as points of the plane, shape (.., 2)."""
        return np.asarray(estimates, dtype=float) @ self.directions.T


def coordinates(k: int, first: int, second: int, names: tuple[str, str] | None = None) -> Plane:
    """The plane of two coefficients."""
    for index in (first, second):
        whole("coordinate", index, low=0, high=k - 1)
    if first == second:
        raise ValueError(f"coordinates must differ, got {first} twice")
    return Plane(
        np.eye(k)[[first, second]],
        names or (f"coefficient {first + 1}", f"coefficient {second + 1}"),
    )


def principal(covariance: ArrayLike, first: int, second: int) -> Plane:
    """The plane of two principal directions of a covariance, counted from the strongest, 0."""
    matrix = finite_array("covariance", covariance, ndim=2)
    k = matrix.shape[0]
    _, vectors = np.linalg.eigh(matrix)
    base = coordinates(k, first, second)
    names = (f"principal direction {first + 1}", f"principal direction {second + 1}")
    return Plane(base.directions @ _signed(vectors[:, ::-1].T), names)


def most_different(A: ArrayLike, B: ArrayLike) -> Plane:
    """The plane in which two covariances differ most.

    Spanned by the directions u in which ``|log(u'A u / u'B u)|`` is largest: generalised
    eigenvectors of (A, B), made of length 1.
    """
    first, second = (finite_array(name, C, ndim=2) for name, C in (("A", A), ("B", B)))
    k = first.shape[0]
    if k < 2:
        raise ValueError("A must have at least two rows: one coefficient makes no plane")
    values, vectors = eigh(first, second)
    order = np.argsort(-np.abs(np.log(np.maximum(values, 1e-300))), kind="stable")[:2]
    directions = vectors[:, order].T
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return Plane(_signed(directions), ("where they differ most", "where they differ next"))


def own_directions(first: ArrayLike, second: ArrayLike, k: int) -> Plane:
    """The plane of two directions of one's own, k numbers each."""
    rows = []
    for name, direction in (("first direction", first), ("second direction", second)):
        row = finite_array(name, direction, ndim=1)
        if row.size != k:
            raise ValueError(f"{name} must have {k} numbers, got {row.size}")
        if not row.any():
            raise ValueError(f"{name} must not be all zeros")
        sizes = np.abs(row[row != 0])
        if sizes.max() > LONGEST or sizes.min() < SHORTEST:
            raise ValueError(f"{name} must have entries of size {SHORTEST:g} to {LONGEST:g}, or 0")
        rows.append(row)
    directions = np.array(rows)
    scaled = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    if abs(scaled[0] @ scaled[1]) > 1 - 1e-9:
        raise ValueError("the second direction must not be a multiple of the first")
    return Plane(directions, ("first direction", "second direction"))


def _signed(directions: Array) -> Array:
    """Each row with its largest entry positive, so that pictures do not flip by chance."""
    largest = np.abs(directions).argmax(axis=1)
    return directions * np.sign(directions[np.arange(len(directions)), largest])[:, None]


def radius(level: float) -> float:
    """How many standard deviations an ellipse of this level reaches in the plane."""
    return float(np.sqrt(chi2.ppf(fraction("level", level), 2)))


def interval_reach(level: float) -> float:
    """How many standard deviations an interval of this level reaches on a line."""
    return float(np.sqrt(chi2.ppf(fraction("level", level), 1)))


def outline(seen: ArrayLike, centre: ArrayLike, level: float, points: int = 97) -> Array:
    """Points of the ellipse ``(x - c)' inv(seen) (x - c) = chi2(level)``, shape (points, 2).

    Parameters
    ----------
    seen : array, shape (2, 2)
        Covariance in the plane, already over n.
    centre : array, shape (2,)
    level : float
        Share of a normal law inside.
    """
    matrix = finite_array("seen", seen, ndim=2)
    values, vectors = np.linalg.eigh(matrix)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    angles = np.linspace(0, 2 * np.pi, points)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    return np.asarray(centre, dtype=float) + radius(level) * (root @ circle).T


def inside(points: ArrayLike, seen: ArrayLike, centre: ArrayLike, level: float) -> np.ndarray:
    """Which points (t, 2) lie inside an ellipse, shape (t,) of bool."""
    gap = np.asarray(points, dtype=float) - np.asarray(centre, dtype=float)
    factor = np.linalg.cholesky(np.asarray(seen, dtype=float))
    white = np.linalg.solve(factor, gap.T)
    return (white**2).sum(axis=0) <= radius(level) ** 2


def measures(
    found: Mapping[str, Array], plane: Plane, n: float, level: float, reference: str = "collab"
) -> pd.DataFrame:
    """Size of every ellipse in numbers, a row a covariance.

    Returns
    -------
    DataFrame
        ``method``; ``area``, ``long`` and ``short`` (half axes) of its ellipse in the plane;
        ``area_ratio`` to the reference's; ``volume_ratio``, that of the whole ellipsoids in k
        dimensions; ``per_axis``, its k-th root: by how much an axis is longer on average.
    """
    n, reach = positive("n", n), radius(level)
    choice("reference", reference, tuple(found))
    base = found[reference]
    k = base.shape[0]
    base_area = np.sqrt(np.linalg.det(plane.of(base)))
    base_log = np.linalg.slogdet(base)[1]
    rows = []
    for key, C in found.items():
        seen = plane.of(C)
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(seen), 0.0) / n)
        logs = (np.linalg.slogdet(C)[1] - base_log) / 2
        area = float(np.sqrt(max(np.linalg.det(seen), 0.0)))
        rows.append(
            {
                "method": key,
                "area": np.pi * reach**2 * area / n,
                "long": reach * values[1],
                "short": reach * values[0],
                "area_ratio": area / base_area,
                # Beyond what a float holds the exponent alone is told apart.
                "volume_ratio": float(np.exp(np.clip(logs, -700, 700))),
                "per_axis": float(np.exp(logs / k)),
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Order:
    """How two covariances A and B compare in the p.s.d. order.

    Attributes
    ----------
    low, high : float
        Smallest and largest ``u'A u / u'B u`` over all directions u.
    tolerance : float
        How far from 1 rounding alone can bring them.
    """

    low: float
    high: float
    tolerance: float = TOLERANCE

    @property
    def relation(self) -> str:
        """``"equal"``, ``"contains"`` (A >= B), ``"inside"`` (A <= B) or ``"neither"``."""
        above, below = self.low >= 1 - self.tolerance, self.high <= 1 + self.tolerance
        if above and below:
            return "equal"
        return "contains" if above else "inside" if below else "neither"


def order(A: ArrayLike, B: ArrayLike) -> Order:
    """Compare two covariances over all directions, by their generalised eigenvalues."""
    first, second = (np.asarray(C, dtype=float) for C in (A, B))
    # At unit scale, so that features in small units do not drown in rounding.
    scale = 1 / np.sqrt(np.diagonal(second))
    outer = np.outer(scale, scale)
    values = eigh(first * outer, second * outer, eigvals_only=True)
    condition = np.linalg.cond(second * outer)
    tolerance = max(TOLERANCE, ROUNDING * len(values) * condition)
    return Order(float(values[0]), float(values[-1]), float(tolerance))


def comparisons(found: Mapping[str, Array], plane: Plane) -> pd.DataFrame:
    """Every pair of covariances: their order as a whole, and as seen in the plane.

    Returns
    -------
    DataFrame
        ``first``, ``second``, ``relation`` (of the first to the second, see `Order`), ``low`` and
        ``high``, and ``seen``: the relation in the plane.
    """
    rows = []
    keys = list(found)
    for i, first in enumerate(keys):
        for second in keys[i + 1 :]:
            whole_order = order(found[first], found[second])
            seen = order(plane.of(found[first]), plane.of(found[second]))
            rows.append(
                {
                    "first": first,
                    "second": second,
                    "relation": whole_order.relation,
                    "low": whole_order.low,
                    "high": whole_order.high,
                    "seen": seen.relation,
                }
            )
    return pd.DataFrame(rows, columns=["first", "second", "relation", "low", "high", "seen"])


def coverage_in_plane(
    estimates: Mapping[str, ArrayLike],
    found: Mapping[str, Array],
    plane: Plane,
    centre: ArrayLike,
    n: float,
    level: float,
) -> pd.DataFrame:
    """Share of simulated estimates inside their own method's ellipse around the truth.

    Returns
    -------
    DataFrame
        ``method``, ``inside`` (share), ``error`` (its Monte-Carlo standard error at the level),
        ``level``, ``trials``. Biased methods, that have no ellipse here, are measured by the
        reference's, ``collab``.
    """
    rows = []
    for key, values in estimates.items():
        points = plane.points(values)
        C = found.get(key, found["collab"])
        trials = len(points)
        share = inside(points, plane.of(C) / n, plane.points(centre), level).mean()
        rows.append(
            {
                "method": key,
                "inside": float(share),
                "error": float(np.sqrt(level * (1 - level) / trials)),
                "level": level,
                "trials": trials,
            }
        )
    return pd.DataFrame(rows, columns=["method", "inside", "error", "level", "trials"])


def naive_centre(problem: Problem, target: Target = "full") -> Array:
    """Where the naive average gathers instead of the truth, shape (d,) or (d_i,)."""
    limit = bounds.naive_collab(problem).theta
    return limit if target == "full" else limit[problem.views[int(target)]]


def most_biased(problem: Problem, target: Target = "full") -> tuple[int, int]:
    """The two coefficients that naive averaging gets most wrong, where its cloud is seen aside.

    The same one twice where there is only one.
    """
    gap = np.abs(naive_centre(problem, target) - truth(problem, target))
    order_of = np.argsort(-gap, kind="stable")
    return int(order_of[0]), int(order_of[min(1, order_of.size - 1)])


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


def half_widths(found: Mapping[str, Array], n: float, level: float) -> pd.DataFrame:
    """Intervals of a single coefficient, which has no ellipse.

    Parameters
    ----------
    found : mapping of arrays, shape (1, 1)

    Returns
    -------
    DataFrame
        ``method``, ``half_width``.
    """
    reach = interval_reach(level)
    widths = [reach * float(np.sqrt(C[0, 0] / positive("n", n))) for C in found.values()]
    return pd.DataFrame({"method": list(found), "half_width": widths})


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


def areas(frame: pd.DataFrame) -> dict[str, float]:
    """Area inside every outline of a `picture`, by method."""
    found = {}
    for key, rows in frame[frame["what"] == "outline"].groupby("method", sort=False):
        x, y = rows["x"].to_numpy(), rows["y"].to_numpy()
        found[str(key)] = abs(float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum())) / 2
    return found
