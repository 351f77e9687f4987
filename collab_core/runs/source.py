"""Where agents come from, trial by trial: a world, census sums, census records, a disturbed world.

A `Source` draws; a `Plan` says how often and for which methods; `curves` runs the plan in chunks
with seeds of their own and puts the errors together. All runs share this, so all of them stop,
report, repeat and spread over a cluster alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Generic, TypeVar

import numpy as np

from .. import methods as registry
from .._base.blas import single_threaded_blas
from .._base.checks import Array, whole
from ..core.agents import Agents
from ..core.estimate import LeftOut, NotEstimableError
from ..core.target import Models, Target
from .chunks import HasSubmit, run_chunks
from .curve import Curve
from .draws import StoppedError

Progress = Callable[[float, Any], None]


@dataclass(frozen=True)
class Wanted:
    """What a run will ask of the agents that are drawn.

    Attributes
    ----------
    methods : tuple of str
    needs : frozenset of str
        What these methods read (`collab_core.core.agents.NEEDS`).
    """

    methods: tuple[str, ...]
    needs: frozenset[str]


@dataclass(frozen=True)
class Chunk:
    """Trials that are drawn at a time.

    Attributes
    ----------
    trials : int
    streams : callable
        Gives a stream of random numbers by its number: choosing other methods does not change the
        agents' draws.
    wanted : Wanted
    stop : callable
        Asked between steps, and between pieces of a long one.
    """

    trials: int
    streams: Callable[..., np.random.Generator]
    wanted: Wanted
    stop: Callable[[], bool]


class Source(ABC):
    """Draws agents, and judges models by what it knows."""

    #: What the grid of its curves holds.
    axis = "n"

    #: Whether trials count with the whole grid or not at all.
    whole_only = False

    @abstractmethod
    def steps(self, grid: Sequence[float], chunk: Chunk) -> Iterator[tuple[float, Agents]]:
        """A stack of trials at every place of the grid in turn."""

    def draw(self, n: int, trials: int, rng: np.random.Generator) -> Agents:
        """A stack of trials in which every agent has n samples (times its share)."""
        keys = registry.keys()
        needs = frozenset().union(*(registry.get(key).needs for key in keys))
        chunk = Chunk(trials, lambda *_: rng, Wanted(keys, needs), lambda: False)
        return next(iter(self.steps([n], chunk)))[1]

    @abstractmethod
    def errors(self, agents: Agents, estimate: Models, target: Target) -> Array:
        """Excess error of an estimate for a target, shape (trials,)."""

    def offers(self, method: str, target: Target) -> bool:
        """Whether a method has a model for a target."""
        return target.is_full or not registry.get(method).full_only

    def formulas(self, agents: Agents, target: Target) -> Mapping[str, Array]:
        """Errors that closed forms give methods in these very trials, shape (trials,)."""
        return {}

    def weights_of(self) -> str:
        """COLLAB's weights, on which what it reads depends."""
        return "empirical"

    @abstractmethod
    def chunk_size(self, wanted: Wanted, grid: Sequence[float]) -> int:
        """Trials of a chunk: by what is drawn alone, so that seeds always mean the same."""


S = TypeVar("S", bound=Source)


@dataclass(frozen=True)
class Plan(Generic[S]):
    """A run, checked: everything a chunk needs, and nothing that cannot be sent to a worker."""

    source: S
    grid: tuple[float, ...]
    trials: int
    targets: tuple[Target, ...]
    methods: tuple[str, ...]
    seed: int
    chunk_size: int

    @classmethod
    def of(
        cls,
        source: S,
        grid: Sequence[float],
        trials: int,
        targets: Sequence[Target],
        methods: Sequence[str],
        seed: int,
    ) -> Plan[S]:
        """A plan of checked parts, cut into chunks."""
        plan = cls(
            source, tuple(grid), whole("trials", trials, low=1), tuple(targets), tuple(methods),
            whole("seed", seed, low=0), 1,
        )  # fmt: skip
        size = source.chunk_size(plan.wanted, plan.grid)
        return plan.in_chunks_of(size)

    def in_chunks_of(self, size: int) -> Plan[S]:
        """The same plan, cut otherwise (which changes the draws)."""
        return Plan(
            self.source, self.grid, self.trials, self.targets, self.methods, self.seed, size
        )

    @property
    def wanted(self) -> Wanted:
        """What is asked of the agents."""
        weights = self.source.weights_of()
        full = any(target.is_full for target in self.targets)
        needs = [registry.get(key).reads(full=full, weights=weights) for key in self.methods]
        return Wanted(self.methods, frozenset().union(*needs))

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.trials // self.chunk_size)

    def steps(self, index: int, cancel: Event | None) -> Iterator[tuple[float, Agents]]:
        """The stack of trials of a chunk at every place in turn; ends early when cancelled."""

        def stop() -> bool:
            return cancel is not None and cancel.is_set()

        def streams(*numbers: int) -> np.random.Generator:
            key = (index, *numbers)
            return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

        trials = min(self.chunk_size, self.trials - index * self.chunk_size)
        try:
            for step in self.source.steps(self.grid, Chunk(trials, streams, self.wanted, stop)):
                yield step
                if stop():
                    return
        except StoppedError:
            return


