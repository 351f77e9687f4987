"""Worlds to open, a card each."""

from __future__ import annotations

import streamlit as st

import collab_core as cc
from pages.shared import pictures

COLUMNS = 3


def part() -> None:
    """All presets, each a link to the Playground."""
    st.subheader("Worlds to open", divider="gray")
    presets = cc.presets.PRESETS
    for start in range(0, len(presets), COLUMNS):
        for column, preset in zip(
            st.columns(COLUMNS), presets[start : start + COLUMNS], strict=False
        ):
            with column, st.container(border=True, height="stretch"):
                _card(preset)


def _card(preset: cc.presets.Preset) -> None:
    mask = cc.views.as_mask(preset.scenario.views, preset.scenario.d)
    st.image(pictures.grid(mask), alt=f"Who sees what: {preset.title}")
    st.page_link(
        "pages/playground.py",
        label=f"**{preset.title}**",
        query_params=preset.scenario.to_query(),
    )
    st.markdown(preset.line)
