"""Truth recovered, verdicts, shifts, checks."""

from threading import Event

import numpy as np
import pandas as pd
import pytest

import collab_core as cc
from collab_core import tabular
from collab_core.tabular import Table, TableStudy
from collab_core.words import your_data as words

from .tables import csv, parquet, study_of, world


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


@pytest.mark.parametrize("weights", ["moderated", "empirical"])
def test_the_shift_test_is_collab_of_the_others(weights):
    study = study_of(world(2, shift=1.0)[0], weights=weights)
    fits = study._whole
    for agent in range(4):
        others = [i for i in range(4) if i != agent]
        # What residual variances lean on is everybody's, the agent's own too.
        variances = np.stack([fits.variances[i] for i in others], axis=-1)
        scratch = cc.estimators.global_imputation(
            [fits.moments[i] for i in others], [study.views[i] for i in others],
            fits.geometry.covariance, 1 / variances,
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
