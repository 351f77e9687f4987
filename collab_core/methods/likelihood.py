"""COLLAB+: maximum likelihood on COLLAB's own messages (beyond the paper).

For Gaussian features ``(theta_hat_i, Sigma_hat_i, RSS_i)`` is sufficient, and given the features
the log-likelihood of everything that agents send is, up to a constant,

    l(theta, noise^2) = sum_i [ -(n_i/2) log s_i - (RSS_i + q_i) / (2 s_i) ],
    q_i = |theta_hat_i - T_i theta|^2 in the norm of xx_i,
    s_i = noise^2 + theta' G_i theta = noise^2 + phi' theta - phi[o_i]' S_i phi[o_i].

It is maximised over phi = covariance theta, whose gradient pieces are small: with ``w_i = S_i
phi[o_i]``, ``h_i = theta - P_i' w_i`` (half the gradient of s_i) and ``u_i = dl/ds_i``,

    score      = sum_i P_i' S_i xx_i (theta_hat_i - w_i) / s_i + 2 u_i h_i,
    information = sum_i n_i [ P_i' S_i P_i / s_i + 2 h_i h_i' / s_i^2 ],

bordered by ``sum u_i``, ``sum n_i h_i / s_i^2`` and ``sum n_i / (2 s_i^2)`` when the noise is
unknown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

import numpy as np

from .._base.blas import single_threaded_blas
from .._base.checks import Array, Indices, positive
from .._base.linalg import inverse, transpose
from ..bounds.weights import noise_variance
from ..core.estimate import Estimate, LeftOut
from ..core.geometry import Geometry
from ..core.moments import LocalFit

#: A trial is done when a step promises less than this gain of log-likelihood: a thousandth of a
#: standard error.
ENOUGH = 1e-6

#: Weight of ``log noise^2`` added to the likelihood when the noise is unknown. At small n the plain
#: maximum sits at noise 0 in a few trials, which then dominate the mean error; this is the usual
#: boundary-avoiding prior, of order one against a likelihood of order n.
BOUNDARY_PENALTY = 1.0

#: Trials that are worked on at a time: their matrices stay near the processor.
BLOCK = 128

#: No step takes away more than this share of the noise variance.
LARGEST_CUT = 0.8


@dataclass(frozen=True, eq=False)
class PlusEstimate(Estimate):
    """COLLAB+'s estimate.

    Attributes
    ----------
    noise_variance : array, shape (...)
        The label noise's variance, as given or as estimated.
    converged : boolean array, shape (...)
        Whether scoring came to rest within the steps allowed.
    """

    noise_variance: Array = field(default_factory=lambda: np.zeros(()))
    converged: np.ndarray = field(default_factory=lambda: np.ones((), dtype=bool))


def maximise(
    fits: Mapping[int, LocalFit],
    geometry: Geometry,
    phi: Array,
    noise: float | None = None,
    steps: int = 100,
    left_out: tuple[LeftOut, ...] = (),
) -> PlusEstimate:
    """Maximise the likelihood by guarded Fisher scoring, all trials at once.

    Parameters
    ----------
    fits : dict of LocalFit
        Local fits by agent; agents that are missing do not take part.
    geometry : Geometry
    phi : array, shape (..., d)
        Where to start: COLLAB's estimate.
    noise : float, optional
        Standard deviation of the label noise if known.
    steps : int
        Largest number of scoring steps.
    """
    leading, d = phi.shape[:-1], phi.shape[-1]
    known = noise is not None
    tau = (
        np.full(leading, positive("noise", noise) ** 2)
        if noise is not None
        else noise_variance(fits, geometry, phi)
    )
    values = np.concatenate([phi, tau[..., None]], axis=-1).reshape(-1, d + 1)
    trials = values.shape[0]
    blocks = [np.arange(at, min(at + BLOCK, trials)) for at in range(0, trials, BLOCK)]
    converged = np.zeros(trials, dtype=bool)
    # Products of a stack are many and small: threads would only wait for one another.
    with single_threaded_blas() if trials > 1 else nullcontext():
        for block in blocks:
            model = Likelihood(fits, geometry, leading, known, block)
            values[block], converged[block] = _climbed(model, values[block], steps)
    shaped = values.reshape(*leading, d + 1)

    def phi_covariance() -> Array:
        result = np.empty((trials, d, d))
        for block in blocks:
            model = Likelihood(fits, geometry, leading, known, block)
            _, information = model.point(values[block]).score_and_information()
            result[block] = inverse(information)[:, :d, :d]
        return result.reshape(*leading, d, d)

    return PlusEstimate(
        phi=shaped[..., :d],
        geometry=geometry,
        left_out=left_out,
        phi_covariance_of=phi_covariance,
        noise_variance=shaped[..., d],
        converged=converged.reshape(leading),
    )


def _climbed(model: Likelihood, start: Array, steps: int) -> tuple[Array, np.ndarray]:
    """Where scoring from these values (t, d + 1) comes to rest, and which trials did (t,)."""
    values = start.copy()
    converged = np.zeros(values.shape[0], dtype=bool)
    active, at_rest = np.arange(values.shape[0]), np.zeros(values.shape[0], dtype=bool)
    here = model.point(values)
    for _ in range(steps):
        here, done, stuck = _scoring_step(here, at_rest)
        converged[active[done]] = True
        values[active] = here.values
        at_rest = at_rest | done | stuck
        if at_rest.all():
            break
        if at_rest.mean() > 0.5:
            # Most have come to rest: go on with the others only.
            active, at_rest = active[~at_rest], at_rest[~at_rest]
            here = model.of(active).point(values[active])
    return values, converged


def _scoring_step(here: Point, at_rest: np.ndarray) -> tuple[Point, np.ndarray, np.ndarray]:
    """One step for every trial not at rest: where it leads, who is done, who cannot go on (t,)."""
    model, values = here.model, here.values
    score, information = here.score_and_information()
    tau = values[:, -1]
    if not model.known:
        score[:, -1] += BOUNDARY_PENALTY / tau
        information[:, -1, -1] += BOUNDARY_PENALTY / tau**2
    step = np.linalg.solve(information, score[..., None])[..., 0]
    done = (step * score).sum(axis=-1) < ENOUGH
    stuck = np.zeros_like(done)
    if model.known:
        step = np.concatenate([step, np.zeros((step.shape[0], 1))], axis=-1)
    cut = -step[:, -1] / (LARGEST_CUT * tau)
    size = np.where(done | at_rest, 0.0, 1 / np.maximum(cut, 1.0))
    # The likelihood must not fall: halve the step where it does, and give up where that leads
    # nowhere.
    for _ in range(12):
        there = model.point(values + size[:, None] * step)
        worse = there.objective < here.objective - 1e-12 * np.abs(here.objective)
        if not worse.any():
            break
        size = np.where(worse, size / 2, size)
    else:
        stuck = worse
        there = model.point(values + np.where(stuck, 0.0, size)[:, None] * step)
    return there, done, stuck


@dataclass(frozen=True, eq=False)
class _Group:
    """Agents whose views are of one size k, stacked so that one call serves them all.

    Attributes
    ----------
    slots : integer array, shape (g,)
        Their places among the agents taking part.
    index : integer array, shape (g, k)
        Their views.
    select : array, shape (g * k, d)
        0/1: adds coordinates of their views into all features.
    inverses : array, shape (g, k, k), or (g, t, k, k) with a covariance per trial
    theta : array, shape (g, t, k)
    xx : array, shape (g, t, k, k)
    """

    slots: Indices
    index: Indices
    select: Array
    inverses: Array
    theta: Array
    xx: Array

    def of(self, trials: Indices) -> _Group:
        inverses = self.inverses if self.inverses.ndim == 3 else self.inverses[:, trials]
        theta, xx = self.theta[:, trials], self.xx[:, trials]
        return _Group(self.slots, self.index, self.select, inverses, theta, xx)

    def solve(self, vectors: Array) -> Array:
        """``S_i`` times vectors, shape (g, t, k)."""
        if self.inverses.ndim == 3:
            return vectors @ self.inverses
        return (vectors[..., None, :] @ self.inverses)[..., 0, :]

    def scatter(self, vectors: Array) -> Array:
        """``sum_i P_i' b_i`` of vectors (g, t, k), shape (t, d)."""
        g, t, k = vectors.shape
        return vectors.transpose(1, 0, 2).reshape(t, g * k) @ self.select


