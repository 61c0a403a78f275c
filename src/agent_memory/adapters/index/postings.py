"""Postings: which notes of a segment have a term, and how often in each field. One blob a term.

The notes that have a term equally often in each field are a *group*: their score depends on nothing but the lengths of
their fields, and most notes that have a word have it once, in the body. Of each group, in the order of their counts: the
counts by field (one byte each), the number of notes (4 bytes), and their ordinals, ascending (2 bytes each in a segment of
up to 65,536 notes, else 4). In the machine's byte order: an index is never moved to another.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Iterable
from typing import NamedTuple

from agent_memory.adapters.index.seals import RuinedIndexError, seal
from agent_memory.domain.searching.matching import FIELDS

_HEADER = struct.Struct(f"={len(FIELDS)}sI")
_NARROW_MOST = 1 << 16
_LITTLE_END = sys.byteorder == "little"


class Group(NamedTuple):
    """The notes of a segment that have a term equally often in each field."""

    counts: bytes
    """By field."""
    ordinals: array[int]


def width_of(notes: int) -> str:
    """The type code (`array`) of ordinals in a segment of so many notes."""
    return "H" if notes <= _NARROW_MOST else "I"


def render_ones(width: str) -> Callable[[bytes, int, int], bytes]:
    """What renders a group of one note, as most are in a small segment: its counts, 1, and its ordinal."""
    return struct.Struct(f"{_HEADER.format}{width}").pack


def render_group(counts: bytes, ordinals: array[int]) -> bytes:
    """One group; those of a term, one after the other by their counts, are its blob."""
    return _HEADER.pack(counts, len(ordinals)) + ordinals.tobytes()


def postings_row(segment: int, term: str, df: int, grouped: bytes) -> tuple[int, str, int, int, bytes]:
    """The row of a term's postings in a segment."""
    return segment, term, df, seal(f"{segment} {df} {term}", grouped), grouped


def check_postings(segment: int, term: str, df: int, sealed: int, grouped: bytes) -> None:
    """RuinedIndexError for a row that is not as it was written."""
    if sealed != seal(f"{segment} {df} {term}", grouped):
        raise RuinedIndexError


def parse_postings(blob: bytes, width: str) -> list[Group]:
    """The groups of a blob. ValueError or struct.error for one that is damaged."""
    at, found = 0, list[Group]()
    while at < len(blob):
        counts, size = _HEADER.unpack_from(blob, at)
        ordinals: array[int] = array(width)
        start = at + _HEADER.size
        at = start + size * ordinals.itemsize
        if at > len(blob):
            raise ValueError("a blob of postings is cut off")
        ordinals.frombytes(blob[start:at])
        found.append(Group(counts, ordinals))
    return found


def live_count(groups: Iterable[Group], gone: frozenset[int]) -> int:
    """How many notes have the term, those ordinals left out."""
    return sum(len(ordinals) - len(gone.intersection(ordinals)) if gone else len(ordinals) for _, ordinals in groups)


def moved(ordinals: array[int], by: int, width: str) -> array[int]:
    """All ordinals moved by as much, to where there is room for them."""
    wide = ordinals if ordinals.typecode == width else array(width, ordinals)
    if not by:
        return wide
    if not _LITTLE_END:
        return array(width, [ordinal + by for ordinal in wide])
    # As one large integer, whose digits are the ordinals: several times faster than one by one.
    run = wide.tobytes()
    ones = int.from_bytes((b"\1" + bytes(wide.itemsize - 1)) * len(wide), "little")
    found: array[int] = array(width)
    found.frombytes((int.from_bytes(run, "little") + ones * by).to_bytes(len(run), "little"))
    return found
