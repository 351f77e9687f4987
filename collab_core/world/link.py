"""A scenario to and from the text of a link, and the nearest legal one to what a link asks for.

Everything follows from the fields' kinds and limits and from what the chosen classes put right
themselves (`Choice.mend`): nothing here knows a spectrum, a pattern or a rule by name.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from .._base.checks import choice
from .catalogue import GROUPS, fields
from .fields import LARGEST, MOST_AGENTS, MOST_FEATURES, SMALLEST, Field, WorldPart

if TYPE_CHECKING:
    from .scenario import Scenario


def to_query(scenario: Scenario) -> dict[str, str]:
    """Everything that matters as strings for a URL, seed included."""
    known = fields()
    return {
        name: to_text(known[name], getattr(scenario, name))
        for name in scenario.active
        if not (known[name].quiet and getattr(scenario, name) == known[name].default)
    }


def from_query(query: Mapping[str, str], base: Scenario) -> tuple[Scenario, list[str]]:
    """Read a URL; wrong values become the nearest legal ones.

    Parameters
    ----------
    query : mapping of str
        Names that are not fields are passed over.
    base : Scenario
        Where what the URL does not say comes from.

    Returns
    -------
    scenario : Scenario
    notices : list of str
        A sentence for every value that was changed.
    """
    changes: dict[str, Any] = {}
    notices: list[str] = []
    for name, field in fields().items():
        if name not in query:
            continue
        try:
            changes[name], said = from_text(field, query[name])
        except ValueError as problem:
            kept = to_text(field, getattr(base, name)) or "the default"
            said = f"{problem}; {kept} is used"
        if said:
            notices.append(f"{field.label}: {said}.")
    scenario, more = nearest(base, changes)
    return scenario, notices + more


def nearest(base: Scenario, changes: Mapping[str, Any]) -> tuple[Scenario, list[str]]:
    """Apply changes to a scenario and put right what they make impossible.

    Returns
    -------
    scenario : Scenario
    notices : list of str
        What was put right, for fields that count.
    """
    known = fields()
    values = {name: getattr(base, name) for name in known} | dict(changes)
    notices: dict[str, str] = {}
    for name, given in changes.items():
        if name not in known:
            raise ValueError(f"changes must be of {', '.join(known)}; got {name!r}")
        values[name], said = within_limits(known[name], given)
        if said:
            notices[name] = said
    chosen: list[type[WorldPart]] = [
        group.registry.get(values[group.picker.name]) for group in GROUPS
    ]
    _count_own_numbers(values, chosen, known)
    notices |= _limit_each_other(values, known)
    for kind in chosen:
        for name, (value, said) in kind.mend(values).items():
            values[name] = value
            if said:
                notices[name] = f"{notices[name]}; {said}" if name in notices else said
    scenario = type(base)(**values)
    counting = set(scenario.active)
    return scenario, [
        f"{known[name].label}: {text}." for name, text in notices.items() if name in counting
    ]


def _count_own_numbers(
    values: dict[str, Any], chosen: list[type[WorldPart]], known: Mapping[str, Field]
) -> None:
    """Let one's own numbers decide how many features there are."""
    for field in (field for kind in chosen for field in kind.parameters()):
        own = values[field.name]
        if field.decides and own:
            values[field.decides] = min(len(own), int(known[field.decides].high))


def _limit_each_other(values: dict[str, Any], known: Mapping[str, Field]) -> dict[str, str]:
    """Lower numbers that exceed those which limit them, and say so."""
    notices = {}
    for limit, most in [(name, values[name]) for name in known]:
        for name, field in known.items():
            if field.limited_by == limit and values[name] > most:
                notices[name] = f"at most {limit} = {most}, so {most} is used"
                values[name] = most
    return notices


# One value ---------------------------------------------------------------------------------------


def within_limits(field: Field, value: Any) -> tuple[Any, str]:
    """The nearest value that is legal by itself, and what was changed."""
    match field.kind:
        case "whole" | "number":
            limited = min(max(value, field.low), field.high)
            kept = int(limited) if field.kind == "whole" else float(limited)
            return kept, "" if kept == value else f"{value:g} is not allowed, so {kept:g} is used"
        case "numbers" | "matrix":
            return _numbers_within_limits(field, value)
        case "choice" | "mask":
            return value, ""
        case unknown:
            assert_never(unknown)


def _numbers_within_limits(field: Field, value: tuple[Any, ...]) -> tuple[Any, str]:
    array = np.array(value, dtype=float) if _is_table(value) else None
    if array is None or not array.size:
        return value, ""
    # Far beyond any real scale, squares and ratios would overflow.
    low = SMALLEST if field.low else -LARGEST
    kept = np.clip(array, low, LARGEST)
    if (kept == array).all():
        return value, ""
    nested = kept.tolist()
    legal = tuple(map(tuple, nested)) if array.ndim == 2 else tuple(nested)
    return legal, f"kept between {low:g} and {LARGEST:g}"


def _is_table(value: tuple[Any, ...]) -> bool:
    """Whether nested numbers have rows of one length."""
    rows = [row for row in value if isinstance(row, tuple)]
    return not rows or len({len(row) for row in rows}) == 1


def to_text(field: Field, value: Any) -> str:
    """Write one value."""
    match field.kind:
        case "numbers":
            return ",".join(_number_text(number) for number in value)
        case "matrix":
            return ";".join(",".join(_number_text(number) for number in row) for row in value)
        case "mask":
            return pack_mask(value)
        case "number":
            return _number_text(value)
        case "whole" | "choice":
            return str(value)
        case unknown:
            assert_never(unknown)


def _number_text(number: float) -> str:
    """Shortest text that reads back as the same number: 3 rather than 3.0."""
    return (
        repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(float(number))
    )


def from_text(field: Field, text: str) -> tuple[Any, str]:
    """Read one value; a notice where the nearest legal one was taken instead.

    Raises
    ------
    ValueError
        If the text is of no such value at all.
    """
    match field.kind:
        case "choice":
            return choice(field.label, text, field.choices).strip(), ""
        case "numbers":
            return _read_numbers(text), ""
        case "matrix":
            return tuple(_read_numbers(row) for row in text.split(";") if row.strip()), ""
        case "mask":
            return unpack_mask(text), ""
        case "whole" | "number":
            return _read_limited(field, text)
        case unknown:
            assert_never(unknown)


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


# Masks -------------------------------------------------------------------------------------------


def pack_mask(rows: tuple[str, ...]) -> str:
    """``<rows>x<columns>.<bits in base64>``: a thousand characters for the largest world."""
    if not rows:
        return ""
    bits = np.array([[letter == "1" for letter in row] for row in rows])
    packed = base64.urlsafe_b64encode(np.packbits(bits).tobytes()).decode().rstrip("=")
    return f"{bits.shape[0]}x{bits.shape[1]}.{packed}"


def unpack_mask(text: str) -> tuple[str, ...]:
    """Read what `pack_mask` wrote.

    Raises
    ------
    ValueError
        If it is no such text, or of more agents or features than a link may have.
    """
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
