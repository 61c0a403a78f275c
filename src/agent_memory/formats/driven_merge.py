"""One file of a store merged as git's merge drivers are asked to: by what lies at its path."""

from __future__ import annotations

from attrs import frozen

from agent_memory.formats.frontmatter import has_conflict
from agent_memory.formats.merge_sides import is_note
from agent_memory.formats.merged_bookkeeping import merged_bookkeeping
from agent_memory.formats.merged_note import merged_note


@frozen
class DrivenMerge:
    data: bytes
    conflicted: bool


def driven_merge(path: str, base: bytes, ours: bytes, theirs: bytes) -> DrivenMerge | None:
    """Both versions as one; None where that cannot be, and git is to say so. An empty base is none."""
    before = base or None
    if is_note(path):
        merged = merged_note(before, ours, theirs, "note.md")
        return None if merged is None else DrivenMerge(merged.text.encode(), has_conflict(merged.entry.body))
    data = merged_bookkeeping(path, before, ours, theirs)
    return None if data is None else DrivenMerge(data, conflicted=False)
