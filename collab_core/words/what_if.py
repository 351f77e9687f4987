"""What if, in words: who helps whom, what to measure, how many samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._base.checks import Array
from ..answers import planning
from ..core.problem import Problem

#: A rise of less than this is nobody's.
LITTLE = 5e-4


def caveat(problem: Problem, n: float, source: str, *, simulated: bool) -> str:
    """What is assumed of real data, and how large the errors are that all this is about."""
    how = (
        "Simulated, not measured: draws are Gaussian with these data's moments, and"
        if simulated
        else "Expected by the formulas, not measured:"
    )
    learnt = planning.Consortium(problem, n).together
    share = float(learnt.sum() / (learnt + problem.unexplained).sum())
    return (
        f"{source} **{how} one relation holds for all,** the one fitted to everybody's data. "
        "Where it differs from one to the other, working together gains less. The error that more "
        f"data could still remove is {share:.2g} of the whole prediction error here, on average."
    )


def beyond_noise(problem: Problem, n: float) -> str:
    """What "error" means on this page, and where its formulas are strained."""
    said = "Error: what more data could remove; noise and what an agent cannot see are not in it."
    seeing = problem.sizes > 0
    if (problem.sample_sizes(n)[seeing] < problem.sizes[seeing] + 2).any():
        said += (
            " **Some agents have fewer than two samples more than features:** the formulas, which"
            " are for large n, promise too much there."
        )
    return said


def starting(name: str) -> str:
    """A name at the beginning of a sentence."""
    return name[:1].upper() + name[1:]


def is_even(values: Array, whole: float) -> bool:
    """Whether values differ by rounding only."""
    return bool(np.ptp(values) <= 1e-6 * abs(whole))


# Who helps whom ----------------------------------------------------------------------------------


def one_agent(name: str) -> str:
    """Said where there is nobody to help."""
    return f"**There is only one agent, {name}: nobody to help or to be helped.**"


def helps(rises: Array, shares: planning.Shares, agents: Sequence[str]) -> str:
    """Who leans on whom, and who brings most, in a sentence or two."""
    others = _without_oneself(rises)
    if others.max() < LITTLE:
        return "**Nobody would notice if anybody left:** no agent learns from another here."
    hurt, leaver = divmod(int(others.argmax()), len(others))
    apart = others[~np.eye(len(others), dtype=bool)]
    if len(others) > 2 and is_even(apart, apart.max()):
        return (
            f"**Whoever leaves, the others' errors rise by {apart.max():.1%}:** all agents are "
            "alike, and bring the same."
        )
    said = (
        f"**{starting(agents[hurt])} leans most on {agents[leaver]}: without it, its "
        f"error rises by {others[hurt, leaver]:.1%}.** "
    )
    if len(others) == 2:
        return said + "With two agents, each brings what the other saves."
    most, gains = int(shares.brings.argmax()), int(shares.gets.argmax())
    if is_even(shares.brings, shares.total):
        return said + "By fair share, all bring the same to the others."
    return (
        f"{said}By fair share {agents[most]} brings most to the others, "
        f"{shares.brings[most] / shares.total:.1%} of all that working together saves; "
        f"{agents[gains]} saves most itself."
    )


def helps_title(rises: Array, agents: Sequence[str]) -> str:
    """Who is missed most."""
    others = _without_oneself(rises)
    if others.max() < LITTLE:
        return "Whose error rises when an agent leaves"
    leaver = int(others.max(axis=0).argmax())
    return f"Without {agents[leaver]}: up to {others.max():.1%} more error"


def shares_title(shares: planning.Shares, agents: Sequence[str]) -> str:
    """Who brings most."""
    if is_even(shares.brings, shares.total):
        return "By fair share, all bring the same"
    return f"{starting(agents[int(shares.brings.argmax())])} brings most to the others"


def sampled(shares: planning.Shares) -> str:
    """How shares were found where not all coalitions were valued."""
    if shares.exact:
        return ""
    return (
        f" With more than {planning.LARGEST_EXACT} agents, shares are averages over "
        f"{shares.orders} random orders of arrival; bars are their 95% error."
    )


def _without_oneself(rises: Array) -> Array:
    others = np.array(rises, dtype=float)
    np.fill_diagonal(others, 0.0)
    return others


# What to measure ---------------------------------------------------------------------------------


def all_seen(agents: Sequence[str]) -> str:
    """Said where nothing is missing."""
    who = "Everybody" if len(agents) > 1 else starting(agents[0])
    return f"**{who} sees everything: there is nothing more to measure.**"


def measure(gains: pd.DataFrame, whose: str, agents: Sequence[str], measures: Sequence[str]) -> str:
    """What to measure next, and the best five; ``whose`` is ``everybody`` or ``own``."""
    column = f"{whose}_share"
    best = gains.sort_values(column, ascending=False, kind="stable").head(5)
    top = best.iloc[0]
    if top[column] <= 0:
        return "**No single feature would help anybody measurably.**"
    whom = "everybody's errors together fall" if whose == "everybody" else "its own error falls"
    said = (
        f"**Measure next: {agents[int(top['agent']) - 1]} should see "
        f"{measures[int(top['feature']) - 1]}; {whom} by {top[column]:.1%},** what an agent "
        "could not see so far included, noise not."
    )
    if len(best) == 1:
        return f"{said} Nothing else is unseen."
    shares = best[column].to_list()
    listed = "; ".join(
        f"{addition} ({share:.1%})"
        for addition, share in zip(additions(best, agents, measures), shares, strict=True)
    )
    return f"{said} The best {len(best)}: {listed}."


def additions(frame: pd.DataFrame, agents: Sequence[str], measures: Sequence[str]) -> list[str]:
    """Additions in words, a row each: "Ohio sees Age"."""
    return [
        f"{agents[int(agent) - 1]} sees {measures[int(feature) - 1]}"
        for agent, feature in zip(frame["agent"], frame["feature"], strict=True)
    ]


def measure_title(gains: pd.DataFrame, whose: str) -> str:
    """What the best addition gains."""
    best = gains[f"{whose}_share"].max()
    return f"One more feature gains {'up to' if len(gains) > 1 else ''} {best:.1%}"


def plan_title(plan: pd.DataFrame, goal: str | int, agents: Sequence[str]) -> str:
    """What the plan gains."""
    fall = 1 - plan["error"].iloc[-1] / plan["error"].iloc[0]
    count = "One addition" if len(plan) == 2 else f"{len(plan) - 1} additions"
    errors = "all errors fall" if goal == "everybody" else f"{agents[int(goal)]}'s error falls"
    return f"{count}: {errors} by {fall:.1%}"


def plan(steps: Sequence[str]) -> str:
    """The plan's additions, one after the other, or nothing where there are none."""
    return "**The plan:** " + ", then ".join(steps) + "." if steps else ""


