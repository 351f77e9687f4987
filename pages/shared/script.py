"""What a page runs is what it prints: library calls that write their own line.

A `Script` runs calls of the library and keeps each as a line of Python. The lines stand beside the
figure, and the text of all lines up to a call is the key under which its value is kept: the same
text is the same value, for every session. So no figure states its numbers twice, once as code and
once as a string, and no page has caches of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from inspect import signature
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core.world.scenario import Scenario

P = ParamSpec("P")
T = TypeVar("T")

#: Longest line; a call that does not fit is written one argument a line.
WIDTH = 88

#: Values of a session's own data that it keeps.
MOST_OWN = 48

#: Arguments that say how a call runs, not what comes out: they are not written.
UNWRITTEN = ("progress", "cancel", "executor")

#: Modules that lines may name besides the library, with the line that imports them.
IMPORTS = {"np": "import numpy as np", "pd": "import pandas as pd"}

#: Whether values that are handed in just now are a part of what their lines compute.
_partial: ContextVar[bool] = ContextVar("partial", default=False)


@contextmanager
def as_part(partial: bool) -> Iterator[None]:
    """Go on from a result that is whole, or only a part of it: of a run under way or stopped."""
    token = _partial.set(partial)
    try:
        yield
    finally:
        _partial.reset(token)


def is_part() -> bool:
    """Whether what is drawn just now is a part of what its code computes."""
    return _partial.get()


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call that is written down but not yet run: for work on a thread, with progress and Stop.

    Attributes
    ----------
    name : str
        Of the value, in the lines.
    line : str
        The call itself.
    text : str
        All lines up to and with this one.
    key : str
        What the value depends on: those lines, the data that they only name, and which methods
        there are.
    """

    name: str
    line: str
    text: str
    key: str
    function: Callable[..., T]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def __call__(self, **how: Any) -> T:
        """Run it, with ``progress``, ``cancel`` or ``executor`` where the function takes them."""
        taken = signature(self.function).parameters
        return self.function(
            *self.args, **self.kwargs, **{name: how[name] for name in how if name in taken}
        )


