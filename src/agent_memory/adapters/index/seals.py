"""Checksums of what the index holds, so that a bit that the disk got wrong is found where it is met, and the index made anew.

Every row has one, of what it holds and of what it is found by. What could be missing unseen is told by a row that must be
there: the segments by a fact, pages and blocks by their segment, the row of a note by the segment that has its number.
CRC-32: quick, and sure to notice any few bits side by side. No defence against who means to deceive: whoever can write
the index can write the notes.
"""

from __future__ import annotations

from _blake2 import blake2b  # `hashlib` loads OpenSSL
from zlib import crc32


class RuinedIndexError(Exception):
    """What the index holds cannot be what was written."""


class OtherLayoutError(RuinedIndexError):
    """The file is whole, for all that we know, but no index as this version writes it."""


def seal(said: str, *runs: bytes) -> int:
    """The checksum of some text and some bytes, one after the other."""
    found = crc32(said.encode("utf-8", "surrogatepass"))
    for run in runs:
        found = crc32(run, found)
    return found


def check(sealed: object, said: str, *runs: bytes) -> None:
    """RuinedIndexError where that is not their checksum."""
    if sealed != seal(said, *runs):
        raise RuinedIndexError


def key_hash(*parts: str) -> int:
    """64 bits that stand for some texts: no two of a store are likely to share them."""
    said = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "little")
