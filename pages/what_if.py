"""What if: who helps whom, what to measure next, how many samples; answers from closed formulas."""

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures, planning
from pages.shared import options
from pages.shared.panel import columns, scenario_code, show
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page, problem_of

PARTS = {"helps": "Who helps whom", "measure": "What to measure", "samples": "How many samples"}
ORDERS = 200
ADDITIONS = (1, 2, 3, 5, 8, 12)
EXTRA = (100, 300, 1000, 3000, 10_000, 100_000)


def main() -> None:
    with page() as scenario:
        part = heading("What if", PARTS)
        problem = problem_of(scenario)
        if problem is None:
            return
        try:
            {"helps": helps, "measure": measure, "samples": samples}[part](scenario, problem)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")


def base_code(scenario: cc.Scenario) -> str:
    return scenario_code(scenario) + "problem = scenario.problem()\n"


# Who helps whom ----------------------------------------------------------------------------------


@st.cache_data(max_entries=32, show_spinner=False)
def helping(scenario: cc.Scenario) -> tuple[np.ndarray, planning.Shares]:
    problem = scenario.problem()
    return (
        planning.who_helps_whom(problem, scenario.n),
        planning.shapley(problem, scenario.n, orders=ORDERS, seed=scenario.seed),
    )


def helps(scenario: cc.Scenario, problem: cc.Problem) -> None:
    matrix, shares = helping(scenario)
    words(helps_in_words(matrix, shares, problem))
    if problem.agents == 1:
        return
    left, right = columns("helps", "shares", sizes=[1.1, 1])
    agents = range(1, problem.agents + 1)
    with left:
        long = pd.DataFrame(matrix, index=agents, columns=[f"without {i}" for i in agents])
        show(
            figures.rises(matrix, title="Whose error rises when an agent leaves"),
            key="helps",
            alt="Heatmap of how much each agent's error rises when each other agent leaves.",
            frame=long.reset_index(names="agent"),
            formula=HELPS_FORMULA,
            code=base_code(scenario)
            + "frame = cc.planning.who_helps_whom(problem, scenario.n)\nprint(frame)\n",
        )
    with right:
        frame = pd.DataFrame({"agent": agents, "share": shares.values, "error": shares.errors})
        show(
            figures.fair_shares(
                shares.values, shares.errors, title="What each agent brings, by fair share"
            ),
            key="shares",
            alt="Each agent's Shapley value of the error that working together saves.",
            frame=frame,
            formula=SHARES_FORMULA,
            code=base_code(scenario)
            + "shares = cc.planning.shapley(\n"
            + f"    problem, scenario.n, orders={ORDERS}, seed=scenario.seed\n)\n"
            + "frame = shares.values\nprint(frame)\n",
        )
    if not shares.exact:
        words(
            f"With more than {planning.LARGEST_EXACT} agents, shares are averages over {ORDERS} "
            "random orders of arrival; bars are their 95% error."
        )


def helps_in_words(matrix: np.ndarray, shares: planning.Shares, problem: cc.Problem) -> str:
    if problem.agents == 1:
        return "**There is only one agent: nobody to help or to be helped.**"
    others = matrix.copy()
    np.fill_diagonal(others, 0.0)
    if others.max() < 5e-4:
        return "**Nobody would notice if anybody left:** no agent learns from another here."
    hurt, leaver = np.unravel_index(others.argmax(), others.shape)
    most = int(shares.values.argmax())
    part = shares.values[most] / shares.total if shares.total > 0 else 0.0
    return (
        f"**Agent {hurt + 1} leans most on agent {leaver + 1}: without it, its error rises by "
        f"{others[hurt, leaver]:.1%}.** By fair share agent {most + 1} brings most, {part:.1%} of "
        f"all that working together saves."
    )


# What to measure ---------------------------------------------------------------------------------


@st.cache_data(max_entries=32, show_spinner=False)
def gains(scenario: cc.Scenario) -> pd.DataFrame:
    return planning.next_features(scenario.problem(), scenario.n)


@st.cache_data(max_entries=32, show_spinner=False)
def planned(scenario: cc.Scenario, additions: int, goal: str | int) -> pd.DataFrame:
    return planning.plan_features(scenario.problem(), scenario.n, additions, goal)


def measure(scenario: cc.Scenario, problem: cc.Problem) -> None:
    frame = gains(scenario)
    if frame.empty:
        words("**Everybody sees everything: there is nothing more to measure.**")
        return
    left, right = st.columns(2)
    with left:
        whose = options.pick(
            "whose", "Gain of", ("everybody", "own"), "everybody", widget=st.segmented_control,
            words={"everybody": "everybody", "own": "the agent itself"}.get,
        )  # fmt: skip
    with right:
        additions = options.pick(
            "additions", "Features to plan", ADDITIONS, 5, widget=st.select_slider
        )
    best = frame.sort_values(whose, ascending=False).head(5)
    words(measure_in_words(best, whose))
    first, second = columns("measure", "plan", sizes=[1.2, 1])
    with first:
        show(
            figures.feature_gains(
                frame, f"{whose}_share", problem.agents, problem.dimension,
                title="How far errors fall if an agent saw one more feature",
            ),
            key="measure",
            alt="Heatmap of agents by features: what seeing one more gains.",
            frame=frame,
            formula=MEASURE_FORMULA,
            code=base_code(scenario)
            + "frame = cc.planning.next_features(problem, scenario.n)\nprint(frame)\n",
        )  # fmt: skip
    with second:
        plan = planned(scenario, additions, "everybody")
        steps = [
            "now" if row.step == 0 else f"agent {row.agent} sees x{row.feature}"
            for row in plan.itertuples()
        ]
        fall = 1 - plan["error"].iloc[-1] / plan["error"].iloc[0]
        show(
            figures.plan(
                plan, steps, title=f"{len(plan) - 1} additions: all errors fall by {fall:.1%}"
            ),
            key="plan",
            alt="The sum of all agents' errors after each addition of a greedy plan.",
            frame=plan.assign(adds=steps),
            formula=PLAN_FORMULA,
            code=base_code(scenario)
            + f"frame = cc.planning.plan_features(problem, scenario.n, {additions})\n"
            + "print(frame)\n",
        )
    words("**The plan:** " + ", then ".join(steps[1:]) + ".")


