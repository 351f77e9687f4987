"""Ellipses: covariances as confidence ellipses, nested as theory says, with estimates over them."""

from dataclasses import dataclass
from itertools import pairwise
from threading import Event

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.answers import ellipses
from collab_core.runs.simulate import Sample
from pages.shared import options, run, state
from pages.shared.panel import columns, scenario_code, show
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page, problem_of

PARTS = {
    "plane": "One plane",
    "matrix": "Many planes",
    "lab": "Weights lab",
    "play": "Play",
}
PLANES = {
    "coordinates": "Two coefficients",
    "principal": "Principal directions of Σ",
    "different": "Where two differ most",
    "own": "My directions",
}
LEVELS = (0.5, 0.68, 0.9, 0.95, 0.99)
TRIALS = (0, 100, 300, 1000, 3000)
#: Covariances of methods that a simulation can run; the others have ellipses only.
SIMULATED = ("local", "pooled_moments", "imputation", "collab", "collab_plus")
USUAL = {"full": ("imputation", "collab", "collab_plus", "strong"),
         "agent": ("local", "collab", "collab_plus", "strong")}  # fmt: skip
MOST_COORDINATES = 5
#: Tilts are powers of two; this many sliders are shown at a time.
MOST_TILT, SLIDERS = 3.0, 12


@dataclass(frozen=True)
class View:
    """What is looked at: whose model, which plane of it, at which level."""

    target: str | int
    names: list[str]
    found: dict[str, np.ndarray]
    truth: np.ndarray
    plane: ellipses.Plane
    plane_code: str
    level: float

    @property
    def code(self) -> str:
        """Lines that make covariances and plane."""
        return (
            "problem = scenario.problem()\n"
            f"found = cc.ellipses.covariances(problem, {self.target!r})\n"
            f"found = {{key: found[key] for key in {list(self.found)}}}\n"
            f"plane = {self.plane_code}\n"
            f"truth = cc.ellipses.truth(problem, {self.target!r})\n"
        )


@st.cache_data(max_entries=64, show_spinner=False)
def covariances(scenario: cc.Scenario, target: str | int) -> dict[str, np.ndarray]:
    return ellipses.covariances(scenario.problem(), target)


def main() -> None:
    with page() as scenario:
        part = heading("Ellipses", PARTS)
        problem = problem_of(scenario)
        if problem is None:
            return
        draw = {"plane": one_plane, "matrix": many_planes, "lab": weights_lab, "play": play}[part]
        try:
            view = look(scenario, problem, part)
            if view is not None:
                draw(scenario, problem, view)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be drawn: {reason}.")


# What is looked at -------------------------------------------------------------------------------


def look(scenario: cc.Scenario, problem: cc.Problem, part: str) -> View | None:
    """The page's controls; None where there is nothing to draw, which was then said."""
    first, second, third, fourth = st.columns([1.1, 1.3, 1.3, 1], vertical_alignment="bottom")
    with first:
        # Tilted weights are a matter of the whole model.
        target = "full"
        if part != "lab":
            target = options.pick(
                "target", "Model", ("full", *range(problem.agents)), "full",
                words=lambda t: "All features" if t == "full" else f"Agent {t + 1}'s own",
            )  # fmt: skip
    view = np.arange(problem.dimension) if target == "full" else problem.views[target]
    names = [f"x{j + 1}" for j in view]
    with fourth:
        level = options.pick(
            "level", "Level", LEVELS, 0.95, widget=st.select_slider, words=lambda v: f"{v:.0%}"
        )
    if view.size == 0:
        error_box(f"Agent {target + 1} sees nothing, so it has no model. Pick another.")
        return None
    found = covariances(scenario, target)
    truth = ellipses.truth(problem, target)
    if view.size == 1:
        one_coefficient(scenario, target, found, truth, names[0], level)
        return None
    if part == "matrix":
        plane, code = ellipses.coordinates(view.size, 0, 1), ""
    else:
        with second:
            kind = options.pick("plane", "Plane", list(PLANES), "coordinates", words=PLANES.get)
        with third:
            picked = pick_plane(problem, target, kind, names, found)
        if picked is None:
            return None
        plane, code = picked
    return View(target, names, found, truth, plane, code, level)