class Script:
    """Lines of Python, run as they are written.

    Parameters
    ----------
    salt : str
        What the values depend on beside the lines, such as the digest of an uploaded file. Such
        data are somebody's: values are then kept for this session only.
    """

    def __init__(self, salt: str = "") -> None:
        self._salt = salt
        self._lines: list[str] = []
        self._known: dict[int, tuple[str, Any]] = {}
        self._last: Any = None
        self._shown = ""
        self._part = False

    @classmethod
    def of(cls, scenario: Scenario) -> Script:
        """Begin with a world; its defaults are left out."""
        script = cls()
        script.write("scenario", scenario)
        return script

    def branch(self) -> Script:
        """A copy that goes its own way: what two figures share is written (and run) once."""
        other = Script(self._salt)
        other._lines, other._known = list(self._lines), dict(self._known)
        other._last, other._shown, other._part = self._last, self._shown, self._part
        return other

    def given(self, name: str, value: T, line: str) -> T:
        """Add a line as it stands, for a value that exists already."""
        self._lines.append(line)
        return self._keep(name, value)

    def write(self, name: str, value: T) -> T:
        """``name = value`` of a dataclass of the library; its defaults are left out."""
        return self.given(name, value, _made(name, value, self._name_of))

    def plan(
        self, name: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Call[T]:
        """Write a call down without running it. `done` adds its line once there is a value."""
        line = self._line(name, function, args, kwargs)
        text = self._text_with(line)
        # A table of all methods is another one once a method is added.
        key = "\n".join([self._salt, text, *cc.methods.keys()])
        return Call(name, line, text, key, function, args, kwargs)

    def done(self, call: Call[T], value: T) -> T:
        """Add the line of a planned call, with the value that it had.

        Of a run under way or stopped (`as_part`) that is not yet what the line says: nothing that
        follows from it is kept.
        """
        self._part = self._part or is_part()
        self._lines.append(call.line)
        return self._keep(call.name, value)

    def run(self, name: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call of the library, or take its value from an earlier run of the same lines."""
        return self.take(self.plan(name, function, *args, **kwargs))

    def take(self, call: Call[T]) -> T:
        """Run a planned call, or take its value from an earlier run of the same lines."""
        if self._part:
            value = call()
        else:
            value = cast(T, _own_value(call) if self._salt else _value(call.key, call))
        self._lines.append(call.line)
        return self._keep(call.name, value)

    def read(self, name: str, owner: object, attribute: str) -> Any:
        """``name = owner.attribute`` of something that has a name already."""
        self._lines.append(f"{name} = {self._name_of_known(owner)}.{attribute}")
        value = owner
        for part in attribute.split("."):
            value = getattr(value, part)
        return self._keep(name, value)

    @overload
    def item(self, name: str, owner: Mapping[Any, T], key: object) -> T: ...

    @overload
    def item(self, name: str, owner: Any, key: object) -> Any: ...

    def item(self, name: str, owner: Any, key: object) -> Any:
        """``name = owner[key]`` of something that has a name already."""
        at = _written(key, self._name_of)
        self._lines.append(f"{name} = {self._name_of_known(owner)}[{at}]")
        return self._keep(name, owner[key])

    @property
    def last(self) -> Any:
        """The value of the last line: what the figure shows and the CSV holds."""
        return self._last

    @property
    def lines(self) -> str:
        """The lines, to be gone on with: nothing is printed yet."""
        return self._text_with()

    @property
    def text(self) -> str:
        """The lines, complete: they run as they stand and print the last value."""
        return f"{self._text_with()}print({self._shown})\n"

    def _keep(self, name: str, value: T) -> T:
        # A name means its latest value; what it meant before has none any more.
        self._known = {key: held for key, held in self._known.items() if held[0] != name}
        if not isinstance(value, str | int | float | bool | type(None)):
            self._known[id(value)] = (name, value)
        self._last, self._shown = value, name
        return value

    def _name_of(self, value: object) -> str | None:
        found = self._known.get(id(value))
        return None if found is None else found[0]

    def _name_of_known(self, value: object) -> str:
        name = self._name_of(value)
        if name is None:
            raise ValueError(f"{type(value).__name__} has no name in this script yet")
        return name

    def _line(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> str:
        called = _called(function, self._name_of)
        parts = [_written(value, self._name_of) for value in args]
        parts += [
            f"{key}={_written(value, self._name_of)}"
            for key, value in kwargs.items()
            if key not in UNWRITTEN and not (value is None and _is_none_anyway(function, key))
        ]
        return _assigned(name, called, parts)

    def _text_with(self, *more: str) -> str:
        lines = [*self._lines, *more]
        body = "\n".join(lines)
        imports = ["import collab_core as cc"]
        imports += [line for short, line in IMPORTS.items() if re.search(rf"\b{short}\.", body)]
        return "\n".join([*imports, "", *lines, ""])


@st.cache_resource(max_entries=512, show_spinner=False)
def _value(key: str, _call: Call[Any]) -> Any:
    """The value of a call; the call itself is not part of what it is kept by."""
    return _call()


def _own_value(call: Call[Any]) -> Any:
    """The value of a call on somebody's own data: the session keeps the last few, nobody else."""
    held: dict[str, Any] = st.session_state.setdefault("script-values", {})
    # Taken out and put in again: the last one used is the last to go.
    value = held.pop(call.key) if call.key in held else call()
    held[call.key] = value
    while len(held) > MOST_OWN:
        held.pop(next(iter(held)), None)
    return value


def _is_none_anyway(function: Callable[..., Any], key: str) -> bool:
    """Whether None is what an argument is by default."""
    given = signature(function).parameters.get(key)
    return given is not None and given.default is None


def _called(function: Callable[..., Any], name_of: Callable[[object], str | None]) -> str:
    """How a function is called in a line: by the object that it belongs to, or by its module."""
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        if isinstance(owner, type):
            return f"{_path(owner)}.{function.__name__}"
        name = name_of(owner)
        if name is None:
            raise ValueError(f"the {type(owner).__name__} of {function.__name__} has no name yet")
        return f"{name}.{function.__name__}"
    return _path(function)


def _path(thing: Any) -> str:
    """Where a function or class of the library (or of pandas, NumPy) is found by a notebook."""
    path = _public().get(id(thing))
    if path is not None:
        return path
    name = getattr(thing, "__qualname__", repr(thing))
    modules: dict[str, Any] = {"pd": pd, "np": np}
    for short, module in modules.items():
        if getattr(module, name, None) is thing:
            return f"{short}.{name}"
    raise ValueError(f"{thing.__module__}.{name} is no public name of collab_core")


@cache
def _public() -> dict[int, str]:
    """Public names of the library by identity: the shortest, and of those where it is at home."""
    found: dict[int, tuple[tuple[int, bool], str]] = {}
    level: list[tuple[str, Any]] = [("cc", cc)]
    for depth in range(3):
        deeper = []
        for path, module in level:
            exported = getattr(module, "__all__", None)
            for name in exported or dir(module):
                thing = getattr(module, name)
                home = getattr(thing, "__module__", None) or ""
                if name.startswith("_"):
                    continue
                if isinstance(thing, ModuleType):
                    if thing.__name__.startswith("collab_core"):
                        deeper.append((f"{path}.{name}", thing))
                elif callable(thing) and home.startswith("collab_core") and "._" not in home:
                    is_visitor = exported is None and home != module.__name__
                    rank = (depth, is_visitor)
                    if id(thing) not in found or rank < found[id(thing)][0]:
                        found[id(thing)] = (rank, f"{path}.{name}")
        level = deeper
    return {key: path for key, (_, path) in found.items()}


def _assigned(name: str, called: str, parts: Sequence[str]) -> str:
    """A call as a line, or one argument a line where that would be too long."""
    line = f"{name} = {called}({', '.join(parts)})"
    if len(line) <= WIDTH:
        return line
    inside = "".join(f"    {part},\n" for part in parts)
    return f"{name} = {called}(\n{inside})"


def _written(value: Any, name_of: Callable[[object], str | None]) -> str:
    """A value as Python: by its name where it has one, otherwise as it would be typed in."""
    name = name_of(value)
    if name is not None:
        return name
    match value:
        case np.generic():
            # Before float: NumPy's float64 is one, and its own name for itself is longer.
            return _written(value.item(), name_of)
        case float() if not math.isfinite(value):
            return f"float({str(value)!r})"
        case bool() | int() | float() | str() | None:
            return repr(value)
        case np.ndarray():
            kind = "" if value.size else f", dtype={value.dtype.name!r}"
            return f"np.array({_written(value.tolist(), name_of)}{kind})"
        case range():
            return repr(value)
        case list():
            return f"[{', '.join(_written(part, name_of) for part in value)}]"
        case tuple():
            inside = ", ".join(_written(part, name_of) for part in value)
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        case dict():
            pairs = (f"{_written(k, name_of)}: {_written(v, name_of)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        case Scenario():
            return f"{_path(Scenario)}({', '.join(_parts(value, name_of))})"
        case _ if is_dataclass(value) and not isinstance(value, type):
            return f"{_path(type(value))}({', '.join(_parts(value, name_of))})"
        case _ if callable(value):
            return _called(value, name_of)
    raise ValueError(f"a {type(value).__name__} cannot be written as Python: give it a name first")


def _made(name: str, value: Any, name_of: Callable[[object], str | None]) -> str:
    """The line that makes a scenario or a dataclass of the library."""
    return _assigned(name, _path(type(value)), _parts(value, name_of))


def _parts(value: Any, name_of: Callable[[object], str | None]) -> list[str]:
    """Choices of a scenario or fields of a dataclass; those at their default are left out."""
    if isinstance(value, Scenario):
        return [f"{name}={_written(given, name_of)}" for name, given in value.choices.items()]
    return [
        f"{field.name}={_written(getattr(value, field.name), name_of)}"
        for field in fields(value)
        if field.init and not _is_default(getattr(value, field.name), field.default)
    ]


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))
