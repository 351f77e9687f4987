"""The front door: page configuration and navigation. Nothing else."""

import streamlit as st

from pages.shared import state

# An emoji, not a material icon: that one would fetch a font from outside.
st.set_page_config(page_title="Collab Explorer", page_icon="🧩", layout="wide")

state.read_url()
page = st.navigation(
    {
        "": [st.Page("pages/start.py", title="Start", default=True)],
        "Explore": [
            st.Page("pages/playground.py", title="Playground"),
            st.Page("pages/ellipses.py", title="Ellipses"),
            st.Page("pages/error_vs_n.py", title="Error vs n"),
            st.Page("pages/lower_bounds.py", title="Lower bounds"),
            st.Page("pages/methods.py", title="Methods & messages"),
            st.Page("pages/what_if.py", title="What if"),
        ],
        "Beyond": [
            st.Page("pages/agents_that_differ.py", title="Agents that differ"),
            st.Page("pages/beyond_gaussian.py", title="Beyond Gaussian"),
            st.Page("pages/beyond_linear.py", title="Beyond linear"),
        ],
        "Real data": [
            st.Page("pages/census.py", title="Census"),
            st.Page("pages/your_data.py", title="Your data"),
        ],
    },
    position="hidden" if state.chrome_hidden() else "sidebar",
)
state.enter(page.url_path)
page.run()