def pick_plane(
    problem: cc.Problem,
    target: str | int,
    kind: str,
    names: list[str],
    found: dict[str, np.ndarray],
) -> tuple[ellipses.Plane, str] | None:
    k = len(names)
    if kind == "different":
        keys = list(found)
        left, right = st.columns(2)
        with left:
            first = options.pick("one", "Between", keys, "imputation", words=figures.label)
        with right:
            second = options.pick("other", "and", keys, "strong", words=figures.label)
        if first == second:
            error_box("Pick two different covariances.")
            return None
        code = f"cc.ellipses.most_different(found[{first!r}], found[{second!r}])"
        return ellipses.most_different(found[first], found[second]), code.replace(
            "found[", f"cc.ellipses.covariances(problem, {target!r})["
        )
    if kind == "own":
        return own_plane(k)
    left, right = st.columns(2)
    usual = ellipses.most_biased(problem, target) if kind == "coordinates" else (0, 1)

    def called(index: int) -> str:
        return names[index] if kind == "coordinates" else f"number {index + 1}"

    with left:
        across = options.pick("x", "Across", range(k), usual[0], words=called)
    with right:
        up = options.pick("y", "Up", range(k), usual[1], words=called)
    if across == up:
        error_box("Pick two different directions: one alone has no ellipse.")
        return None
    if kind == "principal":
        sigma = problem.covariance if target == "full" else problem.geometry.block(int(target))
        matrix = "problem.covariance" if target == "full" else f"problem.geometry.block({target})"
        code = f"cc.ellipses.principal({matrix}, {across}, {up})"
        return ellipses.principal(sigma, across, up), code
    titles = (f"coefficient of {names[across]}", f"coefficient of {names[up]}")
    return (
        ellipses.coordinates(k, across, up, titles),
        f"cc.ellipses.coordinates({k}, {across}, {up})",
    )


def own_plane(k: int) -> tuple[ellipses.Plane, str] | None:
    left, right = st.columns(2)
    usual = [" ".join("1" if j == i else "0" for j in range(k)) for i in (0, 1)]
    with left:
        first = options.text("u", "First", usual[0], help=f"{k} numbers.")
    with right:
        second = options.text("v", "Second", usual[1], help=f"{k} numbers.")
    try:
        rows = [numbers(text) for text in (first, second)]
        return ellipses.own_directions(*rows, k), f"cc.ellipses.own_directions({rows[0]}, {rows[1]}, {k})"  # fmt: skip  # noqa: E501
    except ValueError as reason:
        error_box(f"My directions: {reason}.")
        return None


def numbers(text: str) -> list[float]:
    found = []
    for part in text.replace(",", " ").split():
        try:
            found.append(float(part))
        except ValueError:
            raise ValueError(f"{part[:20]!r} is not a number") from None
    return found


def choose(view: View) -> dict[str, np.ndarray]:
    """The covariances to draw."""
    usual = USUAL["full" if view.target == "full" else "agent"]
    keys = options.several("show", "Ellipses", list(view.found), usual, words=figures.label)
    return {key: view.found[key] for key in view.found if key in keys}


def one_coefficient(
    scenario: cc.Scenario, target: str | int, found: dict[str, np.ndarray], truth: np.ndarray,
    name: str, level: float,
) -> None:  # fmt: skip
    words("**One coefficient has no ellipse, only an interval:** the same order, on a line.")
    reach = cc.ellipses.interval_reach(level)
    widths = {key: reach * float(np.sqrt(C[0, 0] / scenario.n)) for key, C in found.items()}
    show(
        figures.intervals(
            widths, float(truth[0]), f"coefficient of {name}",
            title=f"{level:.0%} intervals at n = {scenario.n:,}",
        ),
        key="ellipses",
        alt="Intervals of the only coefficient by method and bound.",
        frame=pd.DataFrame({"method": list(widths), "half_width": list(widths.values())}),
        formula=FORMULA,
        code=scenario_code(scenario)
        + "problem = scenario.problem()\n"
        + "import numpy as np\n\n"
        + f"found = cc.ellipses.covariances(problem, {target!r})\n"
        + f"reach = cc.ellipses.interval_reach({level})\n"
        + "frame = {key: reach * np.sqrt(C[0, 0] / scenario.n) for key, C in found.items()}\n"
        + "print(frame)\n",
    )  # fmt: skip


# One plane ---------------------------------------------------------------------------------------


