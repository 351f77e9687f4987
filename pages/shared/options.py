"""A page's own choices: drawn as widgets, kept in the session, and in the URL beside the world.

The text in `state.options`, of each page by itself, is the truth and widgets only show it. A choice
at its default is not in the URL. Where a link asks for a single figure the widgets are left out and
the link decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, overload

import streamlit as st

from . import state

T = TypeVar("T")


def pick(
    name: str,
    label: str,
    choices: Sequence[T],
    default: T,
    *,
    widget: Callable[..., Any] = st.selectbox,
    words: Callable[[T], str] = str,
    help: str | None = None,
    disabled: bool = False,
    spelled: Callable[[str], str] = str,
    **extra: Any,
) -> T:
    """One of several choices, by `st.selectbox`, `st.select_slider` or `st.segmented_control`.

    A link may spell a choice otherwise: ``spelled`` gives its own text for such a one, or a
    ValueError.
    """
    if widget is st.segmented_control:
        extra["required"] = True

    def read(text: str) -> T:
        for spelling in (str, spelled):
            with suppress(ValueError):
                wanted = spelling(text)
                for choice in choices:
                    if str(choice) == wanted:
                        return choice
        raise ValueError(f"{text[:20]!r} is not one of the choices")

    def draw(key: str, value: T, changed: Callable[[], None]) -> None:
        begin: dict[Any, dict[str, Any]] = {
            st.selectbox: {"index": list(choices).index(value)},
            st.select_slider: {"value": value},
            st.segmented_control: {"default": value},
        }
        widget(
            label, list(choices), key=key, on_change=changed, format_func=words, help=help,
            disabled=disabled, **begin[widget], **extra,
        )  # fmt: skip

    return _option(name, label, default, str, read, draw, words)


def segments(
    name: str, label: str, texts: Mapping[str, str], default: str | None = None, **extra: Any
) -> str:
    """One of a few choices side by side, by key with what is written on each; the first usually."""
    usual = next(iter(texts)) if default is None else default
    return pick(
        name, label, list(texts), usual, words=texts.__getitem__, widget=st.segmented_control,
        **extra,
    )  # fmt: skip


def several(
    name: str,
    label: str,
    choices: Sequence[str],
    default: Sequence[str],
    *,
    words: Callable[[str], str] = str,
    most: int | None = None,
) -> list[str]:
    """Any number of choices."""

    def read(text: str) -> list[str]:
        given = list(dict.fromkeys(part for part in text.split(",") if part and part != "none"))
        unknown = [part for part in given if part not in choices]
        if unknown:
            raise ValueError(f"{unknown[0][:20]!r} is not one of the choices")
        return given[:most]

    def draw(key: str, value: list[str], changed: Callable[[], None]) -> None:
        st.multiselect(
            label, list(choices), value, key=key, on_change=changed, format_func=words,
            max_selections=most,
        )  # fmt: skip

    return _option(name, label, list(default), _joined, read, draw)


def switch(name: str, label: str, default: bool = False, *, help: str | None = None) -> bool:
    """On or off."""

    def read(text: str) -> bool:
        if text not in ("0", "1"):
            raise ValueError(f"{text[:20]!r} is neither 0 nor 1")
        return text == "1"

    def draw(key: str, value: bool, changed: Callable[[], None]) -> None:
        st.toggle(label, value, key=key, on_change=changed, help=help)

    return _option(name, label, default, lambda value: str(int(value)), read, draw)


@overload
def number(
    name: str,
    label: str,
    low: int,
    high: int,
    default: int,
    *,
    step: int = 1,
    help: str | None = None,
    visible: bool = True,
) -> int: ...


@overload
def number(
    name: str,
    label: str,
    low: float,
    high: float,
    default: float,
    *,
    step: float = 1,
    help: str | None = None,
    visible: bool = True,
) -> float: ...


def number(
    name: str,
    label: str,
    low: float,
    high: float,
    default: float,
    *,
    step: float = 1,
    help: str | None = None,
    visible: bool = True,
) -> float:
    """A number on a slider, whole if its limits are; read but not drawn where not visible."""
    kind = int if all(isinstance(v, int) for v in (low, high, default, step)) else float

    def read(text: str) -> float:
        try:
            given = kind(text)
        except ValueError:
            raise ValueError(f"{text[:20]!r} is not a number") from None
        if not low <= given <= high:
            raise ValueError(f"{text[:20]} is not between {low:g} and {high:g}")
        return given

    def draw(key: str, value: float, changed: Callable[[], None]) -> None:
        st.slider(
            label, kind(low), kind(high), value, kind(step), key=key, on_change=changed, help=help
        )

    return _option(
        name, label, kind(default), lambda value: f"{value:g}", read, draw if visible else None
    )


def text(name: str, label: str, default: str, *, help: str | None = None) -> str:
    """A line of text; what it means is for the page to say."""

    def draw(key: str, value: str, changed: Callable[[], None]) -> None:
        st.text_input(label, value, key=key, on_change=changed, help=help, max_chars=500)

    return _option(name, label, default, str, str, draw)


def get(name: str, default: str) -> str:
    """What a choice is set to, as text."""
    return state.options().get(name, default)


def put(name: str, text: str) -> None:
    """Set a choice, by its widget or from elsewhere, such as a click in a figure."""
    state.options()[name] = text
    st.session_state["notices"] = []
    state.touch()


def _option(
    name: str,
    label: str,
    default: T,
    to_text: Callable[[T], str],
    read: Callable[[str], T],
    draw: Callable[[str, T, Callable[[], None]], None] | None,
    words: Callable[[T], str] | None = None,
) -> T:
    value = default
    if name in state.options():
        try:
            value = read(state.options()[name])
            state.understood(name)
        except ValueError as problem:
            state.wrong_option(name, f"{label}: {problem}; {(words or to_text)(default)} is used.")
    if to_text(value) != to_text(default):
        state.options_in_use()[name] = to_text(value)
    if draw is None or state.lesson().figure:
        return value
    key = f"option-{name}"
    state.hold(key, value)

    def changed() -> None:
        put(name, to_text(st.session_state[key]))

    draw(key, value, changed)
    return value


def _joined(values: Sequence[str]) -> str:
    return ",".join(values) or "none"
