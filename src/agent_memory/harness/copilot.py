"""GitHub Copilot CLI (1.0.x): `<session id>/events.jsonl` in `~/.copilot/session-state`; before 1.0.11 `<session id>.jsonl`.

An event: `{type, data, id, timestamp, parentId}`. A call is announced in the message that makes it (`toolRequests`) and again
when it is executed. `hook.*` events, nearly half of all, repeat what was typed. What was rewound is removed from the file.
Events of a sub-agent have its `agentId`, or the call that it works for.
"""

from __future__ import annotations

import re
from typing import ClassVar

from agent_memory.harness import any_json as get
from agent_memory.harness.transcripts import SessionFiles
from agent_memory.harness.turn_builder import MAX_CALLS_PER_RECORD, Asked, Session, asked
from agent_memory.note.note import Harness
from agent_memory.session.own_marks import typed_words
from agent_memory.text.ids import IdSet

_OF_PERSONS = frozenset(("", "user", "cli", "immediate-prompt"))
"""Sources of messages that a person typed."""
_HIDDEN_TEXTS = ("<skill-context", "<system_notification", "<system_reminder")


_NOTES = tuple(f"session.{each}" for each in ("start", "resume", "context_changed", "model_change", "title_changed"))
_SILENT = re.compile(
    r"abort|model\.call_failure|tool\.execution_p\w+|pending_messages\.modified"
    r"|assistant\.(?:intent|message_\w+|reasoning\w*|streaming_delta|turn_\w+|usage|tool_call_delta)"
    r"|(?:session|subagent|hook|skill|system|capabilities|commands?|sampling|mcp|elicitation|user_input|exit_plan_mode|external_tool"
    r"|permission|auto_mode_switch)\..+"
)
"""Events that say nothing of what was said."""


class CopilotSession(Session):
    harness, question_tool = Harness.COPILOT, "ask_user"

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self._called = IdSet()
        self._by_person: dict[str, str] = {}
        """The commands that the person ran, by their calls."""

    def take(self, value: get.Json) -> None:
        kind, data = get.text(value, "type"), get.mapping(value, "data")
        if not kind:
            self.skip("bad-record")
        elif self.knows(kind, kind in self._EVENTS or _SILENT.fullmatch(kind)):
            id, of_sub_agent = get.text(value, "id"), get.text(value, "agentId") or get.text(data, "parentToolCallId")
            if kind in self._EVENTS and not of_sub_agent and (not id or self.seen_ids.add(id)):
                self.enter(id or f"{kind}@{self.position}", get.time(value, "timestamp"))
                self._EVENTS[kind](self, data)

    def _note(self, data: get.Json) -> None:
        """What is known of the session as a whole; a change of the context has it in the event itself."""
        self.started_at_ms = get.time(data, "startTime") or self.started_at_ms
        context = get.mapping(data, "context") or data
        self.note(cwd=get.text(context, "cwd"), branch=get.text(context, "branch"))
        self.note(title=get.text(data, "title"), agent=get.text(data, "selectedModel", "newModel"))

    def _say(self, data: get.Json) -> None:
        raw, source = get.text(data, "content"), get.text(data, "source")
        # Copilot itself wrote the texts of these sources into the session.
        is_hidden = source.startswith(("skill", "autopilot", "system")) or raw.lstrip().startswith(_HIDDEN_TEXTS)
        is_command = data.get("isAutopilotContinuation") is True or get.text(data, "agentMode") == "shell"
        images = sum(get.text(each, "type") in ("image", "blob") for each in get.objects(data, "attachments"))
        words = "" if is_hidden or is_command else typed_words(raw)
        # Another agent, a command, something that this version does not know: no person's word.
        by = None if source in _OF_PERSONS else source
        self.hear(raw, "\n\n".join([words, *["[image]"] * images]) if words else "", by=by)

    def _speak(self, data: get.Json) -> None:
        self.note(agent=get.text(data, "model"))
        requests = get.objects(data, "toolRequests")[:MAX_CALLS_PER_RECORD]
        calls = [call for each in requests if (call := self._new_call(each, "name")) is not None]
        self.speak(get.text(data, "messageId") or None, get.text(data, "content"), calls)

    def _execute(self, data: get.Json) -> None:
        if (call := self._new_call(data, "toolName")) is not None:
            self.speak(self.message_id, "", [call])

    def _request(self, data: get.Json) -> None:
        call_id, arguments = get.text(data, "toolCallId"), get.arguments(data.get("arguments"))
        if self._called.add(call_id) and len(self._by_person) < MAX_CALLS_PER_RECORD:
            self._by_person[call_id] = get.text(arguments, "command") or get.text(data, "toolName")

    def _new_call(self, data: get.Json, name_key: str) -> Asked | None:
        """Returns the call, unless it was recorded before."""
        call_id = get.text(data, "toolCallId")
        if call_id and not self._called.add(call_id):
            return None
        name = get.text(data, name_key)
        server = get.text(data, "mcpServerName")
        return asked(call_id, f"mcp__{server}__{name}" if server else name, get.arguments(data.get("arguments")))

    def _answer(self, data: get.Json) -> None:
        result = get.mapping(data, "result")
        text = get.text(result, "content", "detailedContent") or get.text(get.mapping(data, "error"), "message")
        call_id, failed = get.text(data, "toolCallId"), data.get("success") is False
        command = self._by_person.pop(call_id, None)
        if command is None:
            self.answer(call_id or None, text, failed=failed)
        else:
            self.ran(command, text, "shell", failed=failed)

    _EVENTS: ClassVar = {
        **dict.fromkeys(_NOTES, _note),
        "user.message": _say,
        "assistant.message": _speak,
        "tool.user_requested": _request,
        "tool.execution_start": _execute,
        "tool.execution_complete": _answer,
    }


class CopilotSessions(SessionFiles):
    harness_home, below = ("COPILOT_HOME", "~/.copilot"), ("session-state",)
    session = CopilotSession
    named = re.compile(r"(?:.*?/)??(?P<id>[^/]+)(?:/events)?\.jsonl")
    begins = re.compile(rb'[^\n]*?"type":\s*"\w+\.')
    max_depth = 1
