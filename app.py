"""The front door: page configuration and navigation. Nothing else."""

import streamlit as st

# An emoji, not a material icon: that one would fetch a font from outside.
st.set_page_config(page_title="Collab Explorer", page_icon="🧩", layout="wide")

st.navigation({"Explore": [st.Page("pages/playground.py", title="Playground", default=True)]}).run()
