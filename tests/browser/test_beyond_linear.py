"""Beyond linear in a real browser: a long run that stops, measures, and records of one's own."""

import pytest
from playwright.sync_api import expect

from tests.bureau import records

from .conftest import PHONE
from .screen import address, numbers, settled

pytestmark = pytest.mark.browser

RUN_AGAIN = {"name": "Run again"}


def test_another_measure_is_drawn_without_another_run(server, page):
    page.goto(address(server, "beyond_linear", trials="5"))
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 2)
    page.get_by_role("radio", name="accuracy").click()
    page.wait_for_url("**measure=accuracy**")
    page.wait_for_function(
        "document.querySelector('.js-plotly-plot')?.layout?.yaxis?.title?.text === 'accuracy'"
    )
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 2)
    drawn = numbers(page, 0, 1)
    assert all(0.4 < value < 1 for value in drawn)


@pytest.mark.parametrize(("part", "above"), [("models", ".gtitle"), ("calibration", ".xtitle")])
def test_on_a_phone_the_legend_covers_nothing(server, page, part, above):
    page.set_viewport_size(PHONE)
    page.goto(address(server, "beyond_linear", part=part))
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 1)
    legend = page.locator(".js-plotly-plot .legend").bounding_box()
    text = page.locator(f".js-plotly-plot {above}").bounding_box()
    assert text["y"] + text["height"] <= legend["y"]


def test_a_long_run_shows_progress_and_stops(server, page):
    page.goto(f"{server}/beyond_linear?trials=200")
    stop = page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    expect(
        page.get_by_text("trials; bands are").or_(page.get_by_text("1 trial, so"))
    ).to_be_visible(timeout=60_000)
    stop.click()
    expect(page.get_by_text("What was computed is kept")).to_be_visible(timeout=60_000)
    settled(page, 2)


def test_records_make_the_census_part_live(server, page, tmp_path):
    path = tmp_path / "people.csv"
    records(3000).to_csv(path, index=False)
    page.goto(f"{server}/beyond_linear?part=census")
    settled(page, 1)
    expect(page.get_by_text("A stored run")).to_be_visible()
    page.get_by_role("link", name="To the Census page").click()
    page.get_by_role("radio", name="Data", exact=True).click()
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_text("people of CA, IL, NY were read")).to_be_visible()
    page.get_by_role("link", name="Beyond linear").click()
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible(timeout=60_000)
    settled(page, 2)
    expect(page.get_by_text("my 1 file")).to_be_visible()
    expect(page.get_by_text("A stored run")).to_have_count(0)
