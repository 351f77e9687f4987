"""Your data: anybody's table, whose groups are the agents; who gains, models, a report."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from threading import Event

import pandas as pd
import streamlit as st

from collab_core import figures, tabular
from collab_core.tabular import Choice, Table, TableModel, TableStudy, report, words
from collab_core.tabular.export import safe_csv, safe_frame
from collab_core.tabular.samples import SAMPLES
from pages.shared import options, run, state, subject
from pages.shared.panel import columns, show
from pages.shared.say import bare, error_box, literal
from pages.shared.say import words as say
from pages.shared.shell import heading, page
from pages.shared.subject import Subject

DATA = Path(__file__).parents[1] / "data"

PARTS = {
    "verdict": "Who gains",
    "table": "The table",
    "models": "Models",
    "checks": "Checks",
    "take": "Take away",
}

#: A table of so many rows, and of sums so large, is studied while one waits; a larger one with
#: progress and Stop.
QUICK_ROWS, QUICK_EFFORT = 20_000, 20_000

#: Choices that mean something for one table only, and those for one column of agents.
OF_TABLE = ("target", "agent", "features", "categories", "gaps", "log", "rare", "sigma")
OF_AGENTS = ("without", "of", "check")

LIMITS = (
    f"CSV or Parquet, up to {tabular.MOST_BYTES // 2**20} MB, {tabular.MOST_ROWS:,} rows and "
    f"{tabular.MOST_COLUMNS} columns. Several files: one an agent. Read in pieces, kept for this "
    "session only, sent nowhere."
)


def main() -> None:
    with page(world=False):
        part = heading("Your data", PARTS)
        opened = pick_table()
        if opened is None:
            return
        table, code = opened
        forget("table-of", table, (*OF_TABLE, *OF_AGENTS))
        try:
            choice = pick_choice(table)
            if part == "table":
                list_columns(table)
            if choice is not None:
                studied(table, choice, lambda study: draw(part, study, code))
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This table cannot be studied so: {reason}.")


def forget(slot: str, what: object, names: tuple[str, ...]) -> None:
    """Forget choices that were made for another table, or for other agents.

    A link brings choices of its own, which are for what it shows: they stay.
    """
    given = state.options()
    before = st.session_state.get(slot)
    if before is not None and before[0] is given and before[1] != what:
        for name in names:
            given.pop(name, None)
    st.session_state[slot] = (given, what)


def draw(part: str, study: TableStudy, opening: str) -> None:
    code = opening + choice_code(study.choice)
    st.session_state[subject.TABLE] = state.kept(
        "table-world", study, lambda: world_of(study, code)
    )
    {"verdict": verdict, "table": views, "models": models, "checks": checks, "take": take}[part](
        study, code
    )


def world_of(study: TableStudy, code: str) -> Subject | str:
    """The table as a world for the page "What if", or why it is none."""
    try:
        problem = study.problem()
    except ValueError as reason:
        return f"{reason}."
    sources = study.sources
    target = bare(study.choice.target)
    return Subject(
        problem,
        float(study.rows.mean()),
        [bare(agent) for agent in study.agents],
        [bare(feature.name) for feature in study.features],
        code + "problem, n = study.problem(), float(study.rows.mean())\n",
        source=f"{study.rows.sum():,} rows of your table, {target} in standard deviations.",
        groups=[
            [j for j, feature in enumerate(study.features) if feature.source == source]
            for source in sources
        ],
        group_names=[bare(source) for source in sources],
    )


def choice_code(choice: Choice) -> str:
    """Lines that make the study, its defaults left out."""
    usual = {field.name: field.default for field in fields(Choice)}
    given = [
        f"    {name}={getattr(choice, name)!r},\n"
        for name in usual
        if getattr(choice, name) != usual[name]
    ]
    return (
        f"choice = cc.tabular.Choice(\n{''.join(given)})\n"
        "study = cc.tabular.analyse(table, choice)\n"
    )


# The table ---------------------------------------------------------------------------------------


@st.cache_resource(max_entries=4, show_spinner=False)
def sample(key: str) -> Table:
    return Table.open([DATA / SAMPLES[key].file])


def pick_table() -> tuple[Table, str] | None:
    """The table of this session, and the lines that open it."""
    labels = {key: found.label for key, found in SAMPLES.items()} | {"own": "My own table"}
    left, right = st.columns([1, 1.5], vertical_alignment="center")
    with left:
        which = options.pick("table", "Table", list(labels), "clinics", words=labels.get,
                             widget=st.segmented_control, label_visibility="collapsed")  # fmt: skip
    if which in SAMPLES:
        with right:
            say(literal(SAMPLES[which].summary))
        path = f"data/{SAMPLES[which].file}"
        return sample(which), opening([path])
    with right:
        files = st.file_uploader(
            "A table, or several files, one an agent", accept_multiple_files=True,
            help=LIMITS, key="table-upload",
        )  # fmt: skip
        st.caption(LIMITS)
    if files:
        read_own(files)
    held = st.session_state.get("table-own")
    if held is None:
        if not files:
            say("Upload a table to begin, or look at a sample first.")
        return None
    return held


def opening(paths: list[str]) -> str:
    return f"import collab_core as cc\n\ntable = cc.tabular.Table.open({paths!r})\n"


def read_own(files: list) -> None:
    """Read uploaded files once, with progress; then they are the session's table."""
    signature = tuple(file.file_id for file in files)
    if st.session_state.get("table-own-files") == signature:
        return
    sources = [tabular.Source(file.name, file.getbuffer()) for file in files]

    def work(report: run.Report, cancel: Event) -> Table:
        return Table.open(sources, progress=lambda share: report(share, None), cancel=cancel)

    def took(found: Table | None, final: bool) -> None:
        if final and found is not None:
            names = [file.name for file in files]
            st.session_state["table-own"] = (found, opening(names))
            st.session_state["table-own-files"] = signature
            state.touch()
            st.rerun()

    # What was read before is not this table.
    st.session_state["table-own"] = None
    run.panel("table-read", signature, work, took, label="Read", help="Reads the files.", auto=True)


