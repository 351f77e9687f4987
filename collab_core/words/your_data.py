"""What a table and a study of it say. For the page "Your data", and for its report."""

from __future__ import annotations

import pandas as pd

from .. import methods
from ..tabular.design import SPARSE
from ..tabular.sentences import counted, listed
from ..tabular.source import MOST_BYTES, MOST_COLUMNS, MOST_ROWS
from ..tabular.study import TableStudy
from ..tabular.table import Table

#: P-values below this are called a difference.
SURE = 0.05

LIMITS = (
    f"CSV or Parquet, up to {MOST_BYTES // 2**20} MB, {MOST_ROWS:,} rows and "
    f"{MOST_COLUMNS} columns. Several files: one an agent. Read in pieces, kept for this "
    "session only, sent nowhere."
)

VIEWS_TITLE = "Who sees what (rows in brackets)"


def columns(table: Table) -> str:
    """How large a table is, and what is listed of it."""
    return (
        f"**{table.rows:,} rows, {len(table.columns)} columns.** What each column was taken for; "
        "*Features, gaps and more* changes it."
    )


def summary(study: TableStudy) -> str:
    """Who gains, in one sentence."""
    verdicts = study.verdicts
    by = {key: list(group["agent"]) for key, group in verdicts.groupby("verdict")}
    said = []
    if gain := by.get("gains"):
        said.append(f"{listed(gain, 6)} {_verb(gain, 'gain')} by working together")
    if same := by.get("no difference"):
        said.append(f"for {listed(same, 6)} it makes no difference that these rows could tell")
    if lose := by.get("loses"):
        said.append(f"{listed(lose, 6)} {_verb(lose, 'lose')}")
    if none := by.get("alone impossible"):
        said.append(
            f"{listed(none, 6)} {_verb(none, 'has', 'have')} too few rows for a model alone, and"
            f" {_verb(none, 'gets', 'get')} one together"
        )
    if few := by.get("too few rows"):
        said.append(f"{listed(few, 6)} {_verb(few, 'has', 'have')} too few rows for a verdict")
    if dark := by.get("not measurable"):
        said.append(f"for {listed(dark, 6)} nothing could be measured")
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def overall(study: TableStudy) -> str:
    """What working together changes over all agents, or nothing where it cannot be said."""
    mean, low, high = study.overall
    if low is pd.NA:
        return ""
    sure = (
        "less than by each alone, by more than chance"
        if high < 0
        else "more than by each alone, by more than chance"
        if low > 0
        else "not told from chance"
    )
    return (
        f"Over all agents the held-out error changes by {_change(mean)} (95%: {_change(low)} to"
        f" {_change(high)}): {sure}."
    )


def verdict(row: pd.Series) -> str:
    """One agent's verdict with its evidence; a row of `TableStudy.verdicts`."""
    rows = counted(int(row["rows"]), "row")
    match row["verdict"]:
        case "alone impossible":
            return (
                f"{rows} are too few for a model of its own; together its held-out error is"
                f" {_amount(row['together'])} of that of its mean."
            )
        case "not measurable":
            return f"{rows} are too few to measure anything on."
    numbers = (
        f"held-out error {_amount(row['alone'])} alone, {_amount(row['together'])} together:"
        f" {_change(row['change'])}"
    )
    if row["verdict"] == "too few rows":
        return f"{rows} are too few for an interval; {numbers}."
    numbers += f" (95%: {_change(row['low'])} to {_change(row['high'])})"
    opening = {
        "gains": "Gains",
        "loses": "Loses",
        "no difference": "No difference that these rows could tell",
    }[row["verdict"]]
    return f"{opening}; {numbers}."


def evidence(study: TableStudy) -> pd.DataFrame:
    """Every agent's verdict in words: ``agent``, ``rows``, ``verdict``, ``evidence``."""
    verdicts = study.verdicts
    return verdicts[["agent", "rows", "verdict"]].assign(
        evidence=[verdict(row) for _, row in verdicts.iterrows()]
    )


def coverage(study: TableStudy) -> str:
    """Whether a model of all features can be had."""
    pairs = study.unseen_pairs
    if not pairs:
        return (
            "Every pair of columns is seen together by somebody, so a model of all features can be"
            " had from the agents alone."
        )
    named = listed([f"{first} and {second}" for first, second in pairs], 3)
    if study.has_full_model:
        return f"No agent has {named} together; rows without a target tell how they go together."
    return (
        f"No agent has {named} together: every agent gets its own model, but one of all features"
        " cannot be had from these agents alone."
    )


def shift(study: TableStudy) -> str:
    """Which agents follow another relation."""
    frame = study.shift
    known = frame[frame["adjusted"].notna()]
    differs = known[known["adjusted"] < SURE]
    if known.empty:
        return "No agent has enough rows in common with others to compare their relations."
    if differs.empty:
        return (
            "No agent's relation differs from what the others' imply by more than chance"
            f" (smallest adjusted p {known['adjusted'].min():.2g})."
        )
    worst = differs.sort_values("adjusted").iloc[0]
    return (
        f"{listed(list(differs['agent']), 6)} {_verb(list(differs['agent']), 'follow')} another"
        f" relation than the others imply, most {worst['agent']} in {worst['feature']}:"
        f" {worst['difference']:+.3g} (95%: {worst['low']:+.3g} to {worst['high']:+.3g}, adjusted p"
        f" {_chance(float(worst['adjusted']))}). Working together can then cost more than it"
        " brings."
    )


