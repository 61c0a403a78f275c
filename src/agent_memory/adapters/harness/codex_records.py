"""One line of a Codex rollout, from its object to what it says. Pure; never raises.

A line is `{timestamp, type, payload}` (0.149 adds `ordinal`); rollouts of 2025's first versions have the payload itself as
their line. The format is internal to Codex and differs between versions: what is not understood is left out and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from agent_memory.adapters.harness.any_json import mapping_at, objects_at, text_at
from agent_memory.adapters.harness.codex_parts import Origin, Record
from agent_memory.adapters.harness.codex_payloads import READERS
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_object

_TIME_CHARS = 40
_ID_CHARS = 1_000

_SILENT: Mapping[str, frozenset[str]] = {
    "event_msg": frozenset(
        (
            *("task_started", "turn_started", "turn_aborted", "turn.completed", "token_count", "context_compacted"),
            *("agent_reasoning", "agent_reasoning_raw_content", "thread_settings_applied", "thread_name_updated"),
            *("thread_goal_updated", "thread_rolled_back", "entered_review_mode", "error", "warning", "stream_error"),
            *("sub_agent_activity", "collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_waiting_end"),
            *("collab_close_end", "collab_agent_interaction_end", "collab_resume_end", "guardian_assessment"),
            *("image_generation_end", "view_image_tool_call", "dynamic_tool_call_request", "undo_completed"),
            *("dynamic_tool_call_response", "item_started", "exec_command_begin", "mcp_tool_call_begin"),
            *("patch_apply_begin", "web_search_begin", "codex/event/raw_item", "account/rateLimits/updated"),
            *("background_event", "session_configured", "plan_update", "turn_diff", "shutdown_complete"),
        )
    ),
    "response_item": frozenset(
        (
            "reasoning",
            "agent_message",
            "ghost_snapshot",
            "image_generation_call",
            "compaction",
            "compaction_summary",
            "other",
        )
    ),
}
_SILENT_LINES = frozenset(
    ("session_meta", "turn_context", "compacted", "world_state", "inter_agent_communication_metadata", "state")
)


def read_record(value: Mapping[str, object]) -> Record:
    """The record in an object."""
    kind, payload = _kind_of(value)
    at_ms = ms_of(text_at(value, "timestamp")[:_TIME_CHARS])
    inner = text_at(payload, "type") or ("message" if text_at(payload, "role") else "")
    full = f"{kind}/{inner}" if kind in READERS else kind
    if kind == "session_meta":
        return Record("", True, full, at_ms, origin=_origin(payload, at_ms))
    back = payload.get("num_turns") if inner == "thread_rolled_back" else 0
    begins_turn = full in ("turn_context", "event_msg/task_started")
    readers = READERS.get(kind, {})
    reader = readers.get(inner)
    parts = tuple(reader(payload)) if reader else ()
    return Record(
        id=_id_of(value, full, payload) if parts else "",
        known=kind in _SILENT_LINES or inner in readers or inner in _SILENT.get(kind, ()),
        kind=full,
        at_ms=at_ms,
        parts=parts,
        turn_id=text_at(payload, "turn_id") if begins_turn else None,
        cwd=text_at(payload, "cwd") or None if kind == "turn_context" else None,
        model=text_at(payload, "model") or None if kind == "turn_context" else None,
        title=text_at(payload, "thread_name") or None if inner == "thread_name_updated" else None,
        rolled_back=back if isinstance(back, int) and back > 0 else 0,
    )


def _kind_of(value: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    kind = text_at(value, "type")
    payload = value.get("payload")
    if is_object(payload):
        return kind, payload
    if kind in READERS["response_item"] and any(key in value for key in ("role", "name", "call_id", "action")):
        return "response_item", value
    if not kind and "timestamp" in value and ("instructions" in value or "git" in value) and text_at(value, "id"):
        return "session_meta", value
    return "state" if text_at(value, "record_type") == "state" else kind, {}


def _id_of(value: Mapping[str, object], kind: str, payload: Mapping[str, object]) -> str:
    said = text_at(payload, "message", "text", "last_agent_message", "arguments", "input", "output")
    texts = [said, *(text_at(block, "text") for block in objects_at(payload, "content")[:20])]
    told = (
        text_at(value, "timestamp"),
        kind,
        text_at(payload, "call_id", "id", "turn_id"),
        *(text[:_ID_CHARS] for text in texts),
    )
    return blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def _origin(payload: Mapping[str, object], at_ms: int | None) -> Origin:
    id = text_at(payload, "id", "session_id")
    source = payload.get("source")
    sub_agent = (is_object(source) and "subagent" in source) or text_at(payload, "thread_source") == "subagent"
    spawned = mapping_at(mapping_at(payload, "source"), "subagent")
    parents = (
        text_at(payload, "session_id"),
        text_at(payload, "parent_thread_id"),
        text_at(mapping_at(spawned, "thread_spawn"), "parent_thread_id"),
    )
    roots = [parent for parent in parents if parent not in ("", id)]
    started = ms_of(text_at(payload, "timestamp")[:_TIME_CHARS])
    return Origin(
        id=id,
        root_id=(roots[0] if roots else "") if sub_agent else None,
        forked_from_id=text_at(payload, "forked_from_id") or None,
        started_at_ms=started if started is not None else at_ms,
        cwd=text_at(payload, "cwd") or None,
        branch=text_at(mapping_at(payload, "git"), "branch") or None,
        scripted=sub_agent or source in ("exec", "mcp") or text_at(payload, "originator") == "codex_exec",
    )
