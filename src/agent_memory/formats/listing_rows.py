"""The listing cache's content: what was read from each file, as bytes and back. Derived data, may be thrown away any time.

Layout: signature (32 bytes) · pieces of up to 1,000 rows, each its length (4 bytes, little-endian) and marshal of
`{path: row}` · SHA-256 of all before it (32 bytes). The signature stands for this version of the layout, of Python's
marshal and of the values' fields: after an upgrade an old cache is simply not read. The digest is checked first, since
marshal must not be fed damaged bytes. (Marshal because it reads rows in two thirds of the time of JSON, and as tuples;
pickle could run code.)
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from sys import intern
from typing import Any

from agent_memory.digests import sha256
from agent_memory.domain.entry import Listed, Meta, Source, UnreadableFile
from agent_memory.domain.vocabulary import Harness, Importance, Kind, Origin, Sensitivity, Status
from agent_memory.values import field_names, frozen


@frozen
class Row:
    """What was read from one file."""

    known_by: bytes
    """What the file looked like from outside; empty for one that has to be read again whatever it looks like."""
    seen: Listed | UnreadableFile


PackedRow = bytes
"""Marshal of `(known_by, problems)` or of `(known_by, values of the meta, other values…)`: a row takes a fifth of the
memory until it is needed."""

_MARSHAL_VERSION = 2
"""Without references: reading them back takes longer than reading the same text twice."""
_DIGEST_BYTES = 32
_LENGTH_BYTES = 4
_ROWS_A_PIECE = 1_000
_LAYOUT_VERSION = 4

_META = field_names(Meta)
_LISTED = tuple(name for name in field_names(Listed) if name not in ("meta", "path"))
_SOURCE = field_names(Source)

_KIND, _STATUS, _ORIGIN, _IMPORTANCE, _SENSITIVITY, _SCOPE, _TAGS, _SOURCES = (
    _META.index(name) for name in ("kind", "status", "origin", "importance", "sensitivity", "scope", "tags", "sources")
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

_SIGNATURE = sha256(
    repr((_LAYOUT_VERSION, sys.implementation.cache_tag, _META, _LISTED, _SOURCE, _VOCABULARIES, _HARNESSES)).encode()
).digest()


def render_rows(rows: Mapping[str, Row]) -> Iterator[bytes]:
    """The cache's bytes, in pieces that are never all there at once; the keys are paths."""
    import hashlib  # megabytes are hashed several times as fast with OpenSSL, which takes its time to load

    digest = hashlib.sha256(_SIGNATURE)
    yield _SIGNATURE
    left = iter(rows.items())
    while some := {path: _packed(row) for path, row in islice(left, _ROWS_A_PIECE)}:
        piece = marshal.dumps(some, _MARSHAL_VERSION)
        for data in (len(piece).to_bytes(_LENGTH_BYTES, "little"), piece):
            digest.update(data)
            yield data
    yield digest.digest()


def parse_rows(data: bytes) -> dict[str, PackedRow] | None:
    """The rows by path; None for what is damaged or from another version."""
    whole = memoryview(data)
    import hashlib

    end = len(whole) - _DIGEST_BYTES
    if bytes(whole[:_DIGEST_BYTES]) != _SIGNATURE or bytes(whole[end:]) != hashlib.sha256(whole[:end]).digest():
        return None
    rows: dict[str, PackedRow] = {}
    at = _DIGEST_BYTES
    while at < end:
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(whole[at:start], "little")
        rows |= marshal.loads(whole[start:at])
    return rows


def unpack(path: str, packed: PackedRow) -> Row:
    """The row that was packed for this path."""
    known_by, first, *others = marshal.loads(packed)
    if not others:
        return Row(known_by, UnreadableFile(path, first))
    meta = list(first)
    meta[_KIND] = _KINDS[meta[_KIND]]
    meta[_STATUS] = _STATUSES[meta[_STATUS]]
    meta[_ORIGIN] = _ORIGINS[meta[_ORIGIN]]
    meta[_IMPORTANCE] = _IMPORTANCES[meta[_IMPORTANCE]]
    meta[_SENSITIVITY] = _SENSITIVITIES[meta[_SENSITIVITY]]
    # Texts that recur in thousands of entries are kept once.
    meta[_SCOPE] = intern(meta[_SCOPE])
    meta[_TAGS] = tuple(map(intern, meta[_TAGS]))
    sources: tuple[tuple[int, str, str | None, str | None, *tuple[Any, ...]], ...] = meta[_SOURCES]
    meta[_SOURCES] = tuple(
        [
            Source(_HARNESSES[harness], thread_id, repo and intern(repo), cwd and intern(cwd), *rest)
            for harness, thread_id, repo, cwd, *rest in sources
        ]
    )
    return Row(known_by, Listed(Meta(*meta), path, *others))


def _packed(row: Row) -> PackedRow:
    return marshal.dumps((row.known_by, *_values(row.seen)), _MARSHAL_VERSION)


def _values(seen: Listed | UnreadableFile) -> tuple[Any, ...]:
    if isinstance(seen, UnreadableFile):
        return (seen.problems,)
    meta = list(_meta_values(seen.meta))
    for at, members in _VOCABULARIES:
        meta[at] = members.index(meta[at])
    meta[_SOURCES] = tuple(
        (_HARNESSES.index(source.harness), *_source_values(source)[1:]) for source in seen.meta.sources
    )
    return tuple(meta), *_listed_values(seen)
