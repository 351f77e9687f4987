"""Playground: pick a world, and see at once who gains what from working together."""

from threading import Event

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.tabular.export import safe_csv
from collab_core.world.scenario import MOST_AGENTS
from pages.shared import run, state
from pages.shared.panel import columns, scenario_code, show, wanted
from pages.shared.say import error_box, words
from pages.shared.shell import page

#: A worth below this is no gain, whatever rounding says.
GAIN = 1.005

SIMULATED = ("naive_collab", "imputation", "collab", "collab_plus")
TRIALS = 400


@st.cache_data(max_entries=64, show_spinner=False)
def answers(scenario: cc.Scenario) -> tuple[pd.DataFrame, pd.DataFrame, cc.whatif.Findings]:
    """Everything that is said about a world in which every feature is seen."""
    problem = scenario.problem()
    return (
        cc.whatif.worth(problem, scenario.n),
        cc.whatif.comparison(problem, scenario.n),
        cc.whatif.findings(problem, scenario.n),
    )


def main() -> None:
    with page() as scenario:
        words("# Playground")
        try:
            seen_by_nobody = scenario.unseen
            if seen_by_nobody.size:
                not_identifiable(scenario, seen_by_nobody)
            else:
                identifiable(scenario)
        except (ValueError, ArithmeticError) as problem:
            error_box(f"This world cannot be built: {problem}.")


def identifiable(scenario: cc.Scenario) -> None:
    worth, comparison, found = answers(scenario)
    words(sentences(scenario, found))
    warn_of_few_samples(scenario, found)
    code = scenario_code(scenario) + "problem = scenario.problem()\n"
    left, right = columns("worth", "methods", sizes=[1.25, 1])
    with left:
        worth_figure(scenario, worth, found, code)
    with right:
        show(
            figures.errors_by_method(
                comparison,
                title=f"COLLAB is within {found.to_optimum:.2f} times of the best possible",
            ),
            key="methods",
            alt="Expected error of a full-feature model by method and bound, on a log axis.",
            frame=comparison,
            formula=METHODS_FORMULA,
            code=code + "frame = cc.whatif.comparison(problem, n=scenario.n)\nprint(frame)\n",
        )
    world_figures(scenario)
    if wanted("methods"):
        with st.expander("Check it by simulation"):
            simulation(scenario, comparison)


def not_identifiable(scenario: cc.Scenario, unseen: np.ndarray) -> None:
    names = ", ".join(f"x{j + 1}" for j in unseen[:6])
    names += f" and {unseen.size - 6} more" if unseen.size > 6 else ""
    some_see = any(view.size for view in scenario.views)
    error_box(
        f"Nobody sees {names}: no method can tell {'their' if unseen.size > 1 else 'its'} "
        f"coefficient{'s' if unseen.size > 1 else ''}, so a full-feature model cannot be had. "
        + ("Every agent's own model still can." if some_see else "Here no agent sees anything.")
    )
    st.button("Add an agent that sees what is missing", on_click=add_agent, type="primary")
    if some_see:
        problem, _ = cc.Problem.of_seen(
            scenario.covariance, scenario.coefficients, scenario.sigma, scenario.views,
            scenario.shares,
        )  # fmt: skip
        worth = cc.whatif.worth(problem, scenario.n)
        # Names count the features of the whole world, not of the part that is seen.
        worth["sees"] = [" ".join(f"x{j + 1}" for j in np.sort(view)) for view in scenario.views]
        found = cc.whatif.findings(problem, scenario.n)
        code = scenario_code(scenario) + (
            "problem, seen = cc.Problem.of_seen(\n"
            "    scenario.covariance, scenario.coefficients, scenario.sigma, scenario.views,\n"
            "    scenario.shares,\n)\n"
        )
        warn_of_few_samples(scenario, found)
        worth_figure(scenario, worth, found, code)
    world_figures(scenario)


def warn_of_few_samples(scenario: cc.Scenario, found: cc.whatif.Findings) -> None:
    """The formulas are for large n; say so where an agent cannot even fit."""
    if scenario.n < found.smallest_n:
        st.warning(
            f"At n = {scenario.n:,} some agent has too few samples for its features, and errors "
            f"have no finite mean. The numbers below are what large-n formulas give; take n of "
            f"{found.smallest_n:,} or more (better several times that) for them to hold."
        )


