"""Parses the replies of consolidate and defrag: an agent's output as a change set or a proposal (P9).

Items that do not fit the contract are in `dropped` with every problem. The whole reply is refused if it has not exactly
one envelope (`find_envelope`), has another version, exceeds a limit, or has nothing usable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from json import JSONDecodeError, dumps
from typing import Annotated, Any, TypeVar

import json_repair
from attrs import evolve, frozen

from agent_memory.errors import ReplyRefused
from agent_memory.note.frontmatter import well_formed
from agent_memory.note.note import TierList
from agent_memory.results import as_result
from agent_memory.rules.change import Dropped
from agent_memory.rules.plan import (
    KINDS,
    Action,
    ChangeSet,
    DefragProposal,
    Merge,
    ProposedEntry,
    ProposedUpdate,
    Split,
    ids_of,
    kind_of,
)
from agent_memory.text.ids import entry_id_problem, is_id
from agent_memory.text.json_codec import MAX_DEPTH, Converter, InvalidValue, NotJson, load_json, written
from agent_memory.text.json_shape import is_list, is_object
from agent_memory.text.plain_text import one_line
from agent_memory.text.value_rules import shown

MAX_ENTRIES = 50
MAX_UPDATES = 100
MAX_ACTIONS = 100
MAX_PARTS = 50
MAX_TIER_IDS = 10_000

_MAX_LIST_ITEMS = 1_000
_MAX_SUBJECT_CHARS = 80
_MOST_BAD_IDS = 5

Item = TypeVar("Item")


@as_result
def decode_reply(output: bytes) -> str:
    """Returns the text of a command's output: UTF-8, with or without a byte order mark; refuses anything else."""
    try:
        return output.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReplyRefused((f"it is not UTF-8 (byte {error.start})",)) from error


# -- consolidate ------------------------------------------------------------------------------------------------------


@as_result
def parse_reply(text: str, nonce: str) -> ChangeSet:
    """Returns the change set in the one JSON object of the text with this nonce."""
    envelope, unknown = _members(text, nonce, {"entries": MAX_ENTRIES, "updates": MAX_UPDATES}, "skipped")
    entries, bad_entries = _read_each(envelope, "entries", _entry)
    updates, bad_updates = _read_each(envelope, "updates", _update)
    bad = bad_entries + bad_updates
    reason = well_formed(envelope.get("skipped") or "").strip() or None
    if not entries and not updates and (reason is None or bad):
        raise _nothing_usable(bad, "it holds no entries, no updates and no reason")
    refs = [each.ref for each in entries]
    # If two have one ref, the first keeps it: a link to it means that one.
    own = (evolve(each, ref=None) if each.ref in refs[:at] else each for at, each in enumerate(entries))
    return ChangeSet(tuple(own), updates, reason, unknown + bad)


def _entry(item: object, place: str) -> ProposedEntry:
    entry: ProposedEntry = _REPLY.value_of(item, ProposedEntry, place)
    confidence = None if entry.confidence is None else float(entry.confidence)
    return evolve(entry, turns=tuple(sorted(set(entry.turns))), confidence=confidence)


def _update(item: object, place: str) -> ProposedUpdate:
    update: ProposedUpdate = _REPLY.value_of(item, ProposedUpdate, place)
    if all(each is None for each in (update.title, update.description, update.tags, update.body)):
        raise InvalidValue(f"{place}.id names a note, but changes nothing in it")
    return evolve(update, turns=tuple(sorted(set(update.turns))))


# -- defrag -----------------------------------------------------------------------------------------------------------


@as_result
def parse_defrag_reply(text: str, nonce: str) -> DefragProposal:
    """Returns the proposal in the one JSON object of the text with this nonce. Tiers without any id change nothing. An
    empty list of actions is usable, since "nothing to do" is an answer."""
    envelope, unknown = _members(text, nonce, {"actions": MAX_ACTIONS}, "tiers")
    read, misshapen = _read_each(envelope, "actions", _action)
    actions = tuple(dict.fromkeys(read))
    twice = tuple(
        Dropped(_called(kind_of(action), ids_of(action)), ("it stands in the reply twice",))
        for number, action in enumerate(read)
        if action in read[:number]
    )
    tiers, misplaced = _tiers(envelope.get("tiers"))
    bad = misshapen + twice + misplaced
    is_nothing_to_do = envelope.get("actions") == [] and not bad
    if not actions and tiers is None and not is_nothing_to_do:
        raise _nothing_usable(bad, "it holds no actions and no tiers")
    return DefragProposal(actions, tiers, unknown + bad)


