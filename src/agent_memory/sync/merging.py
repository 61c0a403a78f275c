"""Merges two versions of one thing that were changed on two machines: values, lists, lines, and a note's frontmatter.

`base` is the common ancestor; without one, whatever differs counts as changed on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeVar

from attrs import evolve, fields

from agent_memory.care.tombstones import FORGOTTEN, PURGE_MARK
from agent_memory.errors import Error
from agent_memory.note.note import (
    TIERS_FILE,
    MemoryEntry,
    Meta,
    Source,
    Tier,
    TierList,
    furthest,
    highest,
    least_trusted,
    strictest,
)
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
from agent_memory.store.usage_ledger import LedgerRecord, Total, counted, parse_ledger_line, render_ledger_line
from agent_memory.text.instants import latest, latest_end

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)


def chosen(base: T | None, ours: T, theirs: T, both: Callable[[T, T], T], *, has_base: bool) -> T:
    """Returns the value of the side that changed it; if both did, what `both` makes of the two."""
    if ours == theirs:
        return ours
    if has_base and ours == base:
        return theirs
    if has_base and theirs == base:
        return ours
    return both(ours, theirs)


def united(base: Collection[H], first: Sequence[H], second: Sequence[H]) -> tuple[H, ...]:
    """Returns everything that either side holds, except what was in the base and is gone from one of them; each once,
    in the order of `first`, then what `second` adds. If only one side changed anything, its order is kept."""
    for unchanged, changed in ((first, second), (second, first)):
        if tuple(unchanged) == tuple(base):
            return tuple(dict.fromkeys(changed))
    there = dict.fromkeys((*first, *second))
    return tuple(each for each in there if each not in base or (each in first and each in second))


# -- lines (diff3) ----------------------------------------------------------------------------------------------------


def merged_text(base: str | None, one: str, other: str, labels: tuple[str, str]) -> str:
    """Returns both texts as one: no line that either side added is ever left out. Without a base, the lines that they
    share in the same order serve as one, so that a text that only says more than the other wins. If both had changed
    the same lines, their two versions stand between git's markers, with these `labels`."""
    if one == other or base == other:
        return one
    if base == one:
        return other
    ours, theirs = one.split("\n"), other.split("\n")
    if base is None:
        places = _places(ours, theirs)
        common = [line for at, line in enumerate(ours) if at in places]
    else:
        common = base.split("\n")
    lines: list[str] = []
    for before, mine, other_lines in _stretches(common, ours, theirs):
        if mine == other_lines or other_lines == before:
            lines += mine
        elif mine == before:
            lines += other_lines
        else:
            lines += [f"<<<<<<< {labels[0]}", *mine, "=======", *other_lines, f">>>>>>> {labels[1]}"]
    return "\n".join(lines)


