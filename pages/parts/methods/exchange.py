"""The exchange, step by step: a message, the server's sums, what comes back."""

from __future__ import annotations

import numpy as np
import streamlit as st

import collab_core as cc
from collab_core import figures
from collab_core.exchange import ServerSums, zipped
from collab_core.exchange.messages import Message
from collab_core.words import methods as say
from pages.shared import options
from pages.shared.figure import columns, show
from pages.shared.say import error_box, words
from pages.shared.script import Script


def draw(scenario: cc.Scenario, problem: cc.Problem, agent: int, script: Script) -> None:
    """The whole part; ``script`` ends with the problem."""
    if scenario.n * problem.shares.min() < 1:
        error_box(say.no_sample(scenario.n))
        return
    seed, heard = choices(problem)
    begun = script.branch()
    moments = begun.run("moments", cc.simulate.draw_moments, problem, scenario.n, seed)
    sent = begun.run("messages", cc.exchange.messages_of, problem, moments)
    added = begun.branch()
    sums = added.run("sums", cc.exchange.server_sums, sent, problem.covariance)
    if not sent[agent].view.size:
        error_box(say.no_message(agent))
        show_server(sums, heard, added)
        return
    words(say.sent(sent[agent], agent, sums.used[agent]))
    left, right = columns("message", "server", sizes=[1, 1])
    with left:
        show_message(sent, agent, begun)
        downloads(sent, agent)
    with right:
        show_server(sums, heard, added)
    show_returned(problem, sent, sums, agent, added)


def choices(problem: cc.Problem) -> tuple[int, int]:
    """Controls: which data set, and how many messages the server has heard."""
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
    return seed, heard


def show_message(sent: list[Message], agent: int, begun: Script) -> None:
    """What the agent sends; ``begun`` ends with all messages."""
    script = begun.branch()
    message = script.item("message", sent, agent)
    script.read("frame", message, "frame")
    show(
        figures.matrix_with_column(
            message.covariance, message.theta, [f"x{j + 1}" for j in message.view],
            ("covariance", "model"), title=f"What agent {agent + 1} sends",
        ),
        script,
        key="message",
        name="What an agent sends",
        alt="Heatmap of the covariance that the agent sends.",
        formula=say.MESSAGE_FORMULA,
    )  # fmt: skip


def downloads(sent: list[Message], agent: int) -> None:
    """The messages as files, and how to go on with them."""
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
        st.code(say.NOTEBOOK, language="python")


def show_server(sums: ServerSums, heard: int, begun: Script) -> None:
    """What the server holds after some messages; ``begun`` ends with its sums."""
    script = begun.branch()
    script.run("frame", sums.frame, heard)
    d = sums.rhs.shape[1]
    # Of all messages, so that colours deepen as they come in.
    limits = (
        float(np.abs(sums.information[-1]).max()) or 1.0,
        float(np.abs(sums.rhs[-1]).max()) or 1.0,
    )
    known = int(sums.determined(heard).sum())
    show(
        figures.matrix_with_column(
            sums.information[heard], sums.rhs[heard], figures.feature_names(d), ("K", "sum"),
            limits, title=say.server_title(heard, len(sums.used), known, d),
        ),
        script,
        key="server",
        name="What the server adds up",
        alt="Heatmap of the matrix K and the right-hand side that the server adds up.",
        formula=say.SERVER_FORMULA,
    )  # fmt: skip
    if sums.skipped:
        st.caption(say.skipped(sums.skipped))


def show_returned(
    problem: cc.Problem, sent: list[Message], sums: ServerSums, agent: int, begun: Script
) -> None:
    """What comes back to the agent; ``begun`` ends with the server's sums."""
    if sums.returned(agent) is None:
        error_box(say.NOTHING_BACK)
        return
    script = begun.branch()
    frame = script.run("frame", cc.exchange.sent_and_returned, problem, sent, sums, agent)
    alone, together = (
        cc.exchange.own_error(problem, agent, frame[name]) for name in ("sent", "returned")
    )
    words(say.returned(len(frame), alone, together))
    models = {
        "local": ("sent (its own fit)", frame["sent"].to_numpy()),
        "collab": ("returned (COLLAB)", frame["returned"].to_numpy()),
    }
    show(
        figures.models_of_agent(
            frame["feature"].tolist(), models, frame["best"].to_numpy(),
            title=f"Agent {agent + 1}'s model, sent and returned",
        ),
        script,
        key="returned",
        name="What comes back",
        alt="Coefficients that the agent sent, got back, and the best possible ones.",
        formula=say.RETURNED_FORMULA,
    )  # fmt: skip
