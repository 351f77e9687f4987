"""Take the README's picture anew: ``make picture``."""

from playwright.sync_api import sync_playwright

from .conftest import FLAGS, ROOT, start_server, system_chromium


def main() -> None:
    process, address = start_server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=system_chromium(), args=FLAGS)
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.goto(f"{address}/playground")
            page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 5")
            page.wait_for_timeout(2000)
            page.screenshot(path=ROOT / "data" / "playground.png")
            browser.close()
    finally:
        process.terminate()
        process.wait(10)


if __name__ == "__main__":
    main()
