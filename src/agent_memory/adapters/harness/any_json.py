"""Values of any shape, as they come from a harness: what is not of the expected kind reads as empty."""

from __future__ import annotations

import json
from collections.abc import Mapping

from agent_memory.domain.json_shape import is_list, is_object

_ANSWER_KEYS = ("output", "content", "contents", "text", "message", "stdout", "stderr", "summary", "result")


def text_at(value: Mapping[str, object], *keys: str) -> str:
    """The first of these members that is a text, empty texts passed over; empty where none is."""
    for key in keys:
        text = value.get(key)
        if isinstance(text, str) and text:
            return text
    return ""


def mapping_at(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The member if it is an object, else an empty one."""
    inner = value.get(key)
    return inner if is_object(inner) else {}


def list_at(value: Mapping[str, object], key: str) -> list[object]:
    """The member if it is a list, else an empty one."""
    inner = value.get(key)
    return inner if is_list(inner) else []


def objects_at(value: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    """The objects in a member that is a list."""
    return [each for each in list_at(value, key) if is_object(each)]


def number_at(value: Mapping[str, object], key: str) -> int | None:
    """The member if it is a whole number, or one with a fraction, which is cut off."""
    number = value.get(key)
    if isinstance(number, float) and abs(number) < 1e18:
        number = int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def object_in(text: str) -> Mapping[str, object]:
    """The object that a text is the JSON of, as arguments of tools are kept; an empty one for another text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if is_object(value) else {}


def answer_text(answer: object, max_depth: int = 20) -> str:
    """The text of a tool's answer: a string, a list of blocks, or an object that holds it under one of several names.
    Never raises; what is nested deeper is left out."""
    if isinstance(answer, str):
        return answer
    if answer is None or max_depth == 0:
        return ""
    if is_list(answer):
        return "\n".join(text for part in answer if (text := answer_text(part, max_depth - 1)))
    if is_object(answer):
        texts = [answer_text(answer[key], max_depth - 1) for key in _ANSWER_KEYS if key in answer]
        return "\n".join(filter(None, texts)) or _as_json(answer)
    return str(answer)


def _as_json(value: Mapping[str, object]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""
