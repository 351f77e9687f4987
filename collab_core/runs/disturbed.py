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
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from .._base.blas import single_threaded_blas
from .._base.checks import Array, choice, finite_array, positive, vector, whole
from .._base.linalg import inverse, matvec, transpose
from ..core.estimate import Estimate, NotEstimableError
from ..core.geometry import Geometry
from ..core.moments import Moments, fit_together
from ..core.problem import Problem
from ..methods import estimators
from ..world.laws import FeatureLaw, Law, square_root
from .chunks import HasSubmit, run_chunks
from .draws import CompleteSums, StoppedError, complete_sums
from .simulate import mean_interval

#: Methods that are compared; the last is the one the others must beat.
METHODS = ("collab", "collab_plus", "imputation", "local")

#: Numbers per array in a chunk of trials, and most trials in it: progress shows, Stop is quick.
CHUNK_NUMBERS, CHUNK_TRIALS = 300_000, 50

#: Whom the error is of: one agent, or the mean over all who can work alone.
Whom = str | int


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
        return FeatureLaw("mixture", separation=value)
    if disturbance == "tails":
        # Excess kurtosis of Student's t is 6 / (df - 4), and with one scale common to all
        # coordinates every feature has it, whatever the covariance: independent tails would be
        # mixed away. At 0 a t of so many degrees of freedom is Gaussian, from the same stream.
        return FeatureLaw("elliptical_t", degrees_of_freedom=4 + 6 / max(value, 1e-6))
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
    target: Whom = "everybody",
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


def _agents_of(problem: Problem, n: float, target: Whom) -> list[int]:
    able = judged(problem, n)
    if target == "everybody":
        if not able:
            raise ValueError(
                f"n = {n:g} is too few: no agent has two samples more than it sees features, so"
                " nobody can work alone"
            )
        return able
    agent = whole("target", target, low=0, high=problem.agents - 1)  # type: ignore[arg-type]
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


