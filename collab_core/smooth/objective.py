"""What is minimised: losses of many independent problems at once, with two derivatives.

The objective of one problem (one trial) is

    ``sum_i w_i sum_s l(t_is, x_is' b_i(theta)) / sum_i w_i n_i  +  sum_j penalty_j theta_j^2 / 2``

with ``b_i(theta) = T_i theta``, in which it is convex; or, where a `AgentBlock` has a spread,
``T_i theta / sqrt(1 + c theta'G_i theta)``. A local fit is one block without transform, the
paper's aggregation one block an agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._base.checks import Array
from .._base.linalg import transpose
from .losses import Loss

#: ``E s(eta + v z) ~ s(eta / sqrt(1 + c v^2))``, s the logistic function and z standard normal:
#: logistic and normal curves of one slope at 0 (the probit approximation).
ATTENUATION = np.pi / 8


@dataclass(frozen=True, eq=False)
class AgentBlock:
    """Samples of one agent, for B problems at once.

    Attributes
    ----------
    x : array, shape (B, n, k) or (1, n, k)
        Design; with a first axis of 1 the same for all problems.
    target : array, shape (B, n)
        Labels, or another model's predictions.
    weight : array, shape (B,)
        Of one sample.
    transform : array, shape (k, p), optional
        ``T_i`` from theta to this agent's coefficients; the identity by default.
    spread : array, shape (p, p), optional
        ``G_i`` with ``theta'G_i theta`` the variance of what the agent cannot see; attenuates its
        coefficients where given.
    """

    x: Array
    target: Array
    weight: Array
    transform: Array | None = None
    spread: Array | None = None

    def of(self, rows: NDArray[np.intp]) -> AgentBlock:
        """The same for some of the problems."""
        if rows.size == len(self.target):
            return self
        x = self.x if self.x.shape[0] == 1 else self.x[rows]
        return replace(self, x=x, target=self.target[rows], weight=self.weight[rows])

    def coefficients(self, theta: Array) -> Array:
        """The agent's coefficients, shape (B, k)."""
        return local_coefficients(theta, self.transform, self.spread)

    def jacobian(self, theta: Array) -> Array:
        """Derivative of `coefficients`, shape (k, p) or (B, k, p)."""
        if self.transform is None:
            return np.eye(theta.shape[-1])
        if self.spread is None:
            return self.transform
        pulled, plain = theta @ self.spread, theta @ self.transform.T
        shrink = _shrinkage(theta, self.spread)
        outer = plain[:, :, None] * pulled[:, None, :]
        return (
            shrink[:, None, None] * self.transform
            - (ATTENUATION * shrink**3)[:, None, None] * outer
        )

    def predictor(self, theta: Array) -> Array:
        """Linear predictors, shape (B, n)."""
        return (self.x @ self.coefficients(theta)[..., None])[..., 0]


def local_coefficients(theta: Array, transform: Array | None, spread: Array | None) -> Array:
    """``T_i theta``, attenuated by what agent i does not see if there is a spread, (..., k)."""
    plain = theta if transform is None else theta @ transform.T
    return plain if spread is None else _shrinkage(theta, spread)[..., None] * plain


def _shrinkage(theta: Array, spread: Array) -> Array:
    unseen = ((theta @ spread) * theta).sum(axis=-1)
    return np.asarray(1 / np.sqrt(1 + ATTENUATION * np.maximum(unseen, 0.0)))


def have_labels(blocks: Sequence[AgentBlock]) -> bool:
    """Whether all targets are labels 0 and 1, not probabilities."""
    return all(((block.target == 0) | (block.target == 1)).all() for block in blocks)


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective of B problems at once.

    Attributes
    ----------
    blocks : list of Block
        The agents, all of B problems.
    loss : Loss
    penalty : array, shape (B, p)
        Of ``theta_j^2 / 2``.
    scale : array, shape (B,)
        ``sum_i w_i n_i``.
    """

    blocks: Sequence[AgentBlock]
    loss: Loss
    penalty: Array
    scale: Array

    @classmethod
    def over(
        cls,
        blocks: Sequence[AgentBlock],
        loss: Loss,
        penalty: Array | float,
        shape: tuple[int, int],
    ) -> Objective:
        """Of parameters of shape (B, p); a penalty may be one for all."""
        scale = np.sum([block.weight * block.target.shape[-1] for block in blocks], axis=0)
        whole = np.broadcast_to(np.asarray(penalty, dtype=float), shape)
        return cls(list(blocks), loss, whole, scale)

    def of(self, rows: NDArray[np.intp]) -> Objective:
        """The same for some of the problems."""
        blocks = [block.of(rows) for block in self.blocks]
        return Objective(blocks, self.loss, self.penalty[rows], self.scale[rows])

    def value(self, theta: Array) -> tuple[Array, list[Array]]:
        """The objective (B,), and every block's linear predictors (B, n)."""
        etas = [block.predictor(theta) for block in self.blocks]
        total = np.zeros(len(theta))
        for block, eta in zip(self.blocks, etas, strict=True):
            total += block.weight * self.loss.value(block.target, eta).sum(axis=-1)
        return total / self.scale + (self.penalty * theta**2).sum(axis=-1) / 2, etas

    def gradient(self, theta: Array, etas: Sequence[Array]) -> Array:
        """First derivative, shape (B, p)."""
        total = np.zeros_like(theta)
        for block, eta in zip(self.blocks, etas, strict=True):
            pull = (self.loss.slope(block.target, eta)[:, None, :] @ block.x)[:, 0]
            inner = (pull[:, None, :] @ block.jacobian(theta))[:, 0]
            total += block.weight[:, None] * inner
        return total / self.scale[:, None] + self.penalty * theta

    def hessian(self, theta: Array, etas: Sequence[Array]) -> Array:
        """Second derivative (without the curvature of an attenuated transform), (B, p, p)."""
        p = theta.shape[-1]
        total = np.zeros((len(theta), p, p))
        for block, eta in zip(self.blocks, etas, strict=True):
            bend = block.weight[:, None] * self.loss.curvature(block.target, eta)
            inner = transpose(block.x * bend[..., None]) @ block.x
            if block.transform is not None:
                jacobian = block.jacobian(theta)
                inner = transpose(jacobian) @ inner @ jacobian
            total += inner
        total /= self.scale[:, None, None]
        total[:, np.arange(p), np.arange(p)] += self.penalty
        return (total + transpose(total)) / 2


def objective(
    blocks: Sequence[AgentBlock], theta: Array, loss: Loss, penalty: Array | float = 0.0
) -> tuple[Array, Array]:
    """Value (B,) and gradient (B, p) of the objective at theta, shape (B, p)."""
    whole = Objective.over(blocks, loss, penalty, (len(theta), theta.shape[-1]))
    value, etas = whole.value(theta)
    return value, whole.gradient(theta, etas)
