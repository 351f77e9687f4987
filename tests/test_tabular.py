"""Anybody's table: hostile files, recognition, sums against raw rows, truth recovered, equality
with the census."""

import contextlib
import csv as csv_module
import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import collab_core as cc
from collab_core import census, tabular
from collab_core.census.questions import QUESTIONS, STATES
from collab_core.census.records import Layout
from collab_core.core import sigma
from collab_core.tabular import (
    Choice,
    Source,
    Table,
    TableModel,
    TableStudy,
    folds,
    pieces,
    quotes,
    reading,
    report,
)
from collab_core.tabular.export import safe_csv, safe_frame
from collab_core.tabular.samples import SAMPLES, clinics
from collab_core.tabular.values import to_numbers
from collab_core.words import your_data as words

from .bureau import records

DATA = Path(__file__).parents[1] / "data"
PERSONS = os.environ.get("COLLAB_CENSUS_PERSONS", "")


def csv(frame: pd.DataFrame, name: str = "table.csv") -> Source:
    return Source(name, frame.to_csv(index=False).encode())


def parquet(frame: pd.DataFrame, name: str = "table.parquet") -> Source:
    held = io.BytesIO()
    frame.to_parquet(held, index=False)
    return Source(name, held.getvalue())


def world(seed: int = 0, sizes=(60, 90, 150, 400), shift: float = 0.0, noise: float = 1.0):
    """A table from a known world, and the truth: theta, covariance, what every agent sees."""
    rng = np.random.default_rng(seed)
    d = 5
    spread = 0.4 * np.eye(d) + 0.6
    theta = np.array([1.0, -0.5, 0.8, 0.0, 0.6])
    views = [[0, 1, 2], [1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 2, 3, 4]]
    parts = []
    for i, n in enumerate(sizes):
        x = rng.multivariate_normal(np.arange(d), spread, n)
        slope = theta + (shift if i == len(sizes) - 1 else 0.0) * np.eye(d)[0]
        y = 3.0 + x @ slope + noise * rng.standard_normal(n)
        part = pd.DataFrame(x, columns=[f"x{j}" for j in range(d)])
        for j in set(range(d)) - set(views[i]):
            part[f"x{j}"] = np.nan
        parts.append(part.assign(site=f"s{i}", y=y))
    frame = pd.concat(parts, ignore_index=True)
    return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True), theta, spread, views


def study_of(frame: pd.DataFrame, **given) -> TableStudy:
    table = Table.open([csv(frame)])
    return TableStudy.of(table, tabular.usual_choice(table, **given))


# Files that are hostile or broken ----------------------------------------------------------------


def zipped() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n")
    return held.getvalue()


GOOD = world()[0]
TEXT = GOOD.to_csv(index=False)