@dataclass(frozen=True, eq=False)
class Robustness:
    """Errors along a disturbance.

    Attributes
    ----------
    problem : Problem
    n : float
    disturbance : str
        Key of `DISTURBANCES`.
    values : tuple of float
        Its sizes, from least to most disturbance.
    target : "everybody" or int
    shifted : int
        Whose theta is another, where that is the disturbance.
    methods : tuple of str
    errors : dict
        By method, errors of all finished trials, shape (trials, 1 + number of values): first
        without any disturbance. Methods that could not be computed have none.
    theory : dict
        Closed forms of COLLAB and local least squares in the same columns, NaN where none is known.
    notes : dict
        By method, why it is missing.
    trials : int
        Asked for.
    partial : bool
        Whether the run was stopped before all trials were done.
    """

    problem: Problem = field(repr=False)
    n: float
    disturbance: str
    values: tuple[float, ...]
    target: Whom
    shifted: int
    methods: tuple[str, ...]
    errors: Mapping[str, Array] = field(repr=False)
    theory: Mapping[str, Array] = field(repr=False)
    notes: Mapping[str, str] = field(repr=False)
    trials: int
    partial: bool

    @property
    def done(self) -> int:
        """Trials that are finished."""
        return max((len(errors) for errors in self.errors.values()), default=0)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per size of the disturbance and method.

        Columns: ``value`` (0 without disturbance; <NA> where that is a known Σ), ``method``,
        ``mean``, ``low``, ``high`` (95% interval over trials), ``ratio`` to local least squares
        with ``ratio_low`` and ``ratio_high`` (paired), ``theory`` (closed form), ``theory_ratio``,
        ``trials`` and ``note``. What does not exist is <NA>.
        """
        none = pd.NA if DISTURBANCES[self.disturbance].falling else 0.0
        rows = [
            {"value": value, "method": method} | self._row(method, place)
            for method in self.methods
            for place, value in enumerate((none, *self.values))
        ]
        numbers = ("value", "mean", "low", "high", "ratio", "ratio_low", "ratio_high", "theory",
                   "theory_ratio")  # fmt: skip
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, "Float64"))

    def _row(self, method: str, place: int) -> dict[str, Any]:
        names = ("mean", "low", "high", "ratio", "ratio_low", "ratio_high", "theory",
                 "theory_ratio")  # fmt: skip
        row: dict[str, Any] = dict.fromkeys(names, pd.NA)
        errors, alone = self._errors(method, place), self._errors("local", place)
        if errors.size:
            row["mean"], row["low"], row["high"] = mean_interval(errors)
        if errors.size and alone.size and alone.mean() > 0:
            ratio = float(errors.mean() / alone.mean())
            row["ratio"] = ratio
            if errors.size > 1:
                # Of a ratio of paired means: the spread of what the ratio leaves, over the mean.
                half = _half_width(errors - ratio * alone) / float(alone.mean())
                row["ratio_low"], row["ratio_high"] = max(ratio - half, 0.0), ratio + half
        theory, base = self._theory(method, place), self._theory("local", place)
        if theory is not None:
            row["theory"] = theory
            row["theory_ratio"] = theory / base if base else pd.NA
        row |= {"trials": errors.size, "note": self.notes.get(method, "")}
        return row

    def _errors(self, method: str, place: int) -> Array:
        found = self.errors.get(method)
        return np.empty(0) if found is None else found[:, place]

    def _theory(self, method: str, place: int) -> float | None:
        found = self.theory.get(method)
        return None if found is None or np.isnan(found[place]) else float(found[place])

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
        mine, alone = self.errors.get(method), self.errors.get("local")
        if mine is None or alone is None or not len(mine):
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
            half = np.array([_half_width(column) for column in gaps.T])
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


def _half_width(gaps: Array) -> float:
    """Half of the 95% interval of a mean by Student's t."""
    return float(student.ppf(0.975, gaps.size - 1) * gaps.std(ddof=1) / np.sqrt(gaps.size))


# The run -----------------------------------------------------------------------------------------


