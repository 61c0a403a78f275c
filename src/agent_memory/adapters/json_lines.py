"""The JSON objects in one line of a transcript, as many as can be had from it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from attrs import frozen

MAX_VALUES_PER_LINE = 400_000
"""A line with more JSON values than this would take hundreds of megabytes once parsed; no harness writes one."""

_COUNTED_FROM_BYTES = 1024 * 1024

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
    a record whose writing was cut short; invalid UTF-8 becomes U+FFFD. A line that is not `finished` may end anywhere,
    even right after an object that is only a part of its record: nothing is looked for behind a stump then.
    """
    if len(line) > _COUNTED_FROM_BYTES and _values_in(line) > MAX_VALUES_PER_LINE:
        return Objects(broken=True, too_many_values=True)
    text = line.decode("utf-8", "replace")
    found: list[dict[str, object]] = []
    broken = False
    at = _next_value(text, 0)
    while at < len(text):
        value, end, failed_at = _decode(text, at)
        if failed_at is None:
            if isinstance(value, dict):
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
        if isinstance(value, dict) and _next_value(text, end) >= len(text):
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
