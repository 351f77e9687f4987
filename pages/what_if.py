"""What if: who helps whom, what to measure, how many samples, and what if the model is wrong.

Of the sidebar's world, of the census, or of the session's own table. Closed formulas, but for the
last part, which is simulated.
"""

import contextlib
from threading import Event

import numpy as np
import pandas as pd
import streamlit as st

from collab_core import figures
from collab_core.answers import planning
from collab_core.runs import disturbed as robustness
from collab_core.runs.disturbed import DISTURBANCES, BreakEven, Robustness
from pages.shared import options, run, subject
from pages.shared.panel import columns, show
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page
from pages.shared.subject import Subject

PARTS = {
    "helps": "Who helps whom",
    "measure": "What to measure",
    "samples": "Samples",
    "robust": "Robustness",
}
ORDERS = 200
ADDITIONS = (1, 2, 3, 5, 8, 12)
EXTRA = (100, 300, 1000, 3000, 10_000, 100_000)
TRIALS = (20, 50, 200, 1000)
#: Numbers in all agents' covariances, from which on a world is large.
LARGE = 60_000
#: A rise of less than this is nobody's.
LITTLE = 5e-4
#: Up to this size, an error in Σ is like that of a certain number of samples.
ALIKE = 0.3
#: Samples that are not Gaussian are drawn one by one: so many numbers a trial, and so many trials.
MOST_RAW, MOST_RAW_TRIALS = 300_000, 50


def main() -> None:
    with page(world=subject.is_sidebars) as scenario:
        part = heading("What if", PARTS)
        asked = subject.pick(scenario)
        if asked is None:
            return
        try:
            {"helps": helps, "measure": measure, "samples": samples, "robust": robust}[part](asked)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")
            return
        if asked.is_real:
            words(caveat(asked, part))


def caveat(asked: Subject, part: str) -> str:
    """What is assumed of real data, and how large the errors are that all this is about."""
    how = (
        "Simulated, not measured: draws are Gaussian with these data's moments, and"
        if part == "robust"
        else "Expected by the formulas, not measured:"
    )
    problem = asked.problem
    learnt = planning.Consortium(problem, asked.n).together
    share = float(learnt.sum() / (learnt + problem.unexplained).sum())
    return (
        f"{asked.source} **{how} one relation holds for all,** the one fitted to everybody's data. "
        "Where it differs from one to the other, working together gains less. The error that more "
        f"data could still remove is {share:.2g} of the whole prediction error here, on average."
    )


def beyond_noise(asked: Subject) -> str:
    """What "error" means on this page, and where its formulas are strained."""
    problem = asked.problem
    said = "Error: what more data could remove; noise and what an agent cannot see are not in it."
    seeing = problem.sizes > 0
    if (problem.sample_sizes(asked.n)[seeing] < problem.sizes[seeing] + 2).any():
        said += (
            " **Some agents have fewer than two samples more than features:** the formulas, which"
            " are for large n, promise too much there."
        )
    return said


def is_large(asked: Subject) -> bool:
    """Whether answers take longer than a blink, and so get a bar and a Stop."""
    return asked.problem.agents * asked.problem.dimension**2 > LARGE


def starting(name: str) -> str:
    """A name at the beginning of a sentence."""
    return name[:1].upper() + name[1:]


def drawn_names(asked: Subject) -> dict:
    """Names of agents for a figure, which writes numbers where there are none."""
    return {} if asked.numbered else {"agents": asked.agents}


def named(frame: pd.DataFrame, asked: Subject) -> pd.DataFrame:
    """A table of numbers with the names of its agents and features beside them."""
    more = {"agent_name": [asked.agents[int(i) - 1] if i else "" for i in frame["agent"]]}
    if "feature" in frame:
        more["feature_name"] = [asked.measures[int(j) - 1] if j else "" for j in frame["feature"]]
    return frame.assign(**more)


# Who helps whom ----------------------------------------------------------------------------------


