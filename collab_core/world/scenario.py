"""Scenario: a world as a few plain choices, all drawn from one seed, to and from a URL.

`FIELDS` is the one typed list of everything a person can pick: limits, labels and the link are
all made from it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.checks import Array, choice, covariance_matrix, finite_array, positive, vector, whole
from ..core.problem import Problem
from ..core.sigma import nearest_positive_definite
from . import coefficients, views
from . import spectra as covariance
from .views import Views

#: Limits that keep a dashboard responsive for everyone; the library itself has none.
MOST_FEATURES, MOST_AGENTS, MOST_SAMPLES = 60, 100, 10_000_000

#: Limits of numbers that people type in themselves.
SMALLEST, LARGEST = 1e-6, 1e6

#: Largest over smallest eigenvalue of a covariance that people type in: beyond, rounding rules.
WORST_CONDITION = 1e7

SPECTRA = (
    "spiked",
    "isotropic",
    "geometric",
    "power_law",
    "ar1",
    "equicorrelated",
    "factor",
    "block",
    "eigenvalues",
    "matrix",
)
MISSINGNESS = ("subsets", "independent", "tiers", "blocks", "hub", "mask")
THETAS = ("normal", "unit", "sparse", "strongest", "weakest", "values")
ALLOCATIONS = ("equal", "rising", "wide", "narrow")


@dataclass(frozen=True)
class Field:
    """One thing a person can pick.

    Attributes
    ----------
    kind : str
        ``"whole"``, ``"number"``, ``"choice"``, ``"numbers"``, ``"matrix"`` or ``"mask"``.
    label, help : str
        For a control.
    low, high : float
        Limits of whole numbers and numbers.
    choices : tuple of str
        For a choice.
    """

    kind: str
    label: str
    help: str = ""
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()


FIELDS: dict[str, Field] = {
    "spectrum": Field("choice", "Spectrum", "How features vary together.", choices=SPECTRA),
    "d": Field("whole", "Features d", f"1 to {MOST_FEATURES}.", 1, MOST_FEATURES),
    "spikes": Field("whole", "Spikes", "Eigenvalues that are multiplied.", 0, MOST_FEATURES),
    "spike_factor": Field("number", "Spike factor", "By what.", 1, 1000),
    "condition": Field("number", "Condition number", "Largest over smallest.", 1, 1e6),
    "exponent": Field("number", "Exponent", "Eigenvalue j is 1 / j^exponent.", 0, 4),
    "correlation": Field("number", "Correlation", "0 to 0.99.", 0, 0.99),
    "groups": Field("whole", "Groups", "Groups or common causes.", 1, MOST_FEATURES),
    "eigenvalues": Field("numbers", "Eigenvalues", "Above 0, one a feature.", SMALLEST, LARGEST),
    "matrix": Field("matrix", "Covariance matrix", "Symmetric, positive definite, up to 20 rows."),
    "missing": Field("choice", "Missingness", "Who sees what.", choices=MISSINGNESS),
    "m": Field("whole", "Agents m", f"1 to {MOST_AGENTS}.", 1, MOST_AGENTS),
    "rich": Field("whole", "Rich agents", "How many see more than the others.", 0, MOST_AGENTS),
    "rich_size": Field("whole", "Features of the rich", "", 0, MOST_FEATURES),
    "size": Field("whole", "Features of the others", "", 0, MOST_FEATURES),
    "p": Field("number", "Missing with probability p", "0 to 0.95, each apart.", 0, 0.95),
    "tiers": Field("whole", "Tiers", "Nested; the richest sees everything.", 1, 20),
    "mask": Field("mask", "Views", "A row an agent, a column a feature."),
    "n": Field("whole", "Samples per agent n", "Labelled. Up to ten million.", 1, MOST_SAMPLES),
    "allocation": Field("choice", "Who has how much data", "Around n.", choices=ALLOCATIONS),
    "ratio": Field("number", "Most over least", "Largest n_i over smallest, 1 to 100.", 1, 100),
    "sigma": Field("number", "Noise sigma", "Standard deviation, 0.01 to 100.", 0.01, 100),
    "theta": Field("choice", "Coefficients theta", "The truth.", choices=THETAS),
    "theta_scale": Field("number", "Size of theta", "Length or spread.", 0.0, 100),
    "nonzero": Field("whole", "Nonzero coefficients", "", 0, MOST_FEATURES),
    "values": Field("numbers", "Coefficients", "One a feature."),
    "seed": Field("whole", "Seed", "Of everything drawn.", 0, 2**31 - 1),
}

#: Which fields a choice brings with it; all others always count.
_BROUGHT: dict[str, dict[str, tuple[str, ...]]] = {
    "spectrum": {
        "spiked": ("spikes", "spike_factor"),
        "geometric": ("condition",),
        "power_law": ("exponent",),
        "ar1": ("correlation",),
        "equicorrelated": ("correlation",),
        "factor": ("groups", "correlation"),
        "block": ("groups", "correlation"),
        "eigenvalues": ("eigenvalues",),
        "matrix": ("matrix",),
    },
    "missing": {
        "subsets": ("rich", "rich_size", "size"),
        "independent": ("p",),
        "tiers": ("tiers",),
        "blocks": ("size",),
        "hub": ("size",),
        "mask": ("mask",),
    },
    "allocation": {kind: ("ratio",) for kind in ALLOCATIONS if kind != "equal"},
    "theta": {
        "normal": ("theta_scale",),
        "unit": ("theta_scale",),
        "sparse": ("theta_scale", "nonzero"),
        "strongest": ("theta_scale",),
        "weakest": ("theta_scale",),
        "values": ("values",),
    },
}
_OPTIONAL = {name for by in _BROUGHT.values() for names in by.values() for name in names}

#: Whole numbers that another one limits.
LIMITED_BY = {
    "spikes": "d",
    "groups": "d",
    "rich_size": "d",
    "size": "d",
    "nonzero": "d",
    "rich": "m",
    "tiers": "m",
}


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Everything a person picks; the defaults are the paper's synthetic set-up.

    Covariance, views and theta are drawn from independent streams of one seed: changing how
    features go missing does not change the covariance, and so on.

    Parameters
    ----------
    d, m, n : int
        Features, agents, labelled samples per agent (on average).
    sigma : float
        Standard deviation of the label noise.
    seed : int
        Of everything that is drawn.
    spectrum : str
        One of ``SPECTRA``.
    spikes, spike_factor : int, float
        For "spiked": how many eigenvalues are multiplied, by what.
    condition : float
        For "geometric": largest over smallest eigenvalue.
    exponent : float
        For "power_law".
    correlation : float
        For "ar1" and "equicorrelated"; within groups for "block"; share of variance for "factor".
    groups : int
        Groups of "block", common causes of "factor".
    eigenvalues : tuple of float
        For "eigenvalues"; as many as d.
    matrix : tuple of tuples of float
        For "matrix"; d x d.
    missing : str
        One of ``MISSINGNESS``.
    rich, rich_size, size : int
        For "subsets": how many agents see ``rich_size`` random features, and what the others see.
        ``size`` is also the width for "blocks" and what poor agents see for "hub".
    p : float
        For "independent": probability that a feature is missing.
    tiers : int
        For "tiers": number of nested tiers; the richest sees everything.
    mask : tuple of strings
        For "mask": a row of 0s and 1s per agent.
    allocation : str
        One of ``ALLOCATIONS``: every agent has n samples, or they rise from agent to agent, or
        those who see more (wide) or less (narrow) have more.
    ratio : float
        Largest over smallest n_i where they differ.
    theta : str
        One of ``THETAS``.
    theta_scale : float
        Length (or standard deviation) of theta.
    nonzero : int
        For "sparse".
    values : tuple of float
        For "values"; as many as d.
    """

    d: int = 30
    m: int = 30
    n: int = 100
    sigma: float = 1.0
    seed: int = 0
    spectrum: str = "spiked"
    spikes: int = 3
    spike_factor: float = 10.0
    condition: float = 10.0
    exponent: float = 1.0
    correlation: float = 0.5
    groups: int = 3
    eigenvalues: tuple[float, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()
    missing: str = "subsets"
    rich: int = 10
    rich_size: int = 20
    size: int = 15
    p: float = 0.3
    tiers: int = 3
    mask: tuple[str, ...] = ()
    allocation: str = "equal"
    ratio: float = 10.0
    theta: str = "normal"
    theta_scale: float = 1.0
    nonzero: int = 5
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("d", "m", "n"):
            whole(name, getattr(self, name), low=1)
        whole("seed", self.seed, low=0)
        positive("sigma", self.sigma)
        choice("spectrum", self.spectrum, SPECTRA)
        choice("missing", self.missing, MISSINGNESS)
        choice("theta", self.theta, THETAS)
        choice("allocation", self.allocation, ALLOCATIONS)
        if not 1 <= positive("ratio", self.ratio) <= 1e6:
            raise ValueError(f"ratio must be from 1 to 1e6, got {self.ratio:g}")

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(stream,)))

    @cached_property
    def covariance(self) -> Array:
        """Feature covariance, shape (d, d)."""
        d, rng = self.d, self._rng(0)
        match self.spectrum:
            case "isotropic":
                return covariance.isotropic(d)
            case "geometric":
                return covariance.geometric(d, self.condition, rng)
            case "power_law":
                return covariance.power_law(d, self.exponent, rng)
            case "ar1":
                return covariance.ar1(d, self.correlation)
            case "equicorrelated":
                return covariance.equicorrelated(d, self.correlation)
            case "factor":
                return covariance.factor_model(d, self.groups, self.correlation, rng)
            case "block":
                return covariance.block(d, self.groups, self.correlation)
            case "eigenvalues":
                own = vector("eigenvalues", self.eigenvalues, d)
                return covariance.from_eigenvalues(own, rng)
            case "matrix":
                own = finite_array("matrix", self.matrix, ndim=2)
                if own.shape != (d, d):
                    raise ValueError(f"matrix must have shape ({d}, {d}), got {own.shape}")
                return covariance_matrix(own, name="matrix")
            case _:
                return covariance.spiked(d, rng, self.spikes, self.spike_factor)

    @cached_property
    def views(self) -> Views:
        """What every agent sees."""
        d, m, rng = self.d, self.m, self._rng(1)
        match self.missing:
            case "independent":
                return views.independent(m, d, self.p, rng)
            case "tiers":
                whole("tiers", self.tiers, low=1, high=m)
                counts = np.bincount(np.arange(m) * self.tiers // m, minlength=self.tiers)
                sizes = [-(-d * tier // self.tiers) for tier in range(self.tiers, 0, -1)]
                return views.tiers(d, counts.tolist(), sizes)
            case "blocks":
                return views.blocks(m, d, self.size)
            case "hub":
                return views.hub(m, d, self.size, rng)
            case "mask":
                return _views_of_mask(self.mask, m, d)
            case _:
                rich = whole("rich", self.rich, low=0, high=m)
                sizes = [self.rich_size] * rich + [self.size] * (m - rich)
                return views.random_subsets(d, sizes, rng)

    @cached_property
    def shares(self) -> Array:
        """Relative sample sizes with mean 1: agent i has ``n * shares[i]`` samples, shape (m,)."""
        if self.allocation == "equal":
            return np.ones(self.m)
        rank = np.arange(self.m, dtype=float)
        if self.allocation != "rising":
            rank = np.array([view.size for view in self.views], dtype=float)
        if self.allocation == "narrow":
            rank = -rank
        span = np.ptp(rank)
        place = (rank - rank.min()) / span if span else np.zeros(self.m)
        sizes = self.ratio**place
        return np.asarray(sizes / sizes.mean())

    @cached_property
    def coefficients(self) -> Array:
        """True theta, shape (d,)."""
        d, rng, scale = self.d, self._rng(2), self.theta_scale
        match self.theta:
            case "unit":
                return coefficients.unit(d, rng, scale)
            case "sparse":
                return coefficients.sparse(d, self.nonzero, rng, scale)
            case "strongest" | "weakest":
                return coefficients.principal(self.covariance, self.theta, scale)
            case "values":
                return vector("values", self.values, d)
            case _:
                return coefficients.standard_normal(d, rng, scale)

    @property
    def unseen(self) -> NDArray[np.intp]:
        """Features that nobody sees; with any, the full-feature model cannot be had."""
        return views.unseen_features(self.views, self.d)

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the fields that matter, given the choices made."""
        brought = {
            name for picker, by in _BROUGHT.items() for name in by.get(getattr(self, picker), ())
        }
        return tuple(name for name in FIELDS if name not in _OPTIONAL or name in brought)

    def with_views(self, mask: NDArray[np.bool_]) -> Scenario:
        """The same world with other views, shape (m, d)."""
        rows = tuple("".join("1" if seen else "0" for seen in row) for row in mask)
        return replace(self, m=len(rows), missing="mask", mask=rows)

    def to_query(self) -> dict[str, str]:
        """Everything that matters as strings for a URL, seed included."""
        return {name: _to_text(FIELDS[name].kind, getattr(self, name)) for name in self.active}

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], base: Scenario | None = None
    ) -> tuple[Scenario, list[str]]:
        """Read a URL; wrong values become the nearest legal ones.

        Parameters
        ----------
        query : mapping of str
            Names that are not fields are passed over.
        base : Scenario, optional
            Where what the URL does not say comes from; the defaults otherwise.

        Returns
        -------
        scenario : Scenario
        notices : list of str
            A sentence for every value that was changed.
        """
        base = base or cls()
        changes: dict[str, Any] = {}
        notices: list[str] = []
        for name, field in FIELDS.items():
            if name not in query:
                continue
            try:
                changes[name], said = _from_text(field, query[name])
            except ValueError as problem:
                kept = _to_text(field.kind, getattr(base, name)) or "the default"
                said = f"{problem}; {kept} is used"
            if said:
                notices.append(f"{field.label}: {said}.")
        scenario, more = base.nearest(**changes)
        return scenario, notices + more

    def nearest(self, **changes: Any) -> tuple[Scenario, list[str]]:
        """Apply changes and put right what they make impossible.

        Returns
        -------
        scenario : Scenario
        notices : list of str
            What was put right, for fields that count.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)} | changes
        notices: dict[str, str] = {}
        for name, given in changes.items():
            values[name], said = _within_limits(FIELDS[name], given)
            if said:
                notices[name] = said
        # One's own numbers decide how many features there are.
        for picker, own in (("spectrum", "eigenvalues"), ("spectrum", "matrix")):
            if values[picker] == own and values[own] and len(values[own]) != values["d"]:
                values["d"] = min(len(values[own]), MOST_FEATURES)
        d, m = values["d"], values["m"]
        for name, limit in LIMITED_BY.items():
            if values[name] > values[limit]:
                notices[name] = f"at most {limit} = {values[limit]}, so {values[limit]} is used"
                values[name] = values[limit]
        if values["missing"] == "blocks" and values["size"] < 1:
            notices["size"] = "a block has at least 1, so 1 is used"
            values["size"] = 1
        if values["spectrum"] == "eigenvalues" and len(values["eigenvalues"]) != d:
            values["eigenvalues"] = tuple(1.0 for _ in range(d))
            notices["eigenvalues"] = "none were given, so all are 1"
        if values["spectrum"] == "eigenvalues":
            floor = max(values["eigenvalues"]) / WORST_CONDITION
            if min(values["eigenvalues"]) < floor:
                values["eigenvalues"] = tuple(max(v, floor) for v in values["eigenvalues"])
                before = f"{notices['eigenvalues']}; " if "eigenvalues" in notices else ""
                notices["eigenvalues"] = (
                    f"{before}at most {WORST_CONDITION:g} apart, so the least are raised"
                )
        if values["spectrum"] == "matrix":
            values["matrix"], said = _nearest_matrix(values["matrix"], d)
            if said:
                notices["matrix"] = said
        if values["theta"] == "values" and len(values["values"]) != d:
            given = tuple(values["values"])[:d]
            notices["values"] = f"{d} are needed, so {d - len(given)} zeros were added"
            if len(values["values"]) > d:
                notices["values"] = f"only the first {d} are used"
            values["values"] = given + (0.0,) * (d - len(given))
        if values["missing"] == "mask":
            rows = values["mask"]
            if len(rows) != m or any(len(row) != d for row in rows):
                kept = [row[:d].ljust(d, "1") for row in rows[:m]]
                values["mask"] = tuple(kept + ["1" * d] * (m - len(kept)))
                if rows:
                    notices["mask"] = f"fitted to {m} agents and {d} features, new cells seen"
        scenario = Scenario(**values)
        active = scenario.active
        return scenario, [
            f"{FIELDS[name].label}: {text}." for name, text in notices.items() if name in active
        ]

    def problem(self) -> Problem:
        """Build the world.

        Raises
        ------
        ValueError
            If a choice is out of range, or a feature is seen by nobody.
        """
        return Problem(self.covariance, self.coefficients, self.sigma, self.views, self.shares)


def _within_limits(field: Field, value: Any) -> tuple[Any, str]:
    """The nearest value that is legal by itself, and what was changed."""
    match field.kind:
        case "whole" | "number":
            limited = min(max(value, field.low), field.high)
            kept = int(limited) if field.kind == "whole" else float(limited)
            return kept, "" if kept == value else f"{value:g} is not allowed, so {kept:g} is used"
        case "numbers" | "matrix":
            array = np.array(value, dtype=float) if _is_table(value) else None
            if array is None or not array.size:
                return value, ""
            # Far beyond any real scale, squares and ratios would overflow.
            low = SMALLEST if field.low else -LARGEST
            kept_array = np.clip(array, low, LARGEST)
            if (kept_array == array).all():
                return value, ""
            nested = kept_array.tolist()
            legal = tuple(map(tuple, nested)) if array.ndim == 2 else tuple(nested)
            return legal, f"kept between {low:g} and {LARGEST:g}"
        case _:
            return value, ""


def _is_table(value: Any) -> bool:
    """Whether nested numbers have rows of one length."""
    rows = [row for row in value if isinstance(row, tuple)]
    return not rows or len({len(row) for row in rows}) == 1


def _to_text(kind: str, value: Any) -> str:
    match kind:
        case "numbers":
            return ",".join(_number_text(number) for number in value)
        case "matrix":
            return ";".join(",".join(_number_text(number) for number in row) for row in value)
        case "mask":
            return _pack_mask(value)
        case "number":
            return _number_text(value)
        case _:
            return str(value)


def _number_text(number: float) -> str:
    """Shortest text that reads back as the same number: 3 rather than 3.0."""
    return (
        repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))
    )


