"""Error vs n: the paper's synthetic experiment, live, for the world of the sidebar."""

from dataclasses import astuple, dataclass

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.simulate import DEFAULT_METHODS, ErrorCurve, Settings
from pages.shared import run
from pages.shared.panel import scenario_code, show
from pages.shared.shell import error_box, page, words

LAWS = {
    "gaussian": "Gaussian",
    "student_t(6)": "Student t, 6 degrees",
    "uniform": "Uniform",
    "rademacher": "Signs (Rademacher)",
    "exponential": "Exponential",
    "mixture": "Two clusters",
}
SIGMA = {"known": "Known", "unlabelled": "From unlabelled samples", "pooled": "Pooled from agents"}
MOST_TRIALS, MOST_RAW = 2000, 20_000


@dataclass(frozen=True)
class Choices:
    """What this page adds to the world."""

    agent: int
    methods: tuple[str, ...]
    sample_sizes: tuple[int, ...]
    trials: int
    settings: Settings


def main() -> None:
    with page() as scenario:
        words("# Error against n")
        try:
            problem = scenario.problem()
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This world cannot be simulated: {reason}.")
            return
        choices, scaled, log = controls(scenario, problem)
        if not choices.methods:
            error_box("Pick at least one method.")
            return

        def work(report: run.Report, cancel: object) -> dict[object, ErrorCurve]:
            return cc.simulate.error_curves(
                problem,
                choices.sample_sizes,
                choices.trials,
                ["full", choices.agent],
                choices.methods,
                seed=scenario.seed,
                settings=choices.settings,
                progress=report,
                cancel=cancel,
            )

        def draw(curves: dict[object, ErrorCurve], final: bool) -> None:
            show_curves(scenario, problem, choices, curves, scaled, log)

        run.panel(
            "error-vs-n",
            # Plain values: this script, and with it the class of choices, is made anew each run.
            (scenario, astuple(choices)),
            work,
            draw,
            label="Simulate",
            help="Draws the agents' data and runs every method on it.",
            auto=True,
        )


def controls(scenario: cc.Scenario, problem: cc.Problem) -> tuple[Choices, bool, bool]:
    """The page's own controls, in one row and one expander."""
    lowest = int(problem.sizes.max()) + 5
    grid = np.unique(np.geomspace(lowest, max(1000, 30 * lowest), 10).astype(int))
    first, second, third, fourth = st.columns([1, 1, 1, 1], vertical_alignment="bottom")
    with first:
        agent = st.selectbox(
            "Agent of the right figure",
            range(problem.agents),
            format_func=lambda i: f"Agent {i + 1}",
        )
    with second:
        trials = st.select_slider(
            "Trials", [1, 5, 20, 50, 100, 200, 500, 1000, MOST_TRIALS], value=20,
            help=f"1 to {MOST_TRIALS:,}. The paper's is 20.",
        )  # fmt: skip
    with third:
        scaled = st.toggle("n × error", help="Theory of a consistent method is then a flat line.")
    with fourth:
        log = st.toggle("Log axes", value=True)
    with st.expander("Methods, features, what is known"):
        left, middle, right = st.columns(3)
        with left:
            methods = st.multiselect(
                "Methods", DEFAULT_METHODS, default=DEFAULT_METHODS, format_func=figures.label
            )
        with middle:
            law = st.selectbox("Feature law", list(LAWS), format_func=LAWS.get)
            sigma = st.selectbox("How Σ is known", list(SIGMA), format_func=SIGMA.get)
            unlabelled = st.select_slider(
                "Unlabelled samples", [100, 200, 500, 1000, 2000, 5000, 10_000], value=1000,
                disabled=sigma != "unlabelled",
            )  # fmt: skip
        with right:
            weights = st.selectbox("COLLAB's weights", ["empirical", "population"])
            noise_known = st.toggle("COLLAB+ knows the noise")
            correction = st.toggle("Small-sample correction of residuals")
    if law != "gaussian":
        # Other laws are drawn sample by sample; stay within what a session can bear.
        trials = min(trials, 100)
        grid = grid[grid <= MOST_RAW]
    settings = Settings(
        features=law, sigma=sigma, unlabelled=max(unlabelled, scenario.d), weights=weights,
        correction=correction, noise_known=noise_known,
    )  # fmt: skip
    sizes = tuple(int(n) for n in grid)
    return Choices(int(agent), tuple(methods), sizes, int(trials), settings), scaled, log


