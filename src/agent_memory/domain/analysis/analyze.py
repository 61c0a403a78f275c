"""Looks at all entries of a store: one pass over the bodies, then comparisons of what was remembered of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agent_memory.domain.analysis.ages import expired, stale
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.conflicts import denial_conflicts, pairs_of, value_conflicts
from agent_memory.domain.analysis.connections import dangling_links, one_way_links, orphans
from agent_memory.domain.analysis.contradictions import contradictions
from agent_memory.domain.analysis.denials import Assertions
from agent_memory.domain.analysis.duplicates import duplicates, likenesses
from agent_memory.domain.analysis.features import Features, features_of
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.sizes import fragmented, oversized
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Meta, StoredEntry
from agent_memory.domain.findings import Analysis, Finding, FindingKind

_WORST_FIRST = {kind: place for place, kind in enumerate(FindingKind)}
_WRONG_ANYWAY = (FindingKind.CONTRADICTION, FindingKind.DANGLING_LINK)


def analyze(entries: Iterable[StoredEntry], facts: AnalysisFacts) -> Analysis:
    """Every finding about the live entries, worst first, and the profile of each.

    The entries are taken one at a time and no body is kept, so a generator that reads them is enough. Their order makes no
    difference. Of two files with one id the first counts. Time and memory grow with their number and length, some 2 kB an
    entry. Reasons hold no secret, and quote nothing of a secret entry; such entries are analysed like all others.
    """
    words = Vocabulary()
    return analyze_noticed(((stored.meta, noticed_in(stored, words)) for stored in entries), words, facts)


def analyze_noticed(notes: Iterable[tuple[Meta, Noticed]], words: Vocabulary, facts: AnalysisFacts) -> Analysis:
    """The same, where what is in a note by itself, in numbers of these words, may have been noticed before."""
    assertions = Assertions()
    known: dict[str, Features] = {}
    for meta, noticed in notes:
        if meta.id in known:
            continue
        assertions.add(len(known), noticed.stated, noticed.denials)
        known[meta.id] = features_of(meta, noticed)
    as_read = tuple(known.values())
    found = _findings(as_read, assertions, words, facts)
    worth_saying = (each for each in found if each.kind in _WRONG_ANYWAY or facts.left_alone.isdisjoint(each.ids))
    worst_first = sorted(worth_saying, key=lambda each: (_WORST_FIRST[each.kind], -each.score, each.ids))
    ids = sorted(known)
    return Analysis(tuple(worst_first), {id: known[id].profile for id in ids})


def _findings(
    as_read: Sequence[Features], assertions: Assertions, words: Vocabulary, facts: AnalysisFacts
) -> Iterator[Finding]:
    by_id = sorted(as_read, key=lambda each: each.id)
    current = [each for each in by_id if each.expires_at_ms is None or each.expires_at_ms > facts.now_ms]
    valid = {each.id for each in current}
    conflicts = [*value_conflicts(current, words)]
    conflicts += [
        each for each in denial_conflicts(as_read, assertions) if each.one.id in valid and each.other.id in valid
    ]
    taken = facts.taken_ids | {id.casefold() for each in by_id for id in (each.id, *each.aliases)}
    yield from contradictions(conflicts)
    free = [each for each in by_id if each.id not in facts.left_alone]
    yield from duplicates(free)
    yield from likenesses(free, words, pairs_of(conflicts))
    yield from fragmented(free)
    yield from one_way_links(by_id)
    yield from orphans(by_id, facts)
    for each in by_id:
        yield from dangling_links(each, taken)
        yield from (
            finding for finding in (expired(each, facts), oversized(each), stale(each, facts)) if finding is not None
        )
