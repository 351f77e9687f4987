"""Sentences of "Your data" that its report has not; the others are tested with the study."""

import pandas as pd
import pytest

from collab_core import tabular
from collab_core.words import your_data


@pytest.fixture(scope="module")
def table():
    return tabular.Table.open(["data/sample_clinics.csv"])


@pytest.fixture(scope="module")
def study(table):
    return tabular.TableStudy.of(table, tabular.usual_choice(table))


def test_a_table_is_introduced(table):
    said = your_data.columns(table)
    assert f"{table.rows:,} rows, {len(table.columns)} columns" in said
    frame = tabular.columns_of(table)
    assert list(frame["column"]) == table.names
    assert frame["missing"].between(0, 1).all()


def test_limits_are_those_of_reading():
    assert f"{tabular.MOST_ROWS:,} rows" in your_data.LIMITS
    assert "kept for this session only" in your_data.LIMITS


def test_every_agent_has_a_verdict_in_words(study):
    frame = your_data.evidence(study)
    assert list(frame.columns) == ["agent", "rows", "verdict", "evidence"]
    assert tuple(frame["agent"]) == study.agents
    assert all(text.endswith(".") for text in frame["evidence"])


def test_who_sees_what_is_called_as_in_the_table(study):
    frame = tabular.who_sees_what(study)
    assert frame.columns[0] == study.choice.agent
    assert tuple(frame.iloc[:, 0]) == study.agents


def test_an_agents_model(study):
    frame = study.coefficients(0)
    said = your_data.models(study, 0, frame)
    assert said.startswith(f"{study.agents[0]}, {study.rows[0]:,} rows: together, intervals are")
    assert f"of {int(frame['alone'].notna().sum()) - 1} coefficients" in said
    none = frame.assign(alone=pd.NA)
    assert "no two models to compare" in your_data.models(study, 0, none)


def test_predictions_and_names():
    frame = pd.DataFrame({"prediction": [1.0, None]})
    assert your_data.predicted(frame) == "1 of 2 rows have a prediction. The others say why."
    assert your_data.predicted(frame.head(1)) == "1 of 1 rows have a prediction."
    assert your_data.short("a" * 31) == "a" * 29 + "…"
    assert your_data.short("a" * 30) == "a" * 30


def test_the_same_content_has_the_same_digest(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,2\n")
    mine = tabular.TableFile("b.csv", memoryview(b"a,b\n1,2\n"))
    assert mine.digest == tabular.TableFile.of(path).digest
    assert mine.digest != tabular.TableFile("b.csv", b"a,b\n1,3\n").digest