def one_plane(scenario: cc.Scenario, problem: cc.Problem, view: View) -> None:
    left, right = st.columns([2.4, 1], vertical_alignment="bottom")
    with left:
        chosen = choose(view)
    with right:
        trials = options.pick("trials", "Simulated estimates", TRIALS, 300, widget=st.select_slider)
    if not chosen:
        error_box("Pick at least one ellipse.")
        return
    methods = [key for key in chosen if key in SIMULATED] + ["naive_collab"]

    def work(report: run.Report, cancel: Event) -> Sample:
        # Ellipses need no simulation: they are drawn before the first estimate is in.
        report(0.0, Sample({}, view.truth, {}))
        if not trials:
            return Sample({}, view.truth, {})
        return cc.simulate.sample_estimates(
            problem, scenario.n, trials, methods, view.target, seed=scenario.seed,
            progress=report, cancel=cancel,
        )  # fmt: skip

    def draw(sample: Sample, final: bool) -> None:
        draw_plane(scenario, problem, view, chosen, sample, methods, trials)

    run.panel(
        "ellipses", (scenario, view.target, tuple(methods), trials), work, draw,
        label="Simulate", help="Draws the agents' data again and again.", auto=True, below=True,
    )  # fmt: skip


def draw_plane(
    scenario: cc.Scenario,
    problem: cc.Problem,
    view: View,
    chosen: dict[str, np.ndarray],
    sample: Sample,
    methods: list[str],
    trials: int,
) -> None:
    pairs = ellipses.comparisons(chosen, view.plane)
    words(nesting(pairs, list(chosen)))
    frame = ellipses.picture(
        chosen, view.plane, view.truth, scenario.n, view.level, sample.estimates
    )
    shown = View(**{**vars(view), "found": chosen})
    simulated = (
        "sample = cc.simulate.sample_estimates(\n"
        f"    problem, scenario.n, {trials}, {methods}, {view.target!r}, seed=scenario.seed\n)\n"
        if sample.estimates
        else ""
    )
    given = ", sample.estimates" if sample.estimates else ""
    show(
        figures.ellipses(
            frame,
            view.plane.names,
            title=f"{view.level:.0%} ellipses at n = {scenario.n:,}",
            height=450,
        ),
        key="ellipses",
        alt="Confidence ellipses of methods and bounds in a plane, with simulated estimates.",
        frame=frame,
        formula=FORMULA,
        code=scenario_code(scenario)
        + shown.code
        + simulated
        + f"frame = cc.ellipses.picture(found, plane, truth, scenario.n, {view.level}{given})\n"
        + "print(frame)\n",
    )
    words(crossings(pairs))
    if sample.estimates:
        words(shares(problem, view, sample, scenario.n))
    for key in sample.notes:
        if key not in sample.estimates:
            words(f"{figures.label(key)} has no points: too few samples for the features seen.")
    words(sizes(ellipses.measures(view.found, view.plane, scenario.n, view.level), chosen))


def nesting(pairs: pd.DataFrame, keys: list[str]) -> str:
    """The order in words: a chain where there is one."""
    if len(keys) < 2:
        return f"**The ellipse of {figures.label(keys[0])}.** Pick another to compare it with."
    if (pairs["relation"] == "neither").any():
        return (
            "**Not all of these are ordered:** some are better in one direction and worse in "
            "another, as said below the figure."
        )
    inside = dict.fromkeys(keys, 0)
    same = set()
    for row in pairs.itertuples():
        if row.relation == "equal":
            same.add(frozenset((row.first, row.second)))
        else:
            inside[row.first if row.relation == "inside" else row.second] += 1
    # Best first; of equals the one that theory puts first.
    order = ellipses.COVARIANCES
    chain = sorted(keys, key=lambda key: (-inside[key], -order.index(key)))
    text = figures.label(chain[0])
    for one, other in pairwise(chain):
        sign = "=" if frozenset((one, other)) in same else "⊂"
        text += f" {sign} {figures.label(other)}"
    if len(same) == len(pairs):
        return f"**They are all the same here: {text}.**"
    return f"**Each lies inside the next, in every direction: {text}.**"


def crossings(pairs: pd.DataFrame) -> str:
    """Every pair that is not ordered, and what of it is seen here; every pair that is equal."""
    said = []
    for row in pairs.itertuples():
        first, second = figures.label(row.first), figures.label(row.second)
        if row.relation == "neither":
            here = {
                "neither": "here their ellipses cross",
                "contains": f"in this plane {second} lies inside, in others it does not",
                "inside": f"in this plane {first} lies inside, in others it does not",
                "equal": "in this plane they are the same",
            }[row.seen]
            said.append(
                f"- **{first} and {second} are not ordered**: the first's variance is "
                f"{row.low:.3g} to {row.high:.3g} times the second's, by direction; {here}."
            )
        elif row.relation == "equal":
            said.append(f"- {first} and {second} are the same in every direction.")
        elif row.seen == "equal":
            said.append(f"- {first} and {second} are the same in this plane, not elsewhere.")
    return "\n".join(said)


