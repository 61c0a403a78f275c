"""Histories of GitHub Copilot CLI sessions, from the events that it keeps (`copilot-session`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from attrs import frozen
from returns.result import Result

from agent_memory.adapters.disk.paths import lies_there
from agent_memory.adapters.harness.any_json import mapping_at, objects_at, text_at
from agent_memory.adapters.harness.line_transcripts import fetch_session, history_in, read_session
from agent_memory.adapters.harness.session_facts import SessionFacts, history_of
from agent_memory.adapters.harness.session_turns import SessionTurns
from agent_memory.adapters.harness.transcript_roots import (
    OpenTranscript,
    TranscriptRoots,
    find_transcript,
    is_session_id,
)
from agent_memory.adapters.harness.turn_drafts import Asked, NewFrom, asked
from agent_memory.domain.history import History, Role, SessionMark
from agent_memory.domain.inbox_entry import InboxEntry
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.text.id_set import IdSet
from agent_memory.domain.transcripts.own_marks import MEMORY_OUTPUT_PLACEHOLDER, is_memory_command, typed_words
from agent_memory.domain.vocabulary import Harness
from agent_memory.errors import Error

EVENTS_FILE = "events.jsonl"


@frozen
class CopilotSessions:
    """Reads `<session id>/events.jsonl` (since 1.0.11) or `<session id>.jsonl` inside `roots`, one line at a time (P25, P27).

    Errors: see `line_transcripts`.
    """

    roots: TranscriptRoots

    def fetch(self, entry: InboxEntry, mark: SessionMark | None) -> Result[History, Error]:
        """The turns after the mark, at most about 16 MiB of them (`remaining` then)."""
        return fetch_session(self.roots, entry, "copilot-session", find_events, partial(_read, mark))


def find_events(roots: TranscriptRoots, session_id: str) -> str | None:
    """The file of the session's events, in its own directory before one of the older form; None where there is none."""
    if not is_session_id(session_id):
        return None
    own = (f"{root}/{session_id}/{EVENTS_FILE}" for root in roots.roots)
    return next((path for path in own if lies_there(path)), None) or find_transcript(roots, session_id)


def _read(mark: SessionMark | None, file: OpenTranscript, session_id: str) -> Result[History, Error]:
    return history_in(read_session(file, mark, partial(CopilotSession, session_id)), file, "Copilot")


_TIME_CHARS = 40
_MAX_CALLS = 500
"""Of one message: no model makes more."""
_ARGUMENTS_CHARS = 2_000_000

_OF_PERSONS = frozenset(("", "user", "cli", "immediate-prompt"))
"""Sources of messages that a person typed."""
_HIDDEN_SOURCES = ("skill", "autopilot", "system")
"""Beginnings of the sources of texts that Copilot itself wrote into the session."""
_HIDDEN_TEXTS = ("<skill-context", "<system_notification", "<system_reminder")


