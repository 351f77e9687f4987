"""What every method must satisfy: the common checks, for ours and for anybody's.

    from collab_core.methods.check import check_method
    print(check_method("collab"))

A method that cannot satisfy a check says so in its class (``exempt``), with the reason, and the
report repeats it. Everything is drawn from fixed seeds; tolerances are in Monte-Carlo standard
errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from .. import bounds
from .._base.checks import Array, Indices
from ..core.agents import Agents
from ..core.estimate import Estimate, NotEstimableError
from ..core.geometry import Geometry
from ..core.moments import Moments
from ..core.problem import Problem
from ..core.target import Models, Target
from .base import Method, get

#: How far a mean may be off: chance is then one in ten thousand for each.
STANDARD_ERRORS = 4.0

#: Agreement of two ways to the same numbers.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Report:
    """What came out of the checks of one method.

    Attributes
    ----------
    method : str
    passed : tuple of str
        Names of the checks.
    exempt : dict
        Checks that were left out, with the method's own reason.
    not_asked : dict
        Checks that do not apply, and why.
    """

    method: str
    passed: tuple[str, ...]
    exempt: dict[str, str]
    not_asked: dict[str, str]

    def __str__(self) -> str:
        lines = [f"{self.method}: {len(self.passed)} checks passed ({', '.join(self.passed)})"]
        lines += [f"  exempt from {name}: {reason}" for name, reason in self.exempt.items()]
        lines += [f"  not asked for {name}: {why}" for name, why in self.not_asked.items()]
        return "\n".join(lines)


class NotAskedError(Exception):
    """Raised by a check that does not apply to a method; says why."""


Check = Callable[[Method], None]


def check_method(method: str | Method) -> Report:
    """Run all checks on a method.

    Parameters
    ----------
    method : str or Method
        A key of the registry, or a method that need not be registered.

    Raises
    ------
    AssertionError
        Naming the method and the check that failed.
    """
    asked = get(method) if isinstance(method, str) else method
    unknown = set(asked.exempt) - set(CHECKS)
    if unknown:
        raise ValueError(f"{asked.key}: exempt names no check: {', '.join(sorted(unknown))}")
    passed: list[str] = []
    not_asked: dict[str, str] = {}
    for name, check in yield_checks(asked):
        try:
            check(asked)
            passed.append(name)
        except NotAskedError as reason:
            not_asked[name] = str(reason)
        except AssertionError as failure:
            raise AssertionError(f"{asked.key}, {name}: {failure}") from failure
    return Report(asked.key, tuple(passed), dict(asked.exempt), not_asked)


def yield_checks(method: Method) -> Iterator[tuple[str, Check]]:
    """The checks that a method is not exempt from, by name."""
    for name, check in CHECKS.items():
        if name not in method.exempt:
            yield name, check


# Worlds ------------------------------------------------------------------------------------------


@cache
def world(shares: tuple[float, ...] | None = None) -> Problem:
    """Five agents, four features, each seen by two agents or more."""
    rng = np.random.default_rng(7)
    root = rng.standard_normal((4, 6))
    covariance = root @ root.T / 4 + 0.3 * np.eye(4)
    views = [[0, 1, 2], [1, 2, 3], [0, 3], [0, 1, 2, 3], [1, 3]]
    return Problem(covariance, [1.0, -0.7, 0.5, 0.8], 0.7, views, shares)


def drawn(problem: Problem, n: int, trials: int, seed: int = 0) -> Agents:
    """Agents of a world, with all that any method needs."""
    from ..runs.world import Settings, World

    source = World(problem, Settings(unlabelled=200))
    return source.draw(n, trials, np.random.default_rng(seed))


def changed(
    agents: Agents,
    data: list[Moments],
    views: Sequence[Indices],
    covariance: Array,
    *,
    fresh: Moments | None,
    unlabelled: Array | None,
) -> Agents:
    """The same agents with other data, told the same otherwise."""
    return Agents(
        data, views, Geometry(covariance, views), covariance.shape[-1],
        fresh=fresh, unlabelled=unlabelled, oracle=agents.oracle, options=agents.options,
    )  # fmt: skip


def models(method: Method, agents: Agents) -> list[Array]:
    """Everything a method says: its model of all features, and every agent's own."""
    estimate = method.of(agents)
    found = [] if _has_no_full_model(method, agents) else [estimate.theta]
    if not method.full_only:
        found += [estimate.local(i) for i in range(len(agents.data))]
    return found


def _has_no_full_model(method: Method, agents: Agents) -> bool:
    return "fresh" in method.reads(full=True, weights="empirical") and agents.fresh is None


def assert_close(name: str, found: Array, expected: Array) -> None:
    """Two arrays agree to rounding at their own scale."""
    scale = np.abs(expected).max(initial=0.0) + 1e-12
    worst = np.abs(found - expected).max(initial=0.0)
    assert found.shape == expected.shape, f"{name}: shapes {found.shape} and {expected.shape}"
    assert worst <= ROUNDING * scale, f"{name}: off by {worst:.3g}, at a scale of {scale:.3g}"