def shares(problem: cc.Problem, view: View, sample: Sample, n: int) -> str:
    frame = ellipses.coverage_in_plane(
        sample.estimates, view.found, view.plane, view.truth, n, view.level
    )
    biased = cc.bounds.naive_collab(problem).floor > 1e-12 * problem.label_variance
    which = " (COLLAB's ellipse: it is biased)" if biased else " (COLLAB's ellipse)"
    parts = [
        f"{figures.label(row.method)} {row.inside:.1%}"
        + (which if row.method == "naive_collab" else "")
        for row in frame.itertuples()
    ]
    error = float(frame["error"].iloc[0])
    return (
        f"**Of {int(frame['trials'].max()):,} simulated estimates inside their {view.level:.0%} "
        f"ellipse:** {', '.join(parts)}. Chance alone moves a share by ±{1.96 * error:.1%}; at "
        "small n the ellipses, that are for large n, are too small."
    )


def sizes(frame: pd.DataFrame, chosen: dict[str, np.ndarray]) -> str:
    rows = [
        "| | area | half axes | area / COLLAB's | volume / COLLAB's | an axis, on average |",
        "|---|---|---|---|---|---|",
    ]
    for row in frame[frame["method"].isin(chosen)].itertuples():
        rows.append(
            f"| {figures.label(row.method)} | {row.area:.3g} | {row.long:.3g}, {row.short:.3g} "
            f"| {row.area_ratio:.3g} | {row.volume_ratio:.3g} | × {row.per_axis:.3g} |"
        )
    return "\n".join(rows)


# Many planes -------------------------------------------------------------------------------------


def many_planes(scenario: cc.Scenario, problem: cc.Problem, view: View) -> None:
    left, right = st.columns(2)
    with left:
        chosen = choose(view)
    usual = [view.names[j] for j in range(min(4, len(view.names)))]
    with right:
        picked = options.several(
            "coefficients", f"Coefficients (2 to {MOST_COORDINATES})", view.names, usual,
            most=MOST_COORDINATES,
        )  # fmt: skip
    if len(picked) < 2 or not chosen:
        error_box("Pick at least two coefficients and one ellipse.")
        return
    places = [view.names.index(name) for name in picked]
    measured = ellipses.measures(view.found, view.plane, scenario.n, view.level)
    volumes = [
        f"{figures.label(row.method)}'s × {row.volume_ratio:.3g}"
        for row in measured[measured["method"].isin(chosen)].itertuples()
        if row.method != "collab"
    ]
    compared = f" Volumes over COLLAB's, in {len(view.names)} dimensions: {', '.join(volumes)}."
    words(f"**Every pair of {len(picked)} coefficients.**" + (compared if volumes else ""))
    pairs = [(a, b) for row, b in enumerate(places) for a in places[:row]]
    frame = pd.concat(
        [
            ellipses.picture(
                chosen, ellipses.coordinates(len(view.names), a, b), view.truth, scenario.n,
                view.level,
            ).assign(across=view.names[a], up=view.names[b])
            for a, b in pairs
        ],
        ignore_index=True,
    )  # fmt: skip
    show(
        figures.ellipse_matrix(
            chosen, view.truth, places, picked, scenario.n, view.level,
            title=f"{view.level:.0%} ellipses at n = {scenario.n:,}, pair by pair",
        ),
        key="ellipse-matrix",
        alt="Confidence ellipses of every pair of a few coefficients.",
        frame=frame,
        formula=FORMULA,
        code=scenario_code(scenario)
        + "import pandas as pd\n\n"
        + "problem = scenario.problem()\n"
        + f"found = cc.ellipses.covariances(problem, {view.target!r})\n"
        + f"found = {{key: found[key] for key in {list(chosen)}}}\n"
        + f"truth = cc.ellipses.truth(problem, {view.target!r})\n"
        + f"pairs = {pairs}\n"
        + f"planes = [cc.ellipses.coordinates({len(view.names)}, a, b) for a, b in pairs]\n"
        + "frame = pd.concat([\n"
        + f"    cc.ellipses.picture(found, plane, truth, scenario.n, {view.level})\n"
        + "    for plane in planes\n])\nprint(frame)\n",
    )  # fmt: skip


