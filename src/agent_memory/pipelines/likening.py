"""Search before write: which notes are about the same subject as what an agent proposes."""

from __future__ import annotations

from collections.abc import Sequence

from returns.result import Result, Success

from agent_memory.domain.change_set import ChangeSet, ProposedEntry
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.planning.known_subjects import subject_of
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.errors import Error
from agent_memory.known_notes import KnownNotes, Near
from agent_memory.pipelines.consolidate_io import ConsolidateIo


def similar_notes(
    io: ConsolidateIo, change_set: ChangeSet, scope: str
) -> Result[dict[ProposedEntry, tuple[StoredEntry, ...]], Error]:
    """The live notes about the same subject as each proposed entry; entries without any are left out."""
    known = io.known or KnownNotes(io.store)
    wanted = [(subject_of(each), GLOBAL_SCOPE if each.scope == "global" else scope) for each in change_set.entries]
    if not wanted:
        return Success({})

    def by_entry(found: Sequence[Near]) -> dict[ProposedEntry, tuple[StoredEntry, ...]]:
        return {each: near.similar for each, near in zip(change_set.entries, found, strict=True) if near.similar}

    return known.near_each(wanted).map(by_entry)
