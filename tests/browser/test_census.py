"""Census in a real browser: pick a target, read the figure's numbers, load files of one's own."""

import csv
import io

import pytest
from playwright.sync_api import expect

from tests.bureau import records

from .screen import figures, numbers, settled

pytestmark = pytest.mark.browser


def test_another_target_and_its_csv(server, page):
    page.goto(f"{server}/census")
    settled(page, 3)
    assert "On 10,567 people of IL" in figures(page)[1][0]
    page.get_by_role("combobox", name="Whose commute").click()
    page.get_by_role("option", name="NY", exact=True).click()
    page.wait_for_url("**target=NY**")
    expect(page.get_by_text("people of NY").first).to_be_visible()
    settled(page, 3)
    with page.expect_download() as download:
        page.get_by_role("button", name="Data", exact=True).nth(1).click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert numbers(page, 1, 0, "x") == pytest.approx([float(row["relative"]) for row in rows])


def test_files_of_ones_own_are_read_and_used(server, page, tmp_path):
    path = tmp_path / "people.csv"
    records(3000).to_csv(path, index=False)
    page.goto(f"{server}/census?part=data")
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.get_by_text("people of CA, IL, NY were read")).to_be_visible()
    page.get_by_role("radio", name="Who gains").click()
    settled(page, 3)
    expect(page.get_by_text("my 1 file").first).to_be_visible()