Helped = tuple[np.ndarray, planning.Shares]


def helping(
    asked: Subject, report: run.Report | None = None, cancel: Event | None = None
) -> Helped:
    matrix = planning.who_helps_whom(asked.problem, asked.n)

    def so_far(share: float, shares: planning.Shares) -> None:
        if report is not None:
            report(share, (matrix, shares))

    shares = planning.shapley(
        asked.problem, asked.n, orders=ORDERS, seed=asked.seed, progress=so_far, cancel=cancel
    )
    return matrix, shares


@st.cache_data(max_entries=32, show_spinner=False)
def quickly_helping(key: str, _asked: Subject) -> Helped:
    return helping(_asked)


def helps(asked: Subject) -> None:
    if asked.problem.agents == 1:
        words(f"**There is only one agent, {asked.agents[0]}: nobody to help or to be helped.**")
        return
    if asked.problem.agents <= planning.LARGEST_EXACT and not is_large(asked):
        draw_helps(asked, quickly_helping(asked.key, asked))
        return
    # Random orders, live: the first are there at once.
    run.panel(
        "helps", asked.key, lambda report, cancel: helping(asked, report, cancel),
        lambda found, final: draw_helps(asked, found), label="Value coalitions",
        help="Values agents in random orders of arrival.", auto=True, below=True,
    )  # fmt: skip


def draw_helps(asked: Subject, found: Helped) -> None:
    matrix, shares = found
    others = matrix.copy()
    np.fill_diagonal(others, 0.0)
    leaver = int(others.max(axis=0).argmax())
    most = int(shares.brings.argmax())
    words(helps_in_words(others, shares, asked))
    left, right = columns("helps", "shares", sizes=[1.1, 1])
    with left:
        long = pd.DataFrame(
            matrix, index=list(asked.agents), columns=[f"without {name}" for name in asked.agents]
        )
        title = "Whose error rises when an agent leaves"
        if others.max() >= LITTLE:
            title = f"Without {asked.agents[leaver]}: up to {others.max():.1%} more error"
        show(
            figures.rises(matrix, title=title, **drawn_names(asked)),
            key="helps",
            alt="Heatmap of how much each agent's error rises when each other agent leaves.",
            frame=long.reset_index(names="agent"),
            formula=HELPS_FORMULA,
            code=asked.code + "frame = cc.planning.who_helps_whom(problem, n)\nprint(frame)\n",
        )
    with right:
        title = f"{starting(asked.agents[most])} brings most to the others"
        if is_even(shares.brings, shares.total):
            title = "By fair share, all bring the same"
        show(
            figures.fair_shares(shares.frame, title=title, **drawn_names(asked)),
            key="shares",
            alt="What each agent brings to the others by fair share, and what it saves itself.",
            frame=named(shares.frame, asked),
            formula=SHARES_FORMULA,
            code=asked.code
            + f"shares = cc.planning.shapley(problem, n, orders={shares.orders or ORDERS}, "
            + f"seed={asked.seed})\nframe = shares.frame\nprint(frame)\n",
        )
    sampled = (
        ""
        if shares.exact
        else f" With more than {planning.LARGEST_EXACT} agents, shares are averages over "
        f"{shares.orders} random orders of arrival; bars are their 95% error."
    )
    words(beyond_noise(asked) + sampled)


def is_even(values: np.ndarray, whole: float) -> bool:
    """Whether values differ by rounding only."""
    return bool(np.ptp(values) <= 1e-6 * abs(whole))


