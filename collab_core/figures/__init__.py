"""Figures: results in, Plotly figures out. Pure functions; colours come from one palette.

Needs Plotly, which the rest of the library does not: import this module by name.

Figures are put together from plain dictionaries and not validated by Plotly at run time, because
that took most of a redraw; a test validates every one of them.
"""

from .clouds import estimate_clouds
from .errors import (
    bytes_lines,
    error_against_bytes,
    error_curve,
    error_lines,
    errors_by_method,
    rise_by_agent,
    worth_by_agent,
)
from .style import BOUND_LABELS, PALETTE, agent_names, feature_names, label, log_axis
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
    "BOUND_LABELS",
    "PALETTE",
    "agent_names",
    "bytes_lines",
    "coefficients_by_agent",
    "covariance_heatmap",
    "error_against_bytes",
    "error_curve",
    "error_lines",
    "errors_by_method",
    "estimate_clouds",
    "feature_names",
    "label",
    "log_axis",
    "matrix_with_column",
    "models_of_agent",
    "rise_by_agent",
    "shares_by_agent",
    "spectrum",
    "view_matrix",
    "worth_by_agent",
]
