"""Bounds seen in one direction: a coefficient, a principal direction, an agent's own model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .._base.checks import Array, choice, covariance_matrix, finite_array, whole
from ..core.geometry import Geometry
from ..core.problem import Problem
from . import covariances as bounds

#: What bounds can be compared in.
DIRECTIONS = ("all", "coefficient", "principal", "agent")


def direction_rows(
    covariance: ArrayLike, kind: str, number: int = 0, view: ArrayLike | None = None
) -> Array | None:
    """Rows T of what is compared, as ``T C T'``.

    Parameters
    ----------
    covariance : array, shape (d, d)
    kind : str
        One of `DIRECTIONS`.
    number : int
        Of the coefficient, or of the principal direction counted from the strongest; from 0.
    view : array of int
        What the agent sees, for its own model.

    Returns
    -------
    array, shape (k, d), or None for all directions
        A unit row, or the agent's ``T_i``.
    """
    choice("kind", kind, DIRECTIONS)
    matrix = covariance_matrix(finite_array("covariance", covariance, ndim=2))
    d = len(matrix)
    if kind == "all":
        return None
    if kind == "agent":
        seen = np.asarray([] if view is None else view, dtype=np.intp)
        if not seen.size:
            raise ValueError("view must have a feature: an agent that sees nothing has no model")
        # A geometry is of agents who together see everything.
        return Geometry(matrix, [seen, np.arange(d)]).transform(0)
    row = whole("number", number, low=0, high=d - 1)
    if kind == "coefficient":
        return np.eye(1, d, row)
    return np.linalg.eigh(matrix)[1][:, ::-1].T[[row]]


def quadratic_form(problem: Problem, kind: str = "all", number: int = 0) -> Array:
    """S of the error ``tr(S C)``: prediction's, an agent's, or the variance in one direction.

    Parameters
    ----------
    kind : str
        One of `DIRECTIONS`.
    number : int
        Of the coefficient, principal direction or agent, from 0.

    Returns
    -------
    array, shape (d, d), or (d_i, d_i) for an agent
    """
    if kind == "agent":
        return problem.geometry.block(number)
    rows = direction_rows(problem.covariance, kind, number)
    return problem.covariance if rows is None else rows.T @ rows


def gap(problem: Problem, kind: str = "all", number: int = 0) -> pd.DataFrame:
    """What lies between C_gauss and C_strong: the errors ``tr(S C)`` of the bounds.

    Parameters as in `quadratic_form`.

    Returns
    -------
    DataFrame
        ``method`` and ``error``: of ``collab`` (C_gauss), ``collab_plus`` (C_exact with the noise
        unknown), ``exact`` (known) and ``strong`` (the paper's C_strong).
    """
    form = quadratic_form(problem, kind, number)
    found = {
        "collab": bounds.gauss(problem),
        "collab_plus": bounds.exact(problem, noise_known=False),
        "exact": bounds.exact(problem),
        "strong": bounds.strong(problem),
    }
    if kind == "agent":
        found = {key: bounds.local(problem, C, number) for key, C in found.items()}
    return pd.DataFrame(
        {"method": list(found), "error": [float((form * C).sum()) for C in found.values()]}
    )


def chain(problem: Problem) -> pd.DataFrame:
    """`chain_ratios` as a table, a row a direction: ``gauss``, ``middle``, ``strong``."""
    return pd.DataFrame(bounds.chain_ratios(problem).T, columns=["gauss", "middle", "strong"])
