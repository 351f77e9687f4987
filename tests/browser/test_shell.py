"""What a person does, in a real browser: open, drag, click, go back, share."""

import json
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import collab_core as cc

from .conftest import DESK, PHONE
from .screen import SMALL, address, figures, settled, slider

pytestmark = pytest.mark.browser


def test_deep_link_is_the_first_request_of_a_fresh_server(fresh_server, page):
    page.goto(address(fresh_server))
    expect(page.get_by_role("heading", level=1)).to_have_text("Playground")
    settled(page, 5)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    # app.py drew the navigation, not Streamlit's old page mode (which would call it "app").
    expect(page.get_by_role("link", name="app", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="Start")).to_be_visible()


def test_a_control_changes_url_and_figure_and_back_undoes_it(server, page):
    page.goto(address(server))
    settled(page, 5)
    before = figures(page)
    slider(page, "Features of the others").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**size=4**")
    settled(page, 5)
    after = figures(page)
    assert after != before
    page.go_back()
    page.wait_for_url("**size=3**")
    expect(slider(page, "Features of the others")).to_have_attribute("aria-valuetext", "3")
    settled(page, 5)
    assert figures(page) == before
    page.go_forward()
    page.wait_for_url("**size=4**")
    page.reload()
    settled(page, 5)
    assert figures(page) == after


def test_a_shared_link_reproduces_the_same_numbers(server, page, browser):
    # Some see everything, so that no new seed leaves a feature unseen.
    page.goto(address(server, rich_size="6"))
    settled(page, 5)
    page.get_by_role("button", name="New seed").click()
    # The seed itself, not its first digit: one new seed in nine begins with 4.
    page.wait_for_function("new URLSearchParams(location.search).get('seed') !== '4'")
    settled(page, 5)
    page.get_by_role("button", name="Share this screen").click()
    shared = page.locator("[data-testid=stPopoverBody] [data-testid=stCode]").first.inner_text()
    assert urlsplit(shared).path == "/playground"
    assert parse_qs(urlsplit(shared).query) == parse_qs(urlsplit(page.url).query)
    expected = figures(page)
    with browser.new_context(viewport={"width": 1280, "height": 800}) as other:
        friend = other.new_page()
        friend.goto(shared.strip())
        settled(friend, 5)
        assert figures(friend) == expected


def test_a_preset_opens_from_the_gallery(server, page):
    page.goto(server)
    page.get_by_role("link", name="Satellites in three tiers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Playground")
    settled(page, 5)
    assert "missing=tiers" in page.url
    # Going back to the start and on again keeps the world.
    page.get_by_role("link", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What is it worth to learn together?")
    page.get_by_role("link", name="Playground", exact=True).click()
    settled(page, 5)
    assert "missing=tiers" in page.url


def test_a_click_on_a_square_switches_a_feature(server, page):
    page.goto(address(server))
    settled(page, 5)
    chart = page.locator(".js-plotly-plot").nth(2)
    mask = cc.views.as_mask(SMALL.views, SMALL.d)
    # The square of agent 1, feature 1, where Plotly drew it.
    square = chart.locator(".points path").first
    chart.scroll_into_view_if_needed()
    box = square.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**missing=mask**")
    text = parse_qs(urlsplit(page.url).query)
    found, _ = cc.Scenario.from_query({name: values[0] for name, values in text.items()})
    changed = cc.views.as_mask(found.views, found.d)
    assert changed[0, 0] != mask[0, 0]
    changed[0, 0] = mask[0, 0]
    assert (changed == mask).all()


def test_the_csv_holds_the_figures_numbers(server, page):
    page.goto(address(server))
    settled(page, 5)
    with page.expect_download() as download:
        page.get_by_role("button", name="Data", exact=True).nth(1).click()
    table = pd.read_csv(download.value.path())
    assert list(table) == ["method", "error", "floor"]
    drawn = figures(page)[1][1][0][1]
    drawn = drawn if isinstance(drawn, list) else list(json.loads(json.dumps(drawn)).values())
    errors = cc.whatif.comparison(SMALL.problem(), SMALL.n)["error"]
    assert table["error"].tolist() == pytest.approx(errors.tolist())
    assert len(drawn) >= 1


def test_a_simulation_runs_live_and_stops_when_the_world_changes(server, page):
    page.goto(address(server, n="50"))
    settled(page, 5)
    page.get_by_text("Check it by simulation").click()
    page.get_by_role("button", name="Simulate 400 trials").click()
    expect(page.locator(".js-plotly-plot")).to_have_count(6)
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    assert "400 simulated trials" in figures(page)[5][0]
    slider(page, "Noise sigma").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("button", name="Simulate 400 trials")).to_be_visible()


