"""Every run is cut into chunks that any executor can take: on a Dask cluster it has the same bits.

Workers are processes of their own, so this also shows that plans can be sent.
"""

from pathlib import Path

import numpy as np
import pytest

import collab_core as cc

from .tabular.tables import study_of, world
from .worlds import random_problem

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def executor():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len(client.nthreads()) == 2
        yield client.get_executor()


def same_bits(here, there):
    assert not there.partial
    assert here.methods == there.methods
    for method in here.methods:
        for place in here.grid:
            np.testing.assert_array_equal(here.at(method, place), there.at(method, place))


def test_simulation(executor):
    problem = random_problem(np.random.default_rng(0), d=20, m=20)
    here, there = (
        cc.simulate.error_curve(problem, [30, 50], 200, executor=where)
        for where in (None, executor)
    )
    assert here.done == 200
    same_bits(here, there)


def test_a_disturbed_world(executor):
    problem = random_problem(np.random.default_rng(0))
    here, there = (
        cc.disturbed.curve(problem, 40, 120, "shift", [0.3], shifted=1, executor=where)
        for where in (None, executor)
    )
    same_bits(here, there)


def test_the_census(executor):
    sums = cc.census.CensusSums.load(DATA / "acs2024_moments.npz")
    states = ("NY", "IL")
    asked = cc.census.asked_by("paper", states, sums.questions)
    study = cc.census.Study(sums, cc.census.StudyChoice(states, asked, "IL"))
    here, there = (study.error_curve([200], 50, executor=where) for where in (None, executor))
    same_bits(here, there)


def test_a_table(executor):
    frame, *_ = world()
    here, there = study_of(frame), study_of(frame)
    here.work()
    there.work(executor=executor)
    assert here.verdicts.equals(there.verdicts)
    assert here.shift.equals(there.shift)
