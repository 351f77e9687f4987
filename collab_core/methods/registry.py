"""The methods by name: one key, one label and one sentence each, used by tables and figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """What a method is called.

    Attributes
    ----------
    key : str
        In code, frames and URLs.
    label : str
        For people.
    summary : str
        What it does, in a sentence.
    """

    key: str
    label: str
    summary: str


METHODS: dict[str, Method] = {
    method.key: method
    for method in (
        Method("collab", "COLLAB", "Local models corrected and weighted by residual."),
        Method("collab_plus", "COLLAB+", "Maximum likelihood on COLLAB's own messages."),
        Method("rw_imputation", "RW-Imputation", "All data imputed, pooled, weighted optimally."),
        Method("imputation", "Imputation", "All data imputed and pooled with equal weights."),
        Method("local_imputation", "Local imputation", "Imputed and fitted at home, aggregated."),
        Method("local", "Local OLS", "Every agent on its own data and features."),
        Method("pooled_moments", "Pooled moments", "Plain averages of x y over all agents."),
        Method("naive_collab", "Naive-Collab", "Local models averaged as they are."),
        Method(
            "optimized_naive_collab",
            "Optimized-Naive-Collab",
            "Local models averaged with weights fitted on fresh full-feature data.",
        ),
    )
}

#: COLLAB with other weights than the paper's, where features are not Gaussian.
WEIGHTINGS: dict[str, Method] = {
    method.key: method
    for method in (
        Method(
            "collab_optimal",
            "COLLAB, optimal weights",
            "Weights for the features' own law, estimated from unlabelled samples.",
        ),
        Method(
            "collab_oracle",
            "COLLAB, oracle W*",
            "The optimal weights themselves, which need the truth.",
        ),
        Method("identity", "Identity weights", "Every local coefficient counts the same."),
    )
}

#: Methods of a run that names none. Local imputation is left out: it is COLLAB by another way.
DEFAULT_METHODS = tuple(key for key in METHODS if key != "local_imputation")

#: What an agent's own model can be compared by; the optimised weights need full-feature samples.
AGENT_METHODS = tuple(key for key in METHODS if key != "optimized_naive_collab")
