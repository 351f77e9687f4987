"""One scenario for all pages, kept in the session and always in the URL.

The scenario is the truth and widgets only show it: a widget's change makes a new scenario (put
right where needed), and every run writes the scenario into the URL. A URL that is not the one
written last (a link, a reload, Back) is read into the scenario.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypedDict, TypeVar, Unpack

import streamlit as st

from collab_core.world import catalogue
from collab_core.world.scenario import Scenario

T = TypeVar("T")


@dataclass(frozen=True)
class Lesson:
    """What a link asks the page to leave out.

    Attributes
    ----------
    controls : tuple of str or None
        Controls to show above the figure, instead of the sidebar and the navigation; None for the
        whole dashboard.
    figure : str
        The only figure to show, or nothing for all.
    lecture : bool
        Larger type, no sidebar.
    step : int
        Step of the story on the Start page, from 1.
    sees : int
        Position of the Start page's slider.
    """

    controls: tuple[str, ...] | None = None
    figure: str = ""
    lecture: bool = False
    step: int = 1
    sees: int = 3


STEPS, MOST_SEEN = 6, 6

_LESSON_NAMES = ("controls", "figure", "lecture", "step", "sees")


def scenario() -> Scenario:
    """The world of this session."""
    return st.session_state["scenario"]


def lesson() -> Lesson:
    """What this session leaves out."""
    return st.session_state["lesson"]


def chrome_hidden() -> bool:
    """Whether sidebar and navigation are left out."""
    return lesson().controls is not None or lesson().lecture


def change(**changes: object) -> None:
    """Change the world; what that makes impossible is put right and said."""
    st.session_state["scenario"], st.session_state["notices"] = scenario().nearest(**changes)
    touch()


def replace_scenario(other: Scenario) -> None:
    """Go to another world."""
    st.session_state["scenario"], st.session_state["notices"] = other, []
    touch()


class LessonChanges(TypedDict, total=False):
    """What of a lesson a person can change on the page."""

    lecture: bool
    step: int
    sees: int


def change_lesson(**changes: Unpack[LessonChanges]) -> None:
    """Change the position in the story, or whether a hall looks on."""
    st.session_state["lesson"] = replace(lesson(), **changes)
    touch()


def enter(page: str) -> None:
    """Begin a run of a page: what a link said of its choices is now known to be about it."""
    if "linked" in st.session_state:
        given = st.session_state.pop("linked")
        st.session_state.setdefault("options", {})[page] = given
        st.session_state["unread"] = set(given)
    st.session_state["page"] = page
    options_in_use().clear()


def options() -> dict[str, str]:
    """What this page's own choices were set to, as text by name; defaults are not in it."""
    return st.session_state.setdefault("options", {}).setdefault(st.session_state["page"], {})


def wrong_option(name: str, sentence: str) -> None:
    """Forget a choice that is not possible; said if it came by a link, and not by a changed world.

    The page then starts anew, so that the notice stands above everything else.
    """
    del options()[name]
    unread: set[str] = st.session_state.setdefault("unread", set())
    if name in unread:
        unread.discard(name)
        st.session_state["notices"] = [*notices(), sentence]
        touch()
        st.rerun()


def understood(name: str) -> None:
    """Note that a link's choice was possible: if it ceases to be, that is by a changed world."""
    st.session_state.setdefault("unread", set()).discard(name)


def options_in_use() -> dict[str, str]:
    """Those that this page has asked for in this run: they belong into its URL."""
    return st.session_state.setdefault("options-in-use", {})


def kept(slot: str, key: object, make: Callable[[], T]) -> T:
    """Something of this session that is made anew only when its key changes."""
    held = st.session_state.get(slot)
    if held is None or held[0] != key:
        held = st.session_state[slot] = (key, make())
    return held[1]


def notices() -> list[str]:
    """What was put right, in sentences."""
    return st.session_state.get("notices", [])


