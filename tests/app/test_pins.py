"""The numbers of every figure and table are those recorded in tests/pins; see `pins`."""

import numpy as np
import pytest

import collab_core as cc
from collab_core.world.catalogue import fields

from . import pins


def _parameters():
    return [
        pytest.param(case, id=case.id, marks=[] if case.quick else [pytest.mark.slow])
        for case in pins.cases()
    ]


@pytest.mark.parametrize("case", _parameters())
def test_the_numbers_are_the_recorded_ones(case):
    old = pins.recorded(case.page).get(case.name)
    assert old is not None, f"{case.id} is not recorded: python -m tests.app.pins {case.page}"
    found = pins.differences(case, old, pins.observe(case))
    assert not found, "\n".join(found)


def test_every_choice_of_a_world_occurs():
    worlds = [cc.Scenario.from_query(pins.links(link)[0])[0] for link in pins.WORLDS.values()]
    for name in ("spectrum", "missing", "theta", "allocation"):
        assert {getattr(world, name) for world in worlds} == set(fields()[name].choices)


def test_a_changed_number_is_told():
    case = pins.Case("page", "world", {}, ())

    def shown(y, name="COLLAB"):
        values = pins.fingerprint(np.array(y))
        trace = {"name": name, "type": "scatter", "y": values}
        return {"part=one": {"figures": [{"key": "chart", "traces": [trace]}]}}

    old = shown([1.0, -1.0, 2.0])
    assert pins.differences(case, old, shown([1.0, -1.0 + 1e-9, 2.0], "Together")) == []
    for other in ([1.0, -1.0, 2.00001], [-1.0, 1.0, 2.0], [1.0, -1.0]):
        (sentence,) = pins.differences(case, old, shown(other))
        assert "page [part=one] in world 'world': figure 1 (chart), trace 1 'COLLAB'" in sentence
        assert " became " in sentence
