"""Gaps in rows, and pairs of columns that nobody has together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import collab_core as cc
from collab_core import tabular
from collab_core.core import sigma
from collab_core.tabular import Table
from collab_core.tabular.samples import SAMPLES
from collab_core.words import your_data as words

from .tables import DATA, study_of, world


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
