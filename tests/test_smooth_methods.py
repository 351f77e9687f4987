"""Methods of logistic models: registered once, a misspelt key is an error, one sign of better."""

import numpy as np
import pytest

import collab_core as cc
from collab_core.methods import Style
from collab_core.smooth import (
    MEASURES,
    LogisticWorld,
    MeasureCurve,
    curves,
    methods,
    models_of_agent,
)
from collab_core.smooth.measures import measure_of
from collab_core.smooth.methods import Answer, LogisticMethod

SMALL = cc.Scenario(d=4, m=4, rich=1, rich_size=4, size=2, spikes=1, seed=1)


class Ignorant(LogisticMethod):
    """Everybody is as likely as not."""

    key, label = "ignorant", "Ignorant"
    style = Style("#123456", "dot", "star")

    def answer(self, step, target):
        x, _ = step.tests(target)
        alone = step.alone(target)
        shape = (*alone.loss.shape, 1 + x.shape[-1])
        nothing = np.zeros(alone.loss.shape, dtype=bool)
        return Answer(np.zeros(shape), nothing, ~nothing)


def test_a_method_is_registered_in_one_place():
    world = LogisticWorld(SMALL.problem(), 2.0)
    before = methods.keys()
    with methods.registered(Ignorant()):
        assert methods.keys() == (*before, "ignorant")
        found = curves(world, [30], 2, ["full", 1])
        for measured in found.values():
            assert measured["log_loss"].mean("ignorant", 30) == pytest.approx(np.log(2))
        assert models_of_agent(world, 30, 1).frame["ignorant"].eq(0).all()
    assert methods.keys() == before


def test_methods_of_both_registries_look_and_are_called_the_same():
    both = set(methods.keys()) & set(cc.methods.keys())
    assert both == {"collab", "imputation", "local", "naive_collab"}
    for key in both:
        assert methods.get(key).style == cc.methods.get(key).style
        # Its linear name says least squares.
        expected = "Local" if key == "local" else cc.methods.get(key).label
        assert methods.get(key).label == expected


def test_a_misspelt_key_is_an_error_that_lists_the_known_ones():
    world = LogisticWorld(SMALL.problem(), 2.0)
    known = "method must be one of collab, .*full_data; got 'colab'"
    with pytest.raises(ValueError, match=known):
        curves(world, [30], 1, methods=["colab"])
    with pytest.raises(ValueError, match=known):
        models_of_agent(world, 30, 0, ["colab"])
    found = curves(world, [30], 2, methods=["collab"])["full"]
    with pytest.raises(ValueError, match=r"measure must be one of log_loss, .*; got 'luck'"):
        found["luck"]
    curve = found["log_loss"]
    for asked, others in ((curve.mean, ()), (curve.at, ()), (curve.compare, ("local",))):
        with pytest.raises(ValueError, match=known):
            asked("colab", *others, 30)
    with pytest.raises(ValueError, match=known):
        curve.ahead_from("collab", "colab")
    with pytest.raises(ValueError, match="measure must be one of"):
        measure_of("luck")
    # Known, but not in this run.
    assert curve.compare("collab", "local", 30) is None
    assert curve.ahead_from("collab", "local") is None


def made_up(better: str, worse: str, measure: str) -> MeasureCurve:
    """A curve of ten trials in which one method is better by a measure, at n = 50 but not at 20."""
    rng = np.random.default_rng(0)
    level = 0.5 + 0.1 * rng.standard_normal(10)
    step = 0.1 * measure_of(measure).better
    errors = {
        better: {
            20: level + 0.1 * rng.standard_normal(10),
            50: level + step + 0.01 * rng.standard_normal(10),
        },
        worse: {20: level + 0.1 * rng.standard_normal(10), 50: level},
    }
    return MeasureCurve(
        "n", (20, 50), (better, worse), errors, {}, 10, False,
        better=measure_of(measure).better, measure=measure,
    )  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES)
def test_one_sign_of_better_whatever_the_measure(measure):
    """+1 where the first is better, less or more as the measure has it."""
    curve = made_up("collab", "local", measure)
    assert curve.compare("collab", "local", 50) == 1
    assert curve.compare("local", "collab", 50) == -1
    assert curve.compare("collab", "local", 20) == 0
    assert curve.compare("collab", "collab", 50) == 0
    assert curve.compare("collab", "full_data", 50) is None
    assert curve.ahead_from("collab", "local") == 50
    assert curve.ahead_from("local", "collab") is None