def worth_figure(
    scenario: cc.Scenario, worth: pd.DataFrame, found: cc.whatif.Findings, code: str
) -> None:
    agent, most = found.gains_most
    title = f"Agent {agent} gains most: worth {most:.1f} × its data"
    if most < GAIN:
        title = "Alone or together, every agent's own error is the same"
    show(
        figures.worth_by_agent(worth, title=title),
        key="worth",
        alt="Expected error of every agent alone and together, largest gain first.",
        frame=worth,
        formula=WORTH_FORMULA,
        code=code + "frame = cc.whatif.worth(problem, n=scenario.n)\nprint(frame)\n",
    )


def world_figures(scenario: cc.Scenario) -> None:
    """Sigma, its eigenvalues, and the views that a click changes."""
    left, middle, right = columns("views", "covariance", "spectrum", sizes=[1, 1, 1])
    code = scenario_code(scenario)
    with left:
        mask = cc.views.as_mask(scenario.views, scenario.d)
        long = pd.DataFrame(
            {
                "agent": np.repeat(np.arange(1, scenario.m + 1), scenario.d),
                "feature": np.tile(np.arange(1, scenario.d + 1), scenario.m),
                "sees": mask.ravel(),
            }
        )
        clicked = show(
            figures.view_matrix(mask, title="Who sees what (click to change)"),
            key="views",
            alt="Grid of agents by features: filled where the agent sees the feature.",
            frame=long,
            formula="A filled square in row $i$, column $j$: $j \\in o_i$, the view of agent $i$.",
            code=code + "frame = cc.views.as_mask(scenario.views, scenario.d)\nprint(frame)\n",
            clickable=f"views-{st.session_state.get('clicks', 0)}",
        )
        if clicked:
            toggle(scenario, mask, [point["point_index"] for point in clicked])
        if wanted("views") and not state.lesson().lecture:
            edit_as_grid(scenario, mask)
    with middle:
        show(
            figures.covariance_heatmap(scenario.covariance, title="How features vary together (Σ)"),
            key="covariance",
            alt="Heatmap of the feature covariance.",
            frame=pd.DataFrame(scenario.covariance, columns=figures.feature_names(scenario.d)),
            formula="$\\Sigma_{jk} = \\mathrm{Cov}(x_j, x_k)$, from the spectrum and the seed.",
            code=code + "frame = scenario.covariance\nprint(frame)\n",
        )
    with right:
        eigenvalues = np.linalg.eigvalsh(scenario.covariance)[::-1]
        condition = eigenvalues[0] / eigenvalues[-1]
        show(
            figures.spectrum(eigenvalues, title=f"Eigenvalues of Σ, condition {condition:,.3g}"),
            key="spectrum",
            alt="Eigenvalues of the covariance from the largest to the smallest.",
            frame=pd.DataFrame({"eigenvalue": eigenvalues}),
            formula="$\\Sigma = W \\Lambda W'$ and $\\kappa = \\lambda_1 / \\lambda_d$.",
            code=code
            + "import numpy as np\n\n"
            + "frame = np.linalg.eigvalsh(scenario.covariance)[::-1]\nprint(frame)\n",
        )


def toggle(scenario: cc.Scenario, mask: np.ndarray, squares: list[int]) -> None:
    mask.flat[squares] = ~mask.flat[squares]
    state.replace_scenario(scenario.with_views(mask))
    # A new key forgets the selection, so that the same square can be clicked again.
    st.session_state["clicks"] = st.session_state.get("clicks", 0) + 1
    st.rerun()


def edit_as_grid(scenario: cc.Scenario, mask: np.ndarray) -> None:
    """The same by keyboard; made only when asked for, since a grid costs as much as a figure."""
    if not st.toggle("Change it as a grid", key="as-grid"):
        return
    table = pd.DataFrame(
        mask, index=figures.agent_names(scenario.m), columns=figures.feature_names(scenario.d)
    )
    edited = st.data_editor(
        table, key=f"grid-{hash(mask.tobytes())}", height=240, alt="Who sees what, editable."
    )
    changed = edited.to_numpy(dtype=bool)
    if (changed != mask).any():
        state.replace_scenario(scenario.with_views(changed))
        st.rerun()


def add_agent() -> None:
    """One more agent, who sees what nobody does and a neighbour to relate it to."""
    scenario = state.scenario()
    mask = cc.views.as_mask(scenario.views, scenario.d)
    new = np.zeros(scenario.d, dtype=bool)
    new[scenario.unseen] = True
    new[(scenario.unseen[0] + 1) % scenario.d] = True
    most = MOST_AGENTS
    rows = np.vstack([mask, new]) if scenario.m < most else np.vstack([mask[:-1], mask[-1] | new])
    state.replace_scenario(scenario.with_views(rows))