def measure_in_words(best: pd.DataFrame, whose: str) -> str:
    top = best.iloc[0]
    whom = "everybody's errors together fall" if whose == "everybody" else "its own error falls"
    listed = "; ".join(
        f"agent {int(row.agent)} sees x{int(row.feature)} ({getattr(row, f'{whose}_share'):.1%})"
        for row in best.itertuples()
    )
    if top[whose] <= 0:
        return "**No single feature would help anybody measurably.**"
    return (
        f"**Measure next: agent {int(top['agent'])} should see x{int(top['feature'])}; {whom} by "
        f"{top[f'{whose}_share']:.1%}.** The best five: {listed}."
    )


# How many samples --------------------------------------------------------------------------------


def samples(scenario: cc.Scenario, problem: cc.Problem) -> None:
    now = float(np.median(planning.Consortium(problem, scenario.n).alone[problem.sizes > 0]))
    left, right = st.columns(2)
    wishes = [float(f"{now * factor:.2g}") for factor in (2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)]
    wishes = sorted(set(wishes), reverse=True)
    with left:
        wanted = options.pick(
            "error", "Wanted error, beyond what an agent can never explain", wishes,
            wishes[min(3, len(wishes) - 1)], widget=st.select_slider, words=lambda v: f"{v:g}",
        )  # fmt: skip
    with right:
        extra = options.pick(
            "extra", "Extra labelled samples to spend", EXTRA, 1000, widget=st.select_slider,
            words=lambda v: f"{v:,}",
        )  # fmt: skip
    needed = planning.samples_needed(problem, wanted)
    spent = planning.spend_samples(problem, scenario.n, extra, steps=20)
    words(samples_in_words(needed, spent, wanted, extra))
    if (needed["together"] < problem.sizes + 2).any():
        st.caption(
            "Some agents would need fewer samples together than they have features: there the "
            "formulas, which are for large n, promise too much."
        )
    first, second = columns("needed", "budget", sizes=[1, 1])
    with first:
        show(
            figures.samples_needed(needed, title=f"Samples for an error of {wanted:g}"),
            key="needed",
            alt="Labelled samples every agent needs for the wanted error, alone and together.",
            frame=needed,
            formula=SAMPLES_FORMULA,
            code=base_code(scenario)
            + f"frame = cc.planning.samples_needed(problem, {wanted})\nprint(frame)\n",
        )
    with second:
        show(
            figures.budget(spent, title=f"Where {extra:,} more samples help most"),
            key="budget",
            alt="Fall of all agents' errors in sum if the extra samples went to one agent.",
            frame=spent,
            formula=BUDGET_FORMULA,
            code=base_code(scenario)
            + f"frame = cc.planning.spend_samples(problem, scenario.n, {extra}, steps=20)\n"
            + "print(frame)\n",
        )


def samples_in_words(needed: pd.DataFrame, spent: pd.DataFrame, wanted: float, extra: int) -> str:
    seeing = needed[needed["alone"] > 0]
    most = seeing.loc[seeing["saved"].idxmax()]
    given = spent[spent["given"] > 0].sort_values("given", ascending=False).head(3)
    plan = ", ".join(f"{row.given:,.0f} to agent {row.agent}" for row in given.itertuples())
    return (
        f"**For an error of {wanted:g} agent {int(most['agent'])} needs {most['alone']:,.0f} "
        f"samples alone and {most['together']:,.0f} together.** {extra:,} more samples are best "
        f"spent so: {plan}{' and others' if (spent['given'] > 0).sum() > 3 else ''}."
    )


HELPS_FORMULA = """
Row $i$, column $j$: agent $i$'s error $\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/n$ without agent $j$
over that with all, less 1. In the dual form leaving takes $P_j'\\Sigma_{j+}^{-1}P_j/s_j$ out of
$K$. The diagonal (an agent that leaves is alone) is in the data, not in the picture.
"""

SHARES_FORMULA = """
A coalition is worth what its members save together: the sum over them of $s_id_i/n$ alone less
their error in the coalition. The Shapley value is what an agent adds, averaged over all orders in
which agents could arrive; values add up to the whole gain.
"""

MEASURE_FORMULA = """
The fall of $\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/n + \\theta_{i-}'\\Gamma_i\\theta_{i-}$ when one
feature is added to one view: for the agent itself (what it could never explain shrinks too), or
summed over all agents.
"""

PLAN_FORMULA = """
Greedy: each time the one addition that lowers the sum of all agents' errors most, then again. The
error is what more data can remove plus what each agent can never explain.
"""

SAMPLES_FORMULA = """
Alone $N = d_i + 1 + s_id_i/\\varepsilon$, exact for Gaussian features; together
$N = \\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/\\varepsilon$, leading order, when all agents' samples
grow in proportion.
"""

BUDGET_FORMULA = """
The fall of the sum of all agents' errors if all extra samples went to one agent. The plan gives
them in 20 equal portions, each where it helps most then.
"""

main()