def _stretches(
    base: Sequence[str], one: Sequence[str], other: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Yields the three texts cut at every line that all of them share: each such line, and what is between."""
    in_one, in_other = _places(base, one), _places(base, other)
    start = (0, 0, 0)
    for at, line in enumerate(base):
        if at in in_one and at in in_other:
            yield base[start[0] : at], one[start[1] : in_one[at]], other[start[2] : in_other[at]]
            yield [line], [line], [line]
            start = (at + 1, in_one[at] + 1, in_other[at] + 1)
    yield base[start[0] :], one[start[1] :], other[start[2] :]


def _places(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Returns the positions of shared lines in the other text, by their positions in the one."""
    if max(len(before), len(after)) > 20_000:
        return {}
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {block.a + each: block.b + each for block in blocks for each in range(block.size)}


def newer_first(one: MemoryEntry, other: MemoryEntry) -> tuple[MemoryEntry, MemoryEntry]:
    """Returns the two versions of a note: first the one with the later `updatedAt`, among equals the one with the
    greater content. Which one is ours makes no difference, so that both machines come to the same result."""
    newer, older = sorted((one, other), key=lambda each: (each.meta.updated_at_ms, repr(each)), reverse=True)
    return newer, older


def merged_meta(base: MemoryEntry | None, newer: MemoryEntry, older: MemoryEntry) -> Meta:
    """Returns the frontmatter of both. The id is the newer one's, the same on both machines."""

    def merged(name: str) -> Any:
        before = None if base is None else getattr(base.meta, name)
        one, other = getattr(newer.meta, name), getattr(older.meta, name)
        if name == "sources":
            return _united_sources(before or (), one, other)
        if name in _LISTS:
            return united(before or (), one, other)
        if name in _RAISED:
            return _RAISED[name](one, other)
        both = _IF_BOTH_CHANGED.get(name, lambda newest, _: newest)
        return chosen(before, one, other, both, has_base=base is not None)

    meta = Meta(**{each.name: merged(each.name) for each in fields(Meta)})
    # A person vouches for what they saw (P19): if the side without that promotion changed the text, it is withdrawn unless
    # the note is the person's own, as when a program edits.
    pairs = ((newer, older), (older, newer))
    is_changed = any(side.meta.promoted_by is None and side.texts != (base or other).texts for side, other in pairs)
    # Nor was a text approved that came with the other side.
    is_new = any(side.meta.withheld and side.texts != (base or other).texts for side, other in pairs)
    meta = evolve(meta, withheld=meta.withheld or is_new)
    is_unearned = meta.promoted_by is not None and is_changed and meta.needs_vouching
    return evolve(meta, promoted_by=None, pinned=False) if is_unearned else meta


def _united_sources(
    base: tuple[Source, ...], newer: tuple[Source, ...], older: tuple[Source, ...]
) -> tuple[Source, ...]:
    """Returns one source for each session and agent, with united turns."""
    turns_before, turns_newer, turns_older = (
        {evolve(each, turns=()): each.turns for each in sources} for sources in (base, newer, older)
    )
    sessions = united(tuple(turns_before), tuple(turns_newer), tuple(turns_older))

    def turns(session: Source) -> tuple[int, ...]:
        sides = [known[session] for known in (turns_newer, turns_older) if session in known]
        return tuple(sorted(united(turns_before.get(session, ()), sides[0], sides[-1])))

    return tuple(evolve(session, turns=turns(session)) for session in sessions)


_LISTS = ("tags", "cleared", "aliases", "supersedes")
_RAISED: Mapping[str, Callable[[Any, Any], Any]] = {
    "status": lambda one, other: furthest((one, other)),
    "used": max,
    "last_used_at_ms": latest,
    "updated_at_ms": max,
}
"""Fields that never go back, whichever side changed them."""
_IF_BOTH_CHANGED: Mapping[str, Callable[[Any, Any], Any]] = {
    "origin": lambda one, other: least_trusted((one, other)),
    "importance": lambda one, other: highest((one, other)),
    "confidence": lambda one, other: min((each for each in (one, other) if each is not None), default=None),
    "sensitivity": lambda one, other: strictest((one, other)),
    "pinned": lambda one, other: one or other,
    "promoted_by": lambda one, other: one or other,
    "created_at_ms": min,
    "expires_at_ms": latest_end,
    "valid_from_ms": latest,
    "valid_until_ms": latest_end,
}
"""For any other field that both sides changed, the newer one's value stands."""


# -- the files that memory keeps beside the notes, changed on two machines: each kind by its meaning ------------------


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


def _tombstone(base: Tombstone | None, ours: Tombstone, theirs: Tombstone) -> Tombstone:
    """Returns the later one, with the statements of both."""
    first, second = sorted((ours, theirs), key=lambda each: (each.at_ms, TOMBSTONE.render(each)), reverse=True)
    if isinstance(first, EntryTombstone) and isinstance(second, EntryTombstone):
        return evolve(first, statements=first.statements | second.statements)
    return first


def _later_mark(base: ReviewMark | None, ours: ReviewMark, theirs: ReviewMark) -> ReviewMark:
    return max(ours, theirs, key=lambda each: (each.at_ms, each.act))


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
    reads = [Total(id, each.count, each.last_at_ms) for side in sides for id, each in side.totals.items()]
    days = [each for side in sides for each in side.day_reads]
    records: list[LedgerRecord] = [
        *{each.id: each for each in sorted(reads, key=lambda each: (each.count, each.last_at_ms or 0))}.values(),
        *{(each.day, each.reader): each for each in sorted(days, key=lambda each: each.count)}.values(),
    ]
    return b"".join(map(render_ledger_line, counted(records).records))
