"""A part of a history as JSON lines, version 1: one line about the part, then one a turn.

    {"version": 1, "harness": "claude-code", "sessionId": "…", "afterRecord": "…", "title": "…", "cwd": "…", "branch": "…",
     "agent": "…", "startedAt": 1771000205123, "endedAt": 1771000209000, "toolsAnsweredBefore": true, "remaining": true}
    {"number": 3, "role": "agent", "text": "…", "record": "…", "at": 1771000206000,
     "calls": [{"name": "Edit", "brief": "…", "path": "…", "writes": true}], "tool": "Bash", "failed": true, "clipped": 12}

What is empty, false or unknown is absent. Instants are epoch ms. The text is ASCII: every other character is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import field, fields, frozen

from agent_memory.domain.history import History, Turn
from agent_memory.domain.transcripts.turns import KeptPart
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import StateCorrupt
from agent_memory.formats.json_codec import Format, value_of, written
from agent_memory.formats.strict_json import InvalidValue, load_json
from agent_memory.results import as_result


def _sparse(default: Any = None) -> Any:
    return field(default=default, metadata={"sparse": True})


@frozen
class _About:
    """What is kept of a `History` beside its turns."""

    harness: Harness
    session_id: str
    after_record: str | None = _sparse()
    title: str | None = _sparse()
    cwd: str | None = _sparse()
    also_in: tuple[str, ...] = _sparse(())
    branch: str | None = _sparse()
    agent: str | None = _sparse()
    started_at_ms: int | None = _sparse()
    ended_at_ms: int | None = _sparse()
    tools_answered_before: bool = _sparse(False)
    remaining: bool = _sparse(False)


_ABOUT = Format(_About)
_KEPT = tuple(each.name for each in fields(_About) if each.name != "after_record")


def render_history_lines(part: KeptPart) -> Iterator[str]:
    """The lines, each with its line end."""
    about = _About(after_record=part.after_record_id, **{name: getattr(part.history, name) for name in _KEPT})
    yield _line({"version": 1, **written(about)})
    yield from (_line(written(turn)) for turn in part.history.turns)


def _line(document: object) -> str:
    return json.dumps(document, separators=(",", ":")) + "\n"


@as_result
def parse_history_lines(lines: Iterable[str], path: str) -> KeptPart:
    """The part that was rendered. Anything else is StateCorrupt with its first problem, never a part of it (P6)."""
    about: _About | None = None
    turns: list[Turn] = []
    for number, line in enumerate(lines, 1):
        try:
            if about is None:
                about = _ABOUT.value_of(load_json(line))
            else:
                turns.append(value_of(load_json(line), Turn))
        except InvalidValue as damaged:
            raise StateCorrupt(path, (f"line {number}: {damaged}",)) from damaged
    if about is None:
        raise StateCorrupt(path, ("it is empty",))
    history = History(turns=tuple(turns), **{name: getattr(about, name) for name in _KEPT})
    return KeptPart(history, about.after_record)
