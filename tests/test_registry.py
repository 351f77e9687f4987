"""One registration: order, refusals, decorators, and registration for a while."""

from dataclasses import dataclass

import pytest

from collab_core._base.registry import Registry


@dataclass(frozen=True)
class Item:
    key: str


def test_items_keep_their_order_and_are_found_by_key():
    registry = Registry[Item]("item")
    first = registry.register(Item("b"))
    second = registry.register(Item("a"))
    assert registry.keys() == ("b", "a")
    assert list(registry) == [first, second]
    assert registry.get("a") is second
    assert "a" in registry
    assert "c" not in registry
    assert ["unhashable"] not in registry
    assert len(registry) == 2
    assert repr(registry) == "Registry(item: b, a)"


def test_an_unknown_key_is_an_error_that_lists_the_known_ones():
    registry = Registry[Item]("item")
    registry.register(Item("b"))
    registry.register(Item("a"))
    for ask in (registry.get, registry.unregister):
        with pytest.raises(ValueError, match="item must be one of b, a; got 'c'"):
            ask("c")


def test_duplicates_and_items_without_a_key_are_refused():
    registry = Registry[Item]("item")
    kept = registry.register(Item("a"))
    with pytest.raises(ValueError, match="item 'a' is registered already"):
        registry.register(Item("a"))
    for bad in (Item(""), Item(3), object()):
        with pytest.raises(ValueError, match="must have a key"):
            registry.register(bad)
    assert list(registry) == [kept]


def test_register_decorates_a_class():
    registry = Registry[type]("kind")

    @registry.register
    class Kind:
        key = "kind"

    assert registry.get("kind") is Kind
    assert registry.unregister("kind") is Kind
    assert not registry.keys()


def test_registered_for_the_length_of_a_block():
    registry = Registry[Item]("item")
    kept = registry.register(Item("a"))

    def fail():
        with registry.registered(Item("b")) as item:
            assert registry.get("b") is item
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list(registry) == [kept]
    with pytest.raises(ValueError, match="already"), registry.registered(Item("a")):
        pass
    assert list(registry) == [kept]
