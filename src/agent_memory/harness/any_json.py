"""Values of any shape, as they come from a harness: what is not of the expected kind reads as empty."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from agent_memory.text.instants import ms_of
from agent_memory.text.json_shape import is_list, is_object

Json = Mapping[str, object]

_LEAST_MS, _MOST_MS = 10**11, 10**14
"""Smaller numbers are seconds, larger ones no instants."""
_ANSWER_KEYS = (
    *("output", "content", "contents", "text", "message", "stdout", "stderr", "summary", "result"),
    *("error", "resource", "functionResponse", "response"),
)


def text(value: Json, *keys: str) -> str:
    """Returns the first of these members that is a text, empty texts passed over; empty where none is."""
    for key in keys:
        member = value.get(key)
        if isinstance(member, str) and member:
            return member
    return ""


def mapping(value: Json, *keys: str) -> Json:
    """Returns the member if it is an object, else an empty one; of several keys each leads one level deeper."""
    for key in keys:
        inner = value.get(key)
        if not is_object(inner):
            return {}
        value = inner
    return value


def items(value: Json, key: str) -> list[object]:
    """Returns the member if it is a list, else an empty one."""
    inner = value.get(key)
    return inner if is_list(inner) else []


def objects(value: Json, key: str) -> list[Json]:
    return [each for each in items(value, key) if is_object(each)]


def blocks(value: Json) -> list[Json] | None:
    """Returns the blocks of a message, of which a bare text is one; None where it has something else."""
    content = value.get("content")
    parts: list[object] = [content] if isinstance(content, str) else content if is_list(content) else [None]
    if not all(isinstance(each, str | dict) for each in parts):
        return None
    return [each if is_object(each) else {"type": "text", "text": each} for each in parts]


def block_texts(blocks: Iterable[Json]) -> list[str]:
    """Returns the texts of the blocks that are one."""
    return [told for block in blocks if block.get("type") == "text" and (told := text(block, "text")).strip()]


def number(value: Json, key: str) -> int | None:
    """Returns the member if it is a whole number of at most 18 digits, or one with a fraction, which is cut off."""
    member = value.get(key)
    if isinstance(member, bool) or not isinstance(member, int | float) or not abs(member) < 10**18:
        return None
    return int(member)


def time(value: Json, key: str) -> int | None:
    """Returns the epoch ms of a member that is an ISO time; None for any other."""
    return ms_of(text(value, key)[:40])


def instant(value: Json, *keys: str) -> int | None:
    """Returns the epoch ms of the first of these members that tells one: an ISO time, or a number of ms or seconds
    since 1970."""
    for key in keys:
        if (at_ms := time(value, key)) is not None:
            return at_ms
        since = value.get(key)
        if isinstance(since, int | float) and not isinstance(since, bool) and 0 < since < _MOST_MS:
            return int(since) if since >= _LEAST_MS else int(since * 1000)
    return None


def parsed(source: str | bytes) -> object:
    """Returns the value that a text is the JSON of; None for another text."""
    try:
        return json.loads(source)
    except (ValueError, RecursionError):
        return None


def parsed_object(value: object) -> Json:
    """Returns an object, or the one that a text is the JSON of, as arguments of tools are kept; else an empty one."""
    inner = parsed(value) if isinstance(value, str) else value
    return inner if is_object(inner) else {}


def arguments(value: object) -> Json:
    """Returns the arguments of a call: an object, the JSON text of one, or any other text, which is called `command`
    then."""
    inner = parsed(value) if isinstance(value, str) else value
    return inner if is_object(inner) else {"command": value} if isinstance(value, str) else {}


def texts(content: object, separator: str = "\n\n", *, image: str = "") -> str:
    """Returns the text of a message: a text, or the texts of its blocks; `image` stands for each image."""
    if isinstance(content, str):
        return content
    found: list[str] = []
    for block in content if is_list(content) else [content]:
        if is_object(block):
            is_image = bool(image) and block.get("type") in ("image", "document")
            found.append(image if is_image else text(block, "text"))
        elif isinstance(block, str):
            found.append(block)
    return separator.join(filter(None, found))


def answer(value: object, max_depth: int = 20) -> str:
    """Returns the text of a tool's answer: a string, a list of blocks, or an object that holds it under one of several
    names. Never raises; what is nested deeper is left out."""
    if isinstance(value, str):
        return value
    if value is None or max_depth == 0:
        return ""
    if is_list(value):
        return "\n".join(filter(None, (answer(part, max_depth - 1) for part in value)))
    if not is_object(value):
        return str(value)
    found = [answer(value[key], max_depth - 1) for key in _ANSWER_KEYS if key in value]
    if not found and ("image" in text(value, "type") or text(value, "type") == "document" or "inlineData" in value):
        return "[image]"
    if not found and text(value, "url"):  # of a page that was found
        found = [" ".join(filter(None, (text(value, "title"), text(value, "url"))))]
    if found or not value:
        return "\n".join(filter(None, found))
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""


def digest(*parts: str) -> str:
    """Returns an id made from what a record says."""
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