# Weights lab -------------------------------------------------------------------------------------


def weights_lab(scenario: cc.Scenario, problem: cc.Problem, view: View) -> None:
    tilts, shown = pick_tilts(problem)
    lab = cc.weight_tilt.Tilts(problem)
    natural = tilts * np.log(2)
    loss = lab.loss(natural)
    words(lab_in_words(tilts, loss))
    chosen = {"tilted": lab.covariance(natural), "collab": view.found["collab"]}
    frame = ellipses.picture(chosen, view.plane, view.truth, scenario.n, view.level)
    code = (
        scenario_code(scenario)
        + "import numpy as np\n\n"
        + "problem = scenario.problem()\n"
        + f"tilts = np.array({tilts.tolist()}) * np.log(2)\n"
        + "lab = cc.weight_tilt.Tilts(problem)\n"
    )
    left, right = columns("lab", "loss", sizes=[1.3, 1])
    with left:
        show(
            figures.ellipses(
                frame, view.plane.names, height=430,
                title=f"Optimal and tilted weights, {view.level:.0%} at n = {scenario.n:,}",
            ),
            key="lab",
            alt="Confidence ellipse of optimal weights inside that of tilted ones.",
            frame=frame,
            formula=LAB_FORMULA,
            code=code
            + "found = {'tilted': lab.covariance(tilts), 'collab': cc.bounds.gauss(problem)}\n"
            + f"plane = {view.plane_code}\n"
            + "theta, n = problem.theta, scenario.n\n"
            + f"frame = cc.ellipses.picture(found, plane, theta, n, {view.level})\n"
            + "print(frame)\n",
        )  # fmt: skip
    with right:
        if not state.lesson().figure:
            lab_controls(problem, shown)
    direction = natural if tilts.any() else lab.steepest(natural)
    steps = np.linspace(-1.5, 1.5, 61)
    losses = [lab.loss(step * direction) for step in steps]
    along = "this" if tilts.any() else "the steepest"
    show(
        figures.loss_along(
            steps, losses, here=float(tilts.any()), title=f"The error along {along} tilt"
        ),
        key="loss",
        alt="Error over the best possible along the tilt, smallest where weights are optimal.",
        frame=pd.DataFrame({"step": steps, "loss": losses}),
        formula=LAB_FORMULA,
        code=code
        + ("" if tilts.any() else "tilts = lab.steepest(tilts)\n")
        + "frame = np.array([lab.loss(s * tilts) for s in np.linspace(-1.5, 1.5, 61)])\n"
        + "print(frame)\n",
    )


def lab_in_words(tilts: np.ndarray, loss: float) -> str:
    if not tilts.any():
        return "**Every weight is optimal: the ellipse is as small as it gets.** Tilt one."
    if loss - 1 < 1e-9:
        return "**This tilt costs nothing**: only ratios of weights count, where they count at all."
    return (
        f"**These weights cost {loss - 1:.2%} more error than the optimal ones.** Whichever "
        "way you tilt, the ellipse never shrinks in any direction."
    )


def lab_controls(problem: cc.Problem, shown: range) -> None:
    words("Tilt a weight by powers of two: 1 doubles it, −1 halves it.")
    with st.container(horizontal=True):
        st.button(
            "Steepest loss", on_click=go_steepest, args=(problem,),
            disabled=problem.agents == 1,
            help="Tilts all weights a step in the direction in which the error grows fastest.",
        )  # fmt: skip
        st.button("Back to optimal", on_click=go_optimal, args=(problem.agents,))
    for row in range(0, len(shown), 3):
        for column, agent in zip(st.columns(3), shown[row : row + 3], strict=False):
            with column:
                tilt_of(agent, visible=True)


def pick_tilts(problem: cc.Problem) -> tuple[np.ndarray, range]:
    """Tilts of all agents, and which of them have their slider on the screen."""
    m = problem.agents
    groups = [range(start, min(start + SLIDERS, m)) for start in range(0, m, SLIDERS)]
    shown = groups[0]
    if len(groups) > 1:
        number = options.pick(
            "group", "Sliders of", range(len(groups)), 0, widget=st.segmented_control,
            words=lambda g: f"{groups[g][0] + 1}–{groups[g][-1] + 1}",
        )  # fmt: skip
        shown = groups[number]
    return np.array([tilt_of(i, visible=False) for i in range(m)]), shown


