"""The payloads of a Codex rollout's lines, from the object to what it says. Pure; never raises."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from agent_memory.adapters.harness.any_json import list_at, mapping_at, objects_at, text_at
from agent_memory.adapters.harness.codex_parts import (
    Called,
    Finished,
    LeftOut,
    Part,
    Patched,
    Reported,
    Returned,
    Searched,
    Spoken,
)
from agent_memory.adapters.harness.codex_texts import (
    Printed,
    command_of,
    printed,
    typed_text,
)
from agent_memory.adapters.harness.turn_drafts import Asked, asked
from agent_memory.domain.history import UNKNOWN_TYPE, Role
from agent_memory.domain.json_shape import is_object
from agent_memory.domain.transcripts.tool_calls import changed_lines

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
