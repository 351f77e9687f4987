"""Files that are hostile or broken, and the same table however it is written."""

import contextlib
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab_core import tabular
from collab_core.tabular import (
    Table,
    TableFile,
    TableStudy,
    parquet_files,
    reading,
)
from collab_core.tabular.values import to_numbers

from .tables import GOOD, TEXT, csv, study_of, world


def zipped() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n")
    return held.getvalue()


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
        Table.open([TableFile("mine.csv", content)])
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
                Table.open([TableFile("mine.csv", TEXT.encode())])
    half = len(TEXT) // 2 + 100
    with monkeypatch.context() as patch:
        patch.setattr(tabular.table, "MOST_BYTES", half)
        with pytest.raises(ValueError, match="together the files have"):
            Table.open([TableFile("a.csv", TEXT.encode()), TableFile("b.csv", TEXT.encode())])


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
    table = Table.open([TableFile("mine.csv", content.encode())])
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
    table = Table.open([TableFile("mine.csv", content)])
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
    table = Table.open([TableFile("mine.parquet", columnar(**odd, **usual))])
    assert table.names == list(GOOD)
    assert "bytes and no text are passed over: raw, fixed, uuid" in " ".join(table.notes)
    assert TableStudy.of(table, tabular.usual_choice(table)).rows.sum() == n
    with pytest.raises(ValueError, match="lists, structures or bytes only"):
        Table.open([TableFile("mine.parquet", columnar(**odd))])
    wrong = pa.Array.from_buffers(pa.string(), n, odd["raw"].buffers())
    with pytest.raises(ValueError, match="z holds bytes that are no text"):
        Table.open([TableFile("mine.parquet", columnar(z=wrong, **usual))])
    # Two columns of one name, and names with points in them.
    held = io.BytesIO()
    names = ["x", "x", "x.a", "y.b", "x4", "site", "y"]
    pyarrow.parquet.write_table(pa.Table.from_pandas(GOOD).rename_columns(names), held)
    table = Table.open([TableFile("mine.parquet", held.getvalue())])
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
        Table.open([TableFile("mine.parquet", content)])
    texts = columnar(site=GOOD["site"].tolist(), y=GOOD["y"].to_numpy(),
                     z=[f"{j:05d}" * 2000 for j in range(n)])  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(parquet_files, "MOST_UNPACKED", 2**20)
        with pytest.raises(ValueError, match="z unpacks to 7 MB in one piece"):
            Table.open([TableFile("mine.parquet", texts)])
    monkeypatch.setattr(parquet_files, "BATCH_BYTES", 2**17)
    layout = reading.examine(TableFile("mine.parquet", texts))
    # Rows at a time are bounded by what they unpack to.
    assert max(len(batch["z"]) for batch in reading.batches(layout)) < 20


def test_some_ragged_rows_are_left_out_and_said():
    table = Table.open([TableFile("mine.csv", (TEXT + "1,2\n3,4\n").encode())])
    assert table.rows == len(GOOD)
    assert any("2 rows with another number of fields" in note for note in table.notes)


@given(st.binary(max_size=300))
def test_any_bytes_at_all_give_a_table_or_a_sentence(content):
    # Anything but a ValueError fails the test.
    with contextlib.suppress(ValueError):
        Table.open([TableFile("mine.csv", content)])


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
