"""Entries of a listing as columns, in pieces: packed, and unpacked one by one, all at once, or a single column of all.

Columns because they are read in a third of the time of rows, and because most questions are about one of them; marshal
because it is read in two thirds of the time of JSON, and as tuples (pickle could run code).
"""

from __future__ import annotations

import marshal
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate, chain, groupby
from operator import attrgetter
from sys import intern
from typing import Any

from agent_memory.domain.entry import Listed, Meta, Source
from agent_memory.domain.packed_entries import Postings
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.formats.listing_columns import Column, packed_column, packed_groups, unpacked_column, unpacked_groups
from agent_memory.formats.packed_terms import TERMS_FORM, unpacked_terms
from agent_memory.garbage import keeping_all, kept_for_good
from agent_memory.values import field_names

Piece = tuple[int, int, dict[str, memoryview | bytes]]
"""How many entries, how many sources they have together, and each column as marshal has it."""

_MARSHAL_VERSION = 4

_META = tuple(f"meta.{name}" for name in field_names(Meta) if name != "sources")
_LISTED = tuple(name for name in field_names(Listed) if name != "meta")
_SOURCE = field_names(Source)
_PATH, _ID = "path", "meta.id"
_OF_SOURCES = {"meta.thread_ids": "thread_id", "meta.turns": "turns"}
"""What `Meta` says of all sources of an entry, and the field of each of them."""
_SOURCES = "sources"
"""How many each entry has."""

_RECURRING = frozenset({"meta.tags", "meta.scope", "meta.promoted_by", "repo", "cwd", "agent"})
"""Texts that are interned, since they recur in thousands of entries. Marshal writes such a text once a column, and interns what
it reads of it."""
_VOCABULARIES: Mapping[str, tuple[StrEnum, ...]] = {
    "meta.kind": tuple(Kind),
    "meta.status": tuple(Status),
    "meta.origin": tuple(Origin),
    "meta.importance": tuple(Importance),
    "meta.sensitivity": tuple(Sensitivity),
    "harness": tuple(Harness),
}

FORM = repr((_META, _LISTED, _SOURCE, _VOCABULARIES, TERMS_FORM))
"""What pieces and terms depend on."""


def packed_piece(entries: Sequence[Listed]) -> Piece:
    """These entries, as marshal can write them."""
    lengths, sources = packed_groups([each.meta.sources for each in entries])
    columns = {name: _packed_field(entries, name) for name in (*_META, *_LISTED)}
    columns |= {name: _packed_field(sources, name) for name in _SOURCE}
    return (
        len(entries),
        len(sources),
        {_SOURCES: _dumped(lengths), **{name: _dumped(each) for name, each in columns.items()}},
    )


class PackedTable:
    """`Packed` over pieces, one after the other; `terms` are those of all of them (`packed_terms`)."""

    def __init__(self, pieces: Iterable[Piece], terms: bytes) -> None:
        self._terms = terms
        self._pieces = [_Unpacker(each) for each in pieces]
        self._ends = list(accumulate(each.count for each in self._pieces))
        self._made: dict[int, Listed] = {}
        self._entries: list[Listed] | None = None
        self._ids: Sequence[str] | None = None
        """Kept, since nearly every question names notes by them."""
        self.paths = [path for each in self._pieces for path in each.paths]
        """Of all, by number."""

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def entry(self, number: int) -> Listed:
        """See the port."""
        return self.several((number,))[0]

    def several(self, numbers: Sequence[int]) -> Sequence[Listed]:
        """See the port."""
        if self._entries is not None:
            return [self._entries[number] for number in numbers]
        missing = sorted(number for number in numbers if number not in self._made)
        for at, some in groupby(missing, key=lambda number: bisect_right(self._ends, number)):
            piece, wanted = self._pieces[at], list(some)
            before = self._ends[at] - piece.count
            self._made.update(zip(wanted, piece.several([number - before for number in wanted]), strict=True))
        return [self._made[number] for number in numbers]

    def entries(self) -> Sequence[Listed]:
        """See the port. From then on nothing is packed any more but the terms."""
        if self._entries is None:
            entries: list[Listed] = []
            with keeping_all():
                self._pieces.reverse()
                while self._pieces:  # each is let go of when it is unpacked
                    entries += self._pieces.pop().several(None)
            kept_for_good()
            for number, made in self._made.items():
                entries[number] = made
            self._entries, self._made = entries, {}
        return self._entries

    def column(self, field: str) -> Sequence[Any]:
        """See the port."""
        if self._entries is not None:
            return list(map(attrgetter(field), self._entries))
        if field != _ID:
            return self._unpacked(field)
        if self._ids is None:
            self._ids = self._unpacked(field)
        return self._ids

    def postings(self, terms: frozenset[str] | None) -> Postings:
        """See the port."""
        return unpacked_terms(self._terms, terms)

    def _unpacked(self, field: str) -> Sequence[Any]:
        return list(chain.from_iterable(each.column(field) for each in self._pieces))


class _Unpacker:
    """Of one piece."""

    def __init__(self, piece: Piece) -> None:
        self.count, self._source_count, self._columns = piece
        self.paths = list(unpacked_column(marshal.loads(self._columns.pop(_PATH)), self.count))
        """The same objects wherever they are asked for: those of 50,000 notes are ten megabytes."""

    def column(self, name: str) -> Iterable[Any]:
        if name == _PATH:
            return self.paths
        if name in _OF_SOURCES:
            return self._grouped(self._source_column(_OF_SOURCES[name]))
        return unpacked_column(marshal.loads(self._columns[name]), self.count, _unpacking(name))

    def several(self, places: Sequence[int] | None) -> Iterable[Listed]:
        """Those at these places; None: all."""

        def wanted(column: Iterable[Any]) -> Iterable[Any]:
            return column if places is None else map(list(column).__getitem__, places)

        sources = wanted(self._grouped(map(Source, *map(self._source_column, _SOURCE))))
        metas = map(Meta, *(wanted(self.column(name)) for name in _META), sources)
        return map(Listed, metas, *(wanted(self.column(name)) for name in _LISTED))

    def _grouped(self, of_sources: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
        return unpacked_groups(marshal.loads(self._columns[_SOURCES]), self.count, of_sources)

    def _source_column(self, name: str) -> Iterable[Any]:
        return unpacked_column(marshal.loads(self._columns[name]), self._source_count, _unpacking(name))


def _dumped(column: Column) -> bytes:
    return marshal.dumps(column, _MARSHAL_VERSION)


def _packed_field(values: Sequence[Any], name: str) -> Column:
    packing = _packing(name)
    known = list(map(attrgetter(name), values))
    return packed_column(known if packing is None else list(map(packing, known)))


def _packing(name: str) -> Callable[[Any], Any] | None:
    if name in _RECURRING:
        return _interned
    vocabulary = _VOCABULARIES.get(name)
    return None if vocabulary is None else vocabulary.index


def _unpacking(name: str) -> Callable[[Any], Any] | None:
    vocabulary = _VOCABULARIES.get(name)
    return None if vocabulary is None else vocabulary.__getitem__


def _interned(value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
    if isinstance(value, tuple):
        return tuple(map(intern, value))
    return None if value is None else intern(value)