# The same estimate, whatever way it is asked for -------------------------------------------------


def batch_equals_loop(method: Method) -> None:
    """A stack of trials gives what its trials give one by one."""
    agents = drawn(world(), 30, 4)
    together = models(method, agents)
    for t in range(4):
        alone = models(method, one_trial(agents, t))
        for whole, part in zip(together, alone, strict=True):
            assert_close(f"trial {t}", part, whole[t])


def one_trial(agents: Agents, t: int) -> Agents:
    """One trial of a stack, without leading axes."""

    def one(moment: Moments) -> Moments:
        n = moment.n if moment.n.ndim == 0 else moment.n[t]
        return Moments(n, moment.xx[t], moment.xy[t], moment.yy[t], is_centred=moment.is_centred)

    fresh = None if agents.fresh is None else one(agents.fresh)
    unlabelled = None if agents.unlabelled is None else agents.unlabelled[t]
    data = [one(moment) for moment in agents.moments]
    return changed(
        agents, data, list(agents.views), agents.geometry.covariance, fresh=fresh,
        unlabelled=unlabelled,
    )  # fmt: skip


def order_of_agents(method: Method) -> None:
    """Agents can be listed in any order."""
    agents = drawn(world(), 30, 3)
    order = [3, 0, 4, 2, 1]
    other = changed(
        agents,
        [agents.moments[i] for i in order],
        [agents.views[i] for i in order],
        agents.geometry.covariance,
        fresh=agents.fresh,
        unlabelled=agents.unlabelled,
    )
    if agents.oracle is not None:
        other.oracle = replace(
            agents.oracle,
            unexplained=agents.oracle.unexplained[order],
            scores=_in_order(agents.oracle.scores, order),
        )
    here, there = method.of(agents), method.of(other)
    assert_close("theta", there.theta, here.theta)
    if not method.full_only:
        for place, i in enumerate(order):
            assert_close(f"agent {i}", there.local(place), here.local(i))


def _in_order(scores: Callable[[], Sequence[Array]], order: list[int]) -> Callable[[], list[Array]]:
    def ordered() -> list[Array]:
        found = scores()
        return [found[i] for i in order]

    return ordered


def relabelled_features(method: Method) -> None:
    """Features can be numbered in any order."""
    agents, d = drawn(world(), 30, 3), world().dimension
    order = np.array([2, 0, 3, 1])
    place = np.argsort(order)
    other = changed(
        agents,
        agents.moments,
        [place[view] for view in agents.views],
        agents.geometry.covariance[np.ix_(order, order)],
        fresh=None if agents.fresh is None else agents.fresh.select(order),
        unlabelled=None if agents.unlabelled is None else agents.unlabelled[..., order],
    )
    here, there = method.of(agents), method.of(other)
    assert_close("theta", there.theta[..., place], here.theta)
    assert d == len(order)


def rescaled_features(method: Method) -> None:
    """Another unit of a feature changes its coefficient and nothing else."""
    agents = drawn(world(), 30, 3)
    unit = np.array([100.0, 1.0, 0.01, 3.0])

    def scaled(moment: Moments, view: Indices) -> Moments:
        by = unit[view]
        return Moments(moment.n, moment.xx * np.outer(by, by), moment.xy * by, moment.yy)

    everything = np.arange(4)
    other = changed(
        agents,
        [scaled(m, view) for m, view in zip(agents.moments, agents.views, strict=True)],
        list(agents.views),
        agents.geometry.covariance * np.outer(unit, unit),
        fresh=None if agents.fresh is None else scaled(agents.fresh, everything),
        unlabelled=None if agents.unlabelled is None else agents.unlabelled * unit,
    )
    if agents.oracle is not None:
        outer = [np.outer(unit[view], unit[view]) for view in agents.views]
        scores = [score * by for score, by in zip(agents.oracle.scores(), outer, strict=True)]
        other.oracle = replace(agents.oracle, scores=lambda: scores)
    here, there = method.of(agents), method.of(other)
    assert_close("theta", there.theta * unit, here.theta)


def repeatable(method: Method) -> None:
    """The same data give the same bits."""
    first, second = (models(method, drawn(world(), 30, 3)) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one, other), "two runs on the same data differ"


def inputs_unchanged(method: Method) -> None:
    """Nobody's data are changed in place."""
    agents = drawn(world(), 30, 3)
    held = [m for m in (*agents.moments, agents.fresh) if m is not None]
    arrays = [array for m in held for array in (m.xx, m.xy, m.yy)]
    arrays += [agents.geometry.covariance]
    arrays += [] if agents.unlabelled is None else [agents.unlabelled]
    before = [array.copy() for array in arrays]
    models(method, agents)
    for one, other in zip(before, arrays, strict=True):
        assert np.array_equal(one, other), "an array of the data was changed"


# Odd data ----------------------------------------------------------------------------------------


def assert_sound(method: Method, agents: Agents) -> None:
    """Finite models, or a sentence why there are none; never anything else."""
    try:
        found = models(method, agents)
    except NotEstimableError as reason:
        if not str(reason):
            raise AssertionError("what cannot be estimated must be said") from reason
        return
    assert all(np.isfinite(model).all() for model in found), "a model is not finite"


