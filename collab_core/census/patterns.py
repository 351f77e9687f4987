"""Who asks what: patterns by name, and a grid of one's own as a text that fits into a link."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .._base.checks import choice
from .questions import PAPER_STATES
from .study import Study, paper_views

#: Questions that each of the states asks, in their order.
Asked = tuple[tuple[str, ...], ...]


def _paper(states: Sequence[str], questions: Sequence[str]) -> Asked:
    views = paper_views(states, questions)
    return tuple(views[state] for state in states)


def _everything(states: Sequence[str], questions: Sequence[str]) -> Asked:
    return (tuple(questions),) * len(states)


def _every_other(states: Sequence[str], questions: Sequence[str]) -> Asked:
    return tuple(
        tuple(key for j, key in enumerate(questions) if (i + j) % 2 == 0)
        for i in range(len(states))
    )


_PATTERNS: dict[str, Callable[[Sequence[str], Sequence[str]], Asked]] = {
    "paper": _paper,
    "all": _everything,
    "half": _every_other,
}

#: Patterns by name.
PATTERNS = tuple(_PATTERNS)


def asked_by(pattern: str, states: Sequence[str], questions: Sequence[str]) -> Asked:
    """What every state asks by a pattern.

    Parameters
    ----------
    pattern : {"paper", "all", "half"}
        The paper's (`paper_views`); everybody everything; every other question, the others by
        turns.

    Returns
    -------
    tuple of tuples of str
        As in `Choice.asked`.
    """
    return _PATTERNS[choice("pattern", pattern, PATTERNS)](states, questions)


def grid_text(asked: Asked, states: Sequence[str], questions: Sequence[str]) -> str:
    """The grid as text for a link: ``NY.11111101111;IL.00000011111``."""
    return ";".join(
        f"{state}." + "".join("1" if key in asks else "0" for key in questions)
        for state, asks in zip(states, asked, strict=True)
    )


def grid_of_text(text: str, states: Sequence[str], questions: Sequence[str]) -> Asked:
    """What a text says of the grid (`grid_text`).

    A state that the text does not name, or whose row does not fit, asks as in the paper's pattern.
    """
    found = dict(zip(states, _paper(states, questions), strict=True))
    for part in text.split(";"):
        name, _, bits = part.partition(".")
        if name in found and len(bits) == len(questions) and set(bits) <= {"0", "1"}:
            found[name] = tuple(k for k, bit in zip(questions, bits, strict=True) if bit == "1")
    return tuple(found[state] for state in states)


def is_as_published(study: Study) -> bool:
    """Whether five states ask as in the paper, and all questions predict the last one's minutes."""
    chosen = study.choice
    return (
        len(chosen.states) == len(PAPER_STATES)
        and chosen.target == chosen.states[-1]
        and chosen.log
        and not chosen.own
        and chosen.asked == asked_by("paper", chosen.states, study.sums.questions)
    )
