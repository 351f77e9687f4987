"""Sentences and formulas of the Playground."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._base.checks import Indices
from ..answers.whatif import Findings
from .world import features

#: A worth below this is no gain, whatever rounding says.
GAIN = 1.005

WORTH_FORMULA = """
Agent $i$ alone, with $n$ labelled samples, has expected error about $s_i d_i / n$, where
$s_i = \\sigma^2 + \\theta_{i-}'\\Gamma_i\\theta_{i-}$ is the variance it cannot explain.
Together it is $\\mathrm{tr}(\\Sigma_{i+} T_i C^g T_i') / n$. Their ratio is what working together
is worth: by so much the agent would have to multiply its own data to do as well alone.
"""

METHODS_FORMULA = """
Expected error is $\\mathrm{tr}(\\Sigma C)/n$ (leading order) with

- COLLAB: $C^g = (\\sum_i T_i' W_i T_i)^{-1}$, $W_i = \\Sigma_{i+}/s_i$;
- Imputation with equal weights: $C(\\Sigma_{1+}, \\ldots, \\Sigma_{m+})$;
- COLLAB+: the inverse of $\\sum_i T_i' \\Sigma_{i+} T_i / s_i + 2 v_i v_i' / s_i^2$ after
  eliminating $\\sigma^2$; the exact bound is the same with $\\sigma$ known;
- C_strong: $(\\sum_i 2\\Sigma/s_i)^{-1}$, the paper's bound;
- Naive-Collab: its bias $\\|\\sum_i P_i'T_i\\theta/m - \\theta\\|_\\Sigma^2$, plus variance.
"""

VIEWS_FORMULA = "A filled square in row $i$, column $j$: $j \\in o_i$, the view of agent $i$."
COVARIANCE_FORMULA = "$\\Sigma_{jk} = \\mathrm{Cov}(x_j, x_k)$, from the spectrum and the seed."
SPECTRUM_FORMULA = "$\\Sigma = W \\Lambda W'$ and $\\kappa = \\lambda_1 / \\lambda_d$."

#: Of a simulation in which some agents have too few samples.
SOME_LEFT_OUT = "Agents with no more samples than features were left out of the aggregate."


def sentences(m: int, found: Findings) -> str:
    """Who of m agents gains, which feature is scarce, what averaging naively does."""
    most, least, scarcest = found.gains_most, found.gains_least, found.scarcest
    gain = (
        f"**Agent {most[0]} gains most: working together is worth {most[1]:.1f} times its data.**"
    )
    if most[1] < GAIN:
        gain = "**Nobody gains for its own model here: no agent can learn from another.**"
    elif m > 1 and most[1] / least[1] > 1.05:
        gain += f" Agent {least[0]} gains least, {least[1]:.1f} times."
    rarest = (
        f" The scarcest feature is x{scarcest[0]}, seen by {scarcest[1]} of {m} agents."
        if scarcest[1] < m
        else " Everybody sees everything."
    )
    naive = " Averaging the local models is unbiased here."
    if found.naive_floor > 1e-9:
        start = max(found.smallest_n, int(np.ceil(found.naive_crossing)))
        naive = (
            f" Averaging the local models naively never gets below an error of"
            f" {found.naive_floor:.3g}; by the large-n formulas COLLAB is ahead of it from about"
            f" n = {start:,} on."
        )
    return gain + rarest + naive


def few_samples(n: int, found: Findings) -> str:
    """That the formulas are for large n, where an agent cannot even fit; nothing otherwise."""
    if n >= found.smallest_n:
        return ""
    return (
        f"At n = {n:,} some agent has too few samples for its features, and errors "
        f"have no finite mean. The numbers below are what large-n formulas give; take n of "
        f"{found.smallest_n:,} or more (better several times that) for them to hold."
    )


def nobody_sees(unseen: Indices, some_see: bool) -> str:
    """What cannot be had because nobody sees some features, and what still can."""
    several = unseen.size > 1
    return (
        f"Nobody sees {features(unseen)}: no method can tell {'their' if several else 'its'} "
        f"coefficient{'s' if several else ''}, so a full-feature model cannot be had. "
        + ("Every agent's own model still can." if some_see else "Here no agent sees anything.")
    )


def worth_title(found: Findings) -> str:
    """Who gains most."""
    agent, most = found.gains_most
    if most < GAIN:
        return "Alone or together, every agent's own error is the same"
    return f"Agent {agent} gains most: worth {most:.1f} × its data"


def methods_title(found: Findings) -> str:
    """How far COLLAB is from what is possible."""
    return f"COLLAB is within {found.to_optimum:.2f} times of the best possible"


def simulated_title(trials: int, n: int) -> str:
    """What stands beside the formulas."""
    return f"Theory, and {trials} simulated trials at n = {n:,}"


def not_computed(labels: Sequence[str], n: int) -> str:
    """Why these methods have no simulated error at n."""
    return (
        f"{', '.join(labels)} cannot be computed at n = {n:,}: the agents with "
        "more samples than features do not cover every feature; elsewhere least squares "
        "interpolates."
    )
