"""Links and laws of before: the same worlds, the same notices, the same draws.

``tests/pins/links.json`` and ``laws.json`` were recorded by ``python -m tests.test_links`` from the
code as it was before spectra, patterns, rules and laws became registered classes. Record again
only if a link is meant to open another world.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import collab_core as cc

PINS = Path(__file__).parent / "pins"

SPECTRA = {
    "spiked": {"spikes": "2", "spike_factor": "20"},
    "isotropic": {},
    "geometric": {"condition": "50"},
    "power_law": {"exponent": "1.5"},
    "ar1": {"correlation": "0.7"},
    "equicorrelated": {"correlation": "0.4"},
    "factor": {"groups": "2", "correlation": "0.6"},
    "block": {"groups": "2", "correlation": "0.3"},
    "eigenvalues": {"eigenvalues": "3,2,1,0.5,0.25"},
    "matrix": {"matrix": "2,.5,0,0,0;.5,2,.5,0,0;0,.5,2,.5,0;0,0,.5,2,.5;0,0,0,.5,2"},
}
PATTERNS = {
    "subsets": {"rich": "2", "rich_size": "4", "size": "3"},
    "independent": {"p": "0.25"},
    "tiers": {"tiers": "3"},
    "blocks": {"size": "2"},
    "hub": {"size": "3"},
    "mask": {"mask": "6x5.h8zGY0A"},
}
RULES = {
    "normal": {"theta_scale": "2"},
    "unit": {"theta_scale": "3"},
    "sparse": {"nonzero": "2"},
    "strongest": {},
    "weakest": {"theta_scale": "0.5"},
    "values": {"values": "1,-2,0.5,0,3"},
}
ALLOCATIONS = ("equal", "rising", "wide", "narrow")


def every_choice() -> list[dict[str, str]]:
    """Every spectrum with every pattern, the rules and allocations going round."""
    found = []
    for s, (spectrum, by_spectrum) in enumerate(SPECTRA.items()):
        for p, (missing, by_pattern) in enumerate(PATTERNS.items()):
            theta = list(RULES)[(s + p) % len(RULES)]
            allocation = ALLOCATIONS[(s + 3 * p) % len(ALLOCATIONS)]
            found.append(
                {"d": "5", "m": "6", "n": "200", "sigma": "0.5", "seed": str(10 * s + p)}
                | {"spectrum": spectrum, "missing": missing, "theta": theta}
                | {"allocation": allocation, "ratio": "7"}
                | by_spectrum | by_pattern | RULES[theta]
            )  # fmt: skip
    return found


WRONG = [
    {},
    {"d": "500"},
    {"d": "-3"},
    {"d": "many", "m": "1e3"},
    {"d": "7.4", "rich_size": "7.6"},
    {"n": "nan", "sigma": "inf"},
    {"n": "1e9", "seed": "-1"},
    {"sigma": "0", "theta_scale": "-5"},
    {"spectrum": "rainbow"},
    {"missing": "everything", "theta": "", "allocation": "Equal"},
    {"spectrum": " spiked"},
    {"unknown": "3", "d": "4"},
    {"d": "5", "spikes": "9", "groups": "12", "nonzero": "30", "theta": "sparse"},
    {"m": "4", "rich": "9"},
    {"m": "3", "missing": "tiers", "tiers": "10"},
    {"missing": "blocks", "size": "0", "d": "6", "m": "4"},
    {"missing": "blocks", "size": "-2", "d": "6", "m": "4", "spectrum": "ar1"},
    {"missing": "hub", "size": "99", "d": "6", "m": "4"},
    {"missing": "independent", "p": "1", "d": "4", "m": "3", "seed": "2"},
    {"spectrum": "ar1", "correlation": "1.5", "d": "4", "rich_size": "4", "size": "2"},
    {"spectrum": "geometric", "condition": "0", "d": "4"},
    {"spectrum": "power_law", "exponent": "-1", "d": "4"},
    {"allocation": "wide", "ratio": "1e9", "d": "4", "m": "3"},
    {"spectrum": "eigenvalues"},
    {"spectrum": "eigenvalues", "d": "3"},
    {"spectrum": "eigenvalues", "eigenvalues": "1,two"},
    {"spectrum": "eigenvalues", "eigenvalues": "1 2  3"},
    {"spectrum": "eigenvalues", "eigenvalues": "1,2,3", "d": "7"},
    {"spectrum": "eigenvalues", "eigenvalues": "1e200,1e-190"},
    {"spectrum": "eigenvalues", "eigenvalues": "1e6,1e-6"},
    {"spectrum": "eigenvalues", "eigenvalues": "3,-1,1"},
    {"spectrum": "eigenvalues", "eigenvalues": ",".join("1" * 90)},
    {"spectrum": "matrix"},
    {"spectrum": "matrix", "matrix": "1,2;3"},
    {"spectrum": "matrix", "matrix": "1,2;2,1"},
    {"spectrum": "matrix", "matrix": "1,0.5;0.2,1"},
    {"spectrum": "matrix", "matrix": "1,0.3;0.3,1", "d": "9"},
    {"spectrum": "matrix", "matrix": "1e300,0;0,1e-300"},
    {"spectrum": "matrix", "matrix": "1,x;x,1", "d": "3"},
    {"spectrum": "matrix", "matrix": "-1,0;0,-1"},
    {"theta": "values", "values": "1,2", "d": "4"},
    {"theta": "values", "values": "1,2,3,4,5,6", "d": "4"},
    {"theta": "values", "values": "1e200,1", "d": "2"},
    {"theta": "values", "values": "", "d": "2"},
    {"missing": "mask", "d": "3", "m": "2"},
    {"missing": "mask", "mask": "3x3.!!"},
    {"missing": "mask", "mask": "2x2.8A"},
    {"missing": "mask", "mask": "2x2.8A", "m": "3", "d": "4"},
    {"missing": "mask", "mask": "4x4.aaaa", "m": "2", "d": "2"},
    {"missing": "mask", "mask": "1000x2.8A"},
    {"missing": "mask", "mask": "2x9.8A"},
    {"missing": "mask", "mask": "2x2.8A", "m": "3", "d": "3", "theta": "values", "values": "1"},
    {"d": "4", "m": "3", "spikes": "3.0000001", "sigma": "0.333333333333", "n": "12345"},
    {"d": "<script>", "mask": "x" * 600, "missing": "mask"},
    {"correlation": "0.2", "exponent": "9", "tiers": "99"},
    *[preset.scenario.to_query() for preset in cc.presets.PRESETS],
]

#: Values that a scenario holds beside those of its query.
NAMES = (
    "spectrum", "d", "spikes", "spike_factor", "condition", "exponent", "correlation", "groups",
    "eigenvalues", "matrix", "missing", "m", "rich", "rich_size", "size", "p", "tiers", "mask", "n",
    "allocation", "ratio", "sigma", "theta", "theta_scale", "nonzero", "values", "seed",
)  # fmt: skip

LAWS = (
    "gaussian", "student_t", "student_t(5)", "uniform", "rademacher", "exponential", "mixture",
    "mixture(0.4)", "rare", "rare(0.1)", "elliptical_t", "elliptical_t(9.5)", "outliers",
    "outliers(2)",
)  # fmt: skip


def fingerprint(array) -> list[float]:
    """Two numbers that change with any entry; machines differ in the last digits, not in these."""
    flat = np.asarray(array, float).ravel()
    return [float(np.sqrt((flat**2).sum())), float(flat @ np.cos(np.arange(flat.size)))]


def opened(query: dict[str, str]) -> dict:
    """Everything about the world that a link opens."""
    scenario, notices = cc.Scenario.from_query(query)
    usual = cc.Scenario()
    values = {name: getattr(scenario, name) for name in NAMES}
    return {
        "query": query,
        "values": {name: v for name, v in values.items() if v != getattr(usual, name)},
        "notices": notices,
        "again": scenario.to_query(),
        "views": scenario.with_views(cc.views.as_mask(scenario.views, scenario.d)).mask,
        "covariance": fingerprint(scenario.covariance),
        "theta": fingerprint(scenario.coefficients),
        "shares": fingerprint(scenario.shares),
    }


def drawn(text: str) -> dict:
    """Draws and fourth moments of a law."""
    law = cc.laws.of(text)
    tails = getattr(law, "tails")  # noqa: B009 - not every law has them
    return {
        "law": text,
        "white": fingerprint(law.white(np.random.default_rng(5), (4, 30, 3))),
        "excess": fingerprint(law.excess(np.arange(6.0).reshape(2, 3) - 2)),
        "tails": tails and [tails.kind, tails.kurtosis],
        "is_gaussian": law.is_gaussian,
    }


def record() -> None:
    PINS.mkdir(exist_ok=True)
    pins = {
        "links": [opened(query) for query in [*every_choice(), *WRONG]],
        "laws": [drawn(text) for text in LAWS],
    }
    for name, entries in pins.items():
        lines = ",\n".join(json.dumps(entry) for entry in entries)
        (PINS / f"{name}.json").write_text(f"[\n{lines}\n]\n")


def pinned(name: str) -> list[dict]:
    return json.loads((PINS / f"{name}.json").read_text())


def assert_as_pinned(found: dict, pin: dict) -> None:
    # Through JSON: tuples become lists.
    found = json.loads(json.dumps(found))
    assert found.keys() == pin.keys()
    for name, value in pin.items():
        if name in ("covariance", "theta", "shares", "white", "excess"):
            assert_allclose(found[name], value, rtol=1e-9, atol=1e-12, err_msg=name)
        elif name == "notices":
            # The same sentences; their order follows the sidebar's.
            assert sorted(found[name]) == sorted(value)
        else:
            assert found[name] == value


def test_enough_is_pinned():
    pins = pinned("links")
    assert len(pins) >= 100
    worlds = {(p["again"]["spectrum"], p["again"]["missing"]) for p in pins}
    assert len(worlds) >= 60
    assert sum(bool(pin["notices"]) for pin in pins) >= 40


@pytest.mark.parametrize(
    "pin", pinned("links"), ids=lambda pin: "&".join(pin["query"].values())[:60]
)
def test_a_link_of_before_opens_the_same_world(pin):
    assert_as_pinned(opened(pin["query"]), pin)


@pytest.mark.parametrize("pin", pinned("laws"), ids=lambda pin: pin["law"])
def test_a_law_of_before_draws_the_same_numbers(pin):
    assert_as_pinned(drawn(pin["law"]), pin)


if __name__ == "__main__":
    record()
