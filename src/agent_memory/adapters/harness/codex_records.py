"""One line of a Codex rollout, from its object to what it says. Pure; never raises.

A line is `{timestamp, type, payload}` (0.149 adds `ordinal`); rollouts of 2025's first versions have the payload itself as
their line. The format is internal to Codex and differs between versions: what is not understood is left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b

from agent_memory.adapters.harness.any_json import list_at, mapping_at, objects_at, text_at
from agent_memory.adapters.harness.codex_parts import (
    Called,
    Finished,
    LeftOut,
    Origin,
    Part,
    Patched,
    Record,
    Reported,
    Returned,
    Searched,
    Spoken,
)
from agent_memory.adapters.harness.codex_texts import Printed, command_of, printed, typed_text
from agent_memory.adapters.harness.turn_drafts import Asked, asked
from agent_memory.domain.history import UNKNOWN_TYPE, Role
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.transcripts.tool_calls import changed_lines

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


# -- what events say --------------------------------------------------------------------------------------------------


def _user_event(payload: Mapping[str, object]) -> Iterator[Part]:
    if text_at(payload, "kind") not in ("", "plain"):
        yield LeftOut("harness-text")
        return
    yield from _said([text_at(payload, "message")], "event")


def _agent_event(payload: Mapping[str, object]) -> Iterator[Part]:
    yield Spoken(Role.AGENT, text_at(payload, "message"), "event")


def _task_complete(payload: Mapping[str, object]) -> Iterator[Part]:
    if text_at(payload, "last_agent_message"):
        yield Spoken(Role.AGENT, text_at(payload, "last_agent_message"), "task")


def _exec_end(payload: Mapping[str, object]) -> Iterator[Part]:
    command = command_of(payload)
    text = text_at(payload, "aggregated_output") or "\n".join(
        filter(None, (text_at(payload, "stdout"), text_at(payload, "stderr")))
    )
    output = Printed(text, payload.get("exit_code") not in (0, None))
    call = asked(text_at(payload, "call_id", "id"), "shell", {"command": command})
    yield Finished(call, output, by_person=text_at(payload, "source").startswith("user"))


def _mcp_end(payload: Mapping[str, object]) -> Iterator[Part]:
    invocation = mapping_at(payload, "invocation") or payload
    name = f"mcp__{text_at(invocation, 'server')}__{text_at(invocation, 'tool')}"
    result = mapping_at(payload, "result")
    succeeded = mapping_at(result, "Ok") or result
    output = printed(succeeded.get("content", result.get("Err", [])))
    failed = output.failed or succeeded.get("isError") is True or "Err" in result
    call = asked(text_at(payload, "call_id", "id"), name, mapping_at(invocation, "arguments"))
    yield Finished(call, Printed(output.text, failed))


def _patch_end(payload: Mapping[str, object]) -> Iterator[Part]:
    if payload.get("success") is False:
        yield LeftOut("failed-patch")
        return
    calls: list[Asked] = []
    for path, change in mapping_at(payload, "changes").items():
        told = change if is_object(change) else {}
        lines = text_at(told, "unified_diff").splitlines()
        new = changed_lines(lines) if lines else {"new_str": text_at(told, "content")}
        calls.append(asked("", "apply_patch", {"path": text_at(told, "move_path") or path, **new}))
    yield Patched(text_at(payload, "call_id", "id"), tuple(calls))


def _search_end(payload: Mapping[str, object]) -> Iterator[Part]:
    results = [
        " ".join(filter(None, (text_at(each, "title"), text_at(each, "url"), text_at(each, "snippet"))))
        for each in objects_at(payload, "results")
    ]
    yield Searched(_query_of(payload), "\n".join(filter(None, results)), "event")


def _review_end(payload: Mapping[str, object]) -> Iterator[Part]:
    review = mapping_at(payload, "review_output")
    findings = [f"{text_at(each, 'title')}\n{text_at(each, 'body')}" for each in objects_at(review, "findings")]
    text = "\n\n".join(filter(None, map(str.strip, [text_at(review, "overall_explanation"), *findings])))
    if text:
        yield Reported("review", text)


def _item(payload: Mapping[str, object]) -> Iterator[Part]:
    item = mapping_at(payload, "item")
    kind = text_at(item, "type")
    if kind in _ITEMS:
        yield from _ITEMS[kind](item)
    elif kind not in _SILENT_ITEMS:
        yield LeftOut(f"{UNKNOWN_TYPE}item_completed/{kind}")


def _user_item(item: Mapping[str, object]) -> Iterator[Part]:
    yield from _said([text_at(block, "text") for block in objects_at(item, "content")], "item")


def _agent_item(item: Mapping[str, object]) -> Iterator[Part]:
    texts = [text_at(block, "text") for block in objects_at(item, "content")] or [text_at(item, "text")]
    yield Spoken(Role.AGENT, "\n\n".join(filter(None, texts)), "item")


# -- what records for the model say -----------------------------------------------------------------------------------


def _message(payload: Mapping[str, object]) -> Iterator[Part]:
    content = payload.get("content")
    blocks = (
        [content] if isinstance(content, str) else [text_at(block, "text") for block in objects_at(payload, "content")]
    )
    role = text_at(payload, "role")
    if role == "user":
        yield from _said(blocks, "record")
    elif role == "assistant":
        yield Spoken(Role.AGENT, "\n\n".join(filter(None, blocks)), "record")
    else:
        yield LeftOut("harness-text")


def _call(payload: Mapping[str, object]) -> Iterator[Part]:
    named = text_at(payload, "name") or text_at(mapping_at(payload, "function"), "name")
    name = named or text_at(payload, "type").removesuffix("_call")
    namespace = text_at(payload, "namespace").rstrip("_")
    arguments = _arguments(payload)
    yield Called(_called(text_at(payload, "call_id", "id"), f"{namespace}__{name}" if namespace else name, arguments))


def _shell_call(payload: Mapping[str, object]) -> Iterator[Part]:
    yield Called(_called(text_at(payload, "call_id", "id"), "shell", mapping_at(payload, "action")))


def _output(payload: Mapping[str, object]) -> Iterator[Part]:
    yield Returned(text_at(payload, "call_id", "id"), printed(payload.get("output", payload.get("result"))))


def _found_tools(payload: Mapping[str, object]) -> Iterator[Part]:
    names = [text_at(each, "name") for each in objects_at(payload, "tools")]
    yield Returned(text_at(payload, "call_id"), Printed(", ".join(filter(None, names))))


def _search_call(payload: Mapping[str, object]) -> Iterator[Part]:
    yield Searched(_query_of(payload), "", "record")


# -- parts of them ----------------------------------------------------------------------------------------------------


def _said(blocks: list[str], carrier: str) -> Iterator[Part]:
    typed = typed_text(blocks, as_event=carrier != "record")
    if typed.report:
        yield Reported("subagent", typed.report)
    if typed.text:
        yield Spoken(Role.USER, typed.text, carrier, "\n\n".join(blocks))
    elif typed.left_out:
        yield LeftOut(typed.left_out)


def _arguments(payload: Mapping[str, object]) -> Mapping[str, object]:
    """A JSON text, an object, or (of a custom tool) any text, which is called `command` then."""
    given = payload.get("arguments", payload.get("input"))
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError):
            parsed = None
        given = parsed if is_object(parsed) else {"command": given}
    return given if is_object(given) else {}


def _called(call_id: str, name: str, arguments: Mapping[str, object]) -> Asked:
    command = command_of(arguments)
    steps = [
        {"content": text_at(step, "step"), "status": text_at(step, "status")} for step in objects_at(arguments, "plan")
    ]
    told = {"todos": steps} if steps else {**arguments, "command": command} if command else arguments
    return asked(call_id, name, told)


def _query_of(payload: Mapping[str, object]) -> str:
    action = mapping_at(payload, "action")
    queries = [query for query in list_at(action, "queries") if isinstance(query, str)]
    return (
        text_at(payload, "query") or text_at(action, "query") or "; ".join(queries) or text_at(action, "url", "pattern")
    )


_Reader = Callable[[Mapping[str, object]], Iterator[Part]]

_ITEMS: Mapping[str, _Reader] = {
    "UserMessage": _user_item,
    "AgentMessage": _agent_item,
    "Plan": _agent_item,
    "CommandExecution": _exec_end,
    "McpToolCall": _mcp_end,
    "FileChange": _patch_end,
    "Extension": _search_end,
    "WebSearch": _search_end,
}
_SILENT_ITEMS = frozenset(
    ("Reasoning", "ContextCompaction", "ImageView", "ImageGeneration", "EnteredReviewMode", "ExitedReviewMode", "Sleep")
)
READERS: Mapping[str, Mapping[str, _Reader]] = {
    "event_msg": {
        "user_message": _user_event,
        "agent_message": _agent_event,
        "task_complete": _task_complete,
        "turn_complete": _task_complete,
        "exec_command_end": _exec_end,
        "mcp_tool_call_end": _mcp_end,
        "patch_apply_end": _patch_end,
        "web_search_end": _search_end,
        "exited_review_mode": _review_end,
        "item_completed": _item,
    },
    "response_item": {
        "message": _message,
        "function_call": _call,
        "custom_tool_call": _call,
        "tool_search_call": _call,
        "tool_call": _call,
        "local_shell_call": _shell_call,
        "function_call_output": _output,
        "custom_tool_call_output": _output,
        "local_shell_call_output": _output,
        "mcp_tool_call_output": _output,
        "tool_result": _output,
        "tool_search_output": _found_tools,
        "web_search_call": _search_call,
    },
}
"""How to read a payload, by the type of its line and its own."""
