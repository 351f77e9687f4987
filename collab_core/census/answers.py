"""What a study answers, as tables: what states gain, what a change would do, what a model says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

import pandas as pd

from .changes import doubling, joining, leaving
from .study import Study

#: Share of the work on `changes` that further questions are.
_ASKING = 0.6


def by_state(study: Study) -> pd.DataFrame:
    """Every state alone and together: measured on its test people, and by the formulas.

    Returns
    -------
    DataFrame
        A row a state: ``alone`` and ``together`` as measured (`Study.measured`); ``people``,
        ``features``, ``worth`` and ``irreducible`` by the formulas (`Study.gains`), whose errors
        are ``alone_expected`` and ``together_expected``.
    """
    measured = study.measured()
    return measured.merge(study.gains(), "left", on="state", suffixes=("", "_expected"))


def correlations(study: Study) -> pd.DataFrame:
    """Pooled within-state correlation of the answers, shape (d, d); columns are named in words."""
    names = [study.sums.text_of(name) for name in study.features]
    return pd.DataFrame(study.covariance, columns=names)


def named_coefficients(study: Study) -> pd.DataFrame:
    """`Study.coefficients` with every feature in words, as ``text``."""
    frame = study.coefficients()
    return frame.assign(text=[study.sums.text_of(name) for name in frame["feature"]])


@dataclass(frozen=True, eq=False)
class Changes:
    """What the error on the target's people would be after a change, a table a kind of change.

    Attributes
    ----------
    asking : DataFrame
        If a state asked one more question (`Study.asking_more`).
    leaving, joining, doubling : DataFrame
        If a state left, joined, or had twice its people: ``state``, ``before``, ``after``.
    """

    asking: pd.DataFrame
    leaving: pd.DataFrame
    joining: pd.DataFrame
    doubling: pd.DataFrame


def changes(
    study: Study,
    *,
    progress: Callable[[float, Changes | None], None] | None = None,
    cancel: Event | None = None,
) -> Changes | None:
    """Every change of a study that one may think of, each measured or by the formulas.

    Parameters
    ----------
    progress : callable, optional
        Told the share done, and None: a table that is not whole says nothing.
    cancel : Event, optional
        When set, the work ends without a result.
    """

    def told(share: float) -> None:
        if progress is not None:
            progress(share, None)

    def asked_so_far(share: float) -> None:
        told(_ASKING * share)

    asking = study.asking_more(asked_so_far, cancel)
    steps: tuple[Callable[[Study], pd.DataFrame], ...] = (leaving, joining, doubling)
    found = []
    for done, step in enumerate(steps, start=1):
        if cancel is not None and cancel.is_set():
            return None
        found.append(step(study))
        told(_ASKING + (1 - _ASKING) * done / len(steps))
    return Changes(asking, *found)
