"""Your data in a real browser: the whole way from an upload to a report that opens offline."""

import json

import pandas as pd
import pytest
from playwright.sync_api import expect

import collab_core as cc
from tests.tabular.tables import world

from .conftest import DESK, PHONE
from .screen import figures, settled

pytestmark = pytest.mark.browser


# What is written on the axes of every figure lies inside of its picture.
NOTHING_IS_CUT = """() => [...document.querySelectorAll('.js-plotly-plot')].every(plot => {
    const room = plot.querySelector('svg.main-svg').getBoundingClientRect();
    const texts = plot.querySelectorAll('.xtick text, .ytick text, .xtitle, .ytitle');
    return texts.length > 6 && [...texts].every(text => {
        const box = text.getBoundingClientRect();
        return box.left >= room.left - 1 && box.right <= room.right + 1
            && box.top >= room.top - 1 && box.bottom <= room.bottom + 1;
    });
})"""


def test_from_upload_to_a_report_that_opens_offline(server, page, tmp_path):
    frame, *_ = world(3, sizes=(14, 16, 40, 3000))
    frame = frame.rename(columns={"x2": "![x](http://example.org/x.png)"})
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{server}/your_data")
    settled(page, 2)
    page.get_by_role("radio", name="My own table").click()
    page.locator("input[type=file]").set_input_files(path)
    expect(page.get_by_role("combobox", name="One agent for every")).to_be_visible()
    settled(page, 2)
    assert figures(page)[0][0].startswith("Held-out error of y")
    page.get_by_role("radio", name="Take away").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Coefficients (CSV)").click()
    table = pd.read_csv(download.value.path())
    assert set(table["agent"]) == {"s0", "s1", "s2", "s3"}
    with page.expect_download() as download:
        page.get_by_role("button", name="Model (JSON)").click()
    assert json.loads(download.value.path().read_text())["target"] == "y"
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    # Predictions for the same table.
    page.locator("input[type=file]").last.set_input_files(path)
    expect(page.get_by_text("3,070 of 3,070 rows have a prediction")).to_be_visible()
    assert [url for url in requests if not url.startswith((server, "data:", "blob:"))] == []
    # The report without a network, and without asking for one.
    page.context.set_offline(True)
    try:
        requests.clear()
        page.goto(report.as_uri())
        expect(page.locator(".js-plotly-plot")).to_have_count(2)
        expect(page.get_by_role("heading", level=1)).to_contain_text("y by site")
        assert len(figures(page)[0][1]) == len(cc.tabular.compared())
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            page.wait_for_function(NOTHING_IS_CUT)
        assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    finally:
        page.set_viewport_size(DESK)
        page.context.set_offline(False)


def test_a_bad_file_and_then_a_good_one(server, page, tmp_path):
    bad, good = tmp_path / "bad.csv", tmp_path / "good.csv"
    bad.write_bytes(b"PK\x03\x04 not a table")
    world()[0].to_csv(good, index=False)
    page.goto(f"{server}/your_data?table=own")
    page.locator("input[type=file]").set_input_files(bad)
    expect(page.get_by_text("is a zip archive or an Excel workbook")).to_be_visible()
    page.get_by_role("button", name="Remove bad.csv").click()
    page.locator("input[type=file]").set_input_files(good)
    settled(page, 2)


def test_an_agent_called_like_an_address_is_no_link(server, page, tmp_path):
    frame, *_ = world(3, sizes=(14, 16, 40, 3000))
    frame["site"] = frame["site"].replace({"s0": '<a href="http://e.org">C</a>', "s1": "a@e.org"})
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False)
    page.goto(f"{server}/your_data?table=own")
    page.locator("input[type=file]").set_input_files(path)
    settled(page, 2)
    main = page.get_by_test_id("stMain")
    expect(main.get_by_text("e.org").first).to_be_visible()
    assert main.locator("a[href*='e.org']").count() == 0
