"""A large table from file to verdict, against scikit-learn's IterativeImputer and one regression.

Each way runs in a process of its own, so that the peak of its memory is its own. Both are judged on
the same held-out rows: every fifth of an agent.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from .timing import table

#: Rows and features of the table; fewer rows by COLLAB_BENCH_ROWS.
ROWS, FEATURES, AGENTS = 1_000_000, 30, 10

#: Rounds of the imputer; its default is 10.
ROUNDS = 3


def write(path: Path, rows: int) -> None:
    """A table of a known world in which every agent lacks a third of the features."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((FEATURES, FEATURES)) / np.sqrt(FEATURES) + np.eye(FEATURES)
    theta = rng.standard_normal(FEATURES)
    lacks = [rng.permutation(FEATURES)[: FEATURES // 3] for _ in range(AGENTS - 1)] + [[]]
    first = True
    for start in range(0, rows, 100_000):
        n = min(100_000, rows - start)
        x = rng.standard_normal((n, FEATURES)) @ root
        y = x @ theta + 3 * rng.standard_normal(n)
        agent = rng.integers(0, AGENTS, n)
        for i, columns in enumerate(lacks):
            x[np.ix_(agent == i, np.asarray(columns, dtype=int))] = np.nan
        frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(FEATURES)])
        frame = frame.assign(agent=[f"a{i}" for i in agent], y=y)
        frame.to_csv(path, mode="w" if first else "a", header=first, index=False,
                     float_format="%.4f")  # fmt: skip
        first = False


def ours(path: Path) -> dict[str, float]:
    """The library: columns recognised, sums, every method, verdicts, intervals, shift test."""
    from collab_core import tabular

    started = time.perf_counter()
    opened = tabular.Table.open([path])
    study = tabular.analyse(opened, tabular.usual_choice(opened, shuffle=False))
    took = time.perf_counter() - started
    errors, _ = study.errors([[0, 5, 10, 15]])
    return {"seconds": took, "error": float(np.mean(errors["collab"]))}


def theirs(path: Path) -> dict[str, float]:
    """The usual way: impute all features of all rows, then one regression."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer
    from sklearn.linear_model import LinearRegression

    started = time.perf_counter()
    frame = pd.read_csv(path)
    test = (frame.groupby("agent").cumcount() % 5 == 0).to_numpy()
    x, y = frame[[f"x{j}" for j in range(FEATURES)]].to_numpy(), frame["y"].to_numpy()
    imputer = IterativeImputer(max_iter=ROUNDS, tol=0.0)
    model = LinearRegression().fit(imputer.fit_transform(x[~test]), y[~test])
    left = y[test] - model.predict(imputer.transform(x[test]))
    took = time.perf_counter() - started
    relative = []
    agents = frame["agent"].to_numpy()
    for agent in np.unique(agents):
        mine = agents[test] == agent
        mean = y[~test][agents[~test] == agent].mean()
        relative.append((left[mine] ** 2).mean() / ((y[test][mine] - mean) ** 2).mean())
    return {"seconds": took, "error": float(np.mean(relative))}


def measured(way: str, path: Path) -> dict[str, float]:
    """Run one way in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.tabular", way, str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def run() -> None:
    """Print time, memory and error of both."""
    rows = int(os.environ.get("COLLAB_BENCH_ROWS", ROWS))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "table.csv"
        write(path, rows)
        size = path.stat().st_size / 2**20
        mine, other = measured("ours", path), measured("theirs", path)
    lines = [
        [name, f"{found['seconds']:.1f} s", f"{found['memory']:,.0f} MB", f"{found['error']:.4f}"]
        for name, found in (
            ("from file to verdict, all methods, ours", mine),
            (f"IterativeImputer ({ROUNDS} rounds) + LinearRegression", other),
        )
    ]
    lines.append(
        ["ratio", f"{other['seconds'] / mine['seconds']:.1f}x",
         f"{other['memory'] / mine['memory']:.1f}x", f"{other['error'] / mine['error']:.3f}x"]
    )  # fmt: skip
    table(
        f"A CSV of {rows:,} rows x {FEATURES} features ({size:.0f} MB), {AGENTS} agents",
        ["way", "time", "peak memory", "held-out error over the mean's"],
        lines,
    )


if __name__ == "__main__":
    found = {"ours": ours, "theirs": theirs}[sys.argv[1]](Path(sys.argv[2]))
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))
