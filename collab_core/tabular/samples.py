"""The two tables that come with the dashboard, and how they were made.

``python -m collab_core.tabular.samples data`` writes both anew (the second needs scikit-learn).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class SampleTable:
    """A bundled table.

    Attributes
    ----------
    file : str
        Under ``data``.
    label, summary : str
        For people.
    """

    file: str
    label: str
    summary: str


SAMPLES = {
    "clinics": SampleTable(
        "sample_clinics.csv",
        "Clinics",
        "Synthetic: seven clinics of 40 to 1,100 patients predict blood pressure from what each"
        " measures.",
    ),
    "diabetes": SampleTable(
        "sample_diabetes.csv",
        "Diabetes",
        "Real: 442 patients of Efron, Hastie, Johnstone and Tibshirani (2004), disease progression"
        " after a year. Which practice measures what is made up.",
    ),
}

_CLINICS = {"Abbey": 40, "Birch": 60, "Castle": 80, "Dale": 110, "Elm": 240, "Forge": 420,
            "Grove": 1100}  # fmt: skip

#: What a clinic does not measure.
_UNSEEN = {
    "Abbey": ["cholesterol", "creatinine"],
    "Birch": ["glucose", "smoker"],
    "Castle": ["sodium", "alcohol units"],
    "Dale": ["exercise hours", "glucose"],
    "Elm": ["creatinine", "sodium"],
    "Forge": ["exercise hours"],
    "Grove": ["smoker", "sodium"],
}


def clinics(seed: int = 7) -> pd.DataFrame:
    """A made-up table with everything that real ones have: gaps, an identifier, dates, copies."""
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    total = sum(_CLINICS.values())
    clinic = np.repeat(list(_CLINICS), list(_CLINICS.values()))[rng.permutation(total)]
    health = rng.standard_normal(total)

    def related(share: float) -> np.ndarray:
        return share * health + np.sqrt(1 - share**2) * rng.standard_normal(total)

    age = 52 + 14 * related(0.5)
    weight = 79 + 13 * related(0.4)
    glucose = 98 + 15 * related(0.7)
    cholesterol = 5.2 + 0.9 * related(0.5)
    sodium = 3.4 + 0.8 * related(0.3)
    creatinine = 0.9 + 0.2 * related(0.6)
    heart, sleep, alcohol = 70 + 9 * related(0.3), 7 - related(0.3), 4 + 3 * related(0.2)
    exercise = np.maximum(3.5 - 2 * related(0.5), 0)
    smoker = rng.choice(["never", "former", "current"], total, p=[0.55, 0.27, 0.18])
    insurance = rng.choice(
        ["public", "private", "mixed", "self-paid", "abroad"],
        total,
        p=[0.6, 0.3, 0.09, 0.006, 0.004],
    )
    pressure = (
        128 + 0.45 * (age - 52) + 0.25 * (weight - 79) + 0.18 * (glucose - 98)
        + 3.5 * (cholesterol - 5.2) + 4.5 * (sodium - 3.4) + 12 * (creatinine - 0.9)
        + 0.15 * (heart - 70) - 1.0 * (sleep - 7) + 0.5 * (alcohol - 4) - 1.6 * (exercise - 3.5)
        + np.select([smoker == "current", smoker == "former"], [7, 2.5])
        + 8 * rng.standard_normal(total)
    )  # fmt: skip
    # One clinic treats what others only watch: another relation there.
    pressure = np.where(
        clinic == "Forge", pressure - 0.4 * (age - 52) - 4 * (sodium - 3.4), pressure
    )
    frame = pd.DataFrame(
        {
            "patient id": np.arange(10_001, 10_001 + total),
            "clinic": clinic,
            "visit": pd.Timestamp("2025-01-06")
            + pd.to_timedelta(rng.integers(0, 300, total), unit="D"),
            "age": age.round(0),
            "weight kg": weight.round(1),
            "weight lb": weight.round(1) * 2.2046226,
            "glucose": glucose.round(0),
            "cholesterol": cholesterol.round(2),
            "sodium": sodium.round(2),
            "creatinine": creatinine.round(2),
            "exercise hours": exercise.round(1),
            "heart rate": heart.round(0),
            "sleep hours": sleep.round(1),
            "alcohol units": np.maximum(alcohol, 0).round(0),
            "smoker": smoker,
            "insurance": insurance,
            "country": "here",
            "systolic": pressure.round(0),
        }
    )
    frame["visit"] = frame["visit"].dt.strftime("%Y-%m-%d")
    for name, columns in _UNSEEN.items():
        frame.loc[frame["clinic"] == name, columns] = None
    # Scattered gaps, as real tables have them.
    for column in ("glucose", "cholesterol", "insurance"):
        frame.loc[rng.random(total) < 0.015, column] = None
    return frame


def diabetes(seed: int = 3) -> pd.DataFrame:
    """Real measurements; to which practice a patient goes, and what it measures, is made up."""
    from sklearn.datasets import load_diabetes

    frame = load_diabetes(scaled=False, as_frame=True).frame
    frame = frame.rename(
        columns={
            "bp": "blood pressure", "s1": "total cholesterol", "s2": "ldl", "s3": "hdl",
            "s4": "cholesterol ratio", "s5": "log triglycerides", "s6": "glucose",
            "target": "progression",
        }
    )  # fmt: skip
    frame["sex"] = frame["sex"].map({1.0: "one", 2.0: "two"})
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    frame.insert(0, "practice", rng.choice(["North", "East", "South", "West"], len(frame)))
    unseen = {
        "North": ["ldl", "hdl", "total cholesterol", "cholesterol ratio"],
        "East": ["bmi", "glucose"],
        "South": ["log triglycerides", "blood pressure"],
    }
    for name, columns in unseen.items():
        frame.loc[frame["practice"] == name, columns] = None
    return frame


def main(folder: str) -> None:
    """Write both tables."""
    for key, make in (("clinics", clinics), ("diabetes", diabetes)):
        make().to_csv(Path(folder) / SAMPLES[key].file, index=False, float_format="%.6g")


if __name__ == "__main__":
    main(sys.argv[1])
