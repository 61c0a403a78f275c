"""JSON text as RFC 8259 has it, and nothing that only Python would read. (`strict_document` reads whole files.)"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from returns.result import Failure, Result, Success


class _RefusedError(ValueError):
    """What a hook below refuses; the scanner passes it on as it is."""


MAX_DIGITS = 30


def parse_strict_json(text: str) -> Result[Any, str]:
    """The value of a JSON text, or in words what is wrong with it.

    Refused beyond syntax errors: a key twice in one object (which of them is meant?), NaN and Infinity, numbers of
    thousands of digits, and nesting that is too deep to read. One byte order mark in front is forgiven.
    """
    try:
        return Success(
            json.loads(
                text.removeprefix("\ufeff"), object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant
            )
        )
    except json.JSONDecodeError as error:
        return Failure(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}")
    except RecursionError:
        return Failure("not JSON: nested too deeply")
    except ValueError as error:
        return Failure(f"not JSON: {error}")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise _RefusedError(f"the key {twice!a} stands twice in one object")
    return document


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _RefusedError(f"a number has {len(digits):,} digits")
    return int(digits)


def _constant(name: str) -> Any:
    raise _RefusedError(f"{name} is no number")
