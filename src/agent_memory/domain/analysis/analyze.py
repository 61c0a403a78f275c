"""Looks at all notes of a store in one pass: the features of each by itself, then what is found in one or several of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agent_memory.domain.analysis.contradictions import conflicts_among, contradictions
from agent_memory.domain.analysis.duplicates import duplicates, likenesses
from agent_memory.domain.analysis.features import AnalysisFacts, Features, features_of
from agent_memory.domain.analysis.tidiness import dangling_links, expired, fragmented, orphans, oversized, stale
from agent_memory.domain.entry import StoredEntry
from agent_memory.domain.findings import WORST_FIRST, Analysis, Finding, FindingKind
from agent_memory.domain.instants import has_passed

_WRONG_ANYWAY = (FindingKind.CONTRADICTION, FindingKind.DANGLING_LINK)


def analyze(entries: Iterable[StoredEntry], facts: AnalysisFacts) -> Analysis:
    """Every finding about the live entries, worst first, and the profile of each.

    The entries are taken one at a time and no body is kept, so a generator that reads them is enough. Their order makes no
    difference. Of two files with one id the first counts. Time and memory grow with their number and length, some 10 kB an
    entry. Reasons hold no secret, and quote nothing of a secret entry; such entries are analysed like all others.
    """
    return analyze_features(map(features_of, entries), facts)


def analyze_features(features: Iterable[Features], facts: AnalysisFacts) -> Analysis:
    """The same of features that were taken from the entries on the way."""
    by_id: dict[str, Features] = {}
    for each in features:
        by_id.setdefault(each.id, each)
    live = [by_id[id] for id in sorted(by_id)]
    worth_saying = (
        each for each in _findings(live, facts) if each.kind in _WRONG_ANYWAY or facts.left_alone.isdisjoint(each.ids)
    )
    worst_first = sorted(worth_saying, key=lambda each: (WORST_FIRST[each.kind], -each.score, each.ids))
    return Analysis(tuple(worst_first), {each.id: each.profile for each in live})


def contradicted_in(notes: Sequence[StoredEntry]) -> dict[str, str]:
    """Of these notes, the ids of those that another one contradicts and outranks, each with the id of that one."""
    return {id: each.ids[0] for each in reversed(contradictions_among(notes)) for id in each.ids[1:]}


def contradictions_among(notes: Sequence[StoredEntry]) -> tuple[Finding, ...]:
    """The contradictions among these notes, none of which has expired."""
    return analyze(notes, AnalysisFacts(0)).of_kind(FindingKind.CONTRADICTION) if len(notes) > 1 else ()


def _findings(live: Sequence[Features], facts: AnalysisFacts) -> Iterator[Finding]:
    conflicts = conflicts_among([each for each in live if not has_passed(each.meta.expires_at_ms, facts.now_ms)])
    yield from contradictions(conflicts)
    free = [each for each in live if each.id not in facts.left_alone]
    yield from duplicates(free)
    yield from likenesses(free, {frozenset((each.one.id, each.other.id)) for each in conflicts})
    yield from fragmented(free)
    yield from dangling_links(live, facts.taken_ids)
    yield from orphans(live, facts)
    for each in live:
        yield from filter(None, (expired(each.meta, facts), oversized(each), stale(each.meta, facts)))
