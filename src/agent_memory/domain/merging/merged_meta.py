"""The frontmatter of an entry that two machines changed, field by field.

What one machine alone changed is taken from it. Where both changed a field, the newest version (`updatedAt`) decides, but
for what has a rule of its own: lists are united with what either removed respected, counters are the larger, and nothing
becomes more trusted or less strict than either side had it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from attrs import evolve, frozen

from agent_memory.domain.entry import MemoryEntry, Meta, Source
from agent_memory.domain.merging.three_way import chosen, united
from agent_memory.domain.tiering.eligibility import needs_vouching
from agent_memory.domain.vocabulary import Origin, furthest, highest, least_trusted, strictest

T = TypeVar("T")


@frozen
class Versions:
    """One entry as two machines have it, the newer first; which of them is ours plays no part, so that both machines come
    to the same result."""

    base: MemoryEntry | None
    newer: MemoryEntry
    older: MemoryEntry


def versions_of(base: MemoryEntry | None, one: MemoryEntry, other: MemoryEntry) -> Versions:
    """The newer is that with the later `updatedAt`; for equal ones the greater by content, whichever side it is on."""
    first, second = sorted((one, other), key=lambda each: (each.meta.updated_at_ms, repr(each)), reverse=True)
    return Versions(base, first, second)


def merged_meta(versions: Versions) -> Meta:
    """The frontmatter of both. The id is that of the newer, and the same of both."""
    base = None if versions.base is None else versions.base.meta
    newer, older = versions.newer.meta, versions.older.meta

    def field(get: Callable[[Meta], T], both: Callable[[T, T], T] | None = None) -> T:
        before = None if base is None else get(base)
        return chosen(before, get(newer), get(older), both or _the_newer, has_base=base is not None)

    def listed(get: Callable[[Meta], tuple[str, ...]]) -> tuple[str, ...]:
        return united(() if base is None else get(base), get(newer), get(older))

    meta = evolve(
        newer,
        title=field(lambda meta: meta.title),
        description=field(lambda meta: meta.description),
        kind=field(lambda meta: meta.kind),
        scope=field(lambda meta: meta.scope),
        tags=listed(lambda meta: meta.tags),
        status=furthest((newer.status, older.status)),
        origin=field(lambda meta: meta.origin, lambda one, other: least_trusted((one, other))),
        importance=field(lambda meta: meta.importance, lambda one, other: highest((one, other))),
        confidence=field(lambda meta: meta.confidence, _lower),
        sensitivity=field(lambda meta: meta.sensitivity, lambda one, other: strictest((one, other))),
        pinned=field(lambda meta: meta.pinned, lambda one, other: one or other),
        promoted_by=field(lambda meta: meta.promoted_by, lambda one, other: one or other),
        used=max(newer.used, older.used),
        last_used_at_ms=_later(newer.last_used_at_ms, older.last_used_at_ms),
        created_at_ms=field(lambda meta: meta.created_at_ms, min),
        updated_at_ms=max(newer.updated_at_ms, older.updated_at_ms),
        expires_at_ms=field(lambda meta: meta.expires_at_ms, _latest_if_both),
        valid_from_ms=field(lambda meta: meta.valid_from_ms, _later),
        valid_until_ms=field(lambda meta: meta.valid_until_ms, _latest_if_both),
        aliases=listed(lambda meta: meta.aliases),
        supersedes=listed(lambda meta: meta.supersedes),
        sources=_united_sources(() if base is None else base.sources, newer.sources, older.sources),
    )
    return _without_unearned_trust(meta, versions)


def _without_unearned_trust(meta: Meta, versions: Versions) -> Meta:
    """A person's word holds for what they saw (P19): where the side without that word changed the text, it is taken back if
    the entry comes out external, or if what that side says would need it, as when a program edits."""
    if meta.promoted_by is None:
        return meta
    pairs = ((versions.newer, versions.older), (versions.older, versions.newer))
    told_more = [
        side for side, other in pairs if side.meta.promoted_by is None and side.texts != (versions.base or other).texts
    ]
    if any(
        meta.origin is Origin.EXTERNAL or needs_vouching(evolve(side, meta=_told(meta, side))) for side in told_more
    ):
        return evolve(meta, promoted_by=None, pinned=False)
    return meta


def _told(meta: Meta, side: MemoryEntry) -> Meta:
    """The merged frontmatter with what this side says in it."""
    return evolve(meta, title=side.meta.title, description=side.meta.description, kind=side.meta.kind)


def _united_sources(
    base: tuple[Source, ...], newer: tuple[Source, ...], older: tuple[Source, ...]
) -> tuple[Source, ...]:
    """One source for each session and agent, its turns united too."""
    turns_before = {_session_of(each): each.turns for each in base}
    turns_newer = {_session_of(each): each.turns for each in newer}
    turns_older = {_session_of(each): each.turns for each in older}
    sessions = united(tuple(turns_before), tuple(turns_newer), tuple(turns_older))

    def turns(session: Source) -> tuple[int, ...]:
        sides = [known[session] for known in (turns_newer, turns_older) if session in known]
        return tuple(sorted(united(turns_before.get(session, ()), sides[0], sides[-1])))

    return tuple(evolve(session, turns=turns(session)) for session in sessions)


def _session_of(source: Source) -> Source:
    return evolve(source, turns=())


def _the_newer(newer: T, older: T) -> T:
    return newer


def _lower(one: float | None, other: float | None) -> float | None:
    known = [each for each in (one, other) if each is not None]
    return min(known, default=None)


def _later(one: int | None, other: int | None) -> int | None:
    known = [each for each in (one, other) if each is not None]
    return max(known, default=None)


def _latest_if_both(one: int | None, other: int | None) -> int | None:
    """No end is later than any."""
    return None if one is None or other is None else max(one, other)
