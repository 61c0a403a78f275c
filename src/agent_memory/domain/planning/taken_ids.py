"""Which ids are not free."""

from __future__ import annotations

from agent_memory.domain.entry import Listing


def taken_ids(live: Listing, archive: Listing) -> frozenset[str]:
    """Every id that is not free, casefolded: live, archived, and their aliases."""
    metas = [each.meta for each in (*live.entries, *archive.entries)]
    return frozenset(id.casefold() for meta in metas for id in (meta.id, *meta.aliases))
