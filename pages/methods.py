"""Methods & messages: how good every method is, what it sends, and the exchange itself."""

import io
import zipfile

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.exchange.messages import Message
from pages.shared import options
from pages.shared.panel import columns, scenario_code, show
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page, problem_of

PARTS = {
    "table": "Compared",
    "exchange": "The exchange",
    "leaving": "If an agent leaves",
}

#: The paper's formulas: full-feature covariance, missing-feature covariance, order of numbers sent.
FORMULAS = {
    "local": ("–", "$(W_i^g)^{-1}$", "0"),
    "local_imputation": ("$C^g$", "$T_i C^g T_i'$", "$\\Theta(d^2)$"),
    "rw_imputation": ("$C^g$", "$T_i C^g T_i'$", "$\\Theta(n d_i)$"),
    "collab": ("$C^g = (\\sum_i T_i' W_i^g T_i)^{-1}$", "$T_i C^g T_i'$", "$\\Theta(d_i^2)$"),
    "collab_plus": ("$C_{exact}$, $\\sigma$ unknown", "$T_i C_{exact} T_i'$", "$\\Theta(d_i^2)$"),
    "imputation": ("$C(\\Sigma_{1+}, .., \\Sigma_{m+})$", "$T_i C T_i'$", "$\\Theta(n d_i)$"),
    "pooled_moments": ("pooled $x_j y$", "$T_i C T_i'$", "$\\Theta(d_i)$"),
    "naive_collab": ("biased", "biased", "$\\Theta(d_i)$"),
    "optimized_naive_collab": ("no formula", "–", "$\\Theta(d_i)$"),
}


@st.cache_data(max_entries=64, show_spinner=False)
def table(scenario: cc.Scenario, agent: int) -> pd.DataFrame:
    return cc.whatif.method_table(scenario.problem(), scenario.n, agent)


@st.cache_data(max_entries=16, show_spinner=False)
def messages(scenario: cc.Scenario, seed: int) -> list[Message]:
    """What every agent sends, from one simulated data set."""
    problem = scenario.problem()
    drawn = cc.simulate.draw_moments(problem, scenario.n, seed)
    return cc.exchange.messages_of(problem, drawn)


def main() -> None:
    with page() as scenario:
        part = heading("Methods & messages", PARTS)
        problem = problem_of(scenario)
        if problem is None:
            return
        agent = options.pick(
            "agent", "Agent", range(problem.agents), 0, words=lambda i: f"Agent {i + 1}",
            label_visibility="collapsed", width=200,
        )  # fmt: skip
        match part:
            case "table":
                compared(scenario, problem, agent)
            case "exchange":
                exchange(scenario, problem, agent)
            case _:
                leaving(scenario, problem, agent)


# Table 1 -----------------------------------------------------------------------------------------


def compared(scenario: cc.Scenario, problem: cc.Problem, agent: int) -> None:
    frame = table(scenario, agent)
    by = frame.set_index("method")
    warn_of_few_samples(scenario, problem)
    words(compared_in_words(scenario, by, agent))
    code = scenario_code(scenario) + (
        f"frame = cc.whatif.method_table(scenario.problem(), n=scenario.n, agent={agent})\n"
        "print(frame)\n"
    )
    left, right = columns("bytes", "matrix", sizes=[1.15, 1])
    with left:
        whose = options.pick(
            "whose", "Error of", ("own", "full"), "own", widget=st.segmented_control,
            words=lambda key: f"Agent {agent + 1}'s own model" if key == "own" else "All features",
            label_visibility="collapsed",
        )  # fmt: skip
        drawn = frame.rename(columns={f"{whose}_error": "error"})[["method", "error", "bytes"]]
        show(
            figures.error_against_bytes(drawn, title=corner(by, whose)),
            key="bytes",
            alt="Expected error of every method against the bytes it sends, on log axes.",
            frame=frame,
            formula=BYTES_FORMULA,
            code=code,
        )
    with right:
        covariance_of_method(scenario, problem, agent, whose)
    words(as_markdown(by, agent))
    words(
        "Traces are of $\\Sigma C$: divided by n they are the expected error. The first four rows "
        "are the paper's Table 1. A floor is error that no n removes. Numbers are float64: "
        "8 bytes each."
    )


