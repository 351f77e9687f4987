"""Error vs n: the paper's synthetic experiment, live, for the world of the sidebar."""

from pages.parts.error_vs_n import clouds, curves
from pages.shared.script import Script
from pages.shared.shell import heading, page, problem_of

PARTS = {"curves": "Error against n", "cloud": "Watch estimates gather"}


def main() -> None:
    with page() as scenario:
        part = heading("Error against n", PARTS)
        script = Script.of(scenario)
        problem = problem_of(scenario, script)
        if problem is None:
            return
        if part == "curves":
            curves.part(scenario, problem, script)
        else:
            clouds.part(scenario, problem, script)


if __name__ == "__main__":
    main()
