"""Beyond linear: the paper's last proposal, tried on logistic regression; simulated and real."""

from collab_core.words.world import ONE_RELATION
from pages.parts.beyond_linear import calibration, census, curves, models
from pages.shared import options
from pages.shared.say import error_box, words
from pages.shared.script import Script
from pages.shared.shell import heading, page, problem_of

PARTS = {
    "curves": "Against n",
    "calibration": "Calibration",
    "models": "An agent's model",
    "census": "Census",
}
SIMULATED = {"curves": curves.draw, "calibration": calibration.draw, "models": models.draw}


def main() -> None:
    # The census has no use for the sidebar's world.
    with page(world=lambda: options.get("part", "curves") != "census") as scenario:
        part = heading("Beyond linear", PARTS)
        if part == "census":
            census.draw()
            return
        script = Script.of(scenario)
        problem = problem_of(scenario, script, knows=True)
        if problem is None:
            return
        words(ONE_RELATION if problem.differs else "")
        try:
            SIMULATED[part](scenario, problem, script)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This cannot be answered: {reason}.")


if __name__ == "__main__":
    main()
