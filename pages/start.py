"""Start: the problem in one picture and one slider, a story in six steps, worlds to open."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import collab_core as cc
from collab_core import figures
from pages.shared import pictures, state
from pages.shared.panel import ink, scenario_code, show
from pages.shared.shell import page

#: Six agents around a circle of six features; the slider is how many neighbours each sees.
WORLD = cc.Scenario(
    d=6, m=6, spectrum="ar1", correlation=0.6, missing="blocks", size=3, theta="values",
    values=(1.0, -0.6, 0.8, 0.5, -1.0, 0.7), n=50,
)  # fmt: skip
SIZES = [10, 12, 15, 20, 30, 50, 80, 120, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 100_000]


#: Where a step of the story is taken further; the Playground otherwise.
DEEPER = {
    1: "pages/error_vs_n.py",
    2: "pages/error_vs_n.py",
    4: "pages/ellipses.py",
    5: "pages/lower_bounds.py",
    6: "pages/methods.py",
}


@dataclass(frozen=True)
class Step:
    """One step of the story: two sentences, a figure, its numbers, and where to go deeper."""

    title: str
    words: str
    figure: go.Figure
    frame: pd.DataFrame
    formula: str
    code: str


def main() -> None:
    with page(start=True):
        lecture = state.lesson().lecture
        world = replace(WORLD, size=state.lesson().sees)
        problem = world.problem()
        if not lecture or state.lesson().step == 1:
            hero(world, problem)
        story(world, problem)
        if not lecture:
            gallery()


def hero(world: cc.Scenario, problem: cc.Problem) -> None:
    worth = cc.whatif.worth(problem, world.n)
    st.title("What is it worth to learn together?")
    st.markdown(
        "Several parties want to predict the same thing, but each measures only some of the "
        "features. They may not share data. **COLLAB** lets them share models instead: a server "
        "corrects each for what its owner could not see, and gives everyone a better one."
    )
    left, right = st.columns([2, 1], vertical_alignment="center")
    with right:
        state.hold("sees", state.lesson().sees)
        st.slider(
            "Features each agent sees", 1, state.MOST_SEEN, state.lesson().sees, key="sees",
            on_change=_slid,
            help="Of six. The more their views overlap, the more agents can learn from each other.",
        )  # fmt: skip
        together = worth["alone"].sum() / worth["together"].sum()
        st.metric("Working together multiplies the data by", f"{together:.1f} ×", border=True)
        st.markdown(_hero_sentence(world.size, worth))
    with left:
        st.image(
            pictures.story(problem.mask, worth["worth"].to_numpy(), ink()),
            width="stretch",
            alt="Six agents, each seeing some of six features, send their models to a server that "
            "corrects and weighs them; each gets back a model worth a multiple of its own data.",
        )


def _hero_sentence(size: int, worth: pd.DataFrame) -> str:
    if size == 1:
        return "No two agents measure the same feature: nobody can help anybody's own model."
    if size == state.MOST_SEEN:
        return "Everyone sees everything: six agents simply have six times the data."
    best = worth.loc[worth["worth"].idxmax()]
    return (
        f"Each feature is seen by {size} agents. To do as well alone, agent {best['agent']} would "
        f"need {best['worth']:.1f} times its own labelled data."
    )


def story(world: cc.Scenario, problem: cc.Problem) -> None:
    number = state.lesson().step
    step = STEPS[number - 1](world, problem)
    st.subheader(f"{number}. {step.title}", divider="gray")
    st.markdown(step.words)
    show(
        step.figure,
        key=f"step-{number}",
        alt=step.title,
        frame=step.frame,
        formula=step.formula,
        code=scenario_code(world) + "problem = scenario.problem()\n" + step.code,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Back", on_click=_go, args=(-1,), disabled=number == 1, key="back", shortcut="Left"
        )
        st.button(
            "Next", on_click=_go, args=(1,), disabled=number == len(STEPS), key="next",
            shortcut="Right", type="primary",
        )  # fmt: skip
        st.markdown(f"Step {number} of {len(STEPS)}")
        st.page_link(
            DEEPER.get(number, "pages/playground.py"),
            label="Go deeper with this world",
            query_params=world.to_query(),
        )
        st.toggle(
            "Lecture mode", value=state.lesson().lecture, key="lecture", on_change=_lecture,
            help="Larger type, no sidebar; the arrow keys turn the steps.",
        )  # fmt: skip


def _slid() -> None:
    state.change_lesson(sees=st.session_state["sees"])


def _go(by: int) -> None:
    state.change_lesson(step=min(max(state.lesson().step + by, 1), len(STEPS)))


def _lecture() -> None:
    state.change_lesson(lecture=st.session_state["lecture"])


def alone(world: cc.Scenario, problem: cc.Problem) -> Step:
    agent = int(problem.irreducible.argmax())
    frame = cc.whatif.error_lines(problem, ("local",), SIZES, target=agent)
    floor = float(problem.irreducible[agent])
    frame["error"] += floor
    text = "is what unseen features cost for ever" if floor > 1e-9 else ""
    size = int(problem.sizes[agent])
    features = f"{size} feature{'s' if size > 1 else ''}"
    return Step(
        "One agent alone",
        f"Agent {agent + 1} fits least squares on the {features} it sees. "
        + (
            "More samples help, but what it cannot see stays unexplained, and every sample it "
            "needs it must label itself."
            if floor > 1e-9
            else "It sees everything here, so only samples are scarce, and every one it needs it "
            "must label itself."
        ),
        figures.error_lines(
            frame,
            title=f"Alone, agent {agent + 1}'s error falls slowly"
            + (" to a floor" if floor > 1e-9 else ""),
            floor=(floor, f"{floor:.2g} {text}") if floor > 1e-9 else None,
        ),
        frame,
        "Expected error $s_i d_i / (n - d_i - 1)$, exact for Gaussian features, above the "
        "irreducible $\\theta_{i-}'\\Gamma_i\\theta_{i-}$.",
        f"frame = cc.whatif.error_lines(problem, ('local',), {SIZES}, target={agent})\n"
        f"frame['error'] += problem.irreducible[{agent}]\nprint(frame)\n",
    )


def naive(world: cc.Scenario, problem: cc.Problem) -> Step:
    frame = cc.whatif.error_lines(problem, ("naive_collab", "collab"), SIZES)
    floor = cc.bounds.naive_collab(problem).floor
    biased = floor > 1e-9
    return Step(
        "Averaging naively is biased, and no amount of data helps"
        if biased
        else "Averaging naively works only where nothing is missing",
        "The obvious idea is to average the agents' coefficients. But a model that misses a "
        "feature lets its neighbours stand in for it, so each model answers a different question, "
        "and the average answers none."
        if biased
        else "Everyone sees everything here, so local models all answer the same question and "
        "their average is fine. Let the agents see less, and watch it break.",
        figures.error_lines(
            frame,
            title=f"The naive average levels out at {floor:.2g}"
            if biased
            else "With nothing missing, the naive average is as good as COLLAB",
            floor=(floor, f"bias {floor:.2g}") if biased else None,
        ),
        frame,
        "$\\|\\sum_i P_i' T_i \\theta / m - \\theta\\|_\\Sigma^2$ plus a variance that vanishes.",
        f"frame = cc.whatif.error_lines(problem, ('naive_collab', 'collab'), {SIZES})\n"
        "print(frame)\n",
    )


def correction(world: cc.Scenario, problem: cc.Problem) -> Step:
    frame = cc.whatif.local_limits(problem)
    return Step(
        "T removes the bias",
        "With endless data agent i finds not its part of the truth but $T_i \\theta$: its features "
        "also carry what the unseen ones would have said. $T_i$ is known from how features vary "
        "together, so the server asks for the one $\\theta$ that explains all models at once.",
        figures.coefficients_by_agent(
            problem.theta,
            problem.embedded,
            problem.mask,
            title="Every agent is wrong in its own way; one truth explains them all"
            if problem.irreducible.max() > 1e-9
            else "With nothing missing, every agent finds the truth",
            height=380,
        ),
        frame,
        "$T_i = [I, \\; \\Sigma_{i+}^{-1} \\Sigma_{i\\pm}]\\,\\Pi_i$ and "
        "$\\hat\\theta = \\arg\\min_\\theta \\sum_i \\| T_i \\theta - \\hat\\theta_i \\|_{W_i}^2$.",
        "frame = cc.whatif.local_limits(problem)\nprint(frame)\n",
    )


def weights(world: cc.Scenario, problem: cc.Problem) -> Step:
    frame = cc.whatif.weight_shares(problem)
    equal = cc.bounds.error(problem, cc.bounds.imputation(problem))
    best = cc.bounds.error(problem, cc.bounds.gauss(problem))
    return Step(
        "Weights by residual",
        "An agent whose features leave much unexplained has a noisier model and should count for "
        f"less. Its own residual says how much, and no other weights do better: equal ones cost "
        f"{equal / best - 1:.1%} here.",
        figures.shares_by_agent(
            frame["share"],
            [
                f"Agent {i + 1} leaves {s:.3g} unexplained"
                for i, s in enumerate(problem.unexplained)
            ],
            title="Who explains more counts for more"
            if frame["share"].max() - frame["share"].min() > 1e-6
            else "All explain the same, so all count the same",
            axis="share of the weight",
        ),
        frame,
        "$W_i = \\Sigma_{i+} / R_i$, where $R_i \\to s_i = \\sigma^2 + "
        "\\theta_{i-}'\\Gamma_i\\theta_{i-}$.",
        "frame = cc.whatif.weight_shares(problem)\nprint(frame)\n",
    )


def optimum(world: cc.Scenario, problem: cc.Problem) -> Step:
    frame = cc.whatif.comparison(problem, world.n)
    found = cc.whatif.findings(problem, world.n)
    errors = frame.set_index("method")["error"]
    plus = errors["collab_plus"] / errors["collab"]
    return Step(
        "How close to the best possible?",
        "From the local coefficients alone, no method beats COLLAB. Whoever also reads the "
        f"residuals, or all the labelled data, cannot get below {1 / found.to_optimum:.0%} of its "
        f"error; COLLAB+, with the same messages and the noise unknown, gets to {plus:.0%}.",
        figures.errors_by_method(
            frame, title=f"COLLAB is within {found.to_optimum:.2f} times of the best possible"
        ),
        frame,
        "COLLAB: $\\mathrm{tr}(\\Sigma C^g)/n$. The exact bound is the inverse Fisher information "
        "of all labels; C_strong is the paper's relaxation of it.",
        f"frame = cc.whatif.comparison(problem, n={world.n})\nprint(frame)\n",
    )


def cost(world: cc.Scenario, problem: cc.Problem) -> Step:
    frame = cc.whatif.bytes_sent(problem, ("collab", "imputation"), SIZES)
    most = frame.groupby("method")["bytes"].max()
    ratio = most["imputation"] / most["collab"]
    return Step(
        "What it costs to send",
        "COLLAB sends a model, a covariance and one residual, however many samples there are. "
        "Imputation, even with the best weights, is no more accurate, and sends all the data.",
        figures.bytes_lines(
            frame, title=f"At n = {SIZES[-1]:,}, sending data costs {ratio:,.0f} times as much"
        ),
        frame,
        "$d_i + d_i(d_i+1)/2 + 1$ numbers for COLLAB, $n (d_i + 1)$ for imputation, 8 bytes each.",
        f"frame = cc.whatif.bytes_sent(problem, ('collab', 'imputation'), {SIZES})\nprint(frame)\n",
    )


STEPS: list[Callable[[cc.Scenario, cc.Problem], Step]] = [
    alone, naive, correction, weights, optimum, cost,
]  # fmt: skip


def gallery() -> None:
    st.subheader("Worlds to open", divider="gray")
    for start in range(0, len(cc.presets.PRESETS), 3):
        for column, preset in zip(
            st.columns(3), cc.presets.PRESETS[start : start + 3], strict=False
        ):
            with column, st.container(border=True, height="stretch"):
                mask = cc.views.as_mask(preset.scenario.views, preset.scenario.d)
                st.image(pictures.grid(mask), alt=f"Who sees what: {preset.title}")
                st.page_link(
                    "pages/playground.py",
                    label=f"**{preset.title}**",
                    query_params=preset.scenario.to_query(),
                )
                st.markdown(preset.line)


main()