def pick_choice(table: Table) -> Choice | None:
    """What the table is asked, by controls; a guess stands in them at first."""
    usual = tabular.usual_choice(table)
    if told := table.not_a_target():
        say(literal(told))
    first, second, third = st.columns(3, vertical_alignment="bottom")
    with first:
        target = options.pick(
            "target", "Predict", table.can_be_target(), usual.target,
            words=lambda name: _with_texts(table, name),
        )  # fmt: skip
    able = [name for name in table.can_name_agents() if name != target]
    if not able:
        error_box("No other column can name the agents: one with a few different values is needed.")
        return None
    with second:
        agent = options.pick(
            "agent", "One agent for every", able, usual.agent if usual.agent in able else able[0]
        )
    forget("table-agents-of", (table, agent), OF_AGENTS)
    guess = tabular.usual_choice(table, target=target, agent=agent)
    with third, st.popover("Features, gaps and more", width="stretch"):
        return more_choices(table, guess)


def _with_texts(table: Table, name: str) -> str:
    """A column's name, and how many of its cells are no number."""
    texts = table.column(name).texts if table.column(name).kind == "mixed" else 0
    return f"{name} ({texts:,} texts: gaps)" if texts else name


def more_choices(table: Table, guess: Choice) -> Choice | None:
    names = table.names
    gaps = options.pick(
        "gaps", "Rows with gaps", ("drop", "mean"), "drop", widget=st.segmented_control,
        words={"drop": "leave out", "mean": "fill in"}.get,
        help="A gap is a missing value of a feature that the row's agent usually has. It is filled "
        "with the mean of rows like it, of all agents: right only if gaps come by chance and "
        "features go together alike everywhere.",
    )  # fmt: skip
    open_to = [
        str(place)
        for place, column in enumerate(table.columns)
        if column.name not in (guess.target, guess.agent)
        and column.kind in ("number", "category", "mixed", "text", "identifier")
    ]

    def name_of(place: str) -> str:
        return names[int(place)]

    # By number in the link: a column's name may hold anything.
    chosen = options.several(
        "features", "Features", open_to, [str(names.index(name)) for name in guess.features],
        words=name_of,
    )  # fmt: skip
    features = tuple(name_of(place) for place in chosen)
    named = [
        place for place in chosen
        if table.column(name_of(place)).kind != "number"
        or (table.column(name_of(place)).distinct or 10**9) <= 100
    ]  # fmt: skip
    categories = options.several(
        "categories", "Of these, names and not amounts", named,
        [place for place in named if table.column(name_of(place)).kind != "number"], words=name_of,
    )  # fmt: skip
    values = table.column(guess.agent).values
    without = options.several(
        "without", "Agents to leave out", [str(j) for j in range(len(values))], [],
        words=lambda place: values[int(place)],
    )  # fmt: skip
    log = options.switch("log", "Predict the logarithm")
    rare = options.pick(
        "rare", "Group levels rarer than", (0.0, 0.001, 0.01, 0.05), 0.01, widget=st.select_slider,
        words=lambda share: f"{share:.1%}",
    )  # fmt: skip
    sigma = "agents"
    if table.column(guess.target).missing:
        sigma = options.pick(
            "sigma", "How features go together", ("agents", "unlabelled"), "agents",
            words={"agents": "from the agents' rows",
                   "unlabelled": "from rows without a target"}.get,
        )  # fmt: skip
    if not features:
        error_box("Pick at least one feature.")
        return None
    return Choice(
        guess.target, guess.agent, features, tuple(name_of(place) for place in categories),
        log=log, gaps=gaps, without=tuple(values[int(place)] for place in without), rare=rare,
        sigma=sigma,
    )  # fmt: skip


