"""Claude Code transcripts for tests, in the shapes of versions 2.0 to 2.1.24x."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.note.vocabulary import Harness
from agent_memory.session.history import History, SessionMark
from agent_memory.text.instants import iso_of
from harness_surroundings import SessionReading

SESSION = "5f0c1a52-7f7b-4c55-9d3c-0d5e6a1b2c3d"
STARTED_MS = 1_770_000_000_000

Json = dict[str, object]


class Conversation:
    """Records in file order; each is a child of the one before unless `parent` says otherwise."""

    def __init__(self, session_id: str = SESSION, started_ms: int = STARTED_MS) -> None:
        self.session_id = session_id
        self.started_ms = started_ms
        self.lines: list[bytes] = []
        self._count = 0
        self._last: str | None = None

    def record(self, kind: str, *, id: str = "", parent: str | None = "", **further: object) -> str:
        self._count += 1
        id = id or f"r{self._count}"
        value: Json = {
            "parentUuid": self._last if parent == "" else parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/srv/harbour",
            "sessionId": self.session_id,
            "version": "2.1.200",
            "gitBranch": "main",
            "type": kind,
            "uuid": id,
            "timestamp": iso_of(self.started_ms + self._count * 1000),
        }
        self.put(value | further)
        self._last = id
        return id

    def put(self, value: object) -> None:
        self.lines.append(json.dumps(value).encode())

    def user(self, content: object, **further: object) -> str:
        return self.record("user", message={"role": "user", "content": content}, **further)  # type: ignore[arg-type]

    def agent(self, *blocks: Mapping[str, object] | str, message: str | None = None, **further: object) -> str:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        said = {"role": "assistant", "model": "claude-opus-5", "content": content}
        said["id"] = message or f"msg-{self._count + 1}"
        return self.record("assistant", message=said, **further)  # type: ignore[arg-type]

    def result(self, call: str, content: object, *, failed: bool = False, **further: object) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed}
        return self.user([block], **further)

    def attachment(self, **attachment: object) -> str:
        return self.record("attachment", attachment=attachment)

    def write(self, directory: Path, name: str = "", end: bytes = b"\n") -> Path:
        path = directory / (name or f"{self.session_id}.jsonl")
        path.write_bytes(b"\n".join(self.lines) + end)
        return path


def calls(id: str, name: str, **arguments: object) -> Json:
    """A `tool_use` block."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


_READING = SessionReading(Harness.CLAUDE_CODE, "claude-code-session", ClaudeCodeSessions, SESSION, STARTED_MS)
entry_for, history_at, failure_at = _READING.entry, _READING.history, _READING.failure


def told(history: History) -> list[str]:
    """`role: text` of each turn."""
    return [f"{turn.role}: {turn.text}" for turn in history.turns]


def mark_after(history: History) -> SessionMark:
    """The mark that a consolidation of this history sets."""
    last = history.turns[-1]
    return SessionMark(
        history.harness,
        history.session_id,
        last.record_id,
        last.at_ms,
        last.number,
        history.tools_answered_before,
        "builtin",
    )


def numbers(history: History) -> Sequence[int]:
    return [turn.number for turn in history.turns]
