"""Sessions of Pi for tests, in the shapes of versions 1 to 3."""

from __future__ import annotations

from agent_memory.harness.pi import PiSessions
from agent_memory.note.note import Harness
from agent_memory.text.instants import iso_of
from harness_surroundings import Talk

PI = "019f8532-2173-78ef-aefd-882d27cd95ac"
STARTED_MS = 1_780_000_000_000

Json = dict[str, object]


class Branching(Talk):
    """Entries in file order, a second apart; each is a child of the one before unless `parent` says otherwise."""

    harness, source, file_name = Harness.PI, PiSessions, "2026-07-21T15-01-22-931Z_{id}.jsonl"

    def __init__(self, session_id: str = PI, version: int | None = 3, **head: object) -> None:
        super().__init__(session_id)
        self._version = version
        self._last: str | None = None
        told: Json = {"type": "session", "id": session_id, "timestamp": self._time(), "cwd": "/srv/harbour"}
        self.put({**told, **({"version": version} if version else {}), **head})

    def entry(self, kind: str, *, parent: str | None = "", id: str = "", **further: object) -> str:
        id = id or f"e{len(self.lines)}"
        place: Json = {"id": id, "parentId": self._last if parent == "" else parent} if self._version else {}
        self.put({"type": kind, **place, "timestamp": self._time(), **further})
        self._last = id
        return id

    def message(self, role: str, content: object = None, parent: str | None = "", **further: object) -> str:
        said: Json = {"role": role, **({} if content is None else {"content": content}), **further}
        return self.entry("message", parent=parent, message=said)

    def user(self, text: str, parent: str | None = "") -> str:
        return self.message("user", [{"type": "text", "text": text}], parent)

    def agent(self, text: str, *calls: Json, parent: str | None = "") -> str:
        said: list[Json] = [{"type": "text", "text": text}] if text else []
        blocks: list[Json] = [{"type": "thinking", "thinking": "hm"}, *said, *calls]
        return self.message("assistant", blocks, parent, model="glm-6", stopReason="stop")

    def result(self, id: str, text: str, *, failed: bool = False, tool: str = "bash") -> str:
        blocks = [{"type": "text", "text": text}]
        return self.message("toolResult", blocks, toolCallId=id, toolName=tool, isError=failed)

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", tool_call(id, name, **arguments))
        self.result(id, output)

    def _time(self) -> str:
        return iso_of(STARTED_MS + len(self.lines) * 1000)


def tool_call(id: str, name: str, **arguments: object) -> Json:
    """A block of an assistant's message."""
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}
