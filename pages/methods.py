"""Methods & messages: how good every method is, what it sends, and the exchange itself."""

from pages.parts.methods import compared, exchange, leaving
from pages.shared import options
from pages.shared.script import Script
from pages.shared.shell import heading, page, problem_of

PARTS = {
    "table": ("Compared", compared.draw),
    "exchange": ("The exchange", exchange.draw),
    "leaving": ("If an agent leaves", leaving.draw),
}


def main() -> None:
    """Draw the page."""
    with page() as scenario:
        part = heading("Methods & messages", {key: name for key, (name, _) in PARTS.items()})
        if problem_of(scenario) is None:
            return
        script = Script.of(scenario)
        problem = script.run("problem", scenario.problem)
        agent = options.pick(
            "agent", "Agent", range(problem.agents), 0, words=lambda i: f"Agent {i + 1}",
            label_visibility="collapsed", width=200,
        )  # fmt: skip
        _, draw = PARTS[part]
        draw(scenario, problem, agent, script)


if __name__ == "__main__":
    main()
