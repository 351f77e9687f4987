"""Ellipses and Lower bounds in a real browser: directions, weights, animation, the map."""

import pytest
from playwright.sync_api import expect

from .screen import address, figures, numbers, settled, slider

pytestmark = pytest.mark.browser

RUN_AGAIN = {"name": "Run again"}


def pick(page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_the_direction_picker_changes_the_plane(server, page):
    page.goto(address(server, "ellipses"))
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 1)
    before = figures(page)
    pick(page, "Plane", "Principal directions of Σ")
    page.wait_for_url("**plane=principal**")
    page.wait_for_function(
        "document.querySelector('.js-plotly-plot')?.layout?.xaxis?.title?.text"
        " === 'principal direction 1'"
    )
    settled(page, 1)
    assert figures(page) != before
    pick(page, "Plane", "My directions")
    page.get_by_role("textbox", name="First").fill("1 1 1 1 1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("must have 6 numbers, got 5")).to_be_visible()
    page.get_by_role("textbox", name="First").fill("1 1 1 1 1 1")
    page.keyboard.press("Enter")
    settled(page, 1)


def test_the_weights_lab_grows_the_ellipse(server, page):
    page.goto(address(server, "ellipses", part="lab"))
    settled(page, 2)
    expect(page.get_by_text("Every weight is optimal")).to_be_visible()

    def width() -> float:
        across = numbers(page, 0, 0, "x")
        return max(across) - min(across)

    best = width()
    slider(page, "Agent 1").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_url("**tilt1=0.3**")
    expect(page.get_by_text("more error than the optimal ones")).to_be_visible()
    settled(page, 2)
    page.get_by_role("button", name="Steepest loss").click()
    page.wait_for_url("**tilt2=**")
    settled(page, 2)
    assert width() > best
    page.get_by_role("button", name="Back to optimal").click()
    expect(page.get_by_text("Every weight is optimal")).to_be_visible()
    settled(page, 2)
    assert width() == pytest.approx(best)


def test_the_ellipses_play_and_pause(server, page):
    page.goto(address(server, "ellipses", part="play", over="n"))
    settled(page, 1)
    chart = page.locator(".js-plotly-plot")
    chart.scroll_into_view_if_needed()
    active = "document.querySelector('.js-plotly-plot').layout.sliders[0].active"
    first = page.evaluate(active)
    chart.locator(".updatemenu-button").filter(has_text="Play").click()
    page.wait_for_function(f"{active} > {first}")
    chart.locator(".updatemenu-button").filter(has_text="Pause").click()
    page.wait_for_timeout(300)
    paused = page.evaluate(active)
    page.wait_for_timeout(1200)
    assert page.evaluate(active) == paused


def test_a_click_on_the_map_goes_there(server, page):
    page.goto(address(server, "lower_bounds", part="map"))
    expect(page.get_by_role("button", **RUN_AGAIN)).to_be_visible()
    settled(page, 1)
    chart = page.locator(".js-plotly-plot")
    # The last square: the largest kappa and signal to noise.
    box = chart.locator(".points path.point").nth(55).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**condition=1000000**")
    expect(page.get_by_text("Here κ = 1e+06 and SNR =")).to_be_visible()
    assert "spectrum=geometric" in page.url
    assert "part=map" not in page.url
