"""One registration: what can be chosen by a key, in the order in which it is listed.

An item is anything with a ``key``: an object, or a class whose instances are made later. Whatever
is listed, drawn, run or read by key goes through a registry, so that adding an item is one place
and a misspelt key is an error rather than some other item.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from .checks import choice

T = TypeVar("T")


class Registry(Generic[T]):
    """Items by key, in the order of their registration.

    Parameters
    ----------
    what : str
        What a key names, for errors: ``"spectrum"``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> fruits: Registry[SimpleNamespace] = Registry("fruit")
    >>> apple = fruits.register(SimpleNamespace(key="apple"))
    >>> fruits.keys()
    ('apple',)
    >>> fruits.get("aple")
    Traceback (most recent call last):
    ...
    ValueError: fruit must be one of apple; got 'aple'
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._items: dict[str, T] = {}

    def register(self, item: T) -> T:
        """Add an item and return it, so that this also decorates a class.

        Raises
        ------
        ValueError
            If the item has no key, or another has it already.
        """
        key = getattr(item, "key", None)
        if not isinstance(key, str) or not key:
            raise ValueError(f"{self.what}: {item!r} must have a key, a text that is not empty")
        if key in self._items:
            raise ValueError(f"{self.what} {key!r} is registered already, by {self._items[key]!r}")
        self._items[key] = item
        return item

    def unregister(self, key: str) -> T:
        """Take an item out and return it."""
        item = self.get(key)
        del self._items[key]
        return item

    @contextmanager
    def registered(self, item: T) -> Iterator[T]:
        """Register an item for the length of a ``with`` block: for tests and trying out."""
        self.register(item)
        try:
            yield item
        finally:
            self._items.pop(str(getattr(item, "key", None)), None)

    def get(self, key: str) -> T:
        """The item of this key; an unknown one is a ValueError that lists those there are."""
        return self._items[choice(self.what, key, self.keys())]

    def keys(self) -> tuple[str, ...]:
        """All keys, in order."""
        return tuple(self._items)

    def __iter__(self) -> Iterator[T]:
        # Over a copy: what is registered by another thread meanwhile does not end the loop.
        return iter(tuple(self._items.values()))

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Registry({self.what}: {', '.join(self.keys())})"
