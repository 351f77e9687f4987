"""Start: the problem in one picture and one slider, a story in six steps, worlds to open."""

import collab_core as cc
from pages.parts.start import gallery, hero, story
from pages.shared import state
from pages.shared.script import Script
from pages.shared.shell import page

#: Six agents around a circle of six features; the slider is how many neighbours each sees.
WORLD = cc.Scenario(
    d=6, m=6, spectrum="ar1", correlation=0.6, missing="blocks", size=3, theta="values",
    values=(1.0, -0.6, 0.8, 0.5, -1.0, 0.7), n=50,
)  # fmt: skip


def main() -> None:
    with page(start=True):
        lecture = state.lesson().lecture
        world = WORLD.replace(size=state.lesson().sees)
        script = Script.of(world)
        problem = script.run("problem", world.problem)
        if not lecture or state.lesson().step == 1:
            hero.part(world, problem, script)
        story.part(world, problem, script)
        if not lecture:
            gallery.part()


if __name__ == "__main__":
    main()
