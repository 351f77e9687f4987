"""What a study of a table says, in sentences with numbers in them. For pages and reports."""

from __future__ import annotations

import pandas as pd

from .reading import counted, listed
from .study import TableStudy

#: P-values below this are called a difference.
SURE = 0.05


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
