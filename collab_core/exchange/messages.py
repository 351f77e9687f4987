"""Messages: the very numbers that an agent sends, as JSON that anybody can read.

Algorithm 1's message is ``(theta_hat_i, Sigma_hat_i, R_i)`` with the sample size and the features
it is about. It is as good as the agent's moments: ``xx = n Sigma_hat``, ``xy = xx theta_hat`` and
``yy = n R + theta_hat' xx theta_hat``. No labelled sample can be read off it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._base.checks import Array, Indices, finite_array, whole
from ..core.moments import Moments
from ..world.views import Views, as_views

FORMAT = "collab-message/1"

_KEYS = ("format", "agent", "features", "n", "theta", "covariance", "residual")


@dataclass(frozen=True, eq=False)
class Message:
    """What one agent sends to the server.

    Attributes
    ----------
    agent : str
        Who sends it.
    view : integer array, shape (k,)
        Features it is about, counted from 0.
    n : int
        Labelled samples behind it.
    theta : array, shape (k,)
        Local model.
    covariance : array, shape (k, k)
        Covariance of its features.
    residual : float
        ``R_i = RSS / n``.
    """

    agent: str
    view: Indices
    n: int
    theta: Array
    covariance: Array
    residual: float

    @classmethod
    def of(cls, agent: str, view: Indices, moments: Moments) -> Message:
        """The message of an agent with these moments (of one data set)."""
        if moments.yy.ndim:
            raise ValueError("moments must be of one data set, not of a stack of trials")
        if moments.is_centred:
            raise ValueError("moments must not be centred: a message holds sums about 0")
        fit, n = moments.fit, float(moments.n)
        if n < 1:
            raise ValueError("moments must hold at least one sample")
        return cls(agent, view, int(n), fit.theta, moments.xx / n, float(fit.residual))

    def to_moments(self) -> Moments:
        """The moments that this message stands for."""
        xx = self.n * self.covariance
        xy = xx @ self.theta
        return Moments(self.n, xx, xy, self.n * self.residual + self.theta @ xy)

    @property
    def frame(self) -> pd.DataFrame:
        """Model and covariance as a table, a row a feature: ``feature``, ``theta``, ``x1``, .. ."""
        names = [f"x{j + 1}" for j in self.view]
        numbers = np.column_stack([self.theta, self.covariance])
        table = pd.DataFrame(numbers, index=names, columns=["theta", *names])
        return table.reset_index(names="feature")

    @property
    def numbers(self) -> int:
        """How many numbers it holds: the model, a triangle of the covariance, the residual."""
        k = self.view.size
        return k + k * (k + 1) // 2 + 1

    def to_json(self) -> str:
        """Write the message; every number reads back as the same number."""
        content = {
            "format": FORMAT,
            "agent": self.agent,
            "features": self.view.tolist(),
            "n": self.n,
            "theta": self.theta.tolist(),
            "covariance": self.covariance.tolist(),
            "residual": self.residual,
        }
        return json.dumps(content, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str, dimension: int | None = None) -> Message:
        """Read a message, refusing what is malformed, not finite or inconsistent.

        Parameters
        ----------
        text : str
        dimension : int, optional
            Number of features of the whole problem, to check the indices against.
        """
        try:
            content = json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as problem:
            raise ValueError(f"message: not JSON ({problem.msg} at {problem.pos})") from None
        if not isinstance(content, dict):
            raise ValueError("message: must be a JSON object")
        missing = [key for key in _KEYS if key not in content]
        if missing:
            raise ValueError(f"message: {', '.join(missing)} missing")
        if content["format"] != FORMAT:
            raise ValueError(f"message: format must be {FORMAT!r}, got {content['format']!r:.40}")
        if not isinstance(content["agent"], str) or not content["agent"]:
            raise ValueError("message: agent must be a name")
        features = _numbers(content, "features", 1)
        d = dimension or int(features.max(initial=0)) + 1
        (view,) = as_views([features], d, name="message: features")
        theta = _numbers(content, "theta", 1)
        covariance = _numbers(content, "covariance", 2 if view.size else None)
        k = view.size
        if theta.size != k:
            raise ValueError(
                f"message: theta must have {k} entries, one a feature, got {theta.size}"
            )
        if k == 0:
            covariance = np.zeros((0, 0))
        if covariance.shape != (k, k):
            raise ValueError(f"message: covariance must be ({k}, {k}), got {covariance.shape}")
        largest = np.abs(covariance).max(initial=0)
        if np.abs(covariance - covariance.T).max(initial=0) > 1e-8 * largest:
            raise ValueError("message: covariance must be symmetric")
        if k and np.linalg.eigvalsh(covariance)[0] < -1e-8 * largest:
            raise ValueError("message: covariance must be positive semi-definite")
        residual = float(_numbers(content, "residual", 0))
        if residual < 0:
            raise ValueError(f"message: residual must not be negative, got {residual:g}")
        n = whole("message: n", float(_numbers(content, "n", 0)), low=1)  # type: ignore[arg-type]
        return cls(content["agent"], view, n, theta, covariance, residual)

    def save(self, path: str | Path) -> None:
        """Write the message to a file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path, dimension: int | None = None) -> Message:
        """Read a message from a file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise ValueError("message: not a text file") from None
        return cls.from_json(text, dimension)


def gather(messages: Sequence[Message], dimension: int) -> tuple[list[Moments], Views]:
    """What the server works on: moments and views, ready for every estimator.

    Examples
    --------
    >>> moments, views = gather([Message.load(path) for path in paths], d)  # doctest: +SKIP
    >>> estimators.collab(moments, views, covariance).local(0)  # doctest: +SKIP
    """
    if not messages:
        raise ValueError("messages must hold at least one, got none")
    names = [message.agent for message in messages]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ValueError(f"messages: agent {sorted(repeated)[0]!r} sent more than one")
    views = as_views([message.view for message in messages], dimension, name="messages")
    return [message.to_moments() for message in messages], views


def zipped(messages: Sequence[Message]) -> bytes:
    """All messages as one zip archive of JSON files, numbered from 1."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, message in enumerate(messages, start=1):
            archive.writestr(f"collab-message-{i}.json", message.to_json())
    return packed.getvalue()


def _numbers(content: dict[str, Any], key: str, ndim: int | None) -> Array:
    if isinstance(content[key], (str, bool)) or content[key] is None:
        raise ValueError(f"message: {key} must be numbers, got {content[key]!r:.40}")
    return finite_array(f"message: {key}", content[key], ndim=ndim)


def _no_constant(name: str) -> float:
    raise ValueError(f"message: {name} is not a finite number")
