"""How fast the advantage of working together goes when the world is not as assumed.

COLLAB is told a covariance and takes it that all agents follow one relation. Here one assumption is
broken, more and more: the covariance comes from few unlabelled samples or is perturbed, features
are not Gaussian, or one agent's data follow another theta. Every method meets the same people in
every trial (common random numbers), so curves are smooth and differences are paired.

What COLLAB tends to is known in closed form, for any covariance it is told and any relation of each
agent (`expected`): with ``S~_i`` from the told covariance and ``r_i = share_i / s_i`` it solves

    K phi~ = sum_i r_i P_i' S~_i Sigma_i+ T_i theta_i,    K = sum_i r_i P_i' S~_i Sigma_i+ S~_i P_i

and ``inv(K) / n`` is the covariance of phi~ about its limit, as without any disturbance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import methods as registry
from .._base.checks import Array, choice, finite_array, positive, vector, whole
from .._base.intervals import half_width, ratio_interval
from .._base.linalg import inverse, matvec, transpose
from ..core.agents import Agents
from ..core.geometry import Geometry
from ..core.moments import Moments, fit_together
from ..core.problem import Problem
from ..core.target import Models, Target, TargetLike
from ..world import laws
from ..world.laws import EllipticalT, Law, Mixture, square_root
from .chunks import HasSubmit
from .curve import Curve
from .draws import CompleteSums, complete_sums
from .source import Found, Plan, Progress, Source, Streams, Wanted, curves

#: What a disturbed world has at hand for methods.
GIVEN = frozenset({"fit", "xx", "covariance", "all_pairs"})

#: Numbers per array in a chunk of trials, and most trials in it: progress shows, Stop is quick.
CHUNK_NUMBERS, CHUNK_TRIALS = 300_000, 50


@dataclass(frozen=True)
class Disturbance:
    """One way in which the world is not as assumed.

    Attributes
    ----------
    key : str
    label : str
        For people.
    axis : str
        What its size is measured in.
    falling : bool
        Whether smaller numbers disturb more.
    """

    key: str
    label: str
    axis: str
    falling: bool = False


DISTURBANCES: dict[str, Disturbance] = {
    entry.key: entry
    for entry in (
        Disturbance(
            "unlabelled",
            "Σ from few unlabelled samples",
            "unlabelled samples behind Σ",
            falling=True,
        ),
        Disturbance("perturbed", "Σ perturbed", "size ε of the error in Σ"),
        Disturbance("tails", "Heavy tails", "excess kurtosis of every feature (0 is Gaussian)"),
        Disturbance(
            "clusters", "Two clusters", "distance of the clusters from the middle (0 is Gaussian)"
        ),
        Disturbance(
            "shift",
            "One agent follows another θ",
            "shift, in standard deviations of the label",
        ),
    )
}


# What is disturbed -------------------------------------------------------------------------------


def symmetric_noise(rng: np.random.Generator, trials: int, d: int) -> Array:
    """Symmetric Gaussian matrices, off-diagonal variance 1/d, diagonal 2/d, shape (trials, d, d).

    To first order ``I + e G`` is the covariance of ``d / e^2`` white samples, so a perturbation of
    size e is as wrong as a covariance from that many unlabelled ones. Eigenvalues fill [-2, 2].
    """
    half = rng.standard_normal((trials, d, d))
    return (half + transpose(half)) / np.sqrt(2 * d)


def perturb(covariance: ArrayLike, noise: ArrayLike, size: float) -> Array:
    """``Sigma^(1/2) exp(size G) Sigma^(1/2)``: positive definite always, Sigma itself at size 0.

    Parameters
    ----------
    covariance : array, shape (d, d)
    noise : array, shape (..., d, d)
        Symmetric G, as from `symmetric_noise`.
    size : float
        At least 0.

    Returns
    -------
    array, shape (..., d, d)
    """
    matrix = finite_array("covariance", covariance, ndim=2)
    given = finite_array("noise", noise)
    amount = finite_array("size", size, ndim=0).item()
    if amount < 0:
        raise ValueError(f"size must not be negative, got {amount:g}")
    if amount == 0:
        return np.broadcast_to(matrix, given.shape).copy()
    values, vectors = np.linalg.eigh(given)
    turned = square_root(matrix) @ vectors
    result = (turned * np.exp(amount * values)[..., None, :]) @ transpose(turned)
    return (result + transpose(result)) / 2


def unit_shifts(problem: Problem, rng: np.random.Generator, trials: int) -> Array:
    """Shifts of theta of random direction and size 1, shape (trials, d).

    Size 1: predictions with and without differ by a standard deviation of the label in root mean
    square, ``shift' Sigma shift = Var(y)``. Directions are even where features are white.
    """
    white = rng.standard_normal((trials, problem.dimension))
    white /= np.linalg.norm(white, axis=1, keepdims=True)
    root = inverse(square_root(problem.covariance))
    return np.sqrt(problem.label_variance) * white @ root


def _law_of(disturbance: str, value: float, usual: Law) -> Law:
    """The features' law at a size of the disturbance."""
    if disturbance == "clusters":
        return Mixture(separation=value)
    if disturbance == "tails":
        # Excess kurtosis of Student's t is 6 / (df - 4), and with one scale common to all
        # coordinates every feature has it, whatever the covariance: independent tails would be
        # mixed away. At 0 a t of so many degrees of freedom is Gaussian, from the same stream.
        return EllipticalT(degrees_of_freedom=4 + 6 / max(value, 1e-6))
    return usual