def studied(table: Table, choice: Choice, draw_study: Callable[[TableStudy], None]) -> None:
    """Draw a study: made at once for a small table, with progress for a large one."""
    # The table itself: a number of its own could be that of one that is gone.
    key = (table, choice)
    held = st.session_state.get("table-study")
    if held is None or held[0] != key:
        if table.rows > QUICK_ROWS or tabular.effort(table, choice) > QUICK_EFFORT:
            study_with_progress(table, choice, key)
            return
        held = st.session_state["table-study"] = (key, tabular.analyse(table, choice))
    draw_study(held[1])


def study_with_progress(table: Table, choice: Choice, key: object) -> None:
    def work(report: run.Report, cancel: Event) -> TableStudy:
        return tabular.analyse(
            table, choice, progress=lambda share: report(share, None), cancel=cancel
        )

    def took(found: TableStudy | None, final: bool) -> None:
        if final and found is not None:
            st.session_state["table-study"] = (key, found)
            state.touch()
            st.rerun()

    run.panel(
        "table-study", key, work, took, label="Study",
        help="Adds up the table and fits every method.", auto=True,
    )  # fmt: skip


def list_columns(table: Table) -> None:
    say(
        f"**{table.rows:,} rows, {len(table.columns)} columns.** What each column was taken for; "
        "*Features, gaps and more* changes it."
    )
    frame = pd.DataFrame(
        {
            "column": [column.name for column in table.columns],
            "taken for": [column.kind for column in table.columns],
            "missing": [column.missing / table.rows for column in table.columns],
            "values": [
                "many" if column.distinct is None else str(column.distinct)
                for column in table.columns
            ],
            "example": [column.example for column in table.columns],
            "note": [column.note for column in table.columns],
        }
    )
    st.dataframe(
        safe_frame(frame),
        hide_index=True,
        column_config={
            "missing": st.column_config.NumberColumn(format="percent", width="small"),
            "values": st.column_config.TextColumn(width="small"),
            "note": st.column_config.TextColumn(width="large"),
        },
        height=min(38 + 35 * len(frame), 420),
    )
    for note in table.notes:
        say(f"- {literal(note)}")


def views(study: TableStudy, code: str) -> None:
    say(f"**{literal(words.coverage(study))}**")
    show_views(study, code, height=max(240, 90 + 26 * len(study.agents)))
    if study.unseen_pairs:
        pairs = pd.DataFrame(study.unseen_pairs, columns=["column", "never together with"])
        say(f"**{len(pairs):,} pairs of columns that no agent has together:**")
        st.dataframe(safe_frame(pairs), hide_index=True, height=min(38 + 35 * len(pairs), 240))
    for note in study.notes:
        say(f"- {literal(note)}")


def show_views(study: TableStudy, code: str, height: int) -> None:
    seen = study.seen
    rows = [f"{agent} ({n:,})" for agent, n in zip(study.agents, study.rows, strict=True)]
    show(
        figures.view_matrix(
            seen.to_numpy(), (rows, list(seen.columns)), height=height,
            title="Who sees what (rows in brackets)",
        ),
        key="table-views",
        alt="Which agent has which column of the table.",
        frame=seen.reset_index(names=study.choice.agent),
        formula=VIEWS_FORMULA,
        code=code + "frame = study.seen\nprint(frame)\n",
    )  # fmt: skip


# Who gains ---------------------------------------------------------------------------------------


