"""Travel time by logistic regression on person files, to a table of measures.

``python -m collab_core.smooth data/2024/1-Year --states NY PA OH FL IL --out table.csv``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ..census import People, Study, StudyChoice, files_in, paper_views
from .travel import travel_curve

SIZES = (200, 500, 1000, 2000, 5000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every method for the last state's people, by all questions and by its own."""
    parser = argparse.ArgumentParser(prog="python -m collab_core.smooth", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="PUMS person files, or folders of them")
    parser.add_argument("--states", nargs="+", required=True, help="agents; the last is predicted")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="people of a state")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True, type=Path, help="the .csv file to write")
    given = parser.parse_args(arguments)
    try:
        paths = [
            file for path in given.paths for file in (files_in(path) if path.is_dir() else [path])
        ]
        people = People.from_files(paths, given.out.stem)
        states = tuple(given.states)
        views = paper_views(states, people.sums.questions)
        asked = tuple(views[state] for state in states)
        parts = []
        for model in ("all", "own"):
            study = Study(people.sums, StudyChoice(states, asked, states[-1], model == "own"))
            curve = travel_curve(people, study, given.sizes, given.trials, seed=given.seed)
            parts.append(curve.table().assign(model=model))
    except (ValueError, OSError) as problem:
        print(problem, file=sys.stderr)
        return 1
    table = pd.concat(parts, ignore_index=True)
    table.to_csv(given.out, index=False, float_format="%.6g")
    tested = len(people.tests[states[-1]][1])
    print(f"{tested:,} test people of {states[-1]}, {given.trials} trials: {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
