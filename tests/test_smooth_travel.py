"""Travel time on census records by logistic regression: made-up people, and real ones if there."""

import os

import numpy as np
import pandas as pd
import pytest

from collab_core.census import People, Study, StudyChoice, paper_views
from collab_core.smooth import stored_travel, travel_curve, trouble_of
from collab_core.smooth.__main__ import main
from collab_core.smooth.travel import label

from .bureau import records

PERSONS = os.environ.get("COLLAB_CENSUS_PERSONS", "")


def made_up(tmp_path, count=6000):
    """Made-up people among whom the old and the poor travel long."""
    frame = records(count, codes=(6, 17, 36))
    rng = np.random.default_rng(1)
    score = (frame["AGEP"] - 45) / 20 - frame["POVPIP"].fillna(250) / 150 + 1.5
    long = rng.random(count) < 1 / (1 + np.exp(-score))
    frame["JWMNP"] = np.where(frame["JWMNP"].notna(), np.where(long, 40, 10), np.nan)
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return People.from_files([path], "made up"), path


def study_of(people, states, target, own=False):
    views = paper_views(states, people.sums.questions)
    return Study(people.sums, StudyChoice(states, tuple(views[s] for s in states), target, own))


def test_travel_time_on_made_up_people(tmp_path):
    people, _ = made_up(tmp_path)
    assert label(np.array([20.0, 21.0])).tolist() == [0.0, 1.0]
    for state, (x, _) in people.tests.items():
        assert len(x) == people.sums.n[people.sums.index(state), 1]
    for own in (False, True):
        study = study_of(people, ("CA", "NY", "IL"), "IL", own)
        found = travel_curve(people, study, [100, 600], 6, seed=2)
        for curve in found.values():
            assert curve.target.agent == (2 if own else None)
            for by_n in curve.errors.values():
                for values in by_n.values():
                    assert np.isfinite(values).all()
                    assert values.size == 6
        curve = found["log_loss"]
        assert curve.compare("collab", "local", 100) == 1
        assert curve.trouble[100].fits == 18
    # The answers' own labels make better guesses than the share of ones.
    base = label(people.tests["IL"][1]).mean()
    ignorance = -(base * np.log(base) + (1 - base) * np.log(1 - base))
    assert curve.mean("full_data", 600) < ignorance


def test_one_state_is_not_ahead_of_itself(tmp_path):
    """Rare levels are absent from the sample: the server must not make anything of them."""
    people, _ = made_up(tmp_path, 3000)
    study = study_of(people, ("IL",), "IL", own=True)
    curve = travel_curve(people, study, [60, 200], 3, ["collab", "local"], seed=1)["log_loss"]
    for n in (60, 200):
        np.testing.assert_allclose(curve.at("collab", n), curve.at("local", n), rtol=1e-8)
        assert curve.compare("collab", "local", n) == 0
        assert curve.trouble[n].ridge["collab"] == 0


def test_travel_time_is_the_same_for_one_seed_and_says_what_is_wrong(tmp_path):
    people, path = made_up(tmp_path, 2000)
    study = study_of(people, ("CA", "IL"), "IL")
    one, two = (travel_curve(people, study, [80], 2, ["local", "collab"], seed=4) for _ in "ab")
    np.testing.assert_array_equal(*(found["log_loss"].at("collab", 80) for found in (one, two)))
    with pytest.raises(ValueError, match="sample_sizes must be a whole number from 2 to"):
        travel_curve(people, study, [10**6], 1)
    sums_only = People.from_files([path], "too many", most=10)
    assert not sums_only.tests
    with pytest.raises(ValueError, match="must hold records"):
        travel_curve(sums_only, study, [80], 1)


def test_the_command_writes_the_table_that_the_page_reads(tmp_path, capsys):
    _, path = made_up(tmp_path, 2000)
    out = tmp_path / "table.csv"
    given = [str(path), "--states", "CA", "IL", "--sizes", "60", "--trials", "2", "--out", str(out)]
    assert main(given) == 0
    table = pd.read_csv(out)
    stored = pd.read_csv("data/travel_logistic_2024.csv")
    assert table.columns.tolist() == stored.columns.tolist()
    assert set(table["model"]) == {"all", "own"}
    # What went wrong is in the table, so that the page can say it of a stored run.
    kept = stored[(stored["measure"] == "log_loss") & (stored["model"] == "all")]
    trouble = trouble_of(kept)
    assert set(trouble) == set(kept["n"])
    assert all(found.fits == 100 for found in trouble.values())
    assert all(found.ridge["collab"] == 0 for found in trouble.values())
    assert main([str(tmp_path / "none.csv"), "--states", "CA", "--out", str(out)]) == 1
    assert capsys.readouterr().err


@pytest.mark.skipif(not PERSONS, reason="COLLAB_CENSUS_PERSONS names no file of real records")
def test_real_people_are_predicted_better_together():
    people = People.from_files([PERSONS], "real")
    study = study_of(people, ("NY", "PA", "OH", "FL", "IL"), "IL")
    found = travel_curve(people, study, [300], 8, ["collab", "local", "naive_collab"], seed=1)
    curve = found["log_loss"]
    assert curve.compare("collab", "local", 300) == 1
    assert found["calibration"].compare("collab", "local", 300) == 1
    assert curve.mean("collab", 300) < np.log(2) < curve.mean("local", 300)


def test_a_stored_run_is_read_by_measure_and_model():
    path = "data/travel_logistic_2024.csv"
    frame = stored_travel(path, "accuracy", "own")
    assert set(frame["measure"]) == {"accuracy"}
    assert set(frame["model"]) == {"own"}
    with pytest.raises(ValueError, match="measure must be one of log_loss"):
        stored_travel(path, "luck")
    with pytest.raises(ValueError, match="model must be one of all, own; got 'mine'"):
        stored_travel(path, model="mine")