def warn_of_few_samples(scenario: cc.Scenario, problem: cc.Problem) -> None:
    """The formulas are for large n; say so where an agent cannot even fit."""
    smallest = cc.whatif.findings(problem, scenario.n).smallest_n
    if scenario.n < smallest:
        st.warning(
            f"At n = {scenario.n:,} some agent has too few samples for its features. The errors "
            f"below are what large-n formulas give; take n of {smallest:,} or more for them to "
            "hold."
        )


def compared_in_words(scenario: cc.Scenario, by: pd.DataFrame, agent: int) -> str:
    message, data = (int(by.loc[key, "up"]) for key in ("collab", "rw_imputation"))
    if message == 0:
        return f"**Agent {agent + 1} sees nothing and sends nothing but its labels' variance.**"
    cost = (
        f"**COLLAB has the covariance of imputing and pooling all data, and agent {agent + 1} "
        f"sends {message:,} numbers for it instead of {data:,}.**"
    )
    if data <= message:
        cost = (
            f"**At n = {scenario.n:,} agent {agent + 1}'s data are no larger than its message: "
            f"{data:,} numbers against {message:,}. COLLAB's stays as it is "
            "however large n grows.**"
        )
    worth = by.loc["local", "own_trace"] / by.loc["collab", "own_trace"]
    alone = f"errs {worth:.1f} times as much" if worth > 1.005 else "does as well"
    return cost + (
        f" Alone it sends nothing and {alone}. n moves what imputation sends, and nothing else "
        "that is sent."
    )


def corner(by: pd.DataFrame, whose: str) -> str:
    """The figure's finding, as it is for this world."""
    ahead = by[(by[f"{whose}_error"] < 0.999 * by.loc["collab", f"{whose}_error"]).fillna(False)]
    ahead = ahead[ahead["bytes"] <= by.loc["collab", "bytes"]]
    if ahead.empty:
        return "COLLAB: in the good and cheap corner"
    if list(ahead.index) == ["collab_plus"]:
        return "COLLAB, COLLAB+: in the good and cheap corner"
    return f"At this n, {figures.label(ahead.index[-1])} is cheaper and better"


def covariance_of_method(
    scenario: cc.Scenario, problem: cc.Problem, agent: int, whose: str
) -> None:
    target = "full" if whose == "full" else agent
    known = [
        key
        for key in cc.whatif.TABLED
        if cc.theory.asymptotic_covariance(problem, key, target) is not None
    ]
    method = options.pick("method", "Whole covariance of", known, "collab", words=figures.label,
                          label_visibility="collapsed")  # fmt: skip
    covariance = cc.theory.asymptotic_covariance(problem, method, target)
    view = np.arange(problem.dimension) if target == "full" else problem.views[agent]
    if view.size == 0:
        error_box(f"Agent {agent + 1} sees nothing, so its model has no covariance.")
        return
    names = [f"x{j + 1}" for j in view]
    whom = "all features" if target == "full" else f"agent {agent + 1}'s features"
    show(
        figures.covariance_heatmap(
            covariance, names, title=f"{figures.label(method)}: n × covariance, {whom}", height=420
        ),
        key="matrix",
        alt="Heatmap of the method's asymptotic covariance.",
        frame=pd.DataFrame(covariance, index=names, columns=names),
        formula=MATRIX_FORMULA,
        code=scenario_code(scenario)
        + f"frame = cc.theory.asymptotic_covariance(scenario.problem(), {method!r}, {target!r})\n"
        + "print(frame)\n",
    )


def as_markdown(by: pd.DataFrame, agent: int) -> str:
    """Table 1 with formulas and numbers side by side."""
    i = agent + 1
    rows = [
        f"| Method | all features | tr Σ C | agent {i}'s features | tr Σᵢ Cᵢ | error at n: all "
        f"| error at n: own | agent {i} sends | gets | order |",
        "|" + "---|" * 10,
    ]
    for key, row in by.iterrows():
        full, own, order = FORMULAS[str(key)]
        rows.append(
            f"| {figures.label(str(key))} | {full} | {number(row['full_trace'])} | {own} "
            f"| {number(row['own_trace'])} "
            f"| {with_floor(row['full_error'], row['full_floor'])} "
            f"| {with_floor(row['own_error'], row['own_floor'])} "
            f"| {row['up']:,} | {row['down']:,} | {order} |"
        )
    return "\n".join(rows)


def number(value: object) -> str:
    return "–" if pd.isna(value) else f"{value:.3g}"


