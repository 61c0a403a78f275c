"""Entries of which each is unpacked when it is first asked for: of a large store hardly anybody wants to know all of all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, count, repeat
from operator import attrgetter, is_not
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, cast, overload

from agent_memory.values import frozen

if TYPE_CHECKING:
    from agent_memory.domain.entry import Listed

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)


_FEW = 16
"""Of fewer than one in so many only these are unpacked."""
_AT_ONCE = 64
"""So many are unpacked together for who may stop after any."""
NOT_PACKED = -1
"""In the place of the number of an entry that has none."""


@frozen
class Postings:
    """Which of some entries are about which of some terms (`about_terms`)."""

    places: Mapping[str, Sequence[int]]
    """By term, for those that any entry has: the places of the entries that have it, each once, in no order."""
    counts: Sequence[int]
    """How many terms each entry has in all."""


class Packed(Protocol[Value_co]):
    """Entries, packed, by their numbers from 0 on."""

    @property
    def paths(self) -> Sequence[str]:
        """Of all, by number: always the same objects."""
        ...

    def __len__(self) -> int: ...

    def entry(self, number: int) -> Value_co:
        """One of them: the same object each time."""
        ...

    def several(self, numbers: Sequence[int]) -> Sequence[Value_co]:
        """Those with these numbers: much less work than one after the other."""
        ...

    def entries(self) -> Sequence[Value_co]:
        """All of them."""
        ...

    def column(self, field: str) -> Sequence[Any]:
        """What all have in this field of `Listed`, or of its `meta`: `path`, `meta.id`."""
        ...

    def postings(self, terms: frozenset[str] | None) -> Postings:
        """Which are about which of these terms, by number; None: of all terms."""
        ...


class _Nothing:
    """`Packed` of no entries."""

    paths: Sequence[str] = ()

    def __len__(self) -> int:
        return 0

    def entry(self, number: int) -> NoReturn:
        raise IndexError(number)

    def several(self, numbers: Sequence[int]) -> Sequence[NoReturn]:
        return ()

    def entries(self) -> Sequence[NoReturn]:
        return ()

    def column(self, field: str) -> Sequence[Any]:
        return ()

    def postings(self, terms: frozenset[str] | None) -> Postings:
        return Postings({}, ())


NOTHING = _Nothing()
"""For where all is unpacked."""


class Unpacking(Mapping[str, Value]):
    """Values by a key. `rows` has them, or in the place of an entry that is packed its number."""

    __slots__ = ("packed", "rows")

    def __init__(self, rows: dict[str, Value | int], packed: Packed[Value]) -> None:
        self.rows = rows
        self.packed = packed

    def __getitem__(self, key: str) -> Value:
        row = self.rows[key]
        return self.packed.entry(row) if isinstance(row, int) else row

    def __contains__(self, key: object) -> bool:
        return key in self.rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class Entries(Sequence["Listed"]):
    """Entries in an order. `rows` has them, or in the place of one that is packed its number."""

    __slots__ = ("_numbered", "packed", "rows")

    def __init__(self, rows: Sequence[Listed | int], packed: Packed[Listed]) -> None:
        self.rows = rows
        self.packed = packed
        self._numbered: tuple[Sequence[int], Sequence[int]] | None = None

    @property
    def numbered(self) -> tuple[Sequence[int], Sequence[int]]:
        """The number of each, `NOT_PACKED` where it has none; and in which places these are."""
        if self._numbered is None:
            unpacked_at = list(compress(count(), map(is_not, map(type, self.rows), repeat(int))))
            numbers = list(self.rows)
            for at in unpacked_at:
                numbers[at] = NOT_PACKED
            self._numbered = cast("list[int]", numbers), unpacked_at
        return self._numbered

    @overload
    def __getitem__(self, at: int) -> Listed: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Listed]: ...
    def __getitem__(self, at: int | slice) -> Listed | Sequence[Listed]:
        if isinstance(at, slice):
            return Entries(self.rows[at], self.packed)
        row = self.rows[at]
        return self.packed.entry(row) if isinstance(row, int) else row

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Listed]:
        if len(self.rows) * _FEW < len(self.packed):
            self.packed.several([row for row in self.rows if isinstance(row, int)])
            return map(self.__getitem__, range(len(self.rows)))
        entries = self.packed.entries()
        return (entries[row] if isinstance(row, int) else row for row in self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entries | tuple) and tuple(self) == tuple(cast("Sequence[object]", other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def path_of(entries: Unpacking[Listed], key: str) -> str | None:
    """The path of the entry by this key, which is not unpacked for it."""
    row = entries.rows.get(key)
    return entries.packed.paths[row] if isinstance(row, int) else None if row is None else row.path


def unpacking(values: Mapping[str, Value]) -> Unpacking[Value]:
    """The same, to be changed: a copy."""
    if isinstance(values, Unpacking):
        return Unpacking({**values.rows}, values.packed)
    return Unpacking({**values}, NOTHING)


def unpacked(values: Mapping[str, Value]) -> dict[str, Value]:
    """The same, all unpacked: nothing packed is held on to."""
    if not isinstance(values, Unpacking):
        return {**values}
    entries = values.packed.entries()
    return {key: entries[row] if isinstance(row, int) else row for key, row in values.rows.items()}


def rows_of(entries: Sequence[Listed]) -> tuple[list[Listed | int], Packed[Listed]]:
    """Each of these, or its number where it is packed, and what it is packed in."""
    return (list(entries.rows), entries.packed) if isinstance(entries, Entries) else (list(entries), NOTHING)


def values_of(entries: Mapping[str, Listed]) -> Sequence[Listed]:
    """The values, as packed as they are."""
    if not isinstance(entries, Unpacking):
        return tuple(entries.values())
    return Entries(list(entries.rows.values()), entries.packed)


def chosen(entries: Sequence[Listed], which: Iterable[object]) -> Sequence[Listed]:
    """Those of these for which the one in the same place is true, as packed as they are."""
    rows, packed = rows_of(entries)
    return Entries(list(compress(rows, which)), packed)


def with_others(entries: Sequence[Listed], others: Mapping[int, Listed | None]) -> Sequence[Listed]:
    """With others in some places, or without what is there."""
    if not others:
        return entries
    rows, packed = rows_of(entries)
    now = (others.get(place, row) for place, row in enumerate(rows))
    return Entries([row for row in now if row is not None], packed)


def with_more(entries: Sequence[Listed], others: Iterable[Listed]) -> Sequence[Listed]:
    """With others after them."""
    rows, packed = rows_of(entries)
    return Entries([*rows, *others], packed)


def one_by_one(entries: Sequence[Listed]) -> Iterator[Listed]:
    """All of these, for whoever stops after some: those after them are not unpacked."""
    for at in range(0, len(entries), _AT_ONCE):
        yield from entries[at : at + _AT_ONCE]


def in_order(entries: Sequence[Listed], places: Iterable[int]) -> Sequence[Listed]:
    """Those of these in the places, one after the other, as packed as they are."""
    rows, packed = rows_of(entries)
    return Entries(list(map(rows.__getitem__, places)), packed)


def column_of(entries: Sequence[Listed], field: str) -> list[Any]:
    """What each of these has in a field (see `Packed.column`): of those that are packed without unpacking them."""
    value = attrgetter(field)
    if not isinstance(entries, Entries):
        return list(map(value, entries))
    if not len(entries.packed):
        return list(map(value, cast("Sequence[Listed]", entries.rows)))
    numbers, unpacked_at = entries.numbered
    column = list(map(entries.packed.column(field).__getitem__, numbers))
    for at in unpacked_at:
        column[at] = value(entries.rows[at])
    return column
