"""What the page on lower bounds says: Corollary 4.4 in numbers, and what lies between bounds."""

from __future__ import annotations

import pandas as pd

from ..bounds.limits import PatternSums
from ..figures import label
from ..world.scenario import Scenario

RATIO_FORMULA = """
In the paper it is the corollary that makes the two lower bounds comparable under random
missingness, after the theorems for the weak and the strong observation model. Drawn are the
smallest and largest generalised eigenvalue of
$(\\lim m\\,C_{gauss}, \\lim m\\,C_{strong})$, where
$\\lim K = \\sum_o p^{d-|o|}(1-p)^{|o|} P_o'\\Sigma_{oo}^{-1}P_o/s_o$ runs over all $2^d$ patterns
(a sample of them above $d = 14$), or of $(T C_{gauss} T', T C_{strong} T')$ for chosen rows $T$.
They are never below 2: the factor by which the paper relaxes the Fisher information.
"""

MAP_FORMULA = """
Each square is a world with this $d$ and $\\theta$, a geometric spectrum of condition $\\kappa$ and
$\\sigma^2 = \\theta'\\Sigma\\theta/\\mathrm{SNR}$. The condition ends at
$p^* = 1/(2\\kappa(1+\\mathrm{SNR}))$; the true threshold is the smallest $p$ at which the largest
ratio of $C_{gauss}$ to $C_{strong}$ is 4, found by root search.
Above $d = 14$ patterns are sampled.
"""

GAP_FORMULA = """
$\\mathrm{tr}(S C)$ for $C_{gauss}$, the exact bound $C_{exact}$ (noise known, or unknown: COLLAB+)
and the paper's $C_{strong} = (\\sum_i 2\\Sigma/s_i)^{-1}$, with $S = \\Sigma$ for prediction,
$\\Sigma_{i+}$ for agent $i$ (and $T_iCT_i'$), $uu'$ for a direction. Markers with intervals are
$n$ times the mean of $(\\hat\\theta-\\theta)'S(\\hat\\theta-\\theta)$ over simulated trials.
$C_{exact}^{-1} = \\sum_i T_i'\\Sigma_{i+}T_i/s_i + 2v_iv_i'/s_i^2$ is the Fisher information before
the paper relaxes it.
"""

CHAIN_FORMULA = """
Generalised eigenvalues relative to $C_{strong} = (\\sum_i 2\\Sigma/s_i)^{-1}$, of
$C_{gauss} = (\\sum_i T_i'\\Sigma_{i+}T_i/s_i)^{-1}$ and of $(\\sum_i \\Sigma/s_i)^{-1}$. The first
inequality is $T_i'\\Sigma_{i+}T_i \\preceq \\Sigma$: a view tells no more than all features.
"""

#: Titles of the map, by the column that colours it.
MAP_TITLES = {
    "ratio": "How far beyond p* the factor 4 really holds",
    "threshold": "The p at which the factor 4 is reached",
    "p_star": "The corollary's p*",
}


def statement(
    scenario: Scenario, sums: PatternSums, kind: str, threshold: float | None, ratio: float
) -> str:
    """The corollary in words, with today's numbers in it.

    Parameters
    ----------
    kind : str
        What is compared, of `collab_core.bounds.DIRECTIONS`.
    threshold : float, optional
        The p at which the factor 4 is reached, if at any.
    ratio : float
        The largest at the scenario's own p.
    """
    where = "" if kind == "all" else " in the chosen direction"
    said = (
        "**Corollary 4.4**: if every feature of every agent is missing with probability "
        "$p \\le p^* = \\frac{1}{2\\kappa(1 + \\mathrm{SNR})}$, then with many agents "
        "$C_{strong} \\preceq C_{gauss} \\preceq 4\\,C_{strong}$. "
        f"Here κ = {sums.condition_number:.3g} and SNR = {sums.signal_to_noise:.3g}, so "
        f"**p\\* = {sums.p_star:.2g}**"
    )
    said += (
        f", while the factor 4 is really reached{where} at **p = {threshold:.2g}**, "
        f"{large(threshold / sums.p_star)} times as far."
        if threshold
        else f", and the factor 4 is not reached{where} at any p."
    )
    if scenario.missing != "independent":
        return said + " (The sidebar's views are of another kind; only its Σ, θ and σ count here.)"
    holds = "holds" if scenario.p <= sums.p_star else "does not hold"
    return (
        said
        + f" At the sidebar's p = {scenario.p:g} the condition {holds}; the ratio is {ratio:.3g}."
    )