def with_floor(error: object, floor: object) -> str:
    if pd.isna(error) or pd.isna(floor) or floor < 1e-9:
        return number(error)
    return f"{error:.3g} (floor {floor:.3g})"


# The exchange ------------------------------------------------------------------------------------


def exchange(scenario: cc.Scenario, problem: cc.Problem, agent: int) -> None:
    if scenario.n * problem.shares.min() < 1:
        error_box(f"At n = {scenario.n:,} some agent has no sample at all. Take a larger n.")
        return
    left, right = st.columns(2)
    with left:
        seed = options.number("data", "Simulated data set", 1, 20, 1, help="Which one is sent.")
    with right:
        heard = problem.agents
        if heard > 1:
            heard = options.number(
                "heard", "Messages that the server has added up", 0, heard, heard,
                help="Step through them by arrow key.",
            )  # fmt: skip
    sent = messages(scenario, seed)
    sums = cc.exchange.server_sums(sent, problem.covariance)
    mine = sent[agent]
    names = [f"x{j + 1}" for j in mine.view]
    code = scenario_code(scenario) + (
        "problem = scenario.problem()\n"
        f"moments = cc.simulate.draw_moments(problem, scenario.n, seed={seed})\n"
        "messages = cc.exchange.messages_of(problem, moments)\n"
    )
    if not names:
        error_box(f"Agent {agent + 1} sees nothing and has no model to send. Pick another agent.")
        server(scenario, sums, heard, code)
        return
    count = len(names) * (len(names) + 3) // 2 + 1
    counted = (
        "**2. The server adds it to K and to a sum**, whose colours deepen with every message."
        if sums.used[agent]
        else "**2. The server cannot weigh it**: such a fit leaves no residual."
    )
    words(
        f"**1. Agent {agent + 1} fits least squares on its {mine.n:,} simulated samples and sends "
        f"{count:,} numbers**: its model, the covariance of its {len(names)} features, and its "
        f"residual R = {mine.residual:.3g}. No labelled sample leaves home. {counted}"
    )
    left, right = columns("message", "server", sizes=[1, 1])
    with left:
        show(
            figures.matrix_with_column(
                mine.covariance, mine.theta, names, ("covariance", "model"),
                title=f"What agent {agent + 1} sends",
            ),
            key="message",
            alt="Heatmap of the covariance that the agent sends.",
            frame=pd.DataFrame(
                np.column_stack([mine.theta, mine.covariance]), index=names,
                columns=["theta", *names],
            ).reset_index(names="feature"),
            formula=MESSAGE_FORMULA,
            code=code + f"frame = messages[{agent}].covariance\nprint(frame)\n",
        )  # fmt: skip
        downloads(sent, agent)
    with right:
        server(scenario, sums, heard, code)
    returned(problem, sums, mine, agent, names, code)


def downloads(sent: list[Message], agent: int) -> None:
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            f"Message of agent {agent + 1} (JSON)", lambda: sent[agent].to_json(),
            f"collab-message-{agent + 1}.json", "application/json", on_click="ignore",
            key="download-message",
        )  # fmt: skip
        st.download_button(
            "All messages (zip)", lambda: zipped(sent), "collab-messages.zip", "application/zip",
            on_click="ignore", key="download-messages",
        )  # fmt: skip
    with st.popover("Run the server's step in a notebook", type="tertiary"):
        st.code(NOTEBOOK, language="python")


