"""The listing cache's content: what was read from each file, as bytes and back. Derived data, may be thrown away any time.

Layout: signature (32 bytes) · pieces of up to 4,000 rows, each its length (4 bytes, little-endian), SHA-256 (32 bytes) and marshal
of columns · an empty length · SHA-256 of the signature and of all these digests (32 bytes). The signature stands for this version
of the layout, of Python's marshal and of the values' fields: after an upgrade an old cache is simply not read. A digest is checked
first, since marshal must not be fed damaged bytes. One piece is in memory at a time: the values of all are enough. (Marshal
because it is read in two thirds of the time of JSON, and as tuples; pickle could run code. Columns because they are read in a
third of the time of rows.)
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from sys import intern
from typing import Any

from agent_memory.digests import sha256
from agent_memory.domain.entry import Listed, Meta, Source, UnreadableFile
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.formats.listing_columns import Column, packed_column, packed_groups, unpacked_column, unpacked_groups
from agent_memory.values import field_names, frozen

NEVER = -1
"""How no file looks, since nothing has this hash."""
Seen = Listed | UnreadableFile
"""What is known of one file of a shelf."""


@frozen
class Rows:
    """What was read from the files of one shelf, by path: both of the same files."""

    looks: Mapping[str, int]
    """How each looked from outside; `NEVER` for one that has to be read again whatever it looks like."""
    seen: Mapping[str, Seen]


_MARSHAL_VERSION = 4
_DIGEST_BYTES = 32
_LENGTH_BYTES = 4
_ROWS_A_PIECE = 4_000
_LAYOUT_VERSION = 6

_META = tuple(name for name in field_names(Meta) if name != "sources")
_LISTED = tuple(name for name in field_names(Listed) if name not in ("meta", "path"))
_SOURCE = field_names(Source)

_RECURRING = frozenset({"tags", "scope", "promoted_by", "repo", "cwd", "agent"})
"""Texts that are interned, since they recur in thousands of entries. Marshal writes such a text once a piece, and interns what it
reads of it."""
_VOCABULARIES: Mapping[str, tuple[StrEnum, ...]] = {
    "kind": tuple(Kind),
    "status": tuple(Status),
    "origin": tuple(Origin),
    "importance": tuple(Importance),
    "sensitivity": tuple(Sensitivity),
    "harness": tuple(Harness),
}

_SIGNATURE = sha256(
    repr((_LAYOUT_VERSION, sys.implementation.cache_tag, field_names(Meta), _LISTED, _SOURCE, _VOCABULARIES)).encode()
).digest()


def render_rows(rows: Rows) -> Iterator[bytes]:
    """The cache's bytes, in pieces that are never all there at once. By path, as a listing has them: whoever goes through
    fifty thousand values in the order in which they were made takes half the time."""
    import hashlib  # megabytes are hashed several times as fast with OpenSSL, which takes its time to load

    every = hashlib.sha256(_SIGNATURE)
    yield _SIGNATURE
    left = iter(sorted(rows.seen))
    while some := [rows.seen[path] for path in islice(left, _ROWS_A_PIECE)]:
        piece = marshal.dumps(_packed(some, rows.looks), _MARSHAL_VERSION)
        digest = hashlib.sha256(piece).digest()
        every.update(digest)
        yield len(piece).to_bytes(_LENGTH_BYTES, "little") + digest
        yield piece
    yield bytes(_LENGTH_BYTES) + every.digest()


def parse_rows(read: Callable[[int], bytes], size_bytes: int) -> Rows | None:
    """The rows; None for what is damaged or from another version. `read` gives so many of the next bytes, fewer at the end;
    `size_bytes` is how many there are."""
    import hashlib

    every = hashlib.sha256(_SIGNATURE)
    if read(_DIGEST_BYTES) != _SIGNATURE:
        return None
    looks: dict[str, int] = {}
    seen: dict[str, Seen] = {}
    while length := int.from_bytes(read(_LENGTH_BYTES), "little"):
        digest, piece = read(_DIGEST_BYTES), read(min(length, size_bytes))
        if hashlib.sha256(piece).digest() != digest:
            return None
        every.update(digest)
        _unpack(marshal.loads(piece), looks, seen)
    is_whole = read(_DIGEST_BYTES) == every.digest() and not read(1)
    return Rows(looks, seen) if is_whole else None


def _packed(some: Sequence[Seen], looks: Mapping[str, int]) -> tuple[Any, ...]:
    entries = [each for each in some if isinstance(each, Listed)]
    others = [each for each in some if isinstance(each, UnreadableFile)]
    metas = [each.meta for each in entries]
    lengths, sources = packed_groups([meta.sources for meta in metas])
    return (
        *_paths_and_looks(entries, looks),
        _packed_fields(metas, _META),
        lengths,
        _packed_fields(sources, _SOURCE),
        len(sources),
        _packed_fields(entries, _LISTED),
        *_paths_and_looks(others, looks),
        [each.problems for each in others],
    )


def _unpack(piece: tuple[Any, ...], looks: dict[str, int], seen: dict[str, Seen]) -> None:
    """Adds the rows of a piece."""
    paths, known, metas, lengths, sources, source_count, listed, other_paths, other_known, problems = piece
    count = len(paths)
    groups = unpacked_groups(lengths, count, map(Source, *_unpacked_fields(sources, _SOURCE, source_count)))
    entries = map(
        Listed,
        map(Meta, *_unpacked_fields(metas, _META, count), groups),
        paths,
        *_unpacked_fields(listed, _LISTED, count),
    )
    seen.update(zip(paths, entries, strict=True))
    looks.update(zip(paths, known, strict=True))
    seen.update(zip(other_paths, map(UnreadableFile, other_paths, problems), strict=True))
    looks.update(zip(other_paths, other_known, strict=True))


def _paths_and_looks(some: Sequence[Seen], looks: Mapping[str, int]) -> tuple[list[str], list[int]]:
    paths = [each.path for each in some]
    return paths, [looks[path] for path in paths]


def _packed_fields(values: Sequence[Any], names: Iterable[str]) -> list[Any]:
    return [_packed_field(list(map(attrgetter(name), values)), _packing(name)) for name in names]


def _packed_field(values: Sequence[Any], packing: Callable[[Any], Any] | None) -> Column:
    return packed_column(values if packing is None else list(map(packing, values)))


def _unpacked_fields(columns: Iterable[Any], names: Iterable[str], count: int) -> list[Iterable[Any]]:
    return [unpacked_column(column, count, _unpacking(name)) for column, name in zip(columns, names, strict=True)]


def _packing(name: str) -> Callable[[Any], Any] | None:
    return _interned if name in _RECURRING else _vocabulary_place(name)


def _vocabulary_place(name: str) -> Callable[[Any], int] | None:
    vocabulary = _VOCABULARIES.get(name)
    return None if vocabulary is None else vocabulary.index


def _unpacking(name: str) -> Callable[[Any], Any] | None:
    vocabulary = _VOCABULARIES.get(name)
    return None if vocabulary is None else vocabulary.__getitem__


def _interned(value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
    if isinstance(value, tuple):
        return tuple(map(intern, value))
    return None if value is None else intern(value)
