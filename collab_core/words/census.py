"""Sentences of the Census page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ..census import QUESTIONS, CensusSums, Changes, People, Study, question_of
from ..census.download import BYTES_PER_SECOND
from .rows import largest, smallest

# What states gain --------------------------------------------------------------------------------


def gains(study: Study, frame: pd.DataFrame, results: pd.DataFrame) -> str:
    """What was measured first; what the formulas promise is said to be a promise.

    Parameters
    ----------
    frame : DataFrame
        `census.by_state`.
    results : DataFrame
        `Study.results`.
    """
    said = f"{study.sums.source}. "
    both = frame[frame["alone"].notna() & frame["together"].notna()]
    if len(both):
        better = int((both["together"] < both["alone"]).sum())
        said += (
            f"**On their own test people, {better} of {len(both)} states do better together than "
            "alone.** "
        )
        most = largest(frame, "worth")
        said += (
            f"If all followed one relation, {most['state']} would gain most, as if it had "
            f"{most['worth']:.1f} times its {most['people']:,} people"
            + (
                "; states differ, and with so many people each that weighs more. "
                if better < len(both)
                else ". "
            )
        )
    return said + target(study, results)


def target(study: Study, results: pd.DataFrame) -> str:
    """How well COLLAB and the target's own model predict its people (`Study.results`)."""
    by = results.set_index("method")
    collab, local = by.loc["collab"], by.loc["local"]
    if pd.isna(collab["r2"]):
        return ""
    whom = study.choice.target
    said = f"COLLAB explains {collab['r2']:.1%} of how long {whom}'s people travel"
    if pd.isna(local["r2"]):
        return said + "."
    own = "its own people" if study.choice.own else "its own people, had they been asked all"
    said += f"; least squares on {own}, {local['r2']:.1%}."
    if pd.notna(collab["gap_low"]) and collab["gap_low"] > 0:
        said += (
            " **COLLAB loses here**, by more than chance: the other states' relation is not its "
            "own (What if says whose)."
        )
    elif pd.notna(collab["gap_high"]) and collab["gap_high"] < 0:
        said += " **COLLAB wins here**, by more than chance."
    return said


def missing(label: str, note: str) -> str:
    """Why a method is not in the figure."""
    return f"{label} is missing: {note}."


def never_answered(study: Study) -> str:
    """Answers that nobody in these states gives; empty where there are none."""
    if not study.flat:
        return ""
    names = ", ".join(study.sums.text_of(name) for name in study.flat)
    return f"Nobody in these states answers {names}: left out."


# Error against n ---------------------------------------------------------------------------------


def curve(frame: pd.DataFrame) -> str:
    """What the fewest people give (`Study.error_curve`); a question while nothing is known."""
    fewest = frame[frame["n"] == frame["n"].min()] if len(frame) else frame
    means = dict(zip(fewest["method"], fewest["mean"], strict=True))
    if pd.isna(means.get("collab")):
        return "**Which method needs the fewest people?**"
    local = means["local"]
    alone: str = f" against {local:.3f} on the target's own" if pd.notna(local) else ""
    return (
        f"**With {int(fewest['n'].iloc[0])} people a state COLLAB leaves {means['collab']:.3f} of "
        f"the variance{alone}.** 1 is predicting the mean."
    )


# What if -----------------------------------------------------------------------------------------


def what_if(study: Study, found: Changes) -> str:
    """The change that helps most of each kind."""
    lines = [_asking(study, found.asking)]
    lines += _leaving(study, found.leaving[found.leaving["after"].notna()])
    joins = found.joining[found.joining["after"].notna()]
    if len(joins):
        best = smallest(joins, "after")
        change = best["after"] / best["before"] - 1
        lines.append(f"- The best newcomer is {best['state']}: {change:+.2%}.")
    best = smallest(found.doubling, "after")
    fall = 1 - best["after"] / best["before"] if best["before"] > 0 else 0.0
    lines.append(
        f"- Twice as many labelled people are worth most in {best['state']}: by the formulas what "
        f"more data can still remove falls by {fall:.1%}."
    )
    return "\n".join(lines)


def _asking(study: Study, asking: pd.DataFrame) -> str:
    known = asking[asking["fall"].notna()]
    whom = study.choice.target
    if asking.empty:
        return "**Everybody asks everything.**"
    if known.empty or known["fall"].max() <= 0:
        return f"**No further question would lower the error on {whom}'s people.**"
    best = largest(known, "fall")
    return (
        f"**Most would be gained if {best['state']} asked {QUESTIONS[best['question']].name}: the "
        f"error on {whom}'s people falls by {best['fall']:.2%}.**"
    )


