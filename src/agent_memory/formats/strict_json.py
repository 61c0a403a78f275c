"""JSON text as RFC 8259 has it, and nothing that only Python would read.

Refused beyond syntax errors: a key twice in one object (which of them is meant?), NaN and Infinity, numbers of more digits
than anybody means, and nesting that is too deep to read. One byte order mark in front is forgiven.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from agent_memory.domain.json_shape import is_list, is_object

MAX_DIGITS = 30
MAX_DEPTH = 64


class InvalidValue(ValueError):
    """A document that is not the value it should be, with every problem as `path.to.key what is wrong`."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class NotJson(InvalidValue):
    """The text is no JSON that we take; the one problem says why."""


def load_json(text: str) -> Any:
    """The value of a JSON text, or NotJson."""
    try:
        return json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise NotJson("not JSON: nested too deeply") from error


def load_bytes(data: bytes) -> Any:
    """The value of a file in UTF-8, or NotJson."""
    try:
        return load_json(data.decode())
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8 at byte {error.start:,}") from error


def load_document(data: bytes) -> Any:
    """The value of a file that others may have written: no deeper than `MAX_DEPTH`, and nothing in it but characters that can
    be written again, U+0000 not among them; NotJson."""
    if not data.strip():
        raise NotJson("it is empty; an empty object is {}")
    value = load_bytes(data)
    _look_through(value, 0)
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise NotJson(f"not JSON: the key {twice[:80]!a} stands twice in one object")
    return document


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NotJson(f"not JSON: a number has {len(digits):,} digits")
    return int(digits)


def _constant(name: str) -> Any:
    raise NotJson(f"not JSON: {name} is no number")


def _look_through(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise NotJson("not JSON: nested too deeply")
    if isinstance(value, str):
        _look_at_text(value)
    elif is_list(value):
        for each in value:
            _look_through(each, depth + 1)
    elif is_object(value):
        for key, each in value.items():
            _look_at_text(key)
            _look_through(each, depth + 1)


def _look_at_text(text: str) -> None:
    if "\0" in text:
        raise NotJson("it holds the character \\u0000")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise NotJson("it holds half of a surrogate pair, which is no character")
