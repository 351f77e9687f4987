"""Census: real states as agents, whose people's way to work is to be predicted."""

import contextlib
import os
import tempfile
from pathlib import Path
from threading import Event

import pandas as pd
import streamlit as st

from collab_core import census, figures
from collab_core.census import CensusSums, Choice, People, Study, Survey
from collab_core.census.download import BYTES_PER_SECOND, CENSUS, HORIZONS, MB_PER_PERSON, YEARS
from collab_core.census.study import METHODS
from pages.shared import options, run, state
from pages.shared.panel import columns, show
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page
from pages.shared.subject import BUILT_IN, DATA, USUAL, built_in

PUBLISHED = DATA / "paper_census_results.csv"

PARTS = {
    "gains": "Who gains",
    "n": "Error against n",
    "whatif": "What if",
    "coefficients": "Coefficients",
    "data": "Data",
}
PATTERNS = {
    "paper": "The paper's pattern",
    "all": "Everybody asks everything",
    "half": "Every other question",
    "own": "Mine (the grid below)",
}
SIZES = (200, 400, 600, 800, 1000, 2000, 4000, 6000, 8000, 10_000)
TRIALS = (5, 20, 80, 200)
#: Resamples behind the intervals; fewer with many states, to answer within a second.
RESAMPLES, FEW_RESAMPLES, FEW_STATES = 40, 12, 15
#: How the paper's file calls its methods.
PAPER_METHODS = {
    "Collab": "collab",
    "Imputation": "imputation",
    "Naive-Collab": "naive_collab",
    "Naive-Local": "local",
    "RW-Imputation": "rw_imputation",
    "Optimized-Naive-Collab": "optimized_naive_collab",
}


def people() -> People | None:
    """Records that this session has loaded, if any."""
    return st.session_state.get("census-people")


def sums() -> CensusSums:
    """The data of this session: the built-in sums, or those of the records it has loaded."""
    loaded = people()
    return built_in() if loaded is None else loaded.sums


def main() -> None:
    with page(world=False):
        part = heading("Census", PARTS)
        if part == "data":
            data()
            return
        try:
            study = pick_study(sums())
            if study is not None:
                {"gains": gains, "n": against_n, "whatif": what_if, "coefficients": coefficients}[
                    part
                ](study)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This study is not possible: {reason}.")


# What is studied ---------------------------------------------------------------------------------


def pick_study(found: CensusSums) -> Study | None:
    usual = [s for s in USUAL if s in found.states] or list(found.states[:5])
    left, middle, right = st.columns([2.4, 0.5, 0.9], vertical_alignment="bottom")
    with left:
        states = options.several("states", "States as agents", found.states, usual)
    with middle:
        st.button(
            f"All {len(found.states)}", on_click=options.put, width="stretch",
            args=("states", ",".join(found.states)), help="Every state of the data as an agent.",
        )  # fmt: skip
    if not states:
        error_box("Pick at least one state.")
        return None
    with right:
        target = options.pick("target", "Whose commute", states, states[-1])
    first, second, third, fourth = st.columns([1.4, 1.2, 1, 0.6], vertical_alignment="bottom")
    with first:
        pattern = options.pick("pattern", "Who asks what", list(PATTERNS), "paper",
                               words=PATTERNS.get)  # fmt: skip
    with second:
        own = options.segments("model", "Model of", {"all": "all questions", "own": "its own"})
    with third:
        log = options.segments("unit", "Target", {"log": "log minutes", "minutes": "minutes"})
    with fourth, st.popover("Grid"):
        asked = grid(found, states, pattern)
    choice = Choice(
        tuple(states), tuple(asked[s] for s in states), target, own == "own", log == "log"
    )
    return study_of(found, choice)


def study_of(found: CensusSums, choice: Choice) -> Study:
    """The study, kept as long as nothing changes: its sums are worked out once."""
    return state.kept("census-study", (found.digest, choice), lambda: Study(found, choice))


