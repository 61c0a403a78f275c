"""The usage ledger's lines: JSON, one record a line, UTF-8, `\\n` after each.

{"id":"id__a1b2c3","at":1771000205123,"by":"claude-code"}      one read; `at` in epoch ms
{"id":"id__a1b2c3","total":12,"last":1771000205123}            what a compaction made of many; `last` may be null
{"id":"id__a1b2c3","base":12,"last":1771000205123}             what the entry's frontmatter brought along; the greatest counts
{"day":20497,"by":"claude-code","reads":12}                    of what a compaction counted together: by whom, on which day
                                                               (days since 1970, UTC)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard

from attrs import astuple

from agent_memory.rules.usage import (
    LARGEST,
    Base,
    DayReads,
    LedgerRecord,
    Read,
    Total,
)
from agent_memory.text.ids import ID_PATTERN, is_id
from agent_memory.text.instants import DAY_MS
from agent_memory.text.json_shape import is_object

MAX_LINE_BYTES = 4096
"""Of a line with its `\\n`: one `write` of this size to a file in append mode is never torn by another."""

_READER = "[a-z0-9][a-z0-9._-]{0,63}"
_READ_LINE = re.compile(rf'\{{"id":"({ID_PATTERN})","at":(0|[1-9]\d{{0,14}}),"by":"({_READER})"\}}\n', re.ASCII)
"""A read as we write it: every search takes all lines since the last compaction into account, and nearly all are this."""


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_instant(value: object) -> bool:
    return _is_whole(value) and 0 <= value <= LARGEST


_Rule = tuple[str, Callable[[Any], bool]]
"""What a member is expected to be, and whether it is."""
_ID: _Rule = ("id__ and six base58 digits", lambda value: isinstance(value, str) and is_id(value))
_BY: _Rule = ("a harness", lambda value: isinstance(value, str) and re.fullmatch(_READER, value) is not None)
_COUNT: _Rule = ("a number of reads", lambda value: _is_whole(value) and value >= 0)
_AT: _Rule = ("milliseconds since 1970", _is_instant)
_LAST: _Rule = ("milliseconds since 1970, or null", lambda value: value is None or _is_instant(value))
_DAY: _Rule = ("days since 1970", lambda value: _is_whole(value) and 0 <= value <= LARGEST // DAY_MS)
_SHAPES: Mapping[type[LedgerRecord], Mapping[str, _Rule]] = {
    Read: {"id": _ID, "at": _AT, "by": _BY},
    Total: {"id": _ID, "total": _COUNT, "last": _LAST},
    Base: {"id": _ID, "base": _COUNT, "last": _LAST},
    DayReads: {"day": _DAY, "by": _BY, "reads": _COUNT},
}
"""The keys of each kind of record, in the order of its attributes."""


def render_ledger_line(record: LedgerRecord) -> bytes:
    """One line with its `\\n`; shorter than 300 bytes for a record without `problems_of`."""
    line = dict(zip(_SHAPES[type(record)], astuple(record), strict=True))
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def parse_ledger_line(line: bytes) -> LedgerRecord | None:
    """The record; None for a line that was cut or is not one of ours."""
    if found := _READ_LINE.fullmatch(line.decode("ascii", "replace")):
        return Read(found[1], int(found[2]), found[3])
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    kind = next((kind for kind, shape in _SHAPES.items() if is_object(value) and value.keys() == shape.keys()), None)
    if kind is None or any(_problems(_SHAPES[kind], value)):
        return None
    return kind(*(value[key] for key in _SHAPES[kind]))


def problems_of(record: LedgerRecord) -> tuple[str, ...]:
    """Why a record may not be written; empty when it may."""
    shape = _SHAPES[type(record)]
    return tuple(_problems(shape, dict(zip(shape, astuple(record), strict=True))))


def _problems(shape: Mapping[str, _Rule], line: Mapping[str, Any]) -> Iterator[str]:
    for key, (expected, holds) in shape.items():
        if not holds(line[key]):
            yield f"{key} is {str(line[key])[:40]!r}, expected {expected}"