def show_curves(
    scenario: cc.Scenario,
    problem: cc.Problem,
    choices: Choices,
    curves: dict[object, ErrorCurve],
    scaled: bool,
    log: bool,
) -> None:
    full, own = curves["full"], curves[choices.agent]
    words(sentence(problem, full, own, choices.agent))
    left, right = st.columns(2)
    titles = (
        "A model for all features",
        f"Agent {choices.agent + 1}'s own model, without its irreducible {own.irreducible:.3g}",
    )
    for column, key, curve, title in zip(
        (left, right), ("full", "agent"), (full, own), titles, strict=True
    ):
        with column:
            show(
                figures.error_curve(curve.frame, title=title, scaled=scaled, log=log),
                key=key,
                alt=f"{title}: simulated error of every method against n, theory as lines.",
                frame=curve.frame,
                formula=FORMULA,
                code=snippet(scenario, choices, curve),
            )


def sentence(problem: cc.Problem, full: ErrorCurve, own: ErrorCurve, agent: int) -> str:
    """The finding in words, from the curves drawn so far."""
    n = full.sample_sizes[-1]
    means = {m: by_n[n].mean() for m, by_n in full.errors.items() if n in by_n}
    local = {m: by_n[n].mean() for m, by_n in own.errors.items() if n in by_n}
    said = []
    if {"collab", "local"} <= local.keys():
        said.append(
            f"**At n = {n:,} agent {agent + 1} errs {local['local'] / local['collab']:.1f} times "
            "less together than alone.**"
        )
    if "naive_collab" in means:
        floor = cc.bounds.naive_collab(problem).floor
        said.append(
            f"The naive average levels out at {floor:.3g}, because each model is biased by what "
            "its agent does not see."
            if floor > 1e-9
            else "The naive average is unbiased here."
        )
    if {"collab", "collab_plus"} <= means.keys():
        gain = 1 - means["collab_plus"] / means["collab"]
        if abs(gain) > 0.005:
            said.append(
                f"COLLAB+ errs {abs(gain):.0%} {'less' if gain > 0 else 'more'} than COLLAB there."
            )
    trials = max((len(by_n[n]) for by_n in full.errors.values() if n in by_n), default=0)
    said.append(f"{trials} trials; bands are 95% intervals of the mean, lines are theory.")
    return " ".join(said)


def snippet(scenario: cc.Scenario, choices: Choices, curve: ErrorCurve) -> str:
    settings = choices.settings
    return (
        scenario_code(scenario)
        + "curve = cc.simulate.error_curves(\n"
        + f"    scenario.problem(), {list(choices.sample_sizes)}, {choices.trials},\n"
        + f"    ['full', {choices.agent}], {list(choices.methods)}, seed=scenario.seed,\n"
        + f"    settings=cc.simulate.{settings!r},\n"
        + f")[{curve.target!r}]\n"
        + "frame = curve.frame\nprint(frame)\n"
    )


FORMULA = """
Markers are means over simulated trials: the agents' moments are drawn from their exact law (Wishart
by Bartlett's decomposition for Gaussian features), so the cost does not grow with $n$. Errors are
$\\|\\hat\\theta - \\theta\\|_\\Sigma^2$ and, for agent $i$,
$\\|\\hat\\theta_i - T_i\\theta\\|_{\\Sigma_{i+}}^2$.
Lines are theory: $\\mathrm{tr}(\\Sigma C)/n$ with each method's covariance, exact at every $n$ for
local least squares, the naive average and pooled moments.
"""

main()
