"""Sentences about logistic models, as pure functions of results."""

import numpy as np
import pandas as pd
import pytest

from collab_core.core.target import Target
from collab_core.smooth import AgentModels, LogisticSettings, MeasureCurve, Trouble
from collab_core.smooth.measures import measure_of
from collab_core.words import beyond_linear as say


def curve_of(means, *, sizes=(50, 200), trials=8, measure="log_loss"):
    """A curve with these means by method, a list of one an n, and hardly any scatter."""
    rng = np.random.default_rng(0)
    values = {
        method: {
            n: mean + 1e-4 * rng.standard_normal(trials)
            for n, mean in zip(sizes, by_n, strict=True)
        }
        for method, by_n in means.items()
    }
    return MeasureCurve(
        "n", sizes, tuple(means), values, {}, trials, False, target=Target(1),
        better=measure_of(measure).better, measure=measure,
        trouble={n: Trouble() for n in sizes},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ({200: 1.0, 500: 1.0, 1000: 1.0, 5000: 0.65}, "100% at n = 200 to 1,000, 65% at n = 5,000"),
        ({200: 1.0, 500: 1.0}, "100% at every n"),
        ({200: 0.001, 500: 0.0}, "under 1% at n = 200"),
        ({200: 0.3}, "30% at n = 200"),
    ],
)
def test_shares(shares, text):
    assert say.shares(shares) == text


def test_the_headline_says_from_which_n_on():
    always = curve_of({"collab": [0.4, 0.3], "local": [0.6, 0.5]})
    assert "better together than alone at every n drawn**" in say.headline(always, 1)
    late = curve_of({"collab": [0.7, 0.3], "local": [0.6, 0.5]})
    assert "agent 2 predicts better together" in say.headline(late, 1)
    assert "from n = 200 on" in say.headline(late, 1)
    never = curve_of({"collab": [0.7, 0.6], "local": [0.6, 0.5]})
    assert "COLLAB is behind working alone" in say.headline(never, 1)
    same = curve_of({"collab": [0.5, 0.5], "local": [0.5, 0.5]})
    assert "cannot be told from" in say.headline(same, 1)
    alone = curve_of({"local": [0.5, 0.5]})
    assert say.headline(alone, 1).endswith("alone and together?**")
    one = curve_of({"collab": [0.4, 0.3], "local": [0.6, 0.5]}, trials=1)
    assert "One trial decides nothing" in say.headline(one, 1)


def test_more_accuracy_is_better():
    more = curve_of({"collab": [0.8, 0.9], "local": [0.6, 0.7]}, measure="accuracy")
    assert "carries over" in say.headline(more, 1)
    assert say.curve_title(more) == "Agent 2: COLLAB 0.900, alone 0.700"


def test_the_share_of_the_way_is_one():
    between = curve_of({"collab": [0.45, 0.4], "local": [0.6, 0.5], "full_data": [0.4, 0.3]})
    assert "goes 75% of the way" in say.share_of_the_way(between, 1)
    beyond = curve_of({"collab": [0.35, 0.3], "local": [0.6, 0.5], "full_data": [0.4, 0.35]})
    assert "the others' features tell too" in say.share_of_the_way(beyond, 1)
    behind = curve_of({"collab": [0.7, 0.6], "local": [0.6, 0.5], "full_data": [0.4, 0.3]})
    assert say.share_of_the_way(behind, 1) == ""


def test_the_theorem_is_called_on_only_where_it_holds():
    plain, own = Trouble(fits=8), LogisticSettings()
    assert say.are_twins(plain, own)
    assert not say.are_twins(plain, LogisticSettings(unlabelled="pool"))
    assert not say.are_twins(plain, LogisticSettings(correction=True))
    assert not say.are_twins(Trouble(fits=8, regularised=1), own)
    assert not say.are_twins(Trouble(fits=8, ridge={"imputation": 1}), own)


def test_what_went_wrong_is_counted():
    trouble = {50: Trouble(10, 5, 2, 1, {"local": 4, "full_data": 2}, {"collab": 1})}
    text = say.fits(trouble, "States")
    assert text.startswith("States whose own fit has no finite best model")
    assert "50% at n = 50" in text
    assert "2 fits saw labels of one class only" in text
    text = say.answers(trouble, {50: 4}, where="on the left, ", local="Local (the newcomer)")
    assert text.startswith("On the left, answers that are a ridge's themselves")
    assert "Local (the newcomer) 100% at n = 50; Full data 50% at n = 50" in text
    assert "1 answers did not converge" in text
    assert "Local" not in say.answers(trouble, {50: 4}, skip=["local"])


def test_a_model_is_off_by_what_it_is_off():
    best = np.array([0.0, 1.0])
    columns = {"local": best + 0.2, "collab": best + 0.1, "naive_collab": best - 0.5}
    frame = pd.DataFrame({"name": ["intercept", "x1"], "best": best, "plain": 2 * best, **columns})
    found = AgentModels(frame, Trouble(fits=4))
    text = say.models(found, 0, 100)
    assert "to agent 1 is off the best it can have by 0.1 a coefficient" in text
    assert "on 100 samples, by 0.2.** The naive average is off by 0.5" in text
    assert "50% smaller than the linear T's" in text
    assert say.models_title(found, 100) == "Off by 0.1 together, 0.2 alone, n = 100"
    silent = AgentModels(frame.assign(best=0.0, plain=0.0), Trouble(fits=4))
    assert "smaller" not in say.models(silent, 0, 100)


def test_travel_is_told_by_its_paired_gap():
    frame = pd.DataFrame(
        {
            "n": [200, 200],
            "method": ["collab", "local"],
            "mean": [0.60, 0.65],
            "gap_low": [-0.07, 0.0],
            "gap_high": [-0.03, 0.0],
        }
    )
    text = say.travel(frame, "log_loss", "IL")
    assert "with 200 people a state COLLAB is ahead of Illinois alone (0.6000 against" in text
    assert "behind" in say.travel(frame, "accuracy", "IL")
    wide = frame.assign(gap_high=0.01)
    assert "not to be told from" in say.travel(wide, "log_loss", "IL")
    assert say.travel_title(frame, "IL") == "Illinois, n = 200: COLLAB 0.600, alone 0.650"
    assert say.travel_title(frame[1:], "IL") == "Illinois's test people"
