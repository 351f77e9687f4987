"""What every agent has, and the columns that follow from it."""

import numpy as np

from .tables import GOOD, study_of, world


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
    # Their sums take part; with the paper's weights nothing could be weighed.
    assert study.left_out == ""
    assert "s0" in study_of(frame, weights="empirical").left_out


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


def test_what_an_agent_hardly_has_is_not_seen_by_it_and_said():
    frame, *_ = world()
    few = frame.index[frame["site"] == "s0"][:2]
    frame.loc[few, "x3"] = 1.0
    study = study_of(frame)
    assert not study.seen.loc["s0", "x3"]
    assert any("s0 has x3 in 2 of 60 rows" in note for note in study.notes)


def test_logarithms_and_agents_that_are_left_out():
    frame, *_ = world()
    frame["y"] = np.exp(frame["y"] / 3)
    frame.loc[0, "y"] = -1.0
    study = study_of(frame, log=True, without=("s1",))
    assert study.agents == ("s0", "s2", "s3")
    assert any("1 row whose y is not above 0" in note for note in study.notes)
    plain = study_of(frame.drop(index=0).assign(y=np.log(frame["y"].clip(1e-9))), without=("s1",))
    np.testing.assert_allclose(study.label_scale, plain.label_scale)
