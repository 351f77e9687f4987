"""What is taken away: reports, spreadsheets, the bundled samples."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from collab_core import tabular
from collab_core.tabular import (
    report,
)
from collab_core.tabular.export import safe_csv, safe_frame
from collab_core.tabular.samples import SAMPLES, clinics
from collab_core.words import your_data as words

from .tables import DATA, study_of, world


def test_spreadsheets_run_nothing():
    frame = pd.DataFrame({"=1+1": ["@SUM(A1)", "-2+3", "fine", None], "n": [-1.0, 2.0, -3.5, 4.0]})
    lines = safe_csv(frame).splitlines()
    assert lines[0] == '"\'=1+1","n"'
    assert lines[1:4] == ['"\'@SUM(A1)",-1.0', '"\'-2+3",2.0', '"fine",-3.5']
    # Where ; or a tab ends a cell, and whatever comes before the sign.
    texts = ["x;=1+1", "x\t@A1", " =1", "\uff1d1", "a\n-b", "ok; fine", "3-4"]
    expected = ["x;'=1+1", "x\t'@A1", "' =1", "'\uff1d1", "a\n'-b", "ok; fine", "3-4"]
    assert safe_frame(pd.DataFrame({"t": texts}))["t"].tolist() == expected
    assert safe_frame(frame).columns.tolist() == ["'=1+1", "n"]
    back = pd.read_csv(io.StringIO(safe_csv(frame)))
    assert back["n"].tolist() == [-1.0, 2.0, -3.5, 4.0]


def test_the_report_holds_everything_and_no_ones_markup():
    frame, *_ = world()
    evil = "<script>alert(1)</script>"
    frame = frame.rename(columns={"x2": evil}).assign(site=frame["site"] + "<b>")
    study = study_of(frame)
    page = report.html(study, "study = 1\n")
    assert evil not in page
    assert "s0<b>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "Content-Security-Policy" in page
    assert words.summary(study).replace("<b>", "&lt;b&gt;") in page
    assert "src=" not in page.split("</script>")[-1]
    table = report.all_coefficients(study)
    assert set(table["agent"]) == set(study.agents)
    assert len(table) == sum(view.size + 1 for view in study.views)


def test_the_bundled_samples_are_what_their_makers_make():
    frame = pd.read_csv(DATA / SAMPLES["clinics"].file)
    made = clinics()
    assert list(frame.columns) == list(made.columns)
    np.testing.assert_allclose(frame["systolic"], made["systolic"])
    pytest.importorskip("sklearn")
    real = pd.read_csv(DATA / SAMPLES["diabetes"].file)
    again = tabular.samples.diabetes()
    np.testing.assert_allclose(real["progression"], again["progression"])
    json.dumps({key: sample.summary for key, sample in SAMPLES.items()})
