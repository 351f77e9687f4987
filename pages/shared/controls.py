"""Controls for the scenario: the sidebar, and single ones for a lesson."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never
from urllib.parse import urlencode, urlsplit, urlunsplit

import numpy as np
import streamlit as st

from collab_core.world import catalogue
from collab_core.world.fields import Field
from collab_core.world.scenario import Scenario

from . import state
from .figure import shown

#: Whole numbers with more values than a slider can tell apart are typed in.
MOST_STEPS = 1000


def sidebar(*, world: bool = True) -> None:
    """Draw all controls that matter, by group, with reset, new seed and share."""
    active = state.scenario().active
    with st.sidebar:
        if not world:
            with st.popover("Share this screen", width="stretch"):
                _share()
            return
        for group in catalogue.GROUPS:
            st.caption(f"**{group.title}**")
            for field in group.fields:
                if field.name in active:
                    control(field.name)
        control("seed")
        with st.container(horizontal=True):
            st.button("New seed", on_click=_new_seed, help="Draw another world of this kind.")
            st.button("Reset", on_click=_reset, help="Back to the paper's set-up.")
        with st.popover("Share this screen", width="stretch"):
            _share()


def above(names: Iterable[str]) -> None:
    """Draw a few controls side by side, above a figure."""
    chosen = [name for name in names if name in state.scenario().active or name == "seed"]
    if chosen:
        for column, name in zip(st.columns(len(chosen)), chosen, strict=True):
            with column:
                control(name)


def control(name: str) -> None:
    """Draw the control of one field; a mask has none, because it is drawn on the Playground."""
    field, world = catalogue.fields()[name], state.scenario()
    shared: dict[str, Any] = {
        "key": f"control-{name}",
        "help": field.help or None,
        "on_change": _changed,
        "args": (name,),
    }
    match field.kind:
        case "choice":
            _select(field, getattr(world, name), shared)
        case "numbers" | "matrix":
            _typed(field, getattr(world, name), shared)
        case "whole" | "number":
            _number(field, world, shared)
        case "mask":
            pass
        case unknown:
            assert_never(unknown)


def _select(field: Field, value: str, shared: dict[str, Any]) -> None:
    """A choice by name, with a line about the class that is chosen."""
    registry = field.registry
    if registry is None:
        raise ValueError(f"{field.name} has nothing to choose from")
    state.hold(shared["key"], value)
    about = f"{field.help} {registry.get(value).label}: {registry.get(value).help}"
    st.selectbox(
        field.label, field.choices, field.choices.index(value),
        format_func=lambda key: registry.get(key).label, **shared | {"help": about},
    )  # fmt: skip


def _typed(field: Field, value: tuple[Any, ...], shared: dict[str, Any]) -> None:
    text = _as_text(field, value)
    state.hold(shared["key"], text)
    draw = st.text_area if field.kind == "matrix" else st.text_input
    draw(field.label, text, **shared)


def _number(field: Field, world: Scenario, shared: dict[str, Any]) -> None:
    """A slider, over round values where the field has some; a box where it would be too fine."""
    kind = int if field.kind == "whole" else float
    low, high = kind(field.low), kind(_highest(field, world))
    if high <= low:
        return
    value = kind(getattr(world, field.name))
    state.hold(shared["key"], value)
    if field.scale:
        scale = sorted({*(kind(step) for step in field.scale if low <= step <= high), value})
        st.select_slider(field.label, scale, value, format_func=_plain, **shared)
    elif field.kind == "whole" and high - low > MOST_STEPS:
        st.number_input(field.label, low, high, value, step=1, **shared)
    else:
        step = kind(field.step) or (1 if field.kind == "whole" else (high - low) / 100)
        st.slider(field.label, low, high, value, step, **shared)


def _highest(field: Field, world: Scenario) -> float:
    """The field's limit, or the number of features or agents where that is less."""
    return min(field.high, getattr(world, field.limited_by)) if field.limited_by else field.high


def _changed(name: str) -> None:
    value, field = st.session_state[f"control-{name}"], catalogue.fields()[name]
    if field.kind not in ("numbers", "matrix"):
        state.change(**{name: value})
        return
    # Typed text goes the way of a link: what is wrong is put right and said.
    text = ";".join(line for line in value.splitlines() if line.strip())
    base = state.scenario()
    found, said = Scenario.from_query({name: text}, base)
    state.replace_scenario(found)
    st.session_state["notices"] = said


def _new_seed() -> None:
    state.change(seed=int(np.random.default_rng().integers(0, 10_000)))


def _reset() -> None:
    state.replace_scenario(Scenario())


def _share() -> None:
    st.markdown("This link opens the same world on the same page, with the same numbers.")
    st.code(link(), language=None, wrap_lines=True)
    st.markdown("**For a class**: one figure, and only the controls you pick.")
    figure = st.selectbox(
        "Figure", ["all", *shown()], format_func=lambda key: shown().get(key, "All")
    )
    fields = catalogue.fields()
    names = [name for name in state.scenario().active if fields[name].kind != "mask"]
    picked = st.multiselect("Controls", names, format_func=lambda name: fields[name].label)
    extra = {"controls": ",".join(picked) or "none"}
    if figure != "all":
        extra["figure"] = figure
    st.code(link(extra), language=None, wrap_lines=True)
    st.segmented_control(
        "The camera above a figure saves", ["svg", "png"], default="svg", key="image-format",
        required=True, format_func=str.upper,
    )  # fmt: skip


def link(extra: dict[str, str] | None = None) -> str:
    """The address of this screen, with further parameters."""
    parts = urlsplit(st.context.url or "")
    query = urlencode(state.query() | (extra or {}), safe=",;.")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, ""))


def _as_text(field: Field, value: tuple[Any, ...]) -> str:
    if field.kind == "numbers":
        return ", ".join(f"{number:g}" for number in value)
    return "\n".join(", ".join(f"{number:g}" for number in row) for row in value)


def _plain(value: float) -> str:
    return f"{value:,.10g}"