def curve(
    problem: Problem,
    n: float,
    trials: int,
    disturbance: str,
    values: Sequence[float] | None = None,
    target: Whom = "everybody",
    *,
    shifted: int = 0,
    direction: ArrayLike | None = None,
    features: str | Law = "gaussian",
    methods: Sequence[str] = METHODS,
    seed: int = 0,
    progress: Callable[[float, Robustness], None] | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> Robustness:
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
        Of `METHODS`.
    progress, executor, cancel
        As in `simulate.error_curve`.

    Returns
    -------
    Robustness
    """
    choice("disturbance", disturbance, tuple(DISTURBANCES))
    agents = _agents_of(problem, n, target)
    shifted = whole("shifted", shifted, low=0, high=problem.agents - 1)
    given = grid(problem, n, disturbance, target, shifted) if values is None else values
    plan = _Plan(
        problem,
        positive("n", n),
        whole("trials", trials, low=1),
        disturbance,
        _checked_values(disturbance, given, problem.dimension),
        target,
        tuple(agents),
        shifted,
        None if direction is None else vector("direction", direction, problem.dimension),
        FeatureLaw.of(features),
        tuple(choice("methods", method, METHODS) for method in methods),
        whole("seed", seed, low=0),
    )
    done: dict[int, _ChunkResult] = {}
    if progress is not None:
        progress(0.0, _result(plan, done))
    for index, found in run_chunks(plan, _errors_of_chunk, executor, cancel):
        if found is not None:
            done[index] = found
        if progress is not None:
            progress(len(done) / plan.chunks, _result(plan, done))
    return _result(plan, done)


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


@dataclass(frozen=True)
class _Plan:
    problem: Problem
    n: float
    trials: int
    disturbance: str
    values: tuple[float, ...]
    target: Whom
    agents: tuple[int, ...]
    shifted: int
    direction: Array | None
    law: Law
    methods: tuple[str, ...]
    seed: int

    @property
    def chunk_size(self) -> int:
        """Trials of a chunk: by the world alone, so that seeds always mean the same."""
        numbers = self.problem.agents * self.problem.dimension**2
        return int(np.clip(CHUNK_NUMBERS // numbers, 1, CHUNK_TRIALS))

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.trials // self.chunk_size)

    @property
    def about_law(self) -> bool:
        """Whether the features' law is what is disturbed."""
        return self.disturbance in ("tails", "clusters")


@dataclass(frozen=True)
class _ChunkResult:
    errors: dict[str, Array]
    theory: dict[str, Array]
    notes: dict[str, str]


@dataclass(frozen=True)
class _World:
    """A stack of trials at one size of the disturbance."""

    moments: Sequence[Moments]
    geometry: Geometry
    thetas: Mapping[int, Array]
    gaussian: bool


def _errors_of_chunk(plan: _Plan, index: int, cancel: Event | None) -> _ChunkResult | None:
    """All sizes for a stack of trials, or None where it was stopped before the last."""

    def stop() -> bool:
        return cancel is not None and cancel.is_set()

    columns: dict[str, list[Array]] = {method: [] for method in plan.methods}
    theory: dict[str, list[Array]] = {"collab": [], "local": []}
    notes: dict[str, str] = {}
    try:
        with single_threaded_blas():
            for world in _worlds(plan, index, stop):
                if stop():
                    return None
                found, said = _errors(plan, world)
                notes |= said
                for method, errors in found.items():
                    columns[method].append(errors)
                for method, values in _theory(plan, world).items():
                    theory[method].append(values)
    except StoppedError:
        return None
    width = 1 + len(plan.values)
    whole_rows = {m: np.stack(c, axis=1) for m, c in columns.items() if len(c) == width}
    return _ChunkResult(whole_rows, {m: np.stack(c, axis=1) for m, c in theory.items()}, notes)


def _worlds(plan: _Plan, index: int, stop: Callable[[], bool]) -> Iterator[_World]:
    """The chunk's trials without disturbance, then at every size of it."""
    problem = plan.problem
    trials = min(plan.chunk_size, plan.trials - index * plan.chunk_size)
    d, root = problem.dimension, square_root(problem.covariance)

    def stream(*numbers: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(index, *numbers)))

    def people(law: Law, agent: int) -> CompleteSums:
        # The same streams for every law: the same people, as far as laws allow.
        size = int(problem.sample_sizes(plan.n)[agent])
        return complete_sums(stream(0, agent), stream(1, agent), law, root, trials, size, stop)

    def labelled(law: Law) -> list[Moments]:
        return [
            people(law, i).labelled(view, problem.theta, problem.noise)
            for i, view in enumerate(problem.views)
        ]

    sizes = (0.0, *plan.values)
    if plan.about_law:
        for size in sizes:
            moments = labelled(_law_of(plan.disturbance, size, plan.law))
            yield _World(moments, problem.geometry, {}, size == 0)
        return
    moments, gaussian = labelled(plan.law), plan.law.is_gaussian
    yield _World(moments, problem.geometry, {}, gaussian)
    if plan.disturbance == "shift":
        who, shifted = plan.shifted, people(plan.law, plan.shifted)
        unit = (
            unit_shifts(problem, stream(2), trials)
            if plan.direction is None
            else np.broadcast_to(plan.direction, (trials, d))
        )
        for size in plan.values:
            theta = problem.theta + size * unit
            data = list(moments)
            data[who] = shifted.labelled(problem.views[who], theta, problem.noise)
            yield _World(data, problem.geometry, {who: theta}, gaussian)
    elif plan.disturbance == "perturbed":
        noise = symmetric_noise(stream(3), trials, d)
        for size in plan.values:
            told = perturb(problem.covariance, noise, size)
            yield _World(moments, Geometry(told, problem.views), {}, gaussian)
    else:
        for told in _nested_covariances(plan, root, trials, stream, stop):
            yield _World(moments, Geometry(told, problem.views), {}, gaussian)


