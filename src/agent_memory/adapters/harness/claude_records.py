"""One record of a Claude Code transcript, from the object on its line to what it says. Pure; never raises.

The format is internal to Claude Code and differs between versions; what is not understood is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import islice

from agent_memory.adapters.harness.any_json import mapping_at, text_at
from agent_memory.adapters.harness.claude_record import Answered, LeftOut, Part, QueueStep, Record, Returned, Said
from agent_memory.adapters.harness.claude_texts import element, notice_in, typed_text
from agent_memory.adapters.harness.turn_drafts import Asked, asked
from agent_memory.domain.history import UNKNOWN_TYPE
from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import machine_text

_SILENT_TYPES = frozenset(
    (
        *("progress", "file-history-snapshot", "file-history-delta", "mode", "permission-mode", "bridge-session"),
        *(
            "atis-latch",
            "worktree-state",
            "frame-link",
            "last-prompt",
            "agent-name",
            "agent-color",
            "agent-setting",
            "tag",
        ),
    )
)
_TELLING_TYPES = frozenset(("user", "assistant", "attachment", "queue-operation", "pr-link"))
_FACTUAL_TYPES = frozenset(("system", "summary", "ai-title", "custom-title", "relocated"))
_KNOWN_TYPES = _SILENT_TYPES | _TELLING_TYPES | _FACTUAL_TYPES

_TYPE_CHARS = 40
_TIME_CHARS = 40


def read_record(value: Mapping[str, object]) -> Record | None:
    """The record in an object; None for an object that no version of Claude Code writes."""
    kind = value.get("type")
    if not isinstance(kind, str) or not kind:
        return None
    uuid = text_at(value, "uuid")
    at_ms = ms_of(text_at(value, "timestamp")[:_TIME_CHARS])
    if kind in _SILENT_TYPES:
        return _silent(value, uuid or _id_from(value), bool(uuid), at_ms)
    relocated = text_at(value, "relocatedCwd") or None
    title, rank = _title(kind, value)
    return Record(
        id=uuid or _id_from(value),
        has_own_id=bool(uuid),
        known=kind in _KNOWN_TYPES,
        parts=tuple(_parts(kind, value)),
        parent_id=text_at(value, "parentUuid") or text_at(value, "logicalParentUuid") or None,
        session_id=text_at(value, "sessionId") or None,
        at_ms=at_ms,
        cwd=text_at(value, "cwd") or None,
        relocated_cwd=relocated if kind == "relocated" else None,
        branch=_branch(value),
        model=_model(kind, value),
        entrypoint=text_at(value, "entrypoint") or None,
        sidechain=value.get("isSidechain") is True,
        human=text_at(mapping_at(value, "origin"), "kind") == "human",
        scheduled=text_at(value, "subtype") == "scheduled_task_fire",
        title=title,
        title_rank=rank,
        title_leaf_id=text_at(value, "leafUuid") or None,
        retracted_ids=_retracted(value),
    )


def _silent(value: Mapping[str, object], id: str, has_own_id: bool, at_ms: int | None) -> Record:
    """Most lines of a transcript say nothing, but others are children of theirs."""
    return Record(
        id=id,
        has_own_id=has_own_id,
        parent_id=text_at(value, "parentUuid") or None,
        session_id=text_at(value, "sessionId") or None,
        at_ms=at_ms,
        cwd=text_at(value, "cwd") or None,
        branch=_branch(value),
        sidechain=value.get("isSidechain") is True,
    )


def _parts(kind: str, value: Mapping[str, object]) -> Iterator[Part]:
    if kind in _KNOWN_TYPES:
        yield from parts_of(kind, value)
    else:
        yield LeftOut(f"{UNKNOWN_TYPE}{kind[:_TYPE_CHARS]}")


def _title(kind: str, value: Mapping[str, object]) -> tuple[str | None, int]:
    for rank, (of_kind, key) in enumerate(
        (("summary", "summary"), ("ai-title", "aiTitle"), ("custom-title", "customTitle")), 1
    ):
        if kind == of_kind and text_at(value, key).strip():
            return text_at(value, key), rank
    return None, 0


def _retracted(value: Mapping[str, object]) -> tuple[str, ...]:
    ids = value.get("retractedMessageUuids")
    return tuple(id for id in ids if isinstance(id, str)) if is_list(ids) else ()


def _branch(value: Mapping[str, object]) -> str | None:
    branch = text_at(value, "gitBranch")
    return branch if branch not in ("", "HEAD") else None


def _model(kind: str, value: Mapping[str, object]) -> str | None:
    model = text_at(mapping_at(value, "message"), "model") if kind == "assistant" else ""
    return model if model not in ("", SYNTHETIC_MODEL) else None


def _id_from(value: Mapping[str, object]) -> str:
    told = (
        text_at(value, "type"),
        text_at(value, "timestamp"),
        repr(value.get("message") or value.get("attachment") or value),
    )
    return blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


SYNTHETIC_MODEL = "<synthetic>"
"""Stands where a model is named in what Claude Code made itself."""

_REJECTED = "The user doesn't want to proceed with this tool use."
_REJECTED_BECAUSE = "the user said:"
_NOTIFICATION = "task-notification"
_REASON_CHARS = 40
_MAX_CALLS = 500
"""Of one record: no message of a model holds more."""


def parts_of(kind: str, value: Mapping[str, object]) -> Iterator[Part]:
    """The parts of a record of this type, in their order; none of a type that tells nothing."""
    if kind == "user":
        yield from _of_user(value)
    elif kind == "assistant":
        yield from _of_assistant(value)
    elif kind == "attachment":
        yield _of_attachment(value)
    elif kind == "queue-operation":
        yield QueueStep(text_at(value, "operation"), text_at(value, "content"), text_at(value, "reason"))
    elif kind == "pr-link":
        yield _of_pull_request(value)


# -- user records -----------------------------------------------------------------------------------------------------


def _of_user(value: Mapping[str, object]) -> Iterator[Part]:
    message = value.get("message")
    content = message.get("content") if is_object(message) else None
    if not isinstance(content, str) and not is_list(content):
        yield LeftOut("bad-record")
        return
    blocks: list[object] = [content] if isinstance(content, str) else content
    texts = [text for block in blocks if (text := _block_text(block)) is not None]
    for block in blocks:
        if is_object(block) and block.get("type") == "tool_result":
            yield _returned(block, value)
    if any(is_object(block) and block.get("type") not in _USER_BLOCKS for block in blocks):
        yield LeftOut("unknown-block")
    if any(not isinstance(block, dict | str) for block in blocks):
        yield LeftOut("bad-record")
    if texts:
        yield from _said(texts, value, images=sum(_is_image(block) for block in blocks))


_USER_BLOCKS = ("text", "tool_result", "image", "document")


def _said(texts: list[str], value: Mapping[str, object], images: int) -> Iterator[Part]:
    for flag, reason in (
        ("isMeta", "meta"),
        ("isCompactSummary", "compact-summary"),
        ("isVisibleInTranscriptOnly", "meta"),
    ):
        if value.get(flag) is True:
            yield LeftOut(reason)
            return
    raw = "\n\n".join(texts)
    kind = text_at(mapping_at(value, "origin"), "kind")
    if notice_in(raw) == _NOTIFICATION and kind in ("", _NOTIFICATION):
        yield _notified(raw)
        return
    typed = typed_text(texts)
    if not typed.text:
        yield LeftOut(typed.left_out or "empty")
        return
    by_system = value.get("promptSource") == "system"
    sent_by = machine_text(typed.text) or kind or ("system" if by_system else "human")
    source = None if sent_by == "human" else sent_by[:_REASON_CHARS]
    yield Said("\n\n".join([typed.text, *["[image]"] * images]), raw, source)


def _notified(raw: str) -> Said:
    """What a background task reported, empty where it did not."""
    return Said(element(raw, "result") or element(raw, "summary"), raw, source=_NOTIFICATION, prompt=False)


def _returned(block: Mapping[str, object], value: Mapping[str, object]) -> Returned:
    text = _content_text(block.get("content"))
    failed = block.get("is_error") is True
    outcome = value.get("toolUseResult")
    refused = failed and text.startswith(_REJECTED) and _REJECTED_BECAUSE in text
    return Returned(
        text,
        text_at(block, "tool_use_id") or None,
        failed=failed,
        answers=_answers(outcome),
        rejection=typed_text([text.split(_REJECTED_BECAUSE, 1)[1]]).text if refused else "",
        rejection_sure=outcome == "User rejected tool use" or value.get("toolDenialKind") == "user-rejected",
    )


def _answers(outcome: object) -> str:
    answers = outcome.get("answers") if is_object(outcome) else None
    if not is_object(answers):
        return ""
    return "\n".join(answer for answer in answers.values() if isinstance(answer, str) and answer.strip())


# -- assistant records ------------------------------------------------------------------------------------------------


def _of_assistant(value: Mapping[str, object]) -> Iterator[Part]:
    message = value.get("message")
    content = message.get("content") if is_object(message) else None
    if not is_object(message) or not (isinstance(content, str) or is_list(content)):
        yield LeftOut("bad-record")
        return
    if value.get("isApiErrorMessage") is True or message.get("model") == SYNTHETIC_MODEL:
        yield LeftOut("api-error")
        return
    blocks: list[object] = [content] if isinstance(content, str) else content
    texts = [text for block in blocks if (text := _block_text(block)) is not None and text.strip()]
    calls = tuple(islice((_asked(block) for block in blocks if is_object(block) and _is_call(block)), _MAX_CALLS))
    if texts or calls:
        yield Answered(text_at(message, "id") or None, "\n\n".join(texts), calls)
    for block in blocks:
        if is_object(block) and str(block.get("type")).endswith("_tool_result"):
            yield Returned(_content_text(block.get("content")), text_at(block, "tool_use_id") or None)


def _is_call(block: Mapping[str, object]) -> bool:
    return block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use")


def _asked(block: Mapping[str, object]) -> Asked:
    return asked(text_at(block, "id"), text_at(block, "name") or "unknown", mapping_at(block, "input"))


# -- other records ----------------------------------------------------------------------------------------------------


def _of_attachment(value: Mapping[str, object]) -> Part:
    attachment = mapping_at(value, "attachment")
    if attachment.get("type") != "queued_command":
        return LeftOut("attachment")
    prompt = attachment.get("prompt")
    raw = prompt if isinstance(prompt, str) else _content_text(prompt)
    kind = text_at(mapping_at(attachment, "origin"), "kind") or text_at(mapping_at(value, "origin"), "kind")
    if notice_in(raw) == _NOTIFICATION:
        return _notified(raw)
    if kind not in ("", "human") or attachment.get("commandMode", "prompt") != "prompt":
        return LeftOut("not-typed")
    typed = typed_text([raw])
    return Said(typed.text, raw, queued=True, prompt=False) if typed.text else LeftOut(typed.left_out or "empty")


def _of_pull_request(value: Mapping[str, object]) -> Part:
    url, number = text_at(value, "prUrl"), value.get("prNumber")
    if not url:
        return LeftOut("bad-record")
    repository = text_at(value, "prRepository")
    return Returned(f"Pull request {number} of {repository}: {url}", None, tool_name="pr-link")


# -- blocks of any shape ----------------------------------------------------------------------------------------------


def _block_text(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if is_object(block) and block.get("type") == "text":
        return text_at(block, "text")
    return None


def _is_image(block: object) -> bool:
    return is_object(block) and block.get("type") in ("image", "document")


def _content_text(content: object) -> str:
    """The text of a tool's answer: a string, or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = content if is_list(content) else [content]
    return "\n".join(text for block in blocks if (text := _answer_block(block)))


def _answer_block(block: object) -> str:
    if is_object(block):
        if _is_image(block):
            return "[image]"
        return text_at(block, "text") or " ".join(filter(None, (text_at(block, "title"), text_at(block, "url"))))
    return block if isinstance(block, str) else ""
