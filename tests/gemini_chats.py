"""Chats of the Gemini CLI for tests, in both forms."""

from __future__ import annotations

import json
from pathlib import Path

from agent_memory.harness.gemini import GeminiSessions
from agent_memory.note.note import Harness
from agent_memory.text.instants import iso_of
from harness_surroundings import Talk

CHAT = "7c1e52d0-9f6b-4f0e-8a53-2f7d1b0c9e11"
STARTED_MS = 1_770_000_000_000

Json = dict[str, object]


class Chat(Talk):
    """Messages in order, a second apart; `lines` are the objects of the new form."""

    harness, source, file_name = Harness.GEMINI, GeminiSessions, "session-2026-02-13T14-30-{id:.8}.jsonl"

    def __init__(self, session_id: str = CHAT, **facts: object) -> None:
        super().__init__(session_id)
        began = iso_of(STARTED_MS)
        self.head: Json = {"sessionId": session_id, "projectHash": "0b7d", "startTime": began, "lastUpdated": began}
        self.head |= {"kind": "main"} | facts
        self.messages: dict[str, Json] = {}
        self.put(self.head)

    def message(self, kind: str, content: object, id: str = "", **further: object) -> Json:
        id = id or f"m{len(self.messages) + 1}"
        at_ms = STARTED_MS + len(self.lines) * 1000
        said: Json = {"id": id, "timestamp": iso_of(at_ms), "type": kind, "content": content, **further}
        self.messages[id] = said
        self.put(said)
        return said

    def user(self, text: str, **further: object) -> Json:
        return self.message("user", [{"text": text}], **further)  # type: ignore[arg-type]

    def agent(self, text: str, *calls: Json, **further: object) -> Json:
        more: Json = {"toolCalls": list(calls)} if calls else {}
        return self.message("gemini", text, model="gemini-3-pro", **more, **further)  # type: ignore[arg-type]

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", tool(id, name, output, **arguments))  # type: ignore[arg-type]

    def grow(self, message: Json, *calls: Json) -> None:
        """The message comes again, with these calls."""
        grown = {**message, "toolCalls": list(calls)}
        self.messages[str(message["id"])] = grown
        self.put(grown)

    def document(self) -> bytes:
        """The older form."""
        return json.dumps({**self.head, "messages": list(self.messages.values())}, indent=2).encode()

    def write_document(self, directory: Path, name: str = "") -> Path:
        path = directory / (name or f"session-2026-02-13T14-30-{self.session_id[:8]}.json")
        path.write_bytes(self.document())
        return path


def tool(id: str, name: str, output: str | None = None, status: str = "success", **args: object) -> Json:
    """One of a message's `toolCalls`, with its answer if there is one."""
    call: Json = {"id": id, "name": name, "args": args, "status": status if output is not None else "executing"}
    if output is not None:
        call["result"] = [{"functionResponse": {"id": id, "name": name, "response": {"output": output}}}]
    return call
