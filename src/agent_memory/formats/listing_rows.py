"""The listing cache's content: what was read from each file, as bytes and back. Derived data, may be thrown away any time.

Layout: `signature (32 bytes) digest of the rest (32 bytes) marshal of {path: row}`. The signature stands for this version of
the layout, of Python's marshal and of the values' fields: after an upgrade an old cache is simply not read. The digest is
checked first, since marshal must not be fed damaged bytes. (Marshal because it reads rows in two thirds of the time of JSON,
and as tuples; pickle could run code.)
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, cast

from attrs import fields, frozen

from agent_memory.domain.entry import Listed, Meta, Source, UnreadableFile
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status


@frozen
class Row:
    """What was read from one file."""

    known_by: bytes
    """What the file looked like from outside; empty for one that has to be read again whatever it looks like."""
    seen: Listed | UnreadableFile


PackedRow = tuple[Any, ...]
"""A row as marshal has it, `(known_by, problems)` or `(known_by, values of the meta, other values…)`."""

_MARSHAL_VERSION = 2
"""Without references: reading them back takes longer than reading the same text twice."""
_DIGEST_BYTES = 32
_LAYOUT_VERSION = 2

_META = tuple(field.name for field in fields(Meta))
_LISTED = tuple(field.name for field in fields(Listed) if field.name not in ("meta", "path"))
_SOURCE = tuple(field.name for field in fields(Source))

_KIND, _STATUS, _ORIGIN, _IMPORTANCE, _SENSITIVITY, _SOURCES = (
    _META.index(name) for name in ("kind", "status", "origin", "importance", "sensitivity", "sources")
)
_KINDS, _STATUSES, _ORIGINS = tuple(Kind), tuple(Status), tuple(Origin)
_IMPORTANCES, _SENSITIVITIES, _HARNESSES = tuple(Importance), tuple(Sensitivity), tuple(Harness)
_VOCABULARIES: tuple[tuple[int, tuple[StrEnum, ...]], ...] = (
    (_KIND, _KINDS),
    (_STATUS, _STATUSES),
    (_ORIGIN, _ORIGINS),
    (_IMPORTANCE, _IMPORTANCES),
    (_SENSITIVITY, _SENSITIVITIES),
)

_meta_values = attrgetter(*_META)
_listed_values = attrgetter(*_LISTED)
_source_values = attrgetter(*_SOURCE)

_SIGNATURE = hashlib.sha256(
    repr((_LAYOUT_VERSION, sys.implementation.cache_tag, _META, _LISTED, _SOURCE, _VOCABULARIES, _HARNESSES)).encode()
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
    known_by, first, *others = packed
    if not others:
        return Row(known_by, UnreadableFile(path, first))
    meta = list(first)
    meta[_KIND] = _KINDS[meta[_KIND]]
    meta[_STATUS] = _STATUSES[meta[_STATUS]]
    meta[_ORIGIN] = _ORIGINS[meta[_ORIGIN]]
    meta[_IMPORTANCE] = _IMPORTANCES[meta[_IMPORTANCE]]
    meta[_SENSITIVITY] = _SENSITIVITIES[meta[_SENSITIVITY]]
    meta[_SOURCES] = tuple([Source(_HARNESSES[harness], *rest) for harness, *rest in meta[_SOURCES]])
    return Row(known_by, Listed(Meta(*meta), path, *others))


def _packed(row: Row) -> PackedRow:
    seen = row.seen
    if isinstance(seen, UnreadableFile):
        return row.known_by, seen.problems
    meta = list(_meta_values(seen.meta))
    for at, members in _VOCABULARIES:
        meta[at] = members.index(meta[at])
    meta[_SOURCES] = tuple(
        (_HARNESSES.index(source.harness), *_source_values(source)[1:]) for source in seen.meta.sources
    )
    return row.known_by, tuple(meta), *_listed_values(seen)
