"""Records themselves, for drawing n people at a time as the paper does.

Held in memory only as numbers of those who count; sums (`study`) need none of this. Test people
are held too, for what cannot be measured by sums (`collab_core.smooth.travel`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import numpy as np

from .._base.checks import Array, whole
from ..world.laws import EmpiricalLaw
from .records import layout_of, read, state_name
from .study import Study
from .sums import TEST_EVERY, CensusSums, Collector

#: Training people held at most: some 400 MB with those for testing.
MOST_PEOPLE = 1_000_000

#: People whose answers make an empirical law, at most: some 90 MB.
MOST_ROWS = 300_000


def _joined(parts: dict[int, list[tuple[Array, Array]]]) -> dict[str, tuple[Array, Array]]:
    """Pieces by state code to whole arrays by state."""
    return {
        state_name(code): (
            np.concatenate([x for x, _ in pieces]),
            np.concatenate([y for _, y in pieces]),
        )
        for code, pieces in parts.items()
    }


class People:
    """Training people of every state, as numbers, and the sums of everybody.

    Attributes
    ----------
    features : tuple of str
    by_state : dict
        By state, features (n, d) and minutes (n,).
    sums : CensusSums
        Of the same files, test people included.
    tests : dict
        By state, the same of the test people, who take part in no fit.
    """

    def __init__(
        self,
        features: tuple[str, ...],
        by_state: dict[str, tuple[Array, Array]],
        sums: CensusSums,
        tests: dict[str, tuple[Array, Array]] | None = None,
    ) -> None:
        self.features, self.by_state, self.sums = features, by_state, sums
        self.tests = tests or {}

    @classmethod
    def from_files(
        cls,
        paths: Sequence[str | Path],
        source: str,
        *,
        most: int | None = None,
        progress: Callable[[float], None] | None = None,
        cancel: Event | None = None,
    ) -> People:
        """Read files of person records; what any of them lacks is left out of all.

        With more than ``most`` training people (a million) only their sums are kept, within the
        memory of one chunk; `holds_records` says so.
        """
        files = [Path(path) for path in paths]
        collector = Collector([layout_of(path) for path in files])
        features = collector.features
        parts: dict[int, list[tuple[Array, Array]]] = {}
        kept: dict[int, list[tuple[Array, Array]]] = {}
        seen: dict[int, int] = {}
        held = 0
        limit = MOST_PEOPLE if most is None else most
        for path, layout, people in read(files, progress=progress, cancel=cancel):
            collector.add(people, layout.features, path.name)
            columns = [layout.features.index(name) for name in features]
            for code in np.unique(people.states):
                rows = np.flatnonzero(people.states == code)
                first = seen.get(int(code), 0)
                seen[int(code)] = first + rows.size
                training = (first + np.arange(rows.size)) % TEST_EVERY != 0
                held += int(training.sum())
                if held > limit:
                    # Too many to hold: the sums go on, and records are not kept at all.
                    parts.clear()
                    kept.clear()
                    continue
                for where, some in ((parts, rows[training]), (kept, rows[~training])):
                    where.setdefault(int(code), []).append(
                        (people.x[some][:, columns], people.minutes[some])
                    )
        if held > limit:
            return cls(features, {}, collector.sums(source))
        return cls(features, _joined(parts), collector.sums(source), _joined(kept))

    @property
    def holds_records(self) -> bool:
        """Whether people can be drawn, or only their sums are here."""
        return bool(self.by_state)

    def feature_law(self, study: Study, most: int = MOST_ROWS, seed: int = 0) -> EmpiricalLaw:
        """The law of these people's answers: a draw is a person picked at random.

        Answers are in the study's units and about their state's mean, as everywhere in a study;
        states are put together, since the method's theory has one law for all agents.

        Parameters
        ----------
        study : Study
            Of the same data.
        most : int
            People used at most, picked at random.
        """
        if not self.holds_records:
            raise ValueError("people: only sums were kept of these files, not the records")
        columns = [self.features.index(name) for name in study.features]
        parts = [
            x - x.mean(axis=0)
            for x in (self.by_state[state][0][:, columns] for state in study.choice.states)
        ]
        rows = np.concatenate(parts) / study.scale
        if len(rows) > whole("most", most, low=1):
            rng = np.random.default_rng(np.random.SeedSequence(whole("seed", seed, low=0)))
            rows = rows[np.sort(rng.choice(len(rows), most, replace=False))]
        return EmpiricalLaw(rows)

    def of_study(self, study: Study, state: str) -> tuple[Array, Array]:
        """A state's features (n, d) and labels (n,) that a study asks for, in their own units."""
        x, minutes = self.by_state[state]
        columns = [self.features.index(name) for name in study.features]
        return x[:, columns], np.log(minutes) if study.choice.log else minutes
