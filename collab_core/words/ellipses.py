"""What the page on ellipses says: how they are nested, what falls inside, what tilting costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pandas as pd

from ..answers.ellipses import areas
from ..figures import label

ONE_COEFFICIENT = "**One coefficient has no ellipse, only an interval:** the same order, on a line."

FORMULA = """
An ellipse is $\\{x : (x - B\\theta)' (B C B'/n)^{-1} (x - B\\theta) = \\chi^2_2(\\text{level})\\}$
with the two directions as rows of $B$: where estimates fall with that probability, for large $n$.
$C$ is COLLAB's $C^g = (\\sum_i T_i'W_i^gT_i)^{-1}$; the exact bound's
$(\\sum_i T_i'\\Sigma_{i+}T_i/s_i + 2v_iv_i'/s_i^2)^{-1}$, which COLLAB+ reaches with $\\sigma$
unknown; the paper's $(\\sum_i 2\\Sigma/s_i)^{-1}$; $C(I, .., I)$; and imputation's with equal
weights. On an agent's own space $T_i C T_i'$, beside its local least squares $(W_i^g)^{-1}$. One
ellipsoid lies inside another if and only if the difference of covariances is p.s.d.
"""

LAB_FORMULA = """
With weights $a_i W_i^g$ the covariance is $M^{-1}(\\sum_i a_i^2 A_i)M^{-1}$, $M = \\sum_i a_iA_i$,
$A_i = T_i'W_i^gT_i$: never below $C^g$, which is $a = 1$. Near it the error grows as
$\\mathrm{tr}\\,\\Sigma M^{-1}[\\sum e_i^2A_i - (\\sum e_iA_i)M^{-1}(\\sum e_iA_i)]M^{-1}$, whose
largest eigenvector is the steepest direction.
"""


def nesting(pairs: pd.DataFrame, keys: Sequence[str]) -> str:
    """The order in words: a chain where there is one.

    Parameters
    ----------
    pairs : DataFrame
        `collab_core.ellipses.comparisons` of these covariances.
    keys : list of str
        Worst to best where theory orders them.
    """
    if len(keys) < 2:
        return f"**The ellipse of {label(keys[0])}.** Pick another to compare it with."
    if (pairs["relation"] == "neither").any():
        return (
            "**Not all of these are ordered:** some are better in one direction and worse in "
            "another, as said below the figure."
        )
    inside = dict.fromkeys(keys, 0)
    same = set()
    for row in pairs.to_dict("records"):
        if row["relation"] == "equal":
            same.add(frozenset((row["first"], row["second"])))
        else:
            inside[row["first"] if row["relation"] == "inside" else row["second"]] += 1
    # Best first; of equals the one that theory puts first.
    places = {key: place for place, key in enumerate(keys)}
    chain = sorted(keys, key=lambda key: (-inside[key], -places[key]))
    text = label(chain[0])
    for one, other in pairwise(chain):
        sign = "=" if frozenset((one, other)) in same else "⊂"
        text += f" {sign} {label(other)}"
    if len(same) == len(pairs):
        return f"**They are all the same here: {text}.**"
    return f"**Each lies inside the next, in every direction: {text}.**"


def crossings(pairs: pd.DataFrame) -> str:
    """Every pair that is not ordered, and what of it is seen here; every pair that is equal."""
    said = []
    for row in pairs.to_dict("records"):
        first, second = label(row["first"]), label(row["second"])
        if row["relation"] == "neither":
            here = {
                "neither": "here their ellipses cross",
                "contains": f"in this plane {second} lies inside, in others it does not",
                "inside": f"in this plane {first} lies inside, in others it does not",
                "equal": "in this plane they are the same",
            }[row["seen"]]
            said.append(
                f"- **{first} and {second} are not ordered**: the first's variance is "
                f"{row['low']:.3g} to {row['high']:.3g} times the second's, by direction; {here}."
            )
        elif row["relation"] == "equal":
            said.append(f"- {first} and {second} are the same in every direction.")
        elif row["seen"] == "equal":
            said.append(f"- {first} and {second} are the same in this plane, not elsewhere.")
    return "\n".join(said)


def shares_inside(frame: pd.DataFrame, *, naive_is_biased: bool) -> str:
    """How many simulated estimates fell inside (`collab_core.ellipses.coverage_in_plane`)."""
    which = " (COLLAB's ellipse: it is biased)" if naive_is_biased else " (COLLAB's ellipse)"
    parts = [
        f"{label(row['method'])} {row['inside']:.1%}"
        + (which if row["method"] == "naive_collab" else "")
        for row in frame.to_dict("records")
    ]
    error, level = float(frame["error"].iloc[0]), float(frame["level"].iloc[0])
    return (
        f"**Of {int(frame['trials'].max()):,} simulated estimates inside their {level:.0%} "
        f"ellipse:** {', '.join(parts)}. Chance alone moves a share by ±{1.96 * error:.1%}; at "
        "small n the ellipses, that are for large n, are too small."
    )


def no_points(key: str) -> str:
    """Why a method has an ellipse and no simulated estimates."""
    return f"{label(key)} has no points: too few samples for the features seen."


def sizes(frame: pd.DataFrame) -> str:
    """Sizes of ellipses (`collab_core.ellipses.measures`) as a table in Markdown."""
    rows = [
        "| | area | half axes | area / COLLAB's | volume / COLLAB's | an axis, on average |",
        "|---|---|---|---|---|---|",
    ]
    rows += [
        f"| {label(row['method'])} | {row['area']:.3g} | {row['long']:.3g}, {row['short']:.3g} "
        f"| {row['area_ratio']:.3g} | {row['volume_ratio']:.3g} | × {row['per_axis']:.3g} |"
        for row in frame.to_dict("records")
    ]
    return "\n".join(rows)


def volumes(frame: pd.DataFrame, coefficients: int, dimensions: int) -> str:
    """Above many planes: how many coefficients are shown, and whole ellipsoids in numbers.

    Parameters
    ----------
    frame : DataFrame
        `collab_core.ellipses.measures`.
    """
    said = [
        f"{label(row['method'])}'s × {row['volume_ratio']:.3g}"
        for row in frame.to_dict("records")
        if row["method"] != "collab"
    ]
    compared = f" Volumes over COLLAB's, in {dimensions} dimensions: {', '.join(said)}."
    return f"**Every pair of {coefficients} coefficients.**" + (compared if said else "")


def tilted(is_tilted: bool, loss: float) -> str:
    """What tilted weights cost.

    Parameters
    ----------
    loss : float
        Error over that of optimal weights.
    """
    if not is_tilted:
        return "**Every weight is optimal: the ellipse is as small as it gets.** Tilt one."
    if loss - 1 < 1e-9:
        return "**This tilt costs nothing**: only ratios of weights count, where they count at all."
    return (
        f"**These weights cost {loss - 1:.2%} more error than the optimal ones.** Whichever "
        "way you tilt, the ellipse never shrinks in any direction."
    )


def played(
    frame: pd.DataFrame,
    over: str,
    *,
    left_out: int = 0,
    correlated_anew: bool = False,
    is_principal: bool = False,
) -> str:
    """How areas change from the first world to the last (`collab_core.ellipses.played`).

    Parameters
    ----------
    over : str
        What changes.
    left_out : int
        Worlds on the way without a picture.
    correlated_anew : bool
        Whether the worlds' kind of correlation is not the scenario's.
    is_principal : bool
        Whether the plane is one of principal directions.
    """
    steps = list(frame["step"].unique())
    first, last = steps[0], steps[-1]
    if first == last:
        said = f"**Only {over} = {first} can be drawn.**"
    else:
        before, after = (areas(frame[frame["step"] == step]) for step in (first, last))
        parts = [f"{label(key)}'s {_change(after[key] / before[key])}" for key in before]
        said = f"**From {over} = {first} to {last}, in area:** {', '.join(parts)}."
    if correlated_anew:
        said += " For this animation all features are equally correlated."
    if is_principal:
        said += " The directions stay those of the sidebar's Σ."
    if left_out:
        said += f" {left_out} of the worlds on the way have a feature that nobody sees: left out."
    return said


def _change(ratio: float) -> str:
    if abs(ratio - 1) <= 1e-3:
        return "stays"
    return f"grows {ratio:.3g} times" if ratio > 1 else f"shrinks {1 / ratio:.3g} times"