# What COLLAB tends to ----------------------------------------------------------------------------


def expected(
    problem: Problem,
    n: float,
    *,
    covariance: ArrayLike | Geometry | None = None,
    thetas: Mapping[int, Array] | None = None,
) -> tuple[Array, Array]:
    """COLLAB's error in closed form when it is told another covariance or agents differ in theta.

    Leading order in 1/n, Gaussian features. Every agent's own model is judged by its own truth.

    Parameters
    ----------
    covariance : array, shape (d, d) or (..., d, d), optional
        What COLLAB is told; the truth by default.
    thetas : dict of arrays, shape (d,) or (..., d), optional
        The relation of agents whose data follow another one than ``problem.theta``.

    Returns
    -------
    squared_bias : array, shape (..., m)
        What no data remove, beyond the irreducible part.
    variance : array, shape (..., m)
        What falls as 1/n.
    """
    size = positive("n", n)
    told = Geometry.of(problem.geometry if covariance is None else covariance, problem.views)
    others = dict(thetas or {})
    truths = [_local_truth(problem, i, others.get(i, problem.theta)) for i in range(problem.agents)]
    blocks, vectors, weighted = [], [], []
    for i, (model, unexplained) in enumerate(truths):
        rate = problem.shares[i] / unexplained
        gain = told.inverses[i] @ problem.geometry.block(i)
        weighted.append(gain @ told.inverses[i])
        blocks.append(rate[..., None, None] * weighted[i])
        vectors.append(rate[..., None] * matvec(gain, model))
    inverted = inverse(told.scatter_matrices(blocks))
    phi = matvec(inverted, told.scatter_vectors(vectors))
    bias, variance = (np.zeros((*phi.shape[:-1], problem.agents)) for _ in range(2))
    for i, (view, (model, _)) in enumerate(zip(problem.views, truths, strict=True)):
        gap = told.local(phi, i) - model
        bias[..., i] = (matvec(problem.geometry.block(i), gap) * gap).sum(axis=-1)
        spread = inverted[..., view[:, None], view]
        variance[..., i] = (weighted[i] * spread).sum(axis=(-1, -2)) / size
    return bias, variance