def verdict(study: TableStudy, code: str) -> None:
    say(f"**{literal(words.summary(study))}** {literal(words.overall(study))}")
    order = list(study.verdicts.sort_values("change")["agent"])
    left, right = columns("held-out", "table-views", sizes=[1.35, 1])
    with left:
        results = study.results
        show(
            figures.held_out_errors(
                results, order=order, height=400,
                title=f"Held-out error of {_short(study.choice.target)}, best gain first",
            ),
            key="held-out",
            alt="Held-out error of every method for every agent, with intervals.",
            frame=results,
            formula=HELD_OUT_FORMULA,
            code=code + "frame = study.results\nprint(frame)\n",
        )  # fmt: skip
    with right:
        show_views(study, code, height=400)
    table = study.verdicts[["agent", "rows", "verdict"]].assign(
        evidence=[words.verdict(row) for _, row in study.verdicts.iterrows()]
    )
    st.dataframe(safe_frame(table), hide_index=True, height=min(38 + 35 * len(table), 420))
    say(literal(words.filled(study)))
    if study.left_out:
        say(literal(f"{study.left_out}."))
    for row in study.results[study.results["note"] != ""].drop_duplicates("method").itertuples():
        if row.method == "collab_plus":
            say(literal(f"{figures.label(row.method)} is missing: {row.note}."))


def _short(name: str) -> str:
    return name if len(name) <= 30 else name[:29] + "…"


# Models ------------------------------------------------------------------------------------------


def pick_agent(study: TableStudy, name: str) -> int:
    place = options.pick(
        name, "Agent", [str(j) for j in range(len(study.agents))], "0",
        words=lambda j: study.agents[int(j)],
    )  # fmt: skip
    return int(place)


def models(study: TableStudy, code: str) -> None:
    left, right = st.columns([1, 2.2], vertical_alignment="center")
    with left:
        agent = pick_agent(study, "of")
    frame = study.coefficients(agent)
    slopes = frame[frame["feature"] != "(intercept)"]
    with right:
        say(literal(models_in_words(study, agent, slopes)))
    target = ("log " if study.choice.log else "") + _short(study.choice.target)
    numbers = ["together", "low", "high", "alone", "alone_low", "alone_high"]
    show(
        figures.coefficient_intervals(
            slopes.assign(**{name: slopes[name] * slopes["step"] for name in numbers}),
            [figures.plain(name, 28) for name in slopes["feature"]],
            f"change of {figures.plain(target)} per step (one standard deviation, or the level)",
            title=f"{_short(study.agents[agent])}: what the model says, together and alone",
            height=max(320, 110 + 26 * len(slopes)),
        ),
        key="table-coefficients",
        alt="Coefficients of one agent's model, together and alone, with 95% intervals.",
        frame=frame,
        formula=COEFFICIENTS_FORMULA,
        code=code + f"frame = study.coefficients({agent})\nprint(frame)\n",
    )  # fmt: skip


def models_in_words(study: TableStudy, agent: int, frame: pd.DataFrame) -> str:
    name, rows = study.agents[agent], int(study.rows[agent])
    both = frame[frame["together"].notna() & frame["alone"].notna()]
    if both.empty:
        return f"{name} has {rows:,} rows: no two models to compare."
    widths = (both["high"] - both["low"]) / (both["alone_high"] - both["alone_low"])
    sure = int(((both["low"] > 0) | (both["high"] < 0)).sum())
    return (
        f"{name}, {rows:,} rows: together, intervals are {widths.median():.0%} as wide as alone "
        f"(median); {sure} of {len(both)} coefficients differ from 0 by more than chance."
    )


# Checks ------------------------------------------------------------------------------------------


def checks(study: TableStudy, code: str) -> None:
    say(f"**{literal(words.shift(study))}** {literal(words.tails(study))}")
    left, _ = st.columns([1, 2.2])
    with left:
        agent = pick_agent(study, "check")
    frame = study.residuals(agent)
    left, right = columns("residuals", "quantiles", sizes=[1, 1])
    name = _short(study.agents[agent])
    if len(frame) >= 3:
        with left:
            show(
                figures.residuals(frame, title=f"{name}: what the model leaves"),
                key="residuals",
                alt="Residuals against fitted values.",
                frame=frame,
                formula=RESIDUALS_FORMULA,
                code=code + f"frame = study.residuals({agent})\nprint(frame)\n",
            )
        with right:
            show(
                figures.normal_quantiles(
                    frame["residual"].to_numpy(), title=f"{name}: straight if Gaussian"
                ),
                key="quantiles",
                alt="Residuals against the quantiles of a Gaussian.",
                frame=frame,
                formula=RESIDUALS_FORMULA,
                code=code + f"frame = study.residuals({agent})\nprint(frame)\n",
            )
    say("**Does an agent follow another relation than the others imply?**")
    st.dataframe(
        safe_frame(study.shift), hide_index=True, height=min(38 + 35 * len(study.agents), 420),
        column_config=four_digits("difference", "low", "high", "p", "adjusted"),
    )  # fmt: skip
    say(literal(words.filled(study)))
    st.caption(SHIFT_FORMULA)


