"""A study's models as a file, and their predictions."""

import json

import numpy as np
import pandas as pd
import pytest

from collab_core import tabular
from collab_core.tabular import (
    Table,
    TableFile,
    TableModel,
    TableStudy,
)

from .tables import csv, study_of, world


def test_predictions_fill_gaps_with_what_the_rest_of_a_row_suggests():
    """Two features that go together and pull apart: the plain mean would be far off."""
    rng = np.random.default_rng(0)

    def drawn(n):
        x = rng.standard_normal((n, 2)) @ np.linalg.cholesky([[1, 0.9], [0.9, 1]]).T
        y = 2 * x[:, 0] - 2 * x[:, 1] + 0.3 * rng.standard_normal(n)
        site = np.array([f"s{i % 3}" for i in range(n)])
        return pd.DataFrame({"site": site, "x1": x[:, 0], "x2": x[:, 1], "y": y})

    def with_gaps(frame):
        return frame.assign(x1=frame["x1"].where(rng.random(len(frame)) > 0.3))

    study = study_of(with_gaps(drawn(2400)), gaps="mean")
    fresh = with_gaps(drawn(3000))
    gap = fresh["x1"].isna().to_numpy()
    text = TableModel.of(study).to_json()
    found = TableModel.from_json(text).predict(Table.open([csv(fresh)]))
    left = (found["prediction"].to_numpy(float) - fresh["y"].to_numpy())[gap]
    # y given x2 alone: variance 4 (1 - 0.81) + 0.09, and 5 standard errors of its estimate.
    wanted = 4 * (1 - 0.81) + 0.09
    assert abs((left**2).mean() - wanted) < 5 * wanted * np.sqrt(2 / gap.sum())
    # Files of old have no covariance: the mean it is, four times as far off.
    old = json.loads(text) | {"version": 1}
    del old["covariance"], old["features"]
    found = TableModel.from_json(json.dumps(old)).predict(Table.open([csv(fresh)]))
    left = (found["prediction"].to_numpy(float) - fresh["y"].to_numpy())[gap]
    assert (left**2).mean() > 3 * wanted


def test_columns_that_no_row_has_together_are_not_filled_from_each_other():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    frame = pd.DataFrame({"site": ["a", "b", "c"] * 100, "x1": x[:, 0], "x2": x[:, 1]})
    frame["y"] = x[:, 0] - x[:, 1] + 0.5 * rng.standard_normal(300)
    other = rng.random(300) < 0.5
    frame = frame.assign(x1=frame["x1"].where(other), x2=frame["x2"].where(~other))
    with pytest.raises(ValueError, match="no two rows have both x1 and x2"):
        study_of(frame, gaps="mean")


def test_a_model_file_predicts_what_the_model_says():
    frame, _, _, views = world()
    frame = frame.assign(kind=np.where(np.arange(len(frame)) % 3 == 0, "a", "b"))
    study = study_of(frame)
    model = TableModel.from_json(TableModel.of(study).to_json())
    predicted = model.predict(Table.open([csv(frame)]))
    assert (predicted["note"] == "").all()
    mine = (frame["site"] == "s2").to_numpy()
    found = study.coefficients("s2").set_index("feature")["together"].astype(float)
    expected = found["(intercept)"] + frame[[f"x{j}" for j in views[2]]].to_numpy()[mine] @ (
        found[[f"x{j}" for j in views[2]]].to_numpy()
    )
    expected += found["kind = a"] * (frame["kind"] == "a").to_numpy()[mine]
    np.testing.assert_allclose(predicted["prediction"].to_numpy(float)[mine], expected, rtol=1e-9)
    # A new agent gets everybody's model; gaps and levels that were never seen are said.
    new = pd.DataFrame({"site": ["new", "s3", "s3", None], "x0": [1.0, np.nan, 1.0, np.nan],
                        "kind": ["a", "b", "zzz", None]})  # fmt: skip
    said = model.predict(Table.open([csv(new)]))
    assert said["note"][0].startswith("agent not known: everybody's model")
    assert said["note"][1] == "5 of 6 columns missing, filled with what the others suggest"
    assert "filled" in said["note"][2]
    assert "none of the features" in said["note"][3]
    assert pd.isna(said["prediction"][3])
    assert said["prediction"][:3].notna().all()
    with pytest.raises(ValueError, match="none of the columns that the model reads"):
        model.predict(Table.open([TableFile("b.csv", b"a,b\n1,2\n3,4\n")]))


def test_a_file_alone_and_codes_that_became_floats_find_their_model():
    frame, *_ = world()
    files = [
        csv(part.drop(columns="site").dropna(axis=1, how="all"), f"{name}.csv")
        for name, part in frame.groupby("site")
    ]
    table = Table.open(files)
    model = TableModel.of(TableStudy.of(table, tabular.usual_choice(table)))
    predicted = model.predict(Table.open(files[:1]))
    assert (predicted["file"] == "s0").all()
    assert (predicted["note"] == "").all()
    coded = frame.assign(site=frame["site"].str[1:].astype(int) + 1)
    table = Table.open([csv(coded)])
    model = TableModel.of(TableStudy.of(table, tabular.usual_choice(table, agent="site")))
    again = coded.astype({"site": float})
    again.loc[0, "site"] = np.nan
    predicted = model.predict(Table.open([csv(again)]))
    assert predicted["note"][0].startswith("no agent given")
    assert (predicted["note"][1:] == "").all()


def test_a_log_models_predictions_come_with_their_exponential():
    frame, *_ = world()
    study = study_of(frame.assign(y=np.exp(frame["y"] / 3)), log=True)
    found = TableModel.of(study).predict(Table.open([csv(frame)]))
    np.testing.assert_allclose(
        np.exp(found["prediction"].astype(float)), found["exponential"].astype(float)
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other"}', "x", '{"format": 3'])
def test_a_file_that_is_no_model_gets_a_sentence(text):
    with pytest.raises(ValueError, match="not a model file of Collab Explorer"):
        TableModel.from_json(text)
