"""The usage ledger's lines: JSON exactly as it is shown here, one record a line, ASCII, `\\n` after each.

{"id":"id__a1b2c3","at":1771000205123,"by":"claude-code"}      one read; `at` in epoch ms
{"id":"id__a1b2c3","total":12,"last":1771000205123}            what a compaction made of many; `last` may be null
{"id":"id__a1b2c3","base":12,"last":1771000205123}             what the note's frontmatter brought along; the greatest counts
{"day":20497,"by":"claude-code","reads":12}                    of what a compaction counted together: by whom, on which day
                                                               (days since 1970, UTC)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from attrs import astuple

from agent_memory.rules.usage import Base, DayReads, LedgerRecord, Read, Total
from agent_memory.text.ids import ID_PATTERN

MAX_LINE_BYTES = 4096
"""Of a line with its `\\n`: one `write` of this size to a file in append mode is never torn by another."""

_ID, _BY = f'"{ID_PATTERN}"', '"[a-z0-9][a-z0-9._-]{0,63}"'
_COUNT, _DAY = r"(?:0|[1-9]\d{0,15})", r"(?:0|[1-9]\d{0,7})"
_SHAPES: Mapping[type[LedgerRecord], Mapping[str, str]] = {
    Read: {"id": _ID, "at": _COUNT, "by": _BY},
    Total: {"id": _ID, "total": _COUNT, "last": f"(?:{_COUNT}|null)"},
    Base: {"id": _ID, "base": _COUNT, "last": f"(?:{_COUNT}|null)"},
    DayReads: {"day": _DAY, "by": _BY, "reads": _COUNT},
}
"""The members of each kind of record, in the order of its attributes."""
_LINES = {
    kind: re.compile(r"\{" + ",".join(f'"{key}":{value}' for key, value in shape.items()) + r"\}\n?", re.ASCII)
    for kind, shape in _SHAPES.items()
}


def render_ledger_line(record: LedgerRecord) -> bytes:
    """Returns one line with its `\\n`; shorter than 300 bytes for a record that can be parsed again."""
    line = dict(zip(_SHAPES[type(record)], astuple(record), strict=True))
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def parse_ledger_line(line: bytes) -> LedgerRecord | None:
    """Returns the record; None for a line that was cut or is not one of ours."""
    text = line.decode("ascii", "replace")
    kind = next((kind for kind, pattern in _LINES.items() if pattern.fullmatch(text)), None)
    return None if kind is None else kind(*json.loads(text).values())
