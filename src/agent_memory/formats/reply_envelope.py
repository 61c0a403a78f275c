"""The one JSON object in what an agent printed that answers a request, read strictly (P9)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from json import JSONDecodeError, dumps
from typing import Any

import json_repair
from attrs import frozen

from agent_memory.domain.json_shape import is_object
from agent_memory.errors import ReplyRefused
from agent_memory.formats.strict_json import MAX_DEPTH, NotJson, load_json

MAX_REPLY_CHARS = 4 * 1024 * 1024

_MAX_WORK = 40_000_000
"""Bound on scanning, some tenths of a second: honest text takes a few passes, text made to be slow is given up."""
_WORK_A_MARK = 20
_MAX_PLACES = 64
_MAX_REPAIRED_CHARS = 600_000

_THOUGHT = re.compile(r"<(think|thinking|reasoning|scratchpad)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"[\"{}\[\]]")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_CLOSES = {"}": "{", "]": "["}
_LETTER_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


@frozen
class _Found:
    """A whole object and where it stands: offsets into the text, the end exclusive."""

    start: int
    end: int
    value: dict[str, Any]


def find_envelope(text: str, nonce: str) -> Mapping[str, Any]:
    """The one JSON object of the text that carries this nonce.

    Prose, thinking tags, code fences and an echo of the prompt around it are ignored. ReplyRefused: no such object, several
    different ones, a key twice, over the limit.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise ReplyRefused((f"it is longer than {MAX_REPLY_CHARS:,} characters",))
    if not nonce:
        raise ReplyRefused(("the request had no nonce",))
    if not text.strip("\ufeff \t\r\n"):
        raise ReplyRefused(("it is empty",))
    candidates, problems = _objects_with(text, nonce)
    if len(candidates) > 1:
        thoughts = [thought.span() for thought in _THOUGHT.finditer(text)]
        said = [
            each for each in candidates if not any(start <= each.start and each.end <= end for start, end in thoughts)
        ]
        candidates = said or candidates
    if not candidates:
        why = problems or ("it is cut off, or the agent did not answer in the envelope",)
        raise ReplyRefused(("no whole JSON object in it carries the nonce", *why))
    if any(each.value != candidates[0].value for each in candidates):
        raise ReplyRefused((f"{len(candidates)} different objects in it carry the nonce",))
    return candidates[0].value


def _objects_with(text: str, nonce: str) -> tuple[list[_Found], tuple[str, ...]]:
    """Every whole object whose own nonce is this, in order, the innermost where objects are nested; and in words why other
    places were not one."""
    pattern = re.compile(rf"nonce[\"']?\s*:\s*[\"']?{re.escape(nonce)}(?!\w)")
    found: list[_Found] = []
    problems: list[str] = []
    work = 0
    for place, occurrence in enumerate(pattern.finditer(text)):
        if place == _MAX_PLACES:
            problems.append(f"more than {_MAX_PLACES} places look like the envelope")
            break
        if any(each.start <= occurrence.start() < each.end for each in found):
            continue
        start = text.rfind("{", 0, occurrence.start())
        while start >= 0 and work < _MAX_WORK:
            end, effort = _end_of_object(text, start)
            work += effort
            if end is not None and end >= occurrence.end():
                try:
                    value = _read(text[start:end])
                except NotJson as error:
                    problems.append(str(error))
                    break
                if is_object(value) and value.get("nonce") == nonce:
                    found.append(_Found(start, end, value))
                    break
            start = text.rfind("{", 0, start)
    if work >= _MAX_WORK:
        problems.append("the text is too entangled to be searched")
    return sorted(found, key=lambda each: each.start), tuple(dict.fromkeys(problems))


def _end_of_object(text: str, start: int) -> tuple[int | None, int]:
    """Where the object that opens at `start` ends, None when it is cut, crossed or nested too deeply; and the work that it took."""
    open_marks: list[str] = []
    position, marks, end = start, 0, None
    while mark := _MARK.search(text, position):
        marks += 1
        position = mark.end()
        if mark[0] == '"':
            string = _STRING.match(text, mark.start())
            if string is None:
                position = len(text)
                break
            position = string.end()
        elif mark[0] in "{[":
            open_marks.append(mark[0])
            if len(open_marks) > MAX_DEPTH:
                break
        elif not open_marks or open_marks.pop() != _CLOSES[mark[0]]:
            break
        elif not open_marks:
            end = position
            break
    return end, position - start + marks * _WORK_A_MARK


def _read(text: str) -> Any:
    """The value of a whole object. What is not quite JSON is repaired, provided that the repair neither adds nor loses a letter or
    digit; a cut object is never completed."""
    try:
        return load_json(text)
    except NotJson as problem:
        if not isinstance(problem.__cause__, JSONDecodeError) or len(text) > _MAX_REPAIRED_CHARS:
            raise
        repaired = json_repair.loads(text, skip_json_loads=True)
        if not is_object(repaired) or _letters(dumps(repaired, ensure_ascii=False)) != _letters(text):
            raise
        return repaired


def _letters(json_text: str) -> Counter[str]:
    """How often each letter and digit occurs, however it is escaped: what a repair must not change."""
    plain = _LETTER_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else " ", json_text)
    return Counter(character for character in plain.casefold() if character.isalnum())
