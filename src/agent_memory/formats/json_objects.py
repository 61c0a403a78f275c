"""JSON objects found in running text: one that is whole and carries a given word, whatever stands around it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from json import dumps
from typing import Any

import json_repair
from returns.result import Failure, Result, Success

from agent_memory.domain.json_shape import is_object
from agent_memory.domain.results import sealed
from agent_memory.formats.strict_json import parse_strict_json
from agent_memory.values import frozen

MAX_DEPTH = 64
"""Deeper nesting is no reply of ours."""

_MAX_WORK = 40_000_000
"""Bound on scanning, some tenths of a second: honest text takes a few passes, text made to be slow is given up."""
_WORK_A_MARK = 20
_MAX_PLACES = 64
_MAX_REPAIRED_CHARS = 600_000

_MARK = re.compile(r"[\"{}\[\]]")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_CLOSES = {"}": "{", "]": "["}
_SYNTAX = "not JSON: "
_LETTER_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


@frozen
class FoundObject:
    """A whole object and where it stands: offsets into the text, the end exclusive."""

    start: int
    end: int
    value: dict[str, Any]


@frozen
class FoundObjects:
    """What a search brought: the objects, in order, and in words why other places were not one."""

    objects: tuple[FoundObject, ...]
    problems: tuple[str, ...] = ()


@frozen
class _Scan:
    end: int | None
    work: int


def objects_with(text: str, key: str, word: str) -> FoundObjects:
    """Every whole object whose own member `key` is the string `word`; the innermost where objects are nested.

    Strict JSON is tried first. What is whole (all strings, brackets and braces closed) but not quite JSON is repaired,
    provided that the repair neither adds nor loses a letter or digit; a cut object is never completed.
    """
    pattern = re.compile(rf"{re.escape(key)}[\"']?\s*:\s*[\"']?{re.escape(word)}(?!\w)")
    found: dict[int, FoundObject] = {}
    problems: list[str] = []
    work = 0
    for place, occurrence in enumerate(pattern.finditer(text)):
        if place == _MAX_PLACES:
            problems.append(f"more than {_MAX_PLACES} places look like the envelope")
            break
        if any(each.start <= occurrence.start() < each.end for each in found.values()):
            continue
        for start, scan in _starts_before(text, occurrence.start(), _MAX_WORK - work):
            work += scan.work
            if scan.end is None or scan.end < occurrence.end():
                continue
            match sealed(_read(text[start : scan.end])):
                case Success(value) if is_object(value) and value.get(key) == word:
                    found[start] = FoundObject(start, scan.end, value)
                    break
                case Success(_):
                    continue
                case Failure(problem):
                    problems.append(problem)
                    break
    if work >= _MAX_WORK:
        problems.append("the text is too entangled to be searched")
    return FoundObjects(tuple(found[start] for start in sorted(found)), tuple(dict.fromkeys(problems)))


def _starts_before(text: str, position: int, work_left: int) -> Iterator[tuple[int, _Scan]]:
    start = text.rfind("{", 0, position)
    while start >= 0 and work_left > 0:
        scan = _scan(text, start)
        work_left -= scan.work
        yield start, scan
        start = text.rfind("{", 0, start)


def _scan(text: str, start: int) -> _Scan:
    """Where the object that opens at `start` ends; None when it is cut, crossed or nested too deeply."""
    open_marks: list[str] = []
    position, marks = start, 0
    while mark := _MARK.search(text, position):
        marks += 1
        position = mark.end()
        if mark[0] == '"':
            string = _STRING.match(text, mark.start())
            if string is None:
                return _Scan(None, len(text) - start + marks * _WORK_A_MARK)
            position = string.end()
        elif mark[0] in "{[":
            open_marks.append(mark[0])
            if len(open_marks) > MAX_DEPTH:
                break
        elif not open_marks or open_marks.pop() != _CLOSES[mark[0]]:
            break
        elif not open_marks:
            return _Scan(position, position - start + marks * _WORK_A_MARK)
    return _Scan(None, position - start + marks * _WORK_A_MARK)


def _read(text: str) -> Result[Any, str]:
    match sealed(parse_strict_json(text)):
        case Success(value):
            return Success(value)
        case Failure(problem):
            is_syntax = problem.startswith(_SYNTAX) and " at line " in problem
            return _repair(text, problem) if is_syntax else Failure(problem)


def _repair(text: str, problem: str) -> Result[Any, str]:
    if len(text) > _MAX_REPAIRED_CHARS:
        return Failure(problem)
    repaired = json_repair.loads(text, skip_json_loads=True)
    if not is_object(repaired) or _letters(dumps(repaired, ensure_ascii=False)) != _letters(text):
        return Failure(problem)
    return Success(repaired)


def _letters(json_text: str) -> Counter[str]:
    """How often each letter and digit occurs, however it is escaped: what a repair must not change."""
    plain = _LETTER_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else " ", json_text)
    return Counter(character for character in plain.casefold() if character.isalnum())