@dataclass(frozen=True)
class ChunkErrors:
    """Errors and notes of one chunk, by target, method and place."""

    errors: dict[tuple[Target, str, float], Array]
    notes: dict[tuple[Target, str, float], str]
    formulas: dict[tuple[Target, str, float], Array]
    finished: bool


def errors_of_chunk(plan: Plan[Any], index: int, cancel: Event | None) -> ChunkErrors:
    """Every method's errors on the trials of a chunk."""
    errors: dict[tuple[Target, str, float], Array] = {}
    notes: dict[tuple[Target, str, float], str] = {}
    formulas: dict[tuple[Target, str, float], Array] = {}
    steps = 0
    with single_threaded_blas():
        for place, agents in plan.steps(index, cancel):
            for method, target in pairs(plan):
                key = (target, method, place)
                try:
                    estimate = registry.get(method).of(agents)
                    errors[key] = plan.source.errors(agents, estimate, target)
                except NotEstimableError as reason:
                    notes[key] = str(reason)
                    continue
                said = note_of(estimate)
                if said:
                    notes[key] = said
            for target in plan.targets:
                for method, values in plan.source.formulas(agents, target).items():
                    formulas[target, method, place] = values
            steps += 1
    return ChunkErrors(errors, notes, formulas, steps == len(plan.grid))


def pairs(plan: Plan[Any]) -> Iterator[tuple[str, Target]]:
    """Methods and the targets that they have a model for."""
    for method in plan.methods:
        for target in plan.targets:
            if plan.source.offers(method, target):
                yield method, target


def note_of(estimate: Models) -> str:
    """Who was left out, in a sentence, or nothing."""
    left_out: tuple[LeftOut, ...] = getattr(estimate, "left_out", ())
    if not left_out:
        return ""
    listed = ", ".join(str(entry.agent) for entry in left_out[:8])
    more = f" and {len(left_out) - 8} more" if len(left_out) > 8 else ""
    return f"left out: agents {listed}{more} ({left_out[0].reason})"


C = TypeVar("C", bound=Curve)


def curves(
    plan: Plan[Any],
    make: Callable[[Target, Found, bool], C],
    *,
    progress: Progress | None = None,
    executor: HasSubmit | None = None,
    cancel: Event | None = None,
) -> dict[Target, C]:
    """Run a plan and put its errors together, a curve a target.

    Parameters
    ----------
    make : callable
        Makes a curve of a target, what was found, and whether that is only a part.
    progress : callable, optional
        Called with the fraction done and the curves so far, from this thread; first with no trials
        at all (theory needs none). A chunk that was stopped half way is in the curves, not in the
        fraction.
    """
    done: dict[int, ChunkErrors] = {}

    def so_far() -> tuple[float, dict[Target, C]]:
        finished = sum(result.finished for result in done.values())
        partial = finished < plan.chunks
        found = {
            target: make(target, Found.of(plan, target, done), partial) for target in plan.targets
        }
        return finished / plan.chunks, found

    if progress is not None:
        progress(*so_far())
    for index, result in run_chunks(plan, errors_of_chunk, executor, cancel):
        if result.finished or not plan.source.whole_only:
            done[index] = result
        if progress is not None:
            progress(*so_far())
    return so_far()[1]


@dataclass(frozen=True)
class Found:
    """Errors and notes of a target, as a `Curve` takes them."""

    methods: tuple[str, ...]
    errors: dict[str, dict[float, Array]]
    notes: dict[tuple[str, float], str]
    formulas: dict[str, dict[float, Array]]

    @classmethod
    def of(cls, plan: Plan[Any], target: Target, done: Mapping[int, ChunkErrors]) -> Found:
        """Put chunks together in their order, whatever order they finished in."""
        methods = tuple(method for method, whose in pairs(plan) if whose == target)
        ordered = [done[index] for index in sorted(done)]
        errors: dict[str, dict[float, Array]] = {method: {} for method in methods}
        notes: dict[tuple[str, float], str] = {}
        for method in methods:
            for place in plan.grid:
                key = (target, method, place)
                parts = [chunk.errors[key] for chunk in ordered if key in chunk.errors]
                if parts:
                    errors[method][place] = np.concatenate(parts)
                said = [chunk.notes[key] for chunk in ordered if key in chunk.notes]
                if said:
                    notes[method, place] = said[0]
        formulas: dict[str, dict[float, Array]] = {}
        for chunk in ordered:
            for (whose, method, place), values in chunk.formulas.items():
                if whose == target:
                    before = formulas.setdefault(method, {}).get(place, np.empty(0))
                    formulas[method][place] = np.concatenate([before, values])
        return cls(methods, errors, notes, formulas)
