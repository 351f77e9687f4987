"""Beyond Gaussian: what COLLAB's weights cost where features follow another law."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

import collab_core as cc
from collab_core import figures
from collab_core.answers import ellipses
from collab_core.answers import gaussian_cost as pretending
from collab_core.answers.gaussian_cost import LITTLE
from collab_core.figures.gaussian_cost import plus_minus, two_digits
from collab_core.runs.simulate import ErrorCurve
from collab_core.runs.trials import Settings
from collab_core.runs.unlabelled import UnlabelledCurve
from collab_core.world.laws import FeatureLaw, Law, Tails
from pages.shared import options, run, state
from pages.shared.panel import columns, ink, scenario_code, show
from pages.shared.say import counted_trials, error_box, words
from pages.shared.shell import heading, page, problem_of

PARTS = {"curves": "Error vs n", "cost": "The cost", "map": "The map", "unlabelled": "Unlabelled"}
LAWS = {
    "rare": "Rare yes or no",
    "outliers": "Outliers",
    "student_t": "Student t",
    "elliptical_t": "Student t, common scale",
    "exponential": "Exponential",
    "uniform": "Uniform",
    "rademacher": "Signs (Rademacher)",
    "mixture": "Two clusters",
    "gaussian": "Gaussian",
    "census": "Census records",
}
#: A law's parameter: name in the link, label, choices, default.
PARAMETERS = {
    "rare": ("rate", "How often yes", (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 0.01),
    "outliers": ("wider", "Outliers' spread over the others'", (1.5, 2, 3, 4, 5, 8), 4),
    "student_t": ("freedom", "Degrees of freedom", (4.2, 4.5, 5, 6, 8, 12, 30), 5),
    "elliptical_t": ("freedom", "Degrees of freedom", (4.2, 4.5, 5, 6, 8, 12, 30), 5),
    "mixture": ("apart", "How far apart", (0.5, 0.7, 0.9, 0.99), 0.9),
}
ABOUT = {
    "rare": "Every feature is yes or no, seldom yes, independently of the others.",
    "outliers": "One sample in twenty is spread wider, in all features at once.",
    "student_t": "Heavy tails, independent from feature to feature. Near 4 degrees averages of "
    "fourth powers settle slowly.",
    "elliptical_t": "Heavy tails in all features at once: one chi-square a sample. Near 4 degrees "
    "averages of fourth powers settle slowly.",
    "exponential": "Skewed, independent from feature to feature.",
    "uniform": "Light tails, independent from feature to feature.",
    "rademacher": "Plus or minus one, independently.",
    "mixture": "Two Gaussian clusters on either side of 0.",
    "gaussian": "The case that COLLAB's weights are made for.",
    "census": "Real people's answers, each drawn as a whole.",
}
RELATIONS = {"fitted": "As fitted to the records", "random": "Random coefficients, noise 1"}
ASKS = {"own": "As in the paper", "half": "One all, others half"}
METHODS = ("collab", "collab_optimal", "collab_oracle", "identity", "imputation", "local")
GAIN = ("collab_optimal", "collab_oracle")
#: What the figure of errors must show; others may run off it.
FOCUS = ("collab", *GAIN)
TRIALS = (10, 20, 40, 100, 200, 400)
LABELLED = (100, 200, 500, 1000, 2000, 5000, 10_000)
UNLABELLED = (200, 500, 1000, 2000, 5000, 10_000, 20_000)
#: Raw numbers that a run draws by default: a few seconds.
BUDGET, MOST_RAW = 2e8, 20_000
#: Rare answers that a sample should hold: with hardly any, least squares is lost.
ANSWERS = 5
KURTOSES = (-2, 0, 1, 3, 6, 12, 25, 50, 100)
MISSING = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
DRAWS = (1, 4, 10, 30, 100, 300)
#: States of a census world: more would only be slower.
MOST_STATES = 5


@dataclass(frozen=True)
class World:
    """What is looked at.

    Attributes
    ----------
    problem : Problem
    law : str or Law
    name : str
        Of the law, for people.
    code : str
        Lines that make ``problem`` and ``law``.
    key : tuple
        What all of it depends on.
    target : "full" or int
    agents : tuple of str
        What agents are called.
    seed, n : int
    """

    problem: cc.Problem
    law: str | Law
    name: str
    code: str
    key: tuple
    target: str | int
    agents: tuple[str, ...]
    seed: int
    n: int

    @property
    def lowest(self) -> int:
        """A little above the largest view, so that everybody's least squares exists."""
        return int(np.ceil(((self.problem.sizes + 5) / self.problem.shares).max()))

    def first(self, largest: int) -> int:
        """Where a grid up to ``largest`` begins: where samples hold the rare answers, if any."""
        law, low = FeatureLaw.of(self.law), 2 * self.lowest
        if not isinstance(law, FeatureLaw) or law.name != "rare":
            return low
        rare = ANSWERS / min(law.rate, 1 - law.rate) / self.problem.shares.min()
        return max(low, min(int(np.ceil(rare)), largest // 4))

    @property
    def whose(self) -> str:
        """What the model is of."""
        return model_of(self.target, self.agents)


def model_of(target: str | int, agents: tuple[str, ...]) -> str:
    return "all features" if target == "full" else f"{agents[int(target)]}'s own"


def main() -> None:
    with page() as scenario:
        part = heading("Beyond Gaussian", PARTS, width=1.3)
        try:
            world = pick_world(scenario, part)
            if world is not None:
                {"curves": curves, "cost": cost, "map": where, "unlabelled": unlabelled}[part](
                    world, scenario
                )
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")


# The world and its law ---------------------------------------------------------------------------


def people() -> cc.census.People | None:
    """Records that this session has loaded on the Census page, if any."""
    loaded = st.session_state.get("census-people")
    return loaded if loaded is not None and loaded.holds_records else None


def pick_world(scenario: cc.Scenario, part: str) -> World | None:
    first, second, third, fourth = st.columns([1.1, 1.3, 1, 1], vertical_alignment="bottom")
    with first:
        kind = options.pick("law", "Law of the features", list(LAWS), "rare", words=LAWS.get)
    if kind == "census":
        made = census_world(scenario, second, fourth)
    else:
        with second:
            law = pick_law(kind)
        with fourth:
            st.button(
                "Where it costs more", on_click=dearer, width="stretch",
                help="A world in which one agent sees everything, with outliers: there the "
                "weights of COLLAB are far from optimal.",
            )  # fmt: skip
        problem = problem_of(scenario)
        code = scenario_code(scenario) + f"problem = scenario.problem()\nlaw = {law!r}\n"
        made = problem and (problem, law, code, (scenario, law))
    if made is None:
        return None
    problem, law, code, key = made
    agents = tuple(f"agent {i + 1}" for i in range(problem.agents))
    if kind == "census":
        agents = census_study(people()).choice.states
    # On the map patterns are random, and the model is of all features.
    target: str | int = "full"
    if part != "map":
        with third:
            target = options.pick(
                "target", "Model of", ("full", *range(problem.agents)), usual_target(problem),
                words=lambda t: model_of(t, agents),
            )  # fmt: skip
    if target != "full" and problem.sizes[target] == 0:
        error_box(f"Agent {target + 1} sees nothing: there is nothing to estimate. Pick another.")
        return None
    return World(
        problem, law, LAWS[kind], code, (*key, target), target, agents, scenario.seed, scenario.n
    )  # fmt: skip


def usual_target(problem: cc.Problem) -> str | int:
    """The first agent who sees something: its own model varies less from trial to trial."""
    return int(np.flatnonzero(problem.sizes)[0])


def pick_law(kind: str) -> str:
    """The law as the library reads it: its name, with its parameter in brackets."""
    if kind not in PARAMETERS:
        st.caption(ABOUT[kind])
        return kind
    name, label, choices, usual = PARAMETERS[kind]
    value = options.pick(
        name, label, choices, usual, widget=st.select_slider, words=lambda v: f"{v:g}",
        help=ABOUT[kind],
    )  # fmt: skip
    return f"{kind}({value:g})"


def dearer() -> None:
    """Go to a world of the same size in which pretending costs much."""
    state.change(missing="hub", size=state.scenario().d // 2)
    options.put("law", "outliers")


def census_world(
    scenario: cc.Scenario, second: DeltaGenerator, fourth: DeltaGenerator
) -> tuple | None:
    loaded = people()
    if loaded is None:
        error_box(
            "No records are here: the dashboard holds only sums of them. Load PUMS files on the "
            "Census page (Data), your own or by download, and come back; or pick another law."
        )
        return None
    with second:
        relation = options.pick("relation", "Labels by", list(RELATIONS), "fitted",
                                words=RELATIONS.get)  # fmt: skip
    with fourth:
        asks = options.pick("asks", "Who asks what", list(ASKS), "own", words=ASKS.get)
    study = census_study(loaded)
    law = kept("census-law", study.sums.digest, lambda: loaded.feature_law(study))
    problem = cc.census.world_of(study, relation=relation, asks=asks, seed=scenario.seed)
    st.caption(
        f"{loaded.sums.source}: {len(law.rows):,} people of {', '.join(study.choice.states)}, "
        f"{problem.dimension} answers each, about their state's mean, drawn at random. Their own "
        "travel times are not used: labels follow a linear model, so that the truth is known. The "
        "sidebar's world does not count here, but for its seed and n."
    )
    paths = st.session_state.get("census-paths") or ["the files you uploaded"]
    code = (
        "import collab_core as cc\n\n"
        f"people = cc.census.People.from_files({paths}, 'mine')\n"
        f"choice = cc.census.{study.choice!r}\n"
        "study = cc.census.Study(people.sums, choice)\n"
        "law = people.feature_law(study)\n"
        f"problem = cc.census.world_of(study, relation={relation!r}, asks={asks!r}, "
        f"seed={scenario.seed})\n"
    )
    return problem, law, code, (study.sums.digest, relation, asks, scenario.seed, scenario.n)


def census_study(loaded: cc.census.People) -> cc.census.Study:
    states = loaded.sums.states[:MOST_STATES]
    asked = cc.census.paper_views(list(states), loaded.sums.questions)
    choice = cc.census.Choice(states, tuple(asked[s] for s in states), states[-1])
    return kept(
        "law-study", (loaded.sums.digest, choice), lambda: cc.census.Study(loaded.sums, choice)
    )


def kept(slot: str, key: object, make: Callable[[], Any]) -> Any:
    """Something of this session that is made anew only when its key changes."""
    held = st.session_state.get(slot)
    if held is None or held[0] != key:
        held = st.session_state[slot] = (key, make())
    return held[1]


def cost_of(world: World) -> float:
    return kept(
        "law-loss",
        world.key,
        lambda: pretending.loss(world.problem, world.law, world.target),
    )


# Error against n ---------------------------------------------------------------------------------


def curves(world: World, scenario: cc.Scenario) -> None:
    with st.expander("Trials, largest n, unlabelled samples, scale"):
        first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
        with first:
            trials = options.pick("trials", "Trials", TRIALS, 40, widget=st.select_slider)
        with second:
            largest = pick_largest(world, trials)
        with third:
            samples = options.pick(
                "samples", "Unlabelled samples", UNLABELLED, 5000, widget=st.select_slider,
                words=lambda v: f"{v:,}", help="From which the optimal weights are estimated.",
            )  # fmt: skip
        with fourth:
            scaled = options.switch(
                "scaled", "n × error", help="Theory of a consistent method is then a flat line."
            )
    sizes = grid(world.first(largest), largest)
    settings = Settings(features=world.law, unlabelled=samples)

    def work(report: run.Report, cancel: Event) -> dict[object, ErrorCurve]:
        return cc.simulate.error_curves(
            world.problem, sizes, trials, [world.target], METHODS, seed=world.seed,
            settings=settings, progress=report, cancel=cancel,
        )  # fmt: skip

    def draw(found: dict[object, ErrorCurve], final: bool) -> None:
        show_curves(world, found[world.target], sizes, trials, samples, scaled)

    run.panel(
        "law-curves", (world.key, sizes, trials, samples), work, draw, label="Simulate",
        help="Draws the agents' data sample by sample and runs every weighting on it.", auto=True,
    )  # fmt: skip


def pick_largest(world: World, trials: int) -> int:
    problem = world.problem
    values = [
        n for n in (100, 200, 500, 1000, 2000, 5000, 10_000, MOST_RAW) if n > 2 * world.lowest
    ]
    values = values or [8 * world.lowest]
    afford = BUDGET / (trials * problem.agents * problem.dimension)
    usual = max([n for n in values if n <= afford], default=values[0])
    return options.pick(
        "to", "Largest n", values, usual, widget=st.select_slider, words=lambda n: f"{n:,}",
        help="Such features are drawn one by one: more takes longer. Stop keeps what is there.",
    )  # fmt: skip


def grid(low: int, high: int, points: int = 8) -> tuple[int, ...]:
    return tuple(int(n) for n in np.unique(np.geomspace(low, high, points).round().astype(int)))


def show_curves(
    world: World, curve: ErrorCurve, sizes: tuple[int, ...], trials: int, samples: int, scaled: bool
) -> None:
    relative = curve.relative_to("collab")
    relative = relative[relative["method"].isin(GAIN)]
    words(gain_in_words(world, relative, sizes[-1]))
    code = (
        world.code
        + "curve = cc.simulate.error_curves(\n"
        + f"    problem, {list(sizes)}, {trials},\n"
        + f"    [{world.target!r}], {list(METHODS)}, seed={world.seed},\n"
        + f"    settings=cc.simulate.Settings(features=law, unlabelled={samples}),\n"
        + f")[{world.target!r}]\n"
    )
    left, right = columns("law-curves", "law-gain", sizes=[1, 1])
    with left:
        show(
            figures.weighting_errors(
                curve.frame, FOCUS, title=f"Any weights: errors go to zero ({world.whose})",
                scaled=scaled, height=390,
            ),
            key="law-curves",
            alt="Simulated error of every weighting against n, theory as lines.",
            frame=curve.frame,
            formula=CURVES_FORMULA,
            code=code + "frame = curve.frame\nprint(frame)\n",
        )  # fmt: skip
    with right:
        show(
            figures.relative_errors(
                relative,
                "collab",
                title="Optimal weights: error over COLLAB's",
                height=390,
            ),
            key="law-gain",
            alt="Error of optimal weights over that of COLLAB's Gaussian weights, against n.",
            frame=relative,
            formula=GAIN_FORMULA,
            code=code
            + "frame = curve.relative_to('collab')\n"
            + f"frame = frame[frame['method'].isin({list(GAIN)})]\nprint(frame)\n",
        )
    words(curves_in_words(world, curve, samples, scaled))


def gain_in_words(world: World, relative: pd.DataFrame, n: int) -> str:
    """Measured against promised, at the largest n."""
    said = pretending_in_words(world)
    found = relative[relative["n"] == n].set_index("method")
    if found.empty or found["low"].isna().any() or cost_of(world) < LITTLE:
        return said
    best, estimated = found.loc["collab_oracle"], found.loc["collab_optimal"]
    inside = "within" if best["low"] <= best["theory"] <= best["high"] else "outside"
    return (
        f"{said} At n = {n:,}, on the same trials, W* errs {change(best)} than COLLAB's weights "
        f"(95%: {best['low'] - 1:+.1%} to {best['high'] - 1:+.1%}); theory says "
        f"{best['theory'] - 1:+.1%}, {inside} that interval. The estimated weights err "
        f"{change(estimated)} ({estimated['low'] - 1:+.1%} to {estimated['high'] - 1:+.1%})."
    )


def change(row: pd.Series) -> str:
    return f"{abs(row['ratio'] - 1):.1%} {'less' if row['ratio'] < 1 else 'more'}"


def pretending_in_words(world: World) -> str:
    lost = cost_of(world)
    if world.law == "gaussian":
        return f"**{GAUSSIAN}**"
    if lost == 0:
        return f"**{NOTHING_LOST}**{why_little(world.problem)}"
    if lost < LITTLE:
        return (
            "**Pretending that these features are Gaussian costs next to nothing here: "
            f"{lost:.1g} of the error.**{why_little(world.problem)}"
        )
    return (
        f"**Pretending that these features are Gaussian makes the error {lost:.1%} larger than "
        f"need be ({world.name.lower()}, {world.whose}).**"
    )


def why_little(problem: cc.Problem) -> str:
    """The reason why weights hardly matter, where it is this one."""
    most = float(problem.irreducible.max() / problem.noise**2)
    if most >= 0.1:
        return ""
    return f" What agents do not see explains little: at most {most:.1%} of what the noise does."


GAUSSIAN = "Features are Gaussian: COLLAB's weights are the optimal ones, and nothing is lost."
NOTHING_LOST = "In this world pretending costs nothing: no other weights would do better."


def curves_in_words(world: World, curve: ErrorCurve, samples: int, scaled: bool) -> str:
    frame = curve.frame
    done = int(frame["trials"].max())
    said = []
    first, last = curve.sample_sizes[0], curve.sample_sizes[-1]
    falls = {
        key: start / end
        for key in ("collab", "identity")
        if (start := curve.mean(key, first)) and (end := curve.mean(key, last))
    }
    if len(falls) == 2:
        said.append(
            f"Consistent whatever the weights: from n = {first:,} to {last:,}, "
            f"{times(last / first)} times the samples, errors fell by a factor of "
            f"{times(falls['collab'])} with COLLAB's weights and of {times(falls['identity'])} "
            "with identity weights. In the long run the factor is that of the samples for all; "
            "weights only change what stands before 1/n."
        )
    outside = figures.beyond_axis(frame, FOCUS, scaled)
    if len(outside):
        worst = outside.loc[outside["mean"].idxmax()]
        names = ", ".join(dict.fromkeys(figures.label(key) for key in outside["method"]))
        said.append(
            f"Above the figure: {names}, up to {worst['mean']:.3g} at n = {worst['n']:,}, where "
            "samples are too small for such features."
        )
    if curve.irreducible > 0:
        said.append(
            f"What {world.agents[int(world.target)]} does not see costs it {curve.irreducible:.3g} "
            "whatever n is; it is not in these errors."
        )
    if world.target == "full":
        said.append("Local OLS is a newcomer who sees all features and has n samples of its own.")
    so_far = " so far" if curve.partial else ""
    said.append(
        f"{counted_trials(frame['trials'])}{so_far}, {samples:,} unlabelled samples in each, Σ "
        "known; bands and bars are 95% intervals, lines are theory for large n, integrated over "
        "the law (for estimated weights: W*'s, as with endless unlabelled samples)."
        if done
        else "Points come as trials are done; lines are theory for large n."
    )
    return "\n".join(f"- {sentence}" for sentence in said)


# What it costs -----------------------------------------------------------------------------------


def cost(world: World, scenario: cc.Scenario) -> None:
    problem = world.problem
    found = kept(
        "law-covariances",
        world.key,
        lambda: pretending.covariances(problem, world.law, world.target),
    )
    table = pretending.errors(found, problem, world.target).set_index("method")
    words(cost_in_words(world, table))
    left, right = columns("law-ellipses", "law-costs", sizes=[1.15, 1])
    with left:
        show_ellipses(world, found, table)
        if dwarfs(table):
            st.caption(
                f"{figures.label('local')} would dwarf the other ellipses; its error is below."
            )
    with right:
        if isinstance(world.law, str):
            show_laws(world)
        else:
            show_agents(world)
    show_errors(world, table)
    if isinstance(world.law, str):
        words(
            "Synthetic laws, each white, then coloured by this world's Σ. Where tails are "
            "independent from feature to feature, what is unseen matters only as far as Σ ties it "
            "to what is seen, and with many features mixing makes it nearly Gaussian. Where a "
            "whole sample is wild at once, what an agent does not see is wild when what it sees "
            "is: those who see all should count for more, and it costs where some do."
        )


def cost_in_words(world: World, table: pd.DataFrame) -> str:
    said = pretending_in_words(world)
    lost, alone = table.loc["collab"], table.loc["local"]
    if lost["loss"] >= LITTLE:
        said += (
            f" It is as if every agent had thrown away {lost['wasted']:.1%} of its labelled "
            f"samples; in the worst direction the variance is {lost['worst']:.0%} above the "
            "optimum."
        )
    others = [f"{figures.label(key)} {above(table.loc[key])}" for key in ("imputation", "identity")]
    said += f" Against the optimum: {', '.join(others)}, {alone_is(world)} {above(alone)}."
    if world.target == "full" or lost["loss"] < LITTLE:
        return said
    if alone["error"] < lost["error"]:
        said += (
            f" **On its own {world.agents[int(world.target)]} would even do better than with "
            "COLLAB's weights.** Gaussian features rule that out, and so do optimal weights."
        )
    return said


def alone_is(world: World) -> str:
    """What Local OLS is for this target."""
    if world.target == "full":
        return "a newcomer's own least squares (all features, n samples)"
    return f"{world.agents[int(world.target)]} alone"


def times(factor: float) -> str:
    """A factor as people write it: 3.4, 860, 87,000."""
    return f"{factor:.2g}" if factor < 10 else two_digits(factor)


def above(row: pd.Series) -> str:
    """How far an error is above the optimum; times where percents grow long."""
    if row["loss"] >= 2:
        return f"{times(1 + row['loss'])} times it"
    return f"{abs(row['loss']):.0%} {'below' if row['loss'] < -0.005 else 'above'}"


def dwarfs(table: pd.DataFrame) -> bool:
    """Whether working alone errs so much more that the other ellipses would be dots in its own."""
    return bool(table.loc["local", "error"] > 6 * table["error"].drop("local").max())


def show_errors(world: World, table: pd.DataFrame) -> None:
    frame = table.reset_index()
    frame = frame.sort_values("error", ascending=False, kind="stable", ignore_index=True)
    show(
        figures.errors_by_method(
            frame, title=f"n × error, for large n ({world.whose})",
            axis="n × prediction error", height=300,
        ),
        key="law-errors",
        alt="n times the error of every weighting as n grows, by formula.",
        frame=frame,
        formula=COST_FORMULA,
        code=world.code
        + f"found = cc.gaussian_cost.covariances(problem, law, {world.target!r})\n"
        + f"frame = cc.gaussian_cost.errors(found, problem, {world.target!r})\n"
        + "frame = frame.sort_values('error', ascending=False, kind='stable', ignore_index=True)\n"
        + "print(frame)\n",
    )  # fmt: skip


def show_ellipses(world: World, found: dict[str, np.ndarray], table: pd.DataFrame) -> None:
    truth = ellipses.truth(world.problem, world.target)
    chosen = {key: found[key] for key in pretending.COMPARED}
    if dwarfs(table):
        del chosen["local"]
    code = (
        world.code
        + f"found = cc.gaussian_cost.covariances(problem, law, {world.target!r})\n"
        + f"found = {{key: found[key] for key in {list(chosen)}}}\n"
        + f"truth = cc.ellipses.truth(problem, {world.target!r})\n"
    )
    about = {
        "key": "law-ellipses",
        "alt": "95% ellipses of estimates by weighting, where Gaussian and optimal differ most.",
        "formula": COST_FORMULA,
    }
    if len(truth) < 2:
        reach = ellipses.interval_reach(0.95)
        widths = {key: reach * float(np.sqrt(C[0, 0] / world.n)) for key, C in chosen.items()}
        show(
            figures.intervals(widths, float(truth[0]), "the coefficient",
                              title="95% intervals by weighting", height=460),
            frame=pd.DataFrame({"method": list(widths), "half_width": list(widths.values())}),
            code=code + "reach = cc.ellipses.interval_reach(0.95)\n"
            + f"frame = [reach * (C[0, 0] / {world.n}) ** 0.5 for C in found.values()]\n"
            + "print(frame)\n",
            **about,
        )  # fmt: skip
        return
    plane = ellipses.most_different(found["collab"], found["collab_oracle"])
    frame = ellipses.picture(chosen, plane, truth, world.n, 0.95)
    show(
        figures.ellipses(
            frame, plane.names, title="Where Gaussian and optimal weights differ most", height=460
        ),
        frame=frame,
        code=code
        + "plane = cc.ellipses.most_different(found['collab'], found['collab_oracle'])\n"
        + f"frame = cc.ellipses.picture(found, plane, truth, {world.n}, 0.95)\nprint(frame)\n",
        **about,
    )


def laws_compared(world: World) -> dict[str, str]:
    """A law of every kind by its name, the one at hand with its own parameter."""
    found = {}
    for kind, name in LAWS.items():
        if kind == "census":
            continue
        law = kind
        if kind in PARAMETERS:
            law = f"{kind}({PARAMETERS[kind][-1]:g})"
        if str(world.law).partition("(")[0] == kind:
            law = str(world.law)
        _, _, value = law.partition("(")
        found[f"{name} ({value}" if value else name] = law
    return found


def show_laws(world: World) -> None:
    laws = laws_compared(world)
    frame = kept(
        "law-table",
        (world.key, tuple(laws.values())),
        lambda: pretending.by_law(world.problem, laws, world.target),
    )
    here = next(name for name, law in laws.items() if law == world.law)
    dearest = frame.iloc[0]
    title = f"By law: at most {dearest['loss']:.1%} here" if dearest["loss"] > 0 else "No law costs"
    show(
        figures.losses_by_law(frame, "law", here=here, title=title, height=460),
        key="law-costs",
        alt="Cost of pretending in this world under every law of features.",
        frame=frame,
        formula=COST_FORMULA,
        code=world.code
        + f"laws = {laws!r}\n"
        + f"frame = cc.gaussian_cost.by_law(problem, laws, {world.target!r})\nprint(frame)\n",
    )


def show_agents(world: World) -> None:
    frame = pretending.by_agent(world.problem, world.law)
    frame = frame.sort_values("loss", ascending=False, kind="stable").head(12)
    show(
        figures.losses_by_law(
            frame.assign(name=[world.agents[agent - 1] for agent in frame["agent"]]), "name",
            title="To each state's own model", height=460,
        ),
        key="law-agents",
        alt="Cost of pretending to every agent's own model.",
        frame=frame,
        formula=COST_FORMULA,
        code=world.code
        + "frame = cc.gaussian_cost.by_agent(problem, law)\n"
        + "frame = frame.sort_values('loss', ascending=False, kind='stable').head(12)\n"
        + "print(frame)\n",
    )  # fmt: skip


# Where it matters --------------------------------------------------------------------------------


def where(world: World, scenario: cc.Scenario) -> None:
    if not isinstance(world.law, str):
        error_box("The map is over synthetic laws of the sidebar's world: pick one of those.")
        return
    left, _ = st.columns([1, 1.5])
    with left:
        draws = options.pick(
            "draws", "Patterns of missing features", DRAWS, 100, widget=st.select_slider,
            help="Drawn at random for every share missing, and averaged over: more make the map "
            "surer.",
        )  # fmt: skip
    shares = shares_of(scenario.m)

    def work(report: run.Report, cancel: Event) -> pd.DataFrame:
        return pretending.loss_map(
            scenario, KURTOSES, shares, draws=draws, progress=report, cancel=cancel
        )

    def draw(frame: pd.DataFrame, final: bool) -> None:
        if not frame.empty:
            show_map(world, scenario, frame, draws)

    run.panel(
        "law-map", (scenario, draws), work, draw, label="Draw the map",
        help="Works out the cost for every square, by formula.", auto=True, below=True,
    )  # fmt: skip


def shares_of(agents: int) -> tuple[float, ...]:
    """Shares that can be missing, every feature being seen by somebody."""
    return tuple(share for share in MISSING if share < pretending.most_missing(agents)) or (0.0,)


def show_map(world: World, scenario: cc.Scenario, frame: pd.DataFrame, draws: int) -> None:
    law = FeatureLaw.of(world.law)
    tails = law.tails if isinstance(law, FeatureLaw) else None
    shares = shares_of(scenario.m)
    missing = float(1 - world.problem.mask.mean())
    off = off_the_map(tails, missing, shares)
    words(map_in_words(frame, draws))
    done = int(frame["draws"].max())
    code = (
        scenario_code(scenario)
        + f"frame = cc.gaussian_cost.loss_map(\n    scenario, {list(KURTOSES)},\n"
        + f"    {list(shares)}, draws={done},\n)\n"
    )
    left, right = columns("law-map", "law-map-common", sizes=[1, 1])
    panels = (
        (left, "law-map", "independent", "Every feature with tails of its own"),
        (right, "law-map-common", "common", "One scale common to all features"),
    )
    for column, key, kind, title in panels:
        rows = frame[frame["kind"] == kind].reset_index(drop=True)
        ring = not off and tails is not None and tails.kind == kind
        here = (missing, tails.kurtosis) if ring and tails is not None else None
        with column:
            show(
                figures.loss_heatmap(frame, kind, title=title, here=here, ink=ink(), height=440),
                key=key,
                alt=f"Cost of pretending over share missing and tail weight. {title}.",
                frame=rows,
                formula=MAP_FORMULA,
                code=code
                + f"frame = frame[frame['kind'] == {kind!r}].reset_index(drop=True)\n"
                + "print(frame)\n",
            )
    lost = pretending.loss(world.problem, world.law)
    unequal = np.ptp(world.problem.shares) > 0
    said = [
        "By formula, for a model of all features with this Σ, θ, σ and m, and equal n. Only the "
        "fourth moments of a law count, so a square is every law of that kurtosis whose features "
        "are independent before Σ mixes them (left: rare answers, Student t, exponential, uniform, "
        "signs) or share one scale (right: outliers, Student t with a common scale).",
        (off or "The ring is the square nearest to this world's share missing and law.")
        + " With who sees what in this world instead of at random"
        + (", and its unequal n_i," if unequal else "")
        + f" it is {lost:.1%}.",
    ]
    if len(shares) < len(MISSING):
        said.append(
            f"Every feature is seen by somebody, so of {scenario.m} agents' features at most "
            f"{pretending.most_missing(scenario.m):.0%} can be missing."
        )
    words("\n".join(f"- {sentence}" for sentence in said))


def off_the_map(tails: Tails | None, missing: float, shares: tuple[float, ...]) -> str:
    """Why no square is this world's, or nothing."""
    if tails is None:
        return (
            "No square is this law's: two clusters are far from Gaussian along one direction only."
        )
    if tails.kurtosis > 1.1 * KURTOSES[-1]:
        return f"This law's excess kurtosis, {tails.kurtosis:.3g}, is above the map."
    # Half a column beyond the last one is still nearest to it.
    if not shares[0] - 0.05 <= missing <= shares[-1] + 0.05:
        return f"This world's share missing, {missing:.0%}, is beside the map."
    return ""


def map_in_words(frame: pd.DataFrame, draws: int) -> str:
    said = []
    for kind, name in (("independent", "independent tails"), ("common", "a common scale")):
        rows = frame[frame["kind"] == kind]
        top = rows.loc[rows["loss"].idxmax()]
        said.append(
            f"with {name} at most {plus_minus(top['loss'], top['error'])} (at "
            f"{top['missing']:.0%} missing, excess kurtosis {top['kurtosis']:g})"
        )
    done = int(frame["draws"].max())
    sure = "one pattern" if done == 1 else f"means over {done} patterns ± standard error"
    so_far = f", of {draws} so far" if done < draws else ""
    return (
        f"**What pretending costs over tail weight and share missing:** {'; '.join(said)}. "
        f"These are {sure}{so_far}."
    )


# Unlabelled samples ------------------------------------------------------------------------------


def unlabelled(world: World, scenario: cc.Scenario) -> None:
    first, second, third = st.columns(3)
    with first:
        trials = options.pick("sets", "Trials", TRIALS, 20, widget=st.select_slider)
    allowed = [n for n in LABELLED if n >= 2 * world.lowest] or [2 * world.lowest]
    with second:
        n = options.pick(
            "labelled", "Labelled samples of each agent, n", allowed,
            1000 if 1000 in allowed else allowed[0], widget=st.select_slider,
            words=lambda v: f"{v:,}",
        )  # fmt: skip
    with third:
        most = options.pick(
            "most", "Most unlabelled samples", UNLABELLED[2:], 20_000, widget=st.select_slider,
            words=lambda v: f"{v:,}",
        )  # fmt: skip
    sizes = grid(max(20, world.problem.dimension), most, 9)

    def work(report: run.Report, cancel: Event) -> UnlabelledCurve:
        return cc.unlabelled.curve(
            world.problem, n, sizes, trials, world.target, features=world.law, seed=world.seed,
            progress=report, cancel=cancel,
        )  # fmt: skip

    def draw(curve: UnlabelledCurve, final: bool) -> None:
        words(unlabelled_in_words(world, curve))
        show(
            figures.unlabelled_errors(
                curve.frame, {"collab": curve.gaussian, "collab_oracle": curve.optimal}, n=n,
                measured=(curve.scaled("collab") or (None,))[0], break_even=pays_from(curve),
                between=curve.break_even_range, title=unlabelled_title(curve), height=400,
            ),
            key="unlabelled",
            alt="Error of estimated optimal weights against the number of unlabelled samples.",
            frame=curve.frame,
            formula=UNLABELLED_FORMULA,
            code=world.code
            + "curve = cc.unlabelled.curve(\n"
            + f"    problem, {n}, {list(sizes)}, {trials}, {world.target!r},\n"
            + f"    features=law, seed={world.seed},\n)\n"
            + "frame = curve.frame\nprint(frame)\n",
        )  # fmt: skip
        words(measured_in_words(curve))

    run.panel(
        "unlabelled", (world.key, n, sizes, trials), work, draw, label="Simulate",
        help="Draws labelled and unlabelled samples, and weights from more and more of the latter.",
        auto=True,
    )  # fmt: skip


def pays_from(curve: UnlabelledCurve) -> float | None:
    """Where optimal weights begin to pay, if there is anything to win."""
    return curve.break_even if curve.loss >= LITTLE else None


def how_many(curve: UnlabelledCurve, pays: float) -> str:
    """The break-even, to the digits that are known."""
    if pays <= curve.sizes[0]:
        return f"fewer than {curve.sizes[0]:,}"
    return f"about {two_digits(pays)}"


def unlabelled_title(curve: UnlabelledCurve) -> str:
    pays = pays_from(curve)
    if pays is None:
        return "Unlabelled samples and error"
    return f"It takes {how_many(curve, pays)} unlabelled samples"


def unlabelled_in_words(world: World, curve: UnlabelledCurve) -> str:
    lost = cost_of(world)
    if lost < LITTLE:
        return (
            pretending_in_words(world)
            + " Estimated weights can only come near it, from above: there is nothing to gain."
        )
    if not any(values.size for values in curve.limits.values()):
        return pretending_in_words(world)
    pays, saved = pays_from(curve), pretending.saving(lost)
    if pays is None:
        return (
            f"**Even {curve.sizes[-1]:,} unlabelled samples are too few: weights estimated from "
            f"them are worse than Gaussian ones, though optimal ones would save {saved:.1%}.**"
        )
    return (
        f"**Optimal weights pay from {how_many(curve, pays)} unlabelled samples on (for large n"
        f"{range_in_words(curve)}).** With {curve.sizes[-1]:,} they win {curve.won:.0%} of the "
        f"{saved:.1%} of the error that there is to save."
    )


def range_in_words(curve: UnlabelledCurve) -> str:
    between = curve.break_even_range
    if between is None or between[1] == between[0]:
        return ""
    low, high = between
    lowest = f"fewer than {curve.sizes[0]:,}" if low <= curve.sizes[0] else two_digits(low)
    highest = f"more than {curve.sizes[-1]:,}" if high is None else two_digits(high)
    return f"; 95%: {lowest} to {highest}, over the trials"


def measured_in_words(curve: UnlabelledCurve) -> str:
    gaussian = curve.scaled("collab")
    if gaussian is None:
        return ""
    said = (
        f"- At n = {curve.n:,} n × error was {gaussian[0]:.3g} with Gaussian weights on the same "
        f"trials, {curve.scaled('collab_oracle')[0]:.3g} with W*."
    )
    if curve.pays_from is not None:
        said += (
            f" From {curve.pays_from:,} unlabelled samples on, the paired 95% interval of the "
            "difference lies below 0 for estimated weights; with fewer it does not."
        )
    else:
        said += (
            " The paired 95% interval of the difference holds 0 for estimated weights, or they "
            "are worse: these trials cannot tell that they pay."
        )
    return (
        said + "\n- The line has no label noise in it: for every trial's unlabelled samples the "
        "error of their weights is known by formula (n large, theta known). Points have all: "
        "plug-in theta, estimated noise, n labelled samples; the band is a 95% interval. Σ is "
        "known to all."
    )


CURVES_FORMULA = """
$\\hat\\theta(W) = (\\sum T_i'W_iT_i)^{-1}\\sum T_i'W_i\\hat\\theta_i$ is consistent for any
weights, with covariance $C(W)/n$, $C(W) = M^{-1}(\\sum T_i'W_i(W_i^*)^{-1}W_iT_i)M^{-1}$,
$M = \\sum T_i'W_iT_i$ (Theorem 3.1). Lines are $\\mathrm{tr}(\\Sigma C(W))/n$; the optimum is
$W_i^* = \\Sigma_{i+}Q_i^{-1}\\Sigma_{i+}$,
$Q_i = E[x_+(\\theta_-'z)^2x_+'] + \\sigma^2\\Sigma_{i+}$, COLLAB has
$W_i = \\hat\\Sigma_{i+}/R_i$. Estimated: $Q_i$ averaged over unlabelled samples with COLLAB's
$\\hat\\theta$. At finite $n$ optimal weights are stretched as the agent's own sample is, so that
for Gaussian features they are Algorithm 1's (ours, a heuristic; the limit is $W^*$'s).
"""

GAIN_FORMULA = """
Mean error over COLLAB's mean error on the same trials; the interval of the ratio is by the delta
method. Lines: $\\mathrm{tr}(\\Sigma C(W^*))/\\mathrm{tr}(\\Sigma C(W^g))$.
"""

COST_FORMULA = """
Cost $= \\mathrm{tr}(\\Sigma C(W^g))/\\mathrm{tr}(\\Sigma C(W^*)) - 1$. With
$a = \\Sigma^{1/2}(\\theta - P_i'T_i\\theta)$ and white $z$, $Q_i$ is a block of
$\\Sigma^{1/2}E[(a'z)^2zz']\\Sigma^{1/2} + \\sigma^2\\Sigma$, in closed form: independent
coordinates of excess kurtosis $\\kappa$ add $\\kappa\\,\\mathrm{diag}(a^2)$ to a Gaussian's, a
common scale $r$ multiplies by $E r^4$; records are averaged over. Ellipses: 95%, at the sidebar's
$n$.
"""

MAP_FORMULA = """
Cost of Gaussian weights for a model of all features, mean over patterns in which every feature of
every agent is missing with one probability; what nobody would see is given to an agent at random,
and shares are after that. Independent tails:
$Q_i = s_i\\Sigma_{i+} + \\kappa P_i\\Sigma^{1/2}\\mathrm{diag}(a^2)\\Sigma^{1/2}P_i'$.
Common scale: $Q_i = (s_i + \\frac{\\kappa}{3}\\theta_{i-}'\\Gamma_i\\theta_{i-})\\Sigma_{i+}$:
only how much an agent counts changes, and only if agents differ in how much they do not see.
"""

UNLABELLED_FORMULA = """
Weights $\\Sigma_{i+}\\hat Q_i^{-1}\\Sigma_{i+}$ with $\\hat Q_i$ from $N_u$ unlabelled samples.
Line: $\\mathrm{tr}(\\Sigma C(\\hat W))$ averaged over draws of the unlabelled samples; it pays
where this falls below $\\mathrm{tr}(\\Sigma C(W^g))$, between sizes by a straight line in the
logarithms; its range is that of 400 draws of the trials with replacement. A measured number, not a
theorem.
"""

main()