class CopilotSession:
    """Takes the events of one session in file order; `history` is what they say."""

    def __init__(self, session_id: str, new_from: NewFrom) -> None:
        self.session_id = session_id
        self.turns = SessionTurns(new_from)
        self._facts = SessionFacts(Harness.COPILOT, session_id)
        self._ids = IdSet()
        self._called = IdSet()
        self._by_person: dict[str, str] = {}
        self._full = False

    @property
    def done(self) -> bool:
        """Nothing further is taken: enough is kept, or it is our own call."""
        return self._full or self.turns.own_call

    def take_object(self, value: Mapping[str, object]) -> None:
        """The next object of the file."""
        kind, data = text_at(value, "type"), mapping_at(value, "data")
        take = self._EVENTS.get(kind)
        if not kind:
            self.turns.skip("bad-record")
        elif take is None and kind not in SILENT_EVENTS | SUBAGENT_EVENTS | COMPACTION_EVENTS:
            self.turns.skip_unknown(kind)
        else:
            self.turns.count(known=True)
            if text_at(value, "agentId") or text_at(data, "parentToolCallId") or kind in SUBAGENT_EVENTS:
                self.turns.skip("sub-agent")
            elif kind in COMPACTION_EVENTS:
                self.turns.skip("compact-summary")
            elif kind not in SILENT_EVENTS:
                self._take(kind, data, text_at(value, "id"), ms_of(text_at(value, "timestamp")[:_TIME_CHARS]))

    def history(self) -> History:
        """The new turns."""
        return history_of(self._facts, self.turns, remaining=self._full)

    def _take(self, kind: str, data: Mapping[str, object], id: str, at_ms: int | None) -> None:
        if id and not self._ids.add(id):
            self.turns.skip("repeated-record")
            return
        if self.turns.has_enough and self._begins_turn(kind, data):
            self._full = True
            return
        self._facts.started(at_ms)
        self.turns.enter(id or f"{kind}@{self.turns.position}", at_ms)
        self._EVENTS[kind](self, data)
        self.turns.leave()

    def _begins_turn(self, kind: str, data: Mapping[str, object]) -> bool:
        """Whether a turn begins here that no turn before it can grow beyond."""
        if kind == "tool.execution_complete":
            return not self.turns.awaits(text_at(data, "toolCallId"))
        if kind == "assistant.message":
            message_id = text_at(data, "messageId")
            return not message_id or message_id != self.turns.message_id
        return kind == "user.message"

    # -- the session --------------------------------------------------------------------------------------------------

    def _start(self, data: Mapping[str, object]) -> None:
        if text_at(data, "sessionId") not in ("", self.session_id):
            self.turns.skip("session-id-mismatch")
        self._facts.started_at_ms = ms_of(text_at(data, "startTime")[:_TIME_CHARS]) or self._facts.started_at_ms
        self._resume(data)

    def _resume(self, data: Mapping[str, object]) -> None:
        self._facts.agent = text_at(data, "selectedModel") or self._facts.agent
        self._change_context(mapping_at(data, "context"))

    def _change_context(self, context: Mapping[str, object]) -> None:
        """The session's directory is the first one; the branch is the last."""
        self._facts.cwd = self._facts.cwd or text_at(context, "cwd") or None
        self._facts.branch = text_at(context, "branch") or self._facts.branch

    def _change_model(self, data: Mapping[str, object]) -> None:
        self._facts.agent = text_at(data, "newModel") or self._facts.agent

    def _change_title(self, data: Mapping[str, object]) -> None:
        self._facts.title = text_at(data, "title").strip() or self._facts.title

    # -- what is said -------------------------------------------------------------------------------------------------

    def _say(self, data: Mapping[str, object]) -> None:
        raw, source = text_at(data, "content"), text_at(data, "source")
        if self.turns.begins_with_own_prompt(raw):
            return
        if data.get("isAutopilotContinuation") is True:
            self.turns.skip("not-typed")
        elif source.startswith(_HIDDEN_SOURCES) or raw.lstrip().startswith(_HIDDEN_TEXTS):
            self.turns.skip("harness-text")
        elif text_at(data, "agentMode") == "shell":
            self.turns.skip("command")
        elif not (text := typed_words(raw)):
            self.turns.skip("empty")
        elif source in _OF_PERSONS:
            images = sum(text_at(each, "type") in ("image", "blob") for each in objects_at(data, "attachments"))
            self.turns.say(Role.USER, "\n\n".join([text, *["[image]"] * images]), raw=raw)
        else:  # another agent, a command, something that this version does not know: no person's word
            self.turns.say(Role.TOOL, text, tool_name=source)

    def _speak(self, data: Mapping[str, object]) -> None:
        self._facts.agent = text_at(data, "model") or self._facts.agent
        requests = objects_at(data, "toolRequests")
        if len(requests) > _MAX_CALLS:
            self.turns.skip("tool-call", len(requests) - _MAX_CALLS)
        calls = [call for each in requests[:_MAX_CALLS] if (call := self._new_call(each, "name")) is not None]
        text = text_at(data, "content")
        if text.strip() or calls:
            self.turns.speak(text_at(data, "messageId") or None, text, calls)
        elif not requests:
            self.turns.skip("empty")

    def _execute(self, data: Mapping[str, object]) -> None:
        call = self._new_call(data, "toolName")
        if call is not None:
            self.turns.speak(self.turns.message_id, "", [call])

    def _request(self, data: Mapping[str, object]) -> None:
        """A command that the person ran: its output says what came of it."""
        call_id, arguments = text_at(data, "toolCallId"), _arguments(data.get("arguments"))
        if self._called.add(call_id) and len(self._by_person) < _MAX_CALLS:
            self._by_person[call_id] = text_at(arguments, "command") or text_at(data, "toolName")

    def _new_call(self, data: Mapping[str, object], name_key: str) -> Asked | None:
        """The call, unless it was recorded before."""
        call_id = text_at(data, "toolCallId")
        if call_id and not self._called.add(call_id):
            return None
        name = text_at(data, name_key) or "unknown"
        server = text_at(data, "mcpServerName")
        return asked(call_id, f"mcp__{server}__{name}" if server else name, _arguments(data.get("arguments")))

    def _answer(self, data: Mapping[str, object]) -> None:
        result = mapping_at(data, "result")
        text = text_at(result, "content", "detailedContent") or text_at(mapping_at(data, "error"), "message")
        call_id, failed = text_at(data, "toolCallId"), data.get("success") is False
        command = self._by_person.pop(call_id, None)
        if command is None:
            self.turns.answer(call_id or None, text, failed=failed)
        else:
            shown = MEMORY_OUTPUT_PLACEHOLDER if is_memory_command(command) else text
            self.turns.answer(None, f"$ {command}\n{shown}", tool_name="shell", failed=failed)

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