_REPLY = Converter(null_is_absent=True)
_REPLY.tagged_union(Action, "action", {word: cls for cls, word in KINDS.items()})


def _action(item: object, place: str) -> Action:
    action: Action = _REPLY.value_of(item, Action, place)
    if isinstance(action, Merge):
        action = evolve(action, ids=tuple(dict.fromkeys(action.ids)))
        if len(action.ids) < 2:
            raise InvalidValue(f"{place}.ids names fewer than two different notes")
    if isinstance(action, Split) and not 2 <= len(action.into) <= MAX_PARTS:
        raise InvalidValue(f"{place}.into has {len(action.into):,} items, expected 2 to {MAX_PARTS}")
    return action


def _called(kind: str, ids: tuple[str, ...]) -> str:
    return one_line(f"{kind} of {', '.join(ids)}", _MAX_SUBJECT_CHARS)


def _tier_problem(ids: Sequence[Any]) -> str | None:
    return f"has {len(ids):,} items, at most {MAX_TIER_IDS:,} are allowed" if len(ids) > MAX_TIER_IDS else None


@frozen
class _Tiers:
    hot: Annotated[tuple[Any, ...], _tier_problem]
    warm: Annotated[tuple[Any, ...], _tier_problem]


def _tiers(value: object) -> tuple[TierList | None, tuple[Dropped, ...]]:
    """Returns the tiers, each id once and in the nearer of two; None if none are given or none of the ids is valid."""
    if value is None:
        return None, ()
    try:
        named: dict[str, tuple[Any, ...]] = written(_REPLY.value_of(value, _Tiers, "tiers"))
    except InvalidValue as refused:
        return None, (Dropped("tiers", refused.problems),)
    reasons = [
        f"tiers.{key}[{index}] {problem}"
        for key, items in named.items()
        for index, item in enumerate(items)
        if (problem := entry_id_problem(item)) is not None
    ]
    hot, warm = (dict.fromkeys(id for id in each if entry_id_problem(id) is None) for each in named.values())
    tiers = TierList(tuple(hot), tuple(id for id in warm if id not in hot))
    more = len(reasons) - _MOST_BAD_IDS
    told = (*reasons[:_MOST_BAD_IDS], *([f"and {more:,} more"] if more > 0 else []))
    return tiers if tiers != TierList() else None, (Dropped("tiers", told),) if told else ()


def parse_members(text: str, nonce: str, of: type[Item]) -> Item:
    """Returns the value whose members are those of the one JSON object of the text with this nonce. Raises ReplyRefused
    if one is missing, unknown or wrong."""
    envelope = find_envelope(text, nonce)
    version = envelope.get("version")
    members = {key: value for key, value in envelope.items() if key not in ("version", "nonce")}
    wrong = () if type(version) is int and version == 1 else (f"version is {shown(version)}, expected 1",)
    if problems := (*wrong, *_raw_problems(members, "reply")):
        raise ReplyRefused(problems)
    try:
        value: Item = _REPLY.value_of(members, of, "reply")
    except InvalidValue as refused:
        raise ReplyRefused(refused.problems) from None
    return value


# -- the members of an envelope ---------------------------------------------------------------------------------------


def _members(
    text: str, nonce: str, lists: Mapping[str, int], other: str
) -> tuple[Mapping[str, Any], tuple[Dropped, ...]]:
    """Returns the envelope, whose `lists` are absent or lists of at most this many items, and its unknown members."""
    envelope = find_envelope(text, nonce)
    version, skipped = envelope.get("version"), envelope.get("skipped")
    problems = [] if type(version) is int and version == 1 else [f"version is {shown(version)}, expected 1"]
    for key, most in lists.items():
        items = envelope.get(key)
        if items is not None and not is_list(items):
            problems.append(f"{key} is {shown(items)}, expected a list")
        elif items is not None and len(items) > most:
            problems.append(f"{key} has {len(items):,} items, at most {most} are allowed")
    if other == "skipped" and skipped and not isinstance(skipped, str):
        problems.append(f"skipped is {shown(skipped)}, expected text")
    if problems:
        raise ReplyRefused(tuple(problems))
    unknown = (key for key in envelope if key not in ("version", "nonce", *lists, other))
    return envelope, tuple(Dropped("reply", (f"{shown(key)} is unknown in a reply",)) for key in unknown)


