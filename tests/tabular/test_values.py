"""Numbers and names as people write them."""

import numpy as np
import pandas as pd
import pytest

from collab_core import tabular
from collab_core.tabular import Table, TableChoice, TableFile, TableStudy, pieces, text_files
from collab_core.words import your_data as words

from .tables import GOOD, csv, parquet, study_of


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


def amounts(values: list[str], delimiter: str = ",", **more: list[str]) -> tuple[str, np.ndarray]:
    """A column's note, and its values as a study reads them, the last agent's first."""
    frame = pd.DataFrame({"site": ["a", "b"] * (len(values) // 2), "x": values, **more})
    frame["y"] = np.arange(len(values)) % 7
    content = frame.to_csv(index=False, sep=delimiter).encode()
    table = Table.open([TableFile("mine.csv", content)])
    chosen = TableChoice("y", "site", ("x",))
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
    table = Table.open([TableFile("r.csv", written.encode())])
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
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 4096)
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
