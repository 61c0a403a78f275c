"""Codex rollouts for tests, in the shapes of versions 0.50 to 0.149."""

from __future__ import annotations

import json

from agent_memory.harness.codex import CodexSessions
from agent_memory.note.note import Harness
from agent_memory.text.instants import iso_of
from harness_surroundings import Talk

THREAD = "019c5a00-1111-7222-8333-444455556666"
STARTED_MS = 0x019C5A001111

Json = dict[str, object]


class Rollout(Talk):
    """Lines in file order, a second apart. What Codex logs for the screen and for the model is logged twice here too."""

    harness, source = Harness.CODEX, CodexSessions
    file_name = "rollout-2026-02-13T14-30-05-{id}.jsonl"

    def __init__(self, thread_id: str = THREAD, **meta: object) -> None:
        super().__init__(thread_id)
        told = {
            "id": thread_id,
            "session_id": thread_id,
            "timestamp": iso_of(STARTED_MS),
            "cwd": "/srv/harbour",
            "originator": "codex-tui",
            "cli_version": "0.146.0",
            "source": "cli",
            "git": {"branch": "main"},
        }
        self.line("session_meta", **(told | meta))

    def line(self, kind: str, **payload: object) -> None:
        self.put({"timestamp": iso_of(STARTED_MS + len(self.lines) * 1000), "type": kind, "payload": payload})

    def event(self, kind: str, **payload: object) -> None:
        self.line("event_msg", type=kind, **payload)

    def item(self, kind: str, **payload: object) -> None:
        self.line("response_item", type=kind, **payload)

    def message(self, role: str, *texts: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        self.item("message", role=role, content=[{"type": kind, "text": text} for text in texts])

    def user(self, text: str) -> None:
        self.message("user", text)
        self.event("user_message", message=text, images=[])

    def agent(self, text: str, *calls: tuple[str, str, Json]) -> None:
        self.event("agent_message", message=text, phase="commentary")
        self.message("assistant", text)
        for id, name, arguments in calls:
            self.call(id, name, **arguments)

    def call(self, id: str, name: str, **arguments: object) -> None:
        self.item("function_call", name=name, call_id=id, arguments=json.dumps(arguments))

    def output(self, id: str, output: object) -> None:
        self.item("function_call_output", call_id=id, output=output)

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", (id, name, arguments))
        self.output(id, output)

    def turn(self, turn_id: str) -> None:
        self.line("turn_context", turn_id=turn_id, cwd="/srv/harbour", model="gpt-6")
