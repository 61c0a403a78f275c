"""The listing cache's content: what was read from each file, as bytes and back. Derived data, may be thrown away any time.

Layout: `signature (32 bytes) digest of the rest (32 bytes) marshal of {path: row}`. The signature stands for this version of
the layout, of Python's marshal and of the values' fields: after an upgrade an old cache is simply not read. The digest is
checked first, since marshal must not be fed damaged bytes. (Marshal because it reads 10,000 rows in a tenth of the time of
JSON; pickle could run code.)
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, cast

from attrs import fields, frozen

from agent_memory.domain.entry import Listed, Meta, Source, UnreadableFile
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status

KnownBy = tuple[int, int, int, int]
"""What tells one state of a file from another: `(mtime_ns, ctime_ns, size in bytes, inode)`."""


@frozen
class Row:
    """What was read from one file, and when."""

    known_by: KnownBy
    read_at_ns: int
    seen: Listed | UnreadableFile


PackedRow = tuple[KnownBy, int, tuple[Any, ...]]
"""A row as marshal has it; unpacked only when it is needed."""

_MARSHAL_VERSION = 4
_DIGEST_BYTES = 32
_LAYOUT_VERSION = 1

_META = tuple(field.name for field in fields(Meta))
_LISTED = tuple(field.name for field in fields(Listed) if field.name not in ("meta", "path"))
_SOURCE = tuple(field.name for field in fields(Source))
_HARNESSES = {str(harness): harness for harness in Harness}
_ENUMS: tuple[tuple[int, Mapping[str, Any]], ...] = tuple(
    (_META.index(name), {str(member): member for member in vocabulary})
    for name, vocabulary in (
        ("kind", Kind),
        ("status", Status),
        ("origin", Origin),
        ("importance", Importance),
        ("sensitivity", Sensitivity),
    )
)
_SOURCES_AT = _META.index("sources")
_HARNESS_AT = _SOURCE.index("harness")

_meta_values = attrgetter(*_META)
_listed_values = attrgetter(*_LISTED)
_source_values = attrgetter(*_SOURCE)

_SIGNATURE = hashlib.sha256(
    repr((_LAYOUT_VERSION, sys.implementation.cache_tag, _META, _LISTED, _SOURCE)).encode()
).digest()


def render_rows(rows: Mapping[str, Row]) -> bytes:
    """The cache's bytes; the keys are paths."""
    payload = marshal.dumps({path: _packed(row) for path, row in rows.items()}, _MARSHAL_VERSION)
    return _SIGNATURE + hashlib.sha256(payload).digest() + payload


def parse_rows(data: bytes) -> dict[str, PackedRow] | None:
    """The rows by path; None for what is damaged or from another version."""
    payload = memoryview(data)[2 * _DIGEST_BYTES :]
    if (
        data[:_DIGEST_BYTES] != _SIGNATURE
        or data[_DIGEST_BYTES : 2 * _DIGEST_BYTES] != hashlib.sha256(payload).digest()
    ):
        return None
    return cast("dict[str, PackedRow]", marshal.loads(payload))


def unpack(path: str, packed: PackedRow) -> Row:
    """The row that was packed for this path."""
    known_by, read_at_ns, (first, *rest) = packed
    if not rest:
        return Row(known_by, read_at_ns, UnreadableFile(path, first))
    values = list(first)
    for at, members in _ENUMS:
        values[at] = members[values[at]]
    if values[_SOURCES_AT]:
        values[_SOURCES_AT] = tuple(map(_source, values[_SOURCES_AT]))
    return Row(known_by, read_at_ns, Listed(Meta(*values), path, *rest))


def _packed(row: Row) -> PackedRow:
    seen = row.seen
    if isinstance(seen, UnreadableFile):
        return row.known_by, row.read_at_ns, (seen.problems,)
    values = list(_meta_values(seen.meta))
    for at, _ in _ENUMS:
        values[at] = str(values[at])
    values[_SOURCES_AT] = tuple(_packed_source(source) for source in seen.meta.sources)
    return row.known_by, row.read_at_ns, (tuple(values), *_listed_values(seen))


def _packed_source(source: Source) -> tuple[Any, ...]:
    values = list(_source_values(source))
    values[_HARNESS_AT] = str(source.harness)
    return tuple(values)


def _source(values: tuple[Any, ...]) -> Source:
    mutable = list(values)
    mutable[_HARNESS_AT] = _HARNESSES[mutable[_HARNESS_AT]]
    return Source(*mutable)
