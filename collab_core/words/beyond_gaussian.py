"""What the page Beyond Gaussian says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from .. import methods
from ..answers.gaussian_cost import LITTLE, most_missing, saving
from ..core.problem import Problem
from ..core.target import TargetKey as Target
from ..runs.curve import Curve
from ..runs.unlabelled import UnlabelledCurve
from ..world.laws import Law, Tails
from .numbers import counted_trials, plus_minus, times, two_digits
from .rows import by_method, largest

GAUSSIAN = "Features are Gaussian: COLLAB's weights are the optimal ones, and nothing is lost."
NOTHING_LOST = "In this world pretending costs nothing: no other weights would do better."
NO_RECORDS = (
    "No records are here: the dashboard holds only sums of them. Load PUMS files on the "
    "Census page (Data), your own or by download, and come back; or pick another law."
)
ONLY_SYNTHETIC = "The map is over synthetic laws of the sidebar's world: pick one of those."
SYNTHETIC = (
    "Synthetic laws, each white, then coloured by this world's Σ. Where tails are "
    "independent from feature to feature, what is unseen matters only as far as Σ ties it "
    "to what is seen, and with many features mixing makes it nearly Gaussian. Where a "
    "whole sample is wild at once, what an agent does not see is wild when what it sees "
    "is: those who see all should count for more, and it costs where some do."
)


@dataclass(frozen=True)
class Case:
    """What the sentences are about.

    Attributes
    ----------
    problem : Problem
    law : str or Law
        Of the features.
    name : str
        Of the law, for people.
    target : "full" or int
    agents : tuple of str
        What agents are called.
    """

    problem: Problem
    law: str | Law
    name: str
    target: Target
    agents: tuple[str, ...]

    @property
    def whose(self) -> str:
        """What the model is of."""
        return model_of(self.target, self.agents)

    @property
    def agent(self) -> str:
        """What the agent is called whose model it is."""
        return self.agents[int(self.target)]


def model_of(target: Target, agents: Sequence[str]) -> str:
    """What a model is of."""
    return "all features" if target == "full" else f"{agents[int(target)]}'s own"


def sees_nothing(agent: int) -> str:
    """Why there is no model of an agent (counted from 0)."""
    return f"Agent {agent + 1} sees nothing: there is nothing to estimate. Pick another."


def records(source: str, people: int, states: Sequence[str], answers: int) -> str:
    """Whose answers a law of records is made of, and what is not theirs."""
    return (
        f"{source}: {people:,} people of {', '.join(states)}, "
        f"{answers} answers each, about their state's mean, drawn at random. Their own "
        "travel times are not used: labels follow a linear model, so that the truth is known. The "
        "sidebar's world does not count here, but for its seed and n."
    )


def label(key: str) -> str:
    """What a method is called."""
    return methods.get(key).label


# The cost in a sentence --------------------------------------------------------------------------


def pretending(case: Case, lost: float) -> str:
    """What pretending costs in this case, `gaussian_cost.loss` being ``lost``."""
    if case.law == "gaussian":
        return f"**{GAUSSIAN}**"
    if lost == 0:
        return f"**{NOTHING_LOST}**{why_little(case.problem)}"
    if lost < LITTLE:
        return (
            "**Pretending that these features are Gaussian costs next to nothing here: "
            f"{lost:.1g} of the error.**{why_little(case.problem)}"
        )
    return (
        f"**Pretending that these features are Gaussian makes the error {lost:.1%} larger than "
        f"need be ({case.name.lower()}, {case.whose}).**"
    )


def why_little(problem: Problem) -> str:
    """The reason why weights hardly matter, where it is this one."""
    most = float(problem.irreducible.max() / problem.noise**2)
    if most >= 0.1:
        return ""
    return f" What agents do not see explains little: at most {most:.1%} of what the noise does."


# Error against n ---------------------------------------------------------------------------------


def curves_title(case: Case) -> str:
    """Title of the figure of errors."""
    return f"Any weights: errors go to zero ({case.whose})"


def gain(case: Case, lost: float, relative: pd.DataFrame, n: int) -> str:
    """Measured against promised, at the largest n.

    Parameters
    ----------
    relative : DataFrame
        Errors of optimal weights over COLLAB's (`unlabelled.gains`).
    """
    said = pretending(case, lost)
    found = relative[relative["n"] == n]
    if found.empty or found["low"].isna().any() or lost < LITTLE:
        return said
    rows = by_method(found)
    best, estimated = rows["collab_oracle"], rows["collab_optimal"]
    inside = "within" if best["low"] <= best["theory"] <= best["high"] else "outside"
    return (
        f"{said} At n = {n:,}, on the same trials, W* errs {_change(best)} than COLLAB's weights "
        f"(95%: {best['low'] - 1:+.1%} to {best['high'] - 1:+.1%}); theory says "
        f"{best['theory'] - 1:+.1%}, {inside} that interval. The estimated weights err "
        f"{_change(estimated)} ({estimated['low'] - 1:+.1%} to {estimated['high'] - 1:+.1%})."
    )


def _change(row: Mapping[str, Any]) -> str:
    return f"{abs(row['ratio'] - 1):.1%} {'less' if row['ratio'] < 1 else 'more'}"


def curves(case: Case, curve: Curve, outside: pd.DataFrame, samples: int) -> str:
    """What is to be said of the curves, as a list.

    Parameters
    ----------
    outside : DataFrame
        Rows of the curve that are above the figure (`figures.beyond_axis`).
    samples : int
        Unlabelled samples of each trial.
    """
    said = [_falls(curve)]
    if len(outside):
        worst = largest(outside, "mean")
        names = ", ".join(dict.fromkeys(label(key) for key in outside["method"]))
        said.append(
            f"Above the figure: {names}, up to {worst['mean']:.3g} at n = {worst['n']:,}, where "
            "samples are too small for such features."
        )
    if curve.irreducible > 0:
        said.append(
            f"What {case.agent} does not see costs it {curve.irreducible:.3g} "
            "whatever n is; it is not in these errors."
        )
    if case.target == "full":
        said.append("Local OLS is a newcomer who sees all features and has n samples of its own.")
    trials = curve.frame["trials"]
    so_far = " so far" if curve.partial else ""
    said.append(
        f"{counted_trials(trials)}{so_far}, {samples:,} unlabelled samples in each, Σ "
        "known; bands and bars are 95% intervals, lines are theory for large n, integrated over "
        "the law (for estimated weights: W*'s, as with endless unlabelled samples)."
        if trials.max()
        else "Points come as trials are done; lines are theory for large n."
    )
    return as_list(said)


def _falls(curve: Curve) -> str:
    """By how much errors fell along the grid, or nothing where they are not there yet."""
    first, last = curve.sample_sizes[0], curve.sample_sizes[-1]
    falls = {
        key: start / end
        for key in ("collab", "identity")
        if (start := curve.mean(key, first)) and (end := curve.mean(key, last))
    }
    if len(falls) < 2:
        return ""
    return (
        f"Consistent whatever the weights: from n = {first:,} to {last:,}, "
        f"{times(last / first)} times the samples, errors fell by a factor of "
        f"{times(falls['collab'])} with COLLAB's weights and of {times(falls['identity'])} "
        "with identity weights. In the long run the factor is that of the samples for all; "
        "weights only change what stands before 1/n."
    )


def as_list(sentences: Sequence[str]) -> str:
    """Sentences as a list, empty ones left out."""
    return "\n".join(f"- {sentence}" for sentence in sentences if sentence)


# What it costs -----------------------------------------------------------------------------------


def cost(case: Case, lost: float, errors: pd.DataFrame) -> str:
    """How far every weighting is from the optimum (`gaussian_cost.errors`)."""
    table = by_method(errors)
    said = pretending(case, lost)
    gaussian, alone = table["collab"], table["local"]
    if gaussian["loss"] >= LITTLE:
        said += (
            f" It is as if every agent had thrown away {gaussian['wasted']:.1%} of its labelled "
            f"samples; in the worst direction the variance is {gaussian['worst']:.0%} above the "
            "optimum."
        )
    others = [f"{label(key)} {above(table[key]['loss'])}" for key in ("imputation", "identity")]
    said += f" Against the optimum: {', '.join(others)}, {alone_is(case)} {above(alone['loss'])}."
    if case.target == "full" or gaussian["loss"] < LITTLE:
        return said
    if alone["error"] < gaussian["error"]:
        said += (
            f" **On its own {case.agent} would even do better than with "
            "COLLAB's weights.** Gaussian features rule that out, and so do optimal weights."
        )
    return said


def alone_is(case: Case) -> str:
    """What Local OLS is for this target."""
    if case.target == "full":
        return "a newcomer's own least squares (all features, n samples)"
    return f"{case.agent} alone"


def above(loss: float) -> str:
    """How far an error is above the optimum; times where percents grow long."""
    if loss >= 2:
        return f"{times(1 + loss)} times it"
    return f"{abs(loss):.0%} {'below' if loss < -0.005 else 'above'}"


def dwarfed() -> str:
    """Why an ellipse is not drawn."""
    return f"{label('local')} would dwarf the other ellipses; its error is below."


def errors_title(case: Case) -> str:
    """Title of the bars of errors."""
    return f"n × error, for large n ({case.whose})"


def laws_title(losses: pd.DataFrame) -> str:
    """Title of the bars of laws, dearest first (`gaussian_cost.by_law`)."""
    most = float(losses["loss"].iloc[0])
    return f"By law: at most {most:.1%} here" if most > 0 else "No law costs"


# The map -----------------------------------------------------------------------------------------


def loss_map(frame: pd.DataFrame, draws: int) -> str:
    """Where the map (`gaussian_cost.loss_map`) is highest, ``draws`` patterns being asked for."""
    said = []
    for kind, name in (("independent", "independent tails"), ("common", "a common scale")):
        top = largest(frame[frame["kind"] == kind], "loss")
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


def off_the_map(
    tails: Tails | None, missing: float, kurtoses: Sequence[float], shares: Sequence[float]
) -> str:
    """Why no square is this world's, or nothing.

    Parameters
    ----------
    tails : Tails or None
        Of the law; None where they differ by direction.
    missing : float
        Share of the world's features.
    kurtoses, shares : list of float
        Rows and columns of the map, rising.
    """
    if tails is None:
        return (
            "No square is this law's: two clusters are far from Gaussian along one direction only."
        )
    if tails.kurtosis > 1.1 * kurtoses[-1]:
        return f"This law's excess kurtosis, {tails.kurtosis:.3g}, is above the map."
    # Half a column beyond the last one is still nearest to it.
    if not shares[0] - 0.05 <= missing <= shares[-1] + 0.05:
        return f"This world's share missing, {missing:.0%}, is beside the map."
    return ""


def under_the_map(off: str, lost: float, *, unequal: bool, agents: int, cut: bool) -> str:
    """What the map holds for, and how this world compares, as a list.

    Parameters
    ----------
    off : str
        See `off_the_map`.
    lost : float
        What pretending costs for a model of all features of this world.
    unequal : bool
        Whether its agents have unequally many samples.
    agents : int
    cut : bool
        Whether so few agents leave no room for the larger shares.
    """
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
    if cut:
        said.append(
            f"Every feature is seen by somebody, so of {agents} agents' features at most "
            f"{most_missing(agents):.0%} can be missing."
        )
    return as_list(said)


# Unlabelled samples ------------------------------------------------------------------------------


def pays_from(curve: UnlabelledCurve) -> float | None:
    """Where optimal weights begin to pay, if there is anything to win."""
    return curve.break_even if curve.loss >= LITTLE else None


def how_many(curve: UnlabelledCurve, pays: float) -> str:
    """The break-even, to the digits that are known."""
    if pays <= curve.sizes[0]:
        return f"fewer than {curve.sizes[0]:,}"
    return f"about {two_digits(pays)}"


def unlabelled_title(curve: UnlabelledCurve) -> str:
    """Title of the figure: how many it takes, where that can be told."""
    pays = pays_from(curve)
    if pays is None:
        return "Unlabelled samples and error"
    return f"It takes {how_many(curve, pays)} unlabelled samples"


def unlabelled(case: Case, lost: float, curve: UnlabelledCurve) -> str:
    """From how many samples on estimated weights pay, and what they win."""
    if lost < LITTLE:
        return (
            pretending(case, lost)
            + " Estimated weights can only come near it, from above: there is nothing to gain."
        )
    if not any(values.size for values in curve.limits.values()):
        return pretending(case, lost)
    pays, saved = pays_from(curve), saving(lost)
    if pays is None:
        return (
            f"**Even {curve.sizes[-1]:,} unlabelled samples are too few: weights estimated from "
            f"them are worse than Gaussian ones, though optimal ones would save {saved:.1%}.**"
        )
    return (
        f"**Optimal weights pay from {how_many(curve, pays)} unlabelled samples on (for large n"
        f"{_between(curve)}).** With {curve.sizes[-1]:,} they win {curve.won:.0%} of the "
        f"{saved:.1%} of the error that there is to save."
    )


def _between(curve: UnlabelledCurve) -> str:
    between = curve.break_even_range
    if between is None or between[1] == between[0]:
        return ""
    low, high = between
    lowest = f"fewer than {curve.sizes[0]:,}" if low <= curve.sizes[0] else two_digits(low)
    highest = f"more than {curve.sizes[-1]:,}" if high is None else two_digits(high)
    return f"; 95%: {lowest} to {highest}, over the trials"


def measured(curve: UnlabelledCurve) -> str:
    """What the trials alone can tell, as a list; nothing before the first."""
    gaussian, optimal = (curve.scaled(key) for key in ("collab", "collab_oracle"))
    if gaussian is None or optimal is None:
        return ""
    said = (
        f"At n = {curve.n:,} n × error was {gaussian[0]:.3g} with Gaussian weights on the same "
        f"trials, {optimal[0]:.3g} with W*."
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
    line = (
        "The line has no label noise in it: for every trial's unlabelled samples the "
        "error of their weights is known by formula (n large, theta known). Points have all: "
        "plug-in theta, estimated noise, n labelled samples; the band is a 95% interval. Σ is "
        "known to all."
    )
    return as_list([said, line])


# Formulas ----------------------------------------------------------------------------------------

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
