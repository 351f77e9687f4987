"""Agents that differ, in words: see `collab_core.runs.different`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from .. import methods
from ..answers.random_effects import RandomEffects
from ..runs.curve import Curve
from ..runs.disturbed import DisturbedCurve
from .numbers import times, two_digits


def amount(size: float) -> str:
    """A position of the hero control."""
    if size == 0:
        return "not at all"
    return f"{size:g}" if size < 5 else "entirely"


def borrowed() -> str:
    """Said where the sidebar's world has one relation for all."""
    return (
        "The sidebar's world has one relation for all agents, so here they are made to differ. The "
        "control changes the world itself."
    )


def share(size: float, signal: float, label_variance: float) -> str:
    """What a size means: how much of what features tell is an agent's own."""
    if size == 0:
        return "All agents follow one relation."
    own = size**2 * label_variance
    part = own / (own + signal)
    return (
        f"Agents' own relations are {size:g} standard deviations of the label away from the shared "
        f"one: about {part:.0%} of what features tell an agent about its label is its own."
    )


def hero_title(world: RandomEffects, n: float, agents: Sequence[int]) -> str:
    """The finding in a few words; the world has deviations of size 1."""
    limit = world.collab_pays_up_to(n, agents)
    if limit is None:
        return "COLLAB pays however much agents differ"
    if limit == 0:
        return "COLLAB does not pay, even with one relation for all"
    return f"COLLAB pays up to a distance of {limit:.2g}"


def hero(world: RandomEffects, n: float, agents: Sequence[int]) -> str:
    """What the formulas say at the chosen size, with numbers; the world has that size."""
    alone, together, pooled = (
        float(line(n)[list(agents)].mean()) for line in (world.local, world.collab, world.adaptive)
    )
    if together <= alone:
        first = (
            f"**At n = {n:,.0f}, COLLAB's error is {times(alone / together)} times smaller than "
            "that of working alone.**"
        )
    else:
        first = (
            f"**At n = {n:,.0f}, COLLAB's error is {times(together / alone)} times that of working "
            "alone:** it makes all agents follow what they do not share."
        )
    best, name = min((alone, "working alone"), (together, "COLLAB"))
    gain = best / pooled
    second = (
        f"Partial pooling, which shares what is shared and keeps the rest, is as good as {name}"
        if gain < 1.05
        else f"Partial pooling, which shares what is shared and keeps the rest, is {times(gain)} "
        f"times better than the better of the two ({name})"
    )
    return f"{first} {second}: {pooled:.3g} against {alone:.3g} alone and {together:.3g} together."


def measured(curve: Curve, place: float) -> str:
    """What the simulation found nearest to a size or n, methods from best to worst."""
    found = {key: curve.mean(key, place) for key in curve.methods}
    known = {key: value for key, value in found.items() if value is not None}
    if not known:
        return ""
    listed = ", ".join(
        f"{methods.get(key).label} {value:.3g}"
        for key, value in sorted(known.items(), key=lambda item: item[1])
    )
    where = f"n = {place:,.0f}" if curve.axis == "n" else f"size {place:g}"
    trials = "1 trial" if curve.done == 1 else f"{curve.done} trials"
    return f"Simulated at {where}: {listed} ({trials}; every trial has relations of its own)."


def missing(keys: Sequence[str]) -> str:
    """Which methods are not there to be simulated."""
    absent = [name for name in ("adaptive", "guarded") if name not in keys]
    if not absent:
        return ""
    listed = " and ".join(absent)
    return f"Not simulated here: {listed}."


def crossings(world: RandomEffects, agents: Sequence[int]) -> str:
    """The two sample sizes at which methods change places."""
    until, alone = world.collab_pays_until(agents), world.alone_from(agents)
    if until is None:
        return "**With one relation for all, COLLAB pays at every n,** and pooling is no other."
    first = (
        "**COLLAB does not pay here at any n.**"
        if until == 0
        else f"**COLLAB pays up to about n = {two_digits(until)}; with more data agents are better "
        "off alone, on average.**"
    )
    if alone is None:
        return f"{first} Partial pooling stays more than 5% ahead of working alone for ever."
    if alone == 0:
        return f"{first} Partial pooling is within 5% of working alone from the start."
    return (
        f"{first} Partial pooling is ahead of both, and within 5% of working alone from about "
        f"n = {two_digits(alone)} on."
    )