def _from_text(field: Field, text: str) -> tuple[Any, str]:
    """Read one value; a notice where the nearest legal one was taken instead."""
    match field.kind:
        case "choice":
            return choice(field.label, text, field.choices).strip(), ""
        case "numbers":
            return _read_numbers(text), ""
        case "matrix":
            return tuple(_read_numbers(row) for row in text.split(";") if row.strip()), ""
        case "mask":
            return _unpack_mask(text), ""
        case _:
            return _read_limited(field, text)


def _read_numbers(text: str) -> tuple[float, ...]:
    parts = text.replace(",", " ").split()
    if len(parts) > MOST_FEATURES:
        raise ValueError(f"{len(parts)} numbers are more than the {MOST_FEATURES} allowed")
    return tuple(_read_number(part) for part in parts)


def _read_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{text[:20]!r} is not a number") from None
    if not np.isfinite(number):
        raise ValueError(f"{text[:20]!r} is not a finite number")
    return number


def _read_limited(field: Field, text: str) -> tuple[float, str]:
    number = _read_number(text)
    if field.kind == "whole":
        number = round(number)
    limited = min(max(number, field.low), field.high)
    value = int(limited) if field.kind == "whole" else limited
    if limited == number and float(text) == number:
        return value, ""
    return value, f"{text[:20]} is not allowed, so {value:g} is used"


