"""Checksums of what the index holds, so that a bit that the disk got wrong is found where it is met, and the index made anew.

CRC-32: quick, and sure to notice any few bits side by side. No defence against who means to deceive: whoever can write
the index can write the notes.
"""

from __future__ import annotations

from _blake2 import blake2b  # `hashlib` loads OpenSSL
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from zlib import crc32

_HASHES = "Q"
"""Type code (`array`) of hashes: with 64 bits no two terms of a store are likely to share one."""


def seal(said: str, *runs: bytes) -> int:
    """The checksum of some text and some bytes, one after the other."""
    found = crc32(said.encode())
    for run in runs:
        found = crc32(run, found)
    return found


def note_seal(*row: object) -> int:
    """The checksum of what is known of a note: its columns in their order, truths as 0 or 1."""
    return seal("\n".join(map(str, row)))


def render_hashes(terms: Iterable[str]) -> bytes:
    """Which terms there are, as a run of bytes."""
    return array(_HASHES, sorted(parse_hashes(b"".join(map(_hash, terms))))).tobytes()


def parse_hashes(run: bytes) -> array[int]:
    """The hashes in a run. ValueError for one that is cut off."""
    hashes: array[int] = array(_HASHES)
    hashes.frombytes(run)
    return hashes


def is_among(hashes: array[int], term: str) -> bool:
    """Whether a term is one of those, which ascend."""
    (wanted,) = parse_hashes(_hash(term))
    at = bisect_left(hashes, wanted)
    return at < len(hashes) and hashes[at] == wanted


def _hash(term: str) -> bytes:
    return blake2b(term.encode(), digest_size=8).digest()