REFUSED = {
    "empty": (b"", "is empty"),
    "binary": (bytes(range(256)) * 40, "binary"),
    "random bytes": (np.random.default_rng(0).bytes(5000), "binary|single line|no table"),
    "zip called csv": (zipped(), "is a zip archive or an Excel workbook"),
    "pickle": (pickle.dumps({"a": 1}), "is a Python pickle, which is never opened"),
    "gzip": (b"\x1f\x8b\x08abc", "gzip-compressed"),
    "picture": (b"\x89PNG\r\n\x1a\n", "is a picture"),
    "web page": (b"<!DOCTYPE html><p>not found", "is a web page"),
    "JSON": (b'{"a": [1, 2]}', "is JSON"),
    "a million columns": (
        (",".join(f"c{j}" for j in range(10**6)) + "\n").encode(), "at most 400 columns"
    ),
    "too many columns": ((",".join(f"c{j}" for j in range(401)) + "\n1\n").encode(), "401 columns"),
    "one line": (b"a,b,c", "single line"),
    "names only": (b"a,b,c\n", "columns but no row"),
    "one column": (b"a\n1\n2\n", "one column only"),
    "no names": (b"1,2,3\n4,5,6\n", "first line holds numbers"),
    "ragged throughout": (b"a,b\n1,2,3\n4,5,6\n7,8\n", "another number of fields"),
    "broken Parquet": (b"PAR1 and then nothing", "begins like Parquet but is broken"),
    "open quote": (b'a,b\n"1,2\n3,4\n5,6\n', "a quote opened in line 2 never closes"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_are_no_tables_get_a_sentence(name):
    content, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence) as caught:
        Table.open([Source("mine.csv", content)])
    assert "mine.csv" in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_files_beyond_the_limits_get_a_sentence(monkeypatch):
    for module, name, limit, sentence in (
        (reading, "MOST_BYTES", 50, "at most 0 MB are read"),
        (reading, "MOST_ROWS", 100, "more than 100 rows"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, limit)
            with pytest.raises(ValueError, match=sentence):
                Table.open([Source("mine.csv", TEXT.encode())])
    half = len(TEXT) // 2 + 100
    with monkeypatch.context() as patch:
        patch.setattr(tabular.profile, "MOST_BYTES", half)
        with pytest.raises(ValueError, match="together the files have"):
            Table.open([Source("a.csv", TEXT.encode()), Source("b.csv", TEXT.encode())])


@pytest.mark.parametrize(
    ("content", "choice", "sentence"),
    [
        ("site,x,y\na,1,2\na,2,3\na,3,5\n", {}, "no column can name the agents"),
        ("site,x,y\na,1,2\nb,2,3\n", {}, "no column can name the agents"),
        ("site,x,y\na,1,2\na,2,2\nb,3,2\nb,4,2\n", {}, "no column is left to predict"),
        ("site,x,y\na,u,v\nb,w,v\na,u,w\nb,u,w\n", {}, "no column can be the target"),
        ("site,x,y\na,1,\na,2,\nb,3,\nb,4,\n", {"target": "y"}, "no row has both site and y"),
        ("site,x,y\na,1,1\na,2,3\nb,3,\nb,4,\n", {"target": "y"}, "site has one value only"),
        ("site,x,y\na,1,1\na,2,1\nb,3,7\nb,4,7\n", {}, "y does not vary within any agent"),
        ("site,x,y\na,1,1\na,1,2\nb,2,3\nb,2,5\n", {"features": ("x",)}, "feature varies within"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_studied_get_a_sentence(content, choice, sentence):
    table = Table.open([Source("mine.csv", content.encode())])
    with pytest.raises(ValueError, match=sentence):
        TableStudy.of(table, tabular.usual_choice(table, **choice))


@pytest.mark.parametrize("name", ["latin", "utf-16", "semicolons", "tabs", "quoted", "crlf", "bom"])
def test_the_same_table_however_it_is_written(name):
    frame = GOOD.assign(who=np.where(GOOD["x2"] > 2, "né,\nold", "new"))
    text = frame.to_csv(index=False)
    content = {
        "latin": text.encode("cp1252"),
        "utf-16": text.encode("utf-16"),
        "semicolons": frame.to_csv(index=False, sep=";", decimal=",").encode(),
        "tabs": frame.to_csv(index=False, sep="\t").encode(),
        "quoted": frame.to_csv(index=False, quoting=1).encode(),
        "crlf": frame.to_csv(index=False, lineterminator="\r\n").encode(),
        "bom": text.encode("utf-8-sig"),
    }[name]
    table = Table.open([Source("mine.csv", content)])
    usual = Table.open([csv(frame)])
    assert [c.kind for c in table.columns] == [c.kind for c in usual.columns]
    chosen = tabular.usual_choice(table)
    found, expected = TableStudy.of(table, chosen), TableStudy.of(usual, chosen)
    assert found.features == expected.features
    assert set(found.survey.levels["who"]) == {"né, old", "new"}
    np.testing.assert_allclose(found.scale, expected.scale)
    assert bool(table.notes) == (name == "latin")


def columnar(**columns) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet

    held = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), held)
    return held.getvalue()


def test_odd_columns_of_parquet_are_passed_over_or_refused_by_a_sentence():
    import pyarrow as pa
    import pyarrow.parquet

    n = len(GOOD)
    usual = {name: GOOD[name].to_numpy() for name in GOOD}
    usual["site"] = GOOD["site"].tolist()
    odd = {
        "raw": pa.array([b"ab\xff", b"c"] * (n // 2)),
        "fixed": pa.array([b"abcd"] * n, pa.binary(4)),
        "uuid": pa.ExtensionArray.from_storage(
            pa.uuid(), pa.array([bytes([j % 256] * 16) for j in range(n)], pa.binary(16))
        ),
        "list": pa.array([[1, 2]] * n),
    }
    table = Table.open([Source("mine.parquet", columnar(**odd, **usual))])
    assert table.names == list(GOOD)
    assert "bytes and no text are passed over: raw, fixed, uuid" in " ".join(table.notes)
    assert TableStudy.of(table, tabular.usual_choice(table)).rows.sum() == n
    with pytest.raises(ValueError, match="lists, structures or bytes only"):
        Table.open([Source("mine.parquet", columnar(**odd))])
    wrong = pa.Array.from_buffers(pa.string(), n, odd["raw"].buffers())
    with pytest.raises(ValueError, match="z holds bytes that are no text"):
        Table.open([Source("mine.parquet", columnar(z=wrong, **usual))])
    # Two columns of one name, and names with points in them.
    held = io.BytesIO()
    names = ["x", "x", "x.a", "y.b", "x4", "site", "y"]
    pyarrow.parquet.write_table(pa.Table.from_pandas(GOOD).rename_columns(names), held)
    table = Table.open([Source("mine.parquet", held.getvalue())])
    assert table.names == ["x", "x (2)", "x.a", "y.b", "x4", "site", "y"]
    found = np.concatenate(
        [to_numbers(batch["x (2)"]).values for _, batch in table.batches(["site", "x (2)"])]
    )
    np.testing.assert_array_equal(found, GOOD["x1"])


def test_a_small_parquet_file_does_not_unpack_to_gigabytes(monkeypatch):
    import pyarrow as pa

    n = len(GOOD)
    many = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array(["x" * 100_000]))
    content = columnar(site=GOOD["site"].tolist(), y=GOOD["y"].to_numpy(), z=many)
    assert len(content) < 100_000
    with pytest.raises(ValueError, match="a cell of z has 100,000 bytes"):
        Table.open([Source("mine.parquet", content)])
    texts = columnar(site=GOOD["site"].tolist(), y=GOOD["y"].to_numpy(),
                     z=[f"{j:05d}" * 2000 for j in range(n)])  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(reading, "MOST_UNPACKED", 2**20)
        with pytest.raises(ValueError, match="z unpacks to 7 MB in one piece"):
            Table.open([Source("mine.parquet", texts)])
    monkeypatch.setattr(reading, "BLOCK_BYTES", 2**14)
    layout = reading.examine(Source("mine.parquet", texts))
    # Rows at a time are bounded by what they unpack to.
    assert max(len(batch["z"]) for batch in reading.batches(layout)) < 20


def test_some_ragged_rows_are_left_out_and_said():
    table = Table.open([Source("mine.csv", (TEXT + "1,2\n3,4\n").encode())])
    assert table.rows == len(GOOD)
    assert any("2 rows with another number of fields" in note for note in table.notes)


def test_odd_numbers_are_said():
    frame = GOOD.astype({"x2": object})
    frame.loc[3, "x2"], frame.loc[4, "x2"] = "inf", "1,5"
    table = Table.open([csv(frame)])
    assert "decimal comma" in table.column("x2").note
    assert table.column("x2").kind == "mixed"
    frame = GOOD.copy()
    frame.loc[3, "x2"] = np.inf
    table = Table.open([csv(frame)])
    assert "1 value infinite or beyond 1e+100" in table.column("x2").note
    study = TableStudy.of(table, tabular.usual_choice(table))
    assert any("1 row with a gap" in note for note in study.notes)


def swallowing(line: int, column: int, *, more: str = "") -> bytes:
    """A table of 2,000 rows in which one cell opens a quote that it does not close."""
    rows = [["site", "x", "y", "note"]]
    rows += [[f"s{j % 3}", f"{j % 17}", f"{j % 13}", "ok"] for j in range(2000)]
    rows[line - 1][column] = '"unfinished'
    return ("\n".join(",".join(row) for row in rows) + "\n" + more).encode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (swallowing(101, 3), "a quote opened in line 101 does not close for 1,000 lines"),
        (swallowing(101, 1), "a quote opened in line 101 does not close for 1,000 lines"),
        (swallowing(1901, 3), "a quote opened in line 1,901 never closes"),
        (swallowing(1999, 3, more='s1,2,3,"fine, really"\n'), "in the middle of a cell"),
        (swallowing(1991, 3, more='s1,2,3,"\n'), "what is inside looks like rows"),
        (swallowing(1, 3), "a quote opened in line 1 does not close for 1,000 lines"),
    ],
)
def test_a_quote_that_never_closes_loses_no_rows_in_silence(content, sentence):
    with pytest.raises(ValueError, match=sentence):
        Table.open([Source("mine.csv", content)])


def test_a_quote_in_a_file_of_many_blocks_gets_the_same_sentence(monkeypatch):
    monkeypatch.setattr(reading, "BLOCK_BYTES", 2000)
    with pytest.raises(ValueError, match="a quote opened in line 101 does not close"):
        Table.open([Source("mine.csv", swallowing(101, 3))])
    long = TEXT + "s1," + "9" * 5000 + ",1,1,1,1,1\n"
    with pytest.raises(ValueError, match="a row is longer than"):
        Table.open([Source("mine.csv", long.encode())])


def test_lines_and_quotes_inside_of_cells_are_read():
    cells = ["one\ntwo, three\n\nfour", 'he said "no"\nand left', 'a 5" pipe', "x,\n" * 30, ""]
    frame = GOOD.assign(note=[cells[j % 5] for j in range(len(GOOD))])
    for quoting in (0, 1):
        table = Table.open(
            [Source("mine.csv", frame.to_csv(index=False, quoting=quoting).encode())]
        )
        assert table.rows == len(GOOD)
        assert not table.notes
    # A quote that does not begin a cell is a sign like any other.
    plain = "\n\nsite,size,y\n" + 's0,5" pipe,1\ns1,3" pipe,2\n' * 30
    table = Table.open([Source("mine.csv", plain.encode())])
    assert table.rows == 60
    assert table.column("size").values == ('3" pipe', '5" pipe')
    excel = "sep=;\n" + GOOD.to_csv(index=False, sep=";", decimal=",")
    assert Table.open([Source("mine.csv", excel.encode())]).names == list(GOOD)


@given(
    st.lists(st.lists(st.text('a",;\n ', max_size=6), min_size=3, max_size=3), max_size=8),
    st.sampled_from([",", ";"]),
)
def test_what_is_written_properly_has_no_stray_quote(rows, delimiter):
    held = io.StringIO()
    writer = csv_module.writer(held, delimiter=delimiter, lineterminator="\n")
    writer.writerows([["a", "b", "c"], *rows])
    told = quotes.stray(held.getvalue().split("\n"), delimiter, 3)
    # Lines of prose with just as many delimiters as the table has are taken for rows.
    assert told == "" or "looks like rows" in told


@given(st.binary(max_size=300))
def test_any_bytes_at_all_give_a_table_or_a_sentence(content):
    # Anything but a ValueError fails the test.
    with contextlib.suppress(ValueError):
        Table.open([Source("mine.csv", content)])


def amounts(values: list[str], delimiter: str = ",", **more: list[str]) -> tuple[str, np.ndarray]:
    """A column's note, and its values as a study reads them, the last agent's first."""
    frame = pd.DataFrame({"site": ["a", "b"] * (len(values) // 2), "x": values, **more})
    frame["y"] = np.arange(len(values)) % 7
    content = frame.to_csv(index=False, sep=delimiter).encode()
    table = Table.open([Source("mine.csv", content)])
    chosen = Choice("y", "site", ("x",))
    values = [piece.numbers("x") for piece in pieces.pieces(table, chosen, None, None)]
    return table.column("x").note, np.concatenate(values)


@pytest.mark.parametrize(
    ("texts", "delimiter", "values", "note"),
    [
        (["1,244", "642"], ",", [1244, 642], "Commas mark thousands."),
        (["1,000,000", "1,244"], ";", [1e6, 1244], "Commas mark thousands."),
        (["1,244", "642.5"], ";", [1244, 642.5], "Commas mark thousands."),
        (["1,244.5", "12"], ",", [1244.5, 12], "Commas mark thousands."),
        (["1,24", "642"], ",", [1.24, 642], "Written with decimal commas."),
        (["0,125", "1,250"], ";", [0.125, 1.25], "Written with decimal commas."),
        (["1.244,5", "642"], ";", [1244.5, 642], "Written with decimal commas."),
        (["1.000.000", "12"], ";", [1e6, 12], ""),
        (["1,244", "642"], ";", [1.244, 642], "could mark thousands"),
        (["\u22125", "NA"], ",", [-5, np.nan], "'NA' is read as missing."),
        (["1e150", "3", "4", "5"], ",", [np.nan, 3, 4, 5], "1 value infinite or beyond 1e+100"),
    ],
)
def test_numbers_are_read_as_they_are_meant(texts, delimiter, values, note):
    # Three different values at least, so that nothing is constant.
    told, found = amounts([*texts, "7", "8"], delimiter)
    np.testing.assert_allclose(found[: len(values)], values)
    assert note in told


def test_other_columns_say_what_a_comma_means():
    decimal, thousands = ["1,5", "2,5", "3,5", "4"], ["1.5", "2.5", "3.5", "4"]
    told, found = amounts(["1,244", "642", "7", "8"], ";", z=decimal)
    assert found[0] == 1.244
    assert "as in other columns" in told
    told, found = amounts(["1,244", "642", "7", "8"], ";", z=thousands)
    assert found[0] == 1244
    assert "thousands" in told


def test_words_that_mean_something_are_no_gaps():
    rng = np.random.default_rng(0)
    smoke = rng.choice(["none", "daily", "weekly"], len(GOOD))
    frame = GOOD.assign(smoke=smoke, site=GOOD["site"].replace({"s0": "NA"}))
    table = Table.open([csv(frame)])
    assert table.column("smoke").missing == 0
    assert table.column("smoke").note == "'none' is read as a value of its own."
    study = TableStudy.of(table, tabular.usual_choice(table))
    assert study.agents == ("NA", "s1", "s2", "s3")
    assert study.rows.sum() == len(GOOD)
    # Signs that are no word are gaps anywhere, and that is said.
    signs = Table.open([csv(frame.assign(smoke=frame["smoke"].replace("daily", "?")))])
    assert signs.column("smoke").missing == (smoke == "daily").sum()
    assert signs.column("smoke").note.endswith("'?' is read as missing.")
    # R writes NA for every gap, and then it is one among names too.
    written = frame.assign(site=GOOD["site"]).to_csv(index=False, na_rep="NA")
    written = written.replace("daily", "NA")
    table = Table.open([Source("r.csv", written.encode())])
    assert table.column("smoke").missing == (smoke == "daily").sum()
    assert "'NA' is read as missing, as among this table's numbers" in table.column("smoke").note
    assert table.column("x0").note == "'NA' is read as missing."
    # An agent that has nothing but NA does not see the column.
    frame = frame[["site", "smoke", "x2", "y"]].assign(site=GOOD["site"])
    frame.loc[frame["site"] == "s1", "smoke"] = "NA"
    study = study_of(frame)
    assert not study.seen.loc["s1", "smoke"]
    assert study.seen.loc["s0", "smoke"]
    assert any("in every row of s1: not seen there" in note for note in study.notes)


# Columns -----------------------------------------------------------------------------------------


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


def test_absurd_numbers_are_gaps_and_said():
    frame = GOOD.copy()
    frame.loc[3, "x2"] = 1e150
    frame["x1"] *= 1e200
    table = Table.open([csv(frame)])
    assert "1 value infinite or beyond 1e+100" in table.column("x2").note
    assert table.column("x1").kind == "empty"
    assert "infinite or beyond" in table.column("x1").note
    study = tabular.analyse(table, tabular.usual_choice(table))
    assert len(words.overall(study)) < 200
    assert np.isfinite(study.verdicts["change"].to_numpy(float)).all()
    with pytest.raises(ValueError, match="no row has both site and y"):
        study_of(GOOD.assign(y=GOOD["y"] * 1e200), target="y")
    # What is only very large is written short.
    frame = GOOD.copy()
    frame.loc[3, "x2"] = 1e60
    table = Table.open([csv(frame)])
    assert len(words.overall(tabular.analyse(table, tabular.usual_choice(table)))) < 200


def test_copies_and_combinations_are_found_and_named():
    frame, *_ = world()
    frame = frame.assign(pounds=2.2 * frame["x2"], total=frame["x0"] - 2 * frame["x1"] + 7)
    notes = study_of(frame).notes
    assert "pounds says the same as x2 (a multiple of it): left out." in notes
    # x0 and x1 together are seen by two agents only; the sum is missing elsewhere.
    assert "total follows exactly from x0, x1: left out." in notes


def test_few_rows_are_not_taken_for_collinear_columns():
    frame, *_ = world(sizes=(4, 5, 150, 400))
    study = study_of(frame)
    assert len(study.features) == 5
    assert "s0" in study.left_out


def test_rare_levels_are_grouped_and_said():
    rng = np.random.default_rng(0)
    frame = GOOD.assign(
        kind=rng.choice(["a", "b", "c", "d"], len(GOOD), p=[0.6, 0.39, 0.005, 0.005])
    )
    study = study_of(frame)
    assert [f.name for f in study.features if f.source == "kind"] == ["kind = b", "kind = other"]
    assert any("2 rare levels" in note for note in study.notes)
    whole = study_of(frame, rare=0.0)
    assert sum(f.source == "kind" for f in whole.features) == 3


# Sums against raw rows ---------------------------------------------------------------------------


def test_pieces_of_any_size_give_the_same_sums(monkeypatch):
    frame, *_ = world()
    once = study_of(frame)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(reading, "BATCH_ROWS", 37)
    for source in (csv(frame), parquet(frame)):
        table = Table.open([source])
        again = TableStudy.of(table, tabular.usual_choice(table))
        for one, two in zip(once.folds, again.folds, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)


def by_hand(frame: pd.DataFrame, views, folds: np.ndarray, held_out) -> dict[str, list[float]]:
    """Held-out errors from raw rows: local least squares, COLLAB, imputation, naive."""
    d = 5
    train, tests, moments = [], [], []
    for i, view in enumerate(views):
        mine = frame[frame["site"] == f"s{i}"]
        x, y = mine[[f"x{j}" for j in view]].to_numpy(), mine["y"].to_numpy()
        out = np.isin(folds[i], held_out)
        train.append((x[~out], y[~out]))
        tests.append((x[out], y[out]))
        moments.append(cc.Moments.from_arrays(*train[-1]).centred())
    total, freedom = np.zeros((d, d)), np.zeros((d, d))
    for view, moment in zip(views, moments, strict=True):
        total[np.ix_(view, view)] += moment.xx
        freedom[np.ix_(view, view)] += moment.n - 1
    covariance = total / freedom
    estimates = {
        "collab": cc.estimators.collab(moments, views, covariance),
        "collab_plus": cc.estimators.collab_plus(moments, views, covariance),
        "imputation": cc.estimators.global_imputation(moments, views, covariance),
        "pooled_moments": cc.estimators.pooled_moments(moments, views, covariance),
        "naive_collab": cc.estimators.naive_collab(moments, views, d),
    }
    found: dict[str, list[float]] = {}
    for i, (x, y) in enumerate(tests):
        middle, mean = train[i][0].mean(axis=0), train[i][1].mean()
        base = ((y - mean) ** 2).mean()
        models = {key: estimate.local(i) for key, estimate in estimates.items()}
        models["local"] = np.linalg.lstsq(train[i][0] - middle, train[i][1] - mean, rcond=None)[0]
        for key, model in models.items():
            found.setdefault(key, []).append(((y - mean - (x - middle) @ model) ** 2).mean() / base)
    return found


def test_held_out_errors_are_those_of_raw_rows():
    frame, _, _, views = world()
    study = study_of(frame, shuffle=False)
    folds = [np.arange((frame["site"] == f"s{i}").sum()) % tabular.FOLDS for i in range(4)]
    for held_out in ([0, 5, 10, 15], [1, 2, 3, 4]):
        errors, notes = study.errors([held_out])
        assert not notes
        expected = by_hand(frame, views, folds, held_out)
        for method in tabular.compared():
            # Naive averages depend on the scale that least squares is told of; it is told.
            np.testing.assert_allclose(errors[method][0], expected[method], rtol=1e-7)


def test_rows_are_dealt_evenly_and_by_the_seed():
    chosen = Choice("y", "site", ("x0",))
    number = np.arange(1000)
    fold = folds.dealt(number, 0, chosen)
    assert (np.bincount(fold) == 50).all()
    assert (fold != number % tabular.FOLDS).any()
    parts = [folds.dealt(part, 0, chosen) for part in np.array_split(number, 13)]
    np.testing.assert_array_equal(np.concatenate(parts), fold)
    assert (folds.dealt(number, 1, chosen) != fold).any()
    other = Choice("y", "site", ("x0",), seed=1)
    assert (folds.dealt(number, 0, other) != fold).any()


def test_gaps_are_left_out_or_filled_as_asked_and_said():
    frame, *_ = world()
    holes = frame.index[frame["site"] == "s3"][:40]
    frame.loc[holes, "x1"] = np.nan
    dropped, filled = study_of(frame), study_of(frame, gaps="mean")
    assert dropped.rows[3] == 360
    assert filled.rows[3] == 400
    assert any("40 rows with a gap" in note and "left out" in note for note in dropped.notes)
    assert any("filled with what the rest of the row suggests" in note for note in filled.notes)
    assert filled.filled == ["s3"]
    again = study_of(frame.drop(index=holes))
    np.testing.assert_allclose(dropped.scale, again.scale)


def test_filling_gaps_bends_nobodys_relation():
    rng = np.random.default_rng(5)
    n = 6000
    parts = []
    for site in "ABC":
        x1 = rng.standard_normal(n)
        x2 = 0.8 * x1 + 0.6 * rng.standard_normal(n)
        part = pd.DataFrame({"site": site, "x1": x1, "x2": x2, "x3": rng.standard_normal(n)})
        part["y"] = x1 + x2 + rng.standard_normal(n)
        if site == "A":
            part.loc[rng.random(n) < 0.5, "x2"] = np.nan
            part.loc[rng.random(n) < 0.2, "x3"] = np.nan
        parts.append(part)
    study = study_of(pd.concat(parts), gaps="mean")
    assert study.filled == ["A"]
    for agent in "ABC":
        frame = study.coefficients(agent).iloc[1:]
        for name, low, high in (("together", "low", "high"), ("alone", "alone_low", "alone_high")):
            # 18 intervals; three standard errors each, a jackknife of 20 parts behind them.
            error = (frame[high] - frame[low]) / 2 / 2.093
            assert ((frame[name] - [1.0, 1.0, 0.0]).abs() < 3.5 * error).all()
            assert (error < 0.04).all()
    assert (study.shift["adjusted"] > 0.05).all()
    np.testing.assert_allclose(study._whole.geometry.covariance[0][0, 1], 0.8, atol=0.02)
    assert "gaps of A" in words.filled(study)
    assert words.filled(study_of(pd.concat(parts))) == ""


def test_what_varies_by_filling_alone_has_no_say():
    # Insurance has gaps, and a clinic can have none of a rare level but in a gap.
    table = Table.open([DATA / SAMPLES["clinics"].file])
    filled = tabular.analyse(table, tabular.usual_choice(table, gaps="mean"))
    dropped = tabular.analyse(table, tabular.usual_choice(table))
    assert filled.rows.sum() > dropped.rows.sum()
    ratio = filled.results["relative"] / dropped.results["relative"]
    # A handful of rows in a hundred: all errors stay about what they are.
    assert ratio.between(0.8, 1.25).all()


def test_what_an_agent_hardly_has_is_not_seen_by_it_and_said():
    frame, *_ = world()
    few = frame.index[frame["site"] == "s0"][:2]
    frame.loc[few, "x3"] = 1.0
    study = study_of(frame)
    assert not study.seen.loc["s0", "x3"]
    assert any("s0 has x3 in 2 of 60 rows" in note for note in study.notes)


def test_several_files_are_one_agent_each():
    frame, *_ = world()
    files = [
        csv(part.drop(columns="site").dropna(axis=1, how="all"), f"{name}.csv")
        for name, part in frame.groupby("site")
    ]
    table = Table.open(files)
    study = TableStudy.of(table, tabular.usual_choice(table))
    assert study.agents == ("s0", "s1", "s2", "s3")
    usual = study_of(frame)
    pd.testing.assert_frame_equal(study.seen, usual.seen[list(study.seen.columns)])
    np.testing.assert_allclose(sorted(study.scale), sorted(usual.scale))


def test_logarithms_and_agents_that_are_left_out():
    frame, *_ = world()
    frame["y"] = np.exp(frame["y"] / 3)
    frame.loc[0, "y"] = -1.0
    study = study_of(frame, log=True, without=("s1",))
    assert study.agents == ("s0", "s2", "s3")
    assert any("1 row whose y is not above 0" in note for note in study.notes)
    plain = study_of(frame.drop(index=0).assign(y=np.log(frame["y"].clip(1e-9))), without=("s1",))
    np.testing.assert_allclose(study.label_scale, plain.label_scale)


# What nobody sees together -----------------------------------------------------------------------


def test_pairs_that_nobody_has_leave_own_models_and_no_model_of_all():
    frame, *_ = world()
    frame = frame[frame["site"] != "s3"]
    study = study_of(frame)
    assert study.unseen_pairs == []
    frame = frame[frame["site"] != "s2"]
    study = study_of(frame)
    assert ("x0", "x3") in study.unseen_pairs
    assert not study.has_full_model
    assert study.full_model() is None
    assert "x0 and x3" in words.coverage(study)
    with pytest.raises(ValueError, match="no agent has both x0 and x3"):
        study.problem()
    verdicts = study.verdicts
    assert verdicts["together"].notna().all()
    missing = study.results[study.results["method"] == "collab_plus"]
    assert missing["relative"].isna().all()
    assert missing["note"].str.contains("COLLAB\\+ needs the covariance of every pair").all()


def test_own_models_do_not_depend_on_what_is_filled_in():
    frame, *_ = world()
    frame = frame[frame["site"].isin(["s0", "s1"])]
    study = study_of(frame)
    moments = study._whole.moments
    one = [cc.Moments(m.n[0], m.xx[0], m.xy[0], m.yy[0], is_centred=True) for m in moments]
    filled = study.covariance(moments)[0]
    other = filled.copy()
    other[0, 3] = other[3, 0] = filled[0, 3] + 0.05
    for agent in (0, 1):
        a, b = (
            cc.estimators.collab(one, study.views, matrix).local(agent)
            for matrix in (filled, other)
        )
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_rows_without_a_target_tell_how_features_go_together():
    frame, _, spread, _ = world()
    rng = np.random.default_rng(9)
    more = pd.DataFrame(rng.multivariate_normal(np.zeros(5), spread, 3000), columns=list(frame)[:5])
    both = pd.concat([frame[frame["site"].isin(["s0", "s1"])], more.assign(site="pool")])
    study = study_of(both, target="y", sigma="unlabelled")
    assert study.agents == ("s0", "s1")
    assert study.has_full_model
    assert any("3,000 rows without y: used for covariances only" in note for note in study.notes)
    assert "rows without a target tell" in words.coverage(study)
    matrix = study.covariance([]) * np.outer(study.scale, study.scale)
    np.testing.assert_allclose(matrix, np.cov(more.to_numpy().T), rtol=1e-9)
    few = pd.concat([frame[frame["site"].isin(["s0", "s1"])], more.head(3).assign(site="pool")])
    short = study_of(few, target="y", sigma="unlabelled")
    with pytest.raises(ValueError, match="3 complete rows without y are too few"):
        short.errors([[0]])


@given(st.integers(0, 10**6), st.integers(3, 7))
def test_filling_in_keeps_what_is_known(seed, d):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d + 3))
    matrix = root @ root.T
    known = np.ones((d, d), dtype=bool)
    known[0, d - 1] = known[d - 1, 0] = False
    filled = sigma.completed(np.where(known, matrix, np.nan), known)
    assert np.linalg.eigvalsh(filled)[0] > 0
    # A filling in exists here: what is known stays.
    scale = np.sqrt(np.diag(matrix))
    assert (np.abs(filled - matrix)[known] / np.outer(scale, scale)[known]).max() < 2e-3


def test_entries_that_disagree_are_not_divided_by():
    # Two nearly equal columns, as different agents saw them: indefinite by a hundredth.
    matrix = np.array([[1.0, 0.99, 0.3], [0.99, 1.0, 0.5], [0.3, 0.5, 1.0]])
    lowest = np.linalg.eigvalsh(matrix)[0]
    assert lowest < 0
    assert np.linalg.eigvalsh(sigma.steadied(matrix))[0] > -lowest
    fine = np.array([[1.0, 0.2], [0.2, 1.0]])
    np.testing.assert_array_equal(sigma.steadied(fine), fine)


# Truth -------------------------------------------------------------------------------------------


def test_the_truth_is_recovered_and_intervals_cover():
    covered, alone = [], []
    for seed in range(40):
        frame, theta, spread, views = world(seed)
        table = Table.open([parquet(frame)])
        study = TableStudy.of(table, tabular.usual_choice(table))
        for i, view in enumerate(views):
            truth = np.linalg.solve(spread[np.ix_(view, view)], spread[view] @ theta)
            found = study.coefficients(i).iloc[1:]
            covered.append(((found["low"] <= truth) & (truth <= found["high"])).to_numpy())
            alone.append(
                ((found["alone_low"] <= truth) & (truth <= found["alone_high"])).to_numpy()
            )
    for inside in (covered, alone):
        rates = np.array([row.mean() for row in inside], dtype=float)
        # Coefficients of a table are dependent; tables are not.
        by_table = rates.reshape(40, 4).mean(axis=1)
        error = by_table.std(ddof=1) / np.sqrt(40)
        assert abs(by_table.mean() - 0.95) < 3 * error + 0.01
    frame, theta, spread, _ = world(1, sizes=(20_000, 20_000, 20_000, 20_000))
    whole = study_of(frame).full_model()
    np.testing.assert_allclose(whole[1], theta, atol=0.03)
    assert whole[0] == pytest.approx(3.0, abs=0.1)


def test_verdicts_find_gains_and_losses_and_do_not_invent_them():
    gained = study_of(world(3, sizes=(14, 16, 40, 3000))[0]).verdicts.set_index("agent")
    assert gained["change"].iloc[:2].max() < 0
    lost = study_of(world(4, sizes=(400, 400, 400, 60), shift=-2.0)[0])
    assert lost.verdicts.set_index("agent").loc["s3", "verdict"] == "loses"
    assert "s3 loses" in words.summary(lost) or "loses" in words.summary(lost)
    # Where all agents have plenty of rows there is nothing to gain: false findings are rare.
    found = [
        study_of(world(seed, sizes=(500, 500, 500, 500))[0]).verdicts["verdict"]
        for seed in range(12)
    ]
    loses = np.mean([verdict == "loses" for one in found for verdict in one])
    assert loses <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 48)


def test_shift_is_found_where_it_is_and_not_elsewhere():
    homogeneous = [study_of(world(seed)[0]).shift["p"].astype(float) for seed in range(15)]
    false = np.mean([(p < 0.05).any() for p in homogeneous])
    assert false <= 4 * 0.05 + 3 * np.sqrt(0.2 * 0.8 / 15)
    shifted = study_of(world(2, shift=1.0)[0])
    worst = shifted.shift.set_index("agent").loc["s3"]
    assert worst["feature"] == "x0"
    assert worst["low"] < 1.0 < worst["high"] + 0.6
    assert worst["adjusted"] < 0.01
    assert "s3" in words.shift(shifted)


def test_the_shift_test_is_collab_of_the_others():
    study = study_of(world(2, shift=1.0)[0])
    fits = study._whole
    for agent in range(4):
        others = [i for i in range(4) if i != agent]
        scratch = cc.estimators.collab(
            [fits.moments[i] for i in others], [study.views[i] for i in others],
            fits.geometry.covariance,
        )  # fmt: skip
        view = study.views[agent]
        block = fits.geometry.covariance[:, view[:, None], view]
        expected = np.linalg.solve(block, scratch.phi[:, view, None])[..., 0]
        np.testing.assert_allclose(fits.implied_by_others(agent, view), expected, rtol=1e-9)


def test_a_wide_table_is_studied_in_groups_with_the_same_results(monkeypatch):
    table = Table.open([csv(world(2, sizes=(60, 90, 150, 5))[0])])
    chosen = tabular.usual_choice(table)
    once = tabular.analyse(table, chosen)
    monkeypatch.setattr(tabular.study, "STACK_BYTES", 20_000)
    assert len(TableStudy.of(table, chosen)._groups(20)) > 3
    shares: list[float] = []
    again = tabular.analyse(table, chosen, progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) > 40
    for part in (
        lambda study: study.verdicts,
        lambda study: study.results,
        lambda study: study.shift,
        lambda study: study.coefficients(1),
    ):
        pd.testing.assert_frame_equal(part(once), part(again), rtol=1e-9)
    # Stop is heard between the groups, and between the agents of one.
    cancel = Event()

    def stop(share: float) -> None:
        if share > 0.93:
            cancel.set()

    with pytest.raises(ValueError, match="the study was stopped"):
        tabular.analyse(table, chosen, progress=stop, cancel=cancel)


def test_few_rows_get_no_verdict_and_say_why():
    study = study_of(world(1, sizes=(8, 9, 150, 400))[0])
    row = study.verdicts.set_index("agent").loc["s0"]
    assert row["verdict"] == "too few rows"
    assert pd.isna(row["low"])
    assert study.results.set_index("agent").loc["s0", "low"].isna().all()
    said = words.verdict(study.verdicts.iloc[0])
    assert "8 rows are too few for an interval" in said
    assert "s0" in words.summary(study)
    assert study.verdicts.set_index("agent").loc["s2", "low"] is not pd.NA


def test_heavy_tails_are_found():
    frame, *_ = world()
    assert "no heavy tails" in words.tails(study_of(frame))
    rng = np.random.default_rng(0)
    frame["y"] += rng.standard_t(2.1, len(frame))
    study = study_of(frame)
    assert study.tails["heavy"].any()
    assert "have heavy tails" in words.tails(study)


def test_residuals_are_those_of_the_model():
    frame, _, _, views = world()
    study = study_of(frame)
    model = study.coefficients(1)["together"].to_numpy(dtype=float)
    mine = frame[frame["site"] == "s1"]
    fitted = model[0] + mine[[f"x{j}" for j in views[1]]].to_numpy() @ model[1:]
    found = study.residuals("s1").sort_values("fitted")
    np.testing.assert_allclose(found["fitted"], np.sort(fitted), rtol=1e-9)
    np.testing.assert_allclose(found["residual"].sum(), (mine["y"] - fitted).sum(), atol=1e-6)


def test_a_study_makes_a_world():
    study = study_of(world(1, sizes=(4000, 4000, 4000, 4000))[0])
    problem = study.problem()
    assert problem.noise * study.label_scale == pytest.approx(1.0, abs=0.05)
    assert problem.agents == 4
    np.testing.assert_allclose(problem.shares, 1.0)


# The census as a plain table ---------------------------------------------------------------------


def plain_people(frame: pd.DataFrame) -> tuple[pd.DataFrame, Layout]:
    """People who count, answers as the census pipeline reads them, under the file's own names."""
    layout = Layout.of(list(frame.columns))
    counts = (frame["AGEP"] > 16) & (frame["ESR"] == 1) & (frame["JWMNP"] > 0)
    if "PWGTP" in frame:
        counts &= frame["PWGTP"] >= 1
    kept = frame[counts]
    people = kept[[layout.state, *layout.columns.values(), "JWMNP"]].astype(float)
    if layout.columns.get("MIG") == "MIGSP":
        moved = people["MIGSP"]
        people["MIGSP"] = np.where(moved.isna(), 1.0, np.where(moved > 72, 2.0, 3.0))
    return people.fillna(0.0).reset_index(drop=True), layout


def check_against_census(frame: pd.DataFrame, sums: census.CensusSums, states: list[str]) -> None:
    people, layout = plain_people(frame)
    names = {name: code for code, name in STATES.items()}
    people = people[people[layout.state].isin([names[s] for s in states])]
    order = people.groupby(layout.state).cumcount()
    for pattern in ("all", "paper"):
        table = people.copy()
        asked = dict.fromkeys(states, sums.questions)
        if pattern == "paper":
            asked = census.paper_views(states, sums.questions)
            # The census knows how all answers go together, from the training people: rows without
            # a target tell it here.
            unlabelled = table[order % 5 != 0].assign(JWMNP=np.nan)
            for state in states:
                for key, column in layout.columns.items():
                    if key not in asked[state]:
                        table.loc[table[layout.state] == names[state], column] = np.nan
            table = pd.concat([table, unlabelled])
        opened = Table.open([parquet(table)])
        levels = [c for key, c in layout.columns.items() if QUESTIONS[key].levels]
        study = TableStudy.of(
            opened,
            Choice(
                "JWMNP", layout.state, tuple(layout.columns.values()), tuple(levels), log=True,
                rare=0.0, shuffle=False, sigma="agents" if pattern == "all" else "unlabelled",
            ),
        )  # fmt: skip
        errors, _ = study.errors([[0, 5, 10, 15]])
        chosen = census.Choice(
            tuple(states), tuple(asked[s] for s in states), states[-1], own=True, log=True
        )
        page = census.Study(sums, chosen)
        measured = page.measured().set_index("state")
        for i, code in enumerate(study.agents):
            state = STATES[int(code)]
            assert errors["local"][0, i] == pytest.approx(measured.loc[state, "alone"], rel=1e-8)
            assert errors["collab"][0, i] == pytest.approx(
                measured.loc[state, "together"], rel=1e-8
            )
        target = [STATES[int(code)] for code in study.agents].index(states[-1])
        results = page.results(0).set_index("method")
        for method in tabular.compared():
            assert errors[method][0, target] == pytest.approx(
                results.loc[method, "relative"], rel=1e-6
            )


def test_the_census_as_a_plain_table_gives_the_census_pages_results(tmp_path):
    frame = records(6000, seed=4)
    # 11 is working at home: nobody who travels, and no level of the census page's.
    frame = frame[frame["JWTR"] != 11]
    frame.to_csv(tmp_path / "people.csv", index=False)
    check_against_census(
        frame, census.sums_of_files([tmp_path / "people.csv"], "made up"), ["CA", "NY", "IL"]
    )


@pytest.mark.skipif(not Path(PERSONS).is_file(), reason="COLLAB_CENSUS_PERSONS names no file")
def test_real_records_as_a_plain_table_give_the_census_pages_results():
    check_against_census(
        pd.read_parquet(PERSONS), census.sums_of_files([PERSONS], "real"),
        ["NY", "PA", "OH", "FL", "IL"],
    )  # fmt: skip


# Taking away -------------------------------------------------------------------------------------


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
        model.predict(Table.open([Source("b.csv", b"a,b\n1,2\n3,4\n")]))


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


# Numbers as people write them --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1.234.567", "827.140", "950", "12.500"], [1234567, 827140, 950, 12500]),
        (["1.234,5", "-1.234", "0,5", "7"], [1234.5, -1234, 0.5, 7]),
    ],
)
def test_points_that_mark_thousands_do_so_in_the_whole_column(texts, values):
    told, found = amounts(texts, ";")
    np.testing.assert_allclose(found, values)
    assert "Points mark thousands." in told


