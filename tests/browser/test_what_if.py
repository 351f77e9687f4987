"""What if, as a person uses it: stop a run, go to the census, see names and numbers."""

import pytest
from playwright.sync_api import expect

from .screen import figures, settled

pytestmark = pytest.mark.browser


def test_a_run_is_stopped_and_the_census_is_asked(server, page):
    # The paper's world and 1,000 trials: long enough to be seen at work.
    page.goto(f"{server}/what_if?part=robust&trials=1000")
    main = page.get_by_test_id("stMainBlockContainer")
    # The first trials are drawn while the others run.
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    # Streamlit's own header has a Stop too, while its script runs.
    main.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("What was computed is kept")).to_be_visible()
    settled(page, 1)
    assert "COLLAB" in {trace[0] for trace in figures(page)[0][1]}
    main.get_by_text("Census", exact=True).click()
    page.wait_for_url("**world=census**")
    expect(page.get_by_text("Illinois's own model")).to_be_visible()
    # The sidebar's world has no say here, so its controls are gone.
    expect(page.get_by_role("slider", name="Features d")).to_have_count(0)
    main.get_by_text("Who helps whom", exact=True).click()
    settled(page, 2)
    assert "Illinois" in figures(page)[0][1][0][1]
