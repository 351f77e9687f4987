"""Simulated estimates over what theory draws at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event

import collab_core as cc
from collab_core.core.problem import Problem
from collab_core.core.target import TargetKey as Target
from collab_core.runs.simulate import Sample
from collab_core.world.scenario import Scenario

from . import run
from .script import Call, Script


def panel(
    key: str,
    script: Script,
    problem: Problem,
    scenario: Scenario,
    trials: int,
    methods: Sequence[str],
    target: Target,
    draw: Callable[[Sample, Call[Sample]], None],
    *,
    help: str,
) -> None:
    """Draw the run panel of `collab_core.simulate.sample_estimates`.

    Parameters
    ----------
    script : Script
        Lines that lead to the problem, and no others: a run depends on nothing else.
    trials : int
        May be 0: theory alone.
    draw : callable
        Given a sample and the call that makes it. The sample has no estimates before the first
        are in or where none are wanted: theory is drawn at once.
    help : str
        Of the button that starts it.
    """
    nothing = Sample({}, cc.ellipses.truth(problem, target), {})
    call = script.plan(
        "sample", cc.simulate.sample_estimates, problem, scenario.n, trials, list(methods), target,
        seed=scenario.seed,
    )  # fmt: skip

    def work(report: run.Report, cancel: Event) -> Sample:
        report(0.0, nothing)
        return call(progress=report, cancel=cancel) if trials else nothing

    run.panel(
        key, call.key, work, lambda sample, final: draw(sample, call), label="Simulate", help=help,
        auto=True, below=True,
    )  # fmt: skip
