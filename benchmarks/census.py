"""Person records to moments: chunks of a file against pandas and one scikit-learn fit per state."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from collab_core.census import QUESTIONS, sums_of_files

from .timing import seconds, table

#: Records of the made-up file, where no real one is named.
COUNT = 300_000


def records_file(folder: Path) -> tuple[Path, str]:
    """Real records where COLLAB_CENSUS_PERSONS names them, made-up ones otherwise."""
    named = Path(os.environ.get("COLLAB_CENSUS_PERSONS", ""))
    if named.is_file():
        return named, "real records"
    rng = np.random.default_rng(0)
    columns: dict[str, object] = {
        "STATE": rng.choice([12, 17, 36, 39, 42], COUNT),
        "PWGTP": rng.integers(1, 99, COUNT),
        "ESR": rng.choice([1, 1, 6], COUNT),
        "JWMNP": rng.integers(1, 120, COUNT),
    }
    for key, question in QUESTIONS.items():
        levels = question.levels or tuple(range(1, 100))
        columns[question.columns[-1]] = rng.choice(levels, COUNT)
        assert key in QUESTIONS
    path = folder / "people.parquet"
    pd.DataFrame(columns).to_parquet(path)
    return path, "made-up records"


def by_pandas(path: Path) -> int:
    """The usual way: everything into one frame, dummies, and one fit per state."""
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    frame = frame.apply(pd.to_numeric, errors="coerce")
    frame = frame[(frame.AGEP > 16) & (frame.PWGTP >= 1) & (frame.ESR == 1) & (frame.JWMNP > 0)]
    levels = [q.columns[-1] for q in QUESTIONS.values() if q.levels and q.columns[-1] in frame]
    frame = pd.get_dummies(frame.fillna(0), columns=levels, drop_first=True, dtype=float)
    features = [name for name in frame if name not in ("JWMNP", "STATE", "PWGTP", "ESR", "MIGSP")]
    for _, rows in frame.groupby("STATE"):
        LinearRegression().fit(
            rows[features].to_numpy(float), np.log(rows["JWMNP"].to_numpy(float))
        )
    return len(frame)


def run() -> None:
    """Print records per second."""
    with tempfile.TemporaryDirectory() as place:
        parquet, what = records_file(Path(place))
        count = len(pd.read_parquet(parquet, columns=["AGEP"]))
        csv = Path(place) / "people.csv"
        pd.read_parquet(parquet).to_csv(csv, index=False)
        rows = []
        for name, path in (("Parquet", parquet), ("CSV", csv)):
            ours = seconds(lambda path=path: sums_of_files([path], "bench"), repeats=2)
            theirs = seconds(lambda path=path: by_pandas(path), repeats=2)
            rows.append(
                [name, f"{count / ours:,.0f}", f"{count / theirs:,.0f}", f"{theirs / ours:.1f}x"]
            )
        headers = [f"{count:,} {what}", "to sums, per second", "pandas + scikit-learn", "faster"]
        table("Person records to moments of every state (ours in chunks of bounded memory)",
              headers, rows)  # fmt: skip
