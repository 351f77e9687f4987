"""Expected errors from formulas: the line behind every simulated marker."""

from __future__ import annotations

from collections.abc import Sequence

from .. import methods
from .._base.checks import Array
from ..bounds.weights import scores_of_law
from ..core.problem import Problem
from ..core.target import Target, TargetLike
from ..methods.base import Told
from ..world import laws
from ..world.laws import Law


def expected_error(
    problem: Problem,
    method: str,
    n: int,
    target: TargetLike = "full",
    *,
    noise_known: bool = False,
    features: str | Law = "gaussian",
) -> float | None:
    """Mean prediction error of a method at sample size n, or None where no formula is known.

    For Gaussian features exact at every n for local OLS, Naive-Collab and pooled moments; the
    leading order in 1/n for the others. The irreducible part of an agent's error is not in it.

    Parameters
    ----------
    problem : Problem
    method : str
        A key of `collab_core.methods`.
    n : int
        Labelled samples per agent (times its share).
    target : "full" or int
        All features, or an agent. "local" at the full target is a newcomer who sees all features
        and has n samples of its own.
    noise_known : bool
        Whether COLLAB+ knows the noise.
    features : str or Law
        Law of the features. If it is not Gaussian, to leading order in 1/n, by the integral over
        the law.
    """
    return expected_errors(
        problem, method, [n], target, noise_known=noise_known, features=features
    )[0]


def expected_errors(
    problem: Problem,
    method: str,
    sample_sizes: Sequence[int],
    target: TargetLike = "full",
    *,
    noise_known: bool = False,
    features: str | Law = "gaussian",
) -> list[float | None]:
    """`expected_error` at many sample sizes, for the price of one."""
    whose = Target.of(target, problem.agents)
    told = _told(problem, noise_known, features)
    return methods.get(method).expected_errors(problem, sample_sizes, whose, told)


def asymptotic_covariance(
    problem: Problem,
    method: str,
    target: TargetLike = "full",
    *,
    noise_known: bool = False,
    features: str | Law = "gaussian",
) -> Array | None:
    """Covariance of ``sqrt(n) (estimate - its limit)``, or None where no formula is known.

    The limit is the truth for every method but the naive averages. Local least squares has no
    full-feature estimate, the optimised average no covariance that is known. For features that
    are not Gaussian, of weighted aggregates and local least squares alone.

    Returns
    -------
    array, shape (d, d) for the full target, (d_i, d_i) for agent i; or None
    """
    whose = Target.of(target, problem.agents)
    told = _told(problem, noise_known, features)
    if whose.agent is None:
        return methods.get(method).covariance(problem, told)
    return methods.get(method).own_covariance(problem, whose.agent, told)


def _told(problem: Problem, noise_known: bool, features: str | Law) -> Told:
    law = laws.of(features)
    return Told(noise_known, None if law.is_gaussian else scores_of_law(problem, law))