def helps_in_words(others: np.ndarray, shares: planning.Shares, asked: Subject) -> str:
    if others.max() < LITTLE:
        return "**Nobody would notice if anybody left:** no agent learns from another here."
    hurt, leaver = np.unravel_index(others.argmax(), others.shape)
    apart = others[~np.eye(len(others), dtype=bool)]
    if len(others) > 2 and is_even(apart, apart.max()):
        return (
            f"**Whoever leaves, the others' errors rise by {apart.max():.1%}:** all agents are "
            "alike, and bring the same."
        )
    said = (
        f"**{starting(asked.agents[hurt])} leans most on {asked.agents[leaver]}: without it, its "
        f"error rises by {others[hurt, leaver]:.1%}.** "
    )
    if len(others) == 2:
        return said + "With two agents, each brings what the other saves."
    most, gains = int(shares.brings.argmax()), int(shares.gets.argmax())
    if is_even(shares.brings, shares.total):
        return said + "By fair share, all bring the same to the others."
    return (
        f"{said}By fair share {asked.agents[most]} brings most to the others, "
        f"{shares.brings[most] / shares.total:.1%} of all that working together saves; "
        f"{asked.agents[gains]} saves most itself."
    )


# What to measure ---------------------------------------------------------------------------------

#: Gains of every addition, and a plan as far as it is made.
Measured = tuple[pd.DataFrame, pd.DataFrame | None]


@st.cache_data(max_entries=32, show_spinner=False)
def gains(key: str, _asked: Subject) -> pd.DataFrame:
    return planning.next_features(_asked.problem, _asked.n, _asked.groups)


@st.cache_data(max_entries=32, show_spinner=False)
def planned(key: str, _asked: Subject, additions: int, goal: str | int) -> pd.DataFrame:
    return planning.plan_features(
        _asked.problem, _asked.n, additions, goal=goal, groups=_asked.groups
    )


def measure(asked: Subject) -> None:
    if asked.problem.mask.all():
        who = "Everybody" if asked.problem.agents > 1 else starting(asked.agents[0])
        words(f"**{who} sees everything: there is nothing more to measure.**")
        return
    left, middle, right = st.columns([1.1, 1, 1.1], vertical_alignment="bottom")
    with left:
        whose = options.segments(
            "whose", "Gain of", {"everybody": "everybody", "own": "the agent itself"}
        )
    goal: str | int = "everybody"
    if whose == "own":
        able = np.flatnonzero(~asked.problem.mask.all(axis=1)).tolist()
        usual = able[0]
        if not is_large(asked):
            best = gains(asked.key, asked).sort_values("own_share", kind="stable").iloc[-1]
            usual = int(best["agent"]) - 1
        with middle:
            goal = options.pick(
                "for", "Plan for", able, usual, words=lambda i: starting(asked.agents[i])
            )
    with right:
        additions = options.pick(
            "additions", "Features to plan", ADDITIONS, 5, widget=st.select_slider
        )
    if not is_large(asked):
        found = gains(asked.key, asked), planned(asked.key, asked, additions, goal)
        draw_measure(asked, found, whose, goal, additions)
        return

    def work(report: run.Report, cancel: Event) -> Measured:
        frame = planning.next_features(asked.problem, asked.n, asked.groups)
        report(0.0, (frame, None))
        plan = planning.plan_features(
            asked.problem, asked.n, additions, goal, asked.groups, cancel=cancel,
            progress=lambda share, part: report(share, (frame, part)),
        )  # fmt: skip
        return frame, plan

    run.panel(
        "measure", (asked.key, goal, additions), work,
        lambda found, final: draw_measure(asked, found, whose, goal, additions),
        label="Plan", help="Tries every feature for every agent, again after each addition.",
        auto=True, below=True,
    )  # fmt: skip


