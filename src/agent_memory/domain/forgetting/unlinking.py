"""Notes that knew of one that was forgotten."""

from __future__ import annotations

from collections.abc import Collection

from attrs import evolve

from agent_memory.domain.entry import MemoryEntry
from agent_memory.domain.text.links import append_see_also, find_links, without_see_also


def unlinked(entry: MemoryEntry, ids: Collection[str]) -> MemoryEntry:
    """The same entry without these ids: no alias, nothing superseded; a link becomes its label, or the plain id, and goes
    altogether from the list of links at the end of the body. The rest of the text stays."""
    meta = evolve(
        entry.meta,
        aliases=tuple(id for id in entry.meta.aliases if id not in ids),
        supersedes=tuple(id for id in entry.meta.supersedes if id not in ids),
    )
    return MemoryEntry(meta, _body_without(entry.body, ids))


def _body_without(body: str, ids: Collection[str]) -> str:
    if not any(link.target in ids for link in find_links(body)):
        return body
    text = without_see_also(body)
    listed = [link.target for link in find_links(body) if link.start >= len(text)]
    if not any(target in ids for target in listed):
        return _plain(body, ids)
    return append_see_also(_plain(text, ids), [target for target in listed if target not in ids])


def _plain(body: str, ids: Collection[str]) -> str:
    parts, position = list[str](), 0
    for link in find_links(body):
        if link.target in ids:
            parts += [body[position : link.start], (link.label or "").strip() or link.target]
            position = link.end
    return "".join((*parts, body[position:]))