def _nested_covariances(
    plan: _Plan,
    root: Array,
    trials: int,
    stream: Callable[..., np.random.Generator],
    stop: Callable[[], bool],
) -> list[Array]:
    """Covariances of unlabelled samples, from most to fewest; the fewer are among the more."""
    rng, noise_rng = stream(4), stream(5)
    total: Array = np.zeros(())
    before = 0
    found: list[Array] = []
    for value in reversed(plan.values):
        more = complete_sums(rng, noise_rng, plan.law, root, trials, int(value) - before, stop)
        total, before = total + more.xx, int(value)
        found.append(total / value)
    return found[::-1]


def _errors(plan: _Plan, world: _World) -> tuple[dict[str, Array], dict[str, str]]:
    """Every method's mean error over the agents that count, shape (trials,)."""
    problem, views = plan.problem, plan.problem.views
    fit_together(list(world.moments))
    found: dict[str, Array] = {}
    notes: dict[str, str] = {}
    start: Estimate | None = None
    for method in plan.methods:
        try:
            if method == "local":
                models = [world.moments[i].fit.theta for i in plan.agents]
            else:
                estimate = _estimate(method, world, views, start)
                start = estimate if method == "collab" else start
                models = [estimate.local(i) for i in plan.agents]
        except NotEstimableError as reason:
            notes[method] = str(reason)
            continue
        total = np.zeros(())
        for agent, model in zip(plan.agents, models, strict=True):
            truth, _ = _local_truth(problem, agent, world.thetas.get(agent, problem.theta))
            gap = model - truth
            total = total + ((gap @ problem.geometry.block(agent)) * gap).sum(axis=-1)
        found[method] = total / len(plan.agents)
    return found, notes


def _estimate(
    method: str,
    world: _World,
    views: Sequence[NDArray[np.intp]],
    start: Estimate | None,
) -> Estimate:
    match method:
        case "collab":
            return estimators.collab(world.moments, views, world.geometry)
        case "collab_plus":
            return estimators.collab_plus(world.moments, views, world.geometry, start=start)
        case _:
            return estimators.global_imputation(world.moments, views, world.geometry)


def _theory(plan: _Plan, world: _World) -> dict[str, Array]:
    """Closed forms for this stack, shape (trials,); NaN where features are not Gaussian."""
    trials, agents = world.moments[0].yy.size, list(plan.agents)
    if not world.gaussian:
        return {method: np.full(trials, np.nan) for method in ("collab", "local")}
    bias, variance = expected(plan.problem, plan.n, covariance=world.geometry, thetas=world.thetas)
    alone = _local_errors(plan.problem, plan.n, world.thetas)
    pairs = {"collab": bias + variance, "local": alone}
    return {
        method: np.broadcast_to(values[..., agents].mean(axis=-1), trials)
        for method, values in pairs.items()
    }


def _result(plan: _Plan, done: Mapping[int, _ChunkResult]) -> Robustness:
    # In the order of the chunks, whatever order they finished in: sums are the same bits.
    ordered = [done[index] for index in sorted(done)]
    errors = {
        method: np.concatenate([part.errors[method] for part in ordered])
        for method in plan.methods
        if ordered and all(method in part.errors for part in ordered)
    }
    theory = {
        method: np.concatenate([part.theory[method] for part in ordered]).mean(axis=0)
        for method in ("collab", "local")
        if ordered
    }
    notes: dict[str, str] = {}
    for part in ordered:
        notes |= part.notes
    return Robustness(
        plan.problem,
        plan.n,
        plan.disturbance,
        plan.values,
        plan.target,
        plan.shifted,
        plan.methods,
        errors,
        theory,
        notes,
        plan.trials,
        len(done) < plan.chunks,
    )
