"""Plans in closed form: who helps whom, fair shares, what to measure next, where to spend samples.

Everything is about agents' own models: agent i's error at sample size n is
``tr(Sigma_i+ T_i C_gauss T_i') / n`` plus what it can never explain. In the dual form that is
``tr(S_i inv(K)[o_i, o_i]) / n`` with ``S_i = inv(Sigma_i+)``, so every change of the consortium is
a change of K by one small matrix.
"""

from .consortium import Consortium, rises_by_agent, who_helps_whom, with_names
from .features import Groups, feature_groups, next_features, plan_features, with_feature
from .finite import finite_errors
from .samples import equal_shares, samples_needed, spend_samples, usual_error
from .shares import LARGEST_EXACT, Shares, shapley

__all__ = [
    "LARGEST_EXACT",
    "Consortium",
    "Groups",
    "Shares",
    "equal_shares",
    "feature_groups",
    "finite_errors",
    "next_features",
    "plan_features",
    "rises_by_agent",
    "samples_needed",
    "shapley",
    "spend_samples",
    "usual_error",
    "who_helps_whom",
    "with_feature",
    "with_names",
]