def test_the_story_by_arrow_keys_in_a_lecture(server, page):
    page.goto(f"{server}/?lecture=1")
    expect(page.get_by_text("Step 1 of 6")).to_be_visible()
    settled(page, 1)
    expect(page.locator("[data-testid=stSidebar]")).to_have_count(0)
    for step in range(2, 7):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_text(f"Step {step} of 6")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Step 5 of 6")).to_be_visible()
    page.wait_for_url("**step=5**")
    size = page.get_by_text("Step 5 of 6").evaluate("node => getComputedStyle(node).fontSize")
    assert float(size.removesuffix("px")) >= 22


def test_a_lesson_is_one_figure_with_one_slider(server, page):
    page.goto(address(server, controls="n", figure="worth"))
    settled(page, 1)
    expect(page.locator("[data-testid=stSidebar]")).to_have_count(0)
    before = figures(page)
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**n=200**")
    settled(page, 1)
    assert figures(page) != before
    assert "controls=n" in page.url


def test_keyboard_alone_reaches_everything(server, page):
    page.goto(address(server))
    settled(page, 5)
    wanted = {"Playground", "Features d", "New seed", "Reset", "Share this screen", "Data",
              "Formula and code", "Change it as a grid", "Check it by simulation"}  # fmt: skip
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        label = page.evaluate(
            "(node => node.getAttribute('aria-label') || node.innerText || '')"
            "(document.activeElement)"
        )
        reached |= {name for name in wanted if name in label.splitlines()}
        if reached == wanted:
            break
    assert reached == wanted


#: Pages with what is clicked there, and how many charts there are then.
SCREENS = {
    "": {"": 1},
    "playground": {"": 5},
    "ellipses": {"": 1, "Weights lab": 2},
    "error_vs_n?trials=5": {"": 2},
    "lower_bounds": {"": 1},
    "methods": {"": 2},
    "what_if?trials=20": {"": 2, "Robustness": 1, "Census": 1, "What to measure": 2},
    "census": {"": 3},
    "your_data": {"": 2, "Checks": 2},
    "beyond_linear?d=6&m=5&rich=2&rich_size=5&size=3&trials=5": {"": 2, "Census": 1},
    "beyond_gaussian?to=200&trials=10&draws=1&sets=10&most=1000": {
        "": 2, "The cost": 3, "The map": 2, "Unlabelled": 1
    },
}  # fmt: skip


@pytest.mark.parametrize("path", SCREENS)
def test_every_screen_by_day_by_night_and_on_a_phone(server, page, path):
    """One visit: nothing is fetched from outside, axe is content, and a phone can use it."""
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{server}/{path}")
    for clicked, charts in SCREENS[path].items():
        if clicked:
            page.get_by_test_id("stMain").get_by_text(clicked, exact=True).click()
            # Colours change slowly under a pointer and after it.
            page.mouse.move(640, 790)
            page.wait_for_timeout(400)
        settled(page, charts)
        assert_accessible(page)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"{BACKGROUND} !== 'rgb(255, 255, 255)'")
        settled(page, charts)
        # Only colours are others by night.
        assert_accessible(page, ["color-contrast"])
        page.set_viewport_size(PHONE)
        assert_fits(page)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(DESK)
        page.wait_for_function(f"{BACKGROUND} === 'rgb(255, 255, 255)'")
    assert [url for url in requests if not url.startswith((server, "data:", "blob:"))] == []


BACKGROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"


def assert_fits(page) -> None:
    """Nothing is wider than the screen, and the page begins where it should."""
    expect(page.locator("[data-testid=stSidebar][aria-expanded=true]")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    # Charts are drawn anew at their new width.
    page.wait_for_function(
        "[...document.querySelectorAll('.js-plotly-plot')]"
        ".every(plot => plot.getBoundingClientRect().right <= window.innerWidth)"
    )
    overflow = page.evaluate(
        "document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth"
    )
    assert overflow <= 0


def assert_accessible(page, rules: list[str] | None = None) -> None:
    """Axe finds nothing serious that is ours, by all of its rules or by some."""
    # Streamlit's own navigation puts headings into a list, and we cannot change it.
    ours = {"exclude": [["[data-testid=stSidebarNav]"]]}
    which = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found = Axe().run(page, context=ours, options=which).response["violations"]
    serious = {
        (violation["id"], node["html"][:300])
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    }
    assert serious == set()


def test_quick_keys_are_all_heard(server, page):
    page.goto(address(server, n="1"))
    settled(page, 5)
    slider(page, "Samples per agent n").focus()
    # Faster than the page redraws: no press may be undone by an answer to an earlier one.
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
    page.wait_for_url("**n=10000&**")
    settled(page, 5)
    expect(slider(page, "Samples per agent n")).to_have_attribute("aria-valuetext", "10,000")