def touch() -> None:
    """Note that a person has just changed something, so that the URL's word is not the last.

    A quick person's change can reach the server with the URL of two runs ago: the browser had not
    drawn the last one yet. Nor is the URL taken from a page that starts itself anew.
    """
    st.session_state["touched"] = True


def hold(key: str, value: object) -> None:
    """Make a widget that is already on the screen show a value; a new one is given it as default.

    Only where it shows another one: a value that is set is sent to the browser, and would undo
    what a quick person has changed there since this run began.
    """
    if key in st.session_state and st.session_state[key] != value:
        st.session_state[key] = value


def read_url() -> None:
    """Take over what the URL says, unless this session wrote it."""
    given = st.query_params.to_dict()
    first = "scenario" not in st.session_state
    if st.session_state.pop("touched", False) and not first:
        return
    if not first and (not given or given == st.session_state.get("written")):
        # Moving between pages clears the URL; the session remembers.
        return
    st.session_state["sent"] = given
    fields = catalogue.fields()
    world = {name: text for name, text in given.items() if name in fields}
    if first or world:
        found, said = Scenario.from_query(world)
        st.session_state["scenario"], st.session_state["notices"] = found, said
    if first or set(given) - set(fields):
        found_lesson, said = _lesson_of(given)
        st.session_state["lesson"] = found_lesson
        st.session_state["notices"] = [*notices(), *said]
    # Every page writes all its choices that are not at their default: the others are.
    own = set(given) - set(fields) - set(_LESSON_NAMES)
    st.session_state["linked"] = {name: given[name][:500] for name in own}


def write_url(*, start: bool = False) -> None:
    """Put the world (and what is left out) into the URL.

    Parameters
    ----------
    start : bool
        On the Start page: its own slider and step, and the world only if somebody changed it.
    """
    wanted = query(start=start)
    # What came with a quick person's change is the URL of a run ago: another may be on its way to
    # the browser, and would be the last word there.
    if wanted != st.query_params.to_dict() or wanted != st.session_state.get("sent", wanted):
        st.session_state["sent"] = wanted
        st.query_params.from_dict(wanted)
    st.session_state["written"] = wanted


def query(*, start: bool = False) -> dict[str, str]:
    """What the URL should say."""
    world, asked = scenario(), lesson()
    wanted = {} if start and world == Scenario() else world.to_query()
    if asked.controls is not None:
        wanted["controls"] = ",".join(asked.controls) or "none"
    if asked.figure:
        wanted["figure"] = asked.figure
    if asked.lecture:
        wanted["lecture"] = "1"
    wanted |= options_in_use()
    if start:
        wanted |= {"sees": str(asked.sees), "step": str(asked.step)}
    return wanted


def _lesson_of(given: dict[str, str]) -> tuple[Lesson, list[str]]:
    said: list[str] = []
    controls = None
    if "controls" in given:
        named = [name for name in given["controls"].split(",") if name not in ("", "none")]
        fields = catalogue.fields()
        drawn = [name for name in named if name in fields and fields[name].kind != "mask"]
        controls = tuple(drawn)
        unknown = [name for name in named if name not in controls]
        if unknown:
            said.append(f"Controls: there is none called {', '.join(unknown)[:60]}.")

    def limited(name: str, high: int, otherwise: int) -> int:
        if name not in given:
            return otherwise
        try:
            wanted = int(given[name])
        except ValueError:
            said.append(f"{name}: {given[name][:20]!r} is not a whole number; {otherwise} is used.")
            return otherwise
        nearest = min(max(wanted, 1), high)
        if nearest != wanted:
            said.append(f"{name}: {wanted} is not allowed, so {nearest} is used.")
        return nearest

    return (
        Lesson(
            controls=controls,
            figure=given.get("figure", "")[:40],
            lecture=given.get("lecture") == "1",
            step=limited("step", STEPS, 1),
            sees=limited("sees", MOST_SEEN, 3),
        ),
        said,
    )
