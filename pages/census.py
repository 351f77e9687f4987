"""Census: real states as agents, whose people's way to work is to be predicted."""

from __future__ import annotations

from pages.parts.census import against_n, coefficients, data, gains, study, what_if
from pages.shared import records
from pages.shared.say import error_box
from pages.shared.shell import heading, page

PARTS = {
    "gains": "Who gains",
    "n": "Error against n",
    "whatif": "What if",
    "coefficients": "Coefficients",
    "data": "Data",
}
SHOWN = {
    "gains": gains.show,
    "n": against_n.show,
    "whatif": what_if.show,
    "coefficients": coefficients.show,
}


def main() -> None:
    with page(world=False):
        part = heading("Census", PARTS)
        if part == "data":
            data.show()
            return
        try:
            script, found = records.script()
            chosen = study.pick(script, found)
            if chosen is not None:
                SHOWN[part](script, chosen)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This study is not possible: {reason}.")


if __name__ == "__main__":
    main()
