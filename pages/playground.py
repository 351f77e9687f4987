"""Playground: a small world, who sees what in it, and what working together is worth."""

import streamlit as st

import collab_core as cc
from collab_core import figures
from pages.shared.shell import chart, enter

enter()

WORLD = cc.Scenario(d=8, m=6, spikes=2, rich=2, rich_size=6, size=4, seed=5)


@st.cache_data(max_entries=4)
def errors_by_method(scenario: cc.Scenario) -> dict[str, float]:
    """``tr(Sigma C)`` of every method that converges to the truth, and of the bounds."""
    problem = scenario.problem()
    covariances = {
        "imputation": cc.bounds.imputation(problem),
        "collab": cc.bounds.gauss(problem),
        "collab_plus": cc.bounds.exact(problem, noise_known=False),
        "exact": cc.bounds.exact(problem),
        "strong": cc.bounds.strong(problem),
    }
    return {key: cc.bounds.error(problem, C) for key, C in covariances.items()}


problem = WORLD.problem()
together = cc.bounds.local_errors(problem, cc.bounds.gauss(problem))
alone = problem.unexplained * problem.sizes
worth = alone / together
best = int(worth.argmax())
errors = errors_by_method(WORLD)
floor = cc.bounds.naive_collab(problem).floor

st.title("What is it worth to learn together?")
st.markdown(
    f"{problem.agents} agents measure {problem.dimension} correlated features, but each sees only "
    f"some of them. **For agent {best + 1}, working together is worth {worth[best]:.1f} times its "
    "own data**: that many more labelled samples it would need to do as well alone."
)

left, middle, right = st.columns([1, 1, 1.2])
with left:
    chart(
        figures.covariance_heatmap(problem.covariance, title="How features vary together (Σ)"),
        key="covariance",
        alt="Heatmap of the feature covariance.",
    )
with middle:
    chart(
        figures.view_matrix(problem.mask, title="Who sees what"),
        key="views",
        alt="Grid of agents by features: filled where the agent sees the feature.",
    )
with right:
    gap = errors["collab"] / errors["exact"]
    chart(
        figures.error_bars(errors, title=f"COLLAB is within {gap:.2f} times of the best"),
        key="errors",
        alt="Bars: n times prediction error of each method and bound.",
    )

st.caption(
    "A synthetic world. Error of a model for all features, times n, from the closed formulas. "
    "COLLAB+ is shown with the noise unknown, the exact bound with it known. Averaging the local "
    f"models naively is not in the figure: its error never falls below {floor:.2g}, "
    "however much data the agents collect."
)
