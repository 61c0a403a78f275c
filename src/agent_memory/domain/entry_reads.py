"""How often entries were read, and when last: by the ledgers, or by what the frontmatter brought along where they know nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.domain.entry import Listed, Meta, Usage


def reads_of(meta: Meta, usage: Mapping[str, Usage]) -> Usage:
    """The reads of one entry."""
    return usage.get(meta.id) or Usage(meta.used, meta.last_used_at_ms)


def reads_in(entries: Sequence[Listed], usage: Mapping[str, Usage]) -> tuple[list[int], list[int | None]]:
    """Of each entry, how often it was read, and when last."""
    counts, instants = [each.meta.used for each in entries], [each.meta.last_used_at_ms for each in entries]
    if usage:
        for row, read in enumerate(map(usage.get, [each.meta.id for each in entries])):
            if read is not None:
                counts[row], instants[row] = read.count, read.last_at_ms
    return counts, instants


def last_read(meta: Meta, usage: Mapping[str, Usage]) -> int | None:
    """When it was last read, epoch ms, 0 where nobody knows; None where nobody has read it."""
    reads = reads_of(meta, usage)
    return (reads.last_at_ms or 0) if reads.count else None
