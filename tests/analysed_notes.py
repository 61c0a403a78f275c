"""Notes for the tests of the analysis: whole stored entries in one line."""

from __future__ import annotations

from itertools import count
from typing import Any

from agent_memory.note.note import Listed, Meta, StoredEntry
from agent_memory.rules.analyze import analyze
from agent_memory.rules.features import AnalysisFacts
from agent_memory.rules.findings import Analysis, FindingKind
from agent_memory.text.ids import mint_id

REPO = "github.com/dana/parcels"
NOON_MS = 1_772_409_600_000
FACTS = AnalysisFacts(NOON_MS)

_numbers = count(1)


def note(title: str, body: str, *, conflicted: bool = False, **meta: Any) -> StoredEntry:
    """An entry of one repository, a little newer than the one made before it."""
    number = next(_numbers)
    at_ms = NOON_MS - 1_000_000 + number
    values = {"created_at_ms": at_ms, "updated_at_ms": at_ms, "scope": REPO, **meta}
    id = values.pop("id", mint_id(title, number, ()))
    listed = Listed(Meta(id, title, **values), f"topics/{id}.md", f"hash of {id}", conflicted=conflicted)
    return StoredEntry(listed, body)


def found(*notes: StoredEntry, facts: AnalysisFacts = FACTS) -> Analysis:
    """What is found in these notes."""
    return analyze(notes, facts)


def kinds(analysis: Analysis) -> list[FindingKind]:
    return [each.kind for each in analysis.findings]


def ids(*notes: StoredEntry) -> tuple[str, ...]:
    return tuple(each.meta.id for each in notes)
