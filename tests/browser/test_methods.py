"""Methods & messages in a real browser: step through the exchange, download, read back."""

import csv
import io
import zipfile

import numpy as np
import pytest
from playwright.sync_api import expect

import collab_core as cc
from collab_core.exchange.messages import Message

from .screen import SMALL, address, figures, numbers, settled, slider

pytestmark = pytest.mark.browser


def test_n_moves_the_imputation_methods_to_the_right(server, page):
    page.goto(address(server, "methods"))
    settled(page, 2)

    def places():
        return {name: x[0] for name, x, _, _ in figures(page)[0][1]}

    before = places()
    slider(page, "Samples per agent n").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**n=200**")
    page.wait_for_function(
        "before => document.querySelector('.js-plotly-plot').data"
        ".find(trace => trace.name === 'Imputation').x[0] > before",
        arg=before["Imputation"],
    )
    after = places()
    assert {name for name in after if after[name] != before[name]} == {
        "Imputation",
        "RW-Imputation",
    }


def test_the_exchange_step_by_step_and_its_files(server, page):
    page.goto(address(server, "methods", part="exchange", agent="1", heard="1"))
    settled(page, 3)
    assert len(numbers(page, 1, 0, "z")) == SMALL.d
    slider(page, "Messages that the server has added up").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**heard=2**")
    expect(page.get_by_text("Server, 2 of 5 messages")).to_be_visible()
    settled(page, 3)
    with page.expect_download() as download:
        page.get_by_role("button", name="Message of agent 2 (JSON)").click()
    message = Message.load(download.value.path(), SMALL.d)
    problem = SMALL.problem()
    sent = cc.exchange.messages_of(problem, cc.simulate.draw_moments(problem, SMALL.n, 1))
    np.testing.assert_array_equal(message.covariance, sent[1].covariance)
    # What the figure of models shows as sent is what the file holds.
    assert numbers(page, 2, 1) == pytest.approx(message.theta.tolist())
    with page.expect_download() as download:
        page.get_by_role("button", name="All messages (zip)").click()
    archive = zipfile.ZipFile(download.value.path())
    read = [Message.from_json(archive.read(name).decode(), SMALL.d) for name in archive.namelist()]
    back = cc.exchange.server_sums(read, problem.covariance).returned(1)
    assert numbers(page, 2, 2) == pytest.approx(back.tolist())


def test_leaving_and_its_csv(server, page):
    page.goto(address(server, "methods"))
    settled(page, 2)
    page.get_by_role("radio", name="If an agent leaves").click()
    page.wait_for_url("**part=leaving**")
    settled(page, 1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Data", exact=True).click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    rises = sorted((float(row["rise"]) for row in rows if row["agent"] != "1"), reverse=True)
    assert numbers(page, 0, 0) == pytest.approx(rises)
