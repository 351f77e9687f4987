"""Error vs n: the paper's synthetic experiment, live, for the world of the sidebar."""

from dataclasses import astuple, dataclass
from threading import Event

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.methods.registry import DEFAULT_METHODS
from collab_core.runs.simulate import ErrorCurve, Sample
from collab_core.runs.trials import Settings
from pages.shared import options, run
from pages.shared.panel import columns, scenario_code, show
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page, problem_of

LAWS = {
    "gaussian": "Gaussian",
    "student_t(6)": "Student t, 6 degrees",
    "uniform": "Uniform",
    "rademacher": "Signs (Rademacher)",
    "exponential": "Exponential",
    "mixture": "Two clusters",
}
SIGMA = {"known": "Known", "unlabelled": "From unlabelled samples", "pooled": "Pooled from agents"}
WEIGHTS = {"empirical": "Empirical (Algorithm 1)", "population": "Population"}
PARTS = {"curves": "Error against n", "cloud": "Watch estimates gather"}
TRIALS = (1, 5, 20, 50, 100, 200, 500, 1000, 2000)
#: Other laws than Gaussian are drawn sample by sample: what a session can bear.
MOST_RAW, MOST_RAW_TRIALS = 20_000, 100
CLOUD = ("local", "imputation", "naive_collab", "collab", "collab_plus", "pooled_moments")
CLOUD_TRIALS = 80


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
        part = heading("Error against n", PARTS)
        problem = problem_of(scenario)
        if problem is None:
            return
        if part == "curves":
            curves(scenario, problem)
        else:
            clouds(scenario, problem)


# Curves ------------------------------------------------------------------------------------------


def curves(scenario: cc.Scenario, problem: cc.Problem) -> None:
    choices, scaled, log = controls(scenario, problem)
    if not choices.methods:
        error_box("Pick at least one method.")
        return

    def work(report: run.Report, cancel: Event) -> dict[object, ErrorCurve]:
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

    def draw(found: dict[object, ErrorCurve], final: bool) -> None:
        show_curves(scenario, problem, choices, found, scaled, log)

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
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    with first:
        agent = pick_agent(problem, "Agent of the right figure")
    with second:
        trials = options.pick("trials", "Trials", TRIALS, 20, widget=st.select_slider,
                              help=f"1 to {TRIALS[-1]:,}. The paper's is 20.")  # fmt: skip
    with third:
        scaled = options.switch(
            "scaled", "n × error", help="Theory of a consistent method is then a flat line."
        )
    with fourth:
        log = options.switch("log", "Log axes", True)
    with st.expander("Methods, grid of n, features, what is known"):
        left, middle, right = st.columns(3)
        with left:
            methods = options.several(
                "methods", "Methods", DEFAULT_METHODS, DEFAULT_METHODS, words=figures.label
            )
        with middle:
            sizes = pick_grid(problem)
            law = options.pick("law", "Feature law", list(LAWS), "gaussian", words=LAWS.get)
        with right:
            sigma = options.pick("known", "How Σ is known", list(SIGMA), "known", words=SIGMA.get)
            unlabelled = options.pick(
                "unlabelled", "Unlabelled samples", (100, 200, 500, 1000, 2000, 5000, 10_000), 1000,
                widget=st.select_slider, disabled=sigma != "unlabelled",
            )  # fmt: skip
            weights = options.pick(
                "weights", "COLLAB's weights", list(WEIGHTS), "empirical", words=WEIGHTS.get
            )
            noise_known = options.switch("noise", "COLLAB+ knows the noise")
            correction = options.switch("corrected", "Small-sample correction of residuals")
    if law != "gaussian":
        trials = min(trials, MOST_RAW_TRIALS)
        sizes = tuple(n for n in sizes if n <= MOST_RAW) or (MOST_RAW,)
        words(
            f"Features that are not Gaussian are drawn one by one: at most {MOST_RAW_TRIALS} "
            f"trials and n = {MOST_RAW:,}."
        )
    settings = Settings(
        features=law, sigma=sigma, unlabelled=max(unlabelled, scenario.d), weights=weights,
        correction=correction, noise_known=noise_known,
    )  # fmt: skip
    return Choices(agent, tuple(methods), sizes, trials, settings), scaled, log


def pick_agent(problem: cc.Problem, label: str) -> int:
    return options.pick("agent", label, range(problem.agents), 0, words=lambda i: f"Agent {i + 1}")


def smallest_n(problem: cc.Problem) -> int:
    """A little above the largest view, so that everybody's least squares exists."""
    return int(np.ceil(((problem.sizes + 5) / problem.shares).max()))


