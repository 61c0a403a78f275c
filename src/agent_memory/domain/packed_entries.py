"""What is asked of many entries at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_memory.domain.entry import Listed


def values_of(entries: Mapping[str, Listed]) -> Sequence[Listed]:
    """The values."""
    return tuple(entries.values())


def chosen(entries: Sequence[Listed], which: Iterable[object]) -> Sequence[Listed]:
    """Those of these for which the one in the same place is true."""
    return tuple(compress(entries, which))


def with_others(entries: Sequence[Listed], others: Mapping[int, Listed | None]) -> Sequence[Listed]:
    """With others in some places, or without what is there."""
    now = (others.get(place, each) for place, each in enumerate(entries))
    return tuple(each for each in now if each is not None)


def with_more(entries: Sequence[Listed], others: Iterable[Listed]) -> Sequence[Listed]:
    """With others after them."""
    return (*entries, *others)


def one_by_one(entries: Sequence[Listed]) -> Iterator[Listed]:
    """All of these."""
    return iter(entries)


def in_order(entries: Sequence[Listed], places: Iterable[int]) -> Sequence[Listed]:
    """Those of these in the places, one after the other."""
    return tuple(entries[place] for place in places)


def column_of(entries: Sequence[Listed], field: str) -> list[Any]:
    """What each of these has in a field."""
    return list(map(attrgetter(field), entries))