def draw_measure(
    asked: Subject, found: Measured, whose: str, goal: str | int, additions: int
) -> None:
    frame, plan = found
    words(measure_in_words(frame, whose, asked))
    first, second = columns("measure", "plan", sizes=[1.2, 1])
    names = {} if asked.numbered else {"agents": asked.agents, "features": asked.measures}
    together = "" if asked.groups is None else f", groups={[list(g) for g in asked.groups]}"
    best = frame[f"{whose}_share"].max()
    with first:
        show(
            figures.feature_gains(
                frame, f"{whose}_share", asked.problem.agents, len(asked.measures),
                title=f"One more feature gains {'up to' if len(frame) > 1 else ''} {best:.1%}",
                **names,
            ),
            key="measure",
            alt="Heatmap of agents by features: what seeing one more gains.",
            frame=named(frame, asked),
            formula=MEASURE_FORMULA,
            code=asked.code
            + f"frame = cc.planning.next_features(problem, n{together})\nprint(frame)\n",
        )  # fmt: skip
    if plan is None:
        return
    steps = ["now", *(addition(row, asked) for row in plan.iloc[1:].itertuples())]
    fall = 1 - plan["error"].iloc[-1] / plan["error"].iloc[0]
    count = "One addition" if len(plan) == 2 else f"{len(plan) - 1} additions"
    errors = "all errors fall" if goal == "everybody" else f"{asked.agents[goal]}'s error falls"
    with second:
        show(
            figures.plan(plan, steps, title=f"{count}: {errors} by {fall:.1%}"),
            key="plan",
            alt="The error after each addition of a greedy plan.",
            frame=named(plan, asked),
            formula=PLAN_FORMULA,
            code=asked.code
            + f"frame = cc.planning.plan_features(\n    problem, n, {additions}, "
            + f"goal={goal!r}{together}\n)\nprint(frame)\n",
        )
    if len(steps) > 1:
        words("**The plan:** " + ", then ".join(steps[1:]) + ".")


def addition(row: tuple, asked: Subject) -> str:
    """One addition in words: "Ohio sees Age"."""
    return f"{asked.agents[int(row.agent) - 1]} sees {asked.measures[int(row.feature) - 1]}"


def measure_in_words(frame: pd.DataFrame, whose: str, asked: Subject) -> str:
    column = f"{whose}_share"
    best = frame.sort_values(column, ascending=False, kind="stable").head(5)
    top = best.iloc[0]
    if top[column] <= 0:
        return "**No single feature would help anybody measurably.**"
    whom = "everybody's errors together fall" if whose == "everybody" else "its own error falls"
    said = (
        f"**Measure next: {asked.agents[int(top['agent']) - 1]} should see "
        f"{asked.measures[int(top['feature']) - 1]}; {whom} by {top[column]:.1%},** what an agent "
        "could not see so far included, noise not."
    )
    if len(best) == 1:
        return f"{said} Nothing else is unseen."
    listed = "; ".join(
        f"{addition(row, asked)} ({getattr(row, column):.1%})" for row in best.itertuples()
    )
    return f"{said} The best {len(best)}: {listed}."


# How many samples --------------------------------------------------------------------------------


def wishes(usual: float) -> list[float]:
    """Errors to wish for: 1, 2, 5 of every power of ten around a usual one, and a link's own."""
    powers = range(int(np.floor(np.log10(usual))) - 3, int(np.ceil(np.log10(usual))) + 2)
    stops = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    found = [stop for stop in stops if 0.004 * usual <= stop <= 3 * usual]
    with contextlib.suppress(ValueError):
        own = float(options.get("error", ""))
        # So that a wish stays the same while the world changes.
        if np.isfinite(own) and 1e-6 * usual <= own <= 1e6 * usual:
            found.append(own)
    return sorted(set(found), reverse=True)