class Likelihood:
    """The log-likelihood of a fixed set of messages, for t trials of a stack.

    Parameters
    ----------
    fits : dict of LocalFit
    geometry : Geometry
    leading : tuple of int
        Leading axes of the stack, flattened here to one.
    known : bool
        Whether the noise is known, or part of what is maximised over.
    which : integer array, shape (t,)
        Trials, counted over the flattened stack.
    """

    def __init__(
        self,
        fits: Mapping[int, LocalFit],
        geometry: Geometry,
        leading: tuple[int, ...],
        known: bool,
        which: Indices,
    ) -> None:
        def flat(array: Array, axes: int) -> Array:
            shape = array.shape[array.ndim - axes :]
            stack = np.broadcast_to(array, (*leading, *shape))
            return stack.reshape(math.prod(leading), *shape)[which]

        self.known = known
        self.agents = list(fits)
        self.geometry = geometry.trials(leading, which)
        self.rss = np.stack([flat(fit.rss, 0) for fit in fits.values()], axis=-1)
        # Centring a sample took one dimension of the labels away with the mean.
        self.n = np.stack([flat(fit.degrees_of_freedom, 0) for fit in fits.values()], axis=-1)
        self.groups = []
        for size in sorted({geometry.views[i].size for i in self.agents}):
            slots = [a for a, i in enumerate(self.agents) if geometry.views[i].size == size]
            members = [self.agents[a] for a in slots]
            index = np.stack([geometry.views[i] for i in members])
            self.groups.append(
                _Group(
                    slots=np.array(slots),
                    index=index,
                    select=np.eye(geometry.dimension)[index.ravel()],
                    inverses=np.stack([self.geometry.inverses[i] for i in members]),
                    theta=np.stack([flat(fits[i].theta, 1) for i in members]),
                    xx=np.stack([flat(_xx_of(fits[i]), 2) for i in members]),
                )
            )

    def of(self, trials: Indices) -> Likelihood:
        """The same for some of the trials."""
        part = object.__new__(Likelihood)
        part.known, part.agents = self.known, self.agents
        part.geometry = self.geometry.trials(self.rss.shape[:1], trials)
        part.rss, part.n = self.rss[trials], self.n[trials]
        part.groups = [group.of(trials) for group in self.groups]
        return part

    def point(self, values: Array) -> Point:
        """Evaluate at ``values`` = (phi, noise^2), shape (t, d + 1)."""
        return Point(self, values)


