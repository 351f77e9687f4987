"""The census as a plain table gives the census's own results."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from collab_core import census, tabular
from collab_core.census.questions import QUESTIONS, STATES
from collab_core.census.records import RecordLayout
from collab_core.tabular import Table, TableChoice, TableStudy
from tests.bureau import records

from .tables import parquet

PERSONS = os.environ.get("COLLAB_CENSUS_PERSONS", "")


def plain_people(frame: pd.DataFrame) -> tuple[pd.DataFrame, RecordLayout]:
    """People who count, answers as the census pipeline reads them, under the file's own names."""
    layout = RecordLayout.of(list(frame.columns))
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
            TableChoice(
                "JWMNP", layout.state, tuple(layout.columns.values()), tuple(levels), log=True,
                rare=0.0, shuffle=False, sigma="agents" if pattern == "all" else "unlabelled",
                weights="empirical",
            ),
        )  # fmt: skip
        errors, _ = study.errors([[0, 5, 10, 15]])
        chosen = census.StudyChoice(
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
