"""How fast the advantage of working together goes when the world is not as assumed.

COLLAB is told a covariance and takes it that all agents follow one relation. Here one assumption is
broken, more and more: the covariance comes from few unlabelled samples or is perturbed, features
are not Gaussian, or one agent's data follow another theta. Every method meets the same people in
every trial (common random numbers), so curves are smooth and differences are paired. What COLLAB
tends to is known in closed form: see `collab_core.runs.disturbed_theory`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, finite_array, positive, whole
from .._base.linalg import inverse, transpose
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from ..world.laws import EllipticalT, Law, Mixture, square_root
from .disturbed_theory import expected, local_errors


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


def law_of(disturbance: str, value: float, usual: Law) -> Law:
    """The features' law at a size of the disturbance."""
    if disturbance == "clusters":
        return Mixture(separation=value)
    if disturbance == "tails":
        # Excess kurtosis of Student's t is 6 / (df - 4), and with one scale common to all
        # coordinates every feature has it, whatever the covariance: independent tails would be
        # mixed away. At 0 a t of so many degrees of freedom is Gaussian, from the same stream.
        return EllipticalT(degrees_of_freedom=4 + 6 / max(value, 1e-6))
    return usual


# Sizes worth trying -------------------------------------------------------------------------------


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
    agents = agents_of(problem, n, target)
    rng, small, draws, d = np.random.default_rng(0), 1e-3, 16, problem.dimension
    if disturbance == "shift":
        moved = problem.thetas[shifted] + small * unit_shifts(problem, rng, draws)
        bias, variance = expected(problem, n, thetas={shifted: moved})
    else:
        told = perturb(problem.covariance, symmetric_noise(rng, draws, d), small)
        bias, variance = expected(problem, n, covariance=told)
    saved = local_errors(problem, n, {})[agents].mean() - variance[..., agents].mean()
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


def agents_of(problem: Problem, n: float, target: TargetLike) -> list[int]:
    """Agents that are judged: one, or all that can work alone."""
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


def checked_values(disturbance: str, values: Sequence[float], d: int) -> tuple[float, ...]:
    """Sizes in order of disturbance, each once."""
    sizes = {positive("values", value) for value in np.atleast_1d(np.asarray(values)).tolist()}
    if not sizes:
        raise ValueError("values must hold at least one size, got none")
    if disturbance == "unlabelled":
        sizes = {float(whole("values", int(np.rint(size)), low=d)) for size in sizes}
    if disturbance == "clusters" and max(sizes) >= 1:
        raise ValueError(f"values must be below 1 for clusters, got {max(sizes):g}")
    return tuple(sorted(sizes, reverse=DISTURBANCES[disturbance].falling))
