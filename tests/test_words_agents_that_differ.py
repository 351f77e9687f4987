"""Words of the page "Agents that differ": numbers in them are the library's."""

import pandas as pd

import collab_core as cc
from collab_core.words import agents_that_differ as say

WORLD = cc.Scenario(d=5, m=6, rich=3, rich_size=4, size=3, spikes=1, seed=2, differ="common")
PROBLEM = WORLD.problem()
EVERYBODY = list(range(6))


def effects(size):
    return cc.different.RandomEffects(PROBLEM, WORLD.replace(spread=1.0).variances).scaled(size)


def test_the_control_goes_from_not_at_all_to_entirely():
    assert [say.amount(size) for size in (0.0, 0.3, 5.0)] == ["not at all", "0.3", "entirely"]


def test_with_one_relation_collab_pays():
    assert "COLLAB's error is" in say.hero(effects(0.0), 100, EVERYBODY)
    assert "pays at every n" in say.crossings(effects(0.0), EVERYBODY)
    assert say.share(0.0, 1.0, 2.0) == "All agents follow one relation."


def test_far_apart_it_does_not_and_the_numbers_are_said():
    world = effects(1.0)
    text = say.hero(world, 1000, EVERYBODY)
    assert "times that of working alone" in text
    assert f"{world.adaptive(1000).mean():.3g} against" in text
    until = world.collab_pays_until(EVERYBODY)
    if until:
        assert "COLLAB pays up to about n = " in say.crossings(world, EVERYBODY)
    assert "50% of what features tell" in say.share(1.0, 1.0, 1.0)


def test_who_is_pulled_and_who_does_not_belong():
    few = cc.Scenario(
        d=5, m=6, rich=3, rich_size=5, size=3, spikes=1, seed=2, differ="few", few=1, spread=5.0,
        n=300,
    )  # fmt: skip
    problem = few.problem()
    data = cc.different.data_set(problem, 300, 1)
    stranger = int(few.variances.any(axis=1).argmax()) + 1
    assert f"**Agent {stranger} is farthest" in say.belonging(cc.different.belonging(data))
    feature = int(problem.views[stranger - 1][0])
    frame = cc.different.one_coefficient(data, feature)
    assert set(frame["model"]) >= {"local", "others", "collab"}
    assert "is pulled farthest" in say.forest(frame, feature)


def test_shared_coefficients_are_named():
    mixed = WORLD.replace(differ="per_feature", own_features=1, spread=1.0, n=2000, m=20)
    data = cc.different.data_set(mixed.problem(), 2000, 1)
    frame = cc.different.coefficients(data, mixed.variances)
    (own,) = frame[frame["truth"] > 0]["feature"]
    text = say.coefficients(frame)
    assert f"In truth they differ in x{own} only." in text
    assert "Too few" in say.coefficients(
        frame.assign(scatter=pd.NA, adaptive=pd.NA).astype({"scatter": "Float64"})
    )


def test_methods_that_are_not_there_are_said():
    assert say.missing(["local", "collab"]).endswith("adaptive and guarded.")
    assert say.missing(["adaptive", "guarded"]) == ""
