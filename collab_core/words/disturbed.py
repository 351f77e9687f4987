"""How fast the advantage of working together goes, in words: see `collab_core.runs.disturbed`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import methods
from ..runs.disturbed import BreakEven, DisturbedCurve

#: Up to this size, an error in Σ is like that of a certain number of samples.
ALIKE = 0.3


def one_agent(name: str) -> str:
    """Said where nobody works together."""
    return (
        f"**There is only one agent, {name}:** COLLAB is its own model, whatever "
        "is assumed, so there is no advantage to lose."
    )


def nobody_alone() -> str:
    """Said where there is nothing to compare with."""
    return (
        "**Nobody can work alone here:** no agent has two samples more than it sees features, "
        "so there is no error to compare with. Give the agents more samples."
    )


def title(found: DisturbedCurve) -> str:
    """The finding in a few words."""
    even = found.break_even
    if even is None:
        return "There is no COLLAB here"
    if even.value is not None:
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


def summary(found: DisturbedCurve, agents: Sequence[str]) -> str:
    """Where COLLAB stops paying, and where half of its advantage is gone."""
    whose = (
        "the agents' own models on average"
        if found.target.agent is None
        else f"{agents[found.target.agent]}'s own model"
    )
    even = found.break_even
    if even is None:
        return (
            f"**COLLAB cannot be fitted here:** {found.missing.get('collab', 'no trial is done')}."
        )
    said = f"**COLLAB {_fate(found, even, whose, agents)}**{interval(found, even)}."
    half = found.crossing("collab", 0.5)
    if even.kind in ("never", "equal") or half is None:
        return said
    start = found.frame[found.frame["method"] == "collab"].iloc[0]["ratio"]
    gone = "more than half of the advantage is left to the end"
    if half.value is not None:
        gone = f"half of the advantage is gone once {beyond(found, half.value, agents)}"
    elif half.kind == "before":
        gone = f"half of the advantage is gone already with {at(found, 0, agents)}"
    return f"{said} Undisturbed, its error is {start:.3g} of that alone; {gone}."


def _fate(found: DisturbedCurve, even: BreakEven, whose: str, agents: Sequence[str]) -> str:
    if even.value is not None:
        return f"stays ahead of {whose} until {beyond(found, even.value, agents)}"
    return {
        "beyond": f"stays ahead of {whose} all along, even with {at(found, -1, agents)}",
        "before": f"is behind {whose} already with {at(found, 0, agents)}",
        "equal": f"is no other than {whose}, whatever is wrong",
        "never": f"is not ahead of {whose}, even undisturbed",
    }[even.kind]


def others(found: DisturbedCurve, asked_n: float, most_trials: int) -> str:
    """The other methods' break-evens, and how all this was found.

    Parameters
    ----------
    asked_n : float
        Samples per agent that the world has; fewer may have been drawn.
    most_trials : int
        Of features that are drawn one by one.
    """
    said = []
    for method in found.methods:
        even = None if method in ("collab", "local") else found.crossing(method)
        if even is not None and even.kind != "equal":
            fate = {
                "inside": f"breaks even at {size(found, even.value or 0.0)}",
                "beyond": "stays ahead all along",
                "before": "is behind from the least disturbance on",
                "never": "is not ahead even undisturbed",
            }[even.kind]
            said.append(f"{_label(method)} {fate}.")
    trials = "1 trial" if found.done == 1 else f"{found.done} trials"
    said.append(f"Simulated, {trials}, every method on the same draws.")
    if any(found.theory("collab")) and found.disturbance in ("unlabelled", "perturbed", "shift"):
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
            f"{most_trials} trials"
            + (f" and {found.n:,.0f} samples an agent." if found.n < asked_n else ".")
        )
    return " ".join(said)


def missing(found: DisturbedCurve) -> list[str]:
    """Which methods beside COLLAB could not be fitted, a sentence each."""
    return [
        f"{_label(method)} is missing: {note}."
        for method, note in found.missing.items()
        if method != "collab"
    ]


def _label(method: str) -> str:
    return methods.get(method).label


def size(found: DisturbedCurve, value: float) -> str:
    """A size of the disturbance as a number: whole for samples, three digits otherwise."""
    return f"{value:,.0f}" if found.disturbance == "unlabelled" else f"{value:.3g}"


def at(found: DisturbedCurve, place: int, agents: Sequence[str]) -> str:
    """One disturbance of the grid, in words."""
    number = size(found, found.values[place])
    return {
        "unlabelled": f"Σ from {number} unlabelled samples",
        "perturbed": f"an error of ε = {number} in Σ",
        "tails": f"an excess kurtosis of {number}",
        "clusters": f"clusters {number} from the middle",
        "shift": f"{agents[found.shifted]}'s relation {number} standard deviations of the "
        "label away",
    }[found.disturbance]


def beyond(found: DisturbedCurve, value: float, agents: Sequence[str]) -> str:
    """A disturbance of more than this, in words."""
    number, alike = size(found, value), ""
    if found.disturbance == "perturbed" and value < ALIKE:
        alike = f", roughly as one from {np.ceil(found.problem.dimension / value**2):,.0f} samples"
    return {
        "unlabelled": f"Σ comes from fewer than {number} unlabelled samples",
        "perturbed": f"Σ is wrong by more than ε = {number}{alike}",
        "tails": f"the features' excess kurtosis is above {number}",
        "clusters": f"the features' two clusters are more than {number} from the middle",
        "shift": f"{agents[found.shifted]}'s relation is more than {number} standard "
        "deviations of the label away from the others'",
    }[found.disturbance]


def interval(found: DisturbedCurve, even: BreakEven) -> str:
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


FORMULA = """
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
About it $\\hat\\varphi$ varies with covariance $K^{-1}(K+M)K^{-1}/n$: an agent that the limit
misses by $\\delta_i = T_i\\theta_i - \\tilde S_i\\tilde\\varphi_{i+}$ adds
$(r_i^2n/n_i)\\,\\tilde S_i[(\\delta_i'\\Sigma_{i+}\\delta_i)\\Sigma_{i+} +
3\\Sigma_{i+}\\delta_i\\delta_i'\\Sigma_{i+}]\\tilde S_i$ to $M$, because its features and its
weight vary on a score whose mean is not 0. What few samples add is in the line too.
"""
