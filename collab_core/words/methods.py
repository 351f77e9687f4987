"""What the page Methods & messages says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from .. import methods
from ..exchange.messages import Message
from .rows import by_method, largest

TABLE_NOTE = (
    "Traces are of $\\Sigma C$: divided by n they are the expected error. The first four rows "
    "are the paper's Table 1. A floor is error that no n removes. Numbers are float64: "
    "8 bytes each."
)
NOTHING_BACK = (
    "Too few messages count to solve for every feature of this agent: nothing can come "
    "back. Take a larger n."
)


def label(key: str) -> str:
    """What a method is called."""
    return methods.get(key).label


def few_samples(n: int, smallest: int) -> str:
    """What large-n formulas are worth where an agent cannot even fit."""
    return (
        f"At n = {n:,} some agent has too few samples for its features. The errors "
        f"below are what large-n formulas give; take n of {smallest:,} or more for them to "
        "hold."
    )


# Table 1 -----------------------------------------------------------------------------------------


def compared(table: pd.DataFrame, n: int, agent: int) -> str:
    """What COLLAB sends for what it gives an agent (counted from 0): `whatif.method_table`."""
    rows = by_method(table)
    message, data = (int(rows[key]["up"]) for key in ("collab", "rw_imputation"))
    if message == 0:
        return f"**Agent {agent + 1} sees nothing and sends nothing but its labels' variance.**"
    cost = (
        f"**COLLAB has the covariance of imputing and pooling all data, and agent {agent + 1} "
        f"sends {message:,} numbers for it instead of {data:,}.**"
    )
    if data <= message:
        cost = (
            f"**At n = {n:,} agent {agent + 1}'s data are no larger than its message: "
            f"{data:,} numbers against {message:,}. COLLAB's stays as it is "
            "however large n grows.**"
        )
    worth = rows["local"]["own_trace"] / rows["collab"]["own_trace"]
    alone = f"errs {worth:.1f} times as much" if worth > 1.005 else "does as well"
    return cost + (
        f" Alone it sends nothing and {alone}. n moves what imputation sends, and nothing else "
        "that is sent."
    )


def corner(table: pd.DataFrame, whose: str) -> str:
    """The finding of error against bytes, as it is for this world.

    Parameters
    ----------
    whose : {"own", "full"}
    """
    rows = by_method(table)
    collab = rows["collab"]
    ahead = [
        key
        for key, row in rows.items()
        if not pd.isna(row[f"{whose}_error"])
        and row[f"{whose}_error"] < 0.999 * collab[f"{whose}_error"]
        and row["bytes"] <= collab["bytes"]
    ]
    if not ahead:
        return "COLLAB: in the good and cheap corner"
    if ahead == ["collab_plus"]:
        return "COLLAB, COLLAB+: in the good and cheap corner"
    return f"At this n, {label(ahead[-1])} is cheaper and better"


def matrix_title(method: str, agent: int | None) -> str:
    """Title of a method's covariance, of all features or of an agent's (counted from 0)."""
    whom = "all features" if agent is None else f"agent {agent + 1}'s features"
    return f"{label(method)}: n × covariance, {whom}"


def no_covariance(agent: int) -> str:
    """Why there is no covariance."""
    return f"Agent {agent + 1} sees nothing, so its model has no covariance."


def table_1(table: pd.DataFrame, agent: int) -> str:
    """Table 1 with formulas and numbers side by side, as Markdown."""
    i = agent + 1
    lines = [
        f"| Method | all features | tr Σ C | agent {i}'s features | tr Σᵢ Cᵢ | error at n: all "
        f"| error at n: own | agent {i} sends | gets | order |",
        "|" + "---|" * 10,
    ]
    for key, row in by_method(table).items():
        formulas = methods.get(key).formulas
        lines.append(
            f"| {label(key)} | {formulas.full} | {_number(row['full_trace'])} | {formulas.own} "
            f"| {_number(row['own_trace'])} | {_with_floor(row, 'full')} "
            f"| {_with_floor(row, 'own')} | {row['up']:,} | {row['down']:,} | {formulas.sent} |"
        )
    return "\n".join(lines)


def _number(value: Any) -> str:
    return "–" if pd.isna(value) else f"{value:.3g}"


def _with_floor(row: Mapping[str, Any], whose: str) -> str:
    error, floor = row[f"{whose}_error"], row[f"{whose}_floor"]
    if pd.isna(error) or pd.isna(floor) or floor < 1e-9:
        return _number(error)
    return f"{error:.3g} (floor {floor:.3g})"


# The exchange ------------------------------------------------------------------------------------


def no_sample(n: int) -> str:
    """Why there is nothing to send."""
    return f"At n = {n:,} some agent has no sample at all. Take a larger n."


def no_message(agent: int) -> str:
    """Why there is nothing to send, for this agent."""
    return f"Agent {agent + 1} sees nothing and has no model to send. Pick another agent."


def sent(message: Message, agent: int, used: bool) -> str:
    """What an agent (counted from 0) sends, and whether the server can weigh it."""
    counted = (
        "**2. The server adds it to K and to a sum**, whose colours deepen with every message."
        if used
        else "**2. The server cannot weigh it**: such a fit leaves no residual."
    )
    return (
        f"**1. Agent {agent + 1} fits least squares on its {message.n:,} simulated samples and "
        f"sends {message.numbers:,} numbers**: its model, the covariance of its "
        f"{message.view.size} features, and its residual R = {message.residual:.3g}. No labelled "
        f"sample leaves home. {counted}"
    )


def server_title(heard: int, agents: int, known: int, features: int) -> str:
    """Title of what the server holds."""
    return f"Server, {heard} of {agents} messages: {known} of {features} features known"


def skipped(agents: Sequence[int]) -> str:
    """Whose messages (agents counted from 0) do not count, and why."""
    return (
        f"Not counted: agent{'s' if len(agents) > 1 else ''} "
        f"{', '.join(str(i + 1) for i in agents[:8])}{' and more' if len(agents) > 8 else ''}, "
        "with no more samples than features: such a fit leaves no residual to weigh it by."
    )


def returned(features: int, alone: float, together: float) -> str:
    """How the error of the model that comes back compares with that of the one sent."""
    better = "larger this time"
    if abs(together - alone) <= 1e-9 * alone:
        better = "the same: it has nobody to learn from"
    elif together < alone:
        better = f"{alone / together:.1f} times smaller"
    return (
        f"**3. Back come {features} numbers: a model for the same features, whose error here is "
        f"{better}** ({together:.3g} together, {alone:.3g} alone)."
    )


# Leaving -----------------------------------------------------------------------------------------


def others_of(frame: pd.DataFrame, agent: int) -> pd.DataFrame:
    """Rows of `whatif.without` of those who stay and have a model."""
    return frame[(frame["agent"] != agent + 1) & (frame["before"] > 0)]


def leaving(frame: pd.DataFrame, agent: int, only: Sequence[int]) -> str:
    """Who is hurt when an agent (counted from 0) leaves.

    Parameters
    ----------
    frame : DataFrame
        `whatif.without`.
    only : list of int
        Features that nobody else sees (`whatif.seen_only_by`).
    """
    others = others_of(frame, agent)
    if others.empty:
        return (
            f"**Nobody but agent {agent + 1} has a model here: its leaving changes nothing for "
            "others.**"
        )
    hurt = largest(others, "rise")
    said = [
        f"**If agent {agent + 1} leaves, agent {int(hurt['agent'])} is hurt most: its error "
        f"rises by {hurt['rise']:.1%}.** On average the others' rises by "
        f"{others['rise'].mean():.1%}."
        if hurt["rise"] > 5e-4
        else f"**Nobody else would notice if agent {agent + 1} left.**"
    ]
    before, rise = (float(frame[name].iloc[agent]) for name in ("before", "rise"))
    if before > 0:
        said.append(f"Its own error, alone again, becomes {1 + rise:.1f} times as large.")
    if len(only):
        names = ", ".join(f"x{j + 1}" for j in only[:6])
        said.append(f"Nobody else sees {names}: the model for all features is lost with it.")
    return " ".join(said)


def leaving_title(agent: int) -> str:
    """Title of the bars."""
    return f"How much worse the others get without agent {agent + 1}"


# Formulas ----------------------------------------------------------------------------------------

BYTES_FORMULA = """
An error is that of the figure's model at this $n$ (leading order in $1/n$, exact for local least
squares and the naive average). With COLLAB agent $i$ sends $d_i + d_i(d_i+1)/2 + 1$ numbers and
gets $d_i$; with local imputation it also gets the $d(d+1)/2$ of $\\Sigma$; with global imputation
it sends its $n(d_i+1)$ data.
"""

MATRIX_FORMULA = """
The covariance of $\\sqrt{n}(\\hat\\theta - \\theta)$ as $n$ grows, for all features, or
$T_i C T_i'$ on what the agent sees.
"""

MESSAGE_FORMULA = """
$(\\hat\\theta_i, \\hat\\Sigma_i, R_i)$ with $\\hat\\theta_i = (X_i'X_i)^{-1}X_i'y_i$,
$\\hat\\Sigma_i = X_i'X_i/n$ and $R_i = \\|y_i - X_i\\hat\\theta_i\\|^2/n$. Of the symmetric
$\\hat\\Sigma_i$ one triangle is counted.
"""

SERVER_FORMULA = """
With $S_i = \\Sigma_{i+}^{-1}$ every message adds $n_i P_i' S_i\\hat\\Sigma_i S_i P_i / R_i$ to $K$
and $n_i P_i' S_i\\hat\\Sigma_i\\hat\\theta_i / R_i$ to the right-hand side. At the end
$\\hat\\phi = K^{-1}\\,\\mathrm{rhs}$ and $\\hat\\theta = \\Sigma^{-1}\\hat\\phi$.
"""

RETURNED_FORMULA = """
Back comes $\\Sigma_{i+}^{-1}\\hat\\phi_{o_i}$. The best possible model is $T_i\\theta$; errors are
$\\|\\cdot - T_i\\theta\\|_{\\Sigma_{i+}}^2$, of this one data set.
"""

LEAVING_FORMULA = """
Error of agent $i$ at $n$ is $\\mathrm{tr}(\\Sigma_{i+} T_i C^g T_i')/n$, with
$C^g = (\\sum_k T_k' W_k^g T_k)^{-1}$ over all agents, and over all but the one that leaves. The one
that leaves is alone afterwards: $s_i d_i/n$.
"""

NOTEBOOK = """from pathlib import Path

import numpy as np
import collab_core as cc

paths = sorted(Path("messages").glob("*.json"))
messages = [cc.messages.Message.load(path) for path in paths]
d = 1 + max(int(message.view.max()) for message in messages if message.view.size)
moments, views = cc.messages.gather(messages, d)
sigma = cc.sigma.pooled(moments, views, d).covariance  # or a covariance that you know
estimate = cc.estimators.collab(moments, views, sigma)
print(estimate.local(0))
"""
