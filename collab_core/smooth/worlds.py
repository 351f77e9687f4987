"""Simulated worlds with labels 0 and 1.

Features, views and theta are a `Problem`'s; its noise has no role, because a label is drawn with
probability ``1/(1 + exp(-(a + x'theta)))``. Samples are drawn one by one: there are no exact sums
of a logistic model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._base.checks import Array, choice, finite_array, whole
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from ..world.laws import square_root
from .layout import FeatureLayout
from .losses import LOGISTIC
from .objective import local_coefficients

#: Nodes of the Gauss-Hermite rule by which unseen features are averaged over.
NODES = 40

UNLABELLED = ("own", "pool")


class LogisticWorld:
    """A problem whose labels are 0 or 1.

    Parameters
    ----------
    problem : Problem
        Features, views, theta and shares; its noise is not used.
    signal : float, optional
        Standard deviation of the log-odds ``x'theta``: theta is scaled to it. As it is by default.
    intercept : float
        Log-odds at the mean of the features.
    """

    def __init__(
        self, problem: Problem, signal: float | None = None, intercept: float = 0.0
    ) -> None:
        self.problem = problem
        self.intercept = finite_array("intercept", intercept, ndim=0).item()
        size = float(np.sqrt(problem.theta @ problem.phi))
        if signal is not None and finite_array("signal", signal, ndim=0) < 0:
            raise ValueError(f"signal must not be negative, got {signal:g}")
        factor = 1.0 if signal is None else (signal / size if size > 0 else 0.0)
        self.theta = factor * problem.theta
        self.signal = factor * size

    @cached_property
    def layout(self) -> FeatureLayout:
        """How the server's parameters become the agents', with one intercept for all."""
        return FeatureLayout(self.problem.geometry, self.problem.views)

    def predictor(self, x: Array) -> Array:
        """True log-odds of samples with all features, shape (..., N, d) -> (..., N)."""
        return self.intercept + x @ self.theta

    def best_predictor(self, x: Array, target: TargetLike) -> Array:
        """Log-odds of the label given what the target sees of samples, (N, d) -> (N,).

        For an agent the unseen features are averaged over, given the seen ones: exact for Gaussian
        features, up to Gauss-Hermite quadrature. No model of these features can do better.
        """
        i = Target.of(target, self.problem.agents).agent
        if i is None:
            return self.predictor(x)
        view = self.problem.views[i]
        transform = self.problem.transform(i)
        mean = self.intercept + x[..., view] @ (transform @ self.theta)
        unseen = float(self.theta @ self.layout.spreads[i][1:, 1:] @ self.theta)
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        spread = np.sqrt(max(unseen, 0.0)) * nodes
        p = LOGISTIC.predict(mean[..., None] + spread) @ (weights / weights.sum())
        p = np.clip(p, 1e-300, 1 - 1e-16)
        return np.log(p) - np.log1p(-p)

    def best_model(self, agent: int) -> Array:
        """Agent i's coefficients as n grows, by the probit approximation, shape (1 + d_i,)."""
        truth = np.append(self.intercept, self.theta)
        layout = self.layout
        return local_coefficients(truth, layout.transforms[agent], layout.spreads[agent])

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Samples (*shape, d) and their labels (*shape)."""
        x = rng.standard_normal((*shape, self.problem.dimension)) @ self.root
        y = (rng.random(shape) < LOGISTIC.predict(self.predictor(x))).astype(float)
        return x, y

    @cached_property
    def root(self) -> Array:
        """Square root of the covariance: rows of noise times it are samples, shape (d, d)."""
        return square_root(self.problem.covariance)


@dataclass(frozen=True)
class LogisticSettings:
    """What estimators are told.

    Parameters
    ----------
    unlabelled : {"own", "pool"}
        Features over which server and agent should agree: the agent's own (as Algorithm 1's
        weights are its own covariance), or a pool that the server has.
    pool : int
        Samples in that pool.
    correction : bool
        Training losses corrected by k/n.
    """

    unlabelled: str = "own"
    pool: int = 2000
    correction: bool = False

    def __post_init__(self) -> None:
        choice("unlabelled", self.unlabelled, UNLABELLED)
        whole("pool", self.pool, low=1)
