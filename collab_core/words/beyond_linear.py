"""What the page "Beyond linear" says: of fits, curves, calibration, one agent's model, the census.

Markdown. Everything is a pure function of what the library found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

import numpy as np
import pandas as pd

from ..census import STATE_NAMES
from ..core.target import Target
from ..smooth import methods
from ..smooth.curve import MeasureCurve
from ..smooth.measures import measure_of, overconfidence
from ..smooth.simulated import AgentModels
from ..smooth.trouble import Trouble
from ..smooth.worlds import LogisticSettings
from .numbers import counted_trials

STORED_SOURCE = "ACS 2024 1-Year records of NY, PA, OH, FL and IL"

CALIBRATION_QUESTION = (
    "**Of all to whom a model gives 80%, do 80% have a label of 1?** On the dotted line "
    "yes; flatter is too sure, steeper too timid."
)

TRAVEL_QUESTION = (
    "**Does it take more than 20 minutes to work?** States as agents, who ask as in the paper; "
    "folktables' label for ACSTravelTime, asked only of people who travel to work."
)

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


def whose(target: Target) -> str:
    """A target at the beginning of a title."""
    return "All features" if target.agent is None else f"Agent {target.agent + 1}"


def name_of(curve: MeasureCurve) -> str:
    """What a curve's measure is called."""
    return measure_of(curve.measure).label


# What went wrong ---------------------------------------------------------------------------------


def shares(by_n: Mapping[int, float]) -> str:
    """Shares by n, those of none left out: "100% at n = 200 to 1,000, 65% at n = 5,000"."""
    said = [
        (f"{share:.0%}" if share >= 0.005 else "under 1%" if share else "", n)
        for n, share in by_n.items()
    ]
    runs = [(share, [n for _, n in run]) for share, run in groupby(said, key=lambda one: one[0])]
    if len(runs) == 1 and len(by_n) > 1:
        return f"{runs[0][0]} at every n"
    return ", ".join(
        f"{share} at n = {sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else "")
        for share, sizes in runs
        if share
    )