def tilt_of(agent: int, *, visible: bool) -> float:
    return options.number(
        f"tilt{agent + 1}", f"Agent {agent + 1}", -MOST_TILT, MOST_TILT, 0.0, step=0.1,
        visible=visible,
    )  # fmt: skip


def go_steepest(problem: cc.Problem) -> None:
    tilts = np.array([float(options.get(f"tilt{i + 1}", "0")) for i in range(problem.agents)])
    direction = cc.weight_tilt.Tilts(problem).steepest(tilts * np.log(2))
    largest = np.abs(direction).max() or 1.0
    moved = np.clip((tilts + direction / largest).round(1), -MOST_TILT, MOST_TILT)
    for i, tilt in enumerate(moved):
        options.put(f"tilt{i + 1}", f"{tilt + 0.0:g}")


def go_optimal(agents: int) -> None:
    for i in range(agents):
        options.put(f"tilt{i + 1}", "0")


# Play --------------------------------------------------------------------------------------------

OVER = {"n": "Samples n", "p": "Missingness p", "correlation": "Correlation"}
CORRELATED = ("ar1", "equicorrelated", "factor", "block")


@st.cache_data(max_entries=16, show_spinner=False)
def played(
    scenario: cc.Scenario,
    over: str,
    target: str | int,
    keys: tuple[str, ...],
    directions: tuple[tuple[float, ...], ...],
    level: float,
) -> tuple[dict[str, pd.DataFrame], int]:
    """Frames of the animation, and how many worlds on the way had no picture."""
    plane = ellipses.Plane(np.array(directions), ("", ""))
    frames, left_out = {}, 0
    for text, world in worlds(scenario, over).items():
        try:
            problem = world.problem()
            if target != "full" and len(problem.views[target]) != plane.directions.shape[1]:
                raise ValueError("the agent sees other features here")
            found = ellipses.covariances(problem, target)
        except (ValueError, ArithmeticError):
            left_out += 1
            continue
        frames[text] = ellipses.picture(
            {key: found[key] for key in keys}, plane, ellipses.truth(problem, target), world.n,
            level,
        )  # fmt: skip
    return frames, left_out


def worlds(scenario: cc.Scenario, over: str) -> dict[str, cc.Scenario]:
    """Neighbouring worlds, by what is written on the slider."""
    match over:
        case "n":
            wanted = {max(1, int(scenario.n * 2.0**e)) for e in range(-3, 5)}
            sizes = sorted({scenario.nearest(n=n)[0].n for n in wanted})
            return {f"{n:,}": scenario.nearest(n=n)[0] for n in sizes}
        case "p":
            return {
                f"{p:g}": scenario.nearest(missing="independent", p=float(p))[0]
                for p in np.arange(0, 0.71, 0.1).round(2)
            }
        case _:
            kind = correlated(scenario)
            return {
                f"{rho:g}": scenario.nearest(spectrum=kind, correlation=float(rho))[0]
                for rho in (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95)
            }


def correlated(scenario: cc.Scenario) -> str:
    """The world's own kind of correlation, or that of equals where it has none to vary."""
    return scenario.spectrum if scenario.spectrum in CORRELATED else "equicorrelated"


def play(scenario: cc.Scenario, problem: cc.Problem, view: View) -> None:
    left, right = st.columns([2.4, 1], vertical_alignment="bottom")
    with left:
        chosen = choose(view)
    with right:
        over = options.pick("over", "Over", list(OVER), "p", words=OVER.get)
    if not chosen:
        error_box("Pick at least one ellipse.")
        return
    if over == "p" and view.target != "full":
        error_box(
            "As p changes, so does what an agent sees, and with it the space of its model. "
            "Pick all features, or play over n or the correlation."
        )
        return
    directions = tuple(map(tuple, view.plane.directions.tolist()))
    frames, left_out = played(scenario, over, view.target, tuple(chosen), directions, view.level)
    if not frames:
        error_box("None of the worlds on the way can be drawn: somebody must see every feature.")
        return
    said = played_in_words(frames, over, list(chosen))
    if over == "correlation" and scenario.spectrum not in CORRELATED:
        said += " For this animation all features are equally correlated."
    if view.plane.names[0].startswith("principal"):
        said += " The directions stay those of the sidebar's Σ."
    if left_out:
        said += f" {left_out} of the worlds on the way have a feature that nobody sees: left out."
    words(said)
    show(
        figures.played_ellipses(
            frames, view.plane.names, f"{over} = ",
            title=f"{view.level:.0%} ellipses as {over} grows",
            at={"n": f"{scenario.n:,}", "p": "0.4", "correlation": "0.6"}[over],
        ),
        key="played",
        alt="Confidence ellipses of methods and bounds, played over a range of worlds.",
        frame=pd.concat([frame.assign(step=step) for step, frame in frames.items()]),
        formula=FORMULA,
        code=play_code(scenario, over, view, list(chosen)),
    )  # fmt: skip


