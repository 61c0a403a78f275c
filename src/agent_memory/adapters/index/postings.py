"""Postings: which notes of a segment have a term, in which field, and how often. One blob a term.

Of each field that has it, in their order: the field and the width of an ordinal (one byte), the number of notes (4 bytes),
their ordinals, ascending (2 or 4 bytes each), and the counts (one byte each). In the machine's byte order: an index is
never moved to another.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_HEADER = struct.Struct("=BI")
_WIDE = 0x80
_NARROW_MOST = 1 << 16


class FieldPostings(NamedTuple):
    """The notes that have a term in one field."""

    field: int
    ordinals: Sequence[int]
    counts: Sequence[int]


def render_postings(fields: Iterable[FieldPostings]) -> bytes:
    """The blob of one term."""
    pieces: list[bytes] = []
    for field, ordinals, counts in fields:
        is_wide = ordinals[-1] >= _NARROW_MOST
        pieces += [
            _HEADER.pack(field | (_WIDE if is_wide else 0), len(ordinals)),
            array("I" if is_wide else "H", ordinals).tobytes(),
            bytes(counts),
        ]
    return b"".join(pieces)


def parse_postings(blob: bytes) -> Iterator[FieldPostings]:
    """The fields of a blob. ValueError or struct.error for one that is damaged."""
    at = 0
    while at < len(blob):
        field, size = _HEADER.unpack_from(blob, at)
        ordinals = array("I" if field & _WIDE else "H")
        start = at + _HEADER.size
        middle = start + size * ordinals.itemsize
        at = middle + size
        if at > len(blob):
            raise ValueError("a blob of postings is cut off")
        ordinals.frombytes(blob[start:middle])
        yield FieldPostings(field & ~_WIDE, ordinals, blob[middle:at])


def note_count(fields: Iterable[FieldPostings], without: frozenset[int] | set[int]) -> int:
    """How many notes have the term in any field, those ordinals left out."""
    lists = [ordinals for _, ordinals, _ in fields]
    if len(lists) == 1 and not without:
        return len(lists[0])
    return len(set[int]().union(*lists) - without)
