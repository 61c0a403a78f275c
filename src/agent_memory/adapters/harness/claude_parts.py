"""What is said in one record of a Claude Code transcript, part by part. Pure; never raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from agent_memory.adapters.harness.any_json import mapping_at, text_at
from agent_memory.adapters.harness.claude_record import Answered, LeftOut, Part, QueueStep, Returned, Said
from agent_memory.adapters.harness.claude_texts import element, notice_in, typed_text
from agent_memory.adapters.harness.turn_drafts import Asked, asked
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.transcripts.own_marks import machine_text

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
