"""Beyond linear: the paper's last proposal, tried on logistic regression; simulated and real."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from itertools import groupby
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import census, figures
from collab_core.census import STATE_NAMES, Choice, People, Study
from collab_core.smooth import MEASURES, METHODS, NAMES, Curve, Settings, World, travel_curve
from collab_core.smooth.measures import Trouble, overconfidence, trouble_of
from collab_core.smooth.worlds import AgentModels
from pages.shared import options, run
from pages.shared.panel import columns, scenario_code, show
from pages.shared.say import counted_trials, error_box, words
from pages.shared.shell import heading, page, problem_of

PARTS = {
    "curves": "Against n",
    "calibration": "Calibration",
    "models": "An agent's model",
    "census": "Census",
}
SIGNALS = (0.5, 1.0, 2.0, 3.0, 4.0)
INTERCEPTS = (-2.0, -1.0, 0.0, 1.0, 2.0)
TRIALS = (1, 5, 10, 20, 50, 100, 200)
UNLABELLED = {"own": "The agents' own", "pool": "A common pool of 2,000"}
#: Samples are drawn one by one and fitted again and again: what a session can bear.
MOST_N = 5000
#: m n d^2 of a trial at the largest n of the usual grid, some second of work; and at any n.
USUAL_WORK, MOST_WORK = 3e7, 3e8
CALIBRATION_TRIALS = 10
#: Methods whose answer for an agent is that for all, seen through its T.
AGGREGATES = ("collab", "collab_attenuated", "imputation", "naive_collab", "local")
STORED = Path(__file__).parents[1] / "data" / "travel_logistic_2024.csv"
STORED_SOURCE = "ACS 2024 1-Year records of NY, PA, OH, FL and IL"
TRAVEL_SIZES = (200, 500, 1000, 2000, 5000)
TRAVEL_TRIALS = (2, 5, 10, 20, 40)
USUAL_STATES = ("NY", "PA", "OH", "FL", "IL")


@dataclass(frozen=True)
class Choices:
    """What this page adds to the world."""

    signal: float
    intercept: float
    settings: Settings

    def world(self, problem: cc.Problem) -> World:
        """The world with labels 0 and 1."""
        return World(problem, self.signal, self.intercept)


def main() -> None:
    # The census has no use for the sidebar's world.
    with page(world=lambda: options.get("part", "curves") != "census") as scenario:
        part = heading("Beyond linear", PARTS)
        if part == "census":
            travel()
            return
        problem = problem_of(scenario)
        if problem is None:
            return
        try:
            {"curves": curves, "calibration": calibration, "models": models}[part](
                scenario, problem
            )
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")


# What all simulated parts share ------------------------------------------------------------------


def signal_controls() -> tuple[float, float]:
    left, right = st.columns(2)
    with left:
        signal = options.pick(
            "signal", "Signal", SIGNALS, 2.0, widget=st.select_slider,
            words=lambda v: f"{v:g}",
            help="Standard deviation of the log-odds x'θ: θ is scaled to it. At 0.5 nearly "
            "everything is a toss-up, at 4 most labels are almost certain. The noise σ has no "
            "role here: a label is a toss with probability 1/(1 + exp(-(a + x'θ))).",
        )  # fmt: skip
    with right:
        intercept = options.pick(
            "intercept", "Intercept a", INTERCEPTS, 0.0, widget=st.select_slider,
            words=lambda v: f"{v:g}", help="Log-odds at the mean of the features.",
        )  # fmt: skip
    return signal, intercept


def server_controls() -> Settings:
    unlabelled = options.pick(
        "unlabelled", "Agree over which features", list(UNLABELLED), "own", words=UNLABELLED.get,
        help="Unlabelled features over which the server's model should agree with each agent's. "
        "Over their own, a direction that an agent hardly saw gets hardly any weight.",
    )  # fmt: skip
    correction = options.switch(
        "corrected", "Training losses corrected by k/n",
        help="A fit's own training loss promises too much, by about k/n.",
    )  # fmt: skip
    return Settings(unlabelled=unlabelled, correction=correction)


def pick_target(problem: cc.Problem) -> object:
    return options.pick(
        "target", "Model of", ("full", *range(problem.agents)), "full",
        words=lambda t: "all features" if t == "full" else f"agent {t + 1}'s features",
    )  # fmt: skip


def world_code(scenario: cc.Scenario, choices: Choices) -> str:
    return (
        scenario_code(scenario)
        + f"world = cc.smooth.World(scenario.problem(), {choices.signal}, {choices.intercept})\n"
        + f"settings = cc.smooth.{choices.settings!r}\n"
    )


def most_n(problem: cc.Problem) -> int:
    """The largest n whose trials a session can bear, in memory and in time to a Stop."""
    bearable = int(MOST_WORK / (problem.agents * problem.dimension**2))
    return min(MOST_N, max(bearable, 3 * smallest_n(problem)))


def limited_n(scenario: cc.Scenario, problem: cc.Problem) -> int:
    """The scenario's n, within what can be drawn sample by sample; said where it is less."""
    most = most_n(problem)
    if scenario.n > most:
        words(f"Labels are drawn one by one: n = {most:,} is used instead of {scenario.n:,}.")
    return min(scenario.n, most)


