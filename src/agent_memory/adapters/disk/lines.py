"""The lines of a file of any size, in bounded memory (P25)."""

from __future__ import annotations

import os
from collections.abc import Iterator

from attrs import frozen

MAX_LINE_BYTES = 16 * 1024 * 1024

_CHUNK_BYTES = 256 * 1024


@frozen
class Line:
    """One line without its line end. `finished` is False for a last line that has no line end (yet)."""

    data: bytes | bytearray
    finished: bool = True


@frozen
class LongLine:
    """A line longer than allowed, which was skipped."""

    size_bytes: int


def read_lines(
    descriptor: int,
    size_bytes: int,
    max_line_bytes: int = MAX_LINE_BYTES,
    chunk_bytes: int = _CHUNK_BYTES,
    *,
    keep_empty: bool = False,
) -> Iterator[Line | LongLine]:
    """The lines in the next `size_bytes` bytes of an open file; empty ones are left out unless `keep_empty`.

    A file that grows meanwhile is read as it was when `size_bytes` was taken. Holds one line and one chunk at a time.
    Raises OSError where a read fails.
    """
    held = bytearray()
    held_bytes = 0
    """Of the line so far, whether held or skipped."""
    while size_bytes > 0 and (chunk := os.read(descriptor, min(chunk_bytes, size_bytes))):
        size_bytes -= len(chunk)
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if held_bytes:
                held_bytes += end - start
                if held_bytes <= max_line_bytes:
                    held += memoryview(chunk)[start:end]
                    yield Line(held)
                else:
                    yield LongLine(held_bytes)
                held, held_bytes = bytearray(), 0
            elif end - start > max_line_bytes:
                yield LongLine(end - start)
            elif end > start or keep_empty:
                yield Line(chunk[start:end])
            start = end + 1
        held_bytes += len(chunk) - start
        if held_bytes <= max_line_bytes:
            held += memoryview(chunk)[start:]
        else:
            held = bytearray()
    if held_bytes > max_line_bytes:
        yield LongLine(held_bytes)
    elif held_bytes:
        yield Line(held, finished=False)
