"""Sums over folds against the raw rows."""

import numpy as np
import pandas as pd
import pytest

import collab_core as cc
from collab_core import tabular
from collab_core.tabular import Table, TableChoice, TableStudy, folds, parquet_files, text_files

from .tables import csv, parquet, study_of, world


def test_pieces_of_any_size_give_the_same_sums(monkeypatch):
    frame, *_ = world()
    once = study_of(frame)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 37)
    for source in (csv(frame), parquet(frame)):
        table = Table.open([source])
        again = TableStudy.of(table, tabular.usual_choice(table))
        for one, two in zip(once.folds, again.folds, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)


def by_hand(
    frame: pd.DataFrame, views, folds: np.ndarray, held_out, weights: str
) -> dict[str, list[float]]:
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
    collab = cc.estimators.collab(moments, views, covariance, weights)
    estimates = {
        "collab": collab,
        "collab_plus": cc.estimators.collab_plus(moments, views, covariance, start=collab),
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


@pytest.mark.parametrize("weights", ["moderated", "empirical"])
def test_held_out_errors_are_those_of_raw_rows(weights):
    frame, _, _, views = world()
    study = study_of(frame, shuffle=False, weights=weights)
    folds = [np.arange((frame["site"] == f"s{i}").sum()) % tabular.FOLDS for i in range(4)]
    for held_out in ([0, 5, 10, 15], [1, 2, 3, 4]):
        errors, notes = study.errors([held_out])
        assert not notes
        expected = by_hand(frame, views, folds, held_out, weights)
        for method in tabular.compared():
            # Naive averages depend on the scale that least squares is told of; it is told.
            np.testing.assert_allclose(errors[method][0], expected[method], rtol=1e-7)


def test_rows_are_dealt_evenly_and_by_the_seed():
    chosen = TableChoice("y", "site", ("x0",))
    number = np.arange(1000)
    fold = folds.dealt(number, 0, chosen)
    assert (np.bincount(fold) == 50).all()
    assert (fold != number % tabular.FOLDS).any()
    parts = [folds.dealt(part, 0, chosen) for part in np.array_split(number, 13)]
    np.testing.assert_array_equal(np.concatenate(parts), fold)
    assert (folds.dealt(number, 1, chosen) != fold).any()
    other = TableChoice("y", "site", ("x0",), seed=1)
    assert (folds.dealt(number, 0, other) != fold).any()
