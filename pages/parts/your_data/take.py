"""Take away: models, a report, predictions for another table, and the code of all of it."""

from __future__ import annotations

from threading import Event

import pandas as pd
import streamlit as st

from collab_core.tabular import Table, TableModel, TableStudy, report
from collab_core.tabular.export import safe_csv, safe_frame
from collab_core.words import your_data as texts
from pages.shared import run
from pages.shared.say import words
from pages.shared.script import Script

from .table import sources
from .widgets import four_digits

#: Predictions on the screen; the file holds all.
MOST_SHOWN = 200


def part(study: TableStudy, script: Script) -> None:
    """Draw the part of the page."""
    words("Everything to keep. Files hold sums and models, none of the table's rows.")
    table = script.branch().run("coefficients", report.all_coefficients, study)
    downloads(study, table, script.lines)
    names = ("step", "together", "low", "high", "alone", "alone_low", "alone_high")
    st.dataframe(safe_frame(table), hide_index=True, height=300, column_config=four_digits(*names))
    predictions(study)
    words("**The code that reproduces all of it:**")
    st.code(script.lines + report.CODE, language="python")


def downloads(study: TableStudy, table: pd.DataFrame, code: str) -> None:
    """Files to keep; each is made when it is asked for."""
    with st.container(horizontal=True):
        st.download_button(
            "Coefficients (CSV)", lambda: safe_csv(table), "collab-coefficients.csv", "text/csv",
            on_click="ignore", help="Every agent's model with 95% intervals.",
        )  # fmt: skip
        st.download_button(
            "Model (JSON)", lambda: TableModel.of(study).to_json(), "collab-model.json",
            "application/json", on_click="ignore", help="For predictions, here or in Python.",
        )  # fmt: skip
        st.download_button(
            "Report (HTML)", lambda: report.html(study, code), "collab-report.html", "text/html",
            on_click="ignore", help="One page with figures; opens without a network.",
        )  # fmt: skip


def predictions(study: TableStudy) -> None:
    """Predict for another table."""
    words(texts.for_whom(study))
    files = st.file_uploader(
        "A table to predict for", accept_multiple_files=True, help=texts.LIMITS,
        key="predict-upload",
    )  # fmt: skip
    if not files:
        return
    given, model = sources(files), TableModel.of(study)

    def work(report: run.Report, cancel: Event) -> pd.DataFrame:
        table = Table.open(given, progress=lambda share: report(share / 2, None), cancel=cancel)
        return model.predict(
            table, progress=lambda share: report(0.5 + share / 2, None), cancel=cancel
        )

    signature = (tuple(file.file_id for file in files), study)
    run.panel(
        "table-predict", signature, work, show_predictions, label="Predict",
        help="Reads the table and applies every agent's model.", auto=True,
    )  # fmt: skip


def show_predictions(found: pd.DataFrame, final: bool) -> None:
    """How many rows have one, the file, and the first of them."""
    words(texts.predicted(found))
    st.download_button(
        "Predictions (CSV)", lambda: safe_csv(found), "collab-predictions.csv", "text/csv",
        on_click="ignore",
    )  # fmt: skip
    st.dataframe(safe_frame(found.head(MOST_SHOWN)), hide_index=True, height=240)