def _pack_mask(rows: tuple[str, ...]) -> str:
    """``<rows>x<columns>.<bits in base64>``: a thousand characters for the largest world."""
    if not rows:
        return ""
    bits = np.array([[letter == "1" for letter in row] for row in rows])
    packed = base64.urlsafe_b64encode(np.packbits(bits).tobytes()).decode().rstrip("=")
    return f"{bits.shape[0]}x{bits.shape[1]}.{packed}"


def _unpack_mask(text: str) -> tuple[str, ...]:
    shape, _, packed = text.partition(".")
    try:
        height, width = (int(side) for side in shape.split("x"))
        raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8))[: height * width]
        if not (1 <= height <= MOST_AGENTS and 1 <= width <= MOST_FEATURES):
            raise ValueError
        rows = bits.reshape(height, width)
    except (ValueError, binascii.Error):
        raise ValueError(f"{text[:20]!r} is not a pattern of views") from None
    return tuple("".join(map(str, row)) for row in rows)


def _nearest_matrix(
    rows: tuple[tuple[float, ...], ...], d: int
) -> tuple[tuple[tuple[float, ...], ...], str]:
    """A legal covariance near what was typed: the identity if it is not even square."""
    if len(rows) != d or any(len(row) != d for row in rows):
        identity = tuple(tuple(row) for row in np.eye(d).tolist())
        return identity, "not a square of numbers, so the identity is used" if rows else ""
    matrix = np.array(rows)
    symmetric = (matrix + matrix.T) / 2
    said = "" if np.allclose(matrix, symmetric) else "not symmetric, so its symmetric part is used"
    try:
        covariance_matrix(symmetric)
        unit = 1 / np.sqrt(np.diagonal(symmetric))
        if np.linalg.cond(symmetric * np.outer(unit, unit)) > WORST_CONDITION:
            raise ValueError("nearly singular")
    except ValueError:
        diagonal = np.maximum(np.abs(np.diagonal(symmetric)), 1e-6)
        np.fill_diagonal(symmetric, diagonal)
        symmetric, _ = nearest_positive_definite(symmetric, floor=1e-3)
        said = "not (safely) positive definite, so the nearest that is one is used"
    return tuple(tuple(row) for row in symmetric.tolist()), said


def _views_of_mask(rows: tuple[str, ...], m: int, d: int) -> Views:
    if len(rows) != m:
        raise ValueError(f"mask must have {m} rows, one an agent, got {len(rows)}")
    for i, row in enumerate(rows):
        if len(row) != d or set(row) - {"0", "1"}:
            raise ValueError(f"mask[{i}] must be {d} characters 0 or 1, got {row!r}")
    return views.as_views(np.array([[letter == "1" for letter in row] for row in rows]), d)
