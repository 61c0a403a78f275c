"""What a person typed, out of what Codex records as a user's text, and what a tool printed, out of its outputs (0.2 to
0.149)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from attrs import frozen

from agent_memory.adapters.harness.any_json import mapping_at, text_at
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import typed_words

_NOTIFICATION = "<subagent_notification>"
_INJECTED = (
    *("# AGENTS.md instructions", "<INSTRUCTIONS>", "<user_instructions>", "<environment_context>", "<skill>"),
    *("<recommended_plugins>", "<goal_context>", "<codex_internal_context", "<turn_aborted>", "<hook_prompt"),
    *("<user_action>", "<user_shell_command>", "<permissions instructions>", "<collaboration_mode>", "<model_switch>"),
    *("<skills_instructions>", "<apps_instructions>", "<plugins_instructions>", "<personality_spec>", _NOTIFICATION),
    "Warning: The maximum number of unified exec processes",
)
"""How the texts begin that Codex puts into a session in the person's name."""
_TAG = re.compile(r"<([A-Za-z][\w-]*)")
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]{0,300})?>.*</\1>", re.DOTALL)
_IDE_CONTEXT = re.compile(r"^# Context from my IDE setup:", re.MULTILINE)
_IDE_REQUEST = re.compile(r".*^## My request for Codex:", re.DOTALL | re.MULTILINE)

_OUTPUT_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited|Process running|Original token count|Total output lines|Command)"
    r"[^\n]{0,300}\n){1,8}Output:\n?"
)
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)


@frozen
class Typed:
    """What is left of a user's text; where nothing is, `left_out` says what it was. `report` is what a sub-agent answered
    to its parent, recorded as if the person had said it."""

    text: str = ""
    left_out: str | None = None
    report: str = ""


def typed_text(blocks: Sequence[str], *, as_event: bool) -> Typed:
    """What the person typed: without what Codex, an editor or memory put there. Outside of an event, which holds nothing
    else, a text that is all one tag is the harness's as well. What an editor put before the request may hold the request's
    heading too: the last one counts."""
    kept: list[str] = []
    tags: set[str] = set()
    report = ""
    for text in map(str.strip, blocks):
        if text.startswith(_NOTIFICATION):
            report = _report(text)
        if text.startswith(_INJECTED):
            if tag := _TAG.match(text):  # what it wraps may go on in the next block
                tags.add(tag[1])
                kept.append(f"<{tag[1]}>" + f"</{tag[1]}>" * (f"</{tag[1]}" in text))
        elif not text.startswith(("<image", "</image>")) and (as_event or not _TAGGED.fullmatch(text)):
            kept.append(text)
    words = typed_words(kept, tuple(sorted(tags)))
    request = _IDE_REQUEST.match(words)
    said = words[request.end() :].strip() if request else "" if _IDE_CONTEXT.search(words) else words
    if said or report:
        return Typed(said, report=report)
    return Typed(left_out="harness-text" if any(block.strip() for block in blocks) else "empty")


@frozen
class Printed:
    """What a tool printed, without the head that Codex puts before it."""

    text: str
    failed: bool = False


def printed(output: object) -> Printed:
    """The text of a tool's output: a text, with or without a head or in JSON, an object or a list of blocks."""
    if isinstance(output, str):
        return _printed_text(output)
    if is_list(output):
        return Printed("\n".join(filter(None, map(_block_text, output))))
    if is_object(output):
        if "content" in output or "output" in output:
            inner = printed(output.get("content") or output.get("output"))
            code = mapping_at(output, "metadata").get("exit_code")
            return Printed(inner.text, inner.failed or output.get("success") is False or _is_failure(code))
        streams = [text_at(output, key) for key in ("text", "stdout", "stderr")]
        text = "\n".join(filter(None, streams)) or (json.dumps(output, ensure_ascii=False) if output else "")
        return Printed(text, _is_failure(output.get("exitCode")))
    return Printed("" if output is None else str(output))


def command_of(arguments: Mapping[str, object]) -> str:
    """The shell command among a call's arguments: a text, or a list of words, of which `bash -lc` is taken away."""
    command = arguments.get("command", arguments.get("cmd"))
    if isinstance(command, str):
        return command
    words = [word for word in command if isinstance(word, str)] if is_list(command) else []
    if len(words) == 3 and words[1] in ("-lc", "-c"):
        return words[2]
    return " ".join(words)


def _report(text: str) -> str:
    body = text.removeprefix(_NOTIFICATION).removesuffix("</subagent_notification>").strip()
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return body
    status = told.get("status") if is_object(told) else None
    if is_object(status):
        return "\n".join(text for text in status.values() if isinstance(text, str))
    return body if not isinstance(status, str) else status


def _printed_text(output: str) -> Printed:
    if output.startswith("{"):
        try:
            inner = json.loads(output)
        except (ValueError, RecursionError):
            inner = None
        if is_object(inner) and isinstance(inner.get("output"), str):
            code = mapping_at(inner, "metadata").get("exit_code")
            return Printed(inner["output"], _is_failure(code))
    head = _OUTPUT_HEAD.match(output)
    if head is None:
        return Printed(output)
    code = _EXIT_CODE.search(head[0])
    return Printed(output[head.end() :], code is not None and code[1] != "0")


def _is_failure(code: object) -> bool:
    return isinstance(code, int) and not isinstance(code, bool) and code != 0


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if not is_object(block):
        return ""
    return text_at(block, "text") or ("[image]" if "image" in text_at(block, "type") else "")
