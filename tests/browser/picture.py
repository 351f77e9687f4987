"""Take the README's picture anew: ``make picture``."""

from .conftest import ROOT, visitor


def main() -> None:
    with visitor() as (page, address):
        page.goto(f"{address}/playground")
        page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 5")
        page.wait_for_timeout(2000)
        page.screenshot(path=ROOT / "data" / "playground.png")


if __name__ == "__main__":
    main()
