"""What a table is asked: what to predict, whose rows they are, from which columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._base.checks import choice, fraction, whole
from ..core.agents import WEIGHTS
from .column import MOST_AGENTS
from .table import Table


@dataclass(frozen=True)
class TableChoice:
    """What a table is asked.

    Attributes
    ----------
    target : str
        Column to predict.
    agent : str
        Column that says whose row it is.
    features : tuple of str
        Columns to predict from.
    categories : tuple of str
        Those of them whose values are names, not amounts.
    log : bool
        Predict the target's logarithm; rows whose target is not above 0 are left out.
    gaps : {"drop", "mean"}
        What becomes of a row in which a feature is missing that its agent usually has: it is left
        out, or its mean given what the row does have is put in, as features go together in all
        agents' rows. (The plain mean would bend everybody's relation; this one does not, if gaps
        come by chance.)
    without : tuple of str
        Agents whose rows are left out.
    rare : float
        Levels of a category in less than this share of all rows are one, `OTHER`; 0 keeps all.
    sigma : {"agents", "unlabelled"}
        Whether covariances come from the agents' labelled rows, entry by entry, or from complete
        rows without a target.
    weights : {"moderated", "empirical", "population", "plug_in"}
        COLLAB's (`collab_core.estimators.collab`). Moderated by default: with the paper's own, an
        agent of few rows can speak for everybody.
    shuffle : bool
        Deal rows into folds by chance, rather than in turn.
    seed : int
        Of that chance.
    """

    target: str
    agent: str
    features: tuple[str, ...]
    categories: tuple[str, ...] = ()
    log: bool = False
    gaps: str = "drop"
    without: tuple[str, ...] = ()
    rare: float = 0.01
    sigma: str = "agents"
    weights: str = "moderated"
    shuffle: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        choice("gaps", self.gaps, ("drop", "mean"))
        choice("sigma", self.sigma, ("agents", "unlabelled"))
        choice("weights", self.weights, tuple(WEIGHTS))
        fraction("rare", self.rare)
        whole("seed", self.seed, low=0)
        if not self.features:
            raise ValueError("features must name at least one column, got none")
        if self.target == self.agent:
            raise ValueError(f"{self.target!r} cannot be both the target and the agents")
        for name in (self.target, self.agent):
            if name in self.features:
                raise ValueError(f"{name!r} is the target or names the agents: it is no feature")
        stray = [name for name in self.categories if name not in self.features]
        if stray:
            raise ValueError(f"categories must be among the features, {stray[0]!r} is not")


def usual_choice(table: Table, **given: Any) -> TableChoice:
    """The choice that a person most likely means; what is given is kept.

    Features are all usable columns but the target and the agents'.
    """
    target = given.pop("target", None) or table.usual_target()
    agent = given.pop("agent", None) or table.usual_agent()
    if agent is None:
        raise ValueError(
            f"no column can name the agents: one with 2 to {MOST_AGENTS} different values is"
            " needed, or several files, one an agent"
        )
    if target is None:
        raise ValueError("no column can be the target: one of numbers that vary is needed")
    features = given.pop("features", None) or tuple(
        column.name
        for column in table.columns
        if column.usable and column.name not in (target, agent)
    )
    if not features:
        raise ValueError(
            f"no column is left to predict {target!r} from: one that varies is needed besides"
            f" {agent!r}"
        )
    categories = given.pop("categories", None)
    if categories is None:
        categories = tuple(name for name in features if table.column(name).kind != "number")
    return TableChoice(target, agent, tuple(features), tuple(categories), **given)