def pick_grid(problem: cc.Problem) -> tuple[int, ...]:
    """The grid of n: from a little above the largest view by default, evenly on a log scale."""
    lowest = smallest_n(problem)
    usual = (lowest, max(1000, 30 * lowest))
    values = sorted({*usual, *(10**e * k for e in range(7) for k in (1, 2, 5)), 10**7})
    slider = {"widget": st.select_slider, "words": lambda n: f"{n:,}"}
    low = options.pick(
        "from", "Smallest n", values[:-1], usual[0], **slider,
        help="Up to its number of features, an agent's least squares has nothing left over.",
    )  # fmt: skip
    above = [n for n in values if n > low]
    high = options.pick("to", "Largest n", above, max(usual[1], above[0]), **slider)
    points = options.number("points", "Points on the curve", 2, 20, 10)
    return tuple(int(n) for n in np.unique(np.geomspace(low, high, points).round().astype(int)))


def show_curves(
    scenario: cc.Scenario,
    problem: cc.Problem,
    choices: Choices,
    found: dict[object, ErrorCurve],
    scaled: bool,
    log: bool,
) -> None:
    full, own = found["full"], found[choices.agent]
    words(headline(problem, own, choices.agent))
    left, right = columns("full", "agent", sizes=[1, 1])
    titles = ("A model for all features", f"Agent {choices.agent + 1}'s own model")
    for column, key, curve, title in zip(
        (left, right), ("full", "agent"), (full, own), titles, strict=True
    ):
        with column:
            show(
                figures.error_curve(
                    curve.frame,
                    title=title,
                    scaled=scaled,
                    log=log,
                    irreducible=curve.irreducible,
                    height=420,
                ),
                key=key,
                alt=f"{title}: simulated error of every method against n, theory as lines.",
                frame=curve.frame,
                formula=FORMULA,
                code=snippet(scenario, choices, curve),
            )
    words(findings(problem, full, own, choices.agent))


def findings(problem: cc.Problem, full: ErrorCurve, own: ErrorCurve, agent: int) -> str:
    """What else is to be seen, in words, from the curves drawn so far."""
    n = own.sample_sizes[-1]
    said = []
    if "naive_collab" in full.methods:
        said.append(naive_in_words(problem))
    if full.compare("collab_plus", "collab", n):
        gain = 1 - full.mean("collab_plus", n) / full.mean("collab", n)
        said.append(
            f"COLLAB+ errs {abs(gain):.0%} {'less' if gain > 0 else 'more'} than COLLAB at "
            f"n = {n:,}, from the same messages."
        )
    if own.irreducible > 0 and (together := own.mean("collab", n)):
        said.append(
            f"Of agent {agent + 1}'s error together at n = {n:,}, {together:.3g} goes away with "
            f"more data; {own.irreducible:.3g} is what unseen features cost it forever."
        )
    if "local" in full.methods:
        said.append("On the left, Local OLS is a newcomer who sees all features and has n samples.")
    said.append(what_is_drawn(full))
    return "\n".join(f"- {sentence}" for sentence in said)


def naive_in_words(problem: cc.Problem) -> str:
    """Where the naive average levels out, and which of its two faults is at work."""
    limit = cc.bounds.naive_collab(problem)
    if limit.floor <= 1e-12 * problem.label_variance:
        return "The naive average is unbiased here."
    # floor + v / n is within a tenth of the floor from here on.
    level = cc.bounds.error(problem, limit.covariance) / (0.1 * limit.floor)
    leaning = np.abs(np.where(problem.mask, problem.embedded - problem.theta, 0.0)).max()
    why = "it divides by m where fewer see a feature"
    if leaning > 1e-9 * max(np.abs(problem.theta).max(), 1e-300):
        why = f"local models make up for what their agents do not see, and {why}"
    return (
        f"The naive average levels out at {limit.floor:.3g} (within a tenth of it from about "
        f"n = {max(1, round(level)):,}): {why}."
    )


def what_is_drawn(curve: ErrorCurve) -> str:
    trials = int(curve.frame["trials"].max())
    lines = "lines are theory" if curve.frame["theory"].notna().any() else "no theory is known here"
    if trials == 0:
        return f"Simulated points come as trials are done; {lines}."
    if trials == 1:
        return f"1 trial, so there are no bands; {lines}."
    return f"{trials} trials; bands are 95% intervals of the mean, {lines}."


def headline(problem: cc.Problem, own: ErrorCurve, agent: int) -> str:
    """From which n together beats alone, and what it is worth in samples."""
    n = own.sample_sizes[-1]
    together, alone = own.mean("collab", n), own.mean("local", n)
    if problem.sizes[agent] == 0:
        return f"**Agent {agent + 1} sees nothing, so it has no model to improve.**"
    if not together or not alone:
        return f"**How well does agent {agent + 1} predict, alone and together?**"
    ahead = own.ahead_from("collab", "local")
    if ahead is None:
        behind = own.compare("collab", "local", n) == 1
        return (
            f"**At n = {n:,} COLLAB {'is behind' if behind else 'cannot be told from'} working "
            f"alone for agent {agent + 1}**: {together:.3g} against {alone:.3g} in these trials."
        )
    since = "at every n drawn" if ahead == own.sample_sizes[0] else f"from n = {ahead:,} on"
    said = f"**COLLAB beats working alone {since}."
    if own.settings.law.is_gaussian:
        samples = int(problem.sample_sizes(n)[agent])
        equal = cc.whatif.samples_alone(problem, agent, together)
        said += (
            f" Together, agent {agent + 1} does with {samples:,} samples what it would need "
            f"{equal:,.0f} for alone."
        )
    return said + "**"


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


