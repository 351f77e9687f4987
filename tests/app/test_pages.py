"""Every page with AppTest: no exception, a finished figure, nothing that is not a number."""

import json
import math
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("*.py"))


def open_page(page: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()
    return app.switch_page(page).run()


def figures_of(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def assert_finite(value) -> None:
    if isinstance(value, dict):
        for item in value.values():
            assert_finite(item)
    elif isinstance(value, list):
        for item in value:
            assert_finite(item)
    elif isinstance(value, float):
        assert math.isfinite(value)


@pytest.mark.parametrize("page", PAGES)
def test_page_opens_with_finished_figures(page):
    app = open_page(page)
    assert not app.exception
    specs = figures_of(app)
    assert specs
    for spec in specs:
        assert spec["data"]
        assert spec["layout"]["title"]["text"]
        assert_finite(spec)
