"""Controls for the scenario: the sidebar, and single ones for a lesson."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import numpy as np
import streamlit as st

from collab_core.world.scenario import FIELDS, LIMITED_BY, Field, Scenario

from . import state
from .figure import shown

#: Names for people.
WORDS = {
    "spiked": "Spiked (the paper's)",
    "isotropic": "Isotropic",
    "geometric": "Geometric decay",
    "power_law": "Power law",
    "ar1": "Neighbours alike (AR 1)",
    "equicorrelated": "All alike (equicorrelated)",
    "factor": "Common causes (factors)",
    "block": "Groups (blocks)",
    "eigenvalues": "My eigenvalues",
    "matrix": "My matrix",
    "subsets": "Random subsets (the paper's)",
    "independent": "Each with probability p",
    "tiers": "Nested tiers",
    "blocks": "Overlapping blocks",
    "hub": "One sees all, others little",
    "mask": "Drawn by hand",
    "equal": "The same for all",
    "rising": "More from agent to agent",
    "wide": "More for those who see more",
    "narrow": "More for those who see less",
    "normal": "Standard normal",
    "unit": "Unit length, random direction",
    "sparse": "Sparse",
    "strongest": "Along the strongest direction",
    "weakest": "Along the weakest direction",
    "values": "My numbers",
}

GROUPS = {
    "Features": ("spectrum", "d", "spikes", "spike_factor", "condition", "exponent", "correlation",
                 "groups", "eigenvalues", "matrix"),
    "Agents": ("missing", "m", "rich", "rich_size", "size", "p", "tiers"),
    "Data": ("n", "allocation", "ratio", "sigma"),
    "Truth": ("theta", "theta_scale", "nonzero", "values"),
}  # fmt: skip

#: Numbers that span decades: a slider over round values.
LOG_SCALES = {
    "n": [10**e * k for e in range(7) for k in (1, 2, 5)] + [10**7],
    "sigma": [round(10.0**e * k, 2) for e in (-2, -1, 0, 1) for k in (1, 2, 5)] + [100.0],
    "spike_factor": [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0],
    "ratio": [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0],
    "condition": [10.0**e * k for e in range(6) for k in (1, 2, 5)] + [1e6],
    "theta_scale": [0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0],
}

STEP = {"correlation": 0.01, "p": 0.01, "exponent": 0.1}


def sidebar(*, world: bool = True) -> None:
    """Draw all controls that matter, by group, with reset, new seed and share."""
    active = state.scenario().active
    with st.sidebar:
        if not world:
            with st.popover("Share this screen", width="stretch"):
                _share()
            return
        for title, names in GROUPS.items():
            st.caption(f"**{title}**")
            for name in names:
                if name in active:
                    control(name)
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
    """Draw the control of one field."""
    field, world = FIELDS[name], state.scenario()
    key, value = f"control-{name}", getattr(world, name)
    shared: dict[str, Any] = {
        "key": key,
        "help": field.help or None,
        "on_change": _changed,
        "args": (name,),
    }
    if name in LOG_SCALES:
        state.hold(key, value)
        scale = sorted({*LOG_SCALES[name], value})
        st.select_slider(field.label, scale, value, format_func=_plain, **shared)
    elif field.kind == "choice":
        state.hold(key, value)
        st.selectbox(
            field.label, field.choices, field.choices.index(value),
            format_func=lambda word: WORDS[word], **shared,
        )  # fmt: skip
    elif field.kind in ("numbers", "matrix"):
        text = _as_text(field, value)
        state.hold(key, text)
        draw = st.text_area if field.kind == "matrix" else st.text_input
        draw(field.label, text, **shared)
    elif name == "seed":
        state.hold(key, value)
        st.number_input(field.label, int(field.low), int(field.high), value, step=1, **shared)
    else:
        _slider(name, field, world, shared)


def _slider(name: str, field: Field, world: Scenario, shared: dict[str, Any]) -> None:
    kind = int if field.kind == "whole" else float
    low, high = kind(field.low), kind(_highest(name, field, world))
    if high <= low:
        return
    value = kind(getattr(world, name))
    state.hold(shared["key"], value)
    st.slider(field.label, low, high, value, STEP.get(name, 1), **shared)


def _highest(name: str, field: Field, world: Scenario) -> float:
    """The field's limit, or the number of features or agents where that is less."""
    limit = LIMITED_BY.get(name)
    return field.high if limit is None else min(field.high, getattr(world, limit))


def _changed(name: str) -> None:
    value, field = st.session_state[f"control-{name}"], FIELDS[name]
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
    names = [name for name in state.scenario().active if name != "mask"]
    picked = st.multiselect("Controls", names, format_func=lambda name: FIELDS[name].label)
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
