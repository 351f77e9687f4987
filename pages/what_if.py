"""What if: who helps whom, what to measure, how many samples, and what if the model is wrong.

Of the sidebar's world, of the census, or of the session's own table. Closed formulas, but for the
last part, which is simulated.
"""

from collab_core.words.what_if import caveat
from pages.parts.what_if import helps, measure, robust, samples
from pages.shared import subject
from pages.shared.say import error_box, words
from pages.shared.shell import heading, page

PARTS = {
    "helps": "Who helps whom",
    "measure": "What to measure",
    "samples": "Samples",
    "robust": "Robustness",
}
DRAWN = {
    "helps": helps.part,
    "measure": measure.part,
    "samples": samples.part,
    "robust": robust.part,
}


def main() -> None:
    with page(world=subject.is_sidebars) as scenario:
        part = heading("What if", PARTS)
        asked = subject.pick(scenario)
        if asked is None:
            return
        try:
            DRAWN[part](asked)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")
            return
        if asked.is_real:
            words(caveat(asked.problem, asked.n, asked.source, simulated=part == "robust"))


if __name__ == "__main__":
    main()
