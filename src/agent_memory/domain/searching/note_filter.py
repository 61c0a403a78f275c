"""Whether a filter lets a note through."""

from __future__ import annotations

from agent_memory.domain.entry import Listed
from agent_memory.domain.searching.matching import NoteFilter


def lets_through(notes: NoteFilter, listed: Listed) -> bool:
    """What `NoteFilter` says, of one note."""
    meta = listed.meta
    sources = meta.sources
    return (
        meta.sensitivity in notes.sensitivities
        and (notes.archived or not listed.archived)
        and (notes.kind is None or meta.kind is notes.kind)
        and (notes.scopes is None or meta.scope in notes.scopes)
        and (notes.since_ms is None or meta.updated_at_ms >= notes.since_ms)
        and (not notes.tags or any(has_tag(meta.tags, tag) for tag in notes.tags))
        and (notes.session is None or any(source.thread_id == notes.session for source in sources))
        and (notes.agent is None or any(notes.agent in (source.agent, source.harness) for source in sources))
    )


def has_tag(tags: tuple[str, ...], wanted: str) -> bool:
    """Whether a tag is among those of a note; without prefix it is there under any prefix."""
    if "__" in wanted:
        return wanted in tags
    return any(tag.partition("__")[2] == wanted for tag in tags)
