"""Methods of logistic models: registered once, a misspelt key is an error, one sign of better."""

import numpy as np
import pytest

import collab_core as cc
from collab_core.smooth import MEASURES, Curve, World, curves, methods, models_of_agent
from collab_core.smooth.measures import measure_of
from collab_core.smooth.methods import Answer, Method

SMALL = cc.Scenario(d=4, m=4, rich=1, rich_size=4, size=2, spikes=1, seed=1)


class Ignorant(Method):
    """Everybody is as likely as not."""

    key, label = "ignorant", "Ignorant"

    def answer(self, step, target):
        x, _ = step.tests(target)
        alone = step.alone(target)
        shape = (*alone.loss.shape, 1 + x.shape[-1])
        nothing = np.zeros(alone.loss.shape, dtype=bool)
        return Answer(np.zeros(shape), nothing, ~nothing)


def test_a_method_is_registered_in_one_place():
    world = World(SMALL.problem(), 2.0)
    before = methods.keys()
    with methods.registered(Ignorant()):
        assert methods.keys() == (*before, "ignorant")
        found = curves(world, [30], 2, ["full", 1])
        for curve in found.values():
            assert curve.mean("ignorant", 30) == pytest.approx(np.log(2))
        assert models_of_agent(world, 30, 1).frame["ignorant"].eq(0).all()
    assert methods.keys() == before


def test_methods_of_both_registries_are_called_the_same():
    for key in methods.keys():  # noqa: SIM118 - a module's function
        if key in cc.methods.METHODS and key != "local":
            assert methods.get(key).label == cc.methods.METHODS[key].label
    # It is no least squares.
    assert methods.get("local").label == "Local"


def test_a_misspelt_key_is_an_error_that_lists_the_known_ones():
    world = World(SMALL.problem(), 2.0)
    known = "method must be one of collab, .*full_data; got 'colab'"
    with pytest.raises(ValueError, match=known):
        curves(world, [30], 1, methods=["colab"])
    with pytest.raises(ValueError, match=known):
        models_of_agent(world, 30, 0, ["colab"])
    curve = curves(world, [30], 2, methods=["collab"])["full"]
    for asked in (curve.mean, curve.gap, curve.compare):
        others = () if asked == curve.mean else ("local",)
        with pytest.raises(ValueError, match=known):
            asked("colab", *others, 30)
        with pytest.raises(ValueError, match=r"measure must be one of log_loss, .*; got 'luck'"):
            asked("collab", *others, 30, "luck")
    with pytest.raises(ValueError, match="measure must be one of"):
        curve.frame("luck")
    with pytest.raises(ValueError, match="measure must be one of"):
        measure_of("luck")
    # Known, but not in this run.
    assert curve.compare("collab", "local", 30) is None
    assert curve.ahead_from("collab", "local") is None


def made_up(better: str, worse: str, measure: str) -> Curve:
    """A curve of ten trials in which one method is better by a measure, at n = 50 but not at 20."""
    rng = np.random.default_rng(0)
    level = 0.5 + 0.1 * rng.standard_normal(10)
    step = 0.1 * measure_of(measure).better
    values = {
        (measure, better, 20): level + 0.1 * rng.standard_normal(10),
        (measure, worse, 20): level + 0.1 * rng.standard_normal(10),
        (measure, better, 50): level + step + 0.01 * rng.standard_normal(10),
        (measure, worse, 50): level,
    }
    return Curve("full", (20, 50), (better, worse), values, {}, {}, {}, {}, 10, False)


@pytest.mark.parametrize("measure", MEASURES)
def test_one_sign_of_better_whatever_the_measure(measure):
    """+1 where the first is better, less or more as the measure has it."""
    curve = made_up("collab", "local", measure)
    assert curve.compare("collab", "local", 50, measure) == 1
    assert curve.compare("local", "collab", 50, measure) == -1
    assert curve.compare("collab", "local", 20, measure) == 0
    assert curve.compare("collab", "collab", 50, measure) == 0
    assert curve.compare("collab", "full_data", 50, measure) is None
    assert curve.ahead_from("collab", "local", measure) == 50
    assert curve.ahead_from("local", "collab", measure) is None