def simulation(scenario: cc.Scenario, comparison: pd.DataFrame) -> None:
    problem = scenario.problem()

    def work(report: run.Report, cancel: Event) -> cc.simulate.ErrorCurve:
        return cc.simulate.error_curve(
            problem, [scenario.n], TRIALS, SIMULATED, seed=scenario.seed, progress=report,
            cancel=cancel,
        )  # fmt: skip

    def draw(curve: cc.simulate.ErrorCurve, final: bool) -> None:
        frame = curve.frame
        trials = int(frame["trials"].max())
        drawn = figures.errors_by_method(
            comparison, title=f"Theory, and {trials} simulated trials at n = {scenario.n:,}",
            simulated=frame,
        )  # fmt: skip
        st.plotly_chart(drawn, key=f"chart-simulated-{trials}", alt="Theory and simulation.")
        empty = [figures.label(key) for key in frame["method"][frame["mean"].isna()]]
        if empty and trials:
            st.caption(
                f"{', '.join(empty)} cannot be computed at n = {scenario.n:,}: the agents with "
                "more samples than features do not cover every feature; elsewhere least squares "
                "interpolates."
            )
        elif frame["note"].any():
            st.caption("Agents with no more samples than features were left out of the aggregate.")
        if final:
            st.download_button(
                "Data", lambda: safe_csv(frame), "collab-simulated.csv", "text/csv",
                key="data-simulated", on_click="ignore", type="tertiary",
            )  # fmt: skip

    run.panel(
        "playground",
        scenario,
        work,
        draw,
        label=f"Simulate {TRIALS} trials",
        help="Draws the agents' data, runs every method on it and compares with the formulas.",
    )


def sentences(scenario: cc.Scenario, found: cc.whatif.Findings) -> str:
    """The findings in words, with today's numbers in them."""
    most, least, scarcest = found.gains_most, found.gains_least, found.scarcest
    gain = (
        f"**Agent {most[0]} gains most: working together is worth {most[1]:.1f} times its data.**"
    )
    if most[1] < GAIN:
        gain = "**Nobody gains for its own model here: no agent can learn from another.**"
    elif scenario.m > 1 and most[1] / least[1] > 1.05:
        gain += f" Agent {least[0]} gains least, {least[1]:.1f} times."
    rarest = (
        f" The scarcest feature is x{scarcest[0]}, seen by {scarcest[1]} of {scenario.m} agents."
        if scarcest[1] < scenario.m
        else " Everybody sees everything."
    )
    naive = " Averaging the local models is unbiased here."
    if found.naive_floor > 1e-9:
        start = max(found.smallest_n, int(np.ceil(found.naive_crossing)))
        naive = (
            f" Averaging the local models naively never gets below an error of"
            f" {found.naive_floor:.3g}; by the large-n formulas COLLAB is ahead of it from about"
            f" n = {start:,} on."
        )
    return gain + rarest + naive


WORTH_FORMULA = """
Agent $i$ alone, with $n$ labelled samples, has expected error about $s_i d_i / n$, where
$s_i = \\sigma^2 + \\theta_{i-}'\\Gamma_i\\theta_{i-}$ is the variance it cannot explain.
Together it is $\\mathrm{tr}(\\Sigma_{i+} T_i C^g T_i') / n$. Their ratio is what working together
is worth: by so much the agent would have to multiply its own data to do as well alone.
"""

METHODS_FORMULA = """
Expected error is $\\mathrm{tr}(\\Sigma C)/n$ (leading order) with

- COLLAB: $C^g = (\\sum_i T_i' W_i T_i)^{-1}$, $W_i = \\Sigma_{i+}/s_i$;
- Imputation with equal weights: $C(\\Sigma_{1+}, \\ldots, \\Sigma_{m+})$;
- COLLAB+: the inverse of $\\sum_i T_i' \\Sigma_{i+} T_i / s_i + 2 v_i v_i' / s_i^2$ after
  eliminating $\\sigma^2$; the exact bound is the same with $\\sigma$ known;
- C_strong: $(\\sum_i 2\\Sigma/s_i)^{-1}$, the paper's bound;
- Naive-Collab: its bias $\\|\\sum_i P_i'T_i\\theta/m - \\theta\\|_\\Sigma^2$, plus variance.
"""

main()