def _local_truth(problem: Problem, agent: int, theta: Array) -> tuple[Array, Array]:
    """``T_i theta`` (..., d_i) and ``s_i`` (...) of an agent whose data follow ``theta``."""
    model = problem.geometry.local(theta @ problem.covariance, agent)
    unseen = theta.copy()
    unseen[..., problem.views[agent]] -= model
    return model, problem.noise**2 + ((unseen @ problem.covariance) * unseen).sum(axis=-1)


def judged(problem: Problem, n: float) -> list[int]:
    """Agents that can work alone: who see something and have samples for a mean error to exist.

    Least squares has one from ``d_i + 2`` samples on.
    """
    sizes = problem.sample_sizes(n)
    return [i for i, k in enumerate(problem.sizes) if k > 0 and sizes[i] > k + 1]


def grid(
    problem: Problem,
    n: float,
    disturbance: str,
    target: TargetLike = "everybody",
    shifted: int = 0,
    points: int = 9,
) -> tuple[float, ...]:
    """Sizes of a disturbance worth trying, from least to most: around the expected break-even.

    COLLAB's squared bias grows as the square of a small disturbance; where it would eat up what
    working together saves is the middle of the grid.
    """
    choice("disturbance", disturbance, tuple(DISTURBANCES))
    if disturbance == "tails":
        return (0.1, 0.3, 1.0, 2.0, 3.0, 6.0, 12.0, 30.0)
    if disturbance == "clusters":
        return (0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.97)
    agents = _agents_of(problem, n, target)
    rng, small, draws, d = np.random.default_rng(0), 1e-3, 16, problem.dimension
    if disturbance == "shift":
        moved = problem.theta + small * unit_shifts(problem, rng, draws)
        bias, variance = expected(problem, n, thetas={shifted: moved})
    else:
        told = perturb(problem.covariance, symmetric_noise(rng, draws, d), small)
        bias, variance = expected(problem, n, covariance=told)
    saved = _local_errors(problem, n, {})[agents].mean() - variance[..., agents].mean()
    growth = bias[..., agents].mean() / small**2
    middle = np.sqrt(saved / growth) if saved > 0 and growth > 1e-9 * saved else 0.3
    # Beyond these a perturbed covariance is singular to a computer, and a shift is absurd.
    highest = 3.0 if disturbance == "shift" else 0.6
    sizes = np.clip(middle, 1e-4, highest) * np.geomspace(1 / 8, 4, points)
    if disturbance == "unlabelled":
        # The same errors in samples, d / size^2, as far as they are more than features.
        most, fewest = d / sizes[0] ** 2, max(d / sizes[-1] ** 2, 1.1 * d + 1)
        sizes = np.geomspace(max(min(most, 1e9), 10 * fewest), fewest, points)
        return tuple(dict.fromkeys(float(_rounded(size)) for size in sizes))
    return tuple(float(f"{size:.2g}") for size in sizes)


def _rounded(count: float) -> int:
    """Two digits, three below 1,000: few samples must not fall below the number of features."""
    return int(float(f"{count:.2g}")) if count >= 1000 else int(np.ceil(count))


def _local_errors(problem: Problem, n: float, thetas: Mapping[int, Array]) -> Array:
    """Exact mean error of least squares alone, ``s_i d_i / (n_i - d_i - 1)``, shape (..., m).

    For Gaussian features. 0 where there is none.
    """
    parts = []
    for i, (k, size) in enumerate(zip(problem.sizes, problem.sample_sizes(n), strict=True)):
        _, unexplained = _local_truth(problem, i, thetas.get(i, problem.theta))
        parts.append(unexplained * k / (size - k - 1) if size > k + 1 else 0 * unexplained)
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def _agents_of(problem: Problem, n: float, target: TargetLike) -> list[int]:
    able = judged(problem, n)
    whose = Target.of(target, problem.agents, whole_model="everybody")
    if whose.agent is None:
        if not able:
            raise ValueError(
                f"n = {n:g} is too few: no agent has two samples more than it sees features, so"
                " nobody can work alone"
            )
        return able
    agent = whose.agent
    if agent not in able:
        count, k = int(problem.sample_sizes(n)[agent]), int(problem.sizes[agent])
        raise ValueError(
            f"target: agent {agent} has {count} samples and sees {k} features, so it has no model"
            " of its own to compare with; at least two samples more than features are needed"
        )
    return [agent]


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
    agents = _agents_of(problem, n, whose)
    shifted = whole("shifted", shifted, low=0, high=problem.agents - 1)
    given = grid(problem, n, disturbance, whose, shifted) if values is None else values
    sizes = _checked_values(disturbance, given, problem.dimension)
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


