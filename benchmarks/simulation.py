"""Simulation: cost against n, against raw data, growth with the size of the world, memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import collab_core as cc
from collab_core.simulate import error_curve, paper_experiment

from .timing import duel, milliseconds, seconds, table

FREE = {"methods": ["collab", "local", "naive_collab"], "weights": "population"}


def world(m: int = 30, d: int = 30) -> cc.Problem:
    sizes = {"rich": m // 3, "rich_size": 2 * d // 3, "size": d // 2}
    return cc.Scenario(m=m, d=d, seed=1, **sizes).problem()


def raw_trial(problem: cc.Problem, n: int, rng: np.random.Generator) -> None:
    """One trial as one would write it: draw samples, lstsq per agent, the paper's formulas."""
    d = problem.dimension
    root = np.linalg.cholesky(problem.covariance)
    collab, collab_right = np.zeros((d, d)), np.zeros(d)
    imputed, imputed_right = np.zeros((d, d)), np.zeros(d)
    naive = np.zeros(d)
    for i, view in enumerate(problem.views):
        x = rng.standard_normal((n, d)) @ root.T
        y = x @ problem.theta + problem.noise * rng.standard_normal(n)
        seen = x[:, view]
        theta = np.linalg.lstsq(seen, y, rcond=None)[0]
        residual = np.mean((y - seen @ theta) ** 2)
        transform = problem.transform(i)
        weight = seen.T @ seen / n / residual
        collab += transform.T @ weight @ transform
        collab_right += transform.T @ weight @ theta
        full = seen @ transform
        imputed += full.T @ full
        imputed_right += full.T @ y
        naive[view] += theta / problem.agents
    np.linalg.solve(collab, collab_right)
    np.linalg.solve(imputed, imputed_right)


def cost_against_n() -> None:
    problem, rows = world(), []
    for name, options in (("all methods", {}), ("matrix-free methods", FREE)):
        small, large = duel(
            lambda options=options: error_curve(problem, [100], 200, **options),
            lambda options=options: error_curve(problem, [10**6], 200, **options),
        )
        rows.append([name, milliseconds(small), milliseconds(large), f"{large / small:.2f}"])
    headers = ["200 trials, m=d=30", "n = 100", "n = 1,000,000", "ratio"]
    table("The cost of a simulation does not grow with n", headers, rows)


def against_raw_data() -> None:
    problem, rng, n = world(), np.random.default_rng(0), 3000
    every, raw = duel(
        lambda: error_curve(problem, [n], 500), lambda: raw_trial(problem, n, rng), repeats=4
    )
    free = seconds(lambda: error_curve(problem, [n], 1000, **FREE))
    rows = [
        ["all eight methods", milliseconds(every / 500), milliseconds(raw), f"{500 * raw / every:.0f}x"],
        ["matrix-free methods", milliseconds(free / 1000), milliseconds(raw), f"{1000 * raw / free:.0f}x"],
    ]  # fmt: skip
    headers = ["per trial, n=3000, m=d=30", "moments", "raw data, NumPy fits", "faster"]
    table(
        "Drawing moments against drawing data (three methods fitted on the raw data)", headers, rows
    )
    print(f"  1,000 trials of the matrix-free methods: {milliseconds(free)}")
    paper = seconds(paper_experiment, repeats=3)
    print(
        f"  The paper's synthetic experiment (10 sizes, 20 trials, every method): {milliseconds(paper)}"
    )


def growth() -> None:
    rows = []
    for m, d, trials in (
        (30, 30, 100), (30, 30, 1000), (60, 30, 100), (120, 30, 100), (30, 60, 100), (10, 10, 1000),
    ):  # fmt: skip
        problem = world(m, d)
        took = seconds(lambda p=problem, t=trials: error_curve(p, [1000], t), repeats=2)
        free = seconds(lambda p=problem, t=trials: error_curve(p, [1000], t, **FREE), repeats=2)
        rows.append([str(m), str(d), str(trials), milliseconds(took), milliseconds(free)])
    table("How time grows (one n)", ["m", "d", "trials", "all methods", "matrix-free"], rows)


def peak_memory() -> None:
    code = (
        "import resource, collab_core as cc;"
        "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "cc.simulate.error_curve(cc.Scenario(seed=1).problem(), [1000], 10_000);"
        "print(base // 1024, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    before, peak = result.stdout.split()
    print(f"\nPeak memory of 10,000 trials of all methods, m=d=30: {peak} MB ({before} MB before)")


def run() -> None:
    cost_against_n()
    against_raw_data()
    growth()
    peak_memory()
