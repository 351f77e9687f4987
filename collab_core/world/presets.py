"""Worlds worth a look, each a scenario and a line about it."""

from __future__ import annotations

from dataclasses import dataclass

from .scenario import Scenario


@dataclass(frozen=True)
class Preset:
    """A named world.

    Attributes
    ----------
    key : str
    title, line : str
        What it is, and what to look for in it.
    scenario : Scenario
    """

    key: str
    title: str
    line: str
    scenario: Scenario


PRESETS: tuple[Preset, ...] = (
    Preset(
        "paper",
        "The paper's synthetic set-up",
        "30 agents, 30 features, three strong directions; views of 20 and of 15.",
        Scenario(),
    ),
    Preset(
        "two",
        "Two agents, two features",
        "The smallest case: each sees one feature, and both are biased.",
        Scenario(
            d=2, m=2, spectrum="equicorrelated", correlation=0.8, missing="mask",
            mask=("10", "01"), theta="values", values=(1.0, -1.0), sigma=0.5, n=50,
        ),
    ),
    Preset(
        "satellites",
        "Satellites in three tiers",
        "Nested sensors: cheap satellites see the first bands, a few see all of them.",
        Scenario(d=12, m=18, spectrum="ar1", correlation=0.7, missing="tiers", tiers=3, seed=3),
    ),
    Preset(
        "hospital",
        "One rich hospital, many poor clinics",
        "One agent measures everything, fourteen measure three things each.",
        Scenario(
            d=10, m=15, spectrum="factor", groups=2, correlation=0.6, missing="hub", size=3, seed=4
        ),
    ),
    Preset(
        "lonely",
        "A feature only one agent sees",
        "Everything known about x6 comes through one agent's model.",
        Scenario(
            d=6, m=6, spectrum="ar1", correlation=0.5, missing="mask",
            mask=("111110", "111010", "110110", "011110", "111100", "100111"), seed=2,
        ),
    ),
    Preset(
        "isotropic",
        "Nearly isotropic",
        "Features hardly vary together and little is missing: naive averaging almost works.",
        Scenario(d=12, m=12, spectrum="geometric", condition=1.3, rich=4, rich_size=12, size=11),
    ),
    Preset(
        "correlated",
        "Strong correlation",
        "One feature stands in for another: missing ones cost little.",
        Scenario(
            d=10, m=10, spectrum="equicorrelated", correlation=0.9, rich=3, rich_size=7, size=4,
            seed=1,
        ),
    ),
    Preset(
        "unidentifiable",
        "Not identifiable",
        "Nobody sees x4: no amount of data can tell its coefficient.",
        Scenario(
            d=4, m=3, spectrum="ar1", correlation=0.6, missing="mask",
            mask=("1100", "0110", "1010"), seed=1,
        ),
    ),
    Preset(
        "confounder",
        "Hidden confounder",
        "The feature that matters most is seen by two agents of ten; the others inherit its bias.",
        Scenario(
            d=6, m=10, spectrum="equicorrelated", correlation=0.6, missing="mask",
            mask=("111111", "101101", *("011110", "010111", "001111", "011011") * 2),
            theta="values", values=(3.0, 0.3, -0.2, 0.4, 0.1, -0.3), n=200,
        ),
    ),
    Preset(
        "strangers",
        "Two hospitals measure something else",
        "Thirteen hospitals share one relation, two do not: COLLAB suffers for all of them.",
        Scenario(
            d=8, m=15, spectrum="ar1", correlation=0.5, rich=5, rich_size=7, size=5, n=100,
            differ="few", few=2, spread=1.0, seed=7,
        ),
    ),
    Preset(
        "mostly_shared",
        "States that share most",
        "Two of ten coefficients are every state's own, eight are everybody's.",
        Scenario(
            d=10, m=20, spectrum="factor", groups=2, correlation=0.4, rich=8, rich_size=9, size=6,
            n=200, differ="per_feature", own_features=2, spread=0.4, seed=8,
        ),
    ),
)  # fmt: skip
