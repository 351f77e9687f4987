"""The dashboard: what a change costs the server, and how long a person waits for it."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from streamlit.testing.v1 import AppTest

import collab_core as cc
from collab_core import figures
from tests.browser.conftest import visitor

from .timing import milliseconds, seconds, table

ROOT = Path(__file__).parents[1]

#: Runs in the page: time from a key press until a chart shows other data.
WATCH = """
() => new Promise(resolve => {
  const plot = () => document.querySelectorAll('.js-plotly-plot')[1];
  const before = JSON.stringify(plot().data[0].x);
  let pressed = 0;
  const press = () => { pressed = performance.now(); };
  document.addEventListener('keydown', press, {once: true, capture: true});
  const look = () => {
    const now = plot();
    const waited = performance.now() - pressed;
    if (pressed && waited > 20000) {
      resolve(-1);
    } else if (pressed && now && now.data && JSON.stringify(now.data[0].x) !== before) {
      resolve(waited);
    } else {
      requestAnimationFrame(look);
    }
  };
  look();
})
"""


def draw_everything(scenario: cc.Scenario) -> None:
    """All that the Playground computes and draws for a world, without Streamlit."""
    problem = scenario.problem()
    worth = cc.whatif.worth(problem, scenario.n)
    comparison = cc.whatif.comparison(problem, scenario.n)
    cc.whatif.findings(problem, scenario.n)
    figures.worth_by_agent(worth, title="")
    figures.errors_by_method(comparison, title="")
    figures.view_matrix(problem.mask, title="")
    figures.covariance_heatmap(problem.covariance, title="")
    figures.spectrum([1.0, 0.5], title="")


def server_time() -> None:
    base = cc.Scenario()
    problem = base.problem()
    fresh = [base.replace(seed=seed) for seed in range(40)]
    worlds = iter(fresh)
    computed = seconds(
        lambda: (
            cc.whatif.worth((p := next(worlds).problem()), 100),
            cc.whatif.comparison(p, 100),
            cc.whatif.findings(p, 100),
        ),
        repeats=20,
    )
    drawn = seconds(lambda: draw_everything(base.replace()), repeats=20) - computed
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.switch_page("pages/playground.py").run()
    runs = []
    for n in range(101, 121):
        app.session_state["scenario"] = base.replace(n=n)
        start = time.perf_counter()
        app.run()
        runs.append(time.perf_counter() - start)
    rows = [
        ["computation: the world and every number of the page", milliseconds(computed)],
        ["five figures built on top of it", milliseconds(max(drawn, 0.0))],
        ["the whole script under Streamlit's test driver (median)", milliseconds(median(runs))],
    ]
    table(
        f"A change on the Playground, m={problem.agents}, d={problem.dimension}", ["", "time"], rows
    )


def waiting_time() -> None:
    with visitor() as (page, address):
        page.goto(f"{address}/playground")
        page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 5")
        page.wait_for_timeout(2000)
        slider = page.get_by_role("slider", name="Noise sigma")
        waits = []
        for step in range(12):
            slider.focus()
            # Kept, not returned: a returned promise would be waited for before the key press.
            page.evaluate(f"() => {{ window.waited = ({WATCH})(); }}")
            page.keyboard.press("ArrowRight" if step % 2 else "ArrowLeft")
            waits.append(page.evaluate("window.waited") / 1e3)
            page.wait_for_timeout(600)
    rows = [["key press to new figure, median of 12", milliseconds(median(waits))],
            ["slowest", milliseconds(max(waits))]]  # fmt: skip
    table("In Chromium, Playground at m=d=30, five charts", ["", "time"], rows)


def run() -> None:
    server_time()
    waiting_time()
