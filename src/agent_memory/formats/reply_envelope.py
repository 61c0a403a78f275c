"""The reply envelope that consolidate and defrag share: the one JSON object in what an agent printed, read strictly (P9)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any, TypeVar

import json_repair
from attrs import frozen
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Dropped
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.queueing.inbox_rules import shown
from agent_memory.domain.text.ids import is_id
from agent_memory.errors import ReplyRefused
from agent_memory.formats.json_fields import Fields, any_text as any_text
from agent_memory.formats.strict_json import parse_strict_json
from agent_memory.results import sealed

MAX_REPLY_CHARS = 4 * 1024 * 1024
MAX_LIST_ITEMS = 1_000
MAX_SUBJECT_CHARS = 80

_MAX_NAMED_ITEMS = 50
_THOUGHT = re.compile(r"<(think|thinking|reasoning|scratchpad)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)

Item = TypeVar("Item")


def decode_reply(output: bytes) -> Result[str, ReplyRefused]:
    """The text of what a command printed: UTF-8, with or without a byte order mark; anything else is refused."""
    try:
        return Success(output.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Failure(ReplyRefused((f"it is not UTF-8 (byte {error.start})",)))


def find_envelope(text: str, nonce: str) -> Result[Mapping[str, Any], ReplyRefused]:
    """The one JSON object of the text that carries this nonce.

    Prose, thinking tags, code fences and an echo of the prompt around it are ignored. Refused: no such object, several
    different ones, a key twice, over the limit.
    """
    if len(text) > MAX_REPLY_CHARS:
        return Failure(ReplyRefused((f"it is longer than {MAX_REPLY_CHARS:,} characters",)))
    if not nonce:
        return Failure(ReplyRefused(("the request had no nonce",)))
    if not text.strip("\ufeff \t\r\n"):
        return Failure(ReplyRefused(("it is empty",)))
    return _the_one(text, objects_with(text, "nonce", nonce))


def version_problems(envelope: Mapping[str, Any]) -> tuple[str, ...]:
    """What is wrong with the version of an envelope."""
    version = envelope.get("version")
    return () if type(version) is int and version == 1 else (f"version is {shown(version)}, expected 1",)


def listed_items(envelope: Mapping[str, Any], key: str, most: int, problems: list[str]) -> list[object]:
    """The items of a list in an envelope; none, and a problem where there is one, for anything but a list within `most`."""
    value = envelope.get(key)
    if value is None:
        return []
    if not is_list(value):
        problems.append(f"{key} is {shown(value)}, expected a list")
        return []
    if len(value) > most:
        problems.append(f"{key} has {len(value):,} items, at most {most} are allowed")
        return []
    return value


def unknown_members(envelope: Mapping[str, Any], known: Collection[str]) -> tuple[Dropped, ...]:
    """The members of an envelope that the contract does not name."""
    return tuple(Dropped("reply", (f"{shown(key)} is unknown in a reply",)) for key in envelope if key not in known)


def read_each(
    items: Iterable[object], key: str, read: Callable[[Fields], Item], subject: Callable[[object, str], str]
) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    """The values of the items, in order, and those that are out of shape with every problem.

    A member that is null is absent, one that `read` does not ask for is unknown. `subject` names an item for a report,
    given the item and its place.
    """
    good: list[Item] = []
    bad: list[Dropped] = []
    for index, item in enumerate(items):
        place = f"{key}[{index}]"
        problems: list[str] = []
        fields = Fields(_without_nulls(item), place, problems)
        value = read(fields)
        if is_object(item):
            fields.close()
        if problems:
            bad.append(Dropped(subject(item, place), tuple(problems)))
        else:
            good.append(value)
    return tuple(good), tuple(bad)


def nothing_usable(bad: Sequence[Dropped], otherwise: str) -> ReplyRefused:
    """The refusal of a reply of which nothing is left; `otherwise` says why where no item is to blame."""
    reasons = tuple(f"{each.subject}: {reason}" for each in bad[:_MAX_NAMED_ITEMS] for reason in each.reasons)
    return ReplyRefused(("nothing in it can be used", *(reasons or (otherwise,))))


# -- rules: what is wrong with a value, or None -----------------------------------------------------------------------


def some_text(value: object) -> str | None:
    """Text that is not blank."""
    if isinstance(value, str) and not value.strip():
        return "is empty"
    return any_text(value)


def an_id(value: object) -> str | None:
    """The id of an entry."""
    return None if isinstance(value, str) and is_id(value) else f"is {shown(value)}, expected an id"


def well_formed(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return text.encode("utf-8", "replace").decode("utf-8")


# -- the object -------------------------------------------------------------------------------------------------------


def _the_one(text: str, found: FoundObjects) -> Result[Mapping[str, Any], ReplyRefused]:
    candidates = found.objects
    if len(candidates) > 1:
        thoughts = [thought.span() for thought in _THOUGHT.finditer(text)]
        candidates = tuple(each for each in candidates if not _is_inside(each, thoughts)) or candidates
    if not candidates:
        why = found.problems or ("it is cut off, or the agent did not answer in the envelope",)
        return Failure(ReplyRefused(("no whole JSON object in it carries the nonce", *why)))
    if any(each.value != candidates[0].value for each in candidates):
        return Failure(ReplyRefused((f"{len(candidates)} different objects in it carry the nonce",)))
    return Success(candidates[0].value)


def _is_inside(found: FoundObject, spans: list[tuple[int, int]]) -> bool:
    return any(start <= found.start and found.end <= end for start, end in spans)


def _without_nulls(value: object) -> object:
    if is_object(value):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if is_list(value) else value


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
