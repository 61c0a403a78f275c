"""Looks at all entries of a store: one pass over the bodies, then comparisons of what was remembered of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agent_memory.domain.analysis.ages import expired, stale
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.compared import Compared, compare
from agent_memory.domain.analysis.connections import dangling_links, orphans
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.outline import Outline
from agent_memory.domain.analysis.sizes import oversized
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, Meta, StoredEntry
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
    live: list[Meta] = []

    def looked_at() -> Iterator[tuple[Listed, Noticed]]:
        for stored in entries:
            live.append(stored.meta)
            yield stored.listed, noticed_in(stored, words)

    compared, _ = compare(looked_at(), words, facts)
    return analyze_compared(live, compared, facts)


def analyze_compared(live: Iterable[Meta], compared: Compared, facts: AnalysisFacts) -> Analysis:
    """The same of entries that may have been compared before. One without an outline is left out."""
    by_id: dict[str, Meta] = {}
    for meta in live:
        if meta.id in compared.outlines:
            by_id.setdefault(meta.id, meta)
    entries = [by_id[id] for id in sorted(by_id)]
    found = (*compared.findings, *_findings(entries, compared.outlines, facts))
    worth_saying = (each for each in found if each.kind in _WRONG_ANYWAY or facts.left_alone.isdisjoint(each.ids))
    worst_first = sorted(worth_saying, key=lambda each: (_WORST_FIRST[each.kind], -each.score, each.ids))
    return Analysis(tuple(worst_first), {each.id: compared.outlines[each.id].profile for each in entries})


def _findings(entries: Sequence[Meta], outlines: Mapping[str, Outline], facts: AnalysisFacts) -> Iterator[Finding]:
    """Those that are of one entry, its age and its reads; `entries` are by id."""
    links = {each.id: outline.links for each in entries if (outline := outlines[each.id]).links}
    taken = facts.taken_ids.union(id.casefold() for each in entries for id in (each.id, *each.aliases)) if links else ()
    yield from orphans(entries, links, facts)
    for each in entries:
        if each.id in links:
            yield from dangling_links(each.id, links[each.id], taken)
        for finding in (expired(each, facts), oversized(each.id, outlines[each.id]), stale(each, facts)):
            if finding is not None:
                yield finding
