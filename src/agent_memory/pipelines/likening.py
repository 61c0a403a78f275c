"""Search before write: which notes are about the same subject as what an agent proposes."""

from __future__ import annotations

from returns.result import Failure, Result, Success

from agent_memory.domain.change_set import ChangeSet, ProposedEntry
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.planning.known_subjects import subject_of
from agent_memory.domain.results import sealed
from agent_memory.domain.vocabulary import GLOBAL_SCOPE
from agent_memory.errors import Error
from agent_memory.known_notes import KnownNotes
from agent_memory.pipelines.consolidate_io import ConsolidateIo


def similar_notes(
    io: ConsolidateIo, change_set: ChangeSet, scope: str
) -> Result[dict[ProposedEntry, tuple[StoredEntry, ...]], Error]:
    """The live notes about the same subject as each proposed entry; entries without any are left out."""
    known = io.known or KnownNotes(io.store)
    similar: dict[ProposedEntry, tuple[StoredEntry, ...]] = {}
    for proposed in change_set.entries:
        match sealed(known.similar_to(subject_of(proposed), GLOBAL_SCOPE if proposed.scope == "global" else scope)):
            case Failure(error):
                return Failure(error)
            case Success(found):
                similar.update({proposed: found} if found else {})
    return Success(similar)
