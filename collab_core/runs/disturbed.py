"""Errors along a disturbance, by simulation, and where a method stops paying."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import methods as registry
from .._base.checks import Array, choice, positive, vector, whole
from .._base.intervals import half_width, ratio_interval
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from ..world import laws
from ..world.laws import Law
from .chunks import HasSubmit
from .curve import Curve
from .disturbances import (
    DISTURBANCES,
    Disturbance,
    agents_of,
    checked_values,
    grid,
    judged,
    perturb,
    symmetric_noise,
    unit_shifts,
)
from .disturbed_theory import expected
from .disturbed_world import DisturbedWorld
from .source import Found, Plan, Progress, curves

__all__ = [
    "DISTURBANCES",
    "BreakEven",
    "Disturbance",
    "DisturbedCurve",
    "curve",
    "expected",
    "grid",
    "judged",
    "perturb",
    "symmetric_noise",
    "unit_shifts",
]

#: What a disturbed world has at hand for methods.
GIVEN = frozenset({"fit", "xx", "covariance", "all_pairs"})


# Results -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BreakEven:
    """Where a method stops paying against local least squares.

    Attributes
    ----------
    method : str
    kind : {"inside", "before", "beyond", "never", "equal"}
        Crossed on the grid; lost already at its least disturbance; still ahead at its largest; not
        ahead even without disturbance; or the two do not differ at all.
    value : float or None
        Size of the disturbance, interpolated on a log scale; None unless ``inside``.
    early, late : float or None
        95% interval, from less to more disturbance: where the band of the paired difference first
        holds 0, and where it leaves it. None where that is not on the grid, or after one trial.
    """

    method: str
    kind: str
    value: float | None = None
    early: float | None = None
    late: float | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class DisturbedCurve(Curve):
    """Errors along a disturbance; the grid begins with 0, without any disturbance.

    Attributes
    ----------
    problem : Problem
    n : float
    disturbance : str
        Key of `DISTURBANCES`.
    shifted : int
        Whose theta is another, where that is the disturbance.
    """

    problem: Problem = field(repr=False)
    n: float
    disturbance: str
    shifted: int

    @property
    def values(self) -> tuple[float, ...]:
        """Sizes of the disturbance, from least to most."""
        return self.grid[1:]

    @property
    def missing(self) -> dict[str, str]:
        """By method that could not be computed somewhere, why."""
        return {
            method: next(said for (key, _), said in self.notes.items() if key == method)
            for method in self.methods
            if any(
                not self.at(method, place).size and (method, place) in self.notes
                for place in self.grid
            )
        }

    def table(self, method: str) -> Array | None:
        """Errors of all finished trials, (trials, 1 + number of values), or None."""
        columns = [self.at(method, place) for place in self.grid]
        return np.stack(columns, axis=1) if all(column.size for column in columns) else None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per size of the disturbance and method.

        Columns: ``value`` (0 without disturbance; <NA> where that is a known Σ), ``method``,
        ``mean``, ``low``, ``high`` (95% interval over trials), ``ratio`` to local least squares
        with ``ratio_low`` and ``ratio_high`` (paired), ``theory`` (closed form), ``theory_ratio``,
        ``trials`` and ``note``. What does not exist is <NA>.
        """
        known = {method: self.table(method) is not None for method in self.methods}
        local = self.theory("local")
        rows = []
        for method in self.methods:
            for place, theory, alone in zip(self.grid, self.theory(method), local, strict=True):
                row = self._row(method, place, theory)
                if not known[method]:
                    row |= dict.fromkeys(("mean", "low", "high"), pd.NA) | {"trials": 0}
                ratio = (pd.NA,) * 3
                if known[method] and known.get("local"):
                    ratio = ratio_interval(self.at(method, place), self.at("local", place))
                row |= dict(zip(("ratio", "ratio_low", "ratio_high"), ratio, strict=True))
                row["theory"] = pd.NA if theory is None else theory
                row["theory_ratio"] = theory / alone if theory is not None and alone else pd.NA
                row["note"] = self.missing.get(method, "")
                if place == 0 and DISTURBANCES[self.disturbance].falling:
                    row["value"] = pd.NA
                rows.append(row)
        numbers = ("value", "mean", "low", "high", "ratio", "ratio_low", "ratio_high", "theory",
                   "theory_ratio")  # fmt: skip
        names = ["value", "method", *numbers[1:], "trials", "note"]
        frame = pd.DataFrame(rows, columns=names)
        return frame.astype(dict.fromkeys(numbers, "Float64"))

    @property
    def break_even(self) -> BreakEven | None:
        """COLLAB's, or None before any trial is done."""
        return self.crossing("collab")

    def crossing(self, method: str, kept: float = 0.0) -> BreakEven | None:
        """Where a method's advantage over local least squares has fallen to a share of itself.

        Parameters
        ----------
        kept : float
            Share of the advantage without disturbance; 0 is the break-even, 0.5 where half of it
            is gone.

        Returns
        -------
        BreakEven or None
            None where either method is missing.
        """
        mine, alone = self.table(method), self.table("local")
        if mine is None or alone is None:
            return None
        gaps = mine - alone
        if np.abs(gaps).max() <= 1e-8 * np.abs(alone).max():
            return BreakEven(method, "equal")
        if gaps[:, 0].mean() >= 0:
            return BreakEven(method, "never")
        gaps = gaps - kept * gaps[:, :1]
        centre = gaps.mean(axis=0)
        early = late = None
        if len(gaps) > 1:
            half = half_width(gaps)
            early, late = self._first_above(centre + half), self._first_above(centre - half)
        place = int(np.argmax(centre >= 0))
        if place == 0:
            return BreakEven(method, "beyond", None, early)
        if place == 1:
            return BreakEven(method, "before", None, None, late)
        return BreakEven(method, "inside", self._first_above(centre), early, late)

    def _first_above(self, gaps: Array) -> float | None:
        """Size at which a sequence first reaches 0, None unless between two of the grid."""
        above = np.flatnonzero(gaps >= 0)
        if not above.size or above[0] < 2:
            return None
        place = int(above[0])
        logs = np.log(self.values)
        part = gaps[place - 1] / (gaps[place - 1] - gaps[place])
        return float(np.exp(logs[place - 2] + part * (logs[place - 1] - logs[place - 2])))