def grid(found: CensusSums, states: list[str], pattern: str) -> dict[str, tuple[str, ...]]:
    """Who asks what, by preset or square by square."""
    questions = found.questions
    asked = preset(states, questions, "paper" if pattern == "own" else pattern)
    if pattern == "own":
        asked |= read_grid(options.get("asks", ""), states, questions)
    text = written(asked, states, questions)
    if pattern == "own":
        # The grid is in the link, whatever it began as.
        state.options()["asks"] = text
        state.options_in_use()["asks"] = text
    table = pd.DataFrame(
        [[key in asked[s] for key in questions] for s in states],
        index=states,
        columns=[census.QUESTIONS[key].name for key in questions],
    )
    edited = st.data_editor(table, key=f"grid-{hash(text)}", alt="Which state asks what.")
    if (edited.to_numpy() != table.to_numpy()).any():
        changed = {
            s: tuple(key for key, on in zip(questions, row, strict=True) if on)
            for s, row in zip(states, edited.to_numpy(), strict=True)
        }
        options.put("asks", written(changed, states, questions))
        options.put("pattern", "own")
        st.rerun()
    if found.absent:
        st.caption(f"This data has no {' and no '.join(found.absent)}.")
    return asked


def preset(
    states: list[str], questions: tuple[str, ...], pattern: str
) -> dict[str, tuple[str, ...]]:
    if pattern == "all":
        return dict.fromkeys(states, questions)
    if pattern == "half":
        return {
            s: tuple(key for j, key in enumerate(questions) if (i + j) % 2 == 0)
            for i, s in enumerate(states)
        }
    return census.paper_views(states, questions)


def written(
    asked: dict[str, tuple[str, ...]], states: list[str], questions: tuple[str, ...]
) -> str:
    """The grid as text for a link: NY.11111101111;IL.00000011111."""
    return ";".join(
        f"{s}." + "".join("1" if key in asked[s] else "0" for key in questions) for s in states
    )