# Take away ---------------------------------------------------------------------------------------


def take(study: TableStudy, code: str) -> None:
    say("Everything to keep. Files hold sums and models, none of the table's rows.")
    table = report.all_coefficients(study)
    with st.container(horizontal=True):
        st.download_button(
            "Coefficients (CSV)", lambda: safe_csv(table), "collab-coefficients.csv", "text/csv",
            on_click="ignore", help="Every agent's model with 95% intervals.",
        )  # fmt: skip
        st.download_button(
            "Model (JSON)", lambda: TableModel.of(study).to_json(), "collab-model.json",
            "application/json", on_click="ignore", help="For predictions, here or in Python.",
        )  # fmt: skip
        st.download_button(
            "Report (HTML)", lambda: report.html(study, code), "collab-report.html", "text/html",
            on_click="ignore", help="One page with figures; opens without a network.",
        )  # fmt: skip
    names = ("step", "together", "low", "high", "alone", "alone_low", "alone_high")
    st.dataframe(safe_frame(table), hide_index=True, height=300, column_config=four_digits(*names))
    predictions(study)
    say("**The code that reproduces all of it:**")
    st.code(code + report.CODE, language="python")


def four_digits(*names: str) -> dict:
    """Columns with four digits that count, for numbers of any size."""
    return {name: st.column_config.NumberColumn(format="%.4g") for name in names}


def predictions(study: TableStudy) -> None:
    say(
        "**Predictions for another table:** rows of the same agents, or of new ones"
        + ("." if study.has_full_model else " (for new ones there is no model here).")
    )
    files = st.file_uploader(
        "A table to predict for", accept_multiple_files=True, help=LIMITS, key="predict-upload"
    )
    if not files:
        return
    sources = [tabular.Source(file.name, file.getbuffer()) for file in files]
    model = TableModel.of(study)

    def work(report: run.Report, cancel: Event) -> pd.DataFrame:
        table = Table.open(sources, progress=lambda share: report(share / 2, None), cancel=cancel)
        return model.predict(
            table, progress=lambda share: report(0.5 + share / 2, None), cancel=cancel
        )

    def show_predictions(found: pd.DataFrame, final: bool) -> None:
        missing = int(found["prediction"].isna().sum())
        say(
            f"{len(found) - missing:,} of {len(found):,} rows have a prediction."
            + (" The others say why." if missing else "")
        )
        st.download_button(
            "Predictions (CSV)", lambda: safe_csv(found), "collab-predictions.csv", "text/csv",
            on_click="ignore",
        )  # fmt: skip
        st.dataframe(safe_frame(found.head(200)), hide_index=True, height=240)

    signature = (tuple(file.file_id for file in files), study)
    run.panel("table-predict", signature, work, show_predictions, label="Predict",
              help="Reads the table and applies every agent's model.", auto=True)  # fmt: skip


VIEWS_FORMULA = f"""
A column that an agent has in fewer than {tabular.SPARSE:.0%} of its rows with a target is not seen
by it. A pair of columns that no agent has together leaves its covariance unknown: every agent's own
model $\\hat\\Sigma_{{i+}}^{{-1}}\\hat\\varphi[o_i]$ needs none of it, a model of all features does.
"""

HELD_OUT_FORMULA = """
Every agent's rows are dealt into five parts four times over; each part is held out once, all
methods are fitted on the rest of everybody's rows, and an agent's own model is judged on its own
held-out rows, over the error of predicting its mean. Intervals are of the mean over the 20 splits,
corrected for the rows that splits share (Nadeau and Bengio 2003). An agent gains or loses if the
interval of COLLAB less least squares alone, on the same splits, is on one side of 0. These
intervals are rather too wide than too narrow. An agent with fewer than ten rows
gets none, for there they cover far less than they say.
"""

COEFFICIENTS_FORMULA = """
In the table's units, an agent's intercept from its own means. Intervals are by the jackknife: each
of 20 parts of everybody's rows is left out in turn, and everything, the covariance too, is
estimated anew. No law of features or noise is assumed. Drawn per step, so that features can be
compared; the data hold coefficients and steps.
"""

RESIDUALS_FORMULA = """
Some rows of the agent under COLLAB's model for it: a bend means that the relation is no line, a
funnel that the noise is not the same everywhere, ends off the line that tails are heavy.
"""

SHIFT_FORMULA = (
    "Own least squares against what COLLAB of all others says, on the features they share; the one "
    "that differs most, with jackknife errors. p is corrected for the number of features, adjusted "
    "for that of agents. One odd agent makes the others look odd too: begin with the oddest."
)

main()
