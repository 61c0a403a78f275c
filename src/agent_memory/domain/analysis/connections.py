"""Findings about how entries are linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from agent_memory.domain.analysis.ages import ageing
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.entry import Listed
from agent_memory.domain.entry_reads import last_reads
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.instants import DAY_MS
from agent_memory.domain.packed_entries import chosen, column_of

ORPHAN_DAYS = 30
"""Days that a new entry has to be read, tagged or linked."""


def dangling_links(id: str, links: Iterable[str], is_taken: Callable[[str], bool]) -> Iterator[Finding]:
    """Links of an entry to ids that no live or archived one has, nor as an alias. `is_taken` is asked of casefolded ids."""
    gone = [each for each in links if not is_taken(each.casefold())]
    if gone:
        names = ", ".join(gone[:5]) + (f" and {len(gone) - 5} more" if len(gone) > 5 else "")
        reason = f"{len(gone)} {'link leads' if len(gone) == 1 else 'links lead'} to no entry: {names}"
        yield Finding(FindingKind.DANGLING_LINK, (id,), reason, round(1 - 1 / (1 + len(gone)), 4))


def bearers_of(entries: Sequence[Listed]) -> Mapping[str, str]:
    """The ids of entries by their ids and aliases, casefolded; an id goes before an alias, and of several the last."""
    ids, aliases = column_of(entries, "meta.id"), column_of(entries, "meta.aliases")
    aliased = sorted((id, names) for id, names in zip(ids, aliases, strict=True) if names)
    own = dict(zip(map(str.casefold, ids), ids, strict=True))
    if len(own) < len(ids):
        own = {id.casefold(): id for id in sorted(ids)}
    return {name.casefold(): id for id, names in aliased for name in names} | own


def orphans(
    entries: Sequence[Listed], links: Mapping[str, tuple[str, ...]], bearers: Mapping[str, str], facts: AnalysisFacts
) -> Iterator[Finding]:
    """Entries to which nothing leads: see `FindingKind.ORPHAN`. `links` are those that there are, by id; `bearers` are needed
    where there are any (`bearers_of`)."""
    reached = {target for id, targets in links.items() for target in _resolved(id, targets, bearers)}
    times = Counter(chain.from_iterable(map(dict.fromkeys, column_of(entries, "meta.tags"))))
    common = {tag for tag, number in times.items() if number > 1}
    some = ageing(entries, facts)
    is_old = map((facts.now_ms - ORPHAN_DAYS * DAY_MS).__ge__, column_of(some, "meta.created_at_ms"))
    is_alone = map(common.isdisjoint, column_of(some, "meta.tags"))
    alone = chosen(some, map(bool.__and__, is_old, is_alone))
    columns = (column_of(alone, f"meta.{name}") for name in ("id", "pinned", "created_at_ms"))
    for id, is_pinned, created_at_ms, read_ms in zip(*columns, last_reads(alone, facts.usage), strict=True):
        if not (id in links or id in reached or is_pinned) and read_ms is None:
            days = (facts.now_ms - created_at_ms) // DAY_MS
            reason = f"no link, no tag in common with another entry, and never read in {days:,} days"
            yield Finding(FindingKind.ORPHAN, (id,), reason, _aged(days))


def _aged(days: int) -> float:
    return round(1 - ORPHAN_DAYS / (ORPHAN_DAYS + max(days, 0)), 4)


def _resolved(id: str, links: Iterable[str], bearers: Mapping[str, str]) -> tuple[str, ...]:
    """The live entries to which one of this id links, itself apart, each once."""
    found = (bearers.get(each.casefold()) for each in links)
    return tuple(dict.fromkeys(each for each in found if each is not None and each != id))