def agents_that_see_nothing(method: Method) -> None:
    """An agent without any feature does no harm."""
    seeing = world()
    views = [*seeing.views, np.empty(0, dtype=np.intp)]
    problem = Problem(seeing.covariance, seeing.theta, seeing.noise, views)
    agents = drawn(problem, 30, 3)
    assert_sound(method, agents)
    if not method.full_only:
        own = method.of(agents).local(len(views) - 1)
        assert own.shape[-1] == 0, f"its model has {own.shape[-1]} coefficients"


def few_samples(method: Method) -> None:
    """An agent with no more samples than features is used or left out, never divided by."""
    assert_sound(method, drawn(world((0.1, 1.0, 1.0, 1.0, 1.0)), 20, 3))
    assert_sound(method, drawn(world(), 3, 3))


def constant_columns(method: Method) -> None:
    """A feature that never varies in somebody's sample."""
    agents = one_trial(drawn(world(), 30, 3), 0)
    first = agents.moments[0]
    xx, xy = first.xx.copy(), first.xy.copy()
    xx[1], xx[:, 1], xy[1] = 0.0, 0.0, 0.0
    data = [Moments(first.n, xx, xy, first.yy), *agents.moments[1:]]
    other = changed(
        agents, data, list(agents.views), agents.geometry.covariance, fresh=agents.fresh,
        unlabelled=agents.unlabelled,
    )  # fmt: skip
    assert_sound(method, other)


def unequal_samples(method: Method) -> None:
    """Agents of very different size; with much data a consistent method is near the truth."""
    problem = world((0.2, 3.0, 0.5, 1.0, 0.3))
    agents = drawn(problem, 20_000, 20, seed=1)
    assert_sound(method, agents)
    if method.is_consistent:
        for target in targets(method):
            error = excess(problem, method.of(agents), target).mean()
            limit = 0.01 * problem.label_variance
            assert error < limit, f"error {error:.3g} for {target.key} at n = 20,000"


# What theory says --------------------------------------------------------------------------------


def targets(method: Method) -> list[Target]:
    """All features, and an agent's own where the method has such a model."""
    return [Target()] if method.full_only else [Target(), Target(1)]


def excess(problem: Problem, estimate: Models, target: Target) -> Array:
    """Excess error of every trial."""
    gap = target.model(estimate) - target.truth(problem)
    return np.asarray(((gap @ target.block(problem)) * gap).sum(axis=-1))


def intervals_cover(method: Method) -> None:
    """95% intervals hold the truth in 95% of the trials, with plenty of data."""
    if not method.gives_intervals:
        raise NotAskedError("it gives no intervals")
    problem, trials = world(), 500
    estimate = method.of(drawn(problem, 400, trials, seed=2))
    assert isinstance(estimate, Estimate)
    for target in targets(method):
        low, high = estimate.interval(0.95, agent=target.agent)
        truth = target.truth(problem)
        covered = float(((low <= truth) & (truth <= high)).mean())
        slack = STANDARD_ERRORS * np.sqrt(0.95 * 0.05 / trials) + 0.01
        assert abs(covered - 0.95) < slack, f"{covered:.3f} covered for {target.key}"


def error_above_bound(method: Method) -> None:
    """Nobody beats the exact bound of those who know the noise, for large n."""
    if not method.is_consistent:
        raise NotAskedError("it is biased, and the bound is for unbiased estimates")
    problem, n, trials = world(), 5000, 300
    agents = drawn(problem, n, trials, seed=3)
    for target in targets(method):
        if target.is_full and "fresh" in method.reads(full=True, weights="empirical"):
            continue  # It has samples that the bound does not count.
        C = bounds.exact(problem)
        own = C if target.agent is None else bounds.local(problem, C, target.agent)
        bound = target.error(problem, own)
        errors = n * excess(problem, method.of(agents), target)
        slack = STANDARD_ERRORS * errors.std() / np.sqrt(trials)
        assert errors.mean() > bound - slack, f"{errors.mean():.3g} against {bound:.3g}"


def error_at_theory(method: Method) -> None:
    """For large n the mean error is what the method's own formula says."""
    problem, n, trials = world(), 20_000, 400
    agents = drawn(problem, n, trials, seed=4)
    for target in targets(method):
        expected = method.expected_errors(problem, [n], target)[0]
        if expected is None:
            raise NotAskedError("no formula for its error is known")
        errors = excess(problem, method.of(agents), target)
        slack = STANDARD_ERRORS * errors.std() / np.sqrt(trials) + 0.01 * expected
        gap = abs(errors.mean() - expected)
        assert gap < slack, f"{errors.mean():.4g} for {target.key}, {expected:.4g} by the formula"


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        batch_equals_loop,
        order_of_agents,
        relabelled_features,
        rescaled_features,
        repeatable,
        inputs_unchanged,
        agents_that_see_nothing,
        few_samples,
        constant_columns,
        unequal_samples,
        intervals_cover,
        error_above_bound,
        error_at_theory,
    )
}
