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
from typing import TypeGuard

from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.text.file_name import ID_PATTERN, is_id
from agent_memory.domain.usage import LARGEST, Base, DayReads, LedgerRecord, Read, Total

MAX_LINE_BYTES = 4096
"""Of a line with its `\\n`: one `write` of this size to a file in append mode is never torn by another."""

_READER_PATTERN = "[a-z0-9][a-z0-9._-]{0,63}"
_READER = re.compile(_READER_PATTERN, re.ASCII)
_READ_LINE = re.compile(rf'\{{"id":"({ID_PATTERN})","at":(0|[1-9]\d{{0,14}}),"by":"({_READER_PATTERN})"\}}\n', re.ASCII)
"""A read as we write it: every search takes all lines since the last compaction into account, and nearly all are this."""


def render_ledger_line(record: LedgerRecord) -> bytes:
    """One line with its `\\n`; shorter than 300 bytes for a record without `problems_of`."""
    match record:
        case Read(id, at_ms, reader):
            line: dict[str, object] = {"id": id, "at": at_ms, "by": reader}
        case Total(id, count, last_at_ms):
            line = {"id": id, "total": count, "last": last_at_ms}
        case Base(id, count, last_at_ms):
            line = {"id": id, "base": count, "last": last_at_ms}
        case DayReads(day, reader, count):
            line = {"day": day, "by": reader, "reads": count}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def parse_ledger_line(line: bytes) -> LedgerRecord | None:
    """The record; None for a line that was cut or is not one of ours."""
    if found := _READ_LINE.fullmatch(line.decode("ascii", "replace")):
        return Read(found[1], int(found[2]), found[3])
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    record = _record(value) if is_object(value) else None
    return record if record is not None and not problems_of(record) else None


def problems_of(record: LedgerRecord) -> tuple[str, ...]:
    """Why a record may not be written; empty when it may."""
    found: list[str] = []
    if not isinstance(record, DayReads) and not is_id(record.id):
        found.append(f"id is {record.id[:40]!r}, expected id__ and six base58 digits")
    if isinstance(record, Read | DayReads) and not _READER.fullmatch(record.reader):
        found.append(f"the reader is {record.reader[:40]!r}, expected a harness")
    match record:
        case Read(_, at_ms, _):
            if not _is_instant(at_ms):
                found.append("the time is no number of milliseconds since 1970")
        case DayReads(day, _, count):
            if not (_is_whole(day) and 0 <= day <= LARGEST // DAY_MS):
                found.append("the day is no number of days since 1970")
            if not (_is_whole(count) and count >= 0):
                found.append("the number of reads is no count")
        case Total(_, count, last_at_ms) | Base(_, count, last_at_ms):
            if not (_is_whole(count) and count >= 0):
                found.append("the number of reads is no count")
            if last_at_ms is not None and not _is_instant(last_at_ms):
                found.append("last is no number of milliseconds since 1970")
    return tuple(found)


def _record(value: dict[str, object]) -> LedgerRecord | None:
    match value:
        case {"id": str(id), "at": int(at_ms), "by": str(reader), **others} if not others:
            return Read(id, at_ms, reader)
        case {"id": str(id), "total": int(count), "last": int() | None as last_at_ms, **others} if not others:
            return Total(id, count, last_at_ms)
        case {"id": str(id), "base": int(count), "last": int() | None as last_at_ms, **others} if not others:
            return Base(id, count, last_at_ms)
        case {"day": int(day), "by": str(reader), "reads": int(count), **others} if not others:
            return DayReads(day, reader, count)
        case _:
            return None


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_instant(value: object) -> bool:
    return _is_whole(value) and 0 <= value < 1 << 53