def _read_each(
    envelope: Mapping[str, Any], key: str, read: Callable[[object, str], Item]
) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    """Returns the values of a list's items, in order, and the invalid items. `read` makes the value of an item, given
    its place; it raises InvalidValue with every problem. A null member counts as absent."""
    good: list[Item] = []
    bad: list[Dropped] = []
    for index, item in enumerate(envelope.get(key) or ()):
        place = f"{key}[{index}]"
        try:
            if problems := tuple(_raw_problems(item, place)):
                raise InvalidValue(*problems)
            good.append(read(item, place))
        except InvalidValue as refused:
            bad.append(Dropped(_subject(item, place), refused.problems))
    return tuple(good), tuple(bad)


def _subject(item: object, place: str) -> str:
    """Returns a name for a refused item: an action's kind and notes, another's title or id, or else its place."""
    if not is_object(item):
        return place
    if place.startswith("actions"):
        kind, ids = item.get("action"), item.get("ids")
        named = [item.get("id"), *(ids if is_list(ids) else ())]
        known = tuple(dict.fromkeys(id for id in named if isinstance(id, str) and is_id(id)))
        return _called(kind, known) if isinstance(kind, str) and kind in KINDS.values() and known else place
    texts = [item[key] for key in ("title", "id") if isinstance(item.get(key), str)]
    return one_line(texts[0] if texts else "", _MAX_SUBJECT_CHARS) or place


def _raw_problems(value: object, place: str) -> Iterator[str]:
    """Yields problems with anything that no item may hold: endless lists, and text that UTF-8 cannot encode."""
    if is_list(value) and len(value) > _MAX_LIST_ITEMS:
        yield f"{place} has {len(value):,} items, at most {_MAX_LIST_ITEMS:,} are allowed"
    elif isinstance(value, str) and well_formed(value) != value:
        yield f"{place} holds half a character (a lone surrogate)"
    elif is_list(value) or is_object(value):
        parts = enumerate(value) if is_list(value) else value.items()
        for key, part in parts:
            yield from _raw_problems(part, f"{place}[{key}]" if is_list(value) else f"{place}.{key}")


def _nothing_usable(bad: Sequence[Dropped], otherwise: str) -> ReplyRefused:
    """Returns the refusal of a reply without any usable item; `otherwise` is the reason if no item is to blame."""
    reasons = tuple(f"{each.subject}: {reason}" for each in bad[:50] for reason in each.reasons)
    return ReplyRefused(("nothing in it can be used", *(reasons or (otherwise,))))


# -- the one JSON object that answers the request ----------------------------------------------------------------------


MAX_REPLY_CHARS = 4 * 1024 * 1024

_MAX_WORK = 40_000_000
"""The limit for scanning, some tenths of a second: honest text takes a few passes, and text made to be slow is refused."""
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
    """A whole object and its place: offsets into the text, the end exclusive."""

    start: int
    end: int
    value: dict[str, Any]


def find_envelope(text: str, nonce: str) -> Mapping[str, Any]:
    """Returns the one JSON object of the text with this nonce.

    Prose, thinking tags, code fences and an echo of the prompt around it are ignored. Raises ReplyRefused if there is
    no such object, if there are several different ones, if a key is repeated, or over the limit.
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
    """Returns every whole object with this nonce, in order, innermost if nested; and why other places failed."""
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
    """Returns the end of the object at `start`, or None if cut, crossed or nested too deeply; and the work it took."""
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
    """Returns the value of an object. Near-JSON is repaired if no letter or digit changes; a cut object is never
    completed."""
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
    """Returns how often each letter and digit occurs, escaped or not: a repair must not change that."""
    plain = _LETTER_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else " ", json_text)
    return Counter(character for character in plain.casefold() if character.isalnum())
