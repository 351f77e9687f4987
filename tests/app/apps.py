"""Helpers of the page tests: open a page, read its figures, run the code beside them."""

import base64
import contextlib
import io
import json
import math
import time
from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

import collab_core as cc

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("*.py"))


def open_page(page: str, query: dict[str, str] | None = None) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in (query or {}).items():
        app.query_params[name] = value
    app.switch_page(page)
    return app.run()


def figures_of(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def assert_finite(value) -> None:
    if isinstance(value, dict):
        if "bdata" in value:
            raw = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
            assert np.isfinite(raw.astype(float)).all()
            return
        for item in value.values():
            assert_finite(item)
    elif isinstance(value, list):
        for item in value:
            assert_finite(item)
    elif isinstance(value, float):
        assert math.isfinite(value)


def assert_sound(app: AppTest, least: int = 1) -> list[dict]:
    assert not app.exception, [error.value for error in app.exception]
    specs = figures_of(app)
    assert len(specs) >= least
    for spec in specs:
        assert spec["data"]
        assert spec["layout"]["title"]["text"]
        assert_finite(spec)
        for text in ("nan", "inf"):
            assert text not in spec["layout"]["title"]["text"].lower().split()
    for block in app.markdown:
        assert " nan" not in block.value.lower()
    return specs


def assert_put_right(app: AppTest, sentence: str) -> None:
    """A link's wrong value is said in a notice, and the page goes on."""
    assert not app.exception
    assert any(sentence in info.value for info in app.info), [info.value for info in app.info]


def param(app: AppTest, name: str) -> str:
    """A query parameter; AppTest holds lists before a run and strings after it."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[-1]


def scenario_of(app: AppTest) -> cc.Scenario:
    return app.session_state["scenario"]


def run_snippet(code: str):
    namespace: dict = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, namespace)
    assert out.getvalue().strip()
    return namespace["frame"]


def snippets(app: AppTest) -> list[str]:
    return [block.value for block in app.code if block.value.startswith("import collab_core")]


def csv_frames(monkeypatch) -> dict[str, pd.DataFrame]:
    """What the pages hand to their figure panels, by key."""
    from pages.shared import figure

    frames = {}
    original = figure._beside

    def spy(key, frame, formula, code):
        frames[key] = (frame, code)
        assert formula.strip()
        original(key, frame, formula, code)

    monkeypatch.setattr(figure, "_beside", spy)
    return frames


def compare(key: str, frame: pd.DataFrame, found: pd.DataFrame) -> None:
    """Numbers of a figure against those that its snippet prints."""
    for name in frame.select_dtypes("number").columns:
        given, again = (table[name].astype(float) for table in (frame, found))
        np.testing.assert_allclose(given, again, rtol=1e-9, err_msg=key)


def wait_for(app: AppTest, done, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.1)
        app.run()


def finished(app: AppTest, key: str) -> AppTest:
    """Wait until the run panel of this key is done."""
    wait_for(app, lambda: any(button.key == f"again-{key}" for button in app.button))
    return app


def said(app: AppTest) -> str:
    """All running text of a page."""
    return "\n".join(block.value for block in [*app.markdown, *app.caption])


#: Worlds at the edge: one agent, one feature, everything seen, n below views, tiny and huge noise.
ODD_WORLDS = {
    "one of each": {"d": "1", "m": "1", "spikes": "0", "rich": "0", "size": "1"},
    "one agent": {"d": "5", "m": "1", "rich": "1", "rich_size": "5"},
    "one feature": {"d": "1", "m": "6", "rich": "6", "rich_size": "1"},
    "all seen": {"d": "4", "m": "3", "missing": "independent", "p": "0"},
    "n below views": {"d": "8", "m": "4", "rich": "1", "rich_size": "8", "size": "3", "n": "5"},
    "n = 1": {"d": "4", "m": "3", "rich": "1", "rich_size": "4", "size": "2", "n": "1"},
    "little noise": {"d": "5", "m": "3", "sigma": "0.01", "rich": "1", "rich_size": "5"},
    "much noise": {"d": "5", "m": "3", "sigma": "100", "rich": "1", "rich_size": "5"},
    "some see nothing": {"d": "6", "m": "4", "missing": "hub", "size": "0"},
    "theta is zero": {"d": "5", "m": "3", "rich": "1", "rich_size": "5", "theta_scale": "0"},
    "unequal": {"d": "6", "m": "5", "missing": "hub", "size": "3", "allocation": "narrow",
                "ratio": "100"},
    "wide": {"d": "40", "m": "3", "missing": "hub", "size": "20"},
}  # fmt: skip
