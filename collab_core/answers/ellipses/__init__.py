"""Confidence ellipses: covariances seen in a plane, and how they are ordered.

A plane is a pair of directions u, v: what is drawn are ``(u'theta_hat, v'theta_hat)``, whose
covariance at sample size n is ``B C B' / n`` with rows u and v in B.
"""

from .orders import Order, comparisons, order
from .pictures import OVER, neighbours, pair_pictures, picture, played
from .planes import Plane, coordinates, most_different, own_directions, principal
from .sizes import (
    areas,
    coverage_in_plane,
    half_widths,
    inside,
    interval_reach,
    measures,
    outline,
    radius,
)
from .targets import WORST_FIRST, covariances, most_biased, naive_centre, only, truth

__all__ = [
    "OVER",
    "WORST_FIRST",
    "Order",
    "Plane",
    "areas",
    "comparisons",
    "coordinates",
    "covariances",
    "coverage_in_plane",
    "half_widths",
    "inside",
    "interval_reach",
    "measures",
    "most_biased",
    "most_different",
    "naive_centre",
    "neighbours",
    "only",
    "order",
    "outline",
    "own_directions",
    "pair_pictures",
    "picture",
    "played",
    "principal",
    "radius",
    "truth",
]