def n_title(world: RandomEffects, agents: Sequence[int]) -> str:
    """The finding in a few words."""
    until = world.collab_pays_until(agents)
    if until is None:
        return "COLLAB pays at every n"
    if until == 0:
        return "COLLAB does not pay at any n"
    return f"COLLAB turns from best to worst at n = {two_digits(until)}"


def forest(frame: pd.DataFrame, feature: int) -> str:
    """Who is pulled how far, for one coefficient."""
    wide = frame.pivot_table(index="agent", columns="model", values="value", sort=False)
    if "local" not in wide or "collab" not in wide:
        return f"Too few samples to compare models of x{feature + 1}."
    pulls = (wide["collab"] - wide["local"]).abs().dropna()
    agent = int(pulls.index[int(pulls.to_numpy().argmax())])
    truths = frame.drop_duplicates("agent").set_index("agent")["truth"]
    own, shared, truth = wide["local"][agent], wide["collab"][agent], float(truths[agent])
    nearer = "its own" if abs(own - truth) < abs(shared - truth) else "what all share"
    said = (
        f"**Agent {agent} is pulled farthest:** its own data say {own:.2g} for x{feature + 1}, "
        f"what all share says {shared:.2g}; the truth is {truth:.2g}, nearer to {nearer}."
    )
    if "adaptive" in wide and pd.notna(wide["adaptive"].get(agent)):
        said += f" Partial pooling takes {wide['adaptive'][agent]:.2g}."
    return said


def coefficients(frame: pd.DataFrame) -> str:
    """Which coefficients are shared, by the best evidence there is."""
    by = "adaptive" if frame["adaptive"].notna().any() else "scatter"
    known = frame[frame[by].notna()].sort_values(by, ascending=False)
    if known.empty:
        return "**Too few samples** to tell which coefficients agents share."
    top = known.head(3)
    pairs = zip(top["feature"], top[by], strict=True)
    listed = ", ".join(f"x{int(j)} ({value:.2g})" for j, value in pairs)
    least = known.iloc[-1]
    really = frame.sort_values("truth", ascending=False).iloc[0]
    said = (
        f"**Agents differ most in {listed}, and least in x{int(least['feature'])} "
        f"({least[by]:.2g})**, in units of the label per standard deviation of the feature."
    )
    if really["truth"] == 0:
        return said + " In truth they differ in none: what is seen is chance."
    if frame["truth"].min() > 0:
        return said + " In truth every coefficient is every agent's own."
    own = frame[frame["truth"] > 0]["feature"]
    return said + f" In truth they differ in {', '.join(f'x{int(j)}' for j in own)} only."


def belonging(frame: pd.DataFrame) -> str:
    """Who is farthest from the others, and who really is."""
    known = frame[frame["apart"].notna()].sort_values("apart", ascending=False)
    if known.empty:
        return "**Nobody can be compared:** the others do not see all that an agent sees."
    first = known.iloc[0]
    said = (
        f"**Agent {int(first['agent'])} is farthest from what the others imply:** "
        f"{times(float(first['apart']))} times as far as chance would put it."
    )
    if pd.notna(first["trust"]):
        said += f" Partial pooling counts it {float(first['trust']):.2f} instead of 1."
    truly = frame[frame["truth"] > 0]["agent"]
    if truly.empty:
        return said + " In truth all follow one relation."
    if len(truly) == len(frame):
        return said + " In truth everybody deviates a little."
    listed = ", ".join(str(int(i)) for i in truly)
    if len(truly) == 1:
        return said + f" In truth only agent {listed} differs."
    return said + f" In truth only agents {listed} differ."


def guard_title(found: DisturbedCurve) -> str:
    """The finding in a few words."""
    key = "guarded" if "guarded" in found.methods else "collab"
    worst = found.frame[found.frame["method"] == key]["ratio"].dropna()
    if worst.empty:
        return "Nothing to compare"
    name = methods.get(key).label
    if key == "guarded":
        return f"However far away, {name} has at most {worst.max():.3g} of the error alone"
    return f"{name} has up to {times(float(worst.max()))} times the error of working alone"


