"""Sentences and formulas of the page Error vs n."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import bounds
from ..answers import whatif
from ..core.problem import Problem
from ..runs.curve import Curve

FORMULA = """
Markers are means over simulated trials: the agents' moments are drawn from their exact law (Wishart
by Bartlett's decomposition for Gaussian features), so the cost does not grow with $n$. Errors are
$\\|\\hat\\theta - \\theta\\|_\\Sigma^2$ and, for agent $i$,
$\\|\\hat\\theta_i - T_i\\theta\\|_{\\Sigma_{i+}}^2$; its irreducible part
$\\theta_{i-}'\\Gamma_i\\theta_{i-}$ is the dotted level and not in the curves.
Lines are theory: $\\mathrm{tr}(\\Sigma C)/n$ with each method's covariance, exact at every $n$ for
local least squares, the naive average and pooled moments. For other feature laws they are for
large $n$, integrated over the law, where such a formula is known. With agents of unequal size, $n$
is their average.
"""

CLOUD_FORMULA = """
A dot is $(\\hat\\theta_j, \\hat\\theta_k)$ of one trial; its agents keep their samples and collect
more, since Wishart matrices of one scale add. The spread of a consistent method shrinks as
$\\sqrt{C/n}$. The naive average gathers around $\\sum_i P_i' T_i \\theta / m$, which is seldom
$\\theta$.
"""

WEIGHTS_HELP = (
    "The paper weighs an agent by 1 / its own residual, which is nearly 0 by luck where n is "
    "hardly above its number of features. Moderated residuals lean on everybody's; plug-in ones "
    "are what the model says at COLLAB's own estimate. Both let agents with fewer samples than "
    "features take part."
)


def headline(problem: Problem, own: Curve, agent: int) -> str:
    """From which n together beats alone, and what it is worth in samples."""
    n = own.sample_sizes[-1]
    together, alone = own.mean("collab", n), own.mean("local", n)
    if problem.sizes[agent] == 0:
        return f"**Agent {agent + 1} sees nothing, so it has no model to improve.**"
    if not together or not alone:
        return f"**How well does agent {agent + 1} predict, alone and together?**"
    ahead = own.ahead_from("collab", "local")
    if ahead is None:
        behind = own.compare("collab", "local", n) == -1
        return (
            f"**At n = {n:,} COLLAB {'is behind' if behind else 'cannot be told from'} working "
            f"alone for agent {agent + 1}**: {together:.3g} against {alone:.3g} in these trials."
        )
    since = "at every n drawn" if ahead == own.sample_sizes[0] else f"from n = {ahead:,} on"
    said = f"**COLLAB beats working alone {since}."
    if own.is_gaussian:
        samples = int(problem.sample_sizes(n)[agent])
        equal = whatif.samples_alone(problem, agent, together)
        said += (
            f" Together, agent {agent + 1} does with {samples:,} samples what it would need "
            f"{equal:,.0f} for alone."
        )
    return said + "**"


def findings(problem: Problem, full: Curve, own: Curve, agent: int) -> str:
    """What else is to be seen, from the curves drawn so far: a list in Markdown."""
    n = own.sample_sizes[-1]
    said = []
    if "naive_collab" in full.methods:
        said.append(naive(problem))
    if full.compare("collab_plus", "collab", n):
        plus, collab = full.mean("collab_plus", n), full.mean("collab", n)
        gain = 1 - plus / collab if plus is not None and collab else 0.0
        said.append(
            f"COLLAB+ errs {abs(gain):.0%} {'less' if gain > 0 else 'more'} than COLLAB at "
            f"n = {n:,}, from the same messages."
        )
    if own.irreducible > 0 and (together := own.mean("collab", n)):
        said.append(
            f"Of agent {agent + 1}'s error together at n = {n:,}, {together:.3g} goes away with "
            f"more data; {own.irreducible:.3g} is what unseen features cost it forever."
        )
    if "local" in full.methods:
        said.append("On the left, Local OLS is a newcomer who sees all features and has n samples.")
    said.append(drawn(full))
    return "\n".join(f"- {sentence}" for sentence in said)


def is_biased(problem: Problem) -> bool:
    """Whether the naive average is, beyond what rounding makes."""
    return bounds.naive_collab(problem).floor > 1e-12 * problem.label_variance


def naive(problem: Problem) -> str:
    """Where the naive average levels out, and which of its two faults is at work."""
    limit = bounds.naive_collab(problem)
    if not is_biased(problem):
        return "The naive average is unbiased here."
    # floor + v / n is within a tenth of the floor from here on.
    level = bounds.error(problem, limit.covariance) / (0.1 * limit.floor)
    leaning = np.abs(np.where(problem.mask, problem.embedded - problem.theta, 0.0)).max()
    why = "it divides by m where fewer see a feature"
    if leaning > 1e-9 * max(np.abs(problem.theta).max(), 1e-300):
        why = f"local models make up for what their agents do not see, and {why}"
    return (
        f"The naive average levels out at {limit.floor:.3g} (within a tenth of it from about "
        f"n = {max(1, round(level)):,}): {why}."
    )


def drawn(curve: Curve) -> str:
    """How many trials are behind the markers, and what bands and lines are."""
    trials = int(curve.frame["trials"].max())
    lines = "lines are theory" if curve.frame["theory"].notna().any() else "no theory is known here"
    if trials == 0:
        return f"Simulated points come as trials are done; {lines}."
    if trials == 1:
        return f"1 trial, so there are no bands; {lines}."
    return f"{trials} trials; bands are 95% intervals of the mean, {lines}."


def one_by_one(most_trials: int, largest: int) -> str:
    """What limits a run whose features are not Gaussian."""
    return (
        f"Features that are not Gaussian are drawn one by one: at most {most_trials} "
        f"trials and n = {largest:,}."
    )


def gathering(problem: Problem, sample_sizes: Sequence[int]) -> str:
    """What to see in the clouds of estimates as n grows."""
    said = (
        f"**Each dot is one simulated data set.** Press Play: as every agent collects more "
        f"samples, from {sample_sizes[0]:,} to {sample_sizes[-1]:,}, consistent methods gather "
        "around the truth (the cross)."
    )
    if is_biased(problem):
        said += " The naive average gathers too, but somewhere else."
    return said


def nothing_to_estimate(agent: int) -> str:
    """Why an agent that sees nothing has no clouds."""
    return f"Agent {agent + 1} sees nothing: there is nothing to estimate. Pick another."
