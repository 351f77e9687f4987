"""The library: dual form against primal, exact sums, stacks of trials against loops."""

from __future__ import annotations

import numpy as np

import collab_core as cc

from .timing import duel, milliseconds, seconds, table


def gauss_by_transforms(problem: cc.Problem) -> np.ndarray:
    """C_gauss as the paper writes it: T_i, Gamma_i and W_i of every agent, one after the other."""
    total = np.zeros_like(problem.covariance)
    for seen in problem.views:
        unseen = np.setdiff1d(np.arange(problem.dimension), seen)
        own = problem.covariance[np.ix_(seen, seen)]
        cross = problem.covariance[np.ix_(seen, unseen)]
        regression = np.linalg.solve(own, cross)
        transform = np.zeros((seen.size, problem.dimension))
        transform[:, seen] = np.eye(seen.size)
        transform[:, unseen] = regression
        gamma = problem.covariance[np.ix_(unseen, unseen)] - cross.T @ regression
        unexplained = problem.noise**2 + problem.theta[unseen] @ gamma @ problem.theta[unseen]
        total += transform.T @ (own / unexplained) @ transform
    return np.linalg.inv(total)


def dual_form() -> None:
    rows = []
    for m, d in ((30, 30), (1000, 100)):
        scenario = cc.Scenario(
            m=m, d=d, rich=m // 3, rich_size=2 * d // 3, size=d // 2, spikes=3, seed=1
        )
        arguments = (scenario.covariance, scenario.coefficients, scenario.sigma, scenario.views)
        problem = cc.Problem(*arguments)
        # Ours includes checking the input and building the problem anew; theirs gets it for free.
        ours, theirs = duel(
            lambda arguments=arguments: cc.bounds.gauss(cc.Problem(*arguments)),
            lambda problem=problem: gauss_by_transforms(problem),
        )
        gap = np.abs(cc.bounds.gauss(problem) / gauss_by_transforms(problem) - 1).max()
        rows.append(
            [f"m={m}, d={d}", milliseconds(ours), milliseconds(theirs), f"{theirs / ours:.1f}x",
             f"{gap:.0e}"]
        )  # fmt: skip
    headers = ["C_gauss", "dual form", "T_i' W_i T_i in a loop", "faster", "largest gap"]
    table("C_gauss, from raw input", headers, rows)


def corollary() -> None:
    rows = []
    for d in (10, 12, 14, 40):
        scenario = cc.Scenario(d=d, spikes=3, rich=0, size=d // 2, seed=1)
        world = (scenario.covariance, scenario.coefficients, scenario.sigma)
        build = seconds(lambda world=world: cc.bounds.PatternSums(*world), repeats=2)
        sums = cc.bounds.PatternSums(*world)
        grid = np.linspace(0, 0.9, 50)
        curve = seconds(lambda sums=sums, grid=grid: sums.curve(grid), repeats=2)
        kind = f"all {2**d:,} patterns" if sums.exact_sum else "some 256 patterns of each size"
        rows.append([f"d={d}", kind, milliseconds(build), milliseconds(build + curve)])
    table("Corollary 4.4", ["dimension", "summed over", "one p", "a curve of 50 p"], rows)


def stacked_trials() -> None:
    problem, trials = cc.Scenario(seed=1).problem(), 1000
    rng = np.random.default_rng(0)
    stacks = []
    for i, size in enumerate(problem.sizes):
        root = np.linalg.cholesky(problem.geometry.block(i))
        x = rng.standard_normal((trials, 100, size)) @ root.T
        y = x @ problem.local_theta(i)
        y += np.sqrt(problem.unexplained[i]) * rng.standard_normal(y.shape)
        stacks.append(cc.Moments.from_arrays(x, y))
    parts = [(m.n, m.xx, m.xy, m.yy) for m in stacks]
    rows = []
    for name, estimate in (
        ("COLLAB, empirical weights", cc.estimators.collab),
        ("COLLAB, population weights", lambda *a: cc.estimators.collab(*a, weights="population")),
        ("Imputation", cc.estimators.global_imputation),
        ("COLLAB+", cc.estimators.collab_plus),
    ):
        # Moments are made anew each time: they remember their own least squares.
        def stacked(estimate=estimate):
            moments = [cc.Moments(*part) for part in parts]
            return estimate(moments, problem.views, problem.covariance).theta

        def looped(estimate=estimate, count=50):
            for t in range(count):
                moments = [cc.Moments(n, xx[t], xy[t], yy[t]) for n, xx, xy, yy in parts]
                estimate(moments, problem.views, problem.covariance).theta  # noqa: B018

        ours, theirs = duel(stacked, looped, repeats=3)
        theirs *= trials / 50
        rows.append([name, milliseconds(ours), milliseconds(theirs), f"{theirs / ours:.0f}x"])
    headers = ["1,000 trials, m=d=30", "as one stack", "one by one", "faster"]
    table("Estimating a stack of trials", headers, rows)


def run() -> None:
    dual_form()
    corollary()
    stacked_trials()
