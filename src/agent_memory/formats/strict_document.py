"""A whole JSON file, as strict as RFC 8259 advises: UTF-8, no key twice, no NaN, no depth bomb, no lone surrogate.

`strict_json` reads JSON that is text already, and words its problems for a list of problems.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NoReturn

from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import Json, is_list, is_object

MAX_DEPTH = 64


class _RefusedError(ValueError):
    """Refused by us; its text is the whole reason."""


def parse_strict_json(data: bytes) -> Result[Json, str]:
    """The value, or in words why there is none (`line 3, column 7: expecting ',' delimiter`)."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Failure(f"it is not UTF-8 text (byte {error.start})")
    if text.startswith("\ufeff"):
        return Failure("it begins with a byte order mark; save it as UTF-8 without one")
    if not text.strip():
        return Failure("it is empty; an empty object is {}")
    try:
        value: Json = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
        _look_through(value, 0)
    except RecursionError:
        return Failure("it is nested too deeply")
    except json.JSONDecodeError as error:
        return Failure(f"line {error.lineno}, column {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}")
    except _RefusedError as error:
        return Failure(str(error))
    except ValueError:  # more digits than Python converts
        return Failure("a number in it is too long")
    return Success(value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise _RefusedError(f"the key {json.dumps(twice[:80])} occurs twice in one object")
    return document


def _constant(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is not JSON")


def _look_through(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RecursionError
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
        raise _RefusedError("it holds the character \\u0000")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise _RefusedError("it holds half of a surrogate pair, which is no character")