def zipped(sent: list[Message]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, message in enumerate(sent, start=1):
            archive.writestr(f"collab-message-{i}.json", message.to_json())
    return packed.getvalue()


def server(scenario: cc.Scenario, sums: cc.exchange.ServerSums, heard: int, code: str) -> None:
    agents = len(sums.used)
    known = int(sums.determined(heard).sum())
    limits = (
        float(np.abs(sums.information[-1]).max()) or 1.0,
        float(np.abs(sums.rhs[-1]).max()) or 1.0,
    )
    d = scenario.d
    title = f"Server, {heard} of {agents} messages: {known} of {d} features known"
    show(
        figures.matrix_with_column(
            sums.information[heard],
            sums.rhs[heard],
            figures.feature_names(d),
            ("K", "sum"),
            limits,
            title=title,
        ),
        key="server",
        alt="Heatmap of the matrix K and the right-hand side that the server adds up.",
        frame=pd.DataFrame(
            np.column_stack([sums.rhs[heard], sums.information[heard]]),
            columns=["rhs", *figures.feature_names(d)],
        ),
        formula=SERVER_FORMULA,
        code=code
        + "sums = cc.exchange.server_sums(messages, problem.covariance)\n"
        + f"frame = sums.information[{heard}]\nprint(frame)\n",
    )
    skipped = [
        i + 1
        for i, (used, view) in enumerate(zip(sums.used, sums.geometry.views, strict=True))
        if view.size and not used
    ]
    if skipped:
        st.caption(
            f"Not counted: agent{'s' if len(skipped) > 1 else ''} "
            f"{', '.join(map(str, skipped[:8]))}{' and more' if len(skipped) > 8 else ''}, with no "
            "more samples than features: such a fit leaves no residual to weigh it by."
        )


def returned(
    problem: cc.Problem, sums: cc.exchange.ServerSums, mine: Message, agent: int, names: list[str],
    code: str,
) -> None:  # fmt: skip
    back = sums.returned(agent)
    if back is None:
        error_box(
            "Too few messages count to solve for every feature of this agent: nothing can come "
            "back. Take a larger n."
        )
        return
    truth, block = problem.local_theta(agent), problem.geometry.block(agent)
    alone, together = (float((g := model - truth) @ block @ g) for model in (mine.theta, back))
    better = "larger this time"
    if abs(together - alone) <= 1e-9 * alone:
        better = "the same: it has nobody to learn from"
    elif together < alone:
        better = f"{alone / together:.1f} times smaller"
    words(
        f"**3. Back come {len(names)} numbers: a model for the same features, whose error here is "
        f"{better}** ({together:.3g} together, {alone:.3g} alone)."
    )
    models = {
        "local": ("sent (its own fit)", mine.theta),
        "collab": ("returned (COLLAB)", back),
    }
    show(
        figures.models_of_agent(
            names, models, truth, title=f"Agent {agent + 1}'s model, sent and returned"
        ),
        key="returned",
        alt="Coefficients that the agent sent, got back, and the best possible ones.",
        frame=pd.DataFrame({"feature": names, "sent": mine.theta, "returned": back, "best": truth}),
        formula=RETURNED_FORMULA,
        code=code
        + "sums = cc.exchange.server_sums(messages, problem.covariance)\n"
        + f"frame = sums.returned({agent})\nprint(frame)\n",
    )


# Leaving -----------------------------------------------------------------------------------------


def leaving(scenario: cc.Scenario, problem: cc.Problem, agent: int) -> None:
    frame = cc.whatif.without(problem, agent, scenario.n)
    warn_of_few_samples(scenario, problem)
    others = frame[(frame["agent"] != agent + 1) & (frame["before"] > 0)]
    mine = frame.loc[agent]
    lost = np.setdiff1d(problem.views[agent], np.concatenate(
        [np.empty(0, int), *(view for i, view in enumerate(problem.views) if i != agent)]
    ))  # fmt: skip
    if others.empty:
        words(
            f"**Nobody but agent {agent + 1} has a model here: its leaving changes nothing for "
            "others.**"
        )
        return
    hurt = others.loc[others["rise"].idxmax()]
    said = [
        f"**If agent {agent + 1} leaves, agent {int(hurt['agent'])} is hurt most: its error "
        f"rises by {hurt['rise']:.1%}.** On average the others' rises by "
        f"{others['rise'].mean():.1%}."
        if hurt["rise"] > 5e-4
        else f"**Nobody else would notice if agent {agent + 1} left.**"
    ]
    if mine["before"] > 0:
        said.append(f"Its own error, alone again, becomes {1 + mine['rise']:.1f} times as large.")
    if lost.size:
        names = ", ".join(f"x{j + 1}" for j in lost[:6])
        said.append(f"Nobody else sees {names}: the model for all features is lost with it.")
    words(" ".join(said))
    show(
        figures.rise_by_agent(
            frame, agent + 1, title=f"How much worse the others get without agent {agent + 1}"
        ),
        key="leaving",
        alt="Expected error of every agent before and after one leaves.",
        frame=frame,
        formula=LEAVING_FORMULA,
        code=scenario_code(scenario)
        + f"frame = cc.whatif.without(scenario.problem(), leaving={agent}, n=scenario.n)\n"
        + "print(frame)\n",
    )


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

main()
