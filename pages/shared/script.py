"""What a page runs is what it prints: library calls that write their own line.

A `Script` runs calls of the library and keeps each as a line of Python. The lines stand beside the
figure, and the text of all lines up to a call is the key under which its value is kept: the same
text is the same value, for every session. So no figure states its numbers twice, once as code and
once as a string, and no page has caches of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd
import streamlit as st

import collab_core as cc
from collab_core.world.scenario import Scenario

P = ParamSpec("P")
T = TypeVar("T")

#: Longest line; a call that does not fit is written one argument a line.
WIDTH = 88

#: Arguments that say how a call runs, not what comes out: they are not written.
UNWRITTEN = ("progress", "cancel", "executor")

#: Modules that lines may name besides the library, with the line that imports them.
IMPORTS = {"np": "import numpy as np", "pd": "import pandas as pd"}


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
        What the value depends on: those lines, and the data that they only name.
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
        return self.function(*self.args, **self.kwargs, **how)


class Script:
    """Lines of Python, run as they are written.

    Parameters
    ----------
    salt : str
        What the values depend on beside the lines, such as the digest of an uploaded file.
    """

    def __init__(self, salt: str = "") -> None:
        self._salt = salt
        self._lines: list[str] = []
        self._known: dict[int, tuple[str, Any]] = {}
        self._last: Any = None
        self._shown = ""

    @classmethod
    def of(cls, scenario: Scenario) -> Script:
        """Begin with a world; its defaults are left out."""
        script = cls()
        script.given("scenario", scenario, f"scenario = {_written(scenario, script._name_of)}")
        return script

    def branch(self) -> Script:
        """A copy that goes its own way: what two figures share is written (and run) once."""
        other = Script(self._salt)
        other._lines, other._known = list(self._lines), dict(self._known)
        other._last, other._shown = self._last, self._shown
        return other

    def given(self, name: str, value: T, line: str) -> T:
        """Add a line as it stands, for a value that exists already."""
        self._lines.append(line)
        return self._keep(name, value)

    def plan(
        self, name: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Call[T]:
        """Write a call down without running it. `done` adds its line once there is a value."""
        line = self._line(name, function, args, kwargs)
        text = self._text_with(line)
        return Call(name, line, text, self._salt + text, function, args, kwargs)

    def done(self, call: Call[T], value: T) -> T:
        """Add the line of a planned call, with the value that it had."""
        self._lines.append(call.line)
        return self._keep(call.name, value)

    def run(self, name: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call of the library, or take its value from an earlier run of the same lines."""
        call = self.plan(name, function, *args, **kwargs)
        return self.done(call, cast(T, _value(call.key, call)))

    def read(self, name: str, owner: object, attribute: str) -> Any:
        """``name = owner.attribute`` of something that has a name already."""
        self._lines.append(f"{name} = {self._name_of_known(owner)}.{attribute}")
        value = owner
        for part in attribute.split("."):
            value = getattr(value, part)
        return self._keep(name, value)

    def item(self, name: str, owner: Any, key: object) -> Any:
        """``name = owner[key]`` of something that has a name already."""
        self._lines.append(f"{name} = {self._name_of_known(owner)}[{key!r}]")
        return self._keep(name, owner[key])

    @property
    def last(self) -> Any:
        """The value of the last line: what the figure shows and the CSV holds."""
        return self._last

    @property
    def text(self) -> str:
        """The lines, complete: they run as they stand and print the last value."""
        return f"{self._text_with()}print({self._shown})\n"

    def _keep(self, name: str, value: T) -> T:
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
            if key not in UNWRITTEN
        ]
        line = f"{name} = {called}({', '.join(parts)})"
        if len(line) > WIDTH:
            inside = "".join(f"    {part},\n" for part in parts)
            line = f"{name} = {called}(\n{inside})"
        return line

    def _text_with(self, *more: str) -> str:
        lines = [*self._lines, *more]
        body = "\n".join(lines)
        imports = ["import collab_core as cc"]
        imports += [line for short, line in IMPORTS.items() if f"{short}." in body]
        return "\n".join([*imports, "", *lines, ""])


@st.cache_resource(max_entries=512, show_spinner=False)
def _value(key: str, _call: Call[Any]) -> Any:
    """The value of a call; the call itself is not part of what it is kept by."""
    return _call()


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
    name: str = thing.__name__
    for short, module in (("pd", pd), ("np", np)):
        if getattr(module, name, None) is thing:
            return f"{short}.{name}"
    raise ValueError(f"{thing.__module__}.{thing.__qualname__} is no public name of collab_core")


@cache
def _public() -> dict[int, str]:
    """Public names of the library by identity, the shortest of each."""
    found: dict[int, str] = {}
    level: list[tuple[str, Any]] = [("cc", cc)]
    for _ in range(3):
        deeper = []
        for path, module in level:
            for name in getattr(module, "__all__", None) or dir(module):
                if name.startswith("_"):
                    continue
                thing = getattr(module, name)
                if isinstance(thing, ModuleType):
                    if thing.__name__.startswith("collab_core"):
                        deeper.append((f"{path}.{name}", thing))
                elif callable(thing) and getattr(thing, "__module__", "").startswith("collab_core"):
                    found.setdefault(id(thing), f"{path}.{name}")
        level = deeper
    return found


def _written(value: Any, name_of: Callable[[object], str | None]) -> str:
    """A value as Python: by its name where it has one, otherwise as it would be typed in."""
    name = name_of(value)
    if name is not None:
        return name
    match value:
        case bool() | int() | float() | str() | None:
            return repr(value)
        case np.generic():
            return repr(value.item())
        case np.ndarray():
            return f"np.array({value.tolist()!r})"
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
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _written_dataclass(value, name_of)
        case _ if callable(value):
            return _called(value, name_of)
    raise ValueError(f"a {type(value).__name__} cannot be written as Python: give it a name first")


def _written_dataclass(value: Any, name_of: Callable[[object], str | None]) -> str:
    """A dataclass of the library by its fields; those at their default are left out."""
    active = value.active if isinstance(value, Scenario) else None
    given = [
        f"{field.name}={_written(getattr(value, field.name), name_of)}"
        for field in fields(value)
        if (active is None or field.name in active)
        and not _is_default(getattr(value, field.name), field.default)
    ]
    return f"{_path(type(value))}({', '.join(given)})"


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))