def samples(asked: Subject) -> None:
    problem = asked.problem
    now = float(np.median(planning.Consortium(problem, asked.n).alone[problem.sizes > 0]))
    stops = wishes(now)
    left, right = st.columns(2)
    with left:
        wanted = options.pick(
            "error", "Wanted error, beyond what an agent can never explain", stops,
            min(stops, key=lambda stop: abs(np.log(stop / (0.2 * now)))),
            widget=st.select_slider, words=lambda v: f"{v:g}",
        )  # fmt: skip
    with right:
        extra = options.pick(
            "extra", "Extra labelled samples to spend", EXTRA, 1000, widget=st.select_slider,
            words=lambda v: f"{v:,}",
        )  # fmt: skip
    needed = planning.samples_needed(problem, wanted)
    spent = planning.spend_samples(problem, asked.n, extra, steps=20)
    even = is_even(spent["fall"].to_numpy(), spent["fall"].max())
    words(samples_in_words(needed, spent, wanted, extra, asked, even))
    first, second = columns("needed", "budget", sizes=[1, 1])
    best = asked.agents[int(spent["fall"].argmax())]
    fewer = needed["saved"].max()
    saved = f"Error {wanted:g}: up to {fewer:.3g} times fewer samples"
    if fewer < 1.05:
        saved = f"Samples for an error of {wanted:g}"
    helped = "It makes no difference who gets them" if even else f"{extra:,} more: {best} first"
    drawn = (
        (first, "needed", figures.samples_needed, needed, saved,
         "Labelled samples every agent needs for the wanted error, alone and together.",
         SAMPLES_FORMULA, f"samples_needed(problem, {wanted})"),
        (second, "budget", figures.budget, spent, helped,
         "Fall of all agents' errors in sum if the extra samples went to one agent.",
         BUDGET_FORMULA, f"spend_samples(problem, n, {extra}, steps=20)"),
    )  # fmt: skip
    for column, key, draw, frame, title, alt, formula, call in drawn:
        with column:
            show(
                draw(frame, title=title, **drawn_names(asked)),
                key=key,
                alt=alt,
                frame=named(frame, asked),
                formula=formula,
                code=asked.code + f"frame = cc.planning.{call}\nprint(frame)\n",
            )
    words(beyond_noise(asked))


def samples_in_words(
    needed: pd.DataFrame, spent: pd.DataFrame, wanted: float, extra: int, asked: Subject, even: bool
) -> str:
    if len(needed) == 1:
        return (
            f"**For an error of {wanted:g} {asked.agents[0]} needs {needed['alone'][0]:,.0f} "
            "samples.** It is the only agent, so there is nobody to share the work with."
        )
    seeing = needed[needed["alone"] > 0]
    most = seeing.loc[seeing["saved"].idxmax()]
    name = asked.agents[int(most["agent"]) - 1]
    said = (
        f"**For an error of {wanted:g} {name} needs {most['alone']:,.0f} samples alone and about "
        f"{most['together']:,.0f} together,** if the others have theirs in proportion. "
    )
    if even:
        return said + f"{extra:,} more samples help everywhere the same."
    given = spent[spent["given"] > 0].sort_values("given", ascending=False).head(3)
    plan = ", ".join(
        f"{row.given:,.0f} to {asked.agents[row.agent - 1]}" for row in given.itertuples()
    )
    return (
        f"{said}{extra:,} more are best spent so: {plan}"
        f"{' and others' if (spent['given'] > 0).sum() > 3 else ''}."
    )


# Robustness --------------------------------------------------------------------------------------


def robust(asked: Subject) -> None:
    problem = asked.problem
    able = robustness.judged(problem, asked.n)
    if problem.agents == 1:
        words(
            f"**There is only one agent, {asked.agents[0]}:** COLLAB is its own model, whatever "
            "is assumed, so there is no advantage to lose."
        )
        return
    if not able:
        words(
            "**Nobody can work alone here:** no agent has two samples more than it sees features, "
            "so there is no error to compare with. Give the agents more samples."
        )
        return
    kind, target, shifted, trials, n = robust_controls(asked, able)
    values = robustness.grid(problem, n, kind, target, shifted)

    def work(report: run.Report, cancel: Event) -> Robustness:
        return robustness.curve(
            problem, n, trials, kind, values, target, shifted=shifted, seed=asked.seed,
            progress=report, cancel=cancel,
        )  # fmt: skip

    def draw(found: Robustness, final: bool) -> None:
        if found.done:
            draw_robust(asked, found)

    run.panel(
        "robust",
        (asked.key, asked.seed, kind, target, shifted, trials, n, values),
        work,
        draw,
        label="Simulate",
        help="Draws the agents' data and disturbs one assumption more and more.",
        auto=True,
        below=True,
    )