def tails(study: TableStudy) -> str:
    """Whose residuals have heavy tails."""
    frame = study.tails
    heavy = frame[frame["heavy"]]
    known = frame[frame["kurtosis"].notna()]
    if known.empty:
        return "Too few rows to judge the residuals' tails."
    if heavy.empty:
        return (
            "Residuals have no heavy tails (largest excess kurtosis"
            f" {known['kurtosis'].max():.1f}; Gaussian is 0)."
        )
    worst = heavy.sort_values("kurtosis").iloc[-1]
    return (
        f"Residuals of {listed(list(heavy['agent']), 6)} have heavy tails (excess kurtosis up to"
        f" {worst['kurtosis']:.1f}, one residual of {worst['largest']:.1f} standard deviations)."
        " Intervals, being by jackknife, allow for it; COLLAB+ and its weights assume otherwise."
    )


def models(study: TableStudy, agent: int, frame: pd.DataFrame) -> str:
    """How sure an agent's model is, together and alone; ``frame`` is its `coefficients`."""
    name, rows = study.agents[agent], int(study.rows[agent])
    slopes = frame[frame["feature"] != "(intercept)"]
    both = slopes[slopes["together"].notna() & slopes["alone"].notna()]
    if both.empty:
        return f"{name} has {rows:,} rows: no two models to compare."
    widths = (both["high"] - both["low"]) / (both["alone_high"] - both["alone_low"])
    sure = int(((both["low"] > 0) | (both["high"] < 0)).sum())
    return (
        f"{name}, {rows:,} rows: together, intervals are {widths.median():.0%} as wide as alone "
        f"(median); {sure} of {len(both)} coefficients differ from 0 by more than chance."
    )


def models_title(study: TableStudy, agent: int) -> str:
    """Whose model is drawn."""
    return f"{short(study.agents[agent])}: what the model says, together and alone"


def held_out_title(study: TableStudy) -> str:
    """What is drawn, and in which order."""
    return f"Held-out error of {short(study.choice.target)}, best gain first"


def target(study: TableStudy) -> str:
    """What is predicted."""
    return ("log " if study.choice.log else "") + short(study.choice.target)


def missing_methods(study: TableStudy) -> list[str]:
    """Why COLLAB+ is missing, if it is."""
    results = study.results
    told = results[(results["note"] != "") & (results["method"] == "collab_plus")]
    name = methods.get("collab_plus").label
    return [f"{name} is missing: {note}." for note in told["note"].head(1)]


def predicted(frame: pd.DataFrame) -> str:
    """How many rows of another table have a prediction."""
    missing = int(frame["prediction"].isna().sum())
    return f"{len(frame) - missing:,} of {len(frame):,} rows have a prediction." + (
        " The others say why." if missing else ""
    )


def for_whom(study: TableStudy) -> str:
    """Whom predictions can be had for."""
    return "**Predictions for another table:** rows of the same agents, or of new ones" + (
        "." if study.has_full_model else " (for new ones there is no model here)."
    )


def source(study: TableStudy, target: str) -> str:
    """What a world made of a table is, in a sentence; the target's name as it can be shown."""
    return f"{study.rows.sum():,} rows of your table, {target} in standard deviations."


def short(name: str) -> str:
    """A name that leaves room in a title."""
    return name if len(name) <= 30 else name[:29] + "…"


def filled(study: TableStudy) -> str:
    """What to know where gaps were filled in, or nothing."""
    agents = study.filled
    if not agents:
        return ""
    return (
        f"The gaps of {listed(agents, 4)} were filled with what the rows' other features suggest,"
        " as if they came by chance and features went together alike in all agents. If what is"
        " missing has to do with the target, or features go together otherwise in some agent,"
        " coefficients, verdicts and the test for another relation are off; intervals are somewhat"
        " too narrow, since gaps are not filled anew for them: compare with rows left out."
    )


def _amount(value: float) -> str:
    """An error with three digits, however large."""
    return f"{value:.3f}" if abs(value) < 1e4 else f"{value:.2e}"


def _change(value: float) -> str:
    return f"{value:+.3f}" if abs(value) < 1e4 else f"{value:+.2e}"


def _verb(names: list[str], one: str, many: str | None = None) -> str:
    """The verb for one or for many: gains, gain."""
    if many is None:
        one, many = f"{one}s", one
    return one if len(names) == 1 else many


def _chance(p: float) -> str:
    return "below 0.001" if p < 1e-3 else f"{p:.2g}"


VIEWS_FORMULA = f"""
A column that an agent has in fewer than {SPARSE:.0%} of its rows with a target is not seen
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
