"""The reply of defrag: what an agent printed, as a proposal (P9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from returns.result import Failure, Result, Success

from agent_memory.domain.actions import (
    KINDS,
    Action,
    Archive,
    DefragProposal,
    Edit,
    Merge,
    Rename,
    Retag,
    Split,
    SplitPart,
    ids_of,
    kind_of,
)
from agent_memory.domain.change import Dropped
from agent_memory.domain.json_shape import is_list, is_object
from agent_memory.domain.queueing.inbox_rules import shown
from agent_memory.domain.text.ids import is_id
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.tiers import TierList
from agent_memory.errors import ReplyRefused
from agent_memory.formats.json_fields import Fields
from agent_memory.formats.reply_envelope import (
    MAX_LIST_ITEMS,
    MAX_SUBJECT_CHARS,
    an_id,
    any_text,
    find_envelope,
    listed_items,
    nothing_usable,
    read_each,
    some_text,
    unknown_members,
    version_problems,
)

MAX_ACTIONS = 100
MAX_PARTS = 50
MAX_TIER_IDS = 10_000

_ENVELOPE_KEYS = ("version", "nonce", "actions", "tiers")
_TIER_KEYS = ("hot", "warm")
_MOST_BAD_IDS = 5


def parse_defrag_reply(text: str, nonce: str) -> Result[DefragProposal, ReplyRefused]:
    """The proposal in the one JSON object of the text that carries this nonce.

    What stands around it is ignored (`reply_envelope.find_envelope`). Actions and tiers that are not of the contract's
    shape are in `dropped` with every problem. Tiers that list nothing at all say nothing: those in effect stay. Refused
    as a whole: no such object or several different ones, another version, a key twice, over a limit, or nothing usable in
    it; an empty list of actions is usable, since nothing to do is an answer.
    """
    return find_envelope(text, nonce).bind(_proposal)


def _proposal(envelope: Mapping[str, Any]) -> Result[DefragProposal, ReplyRefused]:
    problems = list(version_problems(envelope))
    items = listed_items(envelope, "actions", MAX_ACTIONS, problems)
    if problems:
        return Failure(ReplyRefused(tuple(problems)))
    read, misshapen = read_each(items, "actions", _action, _subject)
    actions, twice = _each_once(read)
    tiers, misplaced = _tiers(envelope.get("tiers"))
    bad = misshapen + twice + misplaced
    proposal = DefragProposal(actions, tiers, unknown_members(envelope, _ENVELOPE_KEYS) + bad)
    is_nothing_to_do = envelope.get("actions") is not None and not items and not bad
    if actions or tiers is not None or is_nothing_to_do:
        return Success(proposal)
    return Failure(nothing_usable(bad, "it holds no actions and no tiers"))


# -- actions ----------------------------------------------------------------------------------------------------------


def _merge(fields: Fields) -> Merge:
    fields.requires("ids")
    ids = tuple(dict.fromkeys(fields.texts("ids", an_id, MAX_LIST_ITEMS)))
    if fields.has("ids") and len(ids) < 2:
        fields.refuse("ids", "names fewer than two different entries")
    return Merge(
        ids=ids,
        title=fields.text("title", some_text),
        body=fields.text("body", some_text),
        description=fields.optional_text("description", any_text),
        tags=fields.texts("tags", any_text, MAX_LIST_ITEMS),
        drops=fields.texts("drops", any_text, MAX_LIST_ITEMS),
    )


def _split(fields: Fields) -> Split:
    return Split(fields.text("id", an_id), fields.objects("into", _part, 2, MAX_PARTS))


def _part(fields: Fields) -> SplitPart:
    return SplitPart(
        title=fields.text("title", some_text),
        body=fields.text("body", some_text),
        description=fields.optional_text("description", any_text),
        tags=fields.texts("tags", any_text, MAX_LIST_ITEMS),
    )


def _rename(fields: Fields) -> Rename:
    drops = fields.texts("drops", any_text, MAX_LIST_ITEMS)
    return Rename(fields.text("id", an_id), fields.text("title", some_text), drops)


def _retag(fields: Fields) -> Retag:
    id = fields.text("id", an_id)
    fields.requires("tags")
    return Retag(id, fields.texts("tags", any_text, MAX_LIST_ITEMS))


def _edit(fields: Fields) -> Edit:
    edit = Edit(
        id=fields.text("id", an_id),
        find=fields.text("find", some_text),
        replace=fields.text("replace", any_text),
        drops=fields.texts("drops", any_text, MAX_LIST_ITEMS),
    )
    if edit.find and edit.find == edit.replace:
        fields.refuse("replace", "is what was to be found: nothing would change")
    return edit


def _archive(fields: Fields) -> Archive:
    return Archive(fields.text("id", an_id), fields.text("reason", some_text))


_READERS: Mapping[str, Callable[[Fields], Action]] = {
    "merge": _merge,
    "split": _split,
    "rename": _rename,
    "retag": _retag,
    "edit": _edit,
    "archive": _archive,
}


def _action(fields: Fields) -> Action:
    kind = fields.choice("action", list(KINDS.values()))
    if kind in _READERS:
        return _READERS[kind](fields)
    fields.let_pass()
    return Archive("", "")


def _each_once(actions: tuple[Action, ...]) -> tuple[tuple[Action, ...], tuple[Dropped, ...]]:
    kept = tuple(dict.fromkeys(actions))
    seen: set[Action] = set()
    twice: list[Dropped] = []
    for action in actions:
        if action in seen:
            twice.append(Dropped(_named(kind_of(action), ids_of(action)), ("it stands in the reply twice",)))
        seen.add(action)
    return kept, tuple(twice)


def _subject(item: object, place: str) -> str:
    """What to call an action that was refused: its kind and the entries it names, where it has them."""
    if not is_object(item):
        return place
    kind, named = item.get("action"), [item.get("id"), *_items_of(item.get("ids"))]
    ids = tuple(dict.fromkeys(id for id in named if isinstance(id, str) and is_id(id)))
    return _named(kind, ids) if isinstance(kind, str) and kind in _READERS and ids else place


def _named(kind: str, ids: tuple[str, ...]) -> str:
    return one_line(f"{kind} of {', '.join(ids)}", MAX_SUBJECT_CHARS)


def _items_of(value: object) -> list[object]:
    return value if is_list(value) else []


# -- tiers ------------------------------------------------------------------------------------------------------------


def _tiers(value: object) -> tuple[TierList | None, tuple[Dropped, ...]]:
    """The tiers, each id once and in the nearer of two; None where none are given, or nothing of them is an id."""
    if value is None:
        return None, ()
    problems: list[str] = []
    fields = Fields(value, "tiers", problems)
    listed = {key: _items_of_tier(fields, key) for key in _TIER_KEYS}
    if is_object(value):
        fields.close()
    if problems:
        return None, (Dropped("tiers", tuple(problems)),)
    ids = {key: dict.fromkeys(item for item in items if an_id(item) is None) for key, items in listed.items()}
    hot = tuple(ids["hot"])
    tiers = TierList(hot, tuple(id for id in ids["warm"] if id not in ids["hot"]))
    return tiers if tiers != TierList() else None, _not_ids(listed)


def _items_of_tier(fields: Fields, key: str) -> list[Any]:
    if not fields.requires(key):
        return []
    value = fields.value(key)
    if not is_list(value):
        fields.refuse(key, f"is {shown(value)}, expected a list")
        return []
    if len(value) > MAX_TIER_IDS:
        fields.refuse(key, f"has {len(value):,} items, at most {MAX_TIER_IDS:,} are allowed")
        return []
    return value


def _not_ids(listed: Mapping[str, list[Any]]) -> tuple[Dropped, ...]:
    reasons = [
        f"tiers.{key}[{index}] {problem}"
        for key, items in listed.items()
        for index, item in enumerate(items)
        if (problem := an_id(item)) is not None
    ]
    more = len(reasons) - _MOST_BAD_IDS
    named = (*reasons[:_MOST_BAD_IDS], *([f"and {more:,} more"] if more > 0 else []))
    return (Dropped("tiers", named),) if named else ()
