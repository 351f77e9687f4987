"""Beyond Gaussian in a real browser: another law, a long run with Stop, the figure's numbers."""

import csv
import io

import pytest
from playwright.sync_api import expect

from .screen import address, figures, numbers, settled, slider

pytestmark = pytest.mark.browser

RUN_AGAIN = {"name": "Run again"}


def test_another_law_and_its_csv(server, page):
    page.goto(address(server, "beyond_gaussian", part="cost"))
    settled(page, 3)
    before = figures(page)
    page.get_by_role("combobox", name="Law of the features").click()
    page.get_by_role("option", name="Outliers", exact=True).click()
    page.wait_for_url("**law=outliers**")
    expect(page.get_by_text("(outliers, agent 1's own)")).to_be_visible()
    settled(page, 3)
    assert figures(page) != before
    slider(page, "Outliers' spread over the others'").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**wider=5**")
    expect(page.get_by_text("Outliers (5)").first).to_be_visible()
    settled(page, 3)
    with page.expect_download() as download:
        page.get_by_role("button", name="Data", exact=True).nth(1).click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    losses = [float(row["loss"]) for row in rows]
    # Bars are drawn from below, the dearest law on top.
    assert numbers(page, 1, 0, "x") == pytest.approx(losses[::-1])


def test_a_long_run_shows_progress_and_stops(server, page):
    page.goto(f"{server}/beyond_gaussian?trials=400&to=10000")
    stop = page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    expect(page.get_by_text("% done")).to_be_visible()
    # Theory is there before the first trial.
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.get_by_text("trials so far")).to_be_visible()
    stop.click()
    expect(page.get_by_text("What was computed is kept")).to_be_visible()
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 2)
    trials = page.get_by_text("trials so far")
    assert 0 < int(trials.inner_text().split()[0]) < 400
