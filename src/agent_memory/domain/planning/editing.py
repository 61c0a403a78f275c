"""What editing an entry changes of it, and what it must not."""

from __future__ import annotations

from attrs import evolve

from agent_memory.domain.entry import MemoryEntry, Meta
from agent_memory.domain.note_draft import Caller, MetaPatch
from agent_memory.domain.planning.drafts import stored_description, stored_tags, stored_title
from agent_memory.domain.text.markdown import MAX_TITLE_CHARS, derive_description
from agent_memory.domain.text.plain_text import one_line
from agent_memory.domain.tiering.standing import BY_A_PERSON
from agent_memory.domain.vocabulary import Origin, Sensitivity, Status, furthest, least_trusted

EDITABLE = (
    "title",
    "description",
    "tags",
    "kind",
    "scope",
    "importance",
    "confidence",
    "sensitivity",
    "expires_at_ms",
    "valid_from_ms",
    "valid_until_ms",
)
"""The fields of `Meta` that editing a note changes."""


def patched(meta: Meta, patch: MetaPatch) -> Meta:
    """The frontmatter with what the patch names."""
    return evolve(
        meta,
        title=meta.title if not patch.title else edited_title(patch.title),
        description=meta.description if patch.description is None else stored_description(patch.description),
        tags=meta.tags if patch.tags is None else stored_tags(patch.tags),
        kind=patch.kind or meta.kind,
        scope=patch.scope or meta.scope,
        importance=patch.importance or meta.importance,
        sensitivity=patch.sensitivity or meta.sensitivity,
        expires_at_ms=meta.expires_at_ms if patch.expiry is None else patch.expiry.at_ms,
    )


def promoted(meta: Meta) -> Meta:
    """The frontmatter once a person vouches for the entry."""
    return evolve(meta, status=furthest((meta.status, Status.PROMOTED)), promoted_by=BY_A_PERSON)


def trusted_after(before: MemoryEntry, after: MemoryEntry, caller: Caller) -> Meta:
    """The frontmatter of `after`, with the origin and the promotion that are left once the caller made it of `before`.

    A note that became secret is nobody's to promote. A person vouches for what they saw (P19): where a program has
    changed it, their word ends if the note is external, or if what it says now would need it.
    """
    meta = evolve(after.meta, origin=least_trusted((after.meta.origin, caller.origin)))
    lapsed = meta.sensitivity is Sensitivity.SECRET or (
        caller.is_agent and meta.promoted_by is not None and _needs_another_word(before, evolve(after, meta=meta))
    )
    return evolve(meta, promoted_by=None) if lapsed else meta


def _needs_another_word(before: MemoryEntry, after: MemoryEntry) -> bool:
    if after.meta.origin is Origin.EXTERNAL:
        return True
    if before.texts == after.texts:
        return False
    from agent_memory.domain.tiering.eligibility import needs_vouching  # what tells an order is loaded for few edits

    return needs_vouching(after)


def edited_title(text: str) -> str:
    """The title of an entry for which a person or an agent gave this one: clean, on one line, never empty."""
    return one_line(stored_title(text), MAX_TITLE_CHARS) or "untitled"


def kept_description(old: MemoryEntry, body: str) -> str:
    """The description of an entry whose body becomes another: derived anew where it was derived."""
    was_derived = old.meta.description in ("", derive_description(old.body))
    return derive_description(body) if was_derived and body != old.body else old.meta.description
