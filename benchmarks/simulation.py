"""Simulation: cost against n, against raw data, growth with the size of the world, memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import collab_core as cc
from collab_core.runs.simulate import error_curve, paper_experiment

from .timing import duel, milliseconds, seconds, table

FREE = {"methods": ["collab", "local", "naive_collab"], "weights": "population"}


def world(m: int = 30, d: int = 30) -> cc.Problem:
    sizes = {"rich": m // 3, "rich_size": 2 * d // 3, "size": d // 2}
    return cc.Scenario(m=m, d=d, seed=1, **sizes).problem()


def raw_trial(problem: cc.Problem, n: int, rng: np.random.Generator) -> None:
    """One trial as one would write it: draw samples, fit every method on them with NumPy."""
    d, root = problem.dimension, np.linalg.cholesky(problem.covariance)

    def draw() -> tuple[np.ndarray, np.ndarray]:
        x = rng.standard_normal((n, d)) @ root.T
        return x, x @ problem.theta + problem.noise * rng.standard_normal(n)

    left, right = np.zeros((d, d)), np.zeros(d)
    products, counts = np.zeros(d), np.zeros(d)
    models, imputed, labels, messages = np.zeros((d, problem.agents)), [], [], []
    for i, view in enumerate(problem.views):
        x, y = draw()
        seen, transform = x[:, view], problem.transform(i)
        theta = np.linalg.lstsq(seen, y, rcond=None)[0]
        weight = seen.T @ seen / n / np.mean((y - seen @ theta) ** 2)
        left += transform.T @ weight @ transform
        right += transform.T @ weight @ theta
        products[view] += seen.T @ y
        counts[view] += n
        models[view, i] = theta
        imputed.append(seen @ transform)
        labels.append(y)
        messages.append(cc.Moments.from_arrays(seen, y))
    np.linalg.solve(left, right)  # COLLAB
    np.linalg.solve(problem.covariance, products / counts)  # pooled moments
    models.mean(axis=1)  # Naive-Collab
    fresh_x, fresh_y = draw()
    np.linalg.lstsq(fresh_x, fresh_y, rcond=None)  # a newcomer alone
    np.linalg.lstsq(fresh_x @ models, fresh_y, rcond=None)  # Optimized-Naive-Collab
    rows, targets = np.concatenate(imputed), np.concatenate(labels)
    np.linalg.lstsq(rows, targets, rcond=None)  # Imputation
    scale = np.repeat(1 / np.sqrt(problem.unexplained), n)
    np.linalg.lstsq(rows * scale[:, None], targets * scale, rcond=None)  # RW-Imputation
    cc.estimators.collab_plus(messages, problem.views, problem.covariance)


def raw_draw(problem: cc.Problem, n: int, rng: np.random.Generator) -> None:
    """The least that any simulation on raw data costs: draw every sample and sum it up, no fit."""
    root = np.linalg.cholesky(problem.covariance)
    for view in problem.views:
        x = rng.standard_normal((n, problem.dimension)) @ root.T
        y = x @ problem.theta + problem.noise * rng.standard_normal(n)
        seen = x[:, view]
        seen.T @ seen, seen.T @ y, y @ y


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
    drawn = seconds(lambda: raw_draw(problem, n, rng))
    rows = [
        [name, milliseconds(ours), milliseconds(raw), f"{raw / ours:.0f}x",
         milliseconds(drawn), f"{drawn / ours:.0f}x"]
        for name, ours in (("all eight methods", every / 500), ("matrix-free methods", free / 1000))
    ]  # fmt: skip
    headers = ["per trial, n=3000, m=d=30", "moments", "raw data, eight fits by lstsq", "faster",
               "raw data drawn and summed, no fit", "faster"]  # fmt: skip
    table("Drawing moments against drawing data", headers, rows)
    paper = seconds(paper_experiment, repeats=3)
    rows = [
        ["1,000 trials of the matrix-free methods", milliseconds(free)],
        ["the paper's experiment: 10 sizes, 20 trials, every method", milliseconds(paper)],
    ]
    table("In all", ["work, m=d=30", "time"], rows)


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
    # A process of its own, and the kernel's high-water mark of it (Linux).
    code = (
        "import collab_core as cc\n"
        "def peak():\n"
        "    status = open('/proc/self/status').read()\n"
        "    return int(status.split('VmHWM:')[1].split()[0]) // 1024\n"
        "before = peak()\n"
        "cc.simulate.error_curve(cc.Scenario(seed=1).problem(), [1000], 10_000)\n"
        "print(before, peak())"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    before, peak = result.stdout.split()
    rows = [["10,000 trials of all methods, m=d=30", f"{peak} MB", f"{before} MB"]]
    table("Peak memory", ["work", "peak", "after import alone"], rows)


def run() -> None:
    cost_against_n()
    against_raw_data()
    growth()
    peak_memory()