def large(number: float) -> str:
    """A factor as people read it: 2.35, 5,800, 15,400,000."""
    return f"{number:.3g}" if number < 1000 else f"{float(f'{number:.3g}'):,.0f}"


def ratio_title(kind: str, number: int, threshold: float | None) -> str:
    """Of the figure against p."""
    if kind == "coefficient":
        return f"For the coefficient of x{number + 1}"
    if kind == "principal":
        return f"Along principal direction {number + 1}"
    if kind == "agent":
        return f"For agent {number + 1}'s own model"
    if threshold is None:
        return "The bounds are never a factor 4 apart"
    return f"The bounds are within a factor 4 up to p = {threshold:.2g}"


def sampled(d: int, patterns: int) -> str:
    """That patterns are sampled, where there are too many."""
    return (
        f"With d = {d} the 2^d patterns are sampled, some {patterns} of each size; "
        "the band is the 95% error of that."
    )


def conservative(frame: pd.DataFrame) -> str:
    """How conservative the condition is over a map (`collab_core.threshold_map`)."""
    known = frame[frame["ratio"].notna()].sort_values("ratio").to_dict("records")
    if not known:
        return "In none of these worlds are the bounds ever a factor 4 apart."
    least, most = known[0], known[-1]
    return (
        f"**The condition is conservative by a factor of {large(least['ratio'])} to "
        f"{large(most['ratio'])}**: least at κ = {least['kappa']:g} and SNR = {least['snr']:g}, "
        f"most at κ = {most['kappa']:g} and SNR = {most['snr']:g}. Click a square to go "
        "to that world."
    )


def gap_title(kind: str, number: int) -> str:
    """Of the figure of bounds on one axis."""
    return {
        "all": "Prediction with all features",
        "agent": f"Agent {number + 1}'s own model",
        "coefficient": f"Variance of the coefficient of x{number + 1}",
        "principal": f"Variance along principal direction {number + 1}",
    }[kind]


def gap(frame: pd.DataFrame, simulated: pd.DataFrame, n: int) -> str:
    """What of the gap between C_gauss and C_strong is to gain.

    Parameters
    ----------
    frame : DataFrame
        `collab_core.bounds.gap`.
    simulated : DataFrame
        ``method`` and ``mean`` of simulated errors; may be empty.
    """
    by = frame.set_index("method")["error"]
    whole = by["collab"] - by["strong"]
    relaxed = (by["exact"] - by["strong"]) / whole if whole > 0 else 0.0
    known = (by["collab"] - by["exact"]) / whole if whole > 0 else 0.0
    unknown = (by["collab"] - by["collab_plus"]) / whole if whole > 0 else 0.0
    said = (
        f"**Of the gap between C_gauss ({by['collab']:.3g}) and C_strong ({by['strong']:.3g}), "
        f"{relaxed:.1%} is the paper's relaxation and {known:.1%} is there to gain** if the noise "
        f"is known, {unknown:.1%} if it is not."
    )
    means = simulated.set_index("method")["mean"]
    if {"collab", "collab_plus"} <= set(means.index):
        said += (
            f" Simulated at n = {n:,}: COLLAB {means['collab']:.3g}, "
            f"COLLAB+ {means['collab_plus']:.3g}"
            + (", from the same messages." if unknown > 0.001 else ".")
        )
    return said


def not_simulated(key: str) -> str:
    """Why a method has no simulated error."""
    return f"{label(key)} cannot be simulated: n is too small for the views."


def chain(frame: pd.DataFrame) -> str:
    """The chain of bounds in words (`collab_core.bounds.chain`)."""
    gauss = frame["gauss"].to_numpy()
    return (
        "**C_gauss ≽ (Σᵢ Σ/sᵢ)⁻¹ ≽ C_strong, direction by direction.** Without missing features "
        "the first two would be equal, and the second is always twice the third: so much is the "
        f"paper's doubling of the information. Here C_gauss is {gauss[0]:.3g} to {gauss[-1]:.3g} "
        f"times C_strong; {int((gauss <= 4).sum())} of {gauss.size} directions are within 4."
    )