def test_pieces_without_a_sure_number_are_read_as_the_others(monkeypatch):
    # The only number that says what points mean is in the last of many pieces.
    monkeypatch.setattr(reading, "BLOCK_BYTES", 4096)
    texts = [f"{1 + j % 9}.{100 + j % 800}" for j in range(1999)] + ["1.234.567"]
    told, found = amounts(texts, ";")
    np.testing.assert_array_equal(found, [float(text.replace(".", "")) for text in texts])
    assert "Points mark thousands." in told


def test_other_columns_say_what_a_point_means():
    ambiguous, sure = ["1.244", "642", "7", "8"], ["1.234.567", "2", "3", "4"]
    for other in (sure, ["1,5", "2,5", "3", "4"]):
        told, found = amounts(ambiguous, ";", z=other)
        np.testing.assert_allclose(found, [1244, 642, 7, 8])
        assert "Points are read as marking thousands (1.244 as 1244)" in told
    # A decimal point elsewhere, or nothing: as computers write.
    told, found = amounts(ambiguous, ";", z=sure, w=["1.5", "2.5", "3", "4"])
    assert (found[0], told) == (1.244, "")
    assert amounts(ambiguous, ";")[1][0] == 1.244


def test_points_that_mean_two_things_are_mixed():
    frame = GOOD.assign(x2=["1.234.567", "1.5", "1.234", "0.125"] * (len(GOOD) // 4))
    for cells, kind in ((frame["x2"], "mixed"), (frame["x2"].mask(frame.index < 5, "few"), "text")):
        table = Table.open([csv(frame.assign(x2=cells))])
        assert table.column("x2").kind == kind
        assert "1.234 could mean two things" in table.column("x2").note
        assert "x2" not in table.can_be_target()


@pytest.mark.parametrize(
    ("written", "sign"),
    [
        ("{}%", "%"),
        ("{},5 %", "%"),
        ("${}.96", "$"),
        ("-\u20ac{}", "\u20ac"),
        ("{} EUR", "EUR"),
        ("CHF 1'{}00.50", "CHF"),
        ("1'{}00", "apostrophes"),
        ("1\u202f{}00", "spaces"),
    ],
)
@pytest.mark.parametrize("few", [True, False])
def test_numbers_with_a_sign_are_no_names(written, sign, few):
    # Few different ones would be a category and many an identifier, though they are amounts.
    many = np.arange(len(GOOD)) % (3 if few else 9) + 1
    cells = [written.format(j) for j in many]
    if not few:
        # Small ones may be written without.
        cells[::3] = [str(j) for j in many[::3]]
    for source in (csv(GOOD.assign(x2=cells)), parquet(GOOD.assign(x2=cells))):
        table = Table.open([source])
        column = table.column("x2")
        told = f"Looks like numbers with {sign}: write them without to use them as amounts."
        assert (column.kind, column.note) == ("text", told)
        assert "x2" not in tabular.usual_choice(table).features
        assert "x2" not in table.can_be_target()


@pytest.mark.parametrize(
    "written", ["{}-20", "<{}", "{} kg", "EUR{}x", "v{}", "R{}", "%{}a", "{}A"]
)
def test_names_that_hold_digits_stay_names(written):
    cells = [written.format(1 + j % 3) for j in range(len(GOOD))]
    assert Table.open([csv(GOOD.assign(x2=cells))]).column("x2").kind == "category"


ADDRESS = "A, B, C, D\nE, F, G, H\nI, J, K, L"


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("tight", [True, False])
def test_an_address_whose_lines_look_like_rows_is_a_cell(place, tight):
    inner = f"12 Main, Flat 2, Town, X\n{ADDRESS}\nend"
    if tight:
        # Without blanks only the lines at its ends tell: here the first has one comma more.
        inner = "Flat 2, " + inner.replace(", ", ",")
    frame = GOOD[["site", "x2", "y"]].copy()
    frame.insert(place, "note", [inner if j == 7 else "ok" for j in range(len(GOOD))])
    table = Table.open([csv(frame)])
    assert table.rows == len(GOOD)
    assert not table.notes


def test_rows_between_two_stray_quotes_are_not_taken_for_an_address():
    rows = [f"s{j % 3},{j % 17},{j % 13},ok" for j in range(60)]
    # Both are in the same column, so the row has as many cells as the others.
    rows[20], rows[30] = 's0,1,"2,ok', 's0,1,2",ok'
    tight = "\n".join(["site,x,y,note", *rows])
    # A blank after every comma says nothing where all rows have it.
    wide = tight.replace(",", ", ").replace(', "', ',"')
    # In different columns, what is left has another number of cells.
    rows[30] = 's0,1",2,ok'
    for text in (tight, wide, "\n".join(["site,x,y,note", *rows])):
        assert "looks like rows" in quotes.stray(text.split("\n"), ",", 4)
        with pytest.raises(ValueError, match="looks like rows"):
            Table.open([Source("mine.csv", text.encode())])