# Clouds ------------------------------------------------------------------------------------------


def clouds(scenario: cc.Scenario, problem: cc.Problem) -> None:
    """Estimates of many trials, gathering around the truth as their agents collect more data."""
    first, second, third, fourth = st.columns([1.2, 1, 1, 1.6], vertical_alignment="bottom")
    with first:
        target = options.pick(
            "target", "Model", ("full", *range(problem.agents)), "full",
            words=lambda t: "All features" if t == "full" else f"Agent {t + 1}'s own",
        )  # fmt: skip
    view = np.arange(problem.dimension) if target == "full" else problem.views[target]
    if view.size == 0:
        error_box(f"Agent {target + 1} sees nothing: there is nothing to estimate. Pick another.")
        return
    names = [f"x{j + 1}" for j in view]
    usual = cc.ellipses.most_biased(problem, target)
    with second:
        across = options.pick("x", "Across", range(view.size), usual[0], words=names.__getitem__)
    with third:
        up = options.pick("y", "Up", range(view.size), usual[1], words=names.__getitem__)
    sizes = path_sizes(problem)
    with fourth:
        at = options.pick("at", "Begin at n", sizes, sizes[0], widget=st.select_slider,
                          words=lambda n: f"{n:,}")  # fmt: skip
    if view.size > 1 and across == up:
        error_box("Pick two different coefficients.")
        return
    methods = [key for key in CLOUD if key != "local" or target != "full"]
    biased = cc.bounds.naive_collab(problem).floor > 1e-12 * problem.label_variance

    def work(report: run.Report, cancel: Event) -> dict[int, Sample]:
        return cc.simulate.sample_paths(
            problem, sizes, CLOUD_TRIALS, methods, target, seed=scenario.seed, progress=report,
            cancel=cancel,
        )  # fmt: skip

    def draw(paths: dict[int, Sample], final: bool) -> None:
        if not paths or not any(sample.estimates for sample in paths.values()):
            return
        words(
            f"**Each dot is one simulated data set.** Press Play: as every agent collects more "
            f"samples, from {sizes[0]:,} to {sizes[-1]:,}, consistent methods gather around the "
            "truth (the cross)."
            + (" The naive average gathers too, but somewhere else." if biased else "")
        )
        show(
            figures.estimate_clouds(
                paths, (across, up), (f"coefficient of {names[across]}", f"of {names[up]}"), at=at,
                title=f"{CLOUD_TRIALS} estimates by each method, as n grows",
            ),
            key="cloud",
            alt="Estimates of two coefficients by every method, played over the sample size.",
            frame=cc.simulate.path_frame(paths, (across, up)),
            formula=CLOUD_FORMULA,
            code=scenario_code(scenario)
            + "paths = cc.simulate.sample_paths(\n"
            + f"    scenario.problem(), {list(sizes)}, {CLOUD_TRIALS},\n"
            + f"    {methods}, {target!r}, seed=scenario.seed,\n)\n"
            + f"frame = cc.simulate.path_frame(paths, ({across}, {up}))\nprint(frame)\n",
        )  # fmt: skip

    run.panel(
        "cloud", (scenario, target, sizes), work, draw, label="Simulate",
        help="Draws the agents' data, more and more of it.", auto=True,
    )  # fmt: skip


def path_sizes(problem: cc.Problem) -> tuple[int, ...]:
    lowest = smallest_n(problem)
    return tuple(int(n) for n in np.unique(np.geomspace(lowest, 100 * lowest, 9).astype(int)))


FORMULA = """
Markers are means over simulated trials: the agents' moments are drawn from their exact law (Wishart
by Bartlett's decomposition for Gaussian features), so the cost does not grow with $n$. Errors are
$\\|\\hat\\theta - \\theta\\|_\\Sigma^2$ and, for agent $i$,
$\\|\\hat\\theta_i - T_i\\theta\\|_{\\Sigma_{i+}}^2$; its irreducible part
$\\theta_{i-}'\\Gamma_i\\theta_{i-}$ is the dotted level and not in the curves.
Lines are theory: $\\mathrm{tr}(\\Sigma C)/n$ with each method's covariance, exact at every $n$ for
local least squares, the naive average and pooled moments. For other feature laws they are for
large $n$, integrated over the law, where such a formula is known. With agents of unequal size, $n$
is their average.
"""

CLOUD_FORMULA = """
A dot is $(\\hat\\theta_j, \\hat\\theta_k)$ of one trial; its agents keep their samples and collect
more, since Wishart matrices of one scale add. The spread of a consistent method shrinks as
$\\sqrt{C/n}$. The naive average gathers around $\\sum_i P_i' T_i \\theta / m$, which is seldom
$\\theta$.
"""

main()
