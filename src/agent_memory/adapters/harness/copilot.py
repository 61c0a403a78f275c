"""GitHub Copilot CLI (1.0.x): `<session id>/events.jsonl` in `~/.copilot/session-state`; before 1.0.11 `<session id>.jsonl`.

An event: `{type, data, id, timestamp, parentId}`. A call is announced in the message that makes it (`toolRequests`) and again
when it is executed. `hook.*` events, nearly half of all, repeat what was typed. What was rewound is removed from the file.
Events of a sub-agent have its `agentId`, or the call that it works for.
"""

from __future__ import annotations

import re
from typing import ClassVar

from agent_memory.adapters.harness.any_json import Json, json_in, mapping_at, objects_at, text_at, time_at
from agent_memory.adapters.harness.transcripts import SessionFiles
from agent_memory.adapters.harness.turn_builder import MAX_CALLS_PER_RECORD, Asked, Session, asked
from agent_memory.domain.history import Role
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.text.ids import IdSet
from agent_memory.domain.transcripts.own_marks import MEMORY_OUTPUT_PLACEHOLDER, is_memory_command, typed_words
from agent_memory.domain.vocabulary import Harness

_ARGUMENTS_CHARS = 2_000_000
_OF_PERSONS = frozenset(("", "user", "cli", "immediate-prompt"))
"""Sources of messages that a person typed."""
_HIDDEN_SOURCES = ("skill", "autopilot", "system")
"""Beginnings of the sources of texts that Copilot itself wrote into the session."""
_HIDDEN_TEXTS = ("<skill-context", "<system_notification", "<system_reminder")


class CopilotSession(Session):
    """The events of one session in the order of the file."""

    harness = Harness.COPILOT

    def __init__(self, session_id: str) -> None:
        super().__init__(session_id)
        self._called = IdSet()
        self._by_person: dict[str, str] = {}
        """The commands that the person ran, by their calls."""

    def take(self, value: Json) -> None:
        """The next event."""
        kind, data = text_at(value, "type"), mapping_at(value, "data")
        if not kind:
            self.skip("bad-record")
        elif kind not in self._EVENTS and kind not in SILENT_EVENTS | SUBAGENT_EVENTS | COMPACTION_EVENTS:
            self.skip_unknown(kind)
        elif text_at(value, "agentId") or text_at(data, "parentToolCallId") or kind in SUBAGENT_EVENTS:
            self.skip_known("sub-agent")
        elif kind in COMPACTION_EVENTS:
            self.skip_known("compact-summary")
        else:
            self.known_records += 1
            if kind in self._EVENTS:
                self._take(kind, data, text_at(value, "id"), time_at(value, "timestamp"))

    def _take(self, kind: str, data: Json, id: str, at_ms: int | None) -> None:
        if id and not self.seen_ids.add(id):
            self.skip("repeated-record")
            return
        self.enter(id or f"{kind}@{self.position}", at_ms)
        self._EVENTS[kind](self, data)

    def _start(self, data: Json) -> None:
        if text_at(data, "sessionId") not in ("", self.session_id):
            self.skip("session-id-mismatch")
        self.started_at_ms = time_at(data, "startTime") or self.started_at_ms
        self._resume(data)

    def _resume(self, data: Json) -> None:
        self.agent = text_at(data, "selectedModel") or self.agent
        self._change_context(mapping_at(data, "context"))

    def _change_context(self, context: Json) -> None:
        """The session's directory is the first one; the branch is the last."""
        self.cwd = self.cwd or text_at(context, "cwd") or None
        self.git_branch = text_at(context, "branch") or self.git_branch

    def _change_model(self, data: Json) -> None:
        self.agent = text_at(data, "newModel") or self.agent

    def _change_title(self, data: Json) -> None:
        self.title = text_at(data, "title").strip() or self.title

    # -- what is said -------------------------------------------------------------------------------------------------

    def _say(self, data: Json) -> None:
        raw, source = text_at(data, "content"), text_at(data, "source")
        if self.begins_with_own_prompt(raw):
            return
        if data.get("isAutopilotContinuation") is True:
            self.skip("not-typed")
        elif source.startswith(_HIDDEN_SOURCES) or raw.lstrip().startswith(_HIDDEN_TEXTS):
            self.skip("harness-text")
        elif text_at(data, "agentMode") == "shell":
            self.skip("command")
        elif not (text := typed_words(raw)):
            self.skip("empty")
        elif source in _OF_PERSONS:
            images = sum(text_at(each, "type") in ("image", "blob") for each in objects_at(data, "attachments"))
            self.say(Role.USER, "\n\n".join([text, *["[image]"] * images]), raw=raw)
        else:  # another agent, a command, something that this version does not know: no person's word
            self.say(Role.TOOL, text, tool_name=source)

    def _speak(self, data: Json) -> None:
        self.agent = text_at(data, "model") or self.agent
        requests = objects_at(data, "toolRequests")
        if len(requests) > MAX_CALLS_PER_RECORD:
            self.skip("tool-call", len(requests) - MAX_CALLS_PER_RECORD)
        calls = [call for each in requests[:MAX_CALLS_PER_RECORD] if (call := self._new_call(each, "name")) is not None]
        text = text_at(data, "content")
        if text.strip() or calls:
            self.speak(text_at(data, "messageId") or None, text, calls)
        elif not requests:
            self.skip("empty")

    def _execute(self, data: Json) -> None:
        call = self._new_call(data, "toolName")
        if call is not None:
            self.speak(self.message_id, "", [call])

    def _request(self, data: Json) -> None:
        """A command that the person ran: its output says what came of it."""
        call_id, arguments = text_at(data, "toolCallId"), _arguments(data.get("arguments"))
        if self._called.add(call_id) and len(self._by_person) < MAX_CALLS_PER_RECORD:
            self._by_person[call_id] = text_at(arguments, "command") or text_at(data, "toolName")

    def _new_call(self, data: Json, name_key: str) -> Asked | None:
        """The call, unless it was recorded before."""
        call_id = text_at(data, "toolCallId")
        if call_id and not self._called.add(call_id):
            return None
        name = text_at(data, name_key)
        server = text_at(data, "mcpServerName")
        return asked(call_id, f"mcp__{server}__{name}" if server else name, _arguments(data.get("arguments")))

    def _answer(self, data: Json) -> None:
        result = mapping_at(data, "result")
        text = text_at(result, "content", "detailedContent") or text_at(mapping_at(data, "error"), "message")
        call_id, failed = text_at(data, "toolCallId"), data.get("success") is False
        command = self._by_person.pop(call_id, None)
        if command is None:
            self.answer(call_id or None, text, failed=failed)
        else:
            shown = MEMORY_OUTPUT_PLACEHOLDER if is_memory_command(command) else text
            self.answer(None, f"$ {command}\n{shown}", tool_name="shell", failed=failed)

    _EVENTS: ClassVar = {
        "session.start": _start,
        "session.resume": _resume,
        "session.context_changed": _change_context,
        "session.model_change": _change_model,
        "session.title_changed": _change_title,
        "user.message": _say,
        "assistant.message": _speak,
        "tool.user_requested": _request,
        "tool.execution_start": _execute,
        "tool.execution_complete": _answer,
    }


