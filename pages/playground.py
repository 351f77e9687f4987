"""Playground: pick a world, and see at once who gains what from working together."""

from collab_core.words.world import DIFFER, ONE_RELATION
from pages.parts.playground import gains, simulation, unseen, world
from pages.shared.figure import wanted
from pages.shared.say import error_box, words
from pages.shared.script import Script
from pages.shared.shell import page


def main() -> None:
    with page() as scenario:
        words("# Playground")
        script = Script.of(scenario)
        try:
            if scenario.unseen.size:
                words(ONE_RELATION if scenario.variances.any() else "")
                unseen.part(scenario, script)
                world.part(scenario, script)
                return
            problem = script.run("problem", scenario.problem)
            words(DIFFER if problem.differs else "")
            gains.part(scenario, problem, script)
            world.part(scenario, script)
            if wanted("methods"):
                simulation.part(scenario, problem, script)
        except (ValueError, ArithmeticError) as reason:
            error_box(f"This world cannot be built: {reason}.")


if __name__ == "__main__":
    main()
