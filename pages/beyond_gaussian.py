"""Beyond Gaussian: what COLLAB's weights cost where features follow another law."""

from pages.parts.beyond_gaussian import cost, curves, loss_map, unlabelled, world
from pages.shared.say import error_box
from pages.shared.shell import heading, page

PARTS = {
    "curves": ("Error vs n", curves.draw),
    "cost": ("The cost", cost.draw),
    "map": ("The map", loss_map.draw),
    "unlabelled": ("Unlabelled", unlabelled.draw),
}


def main() -> None:
    """Draw the page."""
    with page() as scenario:
        names = {key: name for key, (name, _) in PARTS.items()}
        part = heading("Beyond Gaussian", names, width=1.3)
        try:
            looked_at = world.pick(scenario, part)
            if looked_at is not None:
                _, draw = PARTS[part]
                draw(looked_at, scenario)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")


if __name__ == "__main__":
    main()