# How many samples --------------------------------------------------------------------------------


def samples(
    needed: pd.DataFrame, spent: pd.DataFrame, wanted: float, extra: int, agents: Sequence[str]
) -> str:
    """Samples for a wanted error, and where more are best spent."""
    if len(needed) == 1:
        return (
            f"**For an error of {wanted:g} {agents[0]} needs {needed['alone'][0]:,.0f} "
            "samples.** It is the only agent, so there is nobody to share the work with."
        )
    seeing = needed[needed["alone"] > 0]
    most = seeing.iloc[int(seeing["saved"].argmax())]
    name = agents[int(most["agent"]) - 1]
    said = (
        f"**For an error of {wanted:g} {name} needs {most['alone']:,.0f} samples alone and about "
        f"{most['together']:,.0f} together,** if the others have theirs in proportion. "
    )
    if helps_alike(spent):
        return said + f"{extra:,} more samples help everywhere the same."
    given = spent[spent["given"] > 0].sort_values("given", ascending=False).head(3)
    listed = ", ".join(
        f"{count:,.0f} to {agents[int(agent) - 1]}"
        for agent, count in zip(given["agent"], given["given"], strict=True)
    )
    return (
        f"{said}{extra:,} more are best spent so: {listed}"
        f"{' and others' if (spent['given'] > 0).sum() > 3 else ''}."
    )


def helps_alike(spent: pd.DataFrame) -> bool:
    """Whether it makes no difference who gets extra samples."""
    falls = spent["fall"].to_numpy(dtype=float)
    return is_even(falls, falls.max())


def needed_title(needed: pd.DataFrame, wanted: float) -> str:
    """How many samples are saved."""
    fewer = needed["saved"].max()
    if fewer < 1.05:
        return f"Samples for an error of {wanted:g}"
    return f"Error {wanted:g}: up to {fewer:.3g} times fewer samples"


def budget_title(spent: pd.DataFrame, extra: int, agents: Sequence[str]) -> str:
    """Who should get extra samples first."""
    if helps_alike(spent):
        return "It makes no difference who gets them"
    return f"{extra:,} more: {agents[int(spent['fall'].argmax())]} first"


# Formulas ----------------------------------------------------------------------------------------

HELPS_FORMULA = """
Row $i$, column $j$: agent $i$'s error $\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/n$ without agent $j$
over that with all, less 1. In the dual form leaving takes $P_j'\\Sigma_{j+}^{-1}P_j/s_j$ out of
$K$. The diagonal (an agent that leaves is alone) is in the data, not in the picture.
"""

SHARES_FORMULA = """
Of what agent $i$ saves, $s_id_i/n$ alone less its error with all, every partner gets its Shapley
value: what it takes off $i$'s error on arrival, averaged over all orders in which $i$'s partners
could arrive. Summed over $i$ that is what an agent brings. The data also hold the Shapley value of
the consortium as one game (`share`), in which an agent is credited with its own saving too.
"""

MEASURE_FORMULA = """
The fall of $\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/n + \\theta_{i-}'\\Gamma_i\\theta_{i-}$ when one
feature is added to one view: for the agent itself (what it could never explain shrinks too), or
summed over all agents.
"""

PLAN_FORMULA = """
Greedy: each time the one addition that lowers the sum of all agents' errors most, then again. The
error is what more data can remove plus what each agent can never explain.
"""

SAMPLES_FORMULA = """
Alone $N = d_i + 1 + s_id_i/\\varepsilon$, exact for Gaussian features. Together, when all agents'
samples grow in proportion, the error is $\\mathrm{tr}(\\Sigma_{i+}T_iC^gT_i')/n$ to leading order;
at few samples two things are added. Of the $d$ coefficients that are fitted in all, agent $k$ pays
for $e_k$ with as many of its samples, $A = (\\sum_k Y_k)^{-1}$,
$Y_k = w_k[(n_k-e_k)\\Sigma_{k+}^{-1} - Y_kA\\Sigma_{k+}^{-1}]$, $e_k = \\mathrm{tr}(Y_kA)$; and the
weights $w_k = n_k/\\mathrm{RSS}_k$ vary, over which the mean is taken. For one agent that is the
exact $s_id_i/(n-d_i-1)$; from $n = d_i + 4$ on it is within 5% of simulation.
"""

BUDGET_FORMULA = """
The fall of the sum of all agents' errors if all extra samples went to one agent. The plan gives
them in 20 equal portions, each where it helps most then.
"""
