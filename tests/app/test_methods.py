"""Methods & messages: odd worlds, every part, and numbers that agree with the library's."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

import collab_core as cc
from collab_core.exchange.messages import Message
from collab_core.methods.collab import Collab
from collab_core.words import methods as say

from .apps import (
    ODD_WORLDS,
    assert_sound,
    compare,
    csv_frames,
    figures_of,
    open_page,
    param,
    run_snippet,
    said,
)

PAGE = "pages/methods.py"
SMALL = cc.Scenario(d=5, m=4, rich=2, rich_size=4, size=3, spikes=1, seed=2)


@pytest.mark.parametrize("part", ["table", "exchange", "leaving"])
@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds(name, part):
    app = open_page(PAGE, ODD_WORLDS[name] | {"part": part})
    nobody_else = part == "leaving" and int(ODD_WORLDS[name]["m"]) == 1
    alone = "Nobody but agent" in said(app)
    assert_sound(app, least=0 if nobody_else or alone or app.error else 1)
    assert not app.error or part == "exchange"
    last = str(int(ODD_WORLDS[name]["m"]) - 1)
    assert_sound(open_page(PAGE, ODD_WORLDS[name] | {"part": part, "agent": last}), least=0)


@pytest.mark.parametrize("part", ["table", "exchange", "leaving"])
@pytest.mark.parametrize("whose", ["own", "full"])
def test_snippets_print_the_figures_numbers(monkeypatch, part, whose):
    frames = csv_frames(monkeypatch)
    choices = {"part": part, "whose": whose, "agent": "1", "heard": "2"}
    open_page(PAGE, SMALL.to_query() | choices)
    keys = {"table": {"bytes", "matrix"}, "exchange": {"message", "server", "returned"},
            "leaving": {"leaving"}}[part]  # fmt: skip
    assert set(frames) == keys
    for key, (frame, code) in frames.items():
        compare(key, frame, run_snippet(code))


def test_the_table_has_formulas_beside_numbers():
    app = open_page(PAGE, SMALL.to_query())
    table = next(block.value for block in app.markdown if block.value.startswith("| Method"))
    rows = {line.split("|")[1].strip(): line for line in table.splitlines()[2:]}
    assert len(rows) == len(cc.whatif.tabled())
    frame = cc.whatif.method_table(SMALL.problem(), SMALL.n, 0).set_index("method")
    for key, row in frame.iterrows():
        line = rows[cc.methods.get(key).label]
        assert f"| {row['up']:,} | {row['down']:,} |" in line
        if pd.notna(row["full_trace"]):
            assert f"{row['full_trace']:.3g}" in line
    assert "\\Theta(d_i^2)" in rows["COLLAB"]


def test_n_moves_only_what_imputation_sends():
    def places(n):
        app = open_page(PAGE, SMALL.to_query() | {"n": str(n)})
        return {trace["name"]: trace["x"] for trace in figures_of(app)[0]["data"]}

    few, many = places(100), places(10_000)
    assert {name for name in few if few[name] != many[name]} == {"Imputation", "RW-Imputation"}


def test_the_message_is_a_file_that_reads_back(monkeypatch):
    files = {}
    import streamlit as st

    original = st.download_button

    def spy(label, data, file_name=None, *args, **kwargs):
        files[file_name] = data
        return original(label, data, file_name, *args, **kwargs)

    monkeypatch.setattr(st, "download_button", spy)
    open_page(PAGE, SMALL.to_query() | {"part": "exchange", "agent": "2", "data": "3"})
    problem = SMALL.problem()
    sent = cc.exchange.messages_of(problem, cc.simulate.draw_moments(problem, SMALL.n, 3))
    message = Message.from_json(files["collab-message-3.json"](), problem.dimension)
    assert (message.theta == sent[2].theta).all()
    assert json.loads(files["collab-message-3.json"]())["format"] == "collab-message/1"
    archive = zipfile.ZipFile(io.BytesIO(files["collab-messages.zip"]()))
    assert len(archive.namelist()) == problem.agents
    read = [Message.from_json(archive.read(name).decode()) for name in archive.namelist()]
    assert (cc.exchange.server_sums(read, problem.covariance).theta() ==
            cc.exchange.server_sums(sent, problem.covariance).theta()).all()  # fmt: skip


def test_the_notebook_code_runs_on_the_downloaded_files(tmp_path, monkeypatch):
    problem = cc.Scenario(d=5, m=6, rich=6, rich_size=4, seed=1).problem()
    sent = cc.exchange.messages_of(problem, cc.simulate.draw_moments(problem, 200, 1))
    folder = tmp_path / "messages"
    folder.mkdir()
    for i, message in enumerate(sent):
        message.save(folder / f"collab-message-{i + 1}.json")
    app = open_page(PAGE, SMALL.to_query() | {"part": "exchange"})
    code = next(block.value for block in app.code if "Message.load" in block.value)
    monkeypatch.chdir(tmp_path)
    namespace = {}
    exec(code, namespace)
    direct = cc.estimators.collab(namespace["moments"], problem.views, namespace["sigma"])
    np.testing.assert_allclose(namespace["estimate"].local(0), direct.local(0), rtol=1e-9)


def test_messages_are_added_up_one_by_one():
    titles = []
    for heard in range(5):
        query = SMALL.to_query() | {"part": "exchange", "heard": str(heard)}
        app = open_page(PAGE, query)
        titles.append(figures_of(app)[1]["layout"]["title"]["text"])
        assert heard == 4 or param(app, "heard") == str(heard)
    assert titles[0] == "Server, 0 of 4 messages: 0 of 5 features known"
    assert titles[4] == "Server, 4 of 4 messages: 5 of 5 features known"


def test_leaving_is_said_in_words():
    app = open_page(PAGE, SMALL.to_query() | {"part": "leaving", "agent": "1"})
    frame = cc.whatif.without(SMALL.problem(), 1, SMALL.n)
    others = frame[frame["agent"] != 2]
    hurt = others.loc[others["rise"].idxmax()]
    assert f"agent {int(hurt['agent'])} is hurt most" in said(app)
    assert f"{hurt['rise']:.1%}" in said(app)


# The page as modules, and sentences without a browser --------------------------------------------


def test_the_page_is_imported_without_being_drawn():
    from pages import methods

    assert list(methods.PARTS) == ["table", "exchange", "leaving"]


def table(n=SMALL.n, agent=0):
    return cc.whatif.method_table(SMALL.problem(), n, agent)


def test_a_message_is_weighed_against_the_data():
    frame = table()
    message, data = (
        int(frame.set_index("method").loc[key, "up"]) for key in ("collab", "rw_imputation")
    )
    assert f"sends {message:,} numbers for it instead of {data:,}" in say.compared(frame, 100, 0)
    assert "data are no larger than its message" in say.compared(table(n=1), 1, 0)
    nobody = cc.Scenario(d=3, m=2, missing="mask", mask=("000", "111"), spikes=0).problem()
    seen = cc.whatif.method_table(nobody, 100, 0)
    assert say.compared(seen, 100, 0).startswith("**Agent 1 sees nothing and sends nothing")


def test_the_corner_names_who_is_in_it():
    frame = table()
    collab = frame["method"] == "collab"

    def with_rival(rival, share):
        other = frame.copy()
        other["own_error"] = other["own_error"].max()
        other.loc[collab, "own_error"] = 1.0
        other.loc[other["method"] == rival, ["own_error", "bytes"]] = [share, 1]
        return say.corner(other, "own")

    assert with_rival("collab_plus", 0.5) == "COLLAB, COLLAB+: in the good and cheap corner"
    assert with_rival("collab_plus", 0.9999) == "COLLAB: in the good and cheap corner"
    assert with_rival("naive_collab", 0.5) == "At this n, Naive-Collab is cheaper and better"


@pytest.mark.parametrize(
    ("together", "sentence"),
    [
        (0.5, "4.0 times smaller** (0.5 together, 2 alone)"),
        (3.0, "larger this time**"),
        (2.0, "the same: it has nobody to learn from**"),
    ],
)
def test_what_comes_back_in_a_sentence(together, sentence):
    assert sentence in say.returned(3, 2.0, together)


def test_messages_that_do_not_count_are_named_from_one():
    assert say.skipped([0]).startswith("Not counted: agent 1, with")
    assert say.skipped([0, 4]).startswith("Not counted: agents 1, 5, with")
    assert "8 and more, with" in say.skipped(list(range(9)))


def test_a_feature_that_nobody_else_sees_is_lost():
    problem = cc.Scenario(d=3, m=2, missing="mask", mask=("110", "011"), spikes=0).problem()
    only = cc.whatif.seen_only_by(problem, 0).tolist()
    assert only == [0]
    sentence = say.leaving(cc.whatif.without(problem, 0, 100), 0, only)
    assert "agent 2 is hurt most" in sentence
    assert "Nobody else sees x1: the model for all features is lost with it." in sentence


def test_a_registered_method_has_its_row_of_table_1():
    class New(Collab):
        key = "new"
        label = "A new method"
        formulas = cc.methods.Formulas("$C_{new}$", "$T_i C_{new} T_i'$", "$\\Theta(1)$")

    with cc.methods.registered(New):
        app = open_page(PAGE, SMALL.to_query() | {"seed": "77"})
        assert_sound(app, least=2)
        text = next(block.value for block in app.markdown if block.value.startswith("| Method"))
        assert "A new method" in app.selectbox(key="option-method").options
    (line,) = [line for line in text.splitlines() if line.startswith("| A new method")]
    for part in ("$C_{new}$", "$T_i C_{new} T_i'$", "$\\Theta(1)$"):
        assert part in line
