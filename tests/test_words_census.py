"""Sentences of the Census page, as functions of what was found."""

from dataclasses import replace

import pandas as pd
import pytest

from collab_core import census
from collab_core.census import CensusSums, Changes, Study, StudyChoice
from collab_core.words import census as say
from tests.test_census import BUILT_IN, FIVE


@pytest.fixture(scope="module")
def sums():
    return CensusSums.load(BUILT_IN, "These sums")


@pytest.fixture(scope="module")
def study(sums):
    return Study(sums, StudyChoice(FIVE, census.asked_by("paper", FIVE, sums.questions), "IL"))


def results(collab, local, low=None, high=None):
    rows = [
        {"method": "collab", "r2": collab, "gap_low": low, "gap_high": high},
        {"method": "local", "r2": local, "gap_low": None, "gap_high": None},
    ]
    return pd.DataFrame(rows).astype(dict.fromkeys(("r2", "gap_low", "gap_high"), "Float64"))


def test_gains_say_who_gains_and_how_the_target_fares(study):
    frame = pd.DataFrame(
        {"state": ["NY", "IL"], "alone": [0.9, 0.8], "together": [0.85, 0.81],
         "worth": [2.0, 3.04], "people": [1000, 2500]}
    )  # fmt: skip
    said = say.gains(study, frame, results(0.2, 0.25))
    assert said.startswith("These sums. **On their own test people, 1 of 2 states do better")
    assert "IL would gain most, as if it had 3.0 times its 2,500 people; states differ" in said
    assert said.endswith("COLLAB explains 20.0% of how long IL's people travel; least squares on "
                         "its own people, had they been asked all, 25.0%.")  # fmt: skip
    nobody = frame.assign(alone=None, together=None)
    assert say.gains(study, nobody, results(None, 0.25)) == "These sums. "


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.01, 0.02, "COLLAB loses here"), (-0.02, -0.01, "COLLAB wins here"), (-0.1, 0.1, None)],
)
def test_a_verdict_only_beyond_chance(study, low, high, verdict):
    said = say.target(study, results(0.2, 0.25, low, high))
    assert (verdict in said) if verdict else ("COLLAB loses" not in said and "wins" not in said)


def test_without_a_model_alone_there_is_no_comparison(study):
    assert say.target(study, results(0.2, None)).endswith("IL's people travel.")


def test_the_curve_says_what_the_fewest_people_give():
    frame = pd.DataFrame(
        {"n": [200, 200, 400, 400], "method": ["collab", "local"] * 2,
         "mean": pd.array([0.91, 0.97, 0.88, 0.9], dtype="Float64")}
    )  # fmt: skip
    said = say.curve(frame)
    assert "With 200 people a state COLLAB leaves 0.910 of the variance against 0.970" in said
    alone = frame.assign(mean=frame["mean"].mask(frame["method"] == "local"))
    assert "against" not in say.curve(alone)
    for unknown in (frame.iloc[:0], frame.assign(mean=pd.NA)):
        assert say.curve(unknown) == "**Which method needs the fewest people?**"


def change(*rows):
    return pd.DataFrame(rows, columns=["state", "before", "after"])


def test_what_if_names_the_best_of_every_kind(study):
    asking = pd.DataFrame(
        {"state": ["IL", "FL"], "question": ["AGEP", "SEX"], "fall": [0.02, -0.01]}
    )
    found = Changes(
        asking,
        change(("NY", 0.5, 0.55), ("FL", 0.5, 0.45)),
        change(("CA", 0.5, 0.51)),
        change(("NY", 2.0, 1.5), ("IL", 2.0, 1.0)),
    )
    said = say.what_if(study, found).split("\n")
    assert said[0].startswith("**Most would be gained if IL asked Age: the error on IL's people")
    assert said[1:] == [
        "- Without NY COLLAB's error on its people rises by 10.00%.",
        "- Without FL it *falls* by 10.00%: its people's relation is not IL's.",
        "- The best newcomer is CA: +2.00%.",
        "- Twice as many labelled people are worth most in IL: by the formulas what more data can "
        "still remove falls by 50.0%.",
    ]
    nothing = replace(found, asking=asking.iloc[:0], leaving=change(), joining=change())
    assert say.what_if(study, nothing).startswith("**Everybody asks everything.**\n- Twice")
    worse = replace(found, asking=asking.iloc[1:])
    assert "No further question would lower the error on IL's people" in say.what_if(study, worse)


def test_coefficients_say_what_the_target_never_asked(study, sums):
    frame = census.named_coefficients(study)
    unasked = int((~frame["asked"]).sum())
    assert f"speaks of {unasked} answers that IL never asked for" in say.coefficients(study, frame)
    own = census.with_choice(study, own=True)
    said = say.coefficients(own, census.named_coefficients(own))
    assert said.startswith("**Together, intervals are ")
    table = say.coefficient_table(study, frame[frame["feature"] == "AGEP"]).split("\n")
    assert len(table) == 3
    assert table[2].startswith("| Age, per year | ")
    assert table[2].endswith("| not asked |  |")
    assert say.coefficient_table(study, frame.iloc[:0]) == ""


def test_data_and_downloads(sums):
    assert say.data(sums).startswith("**Now: These sums.** 1,072,864 people who count")
    assert say.absent(()) == ""
    assert say.absent(("Age", "Sex")) == "This data has no Age and no Sex."
    assert say.download(2, 0, 0.0) == (
        "2 of 2 are here already. Nothing needs to be downloaded."
    )  # fmt: skip
    assert "0 of 2 are here already. About 1,200 MB would come" in say.download(2, 2, 1200.0)
    assert "in some 240 seconds at 5 MB a second" in say.download(2, 2, 1200.0)


def test_what_is_left_out_is_said(study):
    assert say.missing("COLLAB", "too few people") == "COLLAB is missing: too few people."
    assert say.never_answered(study) == ""
