"""Agents that differ: one relation for all is the exception; what then, and who loses by it."""

from pages.parts.agents_that_differ import against_n, belong, coefficients, guard, pulled, spread
from pages.parts.agents_that_differ.world import choose
from pages.shared import options
from pages.shared.say import error_box, words
from pages.shared.shell import page

PARTS = {
    "spread": "How much",
    "n": "Against n",
    "pulled": "Who is pulled where",
    "coefficients": "What is shared",
    "belong": "Who does not belong",
    "guard": "Never worse than alone",
}
DRAWN = {
    "spread": spread.part,
    "n": against_n.part,
    "pulled": pulled.part,
    "coefficients": coefficients.part,
    "belong": belong.part,
    "guard": guard.part,
}


def main() -> None:
    with page() as scenario:
        # Six parts need the whole width.
        words("# Agents that differ")
        part = options.segments("part", "Show", PARTS, label_visibility="collapsed")
        world = choose(scenario)
        if world is None:
            return
        try:
            DRAWN[part](world)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")


if __name__ == "__main__":
    main()
