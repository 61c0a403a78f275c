"""Notes for the tests of the analysis: whole stored entries in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from itertools import count
from typing import Any

import pytest

from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.analyze import analyze, analyze_compared
from agent_memory.domain.analysis.compared import compare
from agent_memory.domain.analysis.gathered import Gathered
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, Meta, StoredEntry
from agent_memory.domain.findings import Analysis, FindingKind
from agent_memory.domain.text.ids import mint_id
from agent_memory.formats.compared_file import parse_compared, render_compared
from agent_memory.formats.gathered_file import parse_gathered, render_gathered
from packed_notes import packed

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
    """What is found, which is the same where what is in each note by itself, or in several together, was written down before."""
    analysis = analyze(notes, facts)
    words = Vocabulary()
    live = [each.listed for each in notes]
    compared, gathered = compare(live, {}, noticed_of(notes, words), words, facts)
    kept = written(gathered)
    slots = kept.recognised(live)
    assert kept.recognised(packed(live)) == slots
    words = Vocabulary(kept.words)
    unknown = noticed_of([each for each in notes if each.meta.id not in slots], words)
    again, same = compare(packed(live), slots, unknown, words, facts, kept)
    assert again == compared
    assert same is kept
    read = parse_compared("", render_compared("", b"", "key", compared), "key")
    assert read is not None
    assert analyze_compared(live, read, facts) == analysis
    assert analyze_compared(packed(live), read, facts) == analysis
    return analysis


def noticed_of(notes: Iterable[StoredEntry], words: Vocabulary) -> Mapping[str, Noticed]:
    """What is noticed in each, by id; of two with one id in the first."""
    noticed: dict[str, Noticed] = {}
    for each in notes:
        noticed.setdefault(each.meta.id, noticed_in(each, words))
    return noticed


def written(gathered: Gathered) -> Gathered:
    """As it is read again."""
    size_bytes, pieces = render_gathered("1", gathered)
    data = b"".join(pieces)
    assert len(data) == size_bytes
    return parse_gathered("1", BytesIO(data).read, len(data)) or pytest.fail("it was written")


def kinds(analysis: Analysis) -> list[FindingKind]:
    return [each.kind for each in analysis.findings]


def ids(*notes: StoredEntry) -> tuple[str, ...]:
    return tuple(each.meta.id for each in notes)
