"""What if a state leaves, joins or has twice its people; worlds like these states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .._base.checks import choice, whole
from ..bounds import covariances as bounds
from ..core.problem import Problem
from ..world.views import ViewsLike, hub
from .questions import QUESTIONS
from .study import Study, measured_after


def world_of(
    study: Study, *, relation: str = "fitted", asks: str = "own", seed: int = 0
) -> Problem:
    """A world with these states' covariance in which the truth is known, every state with n people.

    Parameters
    ----------
    relation : {"fitted", "random"}
        Coefficients and noise as fitted to everybody (`Study.problem`), or standard normal
        coefficients and noise 1, with which unseen answers weigh more than in these records.
    asks : {"own", "half"}
        Who asks what as in the study, or the first state everything and every other a random half
        of the columns.
    seed : int
        Of what is drawn.
    """
    choice("relation", relation, ("fitted", "random"))
    choice("asks", asks, ("own", "half"))
    rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0)))
    d = len(study.features)
    theta, noise = study.problem.theta, study.problem.noise
    if relation == "random":
        theta, noise = rng.standard_normal(d), 1.0
    views: ViewsLike = study.views
    if asks == "half":
        views = hub(len(study.views), d, d // 2, rng)
    return Problem(study.covariance, theta, noise, views)


def joining(study: Study, asked: Sequence[str] | None = None) -> pd.DataFrame:
    """COLLAB's measured error on the target's test people when each state not yet in it joins.

    Parameters
    ----------
    asked : list of str, optional
        Questions that a newcomer asks; all by default.

    Returns
    -------
    DataFrame
        ``state``, ``before``, ``after`` (relative to predicting the mean).
    """
    before = study.error_now()
    questions = tuple(study.sums.questions if asked is None else asked)
    rows = []
    for state in study.sums.states:
        if state in study.choice.states:
            continue
        after = measured_after(
            study,
            states=(*study.choice.states, state),
            asked=(*study.choice.asked, questions),
        )
        rows.append({"state": state, "before": before, "after": after})
    return pd.DataFrame(rows, columns=["state", "before", "after"])


def doubling(study: Study) -> pd.DataFrame:
    """Expected error, beyond what no data remove, if a state had twice its labelled people.

    By the formulas, of the model that is studied: ``state``, ``before``, ``after``.
    """
    base, n = study.problem, float(study.counts.mean())
    agent = study.target if study.choice.own else None
    before = bounds.error(base, bounds.gauss(base), agent) / n
    rows = []
    for i, state in enumerate(study.choice.states):
        shares = base.shares.copy()
        shares[i] *= 2
        more = Problem(base.covariance, base.theta, base.noise, base.views, shares)
        after = bounds.error(more, bounds.gauss(more), agent) / n
        rows.append({"state": state, "before": before, "after": after})
    return pd.DataFrame(rows, columns=["state", "before", "after"])


def leaving(study: Study) -> pd.DataFrame:
    """COLLAB's measured error on the target's test people when each other state leaves.

    Returns
    -------
    DataFrame
        ``state``, ``before``, ``after`` (relative to predicting the mean).
    """
    before = study.error_now()
    rows = []
    for state in study.choice.states:
        if state == study.choice.target:
            continue
        keep = [i for i, name in enumerate(study.choice.states) if name != state]
        after = measured_after(
            study,
            states=tuple(study.choice.states[i] for i in keep),
            asked=tuple(study.choice.asked[i] for i in keep),
        )
        rows.append({"state": state, "before": before, "after": after})
    return pd.DataFrame(rows, columns=["state", "before", "after"])


def question_table(falls: pd.DataFrame, states: Sequence[str]) -> pd.DataFrame:
    """`Study.asking_more` as a table: a row a state, a column a question, how far errors fall."""
    table = falls.pivot(index="state", columns="question", values="fall")
    order = [key for key in QUESTIONS if key in table.columns]
    return table.reindex(index=list(states), columns=order)
