"""What comparing the entries of a store with each other finds. It depends on nothing but them, and is most of what is left of
an analysis once each has been looked at by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.conflicts import denial_conflicts, pairs_of, value_conflicts
from agent_memory.domain.analysis.connections import one_way_links
from agent_memory.domain.analysis.contradictions import contradictions
from agent_memory.domain.analysis.denials import Assertions
from agent_memory.domain.analysis.duplicates import duplicates, likenesses
from agent_memory.domain.analysis.features import Features, features_of
from agent_memory.domain.analysis.noticed import Noticed
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.analysis.sizes import fragmented
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, Meta
from agent_memory.domain.findings import Finding
from agent_memory.domain.instants import has_passed
from agent_memory.domain.vocabulary import Sensitivity
from agent_memory.values import field, frozen


@frozen
class Compared:
    """What is found in several entries together, and of each alone what a later look at it needs."""

    findings: tuple[Finding, ...] = ()
    """In the order in which they were found."""
    outlines: Mapping[str, Outline] = field(factory=dict[str, Outline])
    """By id."""


def compare(notes: Iterable[tuple[Meta, Noticed]], words: Vocabulary, facts: AnalysisFacts) -> Compared:
    """What is found; of two notes with one id the first counts. Of `facts`, only those count that `comparison_key` names."""
    assertions = Assertions()
    known: dict[str, Features] = {}
    outlines: dict[str, Outline] = {}
    for meta, noticed in notes:
        if meta.id in known:
            continue
        assertions.add(len(known), noticed.stated, noticed.denials)
        known[meta.id] = features_of(meta, noticed)
        outlines[meta.id] = noticed.outline
    return Compared(tuple(_findings(tuple(known.values()), assertions, words, facts)), outlines)


def _findings(
    as_read: Sequence[Features], assertions: Assertions, words: Vocabulary, facts: AnalysisFacts
) -> Iterator[Finding]:
    by_id = sorted(as_read, key=lambda each: each.id)
    current = [each for each in by_id if not has_passed(each.expires_at_ms, facts.now_ms)]
    valid = {each.id for each in current}
    conflicts = [*value_conflicts(current, words)]
    conflicts += [
        each for each in denial_conflicts(as_read, assertions) if each.one.id in valid and each.other.id in valid
    ]
    yield from contradictions(conflicts)
    free = [each for each in by_id if each.id not in facts.left_alone]
    yield from duplicates(free)
    yield from likenesses(free, words, pairs_of(conflicts))
    yield from fragmented(free)
    yield from one_way_links(by_id)


def comparison_key(live: Iterable[Listed], facts: AnalysisFacts) -> str:
    """What is the same where the same is found: SHA-256 over the files of the entries, in their order, the instants that a
    file may have from its mtime, whose time is over, and what is left alone; hex."""
    digest = hashlib.sha256()
    for each in live:
        meta = each.meta
        is_over, is_left = has_passed(meta.expires_at_ms, facts.now_ms), meta.id in facts.left_alone
        row = (meta.id, each.path, each.content_hash, meta.created_at_ms, meta.updated_at_ms, is_over, is_left)
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def may_be_kept(compared: Compared, listed: Sequence[Listed], read: Sequence[Listed]) -> Compared | None:
    """What may be kept elsewhere of what was found in these: nothing of a secret entry. None where something was found in one
    together with others, which would be missing, and where what was read is not what was listed."""
    if [each.content_hash for each in read] != [each.content_hash for each in listed]:
        return None
    secret = frozenset(each.meta.id for each in listed if each.meta.sensitivity is Sensitivity.SECRET)
    if not secret:
        return compared
    if not all(secret.isdisjoint(each.ids) for each in compared.findings):
        return None
    return Compared(compared.findings, {id: each for id, each in compared.outlines.items() if id not in secret})
