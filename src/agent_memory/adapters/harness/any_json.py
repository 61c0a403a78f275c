"""Values of any shape, as they come from a harness: what is not of the expected kind reads as empty."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b

from agent_memory.domain.instants import ms_of
from agent_memory.domain.json_shape import is_list, is_object

Json = Mapping[str, object]

_TIME_CHARS = 40
_ANSWER_KEYS = (
    *("output", "content", "contents", "text", "message", "stdout", "stderr", "summary", "result"),
    *("error", "resource", "functionResponse", "response"),
)


def text_at(value: Json, *keys: str) -> str:
    """The first of these members that is a text, empty texts passed over; empty where none is."""
    for key in keys:
        text = value.get(key)
        if isinstance(text, str) and text:
            return text
    return ""


def mapping_at(value: Json, *keys: str) -> Json:
    """The member if it is an object, else an empty one; of several keys each leads one level deeper."""
    for key in keys:
        inner = value.get(key)
        if not is_object(inner):
            return {}
        value = inner
    return value


def list_at(value: Json, key: str) -> list[object]:
    """The member if it is a list, else an empty one."""
    inner = value.get(key)
    return inner if is_list(inner) else []


def objects_at(value: Json, key: str) -> list[Json]:
    """The objects in a member that is a list."""
    return [each for each in list_at(value, key) if is_object(each)]


def number_at(value: Json, key: str) -> int | None:
    """The member if it is a whole number, or one with a fraction, which is cut off."""
    number = value.get(key)
    if isinstance(number, float) and abs(number) < 1e18:
        number = int(number)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def time_at(value: Json, key: str) -> int | None:
    """The epoch ms of a member that is an ISO time; None for any other."""
    return ms_of(text_at(value, key)[:_TIME_CHARS])


def json_in(text: str) -> object:
    """The value that a text is the JSON of; None for another text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def object_in(value: object) -> Json:
    """An object, or the one that a text is the JSON of, as arguments of tools are kept; else an empty one."""
    inner = json_in(value) if isinstance(value, str) else value
    return inner if is_object(inner) else {}


def texts_in(content: object, separator: str = "\n\n", *, image: str = "") -> str:
    """The text of a message: a text, or the texts of its blocks; `image` stands for each image."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in content if is_list(content) else [content]:
        if is_object(block):
            is_image = bool(image) and block.get("type") in ("image", "document")
            texts.append(image if is_image else text_at(block, "text"))
        elif isinstance(block, str):
            texts.append(block)
    return separator.join(filter(None, texts))


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
        if any(kind in text_at(answer, "type") for kind in ("image", "document")) or "inlineData" in answer:
            return "[image]"
        texts = [answer_text(answer[key], max_depth - 1) for key in _ANSWER_KEYS if key in answer]
        if not texts and text_at(answer, "url"):  # of a page that was found
            return " ".join(filter(None, (text_at(answer, "title"), text_at(answer, "url"))))
        return "\n".join(filter(None, texts)) if texts or not answer else _as_json(answer)
    return str(answer)


def digest_of(*texts: str) -> str:
    """An id made from what a record says."""
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def _as_json(value: Json) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""