class Point:
    """The likelihood at one value of (phi, noise^2) per trial; a counts the agents taking part.

    Attributes
    ----------
    values : array, shape (t, d + 1)
        phi and noise^2.
    s : array, shape (t, a)
        ``s_i`` at this value.
    log_likelihood : array, shape (t,)
    objective : array, shape (t,)
        What is maximised: the log-likelihood, less the boundary penalty if the noise is unknown.
    """

    def __init__(self, model: Likelihood, values: Array) -> None:
        self.model, self.values = model, values
        phi, tau = values[:, :-1], values[:, -1]
        self.theta = model.geometry.theta(phi)
        signal = (self.theta * phi).sum(axis=-1)
        self.local: list[Array] = []
        self.pull: list[Array] = []
        unseen, misfit = np.empty_like(model.rss), np.empty_like(model.rss)
        for group in model.groups:
            seen = phi[:, group.index].transpose(1, 0, 2)
            local = group.solve(seen)
            gap = group.theta - local
            pull = (group.xx @ gap[..., None])[..., 0]
            unseen[:, group.slots] = (signal - (seen * local).sum(axis=-1)).T
            misfit[:, group.slots] = (gap * pull).sum(axis=-1).T
            self.local.append(local)
            self.pull.append(pull)
        # An agent that sees everything leaves nothing of the signal, whatever rounding says.
        self.s = tau[:, None] + np.maximum(unseen, 0.0)
        self.squares = model.rss + misfit
        self.log_likelihood = (-model.n * np.log(self.s) - self.squares / self.s).sum(axis=-1) / 2
        self.objective = self.log_likelihood
        if not model.known:
            self.objective = self.objective + BOUNDARY_PENALTY * np.log(tau)

    def score_and_information(self) -> tuple[Array, Array]:
        """Score (t, q) and information (t, q, q); q = d, or d + 1 with the noise unknown."""
        model, s = self.model, self.s
        u = (self.squares / s - model.n) / (2 * s)
        score = 2 * u.sum(axis=-1)[:, None] * self.theta
        # h_i = theta - P_i' w_i, shape (t, a, d)
        h = np.repeat(self.theta[:, None, :], s.shape[1], axis=1)
        for group, local, pull in zip(model.groups, self.local, self.pull, strict=True):
            rates, slopes = s.T[group.slots, :, None], u.T[group.slots, :, None]
            score += group.scatter(group.solve(pull) / rates - 2 * slopes * local)
            h[:, group.slots[:, None], group.index] -= local.transpose(1, 0, 2)
        rate = model.n / s**2
        weighted = rate[..., None] * h
        information = model.geometry.weighted_inverses(model.n / s, model.agents)
        information = information + 2 * (transpose(h) @ weighted)
        if model.known:
            return score, information
        cross = weighted.sum(axis=1)
        score = np.concatenate([score, u.sum(axis=-1)[:, None]], axis=-1)
        top = np.concatenate([information, cross[..., None]], axis=-1)
        bottom = np.concatenate([cross, rate.sum(axis=-1)[:, None] / 2], axis=-1)
        return score, np.concatenate([top, bottom[:, None, :]], axis=-2)


def _xx_of(fit: LocalFit) -> Array:
    if fit.xx is None:
        raise ValueError("COLLAB+ needs every agent's xx, and only a fit is known")
    return fit.xx
