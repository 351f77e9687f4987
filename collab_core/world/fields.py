"""What a choice is made of: parameters with labels and limits, and the classes that have them.

A spectrum, a pattern of missing features, a rule for theta, an allocation of samples and a law of
features are classes of one shape, a `WorldPart`: a key, a name for people, a line of help, and
parameters, each a `Field`. Controls, links, repair of wrong values and code are made from these, so
that a class which is registered is offered everywhere.
"""

from __future__ import annotations

import dataclasses
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np

from .._base.registry import Registry

#: Limits that keep a dashboard responsive for everyone; the library itself has none.
MOST_FEATURES, MOST_AGENTS, MOST_SAMPLES = 60, 100, 10_000_000

#: Limits of numbers that people type in themselves.
SMALLEST, LARGEST = 1e-6, 1e6

Kind: TypeAlias = Literal["whole", "number", "choice", "numbers", "matrix", "mask"]


@dataclass(frozen=True)
class Field:
    """One thing a person can pick.

    Attributes
    ----------
    name : str
        In code and links.
    kind : {"whole", "number", "choice", "numbers", "matrix", "mask"}
        A whole number, a number, a key of ``registry``, a tuple of numbers, of rows of numbers, or
        of rows of 0s and 1s.
    label, help : str
        For a control.
    low, high : float
        Limits of whole numbers and numbers. "numbers" with ``low`` above 0 are positive.
    default : object
    step : float
        Of a slider; 0 for a hundredth of its length, or 1 if the number is whole.
    scale : tuple of float
        Round values for a slider that spans decades, instead of even steps.
    limited_by : str
        Another field, a whole number that this one cannot exceed.
    words : str
        How a value is said in a sentence, as a format: ``"{:g} degrees"``.
    decides : str
        Another field that is the number of these numbers: typing three eigenvalues makes d = 3.
    registry : Registry, optional
        What a "choice" chooses from.
    quiet : bool
        Whether links leave it out at its default: it came later than they did.
    """

    name: str
    kind: Kind
    label: str
    help: str = ""
    low: float = 0.0
    high: float = 0.0
    default: Any = None
    step: float = 0.0
    scale: tuple[float, ...] = ()
    limited_by: str = ""
    decides: str = ""
    words: str = ""
    registry: Registry[Any] | None = None
    quiet: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """Keys that can be chosen; none where this is no choice."""
        return () if self.registry is None else self.registry.keys()

    def said(self, value: Any) -> str:
        """A value in words; where the field has none, its label and the number."""
        return self.words.format(value) if self.words else f"{self.label} {value:g}"

    @property
    def steps(self) -> tuple[float, ...]:
        """Values for a slider of few positions: the round ones, or some spread evenly."""
        if self.scale:
            return self.scale
        if self.kind == "whole":
            return tuple(sorted({round(v) for v in np.linspace(self.low, self.high, 21)}))
        return tuple(float(f"{v:.6g}") for v in np.linspace(self.low, self.high, 21))

    def parameter(self) -> Any:
        """Make this field an attribute of a dataclass: ``spikes: int = SPIKES.parameter()``."""
        return dataclasses.field(default=self.default, metadata={"field": self})


class WorldPart(ABC):
    """What is chosen by its key; subclasses are frozen dataclasses of their parameters.

    Attributes
    ----------
    key : str
        In code and links.
    label, help : str
        A name for people, and a line about it.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    help: ClassVar[str] = ""

    @classmethod
    def parameters(cls) -> tuple[Field, ...]:
        """The fields of its parameters, in order."""
        if "__dataclass_fields__" not in cls.__dict__:
            raise ValueError(f"{cls.__name__} must be a dataclass: its parameters would be lost")
        found = []
        for attribute in dataclasses.fields(cls):  # type: ignore[arg-type]  # checked above
            field = attribute.metadata.get("field")
            if field is None or field.name != attribute.name:
                raise ValueError(
                    f"{cls.__name__}.{attribute.name} must be made by Field({attribute.name!r}, "
                    "...).parameter()"
                )
            found.append(field)
        return tuple(found)

    @classmethod
    def mend(cls, values: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
        """Put right what limits alone do not: parameters that do not fit d, m or each other.

        Parameters
        ----------
        values : mapping
            Of all fields of a scenario, within their limits.

        Returns
        -------
        dict
            For parameters that need it: the nearest legal value, and what to say, if anything.
        """
        return {}


C = TypeVar("C", bound=WorldPart)


class Names:
    """A namespace: a parameter's name means one thing for all classes in it."""

    def __init__(self) -> None:
        self._registries: list[WorldParts[Any]] = []
        self._own: dict[str, Field] = {}
        self._reserved: frozenset[str] = frozenset()

    def own(self, field: Field) -> Field:
        """Add a field that belongs to no class."""
        self.check([field])
        self._own[field.name] = field
        return field

    def join(self, registry: WorldParts[Any]) -> None:
        """Add a registry, whose classes' parameters are then of this namespace."""
        self._registries.append(registry)

    def reserve(self, names: Iterable[str]) -> None:
        """Names that no field can have, because something else is called so."""
        self._reserved = frozenset(names)
        self.check(self._all())

    def check(self, fields: Iterable[Field]) -> None:
        """Refuse fields that mean something else already.

        Raises
        ------
        ValueError
            That names the field and who has it.
        """
        known = {field.name: field for field in self._all()}
        for field in fields:
            if field.name in self._reserved:
                raise ValueError(f"a field cannot be called {field.name!r}")
            if known.setdefault(field.name, field) != field:
                raise ValueError(
                    f"{field.name!r} is a field already, and not the same: use that one "
                    f"({known[field.name]!r:.120}) or another name"
                )

    def _all(self) -> list[Field]:
        brought = [f for registry in self._registries for c in registry for f in c.parameters()]
        return [*self._own.values(), *brought]


class WorldParts(Registry[type[C]]):
    """Registered classes of one sort, by key.

    Parameters
    ----------
    what : str
        What a key names, for errors.
    names : Names
        Where their parameters' names must mean one thing.
    """

    def __init__(self, what: str, names: Names) -> None:
        super().__init__(what)
        self._names = names
        names.join(self)

    def register(self, item: type[C]) -> type[C]:
        """Add a class and return it; see `Registry.register`.

        Raises
        ------
        ValueError
            Also if it is no dataclass, lacks what its sort must do, or gives a parameter the name
            of another field.
        """
        missing = sorted(getattr(item, "__abstractmethods__", ()))
        if missing:
            raise ValueError(f"{self.what}: {item.__name__} must define {', '.join(missing)}")
        self._names.check(item.parameters())
        return super().register(item)

    def fields(self) -> tuple[Field, ...]:
        """Parameters of all classes, each once, in the order in which they first come."""
        found = {field.name: field for item in self for field in item.parameters()}
        return tuple(found.values())


#: Names of everything that a scenario holds.
WORLD = Names()
