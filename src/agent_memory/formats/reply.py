"""The reply envelope of consolidate: what an agent printed, as a change set (P9)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Dropped
from agent_memory.domain.change_set import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.queueing.inbox_rules import shown
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Importance, Kind
from agent_memory.errors import ReplyRefused
from agent_memory.formats.json_fields import Fields
from agent_memory.formats.json_objects import FoundObject, FoundObjects, objects_with

MAX_REPLY_CHARS = 4 * 1024 * 1024
MAX_ENTRIES = 50
MAX_UPDATES = 100

_MAX_LIST_ITEMS = 1_000
_MAX_SUBJECT_CHARS = 80
_THOUGHT = re.compile(r"<(think|thinking|reasoning|scratchpad)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_REF = re.compile(r"[\w.-]{1,64}")
_ENVELOPE_KEYS = ("version", "nonce", "entries", "updates", "skipped")

Item = TypeVar("Item", ProposedEntry, ProposedUpdate)


def decode_reply(output: bytes) -> Result[str, ReplyRefused]:
    """The text of what a command printed: UTF-8, with or without a byte order mark; anything else is refused."""
    try:
        return Success(output.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Failure(ReplyRefused((f"it is not UTF-8 (byte {error.start})",)))


def parse_reply(text: str, nonce: str) -> Result[ChangeSet, ReplyRefused]:
    """The change set in the one JSON object of the text that carries this nonce.

    Prose, thinking tags, code fences and an echo of the prompt around it are ignored. Items that are not of the
    contract's shape are in `dropped` with every problem. Refused as a whole: no such object or several different ones,
    another version, a key twice, over a limit, or nothing usable in it.
    """
    if len(text) > MAX_REPLY_CHARS:
        return Failure(ReplyRefused((f"it is longer than {MAX_REPLY_CHARS:,} characters",)))
    if not nonce:
        return Failure(ReplyRefused(("the request had no nonce",)))
    if not text.strip("\ufeff \t\r\n"):
        return Failure(ReplyRefused(("it is empty",)))
    return _the_one(text, objects_with(text, "nonce", nonce)).bind(_change_set)


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


def _change_set(envelope: Mapping[str, Any]) -> Result[ChangeSet, ReplyRefused]:
    problems: list[str] = []
    version = envelope.get("version")
    if type(version) is not int or version != 1:
        problems.append(f"version is {shown(version)}, expected 1")
    raw_entries = _items(envelope, "entries", MAX_ENTRIES, problems)
    raw_updates = _items(envelope, "updates", MAX_UPDATES, problems)
    skipped = envelope.get("skipped")
    if skipped is not None and not isinstance(skipped, str):
        problems.append(f"skipped is {shown(skipped)}, expected text")
    if problems:
        return Failure(ReplyRefused(tuple(problems)))
    unknown = tuple(
        Dropped("reply", (f"{shown(key)} is unknown in a reply",)) for key in envelope if key not in _ENVELOPE_KEYS
    )
    entries, bad_entries = _read_each(raw_entries, "entries", _entry)
    updates, bad_updates = _read_each(raw_updates, "updates", _update)
    reason = _well_formed(skipped).strip() if isinstance(skipped, str) else ""
    dropped = unknown + bad_entries + bad_updates
    return _usable(ChangeSet(_with_own_refs(entries), updates, reason or None, dropped), bad_entries + bad_updates)


def _usable(change_set: ChangeSet, bad: tuple[Dropped, ...]) -> Result[ChangeSet, ReplyRefused]:
    if change_set.entries or change_set.updates or (change_set.skipped and not bad):
        return Success(change_set)
    reasons = tuple(f"{each.subject}: {reason}" for each in bad[:MAX_ENTRIES] for reason in each.reasons)
    return Failure(
        ReplyRefused(("nothing in it can be used", *(reasons or ("it holds no entries, no updates and no reason",))))
    )


def _items(envelope: Mapping[str, Any], key: str, most: int, problems: list[str]) -> list[object]:
    value = envelope.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        problems.append(f"{key} is {shown(value)}, expected a list")
        return []
    if len(value) > most:
        problems.append(f"{key} has {len(value):,} items, at most {most} are allowed")
        return []
    return value


def _read_each(
    items: list[object], key: str, read: Callable[[Fields], Item]
) -> tuple[tuple[Item, ...], tuple[Dropped, ...]]:
    good: list[Item] = []
    bad: list[Dropped] = []
    for index, item in enumerate(items):
        problems: list[str] = []
        # What is optional and null is absent; what is required and null is missing.
        present = {name: value for name, value in item.items() if value is not None} if isinstance(item, dict) else item
        fields = Fields(present, f"{key}[{index}]", problems)
        value = read(fields)
        if isinstance(item, dict):
            fields.close()
        if problems:
            bad.append(Dropped(_subject(item, f"{key}[{index}]"), tuple(problems)))
        else:
            good.append(value)
    return tuple(good), tuple(bad)


def _entry(fields: Fields) -> ProposedEntry:
    importance = fields.optional_choice("importance", [each.value for each in Importance])
    return ProposedEntry(
        title=fields.text("title", _some_text),
        body=fields.text("body", _some_text),
        kind=_kind(fields.choice("kind", [each.value for each in Kind])),
        tags=_required_texts(fields, "tags"),
        ref=fields.optional_text("ref", _ref),
        description=fields.optional_text("description", _any_text),
        scope=cast('Literal["repo", "global"] | None', fields.optional_choice("scope", ["repo", "global"])),
        importance=Importance(importance) if importance else None,
        confidence=_confidence(fields),
        turns=_turns(fields),
        links=fields.texts("links", _any_text, _MAX_LIST_ITEMS),
        supersedes=fields.texts("supersedes", _an_id, _MAX_LIST_ITEMS),
    )


def _update(fields: Fields) -> ProposedUpdate:
    tags = fields.texts("tags", _any_text, _MAX_LIST_ITEMS)
    update = ProposedUpdate(
        id=fields.text("id", _an_id),
        title=fields.optional_text("title", _some_text),
        description=fields.optional_text("description", _any_text),
        tags=tags if fields.has("tags") else None,
        body=fields.optional_text("body", _some_text),
        drops=fields.texts("drops", _any_text, _MAX_LIST_ITEMS),
        turns=_turns(fields),
        why=fields.optional_text("why", _any_text) or "",
    )
    if all(each is None for each in (update.title, update.description, update.tags, update.body)):
        fields.refuse("id", "names an entry, but nothing of it is to change")
    return update


def _required_texts(fields: Fields, key: str) -> tuple[str, ...]:
    fields.requires(key)
    return fields.texts(key, _any_text, _MAX_LIST_ITEMS)


def _kind(word: str) -> Kind:
    return Kind(word) if word in list(Kind) else Kind.FACT


def _confidence(fields: Fields) -> float | None:
    if not fields.has("confidence"):
        return None
    value = fields.value("confidence")
    if type(value) in (int, float) and math.isfinite(value) and 0 <= value <= 1:
        return float(value)
    fields.refuse("confidence", f"is {shown(value)}, expected a number from 0 to 1")
    return None


def _turns(fields: Fields) -> tuple[int, ...]:
    value = fields.value("turns") if fields.has("turns") else []
    if (
        isinstance(value, list)
        and len(value) <= _MAX_LIST_ITEMS
        and all(type(each) is int and each >= 1 for each in value)
    ):
        return tuple(sorted(set(value)))
    fields.refuse("turns", f"is {shown(value)}, expected a list of turn numbers from 1")
    return ()


def _any_text(value: object) -> str | None:
    if not isinstance(value, str):
        return f"is {shown(value)}, expected text"
    return None if _well_formed(value) == value else "holds half a character (a lone surrogate)"


def _some_text(value: object) -> str | None:
    if isinstance(value, str) and not value.strip():
        return "is empty"
    return _any_text(value)


def _an_id(value: object) -> str | None:
    return None if isinstance(value, str) and is_id(value) else f"is {shown(value)}, expected an id"


def _ref(value: object) -> str | None:
    return None if isinstance(value, str) and _REF.fullmatch(value) else f"is {shown(value)}, expected a short word"


def _well_formed(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _subject(item: object, place: str) -> str:
    """What to call an item that was refused: its title or id where it has one."""
    named = (
        next((item[key] for key in ("title", "id") if isinstance(item.get(key), str)), "")
        if isinstance(item, dict)
        else ""
    )
    return one_line(named, _MAX_SUBJECT_CHARS) or place


def _with_own_refs(entries: tuple[ProposedEntry, ...]) -> tuple[ProposedEntry, ...]:
    """The entries with a ref that an earlier one has taken away: a link to it means the first."""
    seen: set[str] = set()
    kept: list[ProposedEntry] = []
    for entry in entries:
        kept.append(evolve(entry, ref=None) if entry.ref in seen else entry)
        seen.update([entry.ref] if entry.ref else [])
    return tuple(kept)