def shares_in_words(shares: Mapping[int, float]) -> str:
    """Shares by n, those of none left out: "100% at n = 200 to 1,000, 65% at n = 5,000"."""
    said = [
        (f"{share:.0%}" if share >= 0.005 else "under 1%" if share else "", n)
        for n, share in shares.items()
    ]
    runs = [(share, [n for _, n in run]) for share, run in groupby(said, key=lambda one: one[0])]
    if len(runs) == 1 and len(shares) > 1:
        return f"{runs[0][0]} at every n"
    return ", ".join(
        f"{share} at n = {sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else "")
        for share, sizes in runs
        if share
    )


def fits_in_words(trouble: Mapping[int, Trouble], everybody: str = "Agents") -> str:
    """Separation, one class and no convergence among the agents' own fits."""
    shares = {n: found.regularised / max(found.fits, 1) for n, found in trouble.items()}
    text = []
    if any(shares.values()):
        text.append(
            f"{everybody} whose own fit has no finite best model, because classes are separated or "
            f"a column belongs to one class alone: {shares_in_words(shares)}. A small ridge "
            "answers for them, and they take part with it."
        )
    single = sum(found.one_class for found in trouble.values())
    if single:
        text.append(
            f"{single} fit{'s' if single > 1 else ''} saw labels of one class only: the answer is "
            "an intercept, left out of the aggregate."
        )
    unfinished = sum(found.unfinished for found in trouble.values())
    if unfinished:
        text.append(f"{unfinished} fits did not converge to 1e-7; their last step is used.")
    return " ".join(text)


def answers_in_words(
    trouble: Mapping[int, Trouble],
    trials: Mapping[int, int],
    *,
    where: str = "",
    skip: Iterable[str] = (),
    local: str = NAMES["local"],
) -> str:
    """Methods whose own answers are a ridge's, or did not converge.

    ``skip`` names methods of which that is said already, ``local`` who works alone.
    """
    text, parts = [], []
    for method in (key for key in METHODS if key not in skip):
        shares = {n: found.ridge.get(method, 0) / max(trials[n], 1) for n, found in trouble.items()}
        if any(shares.values()):
            name = local if method == "local" else NAMES[method]
            parts.append(f"{name} {shares_in_words(shares)}")
    if parts:
        text.append(
            f"{where}answers that are a ridge's themselves, because no finite best one "
            f"was found: {'; '.join(parts)}."
        )
    stuck = sum(sum(found.stuck.values()) for found in trouble.values())
    if stuck:
        text.append(f"{where}{stuck} answers did not converge to 1e-7; their last step is used.")
    return " ".join(sentence[0].upper() + sentence[1:] for sentence in text)


def missing_in_words(curve: Curve) -> str:
    missing = sorted({note for note in curve.notes.values() if note})
    return " ".join(f"Some entries are missing: {note}." for note in missing[:2])


# Against n ---------------------------------------------------------------------------------------


def smallest_n(problem: cc.Problem) -> int:
    """Four samples a coefficient, so that few agents' classes are separated."""
    return 4 * (int(problem.sizes.max()) + 1)


