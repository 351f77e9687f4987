"""Statistical sweeps over many worlds, too long for every push: ``make slow``."""

import numpy as np
import pytest
from scipy.stats import norm

import collab_core as cc
from collab_core import methods as registry
from collab_core.runs.simulate import coverage, error_curves

from .worlds import random_problem

pytestmark = pytest.mark.slow

WORLDS = 40


def threshold(comparisons: int, level: float = 1e-3) -> float:
    """Standard errors that one of so many comparisons passes with probability ``level``."""
    return float(norm.isf(level / comparisons / 2))


def test_every_method_meets_its_theory_in_many_worlds():
    n, trials = 50_000, 3000
    allowed = threshold(WORLDS * (len(registry.usual()) + len(registry.usual(full=False))))
    for seed in range(WORLDS):
        rng = np.random.default_rng(seed)
        d, m = int(rng.integers(2, 9)), int(rng.integers(2, 9))
        problem = random_problem(rng, d=d, m=m, noise=float(rng.uniform(0.2, 2)), shares=True)
        for curve in error_curves(problem, [n], trials, ["full", 0], seed=seed).values():
            for method in curve.methods:
                errors = curve.errors[method][n]
                theory = cc.theory.expected_error(problem, method, n, curve.target)
                if theory is None:
                    continue
                slack = allowed * errors.std() / np.sqrt(trials) + 200 / n * theory
                assert abs(errors.mean() - theory) <= slack, (seed, method, curve.target)


def test_collab_plus_at_the_papers_size():
    """Noise known and unknown, from small n to the limit: ahead of COLLAB, and at its bound."""
    problem, trials = cc.Scenario(seed=1).problem(), 1000
    gauss = cc.bounds.error(problem, cc.bounds.gauss(problem))
    for known in (True, False):
        bound = cc.bounds.error(problem, cc.bounds.exact(problem, noise_known=known))
        settings = cc.simulate.Settings(noise_known=known)
        sizes = [50, 1000, 10**6]
        curve = error_curves(
            problem, sizes, trials, ["full"], ["collab", "collab_plus"], settings=settings
        )["full"]
        for n in sizes:
            gain = curve.errors["collab"][n] - curve.errors["collab_plus"][n]
            assert gain.mean() > 4 * gain.std() / np.sqrt(trials)
        scaled = 10**6 * curve.errors["collab_plus"][10**6]
        assert abs(scaled.mean() - bound) < 4 * scaled.std() / np.sqrt(trials)
        scaled = 10**6 * curve.errors["collab"][10**6]
        assert abs(scaled.mean() - gauss) < 4 * scaled.std() / np.sqrt(trials)


def test_intervals_cover_in_many_worlds():
    level, n, trials = 0.95, 3000, 2000
    for seed in range(WORLDS // 2):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, d=5, m=5)
        frame = coverage(problem, n, trials, level, seed=seed)
        allowed = threshold(WORLDS // 2 * len(frame))
        gap = (frame["covered"] - level).abs()
        assert (gap < allowed * frame["error"] + 10 / n).all(), seed


def test_the_corollary_never_fails_where_its_condition_holds():
    for seed in range(WORLDS):
        rng = np.random.default_rng(seed)
        d, condition = int(rng.integers(1, 11)), float(10 ** rng.uniform(0, 3))
        covariance = cc.covariance.geometric(d, condition, rng)
        theta = cc.coefficients.standard_normal(d, rng)
        sums = cc.bounds.PatternSums(covariance, theta, float(10 ** rng.uniform(-1, 1)))
        for share in (0.1, 0.5, 1.0):
            ratios = sums.at(share * sums.p_star).ratios
            assert 2 - 1e-9 <= ratios[0] <= ratios[-1] <= 4