def _arguments(value: object) -> Json:
    """The arguments of a call: an object, or the text of one."""
    if isinstance(value, str) and len(value) <= _ARGUMENTS_CHARS:
        parsed = json_in(value)
        value = {"command": value} if parsed is None else parsed
    return value if is_object(value) else {}


SILENT_EVENTS = frozenset((
    "abort", "pending_messages.modified", "skill.invoked", "hook.start", "hook.end", "hook.progress", "system.message",
    "system.notification", "model.call_failure", "tool.execution_partial_result", "tool.execution_progress",
    "capabilities.changed", "commands.changed", "sampling.requested", "sampling.completed", "command.queued",
    "command.execute", "command.completed", "mcp.oauth_required", "mcp.oauth_completed", "elicitation.requested",
    "elicitation.completed", "user_input.requested", "user_input.completed", "exit_plan_mode.requested",
    "exit_plan_mode.completed", "external_tool.requested", "external_tool.completed", "permission.requested",
    "permission.completed", "auto_mode_switch.requested", "auto_mode_switch.completed", "assistant.intent",
    "assistant.message_delta", "assistant.message_start", "assistant.reasoning", "assistant.reasoning_delta",
    "assistant.streaming_delta", "assistant.turn_end", "assistant.turn_retry", "assistant.turn_start", "assistant.usage",
    "assistant.tool_call_delta",
    *(f"session.{name}" for name in (
        "autopilot_objective_changed", "auto_mode_resolved", "background_tasks_changed", "binary_asset", "context_cleared",
        "custom_agents_updated", "custom_notification", "error", "extensions_loaded", "handoff", "idle", "import_legacy",
        "info", "mcp_server_status_changed", "mcp_servers_loaded", "mode_changed", "permissions_changed", "plan_changed",
        "remote_steerable_changed", "schedule_cancelled", "schedule_created", "schedule_rearmed", "session_limits_changed",
        "shutdown", "skills_loaded", "snapshot_rewind", "task_complete", "todos_changed", "tools_updated", "truncation",
        "usage_checkpoint", "usage_info", "warning", "workspace_file_changed",
    )),
))  # fmt: skip
SUBAGENT_EVENTS = frozenset(
    ("subagent.started", "subagent.completed", "subagent.failed", "subagent.selected", "subagent.deselected")
)
COMPACTION_EVENTS = frozenset(("session.compaction_start", "session.compaction_complete"))


class CopilotSessions(SessionFiles):
    """Reads the events of a session."""

    harness = Harness.COPILOT
    harness_home, below = ("COPILOT_HOME", "~/.copilot"), ("session-state",)
    session = CopilotSession
    named = re.compile(r"(?:.*?/)??([^/]+)(?:/events)?\.jsonl")
    max_depth = 1
