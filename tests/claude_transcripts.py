"""Claude Code transcripts for tests, in the shapes of versions 2.0 to 2.1.24x."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.harness.claude_code import ClaudeCodeSessions
from agent_memory.note.note import Harness
from agent_memory.text.instants import iso_of
from harness_surroundings import Talk

SESSION = "5f0c1a52-7f7b-4c55-9d3c-0d5e6a1b2c3d"
STARTED_MS = 1_770_000_000_000

Json = dict[str, object]


class Conversation(Talk):
    """Records in file order; each is a child of the one before unless `parent` says otherwise."""

    harness, source, file_name = Harness.CLAUDE_CODE, ClaudeCodeSessions, "{id}.jsonl"

    def __init__(self, session_id: str = SESSION, started_ms: int = STARTED_MS, cwd: str = "/srv/harbour") -> None:
        super().__init__(session_id)
        self.started_ms = started_ms
        self.cwd = cwd
        self._count = 0
        self._last: str | None = None

    def record(self, kind: str, *, id: str = "", parent: str | None = "", **further: object) -> str:
        self._count += 1
        id = id or f"r{self._count}"
        value: Json = {
            "parentUuid": self._last if parent == "" else parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
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

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", calls(id, name, **arguments))
        self.result(id, output)

    def exchange(self, *said: str, answer: str = "Understood.") -> Conversation:
        """The person says these, and the agent answers each time."""
        for text in said:
            self.user(text)
            self.agent(answer)
        return self

    def attachment(self, **attachment: object) -> str:
        return self.record("attachment", attachment=attachment)


def calls(id: str, name: str, **arguments: object) -> Json:
    """A `tool_use` block."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}
