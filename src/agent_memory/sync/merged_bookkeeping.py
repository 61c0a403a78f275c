"""Merges the files that memory keeps beside the notes, changed on two machines: each kind by its meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from attrs import evolve

from agent_memory.care.tombstones import FORGOTTEN, PURGE_MARK
from agent_memory.errors import Error
from agent_memory.note.note import TIERS_FILE, Tier, TierList
from agent_memory.note.tagging import VOCABULARY_FILE, TagVocabulary
from agent_memory.results import as_result, unwrap
from agent_memory.rules.forgotten import EntryTombstone
from agent_memory.session.history import SessionMark
from agent_memory.store.bookkeeping import (
    PURGE,
    REJECTED,
    REVIEW,
    REVIEW_MARK,
    SESSION_MARK,
    STATE_VALUE,
    TAG_VOCABULARY,
    TOMBSTONE,
    ReviewMark,
    Tombstone,
)
from agent_memory.store.note_files import parse_tiers, render_tiers
from agent_memory.store.usage_ledger import Base, LedgerRecord, Total, counted, parse_ledger_line, render_ledger_line
from agent_memory.sync.merging import chosen, united

T = TypeVar("T")


def merged_bookkeeping(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> bytes | None:
    """Returns both versions of such a file as one; None for any other path, or if one cannot be parsed."""

    def merged(
        parse: Callable[[bytes, str], T], merge: Callable[[T | None, T, T], T], render: Callable[[T], str | bytes]
    ) -> bytes | None:
        # A base that cannot be parsed counts as none.
        before = None if base is None else as_result(parse)(base, path).value_or(None)
        try:
            data = render(merge(before, parse(ours, path), parse(theirs, path)))
        except Error:
            return None
        return data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace")

    if path == TIERS_FILE:
        return merged(lambda data, path: unwrap(parse_tiers(data, path)), _tiers, render_tiers)
    if path == VOCABULARY_FILE:
        return merged(TAG_VOCABULARY.parse, _tags, TAG_VOCABULARY.render)
    if path == PURGE_MARK:
        return merged(PURGE.parse, lambda _, ours, theirs: max(ours, theirs), PURGE.render)
    if path.startswith((f"{FORGOTTEN}/", f"{REJECTED}/")):
        return merged(TOMBSTONE.parse, _tombstone, TOMBSTONE.render)
    if path.startswith(f"{REVIEW}/"):
        return merged(REVIEW_MARK.parse, _later_mark, REVIEW_MARK.render)
    if path.startswith("state/sessions/"):
        return merged(SESSION_MARK.parse, _further, SESSION_MARK.render)
    if path.startswith("state/keys/"):
        return _newer_value(path, ours, theirs)
    if path.startswith("usage/"):
        return merged_ledger(base or b"", ours, theirs)
    return None


# -- tiers ------------------------------------------------------------------------------------------------------------


def _tiers(base: TierList | None, ours: TierList, theirs: TierList) -> TierList:
    """Returns each note in the tier to which the side that moved it has moved it, the nearer one if both did; in our
    order, then in theirs. The next defrag weighs them anew."""
    before = base or TierList()

    def nearer(one: Tier, other: Tier) -> Tier:
        return min(one, other, key=list(Tier).index)

    def tier(id: str) -> Tier:
        return chosen(before.of(id), ours.of(id), theirs.of(id), nearer, has_base=True)

    ids = dict.fromkeys((*ours.hot, *theirs.hot, *ours.warm, *theirs.warm))
    placed = {id: tier(id) for id in ids}
    return TierList(
        tuple(id for id in ids if placed[id] is Tier.HOT), tuple(id for id in ids if placed[id] is Tier.WARM)
    )


# -- what was forgotten -----------------------------------------------------------------------------------------------


def _tombstone(base: Tombstone | None, ours: Tombstone, theirs: Tombstone) -> Tombstone:
    """Returns the later one, with the statements of both."""
    first, second = sorted((ours, theirs), key=lambda each: (each.at_ms, TOMBSTONE.render(each)), reverse=True)
    if isinstance(first, EntryTombstone) and isinstance(second, EntryTombstone):
        return evolve(first, statements=first.statements | second.statements)
    return first


def _later_mark(base: ReviewMark | None, ours: ReviewMark, theirs: ReviewMark) -> ReviewMark:
    return max(ours, theirs, key=lambda each: (each.at_ms, each.act))


# -- sessions ---------------------------------------------------------------------------------------------------------


def _further(base: SessionMark | None, ours: SessionMark, theirs: SessionMark) -> SessionMark:
    """Returns the mark that lies further in the session, with the notes of both."""
    further, other = sorted(
        (ours, theirs),
        key=lambda mark: (mark.turns_seen, mark.last_at_ms or 0, SESSION_MARK.render(mark)),
        reverse=True,
    )
    known = {end.transcript for end in further.ends}
    return evolve(
        further,
        elsewhere=(*further.elsewhere, *(end for end in other.ends if end.transcript and end.transcript not in known)),
        tools_answered=further.tools_answered or other.tools_answered,
        handoff_id=further.handoff_id or other.handoff_id,
        entry_ids=united((), further.entry_ids, other.entry_ids),
        used_ids=united((), further.used_ids, other.used_ids),
    )


# -- tags and values --------------------------------------------------------------------------------------------------


def _tags(base: TagVocabulary | None, ours: TagVocabulary, theirs: TagVocabulary) -> TagVocabulary:
    """Returns everything accepted on either side, except what one of them removed; the renamings of both, ours first,
    followed to their ends."""
    before = base or TagVocabulary()
    # A tag that was renamed was not removed.
    sides = (side.accepted | (before.accepted & side.renamed.keys()) for side in (ours, theirs))
    merged = TagVocabulary(frozenset(united(before.accepted, *map(sorted, sides))))
    # If tags were renamed in a circle, the alphabetically first one is what all of them become.
    for old, new in sorted({**theirs.renamed, **ours.renamed}.items(), reverse=True):
        if (now := merged.renamed.get(new, new)) != old:
            merged = merged.with_renamed(old, now)
    return merged


def _newer_value(path: str, ours: bytes, theirs: bytes) -> bytes | None:
    """Returns the value that was written later; if one cannot be parsed, the other."""
    found = [(as_result(STATE_VALUE.parse)(data, path).value_or(None), data) for data in (ours, theirs)]
    return max(((value.updated_at_ms or 0, data) for value, data in found if value is not None), default=(0, None))[1]


# -- the ledger -------------------------------------------------------------------------------------------------------


def merged_ledger(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Returns the ledger of one host name that two machines share: every read that either has counted, once.

    A side that still has all lines of the base has only added some: those are added to the other. If both have
    compacted the base away, the larger count stands for each note, and for each reader's day.
    """
    before, one, other = (Counter(data.splitlines(keepends=True)) for data in (base, ours, theirs))
    for added, kept in ((other, ours), (one, theirs)):
        if not before - added:
            return kept + (b"" if kept.endswith(b"\n") or not kept else b"\n") + b"".join((added - before).elements())
    sides = [counted(filter(None, map(parse_ledger_line, data.splitlines()))) for data in (ours, theirs)]
    reads = [Total(id, each.count, each.last_at_ms) for side in sides for id, each in side.read.items()]
    days = [each for side in sides for each in side.day_reads]
    records: list[LedgerRecord] = [
        *{each.id: each for each in sorted(reads, key=lambda each: (each.count, each.last_at_ms or 0))}.values(),
        *(Base(id, each.count, each.last_at_ms) for side in sides for id, each in side.based.items()),
        *{(each.day, each.reader): each for each in sorted(days, key=lambda each: each.count)}.values(),
    ]
    return b"".join(map(render_ledger_line, counted(records).records))
