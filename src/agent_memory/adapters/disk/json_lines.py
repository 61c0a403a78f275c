"""The JSON objects in one line of a transcript, as many as can be had from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from attrs import frozen

from agent_memory.domain.json_shape import is_object

MAX_VALUES_PER_LINE = 400_000
"""A line with more JSON values than this would take hundreds of megabytes once parsed; no harness writes one."""

LONG_STRING_BYTES = 400_000
"""A string longer than this is shortened to its two ends before it is parsed: decoded, it could take four times its size,
and several times that while it is worked on (P25). No turn keeps as much."""

_LARGE_LINE_BYTES = 1024 * 1024
_STRING = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"', re.DOTALL)
_PLAIN_RUN = re.compile(rb'[^"\\]{12}', re.DOTALL)

_TRIES = 8
"""How many beginnings of an object behind a stump are tried: each may cost a pass over the line."""

_DECODER = json.JSONDecoder()


@frozen
class Objects:
    """The objects found, and whether some of the line was no JSON object."""

    found: tuple[dict[str, object], ...] = ()
    broken: bool = False
    too_many_values: bool = False


def objects_in(line: bytes | bytearray, *, finished: bool = True) -> Objects:
    """The objects in a line, in order. Never raises.

    Normally one. Two may be glued together (a record appended after one without its line end), or one follows the stump of
    a record whose writing was cut short; invalid UTF-8 becomes U+FFFD. Of a very long string only the ends are kept. A line that is not `finished` may end anywhere,
    even right after an object that is only a part of its record: nothing is looked for behind a stump then.
    """
    if len(line) > _LARGE_LINE_BYTES:
        if _values_in(line) > MAX_VALUES_PER_LINE:
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


def _values_in(line: bytes | bytearray) -> int:
    # Quotes inside strings are escaped, so that text is not counted, except for its brackets.
    return line.count(b',"') + line.count(b'{"') + line.count(b"[")


def _with_short_strings(line: bytes | bytearray) -> bytes | bytearray:
    parts: list[bytes | bytearray] = []
    at = 0
    for string in _STRING.finditer(line):
        start, end = string.span(1)
        if end - start > LONG_STRING_BYTES:
            head_end = _safe_cut(line, start + LONG_STRING_BYTES * 3 // 4) or start
            tail_start = _safe_cut(line, end - LONG_STRING_BYTES // 4) or end
            parts += [line[at:head_end], f" [… {tail_start - head_end} bytes left out …] ".encode()]
            at = tail_start
    return b"".join([*parts, line[at:]]) if parts else line


def _safe_cut(line: bytes | bytearray, at: int) -> int | None:
    """A place soon after `at`, in the same string, that is not inside an escape sequence, of which none is longer than six
    bytes; None where there is hardly anything but escapes."""
    run = _PLAIN_RUN.search(line, at, at + 4_096)
    return run.start() + 6 if run else None


def _decode(text: str, at: int) -> tuple[object, int, int | None]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, at, error.pos
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets nested thousands deep
        return None, at, len(text)
    return value, end, None


def _after_stump(text: str, at: int, failed_at: int) -> int:
    """Where the record begins that was appended to a cut one; the end of the text where there is none.

    What is found must reach to the end of the line: an object nested in the stump does not.
    """
    for begins_at in _possible_beginnings(text, at, failed_at):
        value, end, _ = _decode(text, begins_at)
        if is_object(value) and _next_value(text, end) >= len(text):
            return begins_at
    return len(text)


def _possible_beginnings(text: str, at: int, failed_at: int) -> Iterator[int]:
    # Cut inside a string, or between values: JSON fails at the appended record's first brace or quote.
    yield from _found(text.rfind('{"', at + 1, failed_at + 2))
    # Cut inside a word like `null`.
    yield from _found(text.find('{"', failed_at))
    # Cut before a value: the appended record was taken for it.
    begins_at = at
    for _ in range(_TRIES):
        begins_at = text.find('{"', begins_at + 1)
        if begins_at < 0:
            return
        yield begins_at


def _found(begins_at: int) -> Iterator[int]:
    if begins_at >= 0:
        yield begins_at


def _next_value(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\x00\ufeff":
        at += 1
    return at
