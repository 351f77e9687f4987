"""How covariances compare in the p.s.d. order, as a whole and in a plane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from ..._base.checks import Array
from .planes import Plane

#: Generalised eigenvalues this near to 1 are rounding, or nearer than their condition can tell.
TOLERANCE, ROUNDING = 1e-7, 1e-14


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
