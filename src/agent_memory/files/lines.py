"""Reads the lines of a file of any size in bounded memory (P25), and the JSON objects in a line of a transcript."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

from attrs import frozen

from agent_memory.text.json_shape import is_object

MAX_LINE_BYTES = 16 * 1024 * 1024

_CHUNK_BYTES = 256 * 1024


LONG_STRING_BYTES = 400_000
"""A longer string is cut down to its two ends before it is parsed: decoded, it could take four times its size, and
several times that in processing (P25). No turn keeps as much."""

_LARGE_LINE_BYTES = 1024 * 1024
_STRING = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_PLAIN_RUN = re.compile(rb'[^"\\]{12}', re.DOTALL)


_BEGINNING = re.compile(r'\{"')
_DECODER = json.JSONDecoder()


@frozen
class Line:
    """One line without its line end. `finished` is False for a last line without a line end (yet)."""

    data: bytes | bytearray
    finished: bool = True


@frozen
class LongLine:
    """A line longer than allowed; it was skipped."""

    size_bytes: int


def read_lines(
    descriptor: int, size_bytes: int, max_line_bytes: int = MAX_LINE_BYTES, *, keep_empty: bool = False
) -> Iterator[Line | LongLine]:
    """Yields the lines in the next `size_bytes` of an open file, without empty ones unless `keep_empty`. Ignores bytes
    appended meanwhile. Holds one line and one chunk at a time. Raises OSError if a read fails."""
    with open(descriptor, "rb", _CHUNK_BYTES, closefd=False) as file:
        while size_bytes > 0 and (data := file.readline(min(size_bytes, max_line_bytes + 1))):
            size_bytes -= len(data)
            if data.endswith(b"\n"):
                data = data[:-1]
                if data or keep_empty:
                    yield Line(data)
            elif len(data) <= max_line_bytes:
                yield Line(data, finished=False)
            else:
                skipped_bytes = len(data)
                while (
                    size_bytes > 0
                    and not data.endswith(b"\n")
                    and (data := file.readline(min(size_bytes, _CHUNK_BYTES)))
                ):
                    size_bytes -= len(data)
                    skipped_bytes += len(data)
                yield LongLine(skipped_bytes - data.endswith(b"\n"))


# -- JSON -------------------------------------------------------------------------------------------------------------


@frozen
class Objects:
    """The objects found, and whether part of the line was not a JSON object."""

    found: tuple[dict[str, object], ...] = ()
    broken: bool = False
    too_many_values: bool = False


def objects_in(line: bytes | bytearray, *, finished: bool = True) -> Objects:
    """Returns the objects in a line, in order. Never raises.

    Two may be glued together (a record appended after one without its line end), or one follows the stump of a record
    cut short; invalid UTF-8 becomes U+FFFD. Very long strings keep only their ends. A line that is not `finished` may
    end anywhere, even right after an object nested in its record: then nothing after a stump is used.
    """
    if len(line) > _LARGE_LINE_BYTES:
        # Quotes inside strings are escaped, so text adds nothing but its brackets to this count.
        # A line with more JSON values would take hundreds of megabytes once parsed; no harness writes one.
        if line.count(b',"') + line.count(b'{"') + line.count(b"[") > 400_000:
            return Objects(broken=True, too_many_values=True)
        line = _with_short_strings(line)
    text = line.decode("utf-8", "replace")
    found: list[dict[str, object]] = []
    broken = False
    at = _next_value(text, 0)
    while at < len(text):
        value, end, failed_at = _decode(text, at)
        if failed_at is None:
            if is_object(value):
                found.append(value)
            else:
                broken = True
            at = _next_value(text, end)
            continue
        broken = True
        at = _after_stump(text, at, failed_at) if finished else len(text)
    return Objects(tuple(found), broken)


def _with_short_strings(line: bytes | bytearray) -> bytes | bytearray:
    parts: list[bytes | bytearray] = []
    at = 0
    for string in _STRING.finditer(line):
        start, end = string.span(1)
        if end - start > LONG_STRING_BYTES:
            head_end = _offset_outside_escapes(line, start + LONG_STRING_BYTES * 3 // 4) or start
            tail_start = _offset_outside_escapes(line, end - LONG_STRING_BYTES // 4) or end
            parts += [line[at:head_end], f" [… {tail_start - head_end} bytes left out …] ".encode()]
            at = tail_start
    return b"".join([*parts, line[at:]]) if parts else line


def _offset_outside_escapes(line: bytes | bytearray, at: int) -> int | None:
    """Returns an offset soon after `at`, in the same string, outside any escape sequence, or None."""
    run = _PLAIN_RUN.search(line, at, at + 4_096)
    return run.start() + 6 if run else None


def _decode(text: str, at: int) -> tuple[object, int, int | None]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, at, error.pos
    except (ValueError, RecursionError):  # a number of thousands of digits, or brackets nested thousands deep
        return None, at, len(text)
    return value, end, None


def _after_stump(text: str, at: int, failed_at: int) -> int:
    """Returns where the record starts that was appended to a cut one, or the end of the text. It must reach to the end
    of the line: an object nested in the stump does not."""
    # Cut inside a string or between values, parsing fails at the appended record's first brace or quote; cut inside a
    # word like `null`, before that; cut before a value, the appended record was taken for the value.
    beginnings = [text.rfind('{"', at + 1, failed_at + 2), text.find('{"', failed_at)]
    # Few starts of an object after a stump are tried: each may cost a pass over the line.
    beginnings += islice((found.start() for found in _BEGINNING.finditer(text, at + 1)), 8)
    for begins_at in beginnings:
        if begins_at >= 0:
            value, end, _ = _decode(text, begins_at)
            if is_object(value) and _next_value(text, end) >= len(text):
                return begins_at
    return len(text)


def _next_value(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\x00\ufeff":
        at += 1
    return at
