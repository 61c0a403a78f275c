"""How often entries were read, and when last: by the ledgers, or by what the frontmatter brought along where they know nothing."""

from __future__ import annotations

from collections.abc import Mapping

from agent_memory.domain.entry import Meta, Usage


def reads_of(meta: Meta, usage: Mapping[str, Usage]) -> Usage:
    """The reads of one entry."""
    return usage.get(meta.id) or Usage(meta.used, meta.last_used_at_ms)


def last_read(meta: Meta, usage: Mapping[str, Usage]) -> int | None:
    """When it was last read, epoch ms, 0 where nobody knows; None where nobody has read it."""
    reads = reads_of(meta, usage)
    return (reads.last_at_ms or 0) if reads.count else None
