"""Figures: results in, Plotly figures out. Pure functions; colours come from one palette.

Needs Plotly, which the rest of the library does not: import this module by name.

Figures are put together from plain dictionaries and not validated by Plotly at run time, because
that took most of a redraw; a test validates every one of them.
"""

from .bounds import chain, loss_along, ratio_against_p, threshold_map
from .census import coefficient_intervals, errors_on_people, falls_by_question, states_measured
from .clouds import estimate_clouds
from .curves import bytes_lines, error_curve, error_lines
from .different import belonging, coefficient_spread, errors_apart, forest
from .disturbed import advantage
from .ellipses import ellipse_matrix, ellipses, intervals, played_ellipses
from .errors import error_against_bytes, errors_by_method, rise_by_agent, worth_by_agent
from .gaussian_cost import loss_heatmap, losses_by_law
from .plans import budget, fair_shares, feature_gains, plan, rises, samples_needed
from .probabilities import measure_curve, reliability
from .style import PALETTE, agent_names, feature_names, label, log_axis, plain
from .tables import (
    held_out_errors,
    model_coefficients,
    normal_quantiles,
    residuals,
    who_sees_what,
)
from .unlabelled import unlabelled_errors
from .weightings import beyond_axis, relative_errors, weighting_errors
from .world import (
    coefficients_by_agent,
    covariance_heatmap,
    matrix_with_column,
    models_of_agent,
    shares_by_agent,
    spectrum,
    view_matrix,
)

__all__ = [
    "PALETTE",
    "advantage",
    "agent_names",
    "belonging",
    "beyond_axis",
    "budget",
    "bytes_lines",
    "chain",
    "coefficient_intervals",
    "coefficient_spread",
    "coefficients_by_agent",
    "covariance_heatmap",
    "ellipse_matrix",
    "ellipses",
    "error_against_bytes",
    "error_curve",
    "error_lines",
    "errors_apart",
    "errors_by_method",
    "errors_on_people",
    "estimate_clouds",
    "fair_shares",
    "falls_by_question",
    "feature_gains",
    "feature_names",
    "forest",
    "held_out_errors",
    "intervals",
    "label",
    "log_axis",
    "loss_along",
    "loss_heatmap",
    "losses_by_law",
    "matrix_with_column",
    "measure_curve",
    "model_coefficients",
    "models_of_agent",
    "normal_quantiles",
    "plain",
    "plan",
    "played_ellipses",
    "ratio_against_p",
    "relative_errors",
    "reliability",
    "residuals",
    "rise_by_agent",
    "rises",
    "samples_needed",
    "shares_by_agent",
    "spectrum",
    "states_measured",
    "threshold_map",
    "unlabelled_errors",
    "view_matrix",
    "weighting_errors",
    "who_sees_what",
    "worth_by_agent",
]
