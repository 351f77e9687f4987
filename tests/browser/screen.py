"""What browser tests share: a small world's address, waiting, and reading what is drawn."""

from playwright.sync_api import Page, expect

import collab_core as cc

SMALL = cc.Scenario(d=6, m=5, rich=2, rich_size=5, size=3, spikes=2, seed=4)


def address(server: str, page: str = "playground", **extra: str) -> str:
    """Of a page with the small world, and with further parameters."""
    query = SMALL.to_query() | extra
    return f"{server}/{page}?" + "&".join(f"{name}={value}" for name, value in query.items())


def settled(page: Page, charts: int) -> None:
    """Wait until the page has drawn its charts and Streamlit is at rest."""
    expect(page.locator(".js-plotly-plot")).to_have_count(charts)
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_have_count(1)


def figures(page: Page) -> list:
    """Titles and data of all charts on the screen."""
    return page.evaluate(
        # Streamlit makes titles bold, once or twice.
        "[...document.querySelectorAll('.js-plotly-plot')].map(plot => JSON.parse(JSON.stringify("
        "[plot.layout.title.text.replaceAll(/<.?b>/g, ''),"
        " plot.data.map(trace => [trace.name, trace.x, trace.y, trace.z])]"
        ")))"
    )


def slider(page: Page, name: str):
    """The handle of a slider, by its label."""
    return page.get_by_role("slider", name=name)


def numbers(page: Page, chart: int, trace: int, axis: str = "y") -> list[float]:
    """What a trace holds, as plain numbers, also where Plotly got them in packed form."""
    return page.evaluate(
        "([chart, trace, axis]) => Array.from("
        "document.querySelectorAll('.js-plotly-plot')[chart]._fullData[trace][axis])",
        [chart, trace, axis],
    )
