"""What columns are taken for, and why."""

import numpy as np
import pandas as pd

from collab_core import tabular
from collab_core.tabular import Table, TableStudy
from collab_core.tabular.samples import SAMPLES

from .tables import DATA, GOOD, csv, parquet


def test_columns_are_recognised_and_explained():
    kinds = {c.name: c for c in Table.open([DATA / SAMPLES["clinics"].file]).columns}
    assert {name: c.kind for name, c in kinds.items() if c.kind != "number"} == {
        "patient id": "identifier", "clinic": "category", "visit": "date", "smoker": "category",
        "insurance": "category", "country": "constant",
    }  # fmt: skip
    assert all(kinds[name].note for name in ("patient id", "visit", "country"))
    n = 400
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=n)
    frame = pd.DataFrame(
        {
            "email": [f"p{j}@x" for j in range(n)],
            "PatientID": rng.permutation(900_000)[:n] + 100_000,
            "pid": rng.permutation(900_000)[:n] + 100_000,
            "mass index": rng.integers(100, 400, n),
            "day": days.strftime("%Y%m%d").astype(int),
            "short day": days.strftime("%d.%m.%y"),
            "named day": days.strftime("%b %d, %Y"),
            "customer_id": rng.permutation(10**7)[:n],
            "weight": ["about 70" if j % 50 == 0 else str(60 + j % 30) for j in range(n)],
            "nothing": [None] * n,
            "when": pd.date_range("2020-01-01", periods=n).strftime("%d/%m/%Y"),
            "code": rng.integers(1, 5, n),
        }
    )
    for source in (csv(frame), parquet(frame)):
        found = {c.name: c.kind for c in Table.open([source]).columns}
        assert found == {
            "email": "identifier", "customer_id": "identifier", "weight": "mixed",
            "nothing": "empty", "when": "date", "code": "number", "PatientID": "identifier",
            "pid": "identifier", "mass index": "number", "day": "date", "short day": "date",
            "named day": "date",
        }  # fmt: skip


def test_a_target_with_some_texts_is_still_the_target():
    frame = GOOD.astype({"y": object})
    frame.loc[:3, "y"] = "<5"
    table = Table.open([csv(frame)])
    assert table.usual_target() == "y"
    assert table.column("y").texts == 4
    assert table.not_a_target() == ""
    study = TableStudy.of(table, tabular.usual_choice(table))
    assert "4 cells of y hold text, no number: gaps." in study.notes
    assert study.rows.sum() == len(GOOD) - 4
    words_only = Table.open([csv(GOOD.assign(y=np.where(GOOD["x2"] > 2, "high", "low")))])
    assert words_only.not_a_target().startswith("y cannot be predicted: it was taken for category")
