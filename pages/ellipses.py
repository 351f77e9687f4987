"""Ellipses: covariances as confidence ellipses, nested as theory says, with estimates over them."""

from __future__ import annotations

from pages.parts.ellipses import lab, look, matrix, plane, play
from pages.shared.say import error_box
from pages.shared.shell import heading, page, problem_of

PARTS = {
    "plane": "One plane",
    "matrix": "Many planes",
    "lab": "Weights lab",
    "play": "Play",
}
SHOW = {"plane": plane.show, "matrix": matrix.show, "lab": lab.show, "play": play.show}


def main() -> None:
    """Draw the page."""
    with page() as scenario:
        part = heading("Ellipses", PARTS)
        if problem_of(scenario) is None:
            return
        try:
            view = look.look(scenario, part)
            if view is not None:
                SHOW[part](view)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be drawn: {reason}.")


if __name__ == "__main__":
    main()