def _leaving(study: Study, leaves: pd.DataFrame) -> list[str]:
    if leaves.empty:
        return []
    lines = []
    worst, best = largest(leaves, "after"), smallest(leaves, "after")
    if worst["after"] > worst["before"]:
        lines.append(
            f"- Without {worst['state']} COLLAB's error on its people rises by "
            f"{worst['after'] / worst['before'] - 1:.2%}."
        )
    if best["after"] < best["before"]:
        lines.append(
            f"- Without {best['state']} it *falls* by {1 - best['after'] / best['before']:.2%}:"
            f" its people's relation is not {study.choice.target}'s."
        )
    return lines


# Coefficients ------------------------------------------------------------------------------------


def unit(study: Study) -> str:
    """What is predicted is measured in."""
    return "log minutes" if study.choice.log else "minutes"


def coefficients(study: Study, frame: pd.DataFrame) -> str:
    """What the collaborative model knows that the target's own does not.

    Parameters
    ----------
    frame : DataFrame
        `census.named_coefficients`.
    """
    whom = study.choice.target
    unasked = list(frame.loc[~frame["asked"].astype(bool), "text"])
    if unasked and not study.choice.own:
        some = ", ".join(unasked[:3]) + (" and more" if len(unasked) > 3 else "")
        return (
            f"**The collaborative model speaks of {len(unasked)} answers that {whom} never asked "
            f"for** ({some}); its own model cannot."
        )
    narrower = frame[frame["alone"].notna()]
    if narrower.empty:
        return f"**{whom} asks nothing, so only the collaborative model speaks.**"
    alone = (narrower["alone_high"] - narrower["alone_low"]).astype(float)
    ratio = (alone / (narrower["high"] - narrower["low"])).median()
    return (
        f"**Together, intervals are {ratio:.1f} times narrower than {whom}'s own**, at the "
        "median. They cover chance, not that states differ: a gap of many widths is a difference."
    )


def coefficient_table(study: Study, frame: pd.DataFrame) -> str:
    """Coefficients of answers that are numbers, as a Markdown table; empty where there are none.

    Parameters
    ----------
    frame : DataFrame
        Rows of `census.named_coefficients`.
    """
    if frame.empty:
        return ""
    rows = [
        f"| {unit(study)} | together | 95% interval | alone | 95% interval |",
        "|---|---|---|---|---|",
    ]
    for _, row in frame.iterrows():
        alone = "not asked | "
        if pd.notna(row["alone"]):
            alone = f"{row['alone']:.3g} | {row['alone_low']:.3g} to {row['alone_high']:.3g}"
        rows.append(
            f"| {row['text']}, {question_of(row['feature']).unit} | {row['together']:.3g} | "
            f"{row['low']:.3g} to {row['high']:.3g} | {alone} |"
        )
    return "\n".join(rows)


# Data --------------------------------------------------------------------------------------------


def data(found: CensusSums) -> str:
    """What data are in use."""
    return (
        f"**Now: {found.source}.** {found.people:,} people who count (over 16, in work, with a "
        f"travel time) of {len(found.states)} states, {len(found.features)} features of "
        f"{len(found.questions)} questions."
        + (f" Not in it: {', '.join(found.absent)}." if found.absent else "")
        + " Every fifth person of a state is kept for testing. Only sums are used, unless you draw "
        "records under Error against n."
    )


def absent(names: Sequence[str]) -> str:
    """Questions that the data lack; empty where they lack none."""
    return f"This data has no {' and no '.join(names)}." if names else ""


def download(chosen: int, to_come: int, megabytes: float) -> str:
    """What a download would be: states chosen, those of them not here yet, and their size."""
    said = f"{chosen - to_come} of {chosen} are here already. "
    if not to_come:
        return said + "Nothing needs to be downloaded."
    return (
        said + f"About {megabytes:,.0f} MB would come from the Census Bureau (www2.census.gov), in "
        f"some {max(megabytes * 1e6 / BYTES_PER_SECOND, 10):,.0f} seconds at "
        f"{BYTES_PER_SECOND / 1e6:g} MB a second, and be kept under data/."
    )


def read_in(found: People) -> str:
    """Records were read, and what happens to them."""
    return (
        f"{found.sums.people:,} people of {', '.join(found.sums.states)} were read and are used on "
        "the other parts of this page."
        + ("" if found.holds_records else " They are too many to hold: only their sums are kept.")
    )


# Formulas ----------------------------------------------------------------------------------------

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

COVARIANCE_FORMULA = "Pooled within-state correlation of the training people's answers."

COEFFICIENTS_FORMULA = """
COLLAB's model in natural units, with intervals from its estimated covariance (a sandwich,
conditional on the features), beside the target's own least squares.
"""
