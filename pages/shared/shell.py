"""What every page does first: the guard, the sidebar, notices, lecture mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from collab_core.core.problem import Problem
from collab_core.words.world import DIFFER, features
from collab_core.world.scenario import Scenario

from . import controls, figure, options, run, state
from .say import error_box, literal, words
from .script import Script

# Streamlit's own type is meant for a desk; a lecture hall sees it from twenty metres.
LECTURE_CSS = """
<style>
.stMainBlockContainer { padding-top: 4rem; max-width: 1200px; }
[data-testid="stMarkdown"] p, [data-testid="stMarkdown"] li { font-size: 1.5rem; line-height: 1.5; }
[data-testid="stMetricValue"], [data-testid="stMetricValue"] p { font-size: 3.5rem; }
</style>
"""

# Less empty space above the first line, so that the main figure is on the first screen.
DESK_CSS = """
<style>
.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; }
.stMainBlockContainer h1 { padding-bottom: 0.25rem; }
/* White on the dark theme's light blue is hard to read: chosen items in grey, on both themes. */
[data-testid="stMultiSelect"] [data-tag] { background-color: rgba(128, 128, 128, 0.22); }
[data-testid="stMultiSelect"] [data-tag], [data-testid="stMultiSelect"] [data-tag] * {
  color: inherit;
}
/* A wide table scrolls by itself on a phone, not the page with it. */
[data-testid="stMarkdownContainer"] table { display: block; overflow-x: auto; }
</style>
"""


@contextmanager
def page(*, start: bool = False, world: bool | Callable[[], bool] = True) -> Iterator[Scenario]:
    """Draw a page around its figures: notices before them, the sidebar after them.

    The sidebar comes last because figures are what a person waits for; the world is known before
    its controls are drawn.

    Parameters
    ----------
    start : bool
        The Start page, which has no controls for the world.
    world : bool or callable
        Whether the page is about the scenario; one about real data has its own controls. Asked
        after the page's own choices are made, where they decide.

    Yields
    ------
    Scenario
        The world.
    """
    _guard()
    if state.lesson().lecture and not start:
        # A lecture is the story's; every other page needs its controls.
        state.change_lesson(lecture=False)
        st.rerun()
    asked = state.lesson()
    st.html(LECTURE_CSS if asked.lecture else DESK_CSS)
    if state.notices():
        st.info("Put right: " + literal(" ".join(state.notices())))
    if not start and asked.controls:
        controls.above(asked.controls)
    figure.shown().clear()
    run.begin()
    yield state.scenario()
    run.cancel_others()
    # Only now is it known which choices of its own the page has.
    state.write_url(start=start)
    if not start and not state.chrome_hidden():
        controls.sidebar(world=world() if callable(world) else world)


def _guard() -> None:
    """Make sure that app.py is in charge.

    A folder named ``pages`` puts Streamlit into its old page mode until app.py has run once in the
    process, and a deep link as the first request then skips app.py. Private API, used only here
    and guarded by a browser test.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def heading(title: str, parts: Mapping[str, str], *, width: float = 1.0) -> str:
    """A page's title with a picker of its parts beside it; the first part is the default.

    Parameters
    ----------
    width : float
        Of the title, where the picker's is 1.5; more for a long title beside a short picker.
    """
    left, right = st.columns([width, 1.5], vertical_alignment="bottom")
    with left:
        words(f"# {title}")
    with right:
        return options.segments("part", "Show", parts, label_visibility="collapsed")


def problem_of(
    scenario: Scenario, script: Script | None = None, *, knows: bool = False
) -> Problem | None:
    """The world of a scenario, or None after saying why there is none and what to change.

    Parameters
    ----------
    script : Script, optional
        One that begins with this scenario; the world becomes its ``problem``.
    knows : bool
        Whether the page's formulas are for agents that differ, too; others say that theirs are not.
    """
    try:
        unseen = scenario.unseen
        if not unseen.size:
            found = (
                scenario.problem() if script is None else script.run("problem", scenario.problem)
            )
            words(DIFFER if found.differs and not knows else "")
            return found
    except (ValueError, ArithmeticError) as reason:
        error_box(f"This world cannot be built: {reason}.")
        return None
    error_box(
        f"Nobody sees {features(unseen)}, so a model for all features cannot be had. Let less be "
        "missing, add agents, or switch squares on in the Playground, which also shows what still "
        "can be had."
    )
    return None