def played_in_words(frames: dict[str, pd.DataFrame], over: str, keys: list[str]) -> str:
    """How the areas change from the first frame to the last."""
    first, last = next(iter(frames)), list(frames)[-1]
    if first == last:
        return f"**Only {over} = {first} can be drawn.**"

    def area(step: str, key: str) -> float:
        frame = frames[step]
        rows = frame[(frame["what"] == "outline") & (frame["method"] == key)]
        x, y = rows["x"].to_numpy(), rows["y"].to_numpy()
        return abs(float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum())) / 2

    parts = []
    for key in keys:
        ratio = area(last, key) / area(first, key)
        change = f"grows {ratio:.3g} times" if ratio > 1 else f"shrinks {1 / ratio:.3g} times"
        parts.append(f"{figures.label(key)}'s {change if abs(ratio - 1) > 1e-3 else 'stays'}")
    return f"**From {over} = {first} to {last}, in area:** {', '.join(parts)}."


def play_code(scenario: cc.Scenario, over: str, view: View, keys: list[str]) -> str:
    if over == "n":
        change, values = "n=value", [int(text.replace(",", "")) for text in worlds(scenario, "n")]
    elif over == "p":
        change, values = "missing='independent', p=value", [float(t) for t in worlds(scenario, "p")]
    else:
        change = f"spectrum={correlated(scenario)!r}, correlation=value"
        values = [float(text) for text in worlds(scenario, over)]
    return (
        scenario_code(scenario)
        + "import pandas as pd\n\n"
        + "problem = scenario.problem()\n"
        + f"plane = {view.plane_code}\n"
        + f"frames = []\nfor value in {values}:\n"
        + f"    world = scenario.nearest({change})[0]\n"
        + "    if world.unseen.size:\n        continue\n"
        + "    problem = world.problem()\n"
        + f"    found = cc.ellipses.covariances(problem, {view.target!r})\n"
        + f"    found = {{key: found[key] for key in {keys}}}\n"
        + f"    truth = cc.ellipses.truth(problem, {view.target!r})\n"
        + f"    frames.append(cc.ellipses.picture(found, plane, truth, world.n, {view.level}))\n"
        + "frame = pd.concat(frames)\nprint(frame)\n"
    )


FORMULA = """
An ellipse is $\\{x : (x - B\\theta)' (B C B'/n)^{-1} (x - B\\theta) = \\chi^2_2(\\text{level})\\}$
with the two directions as rows of $B$: where estimates fall with that probability, for large $n$.
$C$ is COLLAB's $C^g = (\\sum_i T_i'W_i^gT_i)^{-1}$; the exact bound's
$(\\sum_i T_i'\\Sigma_{i+}T_i/s_i + 2v_iv_i'/s_i^2)^{-1}$, which COLLAB+ reaches with $\\sigma$
unknown; the paper's $(\\sum_i 2\\Sigma/s_i)^{-1}$; $C(I, .., I)$; and imputation's with equal
weights. On an agent's own space $T_i C T_i'$, beside its local least squares $(W_i^g)^{-1}$. One
ellipsoid lies inside another if and only if the difference of covariances is p.s.d.
"""

LAB_FORMULA = """
With weights $a_i W_i^g$ the covariance is $M^{-1}(\\sum_i a_i^2 A_i)M^{-1}$, $M = \\sum_i a_iA_i$,
$A_i = T_i'W_i^gT_i$: never below $C^g$, which is $a = 1$. Near it the error grows as
$\\mathrm{tr}\\,\\Sigma M^{-1}[\\sum e_i^2A_i - (\\sum e_iA_i)M^{-1}(\\sum e_iA_i)]M^{-1}$, whose
largest eigenvector is the steepest direction.
"""

main()
