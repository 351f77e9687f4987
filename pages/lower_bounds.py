"""Lower bounds: Corollary 4.4 with today's numbers in it, and what lies between the bounds."""

from __future__ import annotations

from collab_core.words.world import DIFFER
from pages.parts.lower_bounds import chain, gap, ratio, thresholds
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page

PARTS = {
    "ratio": "Against p",
    "map": "Map",
    "gap": "What is to gain",
    "chain": "Chain of bounds",
}
SHOW = {"ratio": ratio.show, "map": thresholds.show, "gap": gap.show, "chain": chain.show}


def main() -> None:
    """Draw the page."""
    with page() as scenario:
        part = heading("Lower bounds", PARTS)
        # The other parts ask for the world itself, and that says so.
        words(DIFFER if part in ("ratio", "map") and scenario.differ != "none" else "")
        try:
            SHOW[part](scenario)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"These bounds cannot be computed: {reason}.")


if __name__ == "__main__":
    main()