def fits(trouble: Mapping[int, Trouble], everybody: str = "Agents") -> str:
    """Separation, one class and no convergence among the agents' own fits."""
    by_n = {n: found.regularised / max(found.fits, 1) for n, found in trouble.items()}
    text = []
    if any(by_n.values()):
        text.append(
            f"{everybody} whose own fit has no finite best model, because classes are separated or "
            f"a column belongs to one class alone: {shares(by_n)}. A small ridge "
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


def answers(
    trouble: Mapping[int, Trouble],
    trials: Mapping[int, int],
    *,
    where: str = "",
    skip: Iterable[str] = (),
    local: str | None = None,
) -> str:
    """Methods whose own answers are a ridge's, or did not converge.

    ``skip`` names methods of which that is said already, ``local`` who works alone.
    """
    text, parts = [], []
    known = methods.keys()
    for method in (key for key in known if key not in skip):
        by_n = {n: found.ridge.get(method, 0) / max(trials[n], 1) for n, found in trouble.items()}
        if any(by_n.values()):
            name = methods.get(method).label
            if method == "local" and local is not None:
                name = local
            parts.append(f"{name} {shares(by_n)}")
    if parts:
        text.append(
            f"{where}answers that are a ridge's themselves, because no finite best one "
            f"was found: {'; '.join(parts)}."
        )
    stuck = sum(sum(found.stuck.values()) for found in trouble.values())
    if stuck:
        text.append(f"{where}{stuck} answers did not converge to 1e-7; their last step is used.")
    return " ".join(sentence[0].upper() + sentence[1:] for sentence in text)


def missing(curve: MeasureCurve) -> str:
    """Why entries are missing."""
    found = sorted({note for note in curve.notes.values() if note})
    return " ".join(f"Some entries are missing: {note}." for note in found[:2])


def together(*sentences: str) -> str:
    """Sentences one after the other; empty ones are left out."""
    return " ".join(sentence for sentence in sentences if sentence)


# Against n ---------------------------------------------------------------------------------------


def against_local(curve: MeasureCurve, n: int, form: str) -> str:
    """The finding in a title: COLLAB's number beside that of working alone, where both are."""
    found = [curve.mean(key, n) for key in ("collab", "local")]
    if None in found:
        return f"{name_of(curve)} of each method"
    return form.format(*(f"{value:.3f}" for value in found))


def curve_title(curve: MeasureCurve) -> str:
    """The finding at the last n."""
    found = against_local(curve, curve.sample_sizes[-1], "COLLAB {}, alone {}")
    return f"{whose(curve.target)}: {found}"


def headline(own: MeasureCurve, agent: int) -> str:
    """From which n together is better than alone, by the measure that is drawn."""
    first, n = own.sample_sizes[0], own.sample_sizes[-1]

    def numbers(at: int) -> str:
        mine, alone = (own.mean(key, at) for key in ("collab", "local"))
        return f"{mine:.4f} against {alone:.4f} at n = {at:,}"

    if own.mean("collab", n) is None or own.mean("local", n) is None:
        return f"**How well does agent {agent + 1} predict, alone and together?**"
    name = name_of(own)
    if own.done == 1:
        return (
            f"**One trial decides nothing**: together and alone, agent {agent + 1}'s "
            f"{name} is {numbers(n)}."
        )
    ahead = own.ahead_from("collab", "local")
    if ahead is None:
        behind = own.compare("collab", "local", n) == -1
        return (
            f"**At the largest n COLLAB {'is behind' if behind else 'cannot be told from'} working "
            f"alone for agent {agent + 1}**: {name} {numbers(n)}."
        )
    since = "at every n drawn" if ahead == first else f"from n = {ahead:,} on"
    small = f"{numbers(first)}, " if own.mean("collab", first) and n != first else ""
    return (
        f"**The paper's proposal carries over: agent {agent + 1} predicts better together than "
        f"alone {since}** ({name} {small}{numbers(n)}; paired 95% intervals)."
    )


def findings(
    full: MeasureCurve, own: MeasureCurve, agent: int, settings: LogisticSettings, *, log: bool
) -> str:
    """What the curves say, in sentences about the measure that is drawn."""
    n = own.sample_sizes[-1]
    said = comparisons(full, own, agent, settings) if own.done > 1 else []
    if full.mean("local", n) is not None:
        said.append("On the left, Local is a newcomer who sees all features and has n samples.")
    # The agent's own fit is among those of all agents, and what it gets of an aggregate is said.
    known = methods.keys()
    said_already = ["local", *(key for key in known if methods.get(key).is_aggregate)]
    said += [
        fits(own.trouble),
        answers(full.trouble, full.done_at, where="on the left, ", local="Local (the newcomer)"),
        answers(own.trouble, own.done_at, where="on the right, ", skip=said_already),
        missing(own),
        bands(own, log=log and own.measure != "accuracy"),
    ]
    return "\n".join(f"- {sentence}" for sentence in said if sentence)


def bands(curve: MeasureCurve, *, log: bool) -> str:
    """How many trials there are, and what the bands are."""
    if curve.done == 1:
        return "1 trial, so there are no bands and nothing is decided."
    end = ", on a log axis drawn down to a quarter of it at most." if log else "."
    return f"{counted_trials(curve.done_at.values())}; bands are 95% intervals of the mean{end}"


def comparisons(
    full: MeasureCurve, own: MeasureCurve, agent: int, settings: LogisticSettings
) -> list[str]:
    """What paired trials tell of methods against each other."""
    n, name = own.sample_sizes[-1], name_of(own)
    said = [share_of_the_way(own, agent), attenuation(full)]
    sign = full.compare("collab", "imputation", n)
    if sign is not None:
        said.append(
            f"Against imputation, which needs all data in one place, COLLAB is "
            f"{ {1: 'ahead', 0: 'level', -1: 'behind'}[sign] } by {name} at n = {n:,} on all "
            "features"
            + (
                ": here the two differ only in the weights 1/loss."
                if are_twins(full.trouble[n], settings)
                else "."
            )
        )  # fmt: skip
    if full.compare("naive_collab", "collab", n) == -1:
        said.append(
            f"The naive average stays at {full.mean('naive_collab', n):.4f} on all "
            f"features ({name}; COLLAB {full.mean('collab', n):.4f}): what agents make up "
            "for is counted as theirs."
        )
    return [sentence for sentence in said if sentence]


def are_twins(trouble: Trouble, settings: LogisticSettings) -> bool:
    """Whether the theorem's conditions hold: COLLAB is imputation with weights 1/loss."""
    return (
        settings.unlabelled == "own"
        and not settings.correction
        and trouble.all_plain
        and not trouble.ridge.get("imputation", 0)
    )


def share_of_the_way(own: MeasureCurve, agent: int) -> str:
    """How far together is on the way from alone to everybody's samples of an agent's features."""
    n = own.sample_sizes[0]
    if own.compare("collab", "local", n) != 1:
        return ""
    if own.compare("collab", "full_data", n) == 1:
        return (
            f"At n = {n:,} agent {agent + 1} does better together than with everybody's samples of "
            "its own features in one place (Full data): the others' features tell too."
        )
    if own.compare("full_data", "local", n) != 1:
        return ""
    local, mine, most = (own.mean(key, n) for key in ("local", "collab", "full_data"))
    if local is None or mine is None or most is None:
        return ""
    share = (local - mine) / (local - most)
    return (
        f"At n = {n:,} working together goes {min(share, 1):.0%} of the way, by "
        f"{name_of(own)}, from agent {agent + 1} alone to everybody's samples of its "
        "features in one place (Full data)."
    )


def attenuation(full: MeasureCurve) -> str:
    """What the linear T costs on all features, where that can be told."""
    n = full.sample_sizes[-1]
    sign = full.compare("collab_attenuated", "collab", n)
    linear, bent = (full.mean(key, n) for key in ("collab", "collab_attenuated"))
    if sign is None or linear is None or bent is None:
        return ""
    away = "a calibration error of {} and {}"
    if full.measure != "calibration" and full.best is not None:
        linear, bent = abs(linear - full.best), abs(bent - full.best)
        beyond = "beyond" if full.better < 0 else "short of"
        away = f"{name_of(full)} {{}} and {{}} {beyond} the best possible"
    numbers = away.format(f"{linear:.4f}", f"{bent:.4f}")
    if sign == 0:
        return f"On all features the attenuated T makes no difference that shows ({numbers})."
    return f"On all features at n = {n:,} the linear T and the attenuated one leave {numbers}: " + (
        "the paper's linear T is a bias here, which no n removes."
        if sign == 1
        else "here the attenuated one is worse; it undoes shrinkage that few samples need."
    )


# Calibration -------------------------------------------------------------------------------------


def calibration(curve: MeasureCurve, n: int) -> str:
    """Every method's calibration error, of a curve of that, and which way it leans, best first."""
    rows = []
    for method in curve.methods:
        error = curve.mean(method, n)
        if error is None:
            continue
        lean = overconfidence(curve.bins[method, n])
        # Half of the error in one direction is a lean; less is scatter.
        how = "too sure" if lean > error / 2 else "too timid" if lean < -error / 2 else "even"
        rows.append((error, f"{methods.get(method).label} {error:.3f} ({how})"))
    rows.sort()
    if not rows:
        return ""
    return (
        f"How far probabilities are off on average, at n = {n:,} in {curve.done} trials: "
        + "; ".join(text for _, text in rows)
        + "."
    )


def calibration_notes(curve: MeasureCurve, n: int) -> str:
    """Who works alone, and what went wrong."""
    everybody = curve.target.is_full
    newcomer = "Local is a newcomer who sees all features and has n samples."
    return together(
        newcomer if everybody and curve.mean("local", n) is not None else "",
        fits(curve.trouble),
        answers(
            curve.trouble, curve.done_at, local="Local (the newcomer)" if everybody else None
        ),
        missing(curve),
    )  # fmt: skip


# An agent's model --------------------------------------------------------------------------------


def models_title(found: AgentModels, n: int) -> str:
    """The finding: how far off together and alone are."""
    return f"Off by {found.off('collab'):.2g} together, {found.off('local'):.2g} alone, n = {n:,}"


def models(found: AgentModels, agent: int, n: int) -> str:
    """How far off what comes back is, and how much the best is shrunk."""
    said = (
        f"**What comes back to agent {agent + 1} is off the best it can have by "
        f"{found.off('collab'):.3g} a coefficient; what it fitted alone on {n:,} samples, by "
        f"{found.off('local'):.3g}.** The naive average is off by "
        f"{found.off('naive_collab'):.3g}."
    )
    smaller = found.shrinkage
    if smaller is not None and smaller > 0.005:
        said += (
            f" Since it averages over what it does not see, its best coefficients are "
            f"{smaller:.0%} smaller than the linear T's of the truth."
        )
    return said


def models_notes(found: AgentModels, agent: int, n: int) -> str:
    """What went wrong in the fits of one data set."""
    trouble = {n: found.trouble}
    alone = f"Local (agent {agent + 1}'s own fit)"
    return together(fits(trouble), answers(trouble, {n: 1}, local=alone))


# Census ------------------------------------------------------------------------------------------


def travel_title(frame: pd.DataFrame, target: str) -> str:
    """The finding at the smallest n."""
    n = int(frame["n"].min())
    means = frame[frame["n"] == n].set_index("method")["mean"]
    if means.reindex(["collab", "local"]).isna().any():
        return f"{STATE_NAMES[target]}'s test people"
    errors = f"COLLAB {means['collab']:.3f}, alone {means['local']:.3f}"
    return f"{STATE_NAMES[target]}, n = {n:,}: {errors}"


def travel(frame: pd.DataFrame, measure: str, target: str) -> str:
    """First and last n: who is ahead of working alone, by paired draws."""
    said = []
    name, better = measure_of(measure).label, measure_of(measure).better
    for n in sorted({int(frame["n"].min()), int(frame["n"].max())}):
        rows = frame[frame["n"] == n].set_index("method")
        if pd.isna(rows["mean"].get("collab")):
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
    return f"**By {name}, {'; '.join(said)}.**" if said else ""


def stored_notes(frame: pd.DataFrame, trouble: Mapping[int, Trouble], *, too_many: bool) -> str:
    """Whose run it is, what went wrong in it, and how to have it live."""
    draws = int(frame["trials"].max())
    ridges = together(
        fits(trouble, "States"), answers(trouble, dict.fromkeys(trouble, draws))
    )  # fmt: skip
    why = "There are too many people to hold as records." if too_many else ""
    return (
        f"- A stored run: {STORED_SOURCE}, {draws} draws, IL's test people. "
        "`data/README.md` has the command that made it.\n"
        + (f"- {ridges}\n" if ridges else "")
        + f"- {why} A logistic fit cannot be had from sums, so this is live only with records: "
        "load person files on the page Census under Data (from the Census Bureau, from a folder or "
        "by upload), then come back."
    )


def live_notes(curve: MeasureCurve, source: str) -> str:
    """Whose data they are, and what went wrong."""
    return together(
        f"Data: {source}.",
        fits(curve.trouble, "States"),
        answers(curve.trouble, curve.done_at),
        missing(curve),
    )
