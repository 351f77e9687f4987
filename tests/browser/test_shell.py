"""What holds for the whole dashboard, in a real browser."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_first_request_of_a_fresh_server(fresh_server, page):
    page.goto(fresh_server)
    expect(page.get_by_role("heading", level=1)).to_have_text("What is it worth to learn together?")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    # app.py drew the navigation, not Streamlit's old page mode (which would call it "app").
    expect(page.get_by_role("link", name="app", exact=True)).to_have_count(0)


def test_nothing_leaves_localhost(server, page):
    elsewhere = []
    page.on("request", lambda request: elsewhere.append(request.url))
    page.goto(server)
    expect(page.locator(".js-plotly-plot")).to_have_count(3)
    page.wait_for_timeout(500)
    outside = [url for url in elsewhere if not url.startswith((server, "data:", "blob:"))]
    assert outside == []
