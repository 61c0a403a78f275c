"""Looks at all entries of a store: one pass over the bodies, then comparisons of what was remembered of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter

from agent_memory.domain.analysis.ages import ageing, expired, over_by, stale
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.compared import Compared, compare
from agent_memory.domain.analysis.connections import bearers_of, dangling_links, orphans
from agent_memory.domain.analysis.noticed import Noticed, noticed_in
from agent_memory.domain.analysis.outlines import Outlines, Profiles
from agent_memory.domain.analysis.sizes import MOST_CHARS, MOST_LINES, oversized
from agent_memory.domain.analysis.vocabulary import Vocabulary
from agent_memory.domain.entry import Listed, StoredEntry
from agent_memory.domain.findings import Analysis, Finding, FindingKind, Findings
from agent_memory.domain.packed_entries import chosen, column_of

_ids, _score = attrgetter("ids"), attrgetter("score")
_WORST_FIRST = {kind: place for place, kind in enumerate(FindingKind)}
_WRONG_ANYWAY = (FindingKind.CONTRADICTION, FindingKind.DANGLING_LINK)


def analyze(entries: Iterable[StoredEntry], facts: AnalysisFacts) -> Analysis:
    """Every finding about the live entries, worst first, and the profile of each.

    The entries are taken one at a time and no body is kept, so a generator that reads them is enough. Their order makes no
    difference. Of two files with one id the first counts. Time and memory grow with their number and length, some 2 kB an
    entry. Reasons hold no secret, and quote nothing of a secret entry; such entries are analysed like all others.
    """
    words = Vocabulary()
    live: list[Listed] = []
    noticed: dict[str, Noticed] = {}
    for stored in entries:
        live.append(stored.listed)
        noticed.setdefault(stored.meta.id, noticed_in(stored, words))
    compared, _ = compare(live, {}, noticed, words, facts)
    return analyze_compared(live, compared, facts)


def contradicted_in(notes: Sequence[StoredEntry]) -> dict[str, str]:
    """Of these notes, the ids of those that another one contradicts and outranks, each with the id of that one."""
    return {id: each.ids[0] for each in reversed(contradictions_among(notes)) for id in each.ids[1:]}


def contradictions_among(notes: Sequence[StoredEntry]) -> tuple[Finding, ...]:
    """The contradictions among these notes, none of which has expired."""
    return analyze(notes, AnalysisFacts(0)).of_kind(FindingKind.CONTRADICTION) if len(notes) > 1 else ()


def analyze_compared(live: Sequence[Listed], compared: Compared, facts: AnalysisFacts) -> Analysis:
    """The same of entries that may have been compared before. One without an outline is left out."""
    entries, outlines = _each_once(live, compared.outlines)
    found = chain(compared.findings, _findings(entries, outlines, facts))
    worth_saying = (each for each in found if each.kind in _WRONG_ANYWAY or facts.left_alone.isdisjoint(each.ids))
    # What counts most comes last: so no key is made of three.
    worst_first = sorted(worth_saying, key=_ids)
    worst_first.sort(key=_score, reverse=True)
    worst_first.sort(key=lambda each: _WORST_FIRST[each.kind])
    aged = stale(ageing(entries, facts), facts).without(facts.left_alone)  # which is the least of all kinds
    return Analysis(Findings(tuple(worst_first), aged), Profiles(outlines))


def _each_once(live: Sequence[Listed], outlines: Outlines) -> tuple[Sequence[Listed], Outlines]:
    """The entries that have an outline, of two with one id the first; and the outlines of these."""
    ids = column_of(live, "meta.id")
    different: set[str] = set(ids)
    if len(different) == len(ids) and len(ids) == len(outlines) and different <= outlines.slots.keys():
        return live, outlines
    left = different & outlines.slots.keys()
    only = outlines.only(left)
    is_first: list[bool] = []
    for id in ids:
        is_first.append(id in left)
        left.discard(id)
    return chosen(live, is_first), only


def _findings(entries: Sequence[Listed], outlines: Outlines, facts: AnalysisFacts) -> Iterator[Finding]:
    """Those that are of one entry, but for what is stale. Of most there is nothing to be said, which is seen of all at once."""
    links = outlines.links()
    bearers: Mapping[str, str] = bearers_of(entries) if links else {}
    yield from orphans(entries, links, bearers, facts)
    for id, targets in links.items():
        yield from dangling_links(id, targets, lambda target: target in bearers or target in facts.taken_ids)
    long = (oversized(id, outlines[id]) for id in outlines.larger_than(MOST_CHARS, MOST_LINES))
    over = (expired(each.meta, facts) for each in over_by(entries, facts.now_ms))
    yield from filter(None, chain(long, over))
