"""Quotes that never close lose no rows in silence; cells may hold lines and quotes."""

import csv as csv_module
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collab_core.tabular import (
    Table,
    TableFile,
    quotes,
    text_files,
)

from .tables import GOOD, TEXT, csv


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
        Table.open([TableFile("mine.csv", content)])


def test_a_quote_in_a_file_of_many_blocks_gets_the_same_sentence(monkeypatch):
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 2000)
    with pytest.raises(ValueError, match="a quote opened in line 101 does not close"):
        Table.open([TableFile("mine.csv", swallowing(101, 3))])
    long = TEXT + "s1," + "9" * 5000 + ",1,1,1,1,1\n"
    with pytest.raises(ValueError, match="a row is longer than"):
        Table.open([TableFile("mine.csv", long.encode())])


def test_lines_and_quotes_inside_of_cells_are_read():
    cells = ["one\ntwo, three\n\nfour", 'he said "no"\nand left', 'a 5" pipe', "x,\n" * 30, ""]
    frame = GOOD.assign(note=[cells[j % 5] for j in range(len(GOOD))])
    for quoting in (0, 1):
        table = Table.open(
            [TableFile("mine.csv", frame.to_csv(index=False, quoting=quoting).encode())]
        )
        assert table.rows == len(GOOD)
        assert not table.notes
    # A quote that does not begin a cell is a sign like any other.
    plain = "\n\nsite,size,y\n" + 's0,5" pipe,1\ns1,3" pipe,2\n' * 30
    table = Table.open([TableFile("mine.csv", plain.encode())])
    assert table.rows == 60
    assert table.column("size").values == ('3" pipe', '5" pipe')
    excel = "sep=;\n" + GOOD.to_csv(index=False, sep=";", decimal=",")
    assert Table.open([TableFile("mine.csv", excel.encode())]).names == list(GOOD)


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
            Table.open([TableFile("mine.csv", text.encode())])
