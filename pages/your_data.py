"""Your data: anybody's table, whose groups are the agents; who gains, models, a report."""

from pages.parts.your_data import checks, columns, models, take, verdict
from pages.parts.your_data.choice import pick_choice
from pages.parts.your_data.study import studied
from pages.parts.your_data.table import pick_table
from pages.shared.say import error_box
from pages.shared.shell import heading, page

PARTS = {
    "verdict": "Who gains",
    "table": "The table",
    "models": "Models",
    "checks": "Checks",
    "take": "Take away",
}
DRAWN = {
    "verdict": verdict.part,
    "table": columns.part,
    "models": models.part,
    "checks": checks.part,
    "take": take.part,
}


def main() -> None:
    with page(world=False):
        part = heading("Your data", PARTS)
        opened = pick_table()
        if opened is None:
            return
        try:
            choice = pick_choice(opened.table)
            if part == "table":
                columns.list_columns(opened.table)
            found = None if choice is None else studied(opened, choice)
            if found is not None:
                DRAWN[part](*found)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This table cannot be studied so: {reason}.")


if __name__ == "__main__":
    main()
