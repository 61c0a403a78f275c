"""The reply of consolidate: what an agent printed, as a change set (P9)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal, cast

from attrs import evolve
from returns.result import Failure, Result, Success

from agent_memory.domain.change import Dropped
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.plan import ChangeSet, ProposedEntry, ProposedUpdate
from agent_memory.domain.queueing.inbox_rules import shown
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.vocabulary import Importance, Kind
from agent_memory.errors import ReplyRefused
from agent_memory.formats.json_fields import Fields
from agent_memory.formats.reply_envelope import (
    MAX_LIST_ITEMS,
    MAX_REPLY_CHARS as MAX_REPLY_CHARS,
    MAX_SUBJECT_CHARS,
    an_id,
    any_text,
    decode_reply as decode_reply,
    find_envelope,
    listed_items,
    nothing_usable,
    read_each,
    some_text,
    unknown_members,
    version_problems,
    well_formed,
)

MAX_ENTRIES = 50
MAX_UPDATES = 100

_REF = re.compile(r"[\w.-]{1,64}")
_ENVELOPE_KEYS = ("version", "nonce", "entries", "updates", "skipped")


def parse_reply(text: str, nonce: str) -> Result[ChangeSet, ReplyRefused]:
    """The change set in the one JSON object of the text that carries this nonce.

    What stands around it is ignored (`reply_envelope.find_envelope`). Items that are not of the contract's shape are in
    `dropped` with every problem. Refused as a whole: no such object or several different ones, another version, a key
    twice, over a limit, or nothing usable in it.
    """
    return find_envelope(text, nonce).bind(_change_set)


def _change_set(envelope: Mapping[str, Any]) -> Result[ChangeSet, ReplyRefused]:
    problems = list(version_problems(envelope))
    raw_entries = listed_items(envelope, "entries", MAX_ENTRIES, problems)
    raw_updates = listed_items(envelope, "updates", MAX_UPDATES, problems)
    skipped = envelope.get("skipped")
    if skipped is not None and not isinstance(skipped, str):
        problems.append(f"skipped is {shown(skipped)}, expected text")
    if problems:
        return Failure(ReplyRefused(tuple(problems)))
    entries, bad_entries = read_each(raw_entries, "entries", _entry, _subject)
    updates, bad_updates = read_each(raw_updates, "updates", _update, _subject)
    reason = well_formed(skipped).strip() if isinstance(skipped, str) else ""
    bad = bad_entries + bad_updates
    dropped = unknown_members(envelope, _ENVELOPE_KEYS) + bad
    return _usable(ChangeSet(_with_own_refs(entries), updates, reason or None, dropped), bad)


def _usable(change_set: ChangeSet, bad: tuple[Dropped, ...]) -> Result[ChangeSet, ReplyRefused]:
    if change_set.entries or change_set.updates or (change_set.skipped and not bad):
        return Success(change_set)
    return Failure(nothing_usable(bad, "it holds no entries, no updates and no reason"))


def _entry(fields: Fields) -> ProposedEntry:
    importance = fields.optional_choice("importance", [each.value for each in Importance])
    return ProposedEntry(
        title=fields.text("title", some_text),
        body=fields.text("body", some_text),
        kind=_kind(fields.choice("kind", [each.value for each in Kind])),
        tags=_required_texts(fields, "tags"),
        ref=fields.optional_text("ref", _ref),
        description=fields.optional_text("description", any_text),
        scope=cast('Literal["repo", "global"] | None', fields.optional_choice("scope", ["repo", "global"])),
        importance=Importance(importance) if importance else None,
        confidence=_confidence(fields),
        turns=_turns(fields),
        links=fields.texts("links", any_text, MAX_LIST_ITEMS),
        supersedes=fields.texts("supersedes", an_id, MAX_LIST_ITEMS),
    )


def _update(fields: Fields) -> ProposedUpdate:
    tags = fields.texts("tags", any_text, MAX_LIST_ITEMS)
    update = ProposedUpdate(
        id=fields.text("id", an_id),
        title=fields.optional_text("title", some_text),
        description=fields.optional_text("description", any_text),
        tags=tags if fields.has("tags") else None,
        body=fields.optional_text("body", some_text),
        drops=fields.texts("drops", any_text, MAX_LIST_ITEMS),
        turns=_turns(fields),
        why=fields.optional_text("why", any_text) or "",
    )
    if all(each is None for each in (update.title, update.description, update.tags, update.body)):
        fields.refuse("id", "names an entry, but nothing of it is to change")
    return update


def _required_texts(fields: Fields, key: str) -> tuple[str, ...]:
    fields.requires(key)
    return fields.texts(key, any_text, MAX_LIST_ITEMS)


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
    value = fields.value("turns") if fields.has("turns") else list[Any]()
    if is_list(value) and len(value) <= MAX_LIST_ITEMS and all(type(each) is int and each >= 1 for each in value):
        return tuple(sorted(set(value)))
    fields.refuse("turns", f"is {shown(value)}, expected a list of turn numbers from 1")
    return ()


def _ref(value: object) -> str | None:
    return None if isinstance(value, str) and _REF.fullmatch(value) else f"is {shown(value)}, expected a short word"


def _subject(item: object, place: str) -> str:
    """What to call an item that was refused: its title or id where it has one."""
    named = (
        next((item[key] for key in ("title", "id") if isinstance(item.get(key), str)), "") if is_object(item) else ""
    )
    return one_line(named, MAX_SUBJECT_CHARS) or place


def _with_own_refs(entries: tuple[ProposedEntry, ...]) -> tuple[ProposedEntry, ...]:
    """The entries with a ref that an earlier one has taken away: a link to it means the first."""
    seen: set[str] = set()
    kept: list[ProposedEntry] = []
    for entry in entries:
        kept.append(evolve(entry, ref=None) if entry.ref in seen else entry)
        seen.update([entry.ref] if entry.ref else [])
    return tuple(kept)