def read_grid(
    text: str, states: list[str], questions: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """What a link says of the grid; rows that do not fit are passed over."""
    found = {}
    for part in text.split(";"):
        name, _, bits = part.partition(".")
        if name in states and len(bits) == len(questions) and set(bits) <= {"0", "1"}:
            found[name] = tuple(k for k, bit in zip(questions, bits, strict=True) if bit == "1")
    return found


def code_of(study: Study) -> str:
    """Lines that make this study, from the built-in sums or from the files that were read."""
    load = f"sums = cc.census.CensusSums.load({str(BUILT_IN.relative_to(DATA.parent))!r})\n"
    if people() is not None:
        paths = st.session_state.get("census-paths") or ["the files you uploaded"]
        load = f"people = cc.census.People.from_files({paths}, 'mine')\nsums = people.sums\n"
    return (
        "import collab_core as cc\n\n"
        + load
        + f"choice = cc.census.{study.choice!r}\nstudy = cc.census.Study(sums, choice)\n"
    )


# Gains -------------------------------------------------------------------------------------------


def gains(study: Study) -> None:
    resamples = RESAMPLES if len(study.choice.states) <= FEW_STATES else FEW_RESAMPLES
    key = (study.sums.digest, study.choice)
    frame = state.kept("census-measured", key, lambda: study.measured().merge(study.gains(), "left",
                 on="state", suffixes=("", "_expected")))  # fmt: skip
    results = state.kept("census-results", key, lambda: study.results(resamples))
    words(gains_in_words(study, frame, results))
    left, right = columns("gains", "people", sizes=[1, 1.1])
    with left:
        show(
            figures.states_measured(frame, title="Every state's own model, on its own people"),
            key="gains",
            alt="Measured error of every state's own model alone and together.",
            frame=frame,
            formula=GAINS_FORMULA,
            code=code_of(study)
            + "frame = study.measured().merge(\n"
            + "    study.gains(), 'left', on='state', suffixes=('', '_expected')\n)\n"
            + "print(frame)\n",
        )
    with right:
        whom = study.choice.target
        show(
            figures.errors_on_people(
                results, title=f"On {study.sums.n[study.sums.index(whom), 1]:,} people of {whom}"
            ),
            key="people",
            alt="Error of every method on the target state's test people.",
            frame=results,
            formula=PEOPLE_FORMULA,
            code=code_of(study) + f"frame = study.results({resamples})\nprint(frame)\n",
        )
    for row in results[results["note"] != ""].itertuples():
        words(f"{figures.label(row.method)} is missing: {row.note}.")
    names = [study.sums.text_of(name) for name in study.features]
    show(
        figures.covariance_heatmap(
            study.covariance, names, title="How answers go together, within states", height=560
        ),
        key="census-covariance",
        alt="Heatmap of the pooled correlation of all answers.",
        frame=pd.DataFrame(study.covariance, columns=names),
        formula="Pooled within-state correlation of the training people's answers.",
        code=code_of(study) + "frame = study.covariance\nprint(frame)\n",
    )
    if study.flat:
        st.caption(
            "Nobody in these states answers "
            + ", ".join(study.sums.text_of(name) for name in study.flat)
            + ": left out."
        )


def gains_in_words(study: Study, frame: pd.DataFrame, results: pd.DataFrame) -> str:
    """What was measured first; what the formulas promise is said to be a promise."""
    said = f"{study.sums.source}. "
    both = frame[frame["alone"].notna() & frame["together"].notna()]
    if len(both):
        better = int((both["together"] < both["alone"]).sum())
        said += (
            f"**On their own test people, {better} of {len(both)} states do better together than "
            "alone.** "
        )
        most = frame.loc[frame["worth"].idxmax()]
        said += (
            f"If all followed one relation, {most['state']} would gain most, as if it had "
            f"{most['worth']:.1f} times its {most['people']:,} people"
            + (
                "; states differ, and with so many people each that weighs more. "
                if better < len(both)
                else ". "
            )
        )
    return said + target_in_words(study, results.set_index("method"))


def target_in_words(study: Study, by: pd.DataFrame) -> str:
    collab, local = by.loc["collab"], by.loc["local"]
    if pd.isna(collab["r2"]):
        return ""
    target = study.choice.target
    said = f"COLLAB explains {collab['r2']:.1%} of how long {target}'s people travel"
    if pd.isna(local["r2"]):
        return said + "."
    own = "its own people" if study.choice.own else "its own people, had they been asked all"
    said += f"; least squares on {own}, {local['r2']:.1%}."
    if pd.notna(collab["gap_low"]) and collab["gap_low"] > 0:
        said += " **COLLAB loses here**, by more than chance: the other states' relation is not its own (What if says whose)."  # noqa: E501
    elif pd.notna(collab["gap_high"]) and collab["gap_high"] < 0:
        said += " **COLLAB wins here**, by more than chance."
    return said


# Error against n ---------------------------------------------------------------------------------


def against_n(study: Study) -> None:
    loaded = people()
    if loaded is not None and not loaded.holds_records:
        loaded = None
    first, second, third, fourth = st.columns([1, 1.3, 1.1, 1], vertical_alignment="bottom")
    with first:
        trials = options.pick("trials", "Trials", TRIALS, 20, widget=st.select_slider,
                              help="The paper's is 80.")  # fmt: skip
    with second:
        recipe = "ours"
        if loaded is not None:
            recipe = options.segments(
                "recipe", "Recipe", {"ours": "centred in the sample", "authors": "the authors'"}
            )
        else:
            st.caption(
                "Synthetic draws: Gaussian people with each state's own moments. Load records "
                "(Data) to draw real ones."
            )
    with third:
        weights = options.pick(
            "weights", "COLLAB's weights", ("empirical", "population"), "empirical",
            help="With population weights a rare level that a sample could not tell counts fully.",
        )  # fmt: skip
        study = census.with_choice(study, weights=weights)
    with fourth:
        published = False
        if is_the_papers(study):
            published = options.switch(
                "published", "Published curve", help="The paper's own run: 2018, CA NY TX FL IL."
            )
    # The authors keep a fifth of the training people for validation.
    smallest = int(study.counts.min() * (0.8 if recipe == "authors" else 1.0))
    sizes = [n for n in SIZES if loaded is None or n <= smallest] or [max(smallest, 2)]

    def draw_people(n: int, count: int, methods: tuple[str, ...], seed: int) -> tuple:
        return loaded.draw_errors(study, n, count, methods, seed, recipe=recipe)

    # With R_i inside the sample COLLAB is RW-Imputation; by the authors' recipe they differ.
    methods = (*METHODS, "rw_imputation") if recipe == "authors" else METHODS

    def work(report: run.Report, cancel: Event) -> pd.DataFrame:
        return study.error_curve(
            sizes, trials, methods, progress=report, cancel=cancel,
            draw=None if loaded is None else draw_people,
        )  # fmt: skip

    def draw(frame: pd.DataFrame, final: bool) -> None:
        words(curve_in_words(study, frame))
        overlay = paper_curve() if published else None
        show(
            figures.error_curve(
                frame, title=f"Error on {study.choice.target}'s test people", log=True,
                overlay=overlay,
            ),
            key="census-n",
            alt="Error of every method on the target's test people against n.",
            frame=frame,
            formula=CURVE_FORMULA,
            code=code_of(study) + curve_code(sizes, trials, methods, recipe),
        )  # fmt: skip

    run.panel(
        "census-n", (study.sums.digest, study.choice, trials, recipe), work, draw,
        label="Draw", help="Draws n people of every state, again and again.", auto=True,
    )  # fmt: skip


def curve_code(sizes: list[int], trials: int, methods: tuple[str, ...], recipe: str) -> str:
    if people() is None or not people().holds_records:
        return f"frame = study.error_curve({sizes}, {trials})\nprint(frame)\n"
    return (
        "def draw(n, trials, methods, seed):\n"
        f"    return people.draw_errors(study, n, trials, methods, seed, recipe={recipe!r})\n\n\n"
        f"frame = study.error_curve({sizes}, {trials}, {methods}, draw=draw)\nprint(frame)\n"
    )


def curve_in_words(study: Study, frame: pd.DataFrame) -> str:
    n = int(frame["n"].max()) if len(frame) else 0
    by = frame[frame["n"] == frame["n"].min()].set_index("method") if len(frame) else frame
    if not n or pd.isna(by.loc["collab", "mean"]):
        return "**Which method needs the fewest people?**"
    first = int(frame["n"].min())
    local = by.loc["local", "mean"]
    alone = f" against {local:.3f} on the target's own" if pd.notna(local) else ""
    return (
        f"**With {first} people a state COLLAB leaves {by.loc['collab', 'mean']:.3f} of the "
        f"variance{alone}.** 1 is predicting the mean."
    )


def is_the_papers(study: Study) -> bool:
    """Whether five states ask as in the paper, and all questions predict the last one's minutes."""
    choice = study.choice
    views = census.paper_views(choice.states, study.sums.questions)
    return (
        len(choice.states) == len(census.PAPER_STATES)
        and choice.target == choice.states[-1]
        and choice.log
        and not choice.own
        and all(views[s] == asks for s, asks in zip(choice.states, choice.asked, strict=True))
    )


@st.cache_data(show_spinner=False)
def paper_curve() -> pd.DataFrame:
    """The authors' published run, in the names of our methods."""
    frame = pd.read_csv(PUBLISHED)
    frame["method"] = frame["method"].map(PAPER_METHODS)
    return frame.dropna(subset="method").rename(columns={"mse": "mean"})


# What if -----------------------------------------------------------------------------------------


def what_if(study: Study) -> None:
    def work(report: run.Report, cancel: Event) -> tuple[pd.DataFrame, ...]:
        asking = study.asking_more(lambda share: report(0.6 * share, None), cancel)
        steps = (census.leaving, census.joining, census.doubling)
        found = [asking]
        for done, step in enumerate(steps, start=1):
            if cancel.is_set():
                break
            found.append(step(study))
            report(0.6 + 0.4 * done / len(steps), None)
        return tuple(found)

    def draw(found: tuple[pd.DataFrame, ...], final: bool) -> None:
        if len(found) == 4:
            draw_what_if(study, *found)

    run.panel(
        "census-whatif", (study.sums.digest, study.choice), work, draw, label="Ask",
        help="Fits COLLAB anew for every change.", auto=True, below=True,
    )  # fmt: skip


def draw_what_if(
    study: Study,
    asking: pd.DataFrame,
    leaves: pd.DataFrame,
    joins: pd.DataFrame,
    more: pd.DataFrame,
) -> None:
    names = {key: question.name for key, question in census.QUESTIONS.items()}
    words(what_if_in_words(study, asking, leaves, joins, more, names))
    if len(asking):
        table = census.question_table(asking, study.choice.states)
        show(
            figures.falls_by_question(
                table, names, title="If a state asked one more question: how far "
                f"{study.choice.target}'s error falls", height=max(300, 120 + 22 * len(table)),
            ),
            key="questions",
            alt="By how much the target's error falls if a state asked a question.",
            frame=asking,
            formula=WHATIF_FORMULA,
            code=code_of(study) + "frame = study.asking_more()\nprint(frame)\n",
        )  # fmt: skip
    left, middle, right = st.columns(3)
    for column, title, frame in (
        (left, "If a state leaves (measured)", leaves),
        (middle, "If a state joins, asking everything (measured)", joins),
        (right, "If its people doubled (by the formulas, beyond what no data remove)", more),
    ):
        with column:
            words(f"**{title}**")
            if len(frame):
                st.dataframe(
                    frame.assign(change=frame["after"] / frame["before"] - 1).sort_values("after"),
                    hide_index=True, height=260,
                    column_config={
                        "before": st.column_config.NumberColumn(format="%.3g"),
                        "after": st.column_config.NumberColumn(format="%.5g"),
                        "change": st.column_config.NumberColumn(format="percent"),
                    },
                )  # fmt: skip
            else:
                words("There is none.")


def what_if_in_words(
    study: Study,
    asking: pd.DataFrame,
    leaves: pd.DataFrame,
    joins: pd.DataFrame,
    more: pd.DataFrame,
    names: dict[str, str],
) -> str:
    target, said = study.choice.target, []
    known = asking[asking["fall"].notna()]
    leaves, joins = leaves[leaves["after"].notna()], joins[joins["after"].notna()]
    if asking.empty:
        said.append("**Everybody asks everything.**")
    elif known.empty or known["fall"].max() <= 0:
        said.append(f"**No further question would lower the error on {target}'s people.**")
    else:
        best = known.loc[known["fall"].idxmax()]
        said.append(
            f"**Most would be gained if {best['state']} asked {names[best['question']]}: the error "
            f"on {target}'s people falls by {best['fall']:.2%}.**"
        )
    if len(leaves):
        worst, best = leaves.loc[leaves["after"].idxmax()], leaves.loc[leaves["after"].idxmin()]
        if worst["after"] > worst["before"]:
            said.append(
                f"- Without {worst['state']} COLLAB's error on its people rises by "
                f"{worst['after'] / worst['before'] - 1:.2%}."
            )
        if best["after"] < best["before"]:
            said.append(
                f"- Without {best['state']} it *falls* by {1 - best['after'] / best['before']:.2%}:"
                f" its people's relation is not {target}'s."
            )
    if len(joins):
        best = joins.loc[joins["after"].idxmin()]
        change = best["after"] / best["before"] - 1
        said.append(f"- The best newcomer is {best['state']}: {change:+.2%}.")
    best = more.loc[more["after"].idxmin()]
    fall = 1 - best["after"] / best["before"] if best["before"] > 0 else 0.0
    said.append(
        f"- Twice as many labelled people are worth most in {best['state']}: by the formulas what "
        f"more data can still remove falls by {fall:.1%}."
    )
    return "\n".join(said)


# Coefficients ------------------------------------------------------------------------------------


def coefficients(study: Study) -> None:
    frame = study.coefficients()
    names = [study.sums.text_of(name) for name in frame["feature"]]
    units = [census.QUESTIONS[name.partition("_")[0]].unit for name in frame["feature"]]
    levels = [j for j, unit in enumerate(units) if not unit]
    numbers = [j for j, unit in enumerate(units) if unit]
    scale = "log minutes" if study.choice.log else "minutes"
    unasked = [study.sums.text_of(row.feature) for row in frame.itertuples() if not row.asked]
    words(coefficients_in_words(study, frame, unasked))
    if levels:
        part = frame.iloc[levels]
        show(
            figures.coefficient_intervals(
                part, [names[j] for j in levels], f"{scale} more than the first level",
                title=f"What the model says for {study.choice.target}",
                height=max(320, 90 + 22 * len(levels)),
            ),
            key="coefficients",
            alt="Coefficients of the collaborative and the local model with intervals.",
            frame=frame.assign(text=names),
            formula=COEFFICIENTS_FORMULA,
            code=code_of(study) + "frame = study.coefficients()\nprint(frame)\n",
        )  # fmt: skip
    if numbers:
        rows = [
            f"| {scale} | together | 95% interval | alone | 95% interval |",
            "|---|---|---|---|---|",
        ]
        for j in numbers:
            row = frame.iloc[j]
            alone = "not asked | "
            if pd.notna(row["alone"]):
                alone = f"{row['alone']:.3g} | {row['alone_low']:.3g} to {row['alone_high']:.3g}"
            rows.append(
                f"| {names[j]}, {units[j]} | {row['together']:.3g} | {row['low']:.3g} to "
                f"{row['high']:.3g} | {alone} |"
            )
        words("\n".join(rows))


def coefficients_in_words(study: Study, frame: pd.DataFrame, unasked: list[str]) -> str:
    target = study.choice.target
    if unasked and not study.choice.own:
        some = ", ".join(unasked[:3]) + (" and more" if len(unasked) > 3 else "")
        return (
            f"**The collaborative model speaks of {len(unasked)} answers that {target} never asked "
            f"for** ({some}); its own model cannot."
        )
    narrower = frame[frame["alone"].notna()]
    if narrower.empty:
        return f"**{target} asks nothing, so only the collaborative model speaks.**"
    ratio = ((narrower["alone_high"] - narrower["alone_low"]).astype(float)
             / (narrower["high"] - narrower["low"])).median()  # fmt: skip
    return (
        f"**Together, intervals are {ratio:.1f} times narrower than {target}'s own**, at the "
        "median. They cover chance, not that states differ: a gap of many widths is a difference."
    )


# Data --------------------------------------------------------------------------------------------


def data() -> None:
    found = sums()
    words(
        f"**Now: {found.source}.** {found.people:,} people who count (over 16, in work, with a "
        f"travel time) of {len(found.states)} states, {len(found.features)} features of "
        f"{len(found.questions)} questions."
        + (f" Not in it: {', '.join(found.absent)}." if found.absent else "")
        + " Every fifth person of a state is kept for testing. Only sums are used, unless you draw "
        "records under Error against n."
    )
    if people() is not None:
        st.button("Back to the built-in data", on_click=forget)
    left, right = st.columns(2)
    with left:
        st.subheader("From the Census")
        from_census()
    with right:
        st.subheader("Files of your own")
        own_files()


def forget() -> None:
    st.session_state.pop("census-people", None)


def from_census() -> None:
    year = st.selectbox("Year", YEARS[::-1], index=YEARS[::-1].index(2018))
    horizon = st.selectbox("Horizon", HORIZONS, help="The paper's is 2018, 1-Year.")
    survey = Survey(
        Path(os.environ.get("COLLAB_CENSUS_CACHE", DATA)), int(year), horizon,
        os.environ.get("COLLAB_CENSUS_URL", CENSUS),
    )  # fmt: skip
    names = sorted(census.download.STATES.values())
    chosen = st.multiselect("States", names, list(census.PAPER_STATES))
    missing = [s for s in chosen if s not in survey.cached]
    weights = built_in()
    guess = sum(
        weights.n[weights.index(s)].sum() * 3 if s in weights.states else 150_000 for s in missing
    )
    size = guess * MB_PER_PERSON * (5 if horizon == "5-Year" else 1)
    st.caption(
        f"{len(chosen) - len(missing)} of {len(chosen)} are here already. "
        + (
            f"About {size:,.0f} MB would come from the Census Bureau (www2.census.gov), in some "
            f"{max(size * 1e6 / BYTES_PER_SECOND, 10):,.0f} seconds at {BYTES_PER_SECOND / 1e6:g} "
            "MB a second, and be kept under data/."
            if missing
            else "Nothing needs to be downloaded."
        )
    )
    if not chosen:
        error_box("Pick at least one state.")
        return

    def work(report: run.Report, cancel: Event) -> People | None:
        paths = survey.fetch(
            chosen, progress=lambda share, text: report(0.7 * share, None), cancel=cancel
        )
        if cancel.is_set():
            return None
        return People.from_files(
            paths, f"ACS {year} {horizon}, {', '.join(chosen)}", cancel=cancel,
            progress=lambda share: report(0.7 + 0.3 * share, None),
        )  # fmt: skip

    run.panel(
        "census-fetch", (year, horizon, tuple(chosen)), work,
        lambda found, final: take_over(found, final, [str(survey.path(s)) for s in chosen]),
        label="Download and read" if missing else "Read",
        help="Fetches person files from the Census Bureau, then works offline.",
    )  # fmt: skip


def own_files() -> None:
    folder = st.text_input(
        "Folder on this computer", help="With PUMS person files, .csv or .parquet."
    )
    uploaded = st.file_uploader(
        "Or upload them", type=["csv", "parquet"], accept_multiple_files=True
    )

    def work(report: run.Report, cancel: Event) -> People:
        with contextlib.ExitStack() as stack:
            if uploaded:
                # To a folder that ends with the reading: files are read in pieces, not at once.
                place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                paths = []
                for number, file in enumerate(uploaded):
                    paths.append(place / f"{number}-{Path(file.name).name}")
                    paths[-1].write_bytes(file.getbuffer())
            else:
                paths = census.files_in(Path(folder).expanduser())
            return People.from_files(
                paths, f"my {len(paths)} file{'s' if len(paths) > 1 else ''}", cancel=cancel,
                progress=lambda share: report(share, None),
            )  # fmt: skip

    if folder or uploaded:
        paths = None if uploaded else [str(path) for path in folder_files(folder)]
        run.panel(
            "census-own", (folder, tuple(file.file_id for file in uploaded)), work,
            lambda found, final: take_over(found, final, paths),
            label="Read", help="Reads them in pieces; nothing leaves this computer.",
        )  # fmt: skip


def folder_files(folder: str) -> list[Path]:
    """Files of a folder for the snippet; what is wrong with it is said when it is read."""
    try:
        return census.files_in(Path(folder).expanduser())
    except ValueError:
        return []


def take_over(found: People | None, final: bool, paths: list[str] | None = None) -> None:
    """Use what was read from now on, and say so."""
    if not final or found is None:
        return
    st.success(
        f"{found.sums.people:,} people of {', '.join(found.sums.states)} were read and are used on "
        "the other parts of this page."
        + ("" if found.holds_records else " They are too many to hold: only their sums are kept.")
    )
    # Once only: who goes back to the built-in data has still read these.
    if st.session_state.get("census-taken") != id(found):
        st.session_state["census-people"], st.session_state["census-taken"] = found, id(found)
        st.session_state["census-paths"] = paths
        state.touch()
        st.rerun()


GAINS_FORMULA = """
Measured: least squares on a state's own training people, and COLLAB's model for its questions, both
on its own test people, over the error of predicting the mean. What it would be worth if all states
followed one relation is by the formulas: alone a state
errs $s_i d_i/n_i$ beyond what it can never explain, together
$\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')$ with $C^g = (\\sum_k n_kT_k'\\Sigma_{k+}T_k/s_k)^{-1}$.
"""

PEOPLE_FORMULA = """
Mean squared error on the target's test people (every fifth of its file), who took no part in any
fit, over that of predicting the training mean; $R^2$ is 1 less that. Exact, from sums. Bars are the
middle 95% over resamples: every state's training people drawn anew from a Gaussian law with their
moments.
"""

CURVE_FORMULA = """
Every state has $n$ people: records drawn without replacement where records are loaded, otherwise
exact sums of Gaussian people with the state's own moments (synthetic: rare levels are then never
absent). Features are centred within each sample and scaled by pooled deviations; COLLAB has
Algorithm 1's empirical weights, and equals RW-Imputation with $1/R_i$. Errors are on the target's
test people, over that of predicting the mean; bands are 95% intervals of the mean over draws. The
published curve is the authors' own run, in standard deviations of 2018.
"""

WHATIF_FORMULA = """
Measured: COLLAB is fitted anew from sums with the question added to a state's view (or without a
state, or with one more), and its error taken on the target's test people. Sums hold every state's
answers to every question, so nothing is supposed. Doubling is by the formulas,
$\\mathrm{tr}(\\Sigma C^g)$ with $n_i$ doubled.
"""

COEFFICIENTS_FORMULA = """
COLLAB's model in natural units, with intervals from its estimated covariance (a sandwich,
conditional on the features), beside the target's own least squares.
"""

main()