def usual_grid(problem: cc.Problem) -> tuple[int, int]:
    low = min(smallest_n(problem), MOST_N // 2)
    high = int(USUAL_WORK / (problem.agents * problem.dimension**2))
    return low, int(np.clip(high, 3 * low, min(max(1000, 3 * low), most_n(problem))))


def curves(scenario: cc.Scenario, problem: cc.Problem) -> None:
    first, second, third = st.columns([1.2, 0.9, 0.9], vertical_alignment="bottom")
    with first:
        measure = options.pick(
            "measure", "Measure", list(MEASURES), "log_loss", widget=st.segmented_control,
            words=lambda key: MEASURES[key].label,
        )  # fmt: skip
    with second:
        agent = options.pick("agent", "Agent of the right figure", range(problem.agents), 0,
                             words=lambda i: f"Agent {i + 1}")  # fmt: skip
    with third:
        trials = options.pick("trials", "Trials", TRIALS, 10, widget=st.select_slider)
    with st.expander("Signal, methods, grid of n, what the server is given"):
        signal, intercept = signal_controls()
        left, middle, right = st.columns(3)
        with left:
            methods = options.several("methods", "Methods", METHODS, METHODS, words=NAMES.get)
        with middle:
            sizes = pick_grid(problem)
        with right:
            settings = server_controls()
            beyond = options.switch(
                "beyond", "Beyond the best possible", True,
                help="Log-loss less what even the true probabilities cost, on a log axis.",
            )  # fmt: skip
    if not methods:
        error_box("Pick at least one method.")
        return
    choices = Choices(signal, intercept, settings)
    world = choices.world(problem)

    def work(report: run.Report, cancel: Event) -> dict[object, Curve]:
        return cc.smooth.curves(
            world, sizes, trials, ["full", agent], methods, seed=scenario.seed,
            settings=settings, progress=report, cancel=cancel,
        )  # fmt: skip

    def code_of(curve: Curve) -> str:
        return (
            world_code(scenario, choices)
            + "curves = cc.smooth.curves(\n"
            + f"    world, {list(sizes)}, {trials}, ['full', {agent}],\n"
            + f"    {methods},\n    seed=scenario.seed, settings=settings,\n)\n"
            + f"frame = curves[{curve.target!r}].frame({measure!r})\nprint(frame)\n"
        )

    def draw(found: dict[object, Curve], final: bool) -> None:
        full, own = found["full"], found[agent]
        if not own.done:
            words("**The first trials are on their way.**")
            return
        words(headline(own, agent, measure))
        sides = columns("logistic-full", "logistic-agent", sizes=[1, 1])
        keys = ("logistic-full", "logistic-agent")
        for side, key, curve in zip(sides, keys, (full, own), strict=True):
            with side:
                show_curve(curve, key, measure, beyond and measure == "log_loss", code_of(curve))
        words(findings(full, own, agent, measure, settings, log=beyond or measure == "calibration"))
        words(WHAT_IS_WHAT)

    run.panel(
        "logistic", (scenario, astuple(choices), agent, tuple(methods), sizes, trials), work, draw,
        label="Simulate", help="Draws labelled samples and fits every method to them.", auto=True,
    )  # fmt: skip


def pick_grid(problem: cc.Problem) -> tuple[int, ...]:
    usual, most = usual_grid(problem), most_n(problem)
    steps = (10, 20, 50, 100, 200, 500, 1000, 2000, MOST_N)
    values = sorted({*usual, *(n for n in steps if n < most), most})
    slider = {"widget": st.select_slider, "words": lambda n: f"{n:,}"}
    low = options.pick("from", "Smallest n", values[:-1], usual[0], **slider)
    above = [n for n in values if n > low]
    high = options.pick("to", "Largest n", above, max(usual[1], above[0]), **slider)
    if most < MOST_N:
        words(f"Labels are drawn one by one: in a world of this size n goes up to {most:,}.")
    return tuple(int(n) for n in np.unique(np.geomspace(low, high, 6).round().astype(int)))


def show_curve(curve: Curve, key: str, measure: str, beyond: bool, code: str) -> None:
    best = curve.best.get(measure)
    level = None if best is None or measure == "calibration" else (best, f"best {best:.3f}")
    whose = "All features" if curve.target == "full" else f"Agent {int(curve.target) + 1}"
    last = curve.sample_sizes[-1]
    title = f"{whose}: " + against_local(curve, last, measure, "COLLAB {}, alone {}")
    show(
        figures.measure_curve(
            curve.frame(measure), NAMES, MEASURES[measure].label, title=title, beyond=beyond,
            log=measure == "calibration", level=level, height=400,
        ),
        key=key,
        alt=f"{title}: {MEASURES[measure].label} of every method against n.",
        frame=curve.frame(measure),
        formula=FORMULA,
        code=code,
    )  # fmt: skip


def against_local(curve: Curve, n: int, measure: str, form: str) -> str:
    """The finding in a title: COLLAB's number beside that of working alone, where both are."""
    together, alone = (curve.mean(key, n, measure) for key in ("collab", "local"))
    if together is None or alone is None:
        return f"{MEASURES[measure].label} of each method"
    return form.format(f"{together:.3f}", f"{alone:.3f}")


def headline(own: Curve, agent: int, measure: str) -> str:
    """From which n together is better than alone, by the measure that is drawn."""
    first, n = own.sample_sizes[0], own.sample_sizes[-1]

    def numbers(at: int) -> str:
        together, alone = (own.mean(key, at, measure) for key in ("collab", "local"))
        return f"{together:.4f} against {alone:.4f} at n = {at:,}"

    if own.mean("collab", n, measure) is None or own.mean("local", n, measure) is None:
        return f"**How well does agent {agent + 1} predict, alone and together?**"
    if own.done == 1:
        return (
            f"**One trial decides nothing**: together and alone, agent {agent + 1}'s "
            f"{MEASURES[measure].label} is {numbers(n)}."
        )
    ahead, name = own.ahead_from("collab", "local", measure), MEASURES[measure].label
    if ahead is None:
        behind = own.compare("collab", "local", n, measure) == -1
        return (
            f"**At the largest n COLLAB {'is behind' if behind else 'cannot be told from'} working "
            f"alone for agent {agent + 1}**: {name} {numbers(n)}."
        )
    since = "at every n drawn" if ahead == first else f"from n = {ahead:,} on"
    small = f"{numbers(first)}, " if own.mean("collab", first, measure) and n != first else ""
    return (
        f"**The paper's proposal carries over: agent {agent + 1} predicts better together than "
        f"alone {since}** ({name} {small}{numbers(n)}; paired 95% intervals)."
    )


def findings(
    full: Curve, own: Curve, agent: int, measure: str, settings: Settings, *, log: bool
) -> str:
    """What the curves say, in sentences about the measure that is drawn."""
    n = own.sample_sizes[-1]
    said = comparisons(full, own, agent, measure, settings) if own.done > 1 else []
    if full.mean("local", n) is not None:
        said.append("On the left, Local is a newcomer who sees all features and has n samples.")
    said += [
        fits_in_words(own.trouble),
        answers_in_words(
            full.trouble, full.done_at, where="on the left, ", local="Local (the newcomer)"
        ),
        # The agent's own fit is among those of all agents.
        answers_in_words(own.trouble, own.done_at, where="on the right, ", skip=AGGREGATES),
        missing_in_words(own),
        "1 trial, so there are no bands and nothing is decided."
        if own.done == 1
        else f"{counted_trials(own.done_at.values())}; bands are 95% intervals of the mean"
        + (
            ", on a log axis drawn down to a quarter of it at most."
            if log and measure != "accuracy"
            else "."
        ),
    ]
    return "\n".join(f"- {sentence}" for sentence in said if sentence)


def comparisons(full: Curve, own: Curve, agent: int, measure: str, settings: Settings) -> list[str]:
    n, name = own.sample_sizes[-1], MEASURES[measure].label
    said = [share_in_words(own, agent, measure), attenuation_in_words(full, measure)]
    sign = full.compare("collab", "imputation", n, measure)
    if sign is not None:
        # The theorem, where its conditions hold.
        trouble = full.trouble[n]
        twins = (
            settings.unlabelled == "own"
            and not settings.correction
            and trouble.all_plain
            and not trouble.ridge.get("imputation", 0)
        )
        said.append(
            f"Against imputation, which needs all data in one place, COLLAB is "
            f"{ {1: 'ahead', 0: 'level', -1: 'behind'}[sign] } by {name} at n = {n:,} on all "
            "features"
            + (": here the two differ only in the weights 1/loss." if twins else ".")
        )  # fmt: skip
    if full.compare("naive_collab", "collab", n, measure) == -1:
        said.append(
            f"The naive average stays at {full.mean('naive_collab', n, measure):.4f} on all "
            f"features ({name}; COLLAB {full.mean('collab', n, measure):.4f}): what agents make up "
            "for is counted as theirs."
        )
    return [sentence for sentence in said if sentence]


def share_in_words(own: Curve, agent: int, measure: str) -> str:
    """How far together is on the way from alone to everybody's samples of an agent's features."""
    n = own.sample_sizes[0]
    if own.compare("collab", "local", n, measure) != 1:
        return ""
    if own.compare("collab", "full_data", n, measure) == 1:
        return (
            f"At n = {n:,} agent {agent + 1} does better together than with everybody's samples of "
            "its own features in one place (Full data): the others' features tell too."
        )
    if own.compare("full_data", "local", n, measure) != 1:
        return ""
    local, together, most = (own.mean(key, n, measure) for key in ("local", "collab", "full_data"))
    share = (local - together) / (local - most)
    return (
        f"At n = {n:,} working together goes {min(share, 1):.0%} of the way, by "
        f"{MEASURES[measure].label}, from agent {agent + 1} alone to everybody's samples of its "
        "features in one place (Full data)."
    )


def attenuation_in_words(full: Curve, measure: str) -> str:
    """What the linear T costs on all features, where that can be told."""
    n = full.sample_sizes[-1]
    sign = full.compare("collab_attenuated", "collab", n, measure)
    linear, bent = (full.mean(key, n, measure) for key in ("collab", "collab_attenuated"))
    if sign is None or linear is None or bent is None:
        return ""
    label, best = MEASURES[measure].label, full.best[measure]
    away = "a calibration error of {} and {}"
    if measure != "calibration":
        linear, bent = abs(linear - best), abs(bent - best)
        beyond = "beyond" if MEASURES[measure].better < 0 else "short of"
        away = f"{label} {{}} and {{}} {beyond} the best possible"
    numbers = away.format(f"{linear:.4f}", f"{bent:.4f}")
    if sign == 0:
        return f"On all features the attenuated T makes no difference that shows ({numbers})."
    return f"On all features at n = {n:,} the linear T and the attenuated one leave {numbers}: " + (
        "the paper's linear T is a bias here, which no n removes."
        if sign == 1
        else "here the attenuated one is worse; it undoes shrinkage that few samples need."
    )


# Calibration -------------------------------------------------------------------------------------


def calibration(scenario: cc.Scenario, problem: cc.Problem) -> None:
    left, right = st.columns([1, 1.6], vertical_alignment="bottom")
    with left:
        target = pick_target(problem)
    with right:
        methods = options.several("methods", "Methods", METHODS, METHODS, words=NAMES.get)
    with st.expander("Signal, what the server is given"):
        signal, intercept = signal_controls()
        settings = server_controls()
    if not methods:
        error_box("Pick at least one method.")
        return
    n = limited_n(scenario, problem)
    choices = Choices(signal, intercept, settings)
    world = choices.world(problem)

    def work(report: run.Report, cancel: Event) -> dict[object, Curve]:
        return cc.smooth.curves(
            world, [n], CALIBRATION_TRIALS, [target], methods, seed=scenario.seed,
            settings=settings, progress=report, cancel=cancel,
        )  # fmt: skip

    def draw(found: dict[object, Curve], final: bool) -> None:
        curve = found[target]
        frame = curve.reliability_frame(n)
        if frame.empty:
            missing = next(iter(curve.notes.values()), "")
            words("**The first trials are on their way.**" if not final else "")
            if final:
                error_box(f"With n = {n} there is nothing to show: {missing or 'no trial ended'}.")
            return
        words(
            "**Of all to whom a model gives 80%, do 80% have a label of 1?** On the dotted line "
            "yes; flatter is too sure, steeper too timid."
        )
        whose = "All features" if target == "full" else f"Agent {target + 1}"
        show(
            figures.reliability(
                frame,
                NAMES,
                title=against_local(curve, n, "calibration", f"{whose}: off by {{}}, alone {{}}"),
                height=420,
            ),
            key="reliability",
            alt="Real share of ones against the predicted probability, for every method.",
            frame=frame,
            formula=RELIABILITY_FORMULA,
            code=world_code(scenario, choices)
            + f"curves = cc.smooth.curves(\n    world, [{n}], {CALIBRATION_TRIALS}, [{target!r}],\n"
            + f"    {methods},\n    seed=scenario.seed, settings=settings,\n)\n"
            + f"frame = curves[{target!r}].reliability_frame({n})\nprint(frame)\n",
        )
        words(calibration_in_words(curve, n))
        newcomer = "Local is a newcomer who sees all features and has n samples."
        alone = "Local (the newcomer)" if target == "full" else NAMES["local"]
        said = [
            newcomer if target == "full" and curve.mean("local", n) is not None else "",
            fits_in_words(curve.trouble),
            answers_in_words(curve.trouble, curve.done_at, local=alone),
            missing_in_words(curve),
        ]
        words(" ".join(sentence for sentence in said if sentence))

    run.panel(
        "reliability", (scenario, astuple(choices), target, tuple(methods)), work, draw,
        label="Simulate", help="Draws labelled samples and fits every method to them.", auto=True,
    )  # fmt: skip


def calibration_in_words(curve: Curve, n: int) -> str:
    rows = []
    for method in curve.methods:
        error = curve.mean(method, n, "calibration")
        if error is None:
            continue
        lean = overconfidence(curve.bins[method, n])
        # Half of the error in one direction is a lean; less is scatter.
        how = "too sure" if lean > error / 2 else "too timid" if lean < -error / 2 else "even"
        rows.append((error, f"{NAMES[method]} {error:.3f} ({how})"))
    rows.sort()
    if not rows:
        return ""
    return (
        f"How far probabilities are off on average, at n = {n:,} in {curve.done} trials: "
        + "; ".join(text for _, text in rows)
        + "."
    )


# An agent's model --------------------------------------------------------------------------------


def models(scenario: cc.Scenario, problem: cc.Problem) -> None:
    left, right = st.columns([1, 1.6], vertical_alignment="bottom")
    with left:
        agent = options.pick("agent", "Agent", range(problem.agents), 0,
                             words=lambda i: f"Agent {i + 1}")  # fmt: skip
    with right:
        signal, intercept = signal_controls()
    with st.expander("What the server is given"):
        settings = server_controls()
    n = limited_n(scenario, problem)
    choices = Choices(signal, intercept, settings)
    world = choices.world(problem)
    drawn = ("local", "collab", "collab_attenuated", "naive_collab")

    def work(report: run.Report, cancel: Event) -> AgentModels | None:
        return cc.smooth.models_of_agent(
            world, n, agent, drawn, seed=scenario.seed, settings=settings, cancel=cancel
        )

    def draw(found: AgentModels, final: bool) -> None:
        frame, trouble = found.frame, {n: found.trouble}
        words(models_in_words(frame, agent, n))
        show(
            figures.models_of_agent(
                frame["name"].tolist(),
                {key: (NAMES[key], frame[key]) for key in drawn},
                frame["best"],
                title=f"Off by {off(frame, 'collab'):.2g} together, "
                f"{off(frame, 'local'):.2g} alone, n = {n:,}",
                height=420,
            ),
            key="logistic-models",
            alt="An agent's coefficients: fitted alone, returned by the server, and the best.",
            frame=frame,
            formula=MODELS_FORMULA,
            code=world_code(scenario, choices)
            + f"found = cc.smooth.models_of_agent(\n    world, {n}, {agent},\n    {drawn},\n"
            + "    seed=scenario.seed, settings=settings,\n)\nframe = found.frame\nprint(frame)\n",
        )
        alone = f"Local (agent {agent + 1}'s own fit)"
        said = (
            fits_in_words(trouble),
            answers_in_words(trouble, dict.fromkeys(trouble, 1), local=alone),
        )
        words(" ".join(sentence for sentence in said if sentence))

    run.panel(
        "logistic-models", (scenario, astuple(choices), agent, n), work, draw, label="Fit",
        help="Draws one data set and fits every model.", auto=True, below=True,
    )  # fmt: skip


def off(frame: pd.DataFrame, method: str) -> float:
    """How far a method's coefficients are from the best, root mean square."""
    return float(np.sqrt(((frame[method] - frame["best"]) ** 2).mean()))


def models_in_words(frame: pd.DataFrame, agent: int, n: int) -> str:
    size = np.linalg.norm(frame["best"]) / max(np.linalg.norm(frame["plain"]), 1e-300)
    said = (
        f"**What comes back to agent {agent + 1} is off the best it can have by "
        f"{off(frame, 'collab'):.3g} a coefficient; what it fitted alone on {n:,} samples, by "
        f"{off(frame, 'local'):.3g}.** The naive average is off by "
        f"{off(frame, 'naive_collab'):.3g}."
    )
    if size < 0.995 and np.linalg.norm(frame["plain"]) > 1e-12:
        said += (
            f" Since it averages over what it does not see, its best coefficients are "
            f"{1 - size:.0%} smaller than the linear T's of the truth."
        )
    return said


# Census ------------------------------------------------------------------------------------------


def travel() -> None:
    people: People | None = st.session_state.get("census-people")
    words(
        "**Does it take more than 20 minutes to work?** States as agents, who ask as in the paper; "
        "folktables' label for ACSTravelTime, asked only of people who travel to work."
    )
    first, second = st.columns([1.2, 1], vertical_alignment="bottom")
    with first:
        measure = options.pick(
            "measure", "Measure", list(MEASURES), "log_loss", widget=st.segmented_control,
            words=lambda key: MEASURES[key].label,
        )  # fmt: skip
    with second:
        model = options.pick(
            "model", "Model of", ("all", "own"), "all", widget=st.segmented_control,
            words={"all": "all questions", "own": "the target's own"}.get,
        )  # fmt: skip
    if people is None or not people.holds_records:
        stored(measure, model, people)
        return
    try:
        live(people, measure, model)
    except (ValueError, ArithmeticError) as reason:
        error_box(f"This study is not possible: {reason}.")


def stored(measure: str, model: str, people: People | None) -> None:
    """A run of ours on real records, kept as a table: sums hold no logistic fit."""
    table = pd.read_csv(STORED)
    frame = table[(table["measure"] == measure) & (table["model"] == model)]
    words(travel_in_words(frame, measure, "IL"))
    show_travel(
        frame,
        measure,
        "IL",
        "import pandas as pd\n\nimport collab_core as cc\n\n"
        + f"table = pd.read_csv({str(STORED.relative_to(STORED.parents[1]))!r})\n"
        + f"frame = table[(table['measure'] == {measure!r}) & (table['model'] == {model!r})]\n"
        + "print(frame.replace({'method': cc.smooth.NAMES}))\n",
    )
    why = "There are too many people to hold as records." if people else ""
    draws, trouble = int(frame["trials"].max()), trouble_of(frame)
    answers = answers_in_words(trouble, dict.fromkeys(trouble, draws))
    ridges = f"{fits_in_words(trouble, 'States')} {answers}".strip()
    words(
        f"- A stored run: {STORED_SOURCE}, {draws} draws, IL's test people. "
        "`data/README.md` has the command that made it.\n"
        + (f"- {ridges}\n" if ridges else "")
        + f"- {why} A logistic fit cannot be had from sums, so this is live only with records: "
        "load person files on the page Census under Data (from the Census Bureau, from a folder or "
        "by upload), then come back."
    )
    st.page_link("pages/census.py", label="To the Census page")


def live(people: People, measure: str, model: str) -> None:
    found = people.sums
    usual = [s for s in USUAL_STATES if s in found.states] or list(found.states[:5])
    first, second, third = st.columns([1.8, 0.7, 0.9], vertical_alignment="bottom")
    with first:
        states = options.several("states", "States as agents", found.states, usual)
    if not states:
        error_box("Pick at least one state.")
        return
    with second:
        target = options.pick("whose", "Whose commute", states, states[-1])
    with third:
        trials = options.pick("draws", "Draws", TRAVEL_TRIALS, 10, widget=st.select_slider)
    views = census.paper_views(states, found.questions)
    choice = Choice(tuple(states), tuple(views[s] for s in states), target, model == "own")
    study = Study(found, choice)
    smallest = int(study.counts.min())
    sizes = [n for n in TRAVEL_SIZES if n <= smallest] or [smallest]

    def work(report: run.Report, cancel: Event) -> Curve:
        return travel_curve(people, study, sizes, trials, progress=report, cancel=cancel)

    def draw(curve: Curve, final: bool) -> None:
        if not curve.done:
            words("**The first draws are on their way.**")
            return
        frame = curve.frame(measure)
        words(travel_in_words(frame, measure, target))
        paths = st.session_state.get("census-paths") or ["the files you uploaded"]
        code = (
            "import collab_core as cc\n\n"
            + f"people = cc.census.People.from_files({paths}, 'mine')\n"
            + f"study = cc.census.Study(people.sums, cc.census.{choice!r})\n"
            + f"curve = cc.smooth.travel_curve(people, study, {sizes}, {trials})\n"
        )
        left, right = columns("travel", "travel-reliability", sizes=[1, 1])
        with left:
            show_travel(
                frame, measure, target, code + f"frame = curve.frame({measure!r})\nprint(frame)\n"
            )
        with right:
            first = sizes[0]
            kept = curve.reliability_frame(first)
            show(
                figures.reliability(
                    kept,
                    NAMES,
                    title=against_local(
                        curve, first, "calibration", f"n = {first:,}: off by {{}}, alone {{}}"
                    ),
                    height=430,
                ),
                key="travel-reliability",
                alt="Real share of long ways to work against the predicted probability.",
                frame=kept,
                formula=RELIABILITY_FORMULA,
                code=code + f"frame = curve.reliability_frame({first})\nprint(frame)\n",
            )
        said = (
            f"Data: {found.source}.",
            fits_in_words(curve.trouble, "States"),
            answers_in_words(curve.trouble, curve.done_at),
            missing_in_words(curve),
        )
        words(" ".join(sentence for sentence in said if sentence))

    run.panel(
        "travel", (found.digest, choice, trials), work, draw, label="Draw",
        help="Draws n people of every state, again and again.", auto=True,
    )  # fmt: skip


def show_travel(frame: pd.DataFrame, measure: str, target: str, code: str) -> None:
    show(
        figures.measure_curve(
            frame, NAMES, MEASURES[measure].label, log=measure == "calibration",
            title=travel_title(frame, target),
        ),
        key="travel",
        alt=f"{MEASURES[measure].label} of every method on real test people against n.",
        frame=frame,
        formula=TRAVEL_FORMULA,
        code=code,
    )  # fmt: skip


def travel_title(frame: pd.DataFrame, target: str) -> str:
    """The finding at the smallest n."""
    n = int(frame["n"].min())
    means = frame[frame["n"] == n].set_index("method")["mean"]
    if means.reindex(["collab", "local"]).isna().any():
        return f"{STATE_NAMES[target]}'s test people"
    errors = f"COLLAB {means['collab']:.3f}, alone {means['local']:.3f}"
    return f"{STATE_NAMES[target]}, n = {n:,}: {errors}"


def travel_in_words(frame: pd.DataFrame, measure: str, target: str) -> str:
    """First and last n: who is ahead of working alone, by paired draws."""
    said = []
    better = MEASURES[measure].better
    for n in sorted({int(frame["n"].min()), int(frame["n"].max())}):
        rows = frame[frame["n"] == n].set_index("method")
        if "collab" not in rows.index or pd.isna(rows.loc["collab", "mean"]):
            continue
        collab, local = rows.loc["collab"], rows.loc["local"]
        ahead = "not to be told from"
        low, high = collab["gap_low"], collab["gap_high"]
        # Two ways to the same model differ by rounding.
        rounding = 1e-9 * abs(local["mean"])
        if pd.notna(low) and not (low <= rounding and high >= -rounding):
            ahead = "ahead of" if np.sign(low) == better else "behind"
        said.append(
            f"with {n:,} people a state COLLAB is {ahead} {STATE_NAMES[target]} alone "
            f"({collab['mean']:.4f} against {local['mean']:.4f})"
        )
    return f"**By {MEASURES[measure].label}, {'; '.join(said)}.**" if said else ""


WHAT_IS_WHAT = """
**Theorem, heuristic, measured**
- *Theorem:* with squared loss this aggregation is COLLAB, exactly. With log-loss over the agents'
  own features it is, exactly, logistic regression on everybody's imputed data with weights 1/loss,
  though no label leaves home, where every agent's own fit is finite (no ridge, nobody left out).
- *Heuristic:* a linear T for a model that is not linear, and 1/loss as the weight (for log-loss the
  curvature already knows how sure an agent is). The attenuated T is ours, beyond the paper.
- *Measured:* every curve above. No bound is known here.
"""

FORMULA = """
Agents fit $\\hat\\theta_i$ by logistic regression. The server minimises
$\\sum_i n_i\\,\\mathbb{E}\\,\\ell\\big(f(x_+;\\hat\\theta_i), f(x_+;T_i\\theta)\\big) /
\\mathbb{E}\\,\\ell\\big(f(x_+;\\hat\\theta_i), y\\big)$, the paper's last proposal, $\\ell$ being
the cross-entropy of the agent's probability against the server's; agent $i$ gets $T_i\\theta$ back.
The factor $n_i$ is ours, for agents of unequal size. Attenuated (beyond the paper): $T_i\\theta /
\\sqrt{1 + \\tfrac{\\pi}{8}\\,\\theta_{i-}'\\Gamma_i\\theta_{i-}}$, since averaging over the unseen
flattens a logistic curve. $\\Sigma$, hence $T_i$, is known exactly here. One intercept for all
passes through $T_i$ as it is. Where classes are separated a ridge answers. Measures are over
4,000 fresh samples whose true probabilities stand for their labels; the best possible is that of
the true probability given the features of the target.
"""

RELIABILITY_FORMULA = """
Predictions of all trials in ten bins of probability: mean prediction against the share of ones.
The calibration error is the distance between the two, averaged over predictions. Too sure: beyond
the real share, away from 1/2.
"""

MODELS_FORMULA = """
The bar is what agent $i$'s own fit tends to as $n$ grows, $T_i\\theta/\\sqrt{1 + \\tfrac{\\pi}{8}
\\theta_{i-}'\\Gamma_i\\theta_{i-}}$ by the probit approximation. Local is $\\hat\\theta_i$; COLLAB
returns $T_i\\hat\\theta$, attenuated or not.
"""

TRAVEL_FORMULA = """
Every state has $n$ of its people, drawn without replacement, and asks as in the paper; the label is
JWMNP > 20, folktables' for ACSTravelTime. The people are others: folktables keeps those without a
travel time, who work at home, and labels them 0; here only JWMNP > 0 is kept. Features are centred
within each sample and scaled by pooled deviations; $\\Sigma$, hence $T_i$, comes from all training
records, whatever $n$. Every state keeps its own intercept, slopes are learnt together. Measured on
the target's test people (every fifth of its file); Local is the target's own people, asked all
questions where the model of all is drawn; Full data is everybody's people asked the same. Where
classes are separated, or a column is one class's alone, a ridge answers. Gaps to Local in the data
are by paired draws.
"""

main()
