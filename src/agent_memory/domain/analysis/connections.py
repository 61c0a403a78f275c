"""Findings about how entries are linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from agent_memory.domain.analysis.ages import last_read
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.features import Features
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.instants import DAY_MS

ORPHAN_DAYS = 30
"""Days that a new entry has to be read, tagged or linked."""
HUB_LINKS = 6
"""An entry with so many links to or from it is a page of links, and is not linked back."""


def dangling_links(entry: Features, taken: frozenset[str]) -> Iterator[Finding]:
    """Links to ids that no live or archived entry has, nor as an alias. `taken` is casefolded."""
    gone = [id for id in entry.links if id.casefold() not in taken]
    if gone:
        names = ", ".join(gone[:5]) + (f" and {len(gone) - 5} more" if len(gone) > 5 else "")
        reason = f"{len(gone)} {'link leads' if len(gone) == 1 else 'links lead'} to no entry: {names}"
        yield Finding(FindingKind.DANGLING_LINK, (entry.id,), reason, round(1 - 1 / (1 + len(gone)), 4))


def one_way_links(entries: Sequence[Features]) -> Iterator[Finding]:
    """Links between two entries of one subject of which only one knows the other.

    A link between different subjects is a reference, one to or from a page of links is not meant to be answered, and a
    successor names what it took the place of.
    """
    by_id = _by_id(entries)
    linked = {each.id: _resolved(each, by_id) for each in entries}
    followed = Counter(target for targets in linked.values() for target in targets)
    for each in entries:
        for target in linked[each.id]:
            other = by_id[target.casefold()]
            is_hub = len(linked[each.id]) >= HUB_LINKS or max(followed[target], len(linked[target])) >= HUB_LINKS
            if each.id not in linked[target] and not is_hub and _one_subject(each, other):
                reason = f"{each.id} links to {target}, which is of the same scope and subject and does not link back"
                yield Finding(FindingKind.ONE_WAY_LINK, (each.id, target), reason, 0.1)


def orphans(entries: Sequence[Features], facts: AnalysisFacts) -> Iterator[Finding]:
    """Entries to which nothing leads: see `FindingKind.ORPHAN`."""
    by_id = _by_id(entries)
    reached = {target for each in entries for target in _resolved(each, by_id)}
    tags = Counter(tag for each in entries for tag in set(each.tags))
    for each in entries:
        days = (facts.now_ms - each.created_at_ms) // DAY_MS
        is_alone = not each.links and each.id not in reached and all(tags[tag] == 1 for tag in each.tags)
        if is_alone and days >= ORPHAN_DAYS and not each.pinned and last_read(each, facts) is None:
            reason = f"no link, no tag in common with another entry, and never read in {days:,} days"
            yield Finding(FindingKind.ORPHAN, (each.id,), reason, _aged(days))


def _aged(days: int) -> float:
    return round(1 - ORPHAN_DAYS / (ORPHAN_DAYS + max(days, 0)), 4)


def _by_id(entries: Sequence[Features]) -> Mapping[str, Features]:
    """Entries by id and alias, casefolded; an id goes before an alias."""
    aliased = {alias.casefold(): each for each in entries for alias in each.aliases}
    return aliased | {each.id.casefold(): each for each in entries}


def _resolved(entry: Features, by_id: Mapping[str, Features]) -> tuple[str, ...]:
    """The live entries to which one links, itself apart, each once."""
    if not entry.links:  # as most have none
        return ()
    found = (by_id.get(id.casefold()) for id in entry.links)
    return tuple(dict.fromkeys(each.id for each in found if each is not None and each.id != entry.id))


def _one_subject(one: Features, other: Features) -> bool:
    common = len(set(one.about).intersection(other.about))
    return one.scope == other.scope and common >= 2 and common >= 0.5 * min(len(one.about), len(other.about))
