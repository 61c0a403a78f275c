"""Entries that say the same word for word, and the merge that makes one of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from attrs import evolve

from agent_memory.domain.actions import Merge
from agent_memory.domain.defragging.comparable import said_by
from agent_memory.domain.defragging.information import lost_content
from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.planning.body_checks import MAX_BODY_CHARS
from agent_memory.domain.redaction import redact
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also
from agent_memory.domain.tiering.vouched import best_tier
from agent_memory.domain.tiers import Tier
from agent_memory.domain.vocabulary import Kind, Origin, Sensitivity, highest, least_trusted


def same_text(body: str) -> str:
    """What two bodies have in common that say the same: no white space to speak of, no line of links at the end."""
    return " ".join(without_see_also(body).split())


def twins_among(entries: Iterable[StoredEntry]) -> tuple[tuple[StoredEntry, ...], ...]:
    """Groups of two and more entries that may become one, in a stable order; in each the best sourced, then the newest first.

    A merge takes the least trusted origin of what goes in and is refused across scopes. So an entry that every agent may
    be shown is not merged with one that none may be shown.
    """
    texts = _grouped(sorted(filter(_may_merge, entries), key=_worth), _what_it_says)
    sound = (tuple(each for each in group if redact(each.body).text == each.body) for group in texts)
    return tuple(twins for group in sound for twins in _grouped(group, _standing) if _keeps_its_standing(twins))


def _grouped(
    entries: Iterable[StoredEntry], key_of: Callable[[StoredEntry], Hashable]
) -> tuple[tuple[StoredEntry, ...], ...]:
    groups: dict[Hashable, list[StoredEntry]] = {}
    for stored in entries:
        groups.setdefault(key_of(stored), []).append(stored)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def merge_of(twins: tuple[StoredEntry, ...]) -> Merge:
    """The merge of twins: title, description and body of the first, with the links of all.

    What titles and descriptions of the others say besides is named in `drops`; it stays in the archive.
    """
    first = twins[0]
    body = _with_links_of(twins)
    text = f"{first.meta.title}\n{first.meta.description}\n{body}"
    return Merge(
        ids=tuple(each.meta.id for each in twins),
        title=first.meta.title,
        body=body,
        description=first.meta.description or None,
        drops=lost_content((said_by(each.entry) for each in twins), text),
    )


def merged_meta(metas: Sequence[Meta], now_ms: int = 0) -> Meta:
    """The first of the entries as it stands once the others are merged into it (design §3.2), as far as tiers depend on it.

    What is external loses a person's promotion.
    """
    origin = least_trusted(each.origin for each in metas)
    return evolve(
        metas[0],
        origin=origin,
        promoted_by=None if origin is Origin.EXTERNAL else metas[0].promoted_by,
        importance=highest(each.importance for each in metas),
        created_at_ms=max(each.created_at_ms for each in metas),
        updated_at_ms=max(now_ms, *(each.updated_at_ms for each in metas)),
        sources=tuple(dict.fromkeys(source for each in metas for source in each.sources)),
    )


def _worth(stored: StoredEntry) -> tuple[object, ...]:
    meta = stored.meta
    sessions = len({source.thread_id for source in meta.sources if source.thread_id})
    turns = sum(len(source.turns) for source in meta.sources)
    return (list(Origin).index(meta.origin), -sessions, -turns, -meta.updated_at_ms, meta.id)


def is_open(stored: StoredEntry) -> bool:
    """Whether nothing about an entry itself forbids to change it: a pin, a conflict, an id that it does not have, a secret."""
    return not (
        stored.meta.pinned
        or stored.listed.conflicted
        or stored.listed.provisional_id
        or stored.meta.sensitivity is Sensitivity.SECRET
    )


def _may_merge(stored: StoredEntry) -> bool:
    return (
        is_open(stored)
        and stored.meta.kind is not Kind.HANDOFF  # it belongs to its session, which goes on writing it
        and len(stored.body) <= MAX_BODY_CHARS
        and bool(same_text(stored.body))
    )


def _what_it_says(stored: StoredEntry) -> Hashable:
    return (same_text(stored.body), stored.meta.scope, stored.meta.sensitivity)


def _standing(stored: StoredEntry) -> tuple[bool, Tier]:
    return (stored.meta.promoted_by is not None, best_tier(stored.meta))


def _keeps_its_standing(twins: tuple[StoredEntry, ...]) -> bool:
    """Whether the merge may be where its parts may be."""
    return best_tier(merged_meta([each.meta for each in twins])) is _standing(twins[0])[1]


def _with_links_of(twins: tuple[StoredEntry, ...]) -> str:
    own = {id for each in twins for id in (each.meta.id, *each.meta.aliases)}
    first = twins[0].body.rstrip()
    core = without_see_also(first)
    wanted = [link.target for each in twins for link in find_links(each.body) if link.target not in own]
    in_last_line = {link.target for link in find_links(first) if link.start >= len(core)}
    return append_see_also(core if in_last_line & own else first, wanted)
