"""The pieces of words in a form in which a few are found without all of them being read: sorted, one after the other.

Layout: CRC-32 of all that follows and of what the table comes from (4 bytes) · how many pieces there are (4) · where each
begins, and where the last ends (4 each) · their numbers (4 each) · the pieces in UTF-8. All in the byte order of the machine,
for which the CRC stands too. Derived data: a table that is damaged, or of something else, is made anew.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from zlib import crc32

_LAYOUT = "pieces 1"
_WORD = 4
_HEAD_BYTES = 2 * _WORD


_FEW_LOOKUPS = 2_000
"""So many take as long as to read all pieces."""


class PieceTable:
    """A vocabulary to look pieces up in: one by one, and all at once after many."""

    def __init__(self, starts: memoryview[int], numbers: memoryview[int], text: bytes) -> None:
        self._starts, self._numbers, self._text = starts, numbers, text
        self._lookups = 0
        self._every: dict[str, int] | None = None

    def get(self, piece: str, /) -> int | None:
        """The number of a piece; None for what is none."""
        if self._every is None:
            self._lookups += 1
            if self._lookups <= _FEW_LOOKUPS:
                return self._looked_up(piece)
            pieces = (self._piece(at).decode("utf-8", "surrogatepass") for at in range(len(self._numbers)))
            self._every = dict(zip(pieces, self._numbers, strict=True))
        return self._every.get(piece)

    def _looked_up(self, piece: str) -> int | None:
        wanted = piece.encode("utf-8", "surrogatepass")
        at = bisect_left(range(len(self._numbers)), wanted, key=self._piece)
        return self._numbers[at] if at < len(self._numbers) and self._piece(at) == wanted else None

    def _piece(self, at: int) -> bytes:
        return self._text[self._starts[at] : self._starts[at + 1]]


def render_piece_table(vocabulary: Mapping[str, int], source: str) -> bytes:
    """The table's bytes. `source` is what the vocabulary comes from: of another, another table is made."""
    pieces = sorted((piece.encode("utf-8", "surrogatepass"), number) for piece, number in vocabulary.items())
    starts = array("I", accumulate(map(len, (piece for piece, _ in pieces)), initial=0))
    numbers = array("I", (number for _, number in pieces))
    text = b"".join([piece for piece, _ in pieces])
    rest = array("I", [len(pieces)]).tobytes() + starts.tobytes() + numbers.tobytes() + text
    return array("I", [_checksum(rest, source)]).tobytes() + rest


def parse_piece_table(data: bytes, source: str) -> PieceTable | None:
    """The table; None of what is damaged or comes from something else."""
    view = memoryview(data)
    if len(view) < _HEAD_BYTES:
        return None
    checksum, count = view[:_HEAD_BYTES].cast("I")
    if checksum != _checksum(view[_WORD:], source):
        return None
    starts_end = _HEAD_BYTES + (count + 1) * _WORD
    numbers_end = starts_end + count * _WORD
    starts = view[_HEAD_BYTES:starts_end].cast("I")
    return PieceTable(starts, view[starts_end:numbers_end].cast("I"), data[numbers_end:])


def _checksum(rest: bytes | memoryview, source: str) -> int:
    said = f"{_LAYOUT} {sys.byteorder} {source}".encode("utf-8", "surrogatepass")
    return crc32(rest, crc32(said))
