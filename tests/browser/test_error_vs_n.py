"""Error vs n in a real browser: live progress, Stop, cancel, animation, downloads."""

import csv
import io

import pytest
from playwright.sync_api import expect

from .screen import address, numbers, settled, slider

pytestmark = pytest.mark.browser

RUN_AGAIN = {"name": "Run again"}


def test_error_curves_are_drawn_at_once_and_again_when_the_world_changes(server, page):
    page.goto(address(server, "error_vs_n"))
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    settled(page, 2)
    # While a new run has nothing to show yet there is no chart, so every step may be missing.
    means = "JSON.stringify(document.querySelectorAll('.js-plotly-plot')[0]?.data?.[2]?.y)"
    before = page.evaluate(means)
    slider(page, "Noise sigma").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**sigma=2**")
    page.wait_for_function(f"before => {means} && {means} !== before", arg=before)
    settled(page, 2)


def test_a_long_run_shows_progress_sharpens_and_stops(server, page):
    # The paper's world and 2,000 trials: long enough to be seen at work.
    page.goto(f"{server}/error_vs_n?trials=2000")
    # Streamlit's own header has a Stop too, while its script runs.
    stop = page.get_by_test_id("stMainBlockContainer").get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    expect(page.get_by_text("% done")).to_be_visible()
    settled_trials = page.get_by_text(" trials; bands are")
    expect(settled_trials).to_be_visible()
    first = int(settled_trials.inner_text().split()[0])
    page.wait_for_function(
        "first => { const node = [...document.querySelectorAll('li')]"
        ".find(li => li.innerText.includes(' trials; bands are'));"
        " return node && parseInt(node.innerText) > first }",
        arg=first,
    )
    stop.click()
    expect(page.get_by_text("What was computed is kept")).to_be_visible()
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 2)
    assert first < int(settled_trials.inner_text().split()[0]) < 2000
    assert len(numbers(page, 0, 2)) == 10


def test_changing_a_control_cancels_the_old_run(server, page):
    page.goto(f"{server}/error_vs_n?trials=2000")
    expect(page.get_by_text("% done")).to_be_visible()
    trials = slider(page, "Trials")
    trials.focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("1 trial, so there are no bands")).to_be_visible()
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    assert "trials=1" in page.url


def test_the_animation_plays_pauses_and_steps(server, page):
    page.goto(address(server, "error_vs_n", part="cloud"))
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 1)
    chart = page.locator(".js-plotly-plot")
    chart.scroll_into_view_if_needed()
    value = "document.querySelector('.js-plotly-plot').layout.sliders[0].active"
    assert page.evaluate(value) == 0

    def spread() -> float:
        points = numbers(page, 0, 2, "x")
        middle = sum(points) / len(points)
        return sum((point - middle) ** 2 for point in points) / len(points)

    wide = spread()
    chart.locator(".updatemenu-button").filter(has_text="Play").click()
    page.wait_for_function(f"{value} >= 3")
    chart.locator(".updatemenu-button").filter(has_text="Pause").click()
    page.wait_for_timeout(300)
    paused = page.evaluate(value)
    page.wait_for_timeout(1500)
    assert page.evaluate(value) == paused
    assert 3 <= paused < 8
    assert spread() < wide
    # Step to the end: estimates have gathered.
    rail = chart.locator(".slider-rail-touch-rect")
    rail.click(position={"x": rail.bounding_box()["width"] - 6, "y": 12})
    page.wait_for_function(f"{value} === 8")
    page.wait_for_timeout(700)
    assert spread() < wide / 20


def test_the_first_frame_is_in_the_link(server, page):
    page.goto(address(server, "error_vs_n", part="cloud"))
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    slider(page, "Begin at n").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**at=**")
    settled(page, 1)
    assert page.evaluate("document.querySelector('.js-plotly-plot').layout.sliders[0].active") == 1


def test_the_csv_holds_the_curves(server, page):
    page.goto(address(server, "error_vs_n"))
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 2)
    with page.expect_download() as download:
        page.get_by_role("button", name="Data", exact=True).first.click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    collab = [float(row["mean"]) for row in rows if row["method"] == "collab"]
    assert numbers(page, 0, 2) == pytest.approx(collab)
