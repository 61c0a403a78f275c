"""Trees of entries, and where ids were, against plain dicts."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from agent_memory.adapters.harness.codex import Copies
from agent_memory.adapters.harness.pi import EntryTree
from agent_memory.adapters.harness.turn_builder import Places

IDS = st.integers(0, 30).map(str)


@settings(max_examples=80)
@given(ids=st.lists(IDS, max_size=60))
def test_a_place_is_that_of_the_newest_with_the_id(ids: list[str]) -> None:
    places = Places()
    assert [places.add(id) for id in ids] == list(range(len(ids)))
    expected = {id: place for place, id in enumerate(ids)}
    assert {id: places.find(id) for id in map(str, range(31))} == {id: expected.get(id) for id in map(str, range(31))}


@settings(max_examples=80)
@given(parents=st.lists(st.integers(0, 30), max_size=30))
def test_the_path_is_what_the_last_entry_grew_from(parents: list[int]) -> None:
    tree = EntryTree()
    chosen = [parent % at if at else None for at, parent in enumerate(parents)]
    for place, parent in enumerate(chosen):
        assert tree.add(str(place), None if parent is None else str(parent)) == place
    expected = set[int]()
    at: int | None = len(chosen) - 1 if chosen else None
    while at is not None:
        expected.add(at)
        at = chosen[at]
    assert {place for place, on_path in enumerate(tree.path()) if on_path} == expected


def test_a_parent_that_is_not_there_is_the_entry_before() -> None:
    tree = EntryTree()
    tree.add("a", None)
    tree.add("b", "lost")
    assert list(tree.path()) == [1, 1]


def test_an_entry_that_is_its_own_parent_ends_the_path() -> None:
    tree = EntryTree()
    tree.add("a", None)
    tree.add("b", "b")
    assert list(tree.path()) == [1, 1]


def test_a_copy_is_of_another_kind() -> None:
    copies = Copies()
    heard = [("go", "event"), ("go ", "record"), ("go", "event"), ("go", "item"), ("go", "record"), ("stop", "record")]
    assert [copies.is_new(text, carrier) for text, carrier in heard] == [True, False, True, False, False, True]
