"""Copilot CLI sessions for tests, in the shapes of versions 0.0.420 to 1.0.8x."""

from __future__ import annotations

from agent_memory.harness.copilot import CopilotSessions
from agent_memory.note.note import Harness
from agent_memory.text.instants import iso_of
from harness_surroundings import Talk

COPILOT_SESSION = "c0ffee00-1111-4222-8333-444455556666"
COPILOT_STARTED_MS = 1_770_000_000_000

Json = dict[str, object]


class CopilotEvents(Talk):
    """Events in file order, a second apart, each a child of the one before."""

    harness, source, file_name = Harness.COPILOT, CopilotSessions, "{id}/events.jsonl"

    def __init__(self, session_id: str = COPILOT_SESSION, **start: object) -> None:
        super().__init__(session_id)
        context = {"cwd": "/srv/harbour", "gitRoot": "/srv/harbour", "repository": "o/harbour", "branch": "main"}
        told = {
            "sessionId": session_id,
            "copilotVersion": "1.0.83",
            "startTime": iso_of(COPILOT_STARTED_MS),
            "selectedModel": "gpt-6",
            "context": context,
        }
        self.event("session.start", **(told | start))  # type: ignore[arg-type]

    def event(self, kind: str, *, agent_id: str = "", **data: object) -> str:
        number = len(self.lines) + 1
        value: Json = {
            "type": kind,
            "data": data,
            "id": f"e{number}",
            "timestamp": iso_of(COPILOT_STARTED_MS + number * 1000),
            "parentId": f"e{number - 1}" if number > 1 else None,
        }
        self.put(value | ({"agentId": agent_id} if agent_id else {}))
        return f"e{number}"

    def user(self, text: str, **further: object) -> None:
        made_of_it = (
            f"<current_datetime>2026-02-02</current_datetime>\n{text}\n<system_reminder>Be brief.</system_reminder>"
        )
        self.event("hook.start", hookType="userPromptSubmitted", input={"prompt": text, "sessionId": self.session_id})
        self.event("hook.end", hookType="userPromptSubmitted", success=True)
        self.event("user.message", content=text, transformedContent=made_of_it, attachments=[], **further)  # type: ignore[arg-type]

    def agent(
        self, text: str, *calls: tuple[str, str, Json | str], message: str | None = None, **further: object
    ) -> None:
        requests = [{"toolCallId": id, "name": name, "arguments": arguments} for id, name, arguments in calls]
        id = message or f"m{len(self.lines)}"
        self.event("assistant.message", messageId=id, content=text, toolRequests=requests, **further)  # type: ignore[arg-type]
        for call_id, name, arguments in calls:
            self.event("tool.execution_start", toolCallId=call_id, toolName=name, arguments=arguments)

    def result(self, call_id: str, content: str, *, success: bool = True, **further: object) -> None:
        result = {"content": content}
        self.event("tool.execution_complete", toolCallId=call_id, success=success, result=result, **further)  # type: ignore[arg-type]

    def look(self, id: str, name: str, output: str, **arguments: object) -> None:
        """The agent looks something up: a call and its answer."""
        self.agent("I look.", (id, name, arguments))
        self.result(id, output)