def guard(found: DisturbedCurve, agent: str) -> str:
    """What becomes of one agent that is moved away from all others."""
    far = found.values[-1]
    frame = found.frame[found.frame["value"] == far].set_index("method")["ratio"]
    listed = ", ".join(
        f"{methods.get(key).label} {frame[key]:.3g}"
        for key in found.methods
        if key != "local" and key in frame and pd.notna(frame[key])
    )
    said = (
        f"**{agent[0].upper()}{agent[1:]} is moved {far:g} standard deviations of the label away "
        f"from the others.** Its error over that of working alone is then: {listed}."
    )
    if "guarded" in found.methods:
        said += (
            " The guard never loses on average, by a theorem: it shrinks an agent's own model "
            "towards the others' only as far as the agent's own data allow."
        )
    return f"{said} Simulated, {found.done} trials."


FORMULA = """
Agent $i$'s relation is $\\theta + \\delta_i$ with $\\delta_i \\sim N(0, D_i)$ drawn anew in every
trial; its size is $\\sqrt{\\mathrm{tr}(\\Sigma D_i)/\\mathrm{Var}(y)}$. With
$E_i = \\Sigma D_i \\Sigma$, $N_i = s_i\\Sigma_{i+}/n_i$ and $\\varphi = \\Sigma\\theta$:
alone $s_i d_i/(n_i - d_i - 1)$; COLLAB tends to $\\tilde\\varphi = \\varphi + \\sum_k B_k\\Sigma
\\delta_k$ with $B_k = K^{-1} r_k P_k'\\Sigma_{k+}^{-1}P_k$, so its squared bias has
$\\sum_k B_kE_kB_k' - B_iE_i - E_iB_i' + E_i$ and does not fall with $n$; partial pooling with known
$D$ (best linear unbiased prediction) has $N - N(N+E)^{-1}N + G C G'$, $G = N(N+E)^{-1}$,
$C = (\\sum_i P_i'(N_i+E_i)^{-1}P_i)^{-1}$. The bound is van Trees' with all labelled data. Every
agent is judged by its own relation; errors are means over agents.
"""

FOREST_FORMULA = """
One data set. Own: least squares with its t interval. Implied by the others: COLLAB on all agents
but this one, $T_i\\hat\\theta_{-i}$. COLLAB: the same on all. An agent's coefficient also carries
what its unseen features tell, so truths differ between views even with one relation.
"""

COEFFICIENTS_FORMULA = """
Grey: $\\sqrt{D_j\\Sigma_{jj}}$ in truth. Scatter: $\\sqrt{\\max(0, \\mathrm{mean}_i[(\\hat\\theta_i
- T_i\\hat\\theta_{-i})_j^2 - \\mathrm{variance}])\\,\\Sigma_{jj}}$ over the agents that see $j$; it
also holds what deviations of unseen features leak. Partial pooling: its own estimate of $D_j$.
"""

BELONGING_FORMULA = """
$e_i'(\\hat s_i xx_i^{-1} + T_i C_{-i} T_i')^{-1} e_i / d_i$ with $e_i = \\hat\\theta_i -
T_i\\hat\\theta_{-i}$: about 1 by chance. Trust is partial pooling's weight $w_i$.
"""

GUARD_FORMULA = """
One agent's relation is $\\theta_i + c\\,\\Delta$, $\\Delta'\\Sigma\\Delta = \\mathrm{Var}(y)$, of
random direction in each trial; its own error is compared with least squares on its own data. The
guard: with $u = L'(\\hat\\theta_i - t_i)$, $LL' = xx_i$ and $t_i$, $B$ from the others' messages
and $xx_i$ alone,
$u - \\min(1, (\\mathrm{tr}B - 2\\lambda_{\\max}(B))\\,\\mathrm{RSS}/((v+2)|Bu|^2))Bu$ has
smaller expected in-sample error than $u$, whatever the relations are (Stein).
"""