def _arguments(value: object) -> Mapping[str, object]:
    """The arguments of a call: an object, or the text of one."""
    if isinstance(value, str) and len(value) <= _ARGUMENTS_CHARS:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"command": value}
    return value if is_object(value) else {}


SILENT_EVENTS = frozenset(
    (
        *("abort", "pending_messages.modified", "skill.invoked", "hook.start", "hook.end", "hook.progress"),
        *("system.message", "system.notification"),
        *(
            f"session.{name}"
            for name in (
                *("autopilot_objective_changed", "auto_mode_resolved", "background_tasks_changed", "binary_asset"),
                *("context_cleared", "custom_agents_updated", "custom_notification", "error", "extensions_loaded"),
                *("handoff", "idle", "import_legacy", "info", "mcp_server_status_changed", "mcp_servers_loaded"),
                *("mode_changed", "permissions_changed", "plan_changed", "remote_steerable_changed"),
                *("schedule_cancelled", "schedule_created", "schedule_rearmed", "session_limits_changed", "shutdown"),
                *("skills_loaded", "snapshot_rewind", "task_complete", "todos_changed", "tools_updated", "truncation"),
                *("usage_checkpoint", "usage_info", "warning", "workspace_file_changed"),
            )
        ),
        *(
            f"assistant.{name}"
            for name in (
                *("intent", "message_delta", "message_start", "reasoning", "reasoning_delta", "streaming_delta"),
                *("turn_end", "turn_retry", "turn_start", "usage", "tool_call_delta"),
            )
        ),
        *("model.call_failure", "tool.execution_partial_result", "tool.execution_progress"),
        *("capabilities.changed", "commands.changed", "sampling.requested", "sampling.completed"),
        *("command.queued", "command.execute", "command.completed", "mcp.oauth_required", "mcp.oauth_completed"),
        *("elicitation.requested", "elicitation.completed", "user_input.requested", "user_input.completed"),
        *("exit_plan_mode.requested", "exit_plan_mode.completed", "external_tool.requested", "external_tool.completed"),
        *("permission.requested", "permission.completed"),
        *("auto_mode_switch.requested", "auto_mode_switch.completed"),
    )
)
"""Among them `hook.*`, nearly half of all, which repeat what was typed, and `session.snapshot_rewind`: what was rewound is
removed from the file."""

SUBAGENT_EVENTS = frozenset(
    ("subagent.started", "subagent.completed", "subagent.failed", "subagent.selected", "subagent.deselected")
)

COMPACTION_EVENTS = frozenset(("session.compaction_start", "session.compaction_complete"))