# The run -----------------------------------------------------------------------------------------


def curve(
    problem: Problem,
    n: float,
    trials: int,
    disturbance: str,
    values: Sequence[float] | None = None,
    target: TargetLike = "everybody",
    *,
    shifted: int = 0,
    direction: ArrayLike | None = None,
    features: str | Law = "gaussian",
    methods: Sequence[str] | None = None,
    seed: int = 0,
    progress: Callable[[float, DisturbedCurve], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> DisturbedCurve:
    """Simulate how errors grow with a disturbance, every method on the same draws.

    Parameters
    ----------
    problem : Problem
    n : float
        Labelled samples per agent, times its share.
    trials : int
    disturbance : str
        - ``"unlabelled"``: the covariance comes from this many unlabelled samples, at least d;
        - ``"perturbed"``: it is ``Sigma^(1/2) exp(size G) Sigma^(1/2)`` (see `perturb`);
        - ``"tails"``: features are multivariate Student's t, each of this excess kurtosis;
        - ``"clusters"``: features are a mixture of two clusters, each so far from the middle, in
          standard deviations of that direction (below 1);
        - ``"shift"``: one agent's theta is another, so far away (see `unit_shifts`).
    values : list of float, optional
        Sizes, above 0; `grid` by default. Without disturbance is always there.
    target : "everybody" or int
        An agent's own model, or the mean over all agents that can work alone (`judged`). The
        shifted agent is judged by its own relation.
    shifted : int
        Whose theta is another.
    direction : array, shape (d,), optional
        Of the shift, of size 1 as it stands; random in every trial by default.
    features : str or Law
        Law of the features, unless that is what is disturbed.
    methods : list of str
        Keys of `collab_core.methods`; the usual consistent ones by default.
    progress, executor, cancel
        As in `simulate.error_curve`.

    Returns
    -------
    DisturbedCurve
    """
    choice("disturbance", disturbance, tuple(DISTURBANCES))
    whose = Target.of(target, problem.agents, whole_model="everybody")
    agents = agents_of(problem, n, whose)
    shifted = whole("shifted", shifted, low=0, high=problem.agents - 1)
    given = grid(problem, n, disturbance, whose, shifted) if values is None else values
    sizes = checked_values(disturbance, given, problem.dimension)
    usual = registry.usual(GIVEN, full=False, consistent=True)
    chosen = usual if methods is None else registry.chosen(methods, full=False)
    source = DisturbedWorld(
        problem,
        positive("n", n),
        disturbance,
        tuple(agents),
        shifted,
        None if direction is None else vector("direction", direction, problem.dimension),
        laws.of(features),
    )
    plan = Plan.of(source, (0.0, *sizes), trials, [whose], chosen, seed)

    def make(target: Target, found: Found, partial: bool) -> DisturbedCurve:
        def theory(method: str) -> list[float | None]:
            by_place = found.formulas.get(method, {})
            means = [float(by_place[v].mean()) if v in by_place else None for v in plan.grid]
            return [None if mean is None or np.isnan(mean) else mean for mean in means]

        return DisturbedCurve(
            axis="value",
            grid=plan.grid,
            methods=found.methods,
            errors=found.errors,
            notes=found.notes,
            trials=plan.trials,
            partial=partial,
            target=target,
            is_gaussian=source.law.is_gaussian,
            theory_of=theory,
            problem=problem,
            n=source.n,
            disturbance=disturbance,
            shifted=shifted,
        )

    relay: Progress | None = None
    if progress is not None:
        report = progress

        def relay(fraction: float, found: dict[Target, DisturbedCurve]) -> None:
            report(fraction, found[whose])

    return curves(plan, make, progress=relay, executor=executor, cancel=cancel)[whose]
