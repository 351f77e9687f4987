"""Sentences about results: pure functions of what the library found. Markdown, no Streamlit."""
