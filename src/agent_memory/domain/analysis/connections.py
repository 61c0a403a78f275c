"""Findings about how entries are linked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from agent_memory.domain.analysis.ages import last_read
from agent_memory.domain.analysis.analysis_facts import AnalysisFacts
from agent_memory.domain.analysis.features import Features
from agent_memory.domain.entry import Meta
from agent_memory.domain.findings import Finding, FindingKind
from agent_memory.domain.instants import DAY_MS

Named = TypeVar("Named", Features, Meta)

ORPHAN_DAYS = 30
"""Days that a new entry has to be read, tagged or linked."""
HUB_LINKS = 6
"""An entry with so many links to or from it is a page of links, and is not linked back."""


def dangling_links(id: str, links: Iterable[str], taken: Container[str]) -> Iterator[Finding]:
    """Links of an entry to ids that no live or archived one has, nor as an alias. `taken` is casefolded."""
    gone = [each for each in links if each.casefold() not in taken]
    if gone:
        names = ", ".join(gone[:5]) + (f" and {len(gone) - 5} more" if len(gone) > 5 else "")
        reason = f"{len(gone)} {'link leads' if len(gone) == 1 else 'links lead'} to no entry: {names}"
        yield Finding(FindingKind.DANGLING_LINK, (id,), reason, round(1 - 1 / (1 + len(gone)), 4))


def one_way_links(entries: Sequence[Features]) -> Iterator[Finding]:
    """Links between two entries of one subject of which only one knows the other.

    A link between different subjects is a reference, one to or from a page of links is not meant to be answered, and a
    successor names what it took the place of.
    """
    if not any(each.links for each in entries):
        return
    by_id = _by_id(entries)
    linked = {each.id: _resolved(each.id, each.links, by_id) if each.links else () for each in entries}
    followed = Counter(target for targets in linked.values() for target in targets)
    for each in entries:
        for target in linked[each.id]:
            other = by_id[target.casefold()]
            is_hub = len(linked[each.id]) >= HUB_LINKS or max(followed[target], len(linked[target])) >= HUB_LINKS
            if each.id not in linked[target] and not is_hub and _one_subject(each, other):
                reason = f"{each.id} links to {target}, which is of the same scope and subject and does not link back"
                yield Finding(FindingKind.ONE_WAY_LINK, (each.id, target), reason, 0.1)


def orphans(entries: Sequence[Meta], links: Mapping[str, tuple[str, ...]], facts: AnalysisFacts) -> Iterator[Finding]:
    """Entries to which nothing leads: see `FindingKind.ORPHAN`. `links` are those that there are, by id."""
    by_id = _by_id(entries) if links else {}
    reached = {target for id, targets in links.items() for target in _resolved(id, targets, by_id)}
    tags = Counter(tag for each in entries for tag in set(each.tags))
    for each in entries:
        if each.id in links or each.id in reached or not all(tags[tag] == 1 for tag in each.tags):
            continue
        days = (facts.now_ms - each.created_at_ms) // DAY_MS
        if days >= ORPHAN_DAYS and not each.pinned and last_read(each, facts) is None:
            reason = f"no link, no tag in common with another entry, and never read in {days:,} days"
            yield Finding(FindingKind.ORPHAN, (each.id,), reason, _aged(days))


def _aged(days: int) -> float:
    return round(1 - ORPHAN_DAYS / (ORPHAN_DAYS + max(days, 0)), 4)


def _by_id(entries: Sequence[Named]) -> dict[str, Named]:
    """Entries by id and alias, casefolded; an id goes before an alias."""
    aliased = {alias.casefold(): each for each in entries for alias in each.aliases}
    return aliased | {each.id.casefold(): each for each in entries}


def _resolved(id: str, links: Iterable[str], by_id: Mapping[str, Named]) -> tuple[str, ...]:
    """The live entries to which one of this id links, itself apart, each once."""
    found = (by_id.get(each.casefold()) for each in links)
    return tuple(dict.fromkeys(each.id for each in found if each is not None and each.id != id))


def _one_subject(one: Features, other: Features) -> bool:
    common = len(set(one.about).intersection(other.about))
    return one.scope == other.scope and common >= 2 and common >= 0.5 * min(len(one.about), len(other.about))