def _checked_values(disturbance: str, values: Sequence[float], d: int) -> tuple[float, ...]:
    """Sizes in order of disturbance, each once."""
    sizes = {positive("values", value) for value in np.atleast_1d(np.asarray(values)).tolist()}
    if not sizes:
        raise ValueError("values must hold at least one size, got none")
    if disturbance == "unlabelled":
        sizes = {float(whole("values", int(np.rint(size)), low=d)) for size in sizes}
    if disturbance == "clusters" and max(sizes) >= 1:
        raise ValueError(f"values must be below 1 for clusters, got {max(sizes):g}")
    return tuple(sorted(sizes, reverse=DISTURBANCES[disturbance].falling))


class DisturbedAgents(Agents):
    """A stack of trials at one size of the disturbance.

    Attributes
    ----------
    thetas : dict of arrays, shape (trials, d)
        The relation of agents whose data follow another one.
    gaussian : bool
        Whether features are Gaussian here.
    """

    thetas: Mapping[int, Array]
    gaussian: bool


@dataclass(frozen=True)
class DisturbedWorld(Source):
    """A world at several sizes of one disturbance, the same people at each.

    Attributes
    ----------
    agents : tuple of int
        Those who are judged.
    direction : array, shape (d,), or None
        Of a shift; drawn in every trial if None.
    law : Law
        Of the features, unless that is what is disturbed.
    """

    problem: Problem
    n: float
    disturbance: str
    agents: tuple[int, ...]
    shifted: int
    direction: Array | None
    law: Law

    axis = "value"
    # Differences along the grid are paired, so a trial counts with all sizes or not at all.
    whole_only = True

    def chunk_size(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Trials of a chunk: by the world alone, so that seeds always mean the same."""
        numbers = self.problem.agents * self.problem.dimension**2
        return int(np.clip(CHUNK_NUMBERS // numbers, 1, CHUNK_TRIALS))

    def steps(
        self,
        grid: Sequence[float],
        trials: int,
        streams: Streams,
        wanted: Wanted,
        stop: Callable[[], bool],
    ) -> Iterator[tuple[float, DisturbedAgents]]:
        """The trials without disturbance, then at every size of it."""
        root, drawn = square_root(self.problem.covariance), _Draws(self, trials, streams, stop)
        if self.disturbance in ("tails", "clusters"):
            for size in grid:
                data = drawn.labelled(_law_of(self.disturbance, size, self.law), root)
                yield size, self._agents(data, self.problem.geometry, gaussian=size == 0)
            return
        data = drawn.labelled(self.law, root)
        yield 0.0, self._agents(data, self.problem.geometry)
        further = {
            "shift": drawn.shifted,
            "perturbed": drawn.perturbed,
            "unlabelled": drawn.unlabelled,
        }
        for size, some, told, thetas in further[self.disturbance](grid[1:], data, root):
            yield size, self._agents(some, told, thetas)

    def _agents(
        self,
        data: Sequence[Moments],
        geometry: Geometry,
        thetas: Mapping[int, Array] | None = None,
        *,
        gaussian: bool | None = None,
    ) -> DisturbedAgents:
        fit_together(list(data))
        found = DisturbedAgents(data, self.problem.views, geometry, self.problem.dimension)
        found.thetas = thetas or {}
        found.gaussian = self.law.is_gaussian if gaussian is None else gaussian
        return found

    def errors(self, agents: Agents, estimate: Models, target: Target) -> Array:
        """Mean over the agents that count, each by its own truth, shape (trials,)."""
        assert isinstance(agents, DisturbedAgents)
        total: Array = np.zeros(())
        for agent in self.agents:
            theta = agents.thetas.get(agent, self.problem.theta)
            truth, _ = _local_truth(self.problem, agent, theta)
            gap = estimate.local(agent) - truth
            total = total + ((gap @ self.problem.geometry.block(agent)) * gap).sum(axis=-1)
        return total / len(self.agents)

    def formulas(self, agents: Agents, target: Target) -> Mapping[str, Array]:
        """Closed forms for this stack, shape (trials,), where features are Gaussian."""
        assert isinstance(agents, DisturbedAgents)
        if not agents.gaussian:
            return {}
        bias, variance = expected(
            self.problem, self.n, covariance=agents.geometry, thetas=agents.thetas
        )
        alone = _local_errors(self.problem, self.n, agents.thetas)
        trials = agents.moments[0].yy.size
        return {
            method: np.broadcast_to(values[..., list(self.agents)].mean(axis=-1), trials)
            for method, values in {"collab": bias + variance, "local": alone}.items()
        }


#: A size of the disturbance, everybody's data at it, what is told of Σ, and whose theta is another.
_Step = tuple[float, Sequence[Moments], Geometry, Mapping[int, Array]]


@dataclass(frozen=True)
class _Draws:
    """The people of a chunk, and what is done to them."""

    world: DisturbedWorld
    trials: int
    streams: Streams
    stop: Callable[[], bool]

    def people(self, law: Law, agent: int, root: Array) -> CompleteSums:
        """One agent's samples, from the same streams for every law: the same people."""
        size = int(self.world.problem.sample_sizes(self.world.n)[agent])
        features, noise = self.streams(0, agent), self.streams(1, agent)
        return complete_sums(features, noise, law, root, self.trials, size, self.stop)

    def labelled(self, law: Law, root: Array) -> list[Moments]:
        """Everybody's data as they would be undisturbed."""
        problem = self.world.problem
        return [
            self.people(law, i, root).labelled(view, problem.theta, problem.noise)
            for i, view in enumerate(problem.views)
        ]

    def shifted(
        self, sizes: Sequence[float], data: Sequence[Moments], root: Array
    ) -> Iterator[_Step]:
        """One agent follows another theta."""
        world, problem, who = self.world, self.world.problem, self.world.shifted
        people = self.people(world.law, who, root)
        unit = (
            unit_shifts(problem, self.streams(2), self.trials)
            if world.direction is None
            else np.broadcast_to(world.direction, (self.trials, problem.dimension))
        )
        for size in sizes:
            theta = problem.theta + size * unit
            some = list(data)
            some[who] = people.labelled(problem.views[who], theta, problem.noise)
            yield size, some, problem.geometry, {who: theta}

    def perturbed(
        self, sizes: Sequence[float], data: Sequence[Moments], root: Array
    ) -> Iterator[_Step]:
        """A wrong covariance is told."""
        problem = self.world.problem
        noise = symmetric_noise(self.streams(3), self.trials, problem.dimension)
        for size in sizes:
            told = Geometry(perturb(problem.covariance, noise, size), problem.views)
            yield size, data, told, {}

    def unlabelled(
        self, sizes: Sequence[float], data: Sequence[Moments], root: Array
    ) -> Iterator[_Step]:
        """The covariance of few samples is told, from most to fewest; fewer are among the more."""
        rng, noise_rng = self.streams(4), self.streams(5)
        total: Array = np.zeros(())
        before = 0
        found: list[Array] = []
        for size in reversed(sizes):
            count = int(size) - before
            more = complete_sums(
                rng, noise_rng, self.world.law, root, self.trials, count, self.stop
            )
            total, before = total + more.xx, int(size)
            found.append(total / size)
        for size, covariance in zip(sizes, reversed(found), strict=True):
            yield size, data, Geometry(covariance, self.world.problem.views), {}