def robust_controls(asked: Subject, able: list[int]) -> tuple[str, str | int, int, int, float]:
    """Which assumption is broken, whose error is judged, who is shifted, trials, and n."""
    problem, n = asked.problem, asked.n
    shifting = options.get("wrong", "unlabelled") == "shift"
    widths = [1.5, 1.2, 1.2, 1] if shifting else [1.5, 1.2, 1]
    first, second, *others = st.columns(widths, vertical_alignment="bottom")
    with first:
        kind = options.pick(
            "wrong", "What is wrong", list(DISTURBANCES), "unlabelled",
            words=lambda key: DISTURBANCES[key].label,
        )  # fmt: skip
    world = planning.Consortium(problem, n)
    # Who has most to lose, and whom it would miss most.
    usual = max(able, key=lambda i: world.alone[i] / world.together[i])
    with second:
        target = options.pick(
            "judged", "Whose error", ["everybody", *able], usual,
            words=lambda i: "all, on average" if i == "everybody" else starting(asked.agents[i]),
        )  # fmt: skip
    missed = planning.who_helps_whom(problem, n)
    np.fill_diagonal(missed, 0.0)
    leans = missed.sum(axis=0) if target == "everybody" else missed[target]
    shifted = int(leans.argmax())
    if kind == "shift":
        with others[0]:
            shifted = options.pick(
                "shifted", "Whose θ is another", range(problem.agents), shifted,
                words=lambda i: starting(asked.agents[i]),
            )  # fmt: skip
    with others[-1]:
        # Large worlds take longer, and say much in few trials.
        usual_trials = TRIALS[0] if is_large(asked) else TRIALS[1]
        trials = options.pick("trials", "Trials", TRIALS, usual_trials, widget=st.select_slider)
    if kind in ("tails", "clusters"):
        most = max(MOST_RAW // (problem.agents * problem.dimension), 4 * int(problem.sizes.max()))
        n, trials = min(n, most), min(trials, MOST_RAW_TRIALS)
    return kind, target, shifted, trials, n


def draw_robust(asked: Subject, found: Robustness) -> None:
    words(robust_in_words(asked, found))
    disturbance, even = DISTURBANCES[found.disturbance], found.break_even
    ends = None
    if even is not None and even.value is not None:
        ends = (even.value, even.early, even.late)
    limit = f"n = min(n, {found.n:g})\n" if found.n < asked.n else ""
    show(
        figures.advantage(
            found.frame,
            axis=disturbance.axis + (" (fewer to the right)" if disturbance.falling else ""),
            title=robust_title(found),
            falling=disturbance.falling,
            break_even=ends,
            said="" if ends is None else f"break-even {size(found, ends[0])}",
        ),
        key="robust",
        alt="Error of every method over that of working alone, against the disturbance.",
        frame=found.frame,
        formula=ROBUST_FORMULA,
        code=asked.code
        + limit
        + "result = cc.disturbed.curve(\n"
        + f"    problem, n, {found.trials}, {found.disturbance!r}, {list(found.values)},\n"
        + f"    target={found.target!r}, shifted={found.shifted}, seed={asked.seed},\n)\n"
        + "print(result.break_even)\nframe = result.frame\nprint(frame)\n",
    )
    words(others_in_words(asked, found))
    for method in [method for method in found.notes if method != "collab"]:
        words(f"{figures.label(method)} is missing: {found.notes[method]}.")


def robust_title(found: Robustness) -> str:
    """The finding in a few words."""
    even = found.break_even
    if even is None:
        return "There is no COLLAB here"
    if even.kind == "inside":
        number = size(found, even.value)
        return {
            "unlabelled": f"COLLAB pays down to {number} unlabelled samples",
            "perturbed": f"COLLAB pays up to an error of ε = {number}",
            "tails": f"COLLAB pays up to an excess kurtosis of {number}",
            "clusters": f"COLLAB pays up to clusters {number} from the middle",
            "shift": f"COLLAB pays up to a shift of {number}",
        }[found.disturbance]
    return {
        "beyond": "COLLAB pays all along",
        "before": "COLLAB's advantage goes at once",
        "never": "COLLAB does not pay here",
        "equal": "Nothing to gain, nothing to lose",
    }[even.kind]


def robust_in_words(asked: Subject, found: Robustness) -> str:
    whose = (
        "the agents' own models on average"
        if found.target == "everybody"
        else f"{asked.agents[int(found.target)]}'s own model"
    )
    even = found.break_even
    if even is None:
        return f"**COLLAB cannot be fitted here:** {found.notes.get('collab', 'no trial is done')}."
    match even.kind:
        case "inside":
            fate = f"stays ahead of {whose} until {beyond(asked, found, even.value)}"
        case "beyond":
            fate = f"stays ahead of {whose} all along, even with {at(asked, found, -1)}"
        case "before":
            fate = f"is behind {whose} already with {at(asked, found, 0)}"
        case "equal":
            fate = f"is no other than {whose}, whatever is wrong"
        case _:
            fate = f"is not ahead of {whose}, even undisturbed"
    said = f"**COLLAB {fate}**{interval(found, even)}."
    half = found.crossing("collab", 0.5)
    if even.kind in ("never", "equal") or half is None:
        return said
    start = found.frame[found.frame["method"] == "collab"].iloc[0]["ratio"]
    gone = "more than half of the advantage is left to the end"
    if half.value is not None:
        gone = f"half of the advantage is gone once {beyond(asked, found, half.value)}"
    elif half.kind == "before":
        gone = f"half of the advantage is gone already with {at(asked, found, 0)}"
    return f"{said} Undisturbed, its error is {start:.3g} of that alone; {gone}."


def others_in_words(asked: Subject, found: Robustness) -> str:
    """The other methods' break-evens, and how all this was found."""
    said = []
    for method in ("collab_plus", "imputation"):
        even = found.crossing(method)
        if even is not None and even.kind != "equal":
            fate = {
                "inside": f"breaks even at {size(found, even.value or 0.0)}",
                "beyond": "stays ahead all along",
                "before": "is behind from the least disturbance on",
                "never": "is not ahead even undisturbed",
            }[even.kind]
            said.append(f"{figures.label(method)} {fate}.")
    trials = "1 trial" if found.done == 1 else f"{found.done} trials"
    said.append(f"Simulated, {trials}, every method on the same draws.")
    if found.theory and found.disturbance in ("unlabelled", "perturbed", "shift"):
        said.append("The dotted curve is the formulas' answer for COLLAB.")
    if found.disturbance == "shift":
        said.append(
            "COLLAB counts an agent less whose residual grows; COLLAB+ takes that residual for "
            "evidence about θ, which can mislead it."
        )
    if found.disturbance in ("tails", "clusters"):
        said.append(
            "COLLAB is consistent whatever the law; only its weights are tuned to Gaussian ones. "
            "Features that are not Gaussian are drawn one by one, so there are at most "
            f"{MOST_RAW_TRIALS} trials"
            + (f" and {found.n:,.0f} samples an agent." if found.n < asked.n else ".")
        )
    return " ".join(said)


def size(found: Robustness, value: float) -> str:
    """A size of the disturbance as a number: whole for samples, three digits otherwise."""
    return f"{value:,.0f}" if found.disturbance == "unlabelled" else f"{value:.3g}"


def at(asked: Subject, found: Robustness, place: int) -> str:
    """One disturbance of the grid, in words."""
    number = size(found, found.values[place])
    return {
        "unlabelled": f"Σ from {number} unlabelled samples",
        "perturbed": f"an error of ε = {number} in Σ",
        "tails": f"an excess kurtosis of {number}",
        "clusters": f"clusters {number} from the middle",
        "shift": f"{asked.agents[found.shifted]}'s relation {number} standard deviations of the "
        "label away",
    }[found.disturbance]


def beyond(asked: Subject, found: Robustness, value: float) -> str:
    """A disturbance of more than this, in words."""
    number, alike = size(found, value), ""
    if found.disturbance == "perturbed" and value < ALIKE:
        alike = f", roughly as one from {np.ceil(asked.problem.dimension / value**2):,.0f} samples"
    return {
        "unlabelled": f"Σ comes from fewer than {number} unlabelled samples",
        "perturbed": f"Σ is wrong by more than ε = {number}{alike}",
        "tails": f"the features' excess kurtosis is above {number}",
        "clusters": f"the features' two clusters are more than {number} from the middle",
        "shift": f"{asked.agents[found.shifted]}'s relation is more than {number} standard "
        "deviations of the label away from the others'",
    }[found.disturbance]


def interval(found: Robustness, even: BreakEven) -> str:
    """The break-even's interval, as far as the grid shows it."""
    if even.kind == "beyond" and even.early is not None:
        return f" (beyond {size(found, even.early)}, by no more than chance)"
    if even.kind != "inside":
        return ""
    ends = sorted(end for end in (even.early, even.late) if end is not None)
    if len(ends) == 2:
        return f" (95% interval {size(found, ends[0])} to {size(found, ends[1])})"
    if found.done < 2:
        return ""
    return " (its 95% interval goes beyond the grid)"


HELPS_FORMULA = """
Row $i$, column $j$: agent $i$'s error $\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/n$ without agent $j$
over that with all, less 1. In the dual form leaving takes $P_j'\\Sigma_{j+}^{-1}P_j/s_j$ out of
$K$. The diagonal (an agent that leaves is alone) is in the data, not in the picture.
"""

SHARES_FORMULA = """
Of what agent $i$ saves, $s_id_i/n$ alone less its error with all, every partner gets its Shapley
value: what it takes off $i$'s error on arrival, averaged over all orders in which $i$'s partners
could arrive. Summed over $i$ that is what an agent brings. The data also hold the Shapley value of
the consortium as one game (`share`), in which an agent is credited with its own saving too.
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
Alone $N = d_i + 1 + s_id_i/\\varepsilon$, exact for Gaussian features. Together the error is
$\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/n$ to leading order, when all agents' samples grow in
proportion; corrected here to second order for features that vary from sample to sample, and for
weights $1/R_i$ that are estimated from $\\nu = n_i - d_i$ degrees of freedom, which leaves an agent
$(\\nu-4)/(\\nu-2)$ of its weight.
"""

BUDGET_FORMULA = """
The fall of the sum of all agents' errors if all extra samples went to one agent. The plan gives
them in 20 equal portions, each where it helps most then.
"""

ROBUST_FORMULA = """
Every trial draws all agents' data; one assumption is then broken, more and more, on the same draws.
Drawn is the mean error of a method's model over that of least squares alone, with a paired 95%
band; each agent is judged by its own truth. Disturbances: $\\Sigma$ from $N_u$ unlabelled samples;
$\\Sigma^{1/2}e^{\\varepsilon G}\\Sigma^{1/2}$ with $G$ symmetric normal of variance $1/d$, to first
order as wrong as $N_u = d/\\varepsilon^2$ samples; multivariate Student's t with
$4 + 6/\\kappa$ degrees of freedom, its scale common to all features; two Gaussian clusters; one
agent's $\\theta + \\Delta$ with $\\Delta'\\Sigma\\Delta = c^2\\,\\mathrm{Var}(y)$, direction at
random in each trial.
The dotted line is the closed form, bias and variance of COLLAB with $\\tilde S_i$ from the
$\\Sigma$ it is told: $\\tilde\\varphi = K^{-1}\\sum_i r_iP_i'\\tilde S_i\\Sigma_{i+}T_i\\theta_i$,
$K = \\sum_i r_iP_i'\\tilde S_i\\Sigma_{i+}\\tilde S_iP_i$, $r_i = n_i/(n s_i)$.
"""

main()
